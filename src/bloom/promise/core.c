#include "bloom/promise/core.h"

#include "base/mem.h"
#include "base/vector.h"
#include "math/reference.h"

#include <string.h>

/* Tap (dx, dy) from the centre, or 0 where the kernel ends. */
static float tap_at(const spread *s, uint32_t kernel, int64_t dx, int64_t dy) {
    int64_t x = dx + s->cx, y = dy + s->cy;
    if (x < 0 || y < 0 || x >= s->kw || y >= s->kh) return 0;
    size_t at = ((size_t)kernel * s->kh + (size_t)y) * s->kw + (size_t)x;
    return (float)(s->scale[kernel] * (double)s->tap[at]);
}

bool core_make(kernel_core *out, const spread *s, uint32_t radius, err *e) {
    kernel_core c = {.radius = radius, .s = s};
    if (!radius) {
        *out = c;
        return true;
    }
    size_t side = 2 * radius + 1, columns = s->w + 2 * (size_t)radius;
    c.tap = mem_raw(s->kernels * side * side, sizeof *c.tap, "core of the kernel", e);
    c.column = mem_raw(columns, sizeof *c.column, "core of the kernel", e);
    if (!c.tap || !c.column) {
        core_free(&c);
        return false;
    }
    float *to = c.tap;
    int64_t r = radius;
    for (uint32_t k = 0; k < s->kernels; k++)
        for (int64_t dy = -r; dy <= r; dy++)
            for (int64_t dx = r; dx >= -r; dx--) *to++ = tap_at(s, k, dx, dy);
    for (size_t i = 0; i < columns; i++)
        c.column[i] = (int32_t)reference_source((int64_t)i - r, s->w, s->axis[PLAN_X].border);
    *out = c;
    return true;
}

void core_free(kernel_core *c) {
    mem_free(c->tap);
    mem_free(c->column);
    *c = (kernel_core){0};
}

size_t core_scratch(const kernel_core *c) {
    return c->radius ? c->s->w + 2 * (size_t)c->radius : 0;
}

/* A row with its borders. */
static void fill_row(const kernel_core *c, const float *row, float *to) {
    uint32_t w = c->s->w, r = c->radius;
    memcpy(to + r, row, w * sizeof *to);
    for (uint32_t i = 0; i < r; i++) to[i] = c->column[i] < 0 ? 0 : row[c->column[i]];
    for (uint32_t i = w + r; i < w + 2 * r; i++) to[i] = c->column[i] < 0 ? 0 : row[c->column[i]];
}

/* to[x] += sum of tap[k] * row[x + k] */
VECTOR_INLINE void add_row(float *to, const float *row, const float *tap, uint32_t taps,
                           uint32_t n) {
    uint32_t x = 0;
    for (; x + 16 <= n; x += 16) {
        vec8f a = *(const vec8f_any *)(to + x), b = *(const vec8f_any *)(to + x + 8);
        for (uint32_t k = 0; k < taps; k++) {
            a += tap[k] * *(const vec8f_any *)(row + x + k);
            b += tap[k] * *(const vec8f_any *)(row + x + k + 8);
        }
        *(vec8f_any *)(to + x) = a;
        *(vec8f_any *)(to + x + 8) = b;
    }
    for (; x < n; x++)
        for (uint32_t k = 0; k < taps; k++) to[x] += tap[k] * row[x + k];
}

VECTOR_WIDE static void add_wide(float *to, const float *row, const float *tap, uint32_t taps,
                                 uint32_t n) {
    add_row(to, row, tap, taps, n);
}
static void add_plain(float *to, const float *row, const float *tap, uint32_t taps, uint32_t n) {
    add_row(to, row, tap, taps, n);
}

void core_row(const kernel_core *c, uint32_t channel, const float *in, uint32_t y, float *to,
              float *scratch) {
    const spread *s = c->s;
    uint32_t side = 2 * c->radius + 1;
    const float *tap = c->tap + (size_t)spread_kernel(s, channel) * side * side;
    for (uint32_t j = 0; c->radius && j < side; j++, tap += side) {
        int64_t from = (int64_t)y - ((int64_t)j - c->radius);
        from = reference_source(from, s->h, s->axis[PLAN_Y].border);
        if (from < 0) continue;
        fill_row(c, in + (size_t)from * s->w, scratch);
        if (vector_wide())
            add_wide(to, scratch, tap, side, s->w);
        else
            add_plain(to, scratch, tap, side, s->w);
    }
}

void core_cut(psf *k, uint32_t radius) {
    for (uint32_t c = 0; c < k->channels; c++)
        for (uint32_t y = 0; y < k->h; y++)
            for (uint32_t x = 0; x < k->w; x++) {
                uint32_t dx = x > k->cx ? x - k->cx : k->cx - x,
                         dy = y > k->cy ? y - k->cy : k->cy - y;
                if (dx <= radius && dy <= radius && (dx || dy))
                    k->tap[((size_t)c * k->h + y) * k->w + x] = 0;
            }
}

double core_work(const spread *s, uint32_t radius) {
    double side = radius ? 2.0 * radius + 1 : 0;
    return side * side * s->w * s->h;
}
