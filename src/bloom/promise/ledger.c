#include "bloom/promise/ledger.h"

#include "base/mem.h"
#include "base/vector.h"

#include <math.h>
#include <string.h>

double ledger_gap(const ledger_row *r) {
    double gap = r->in + r->gained - r->out - r->spilled - r->bad - r->overflow - r->negative;
    return r->size > 0 ? gap / r->size : 0;
}

void ledger_cut(ledger_row *r, const void *plane, pixel_type t, const image_box *window,
                const image_box *kept) {
    size_t at = 0;
    double cut = 0;
    for (int64_t y = window->y0; y <= window->y1; y++)
        for (int64_t x = window->x0; x <= window->x1; x++, at++) {
            float v;
            if (y >= kept->y0 && y <= kept->y1 && x >= kept->x0 && x <= kept->x1) continue;
            image_to_float(&v, plane, t, at, 1);
            cut += (double)v;
        }
    r->out -= cut;
    r->spilled += cut;
}

/* --- what does not depend on the image ---------------------------------------------------------
 */

/* Taps of an axis that land in the image, for each place where a pixel of it is seen. */
typedef struct {
    uint32_t from, to;
} range;
typedef struct {
    uint32_t *first; /* of each column (row), and behind the last: its first range */
    range *range;
} landings;

/* Taps from .. to - 1 land in the image when a pixel is seen at `place`. */
static range landing(int64_t place, uint32_t extent, uint32_t taps, uint32_t centre) {
    int64_t from = (int64_t)centre - place, to = from + extent;
    return (range){(uint32_t)(from < 0      ? 0
                              : from > taps ? taps
                                            : from),
                   (uint32_t)(to < 0      ? 0
                              : to > taps ? taps
                                          : to)};
}

static bool find_landings(landings *l, const border_axis *b, uint32_t taps, uint32_t centre,
                          err *e) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->extent; i++) n += border_count(b, i);
    int64_t *places = mem_raw(border_most(b), sizeof *places, "ledger", e);
    l->first = mem_raw((size_t)b->extent + 1, sizeof *l->first, "ledger", e);
    l->range = mem_raw(n, sizeof *l->range, "ledger", e);
    bool ok = places && l->first && l->range;
    if (ok) l->first[0] = n = 0;
    for (uint32_t i = 0; ok && i < b->extent; i++) {
        uint32_t count = border_places(b, i, places);
        for (uint32_t k = 0; k < count; k++)
            l->range[n++] = landing(places[k], b->extent, taps, centre);
        l->first[i + 1] = n;
    }
    mem_free(places);
    return ok;
}

static void free_landings(landings *l) {
    mem_free(l->first);
    mem_free(l->range);
}

/* What a border repeats lies within reach of it: others are seen once, and lose nothing. */
static void find_free(uint32_t f[2], uint32_t extent, uint32_t taps, uint32_t centre) {
    uint32_t near = centre > taps - 1 - centre ? centre : taps - 1 - centre;
    f[0] = near < extent ? near : extent;
    f[1] = extent - f[0] > f[0] ? extent - f[0] : f[0];
}

/* Sums of the tail's taps above and left of a corner, [kh + 1][kw + 1]. */
static void make_table(double *t, const spread *s, uint32_t kernel) {
    size_t pitch = (size_t)s->kw + 1;
    const float *tap = s->tap + (size_t)kernel * s->kh * s->pitch;
    for (uint32_t y = 0; y < s->kh; y++) {
        double row = 0;
        for (uint32_t x = 0; x < s->kw; x++) {
            row += (double)tap[y * s->pitch + x];
            t[(y + 1) * pitch + x + 1] = t[y * pitch + x + 1] + row;
        }
    }
}

/* What the rows of the kernel that land in the image add up to left of each column, for a pixel of
 * row y. */
static void column_sums(double *sums, const double *table, size_t pitch, const landings *l,
                        uint32_t y) {
    memset(sums, 0, pitch * sizeof *sums);
    for (uint32_t i = l->first[y]; i < l->first[y + 1]; i++) {
        const double *lo = table + l->range[i].from * pitch, *hi = table + l->range[i].to * pitch;
        for (size_t x = 0; x < pitch; x++) sums[x] += hi[x] - lo[x];
    }
}

/* One row of the result for one kernel. What the middle loses is nothing, but where taps that reach
 * no pixel were cut off, or near the top and the bottom. */
static void find_lost(float *to, const ledger_kernel *k, uint32_t kernel, const double *sums,
                      const landings *l) {
    const spread *s = k->s;
    const uint32_t *free = k->free[PLAN_X];
    double scale = s->scale[kernel], all = s->sum[kernel] - s->centre[kernel];
    for (uint32_t x = 0; x < s->w; x++) {
        double lands = 0;
        if (x == free[0]) x = free[1];
        if (x == s->w) break;
        for (uint32_t i = l->first[x]; i < l->first[x + 1]; i++)
            lands += sums[l->range[i].to] - sums[l->range[i].from];
        *to++ = (float)(all - scale * lands);
    }
    double middle = all - scale * sums[s->kw];
    *to = fabs(middle) > 1e-12 * fabs(s->sum[kernel]) ? (float)middle : 0;
}

static void fill(ledger_kernel *k, double *table, double *sums, const landings l[PLAN_AXES]) {
    const uint32_t *free = k->free[PLAN_Y];
    float *to = k->lost;
    for (uint32_t kernel = 0; kernel < k->s->kernels; kernel++) {
        make_table(table, k->s, kernel);
        for (uint32_t i = 0; i < k->rows; i++, to += k->columns) {
            uint32_t y = i < free[0] ? i : i + 1 < k->rows ? i - free[0] + free[1] : free[0];
            if (y == k->s->h) continue; /* no row is far from the borders */
            column_sums(sums, table, (size_t)k->s->kw + 1, &l[PLAN_Y], y);
            find_lost(to, k, kernel, sums, &l[PLAN_X]);
        }
    }
}

bool ledger_kernel_make(ledger_kernel *out, const spread *s, err *e) {
    ledger_kernel k = {.s = s};
    landings l[PLAN_AXES] = {{0}};
    size_t pitch = (size_t)s->kw + 1;
    find_free(k.free[PLAN_X], s->w, s->kw, s->cx);
    find_free(k.free[PLAN_Y], s->h, s->kh, s->cy);
    k.columns = k.free[PLAN_X][0] + s->w - k.free[PLAN_X][1] + 1;
    k.rows = k.free[PLAN_Y][0] + s->h - k.free[PLAN_Y][1] + 1;
    k.lost = mem_new((size_t)k.rows * k.columns * s->kernels, sizeof *k.lost, "ledger", e);
    double *table = k.lost ? mem_new(pitch * (s->kh + 2), sizeof *table, "ledger", e) : NULL;
    bool ok = table && find_landings(&l[PLAN_X], &s->axis[PLAN_X], s->kw, s->cx, e) &&
              find_landings(&l[PLAN_Y], &s->axis[PLAN_Y], s->kh, s->cy, e);
    if (ok) fill(&k, table, table + pitch * (s->kh + 1), l);
    free_landings(&l[PLAN_X]);
    free_landings(&l[PLAN_Y]);
    mem_free(table);
    if (!ok) ledger_kernel_free(&k);
    *out = k;
    return ok;
}

void ledger_kernel_free(ledger_kernel *k) {
    mem_free(k->lost);
    *k = (ledger_kernel){0};
}

/* --- one image ---------------------------------------------------------------------------------
 */

/* In floats, SPAN of them at most: what rounding adds is far below what the ledger allows. */
enum { SPAN = 64 };

/* Sums of floats near 1e38 are beyond them. */
static double weigh_with_care(const float *v, const float *by, uint32_t n) {
    double all = 0;
    for (uint32_t i = 0; i < n; i++) all += (double)v[i] * (by ? (double)by[i] : 1);
    return all;
}

/* by NULL: 1. */
VECTOR_INLINE double weigh(const float *v, const float *by, uint32_t n) {
    vec4d all = {0};
    uint32_t i = 0, whole = n / 16 * 16;
    while (i < whole) {
        uint32_t end = i + SPAN < whole ? i + SPAN : whole;
        vec8f a = {0}, b = {0};
        for (; i < end; i += 16) {
            vec8f x = *(const vec8f_any *)(v + i), y = *(const vec8f_any *)(v + i + 8);
            a += by ? x * *(const vec8f_any *)(by + i) : x;
            b += by ? y * *(const vec8f_any *)(by + i + 8) : y;
        }
        a += b;
        VECTOR_ADD_UP(all, a);
    }
    for (; i < n; i++) all[0] += (double)v[i] * (by ? (double)by[i] : 1);
    double sum = (all[0] + all[1]) + (all[2] + all[3]);
    return isfinite(sum) ? sum : weigh_with_care(v, by, n);
}

VECTOR_INLINE double spill(const ledger_kernel *k, uint32_t channel, uint32_t y, const float *v) {
    const uint32_t *fx = k->free[PLAN_X], *fy = k->free[PLAN_Y];
    uint32_t row = y < fy[0] ? y : y < fy[1] ? k->rows - 1 : y - fy[1] + fy[0];
    const float *lost = k->lost +
                        ((size_t)spread_kernel(k->s, channel) * k->rows + row) * k->columns;
    double middle = (double)lost[k->columns - 1];
    return weigh(v, lost, fx[0]) + weigh(v + fx[1], lost + fx[0], k->s->w - fx[1]) +
           (middle != 0 ? middle * weigh(v + fx[0], NULL, fx[1] - fx[0]) : 0);
}
VECTOR_WIDE static double spill_wide(const ledger_kernel *k, uint32_t channel, uint32_t y,
                                     const float *v) {
    return spill(k, channel, y, v);
}
static double spill_plain(const ledger_kernel *k, uint32_t channel, uint32_t y, const float *v) {
    return spill(k, channel, y, v);
}

double ledger_spill(const ledger_kernel *k, uint32_t channel, uint32_t y, const float *v) {
    return (vector_wide() ? spill_wide : spill_plain)(k, channel, y, v);
}
