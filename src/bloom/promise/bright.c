#include "bloom/promise/bright.h"

#include "base/mem.h"
#include "base/number.h"
#include "base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- taking out ------------------------------------------------------------------------------ */

/* Four spots that are pasted together should cover nearly the same columns, so a band is an eighth
 * of the kernel wide, and no wider than the zeros beside each row of taps. Places behind a border
 * may lie before column 0. */
static uint32_t band_of(const spread *s, int64_t x) {
    uint32_t width = clamp_u32(s->kw / 8, 1, SPREAD_MARGIN);
    return (uint32_t)(x + s->axis[PLAN_X].before) / width;
}

static int by_bands(const void *a, const void *b) {
    const bright_spot *p = a, *q = b;
    if (p->band != q->band) return p->band < q->band ? -1 : 1;
    if (p->y != q->y) return p->y < q->y ? -1 : 1;
    return (p->x > q->x) - (p->x < q->x);
}

enum { STRIP = 16 };

typedef struct {
    bright_list *l;
    float *plane;
    const spread *s;
    int32_t least;          /* magnitude that is taken */
    size_t *spots, *pixels; /* of each strip; then where its spots begin */
    int64_t *places;        /* of each worker */
    size_t room;
} job;

static uint32_t strip_end(const job *j, size_t strip) {
    uint32_t end = ((uint32_t)strip + 1) * STRIP;
    return end < j->s->h ? end : j->s->h;
}

/* The bits of a magnitude: they have the order of magnitudes. */
static int32_t magnitude(float v) {
    int32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits & INT32_MAX;
}

/* The next pixel of a row, from x on, of this magnitude or more; or w. */
static uint32_t next_bright(const float *row, uint32_t x, uint32_t w, int32_t least) {
    for (; x + 64 <= w; x += 64) { /* whole stretches without any: no difference is below zero */
        vec8i any = {0};
        for (int i = 0; i < 64; i += 8)
            any |= (least - 1) - (*(const vec8i_any *)(row + x + i) & INT32_MAX);
        if ((any[0] | any[1] | any[2] | any[3] | any[4] | any[5] | any[6] | any[7]) < 0) break;
    }
    while (x < w && magnitude(row[x]) < least) x++;
    return x;
}

static bool count_strip(void *ctx, size_t strip, int worker, err *e) {
    const job *j = ctx;
    const spread *s = j->s;
    (void)worker, (void)e;
    for (uint32_t y = (uint32_t)strip * STRIP; y < strip_end(j, strip); y++) {
        const float *row = j->plane + (size_t)y * s->w;
        size_t rows = border_count(&s->axis[PLAN_Y], y);
        for (uint32_t x = 0; (x = next_bright(row, x, s->w, j->least)) < s->w; x++) {
            j->pixels[strip]++;
            j->spots[strip] += rows * border_count(&s->axis[PLAN_X], x);
        }
    }
    return true;
}

static bool take_strip(void *ctx, size_t strip, int worker, err *e) {
    const job *j = ctx;
    const spread *s = j->s;
    (void)e;
    int64_t *ys = j->places + (size_t)worker * j->room, *xs = ys + border_most(&s->axis[PLAN_Y]);
    bright_spot *to = j->l->spot + j->spots[strip];
    for (uint32_t y = (uint32_t)strip * STRIP; j->pixels[strip] && y < strip_end(j, strip); y++) {
        float *row = j->plane + (size_t)y * s->w;
        uint32_t rows = border_places(&s->axis[PLAN_Y], y, ys);
        for (uint32_t x = 0; (x = next_bright(row, x, s->w, j->least)) < s->w; x++) {
            uint32_t columns = border_places(&s->axis[PLAN_X], x, xs);
            for (uint32_t k = 0; k < rows; k++)
                for (uint32_t i = 0; i < columns; i++)
                    *to++ =
                        (bright_spot){band_of(s, xs[i]), (int32_t)xs[i], (int32_t)ys[k], row[x]};
            row[x] = 0;
        }
    }
    return true;
}

/* Sorts the spots and finds the bands. */
static bool sort_spots(bright_list *l, err *e) {
    qsort(l->spot, l->count, sizeof *l->spot, by_bands);
    for (size_t i = 0; i < l->count; i++)
        l->bands += i == 0 || l->spot[i].band != l->spot[i - 1].band;
    if (!(l->band = mem_raw(l->bands + 1, sizeof *l->band, "bright pixels", e))) return false;
    size_t *to = l->band;
    for (size_t i = 0; i < l->count; i++)
        if (i == 0 || l->spot[i].band != l->spot[i - 1].band) *to++ = i;
    *to = l->count;
    return true;
}

bool bright_take(bright_list *out, float *plane, const spread *s, uint32_t below, par *threads,
                 err *e) {
    bright_list l = {0};
    size_t strips = ceil_div_u32(s->h, STRIP);
    job j = {.l = &l, .plane = plane, .s = s, .least = magnitude(scan_bin_floor(below))};
    j.room = (size_t)border_most(&s->axis[PLAN_X]) + border_most(&s->axis[PLAN_Y]);
    j.spots = mem_new(2 * strips, sizeof *j.spots, "bright pixels", e);
    j.pixels = j.spots + strips;
    if (j.spots)
        j.places =
            mem_raw(j.room * (size_t)par_workers(threads), sizeof *j.places, "bright pixels", e);
    bool ok = j.places && par_for(threads, strips, count_strip, &j, e);
    for (size_t i = 0; ok && i < strips; i++) {
        size_t n = j.spots[i];
        j.spots[i] = l.count;
        l.count += n;
        l.pixels += j.pixels[i];
    }
    ok = ok && (l.spot = mem_raw(l.count, sizeof *l.spot, "bright pixels", e)) &&
         par_for(threads, strips, take_strip, &j, e) && sort_spots(&l, e);
    mem_free(j.spots);
    mem_free(j.places);
    if (ok)
        *out = l;
    else
        bright_free(&l);
    return ok;
}

void bright_free(bright_list *l) {
    mem_free(l->spot);
    mem_free(l->band);
    *l = (bright_list){0};
}

double bright_work(const spread *s, double spots) {
    return spots * min_u32(s->kw, s->w) * min_u32(s->kh, s->h);
}

/* --- pasting --------------------------------------------------------------------------------- */

/* Adds to each of n numbers a tap of each of AT_ONCE rows of taps: one row by one, most of the time
 * would go into loading and storing `to`. */
enum { AT_ONCE = 4 };

VECTOR_WIDE static uint32_t add_floats(double *to, const float *const *tap, const double *by,
                                       uint32_t n) {
    const float *p = tap[0], *q = tap[1], *r = tap[2], *s = tap[3];
    vec4d zero = {0}, by_p = zero + by[0], by_q = zero + by[1], by_r = zero + by[2],
          by_s = zero + by[3];
    uint32_t i = 0;
    for (; i + 8 <= n; i += 8) {
        vec4d a = *(vec4d_any *)(to + i), b = *(vec4d_any *)(to + i + 4);
        a = VECTOR_FMA4(by_p, VECTOR_DOUBLES(p + i, 0), a);
        b = VECTOR_FMA4(by_p, VECTOR_DOUBLES(p + i, 4), b);
        a = VECTOR_FMA4(by_q, VECTOR_DOUBLES(q + i, 0), a);
        b = VECTOR_FMA4(by_q, VECTOR_DOUBLES(q + i, 4), b);
        a = VECTOR_FMA4(by_r, VECTOR_DOUBLES(r + i, 0), a);
        b = VECTOR_FMA4(by_r, VECTOR_DOUBLES(r + i, 4), b);
        a = VECTOR_FMA4(by_s, VECTOR_DOUBLES(s + i, 0), a);
        b = VECTOR_FMA4(by_s, VECTOR_DOUBLES(s + i, 4), b);
        *(vec4d_any *)(to + i) = a;
        *(vec4d_any *)(to + i + 4) = b;
    }
    return i;
}

/* The same of one row of taps, which has been made doubles, at AT_ONCE places. */
VECTOR_WIDE static void add_doubles(double *to, const double *const *tap, const double *by,
                                    uint32_t n) {
    const double *p = tap[0], *q = tap[1], *r = tap[2], *s = tap[3];
    vec4d zero = {0}, by_p = zero + by[0], by_q = zero + by[1], by_r = zero + by[2],
          by_s = zero + by[3];
    uint32_t i = 0;
    for (; i + 8 <= n; i += 8) {
        vec4d a = *(vec4d_any *)(to + i), b = *(vec4d_any *)(to + i + 4);
        a = VECTOR_FMA4(by_p, *(const vec4d_any *)(p + i), a);
        b = VECTOR_FMA4(by_p, *(const vec4d_any *)(p + i + 4), b);
        a = VECTOR_FMA4(by_q, *(const vec4d_any *)(q + i), a);
        b = VECTOR_FMA4(by_q, *(const vec4d_any *)(q + i + 4), b);
        a = VECTOR_FMA4(by_r, *(const vec4d_any *)(r + i), a);
        b = VECTOR_FMA4(by_r, *(const vec4d_any *)(r + i + 4), b);
        a = VECTOR_FMA4(by_s, *(const vec4d_any *)(s + i), a);
        b = VECTOR_FMA4(by_s, *(const vec4d_any *)(s + i + 4), b);
        *(vec4d_any *)(to + i) = a;
        *(vec4d_any *)(to + i + 4) = b;
    }
    for (; i < n; i++) to[i] += (by[0] * p[i] + by[1] * q[i]) + (by[2] * r[i] + by[3] * s[i]);
}
VECTOR_WIDE static void widen(double *to, const float *from, size_t n) {
    size_t i = 0;
    for (; i + 4 <= n; i += 4) *(vec4d_any *)(to + i) = VECTOR_DOUBLES(from + i, 0);
    for (; i < n; i++) to[i] = (double)from[i];
}

/* The row's part of `spots` neighbours of a band, at most AT_ONCE. Their taps are read over the
 * columns of all of them, where some have zeros. wide: the tap row of all, in doubles, or NULL. */
static void paste(const bright_spot *const *p, uint32_t spots, const spread *s, uint32_t channel,
                  uint32_t y, const double *wide, double *to, double *magnitude) {
    const float *tap[AT_ONCE];
    const double *wides[AT_ONCE];
    double by[AT_ONCE] = {0}, scale = s->scale[spread_kernel(s, channel)];
    int64_t low = p[0]->x, high = p[0]->x;
    for (uint32_t k = 1; k < spots; k++) {
        low = min_i64(low, p[k]->x);
        high = max_i64(high, p[k]->x);
    }
    int64_t from = max_i64(0, low - s->cx), stop = min_i64(s->w, high - s->cx + s->kw);
    if (from >= stop) return;
    for (uint32_t k = 0; k < AT_ONCE; k++) {
        const bright_spot *one = p[k < spots ? k : 0]; /* the first again, times 0 */
        int64_t q = (int64_t)y - one->y + s->cy, at = from - one->x + s->cx;
        tap[k] = spread_taps(s, channel) + q * (int64_t)s->pitch + at;
        wides[k] = wide ? wide + at + SPREAD_MARGIN : NULL;
        if (k < spots) by[k] = scale * (double)one->v;
    }
    uint32_t n = (uint32_t)(stop - from);
    to += from;
    if (wide)
        add_doubles(to, wides, by, n);
    else
        for (uint32_t i = vector_wide() ? add_floats(to, tap, by, n) : 0; i < n; i++)
            to[i] += (by[0] * (double)tap[0][i] + by[1] * (double)tap[1][i]) +
                     (by[2] * (double)tap[2][i] + by[3] * (double)tap[3][i]);
    for (uint32_t i = 0; magnitude && i < n; i++)
        for (uint32_t k = 0; k < spots; k++) magnitude[from + i] += fabs(by[k] * (double)tap[k][i]);
}

/* The first of these spots in row y or below it. */
static const bright_spot *first_from(const bright_spot *p, const bright_spot *end, int64_t y) {
    if (p == end || p->y >= y) return p;
    if (end[-1].y < y) return end;
    while (p < end) {
        const bright_spot *mid = p + (end - p) / 2;
        if (mid->y < y)
            p = mid + 1;
        else
            end = mid;
    }
    return p;
}

size_t bright_scratch(const spread *s) {
    return s->pitch;
}

/* Rows of many spots share their row of taps, which is made doubles for them; of other rows, spots
 * from different ones are pasted together. */
void bright_row(const bright_list *l, const spread *s, uint32_t channel, uint32_t y, double *to,
                double *magnitude, double *scratch) {
    int64_t last = (int64_t)y + s->cy; /* kernel row 0 lies here */
    const float *taps = spread_taps(s, channel) - SPREAD_MARGIN;
    for (size_t i = 0; i < l->bands; i++) {
        const bright_spot *p = l->spot + l->band[i], *end = l->spot + l->band[i + 1];
        const bright_spot *some[AT_ONCE];
        uint32_t n = 0;
        p = first_from(p, end, last - (int64_t)s->kh + 1);
        end = first_from(p, end, last + 1);
        while (p < end) {
            const bright_spot *next = p;
            while (next < end && next->y == p->y) next++;
            bool many = vector_wide() && next - p >= AT_ONCE;
            if (many) widen(scratch, taps + (last - p->y) * (int64_t)s->pitch, s->pitch);
            for (; many && next - p >= AT_ONCE; p += AT_ONCE) {
                const bright_spot *these[AT_ONCE] = {p, p + 1, p + 2, p + 3};
                paste(these, AT_ONCE, s, channel, y, scratch, to, magnitude);
            }
            while (p < next) {
                some[n++] = p++;
                if (n == AT_ONCE) paste(some, n, s, channel, y, NULL, to, magnitude);
                n %= AT_ONCE;
            }
        }
        if (n) paste(some, n, s, channel, y, NULL, to, magnitude);
    }
}
