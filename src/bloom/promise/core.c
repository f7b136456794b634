#include "bloom/promise/core.h"

#include "base/mem.h"
#include "base/number.h"
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
            a += by * v[0];
            b += by * v[1];
            c += by * v[2];
            d += by * v[3];
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

enum { END = STENCIL_MORE + 1, NARROW = 64 }; /* columns: of a row's first end; of both */
_Static_assert((int)END >= (int)CORE_RADIUS && NARROW >= 2 * END + CORE_RADIUS,
               "ends hold borders");

/* Adds to n columns from x on, of which taps read borders. */
static void add_end(stencil s, const kernel_core *c, const float *row, uint32_t x, uint32_t n) {
    float part[NARROW + 2 * CORE_RADIUS + STENCIL_MORE] = {0};
    for (uint32_t i = 0; i < n + 2 * c->radius; i++)
        if (c->column[x + i] >= 0) part[i] = row[c->column[x + i]];
    for (uint32_t i = 0; i < s.rows; i++) s.to[i] += x;
    s.row = part;
    s.n = n;
    stencil_add(&s);
}

static void add_row(stencil s, const kernel_core *c, const float *row) {
    uint32_t w = c->tail->w;
    if (w <= NARROW) {
        add_end(s, c, row, 0, w);
        return;
    }
    s.n = (w - END - c->radius) / END * END;
    add_end(s, c, row, 0, END);
    add_end(s, c, row, END + s.n, w - END - s.n);
    for (uint32_t i = 0; i < s.rows; i++) s.to[i] += END;
    s.row = row + END - c->radius;
    stencil_add(&s);
}

void core_floats(const kernel_core *c, const space_rows *r, const float *plane) {
    const kernel_tail *tail = c->tail;
    uint32_t radius = c->radius, side = 2 * radius + 1;
    const float *tap = c->rounded + (size_t)tail_kernel(tail, r->channel) * side * side;
    int64_t low = (int64_t)r->y - radius, high = (int64_t)r->y + r->rows + radius;
    stencil s = {.taps = side};
    for (int64_t y = low; radius && y < high; y++) {
        int64_t from = reference_source(y, tail->h, tail->axis[PLAN_Y].border);
        if (from < 0) continue;
        /* Rows from `first` on, but no more than `side` of them, have row y in reach. */
        uint32_t first = y > (int64_t)r->y + radius ? (uint32_t)(y - r->y) - radius : 0;
        uint32_t last = (uint32_t)min_i64(r->rows - 1, y - low);
        s.rows = last - first + 1;
        for (uint32_t i = first; i <= last; i++) {
            s.tap[i - first] = tap + (size_t)(r->y + i + radius - y) * side;
            s.to[i - first] = r->to + i * r->pitch;
        }
        add_row(s, c, plane + (size_t)from * tail->w);
    }
}

/* A row of taps, then the rows; and the tap is rounded, too. */
double core_rounding(uint32_t radius) {
    return 0x1p-24 * (2 * (2.0 * radius + 1) + 2);
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
