#include "bloom/promise/core.h"

#include "base/mem.h"
#include "base/vector.h"
#include "math/reference.h"

#include <math.h>
#include <string.h>

const uint32_t CORE_RADII[CORES] = {0, 1, 2, 3, 4, 8};

uint32_t core_index(uint32_t radius) {
    uint32_t i = 0;
    while (i + 1 < CORES && CORE_RADII[i] != radius) i++;
    return i;
}

bool core_make(kernel_core *out, const kernel_tail *tail, uint32_t radius, err *e) {
    kernel_core c = {.radius = radius, .tail = tail};
    if (!radius) {
        *out = c;
        return true;
    }
    size_t side = 2 * radius + 1, columns = tail->w + 2 * (size_t)radius;
    c.tap = mem_new(tail->kernels * side * side, sizeof *c.tap, "core of the kernel", e);
    c.rounded = mem_raw(tail->kernels * side * side, sizeof *c.rounded, "core of the kernel", e);
    c.column = mem_raw(columns, sizeof *c.column, "core of the kernel", e);
    if (!c.tap || !c.rounded || !c.column) {
        core_free(&c);
        return false;
    }
    int64_t r = radius;
    for (uint32_t k = 0; k < tail->kernels; k++)
        for (int64_t i = 0; i < (int64_t)(side * side); i++) {
            int64_t x = tail->cx + r - i % (int64_t)side, y = tail->cy - r + i / (int64_t)side;
            if (x < 0 || y < 0 || x >= tail->kw || y >= tail->kh) continue;
            c.tap[k * side * side + (size_t)i] =
                tail->scale[k] *
                (double)tail->tap[((size_t)k * tail->kh + (size_t)y) * tail->pitch + (size_t)x];
        }
    for (size_t i = 0; i < tail->kernels * side * side; i++) c.rounded[i] = (float)c.tap[i];
    for (size_t i = 0; i < columns; i++)
        c.column[i] = (int32_t)reference_source((int64_t)i - r, tail->w, tail->axis[PLAN_X].border);
    *out = c;
    return true;
}

void core_free(kernel_core *c) {
    mem_free(c->tap);
    mem_free(c->rounded);
    mem_free(c->column);
    *c = (kernel_core){0};
}

/* A row of the image with its borders, and behind it the number of the row. */
static size_t row_room(const kernel_core *c) {
    return c->tail->w + 2 * (size_t)c->radius + 1;
}

size_t core_scratch(const kernel_core *c) {
    return c->radius ? (2 * (size_t)c->radius + 1) * row_room(c) : 0;
}

/* Adds to each of n numbers the sum over k of tap[k] * row[x + k]. In doubles, since terms may
 * cancel (docs/math.md, "Terms that cancel"): the product of two floats is exact, and sums keep 53
 * bits. */
static void add_plain(double *to, const double *row, const double *tap, uint32_t taps, uint32_t n) {
    for (uint32_t x = 0; x < n; x++)
        for (uint32_t k = 0; k < taps; k++) to[x] += tap[k] * row[x + k];
}
VECTOR_WIDE static void add_wide(double *to, const double *row, const double *tap, uint32_t taps,
                                 uint32_t n) {
    uint32_t x = 0;
    for (; x + 16 <= n; x += 16) {
        vec4d_any *out = (vec4d_any *)(to + x);
        vec4d a = out[0], b = out[1], c = out[2], d = out[3];
        for (uint32_t k = 0; k < taps; k++) {
            const vec4d_any *v = (const vec4d_any *)(row + x + k);
            vec4d by = tap[k] - (vec4d){0};
            a = VECTOR_FMA4(by, v[0], a);
            b = VECTOR_FMA4(by, v[1], b);
            c = VECTOR_FMA4(by, v[2], c);
            d = VECTOR_FMA4(by, v[3], d);
        }
        out[0] = a, out[1] = b, out[2] = c, out[3] = d;
    }
    add_plain(to + x, row + x, tap, taps, n - x);
}
static void add_magnitudes(double *to, const double *row, const double *tap, uint32_t taps,
                           uint32_t n) {
    for (uint32_t x = 0; x < n; x++)
        for (uint32_t k = 0; k < taps; k++) to[x] += fabs(tap[k] * row[x + k]);
}

/* A row as doubles, with its borders, times `by`. */
VECTOR_INLINE void widen(double *to, const kernel_core *c, const float *row, double by) {
    uint32_t w = c->tail->w, r = c->radius, x = 0;
    for (; x + 4 <= w; x += 4) *(vec4d_any *)(to + r + x) = by * VECTOR_DOUBLES(row + x, 0);
    for (; x < w; x++) to[r + x] = by * (double)row[x];
    for (uint32_t i = 0; i < w + 2 * r; i += i + 1 == r ? w + 1 : 1)
        to[i] = c->column[i] < 0 ? 0 : by * (double)row[c->column[i]];
}
VECTOR_WIDE static void widen_wide(double *to, const kernel_core *c, const float *row, double by) {
    widen(to, c, row, by);
}
static void widen_plain(double *to, const kernel_core *c, const float *row, double by) {
    widen(to, c, row, by);
}

void core_row(const kernel_core *c, const tail_row *r, const core_input *in) {
    if (!c->radius) return; /* there are no taps to point at */
    const kernel_tail *tail = c->tail;
    uint32_t side = 2 * c->radius + 1;
    const double *tap = c->tap + (size_t)tail_kernel(tail, r->channel) * side * side;
    for (uint32_t j = 0; j < side; j++, tap += side) {
        int64_t from = (int64_t)r->y - ((int64_t)j - c->radius);
        from = reference_source(from, tail->h, tail->axis[PLAN_Y].border);
        if (from < 0) continue;
        double *row = in->scratch + (size_t)(from % side) * row_room(c);
        int64_t wanted = (int64_t)r->channel * tail->h + from, is;
        double *which = row + row_room(c) - 1;
        memcpy(&is, which, sizeof is);
        if (is != wanted)
            (vector_wide() ? widen_wide : widen_plain)(row, c, in->plane + (size_t)from * tail->w,
                                                       in->by);
        memcpy(which, &wanted, sizeof wanted);
        (vector_wide() ? add_wide : add_plain)(r->to, row, tap, side, tail->w);
        if (r->magnitude) add_magnitudes(r->magnitude, row, tap, side, tail->w);
    }
}

/* --- in floats ------------------------------------------------------------------------------- */

/* The rows of the image that a row of the result is made of, from the top; NULL: dark. */
typedef struct {
    const float *row[2 * CORE_RADIUS + 1], *tap;
    uint32_t side;
} rows;

enum { AT_ONCE = 32 }; /* columns */

/* Makes AT_ONCE columns, of which all taps lie in the image. Each row of taps has a sum of its own,
 * so that a tap is rounded no more than 2 * side times. */
VECTOR_WIDE static void make_columns(const rows *r, uint32_t x, float *to) {
    vec8f zero = {0}, a = zero, b = zero, c = zero, d = zero;
    const float *tap = r->tap;
    for (uint32_t j = 0; j < r->side; j++, tap += r->side) {
        if (!r->row[j]) continue;
        const float *row = r->row[j] + x;
        vec8f e = zero, f = zero, g = zero, h = zero;
        for (uint32_t k = 0; k < r->side; k++) {
            const vec8f_any *v = (const vec8f_any *)(row + k);
            vec8f by = tap[k] - zero;
            e = VECTOR_FMA8(by, v[0], e);
            f = VECTOR_FMA8(by, v[1], f);
            g = VECTOR_FMA8(by, v[2], g);
            h = VECTOR_FMA8(by, v[3], h);
        }
        a += e, b += f, c += g, d += h;
    }
    vec8f_any *out = (vec8f_any *)to;
    out[0] = a, out[1] = b, out[2] = c, out[3] = d;
}

/* Makes the columns from x to before `end`, with their borders. */
static void make_edge(const kernel_core *c, const rows *r, uint32_t x, uint32_t end, float *to) {
    for (; x < end; x++) {
        float sum = 0;
        for (uint32_t j = 0; j < r->side; j++) {
            float part = 0;
            for (uint32_t k = 0; r->row[j] && k < r->side; k++)
                if (c->column[x + k] >= 0)
                    part += r->tap[j * r->side + k] * r->row[j][c->column[x + k]];
            sum += part;
        }
        to[x] = sum;
    }
}

void core_floats(const kernel_core *c, uint32_t channel, uint32_t y, const float *plane,
                 float *to) {
    const kernel_tail *tail = c->tail;
    uint32_t radius = c->radius, w = tail->w, x = radius;
    rows r = {.side = 2 * radius + 1};
    r.tap = c->rounded + (size_t)tail_kernel(tail, channel) * r.side * r.side;
    for (uint32_t j = 0; j < r.side; j++) {
        int64_t from =
            reference_source((int64_t)y + radius - j, tail->h, tail->axis[PLAN_Y].border);
        r.row[j] = from < 0 ? NULL : plane + (size_t)from * w;
    }
    if (!vector_wide() || w < 2 * radius + AT_ONCE) {
        make_edge(c, &r, 0, w, to);
        return;
    }
    make_edge(c, &r, 0, radius, to);
    for (; x + radius + AT_ONCE <= w; x += AT_ONCE) make_columns(&r, x - radius, to + x);
    x = w - radius - AT_ONCE; /* some of these once more */
    make_columns(&r, x - radius, to + x);
    make_edge(c, &r, w - radius, w, to);
}

/* The tap is rounded, too. */
double core_rounding(uint32_t radius) {
    return 0x1p-24 * (2 * (2.0 * radius + 1) + 1);
}

/* --- the rest of the kernel ------------------------------------------------------------------ */

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

double core_work(const kernel_tail *tail, uint32_t radius) {
    double side = radius ? 2.0 * radius + 1 : 0;
    return side * side * tail->w * tail->h;
}
