#include "bloom/promise/bright.h"

#include "base/mem.h"
#include "base/vector.h"

#include <stdlib.h>

/* --- taking out ------------------------------------------------------------------------------ */

static int by_rows(const void *a, const void *b) {
    const bright_spot *p = a, *q = b;
    if (p->y != q->y) return p->y < q->y ? -1 : 1;
    return (p->x > q->x) - (p->x < q->x);
}

static bool is_bright(float v, uint32_t below) {
    return scan_bin(v) >= below;
}

enum { STRIP = 16 };

typedef struct {
    bright_list *l;
    float *plane;
    const spread *s;
    uint32_t below;
    size_t *spots, *pixels; /* of each strip; then where its spots begin */
    int64_t *places;        /* of each worker */
    size_t room;
} job;

static uint32_t strip_end(const job *j, size_t strip) {
    uint32_t end = ((uint32_t)strip + 1) * STRIP;
    return end < j->s->h ? end : j->s->h;
}

static bool count_strip(void *ctx, size_t strip, int worker, err *e) {
    const job *j = ctx;
    const spread *s = j->s;
    (void)worker, (void)e;
    for (uint32_t y = (uint32_t)strip * STRIP; y < strip_end(j, strip); y++) {
        const float *row = j->plane + (size_t)y * s->w;
        size_t rows = border_count(&s->axis[PLAN_Y], y);
        for (uint32_t x = 0; x < s->w; x++) {
            if (!is_bright(row[x], j->below)) continue;
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
        for (uint32_t x = 0; x < s->w; x++) {
            if (!is_bright(row[x], j->below)) continue;
            uint32_t columns = border_places(&s->axis[PLAN_X], x, xs);
            for (uint32_t k = 0; k < rows; k++)
                for (uint32_t i = 0; i < columns; i++)
                    *to++ = (bright_spot){(int32_t)xs[i], (int32_t)ys[k], row[x]};
            row[x] = 0;
        }
    }
    return true;
}

bool bright_take(bright_list *out, float *plane, const spread *s, uint32_t below, par *threads,
                 err *e) {
    bright_list l = {0};
    size_t strips = (s->h + STRIP - 1) / STRIP;
    job j = {.l = &l, .plane = plane, .s = s, .below = below};
    j.room = (size_t)border_most(&s->axis[PLAN_X]) + border_most(&s->axis[PLAN_Y]);
    j.spots = mem_new(2 * strips, sizeof *j.spots, "bright pixels", e);
    j.pixels = j.spots + strips;
    if (j.spots)
        j.places =
            mem_raw(j.room * (size_t)par_threads(threads), sizeof *j.places, "bright pixels", e);
    bool ok = j.places && par_for(threads, strips, count_strip, &j, e);
    for (size_t i = 0; ok && i < strips; i++) {
        size_t n = j.spots[i];
        j.spots[i] = l.count;
        l.count += n;
        l.pixels += j.pixels[i];
    }
    ok = ok && (l.spot = mem_raw(l.count, sizeof *l.spot, "bright pixels", e)) &&
         par_for(threads, strips, take_strip, &j, e);
    if (ok)
        qsort(l.spot, l.count, sizeof *l.spot, by_rows);
    else
        bright_free(&l);
    mem_free(j.spots);
    mem_free(j.places);
    if (ok) *out = l;
    return ok;
}

void bright_free(bright_list *l) {
    mem_free(l->spot);
    *l = (bright_list){0};
}

double bright_work(const spread *s, double spots) {
    double w = s->kw < s->w ? s->kw : s->w, h = s->kh < s->h ? s->kh : s->h;
    return spots * w * h;
}

/* --- pasting --------------------------------------------------------------------------------- */

VECTOR_INLINE void add_scaled(float *to, const float *tap, float by, uint32_t n) {
    uint32_t i = 0;
    for (; i + 16 <= n; i += 16) {
        *(vec8f_any *)(to + i) += by * *(const vec8f_any *)(tap + i);
        *(vec8f_any *)(to + i + 8) += by * *(const vec8f_any *)(tap + i + 8);
    }
    for (; i + 8 <= n; i += 8) *(vec8f_any *)(to + i) += by * *(const vec8f_any *)(tap + i);
    for (; i < n; i++) to[i] += by * tap[i];
}

/* The row's part of one spot: taps [from, to) of kernel row q. */
VECTOR_INLINE void paste_spots(const bright_spot *p, const bright_spot *end, const spread *s,
                               uint32_t channel, uint32_t y, float *to) {
    const float *taps = spread_taps(s, channel);
    double scale = s->scale[spread_kernel(s, channel)];
    for (; p < end; p++) {
        int64_t left = (int64_t)p->x - s->cx, q = (int64_t)y - p->y + s->cy;
        int64_t from = left < 0 ? -left : 0, stop = (int64_t)s->w - left;
        if (stop > s->kw) stop = s->kw;
        if (from >= stop) continue;
        add_scaled(to + left + from, taps + q * s->kw + from, (float)(scale * (double)p->v),
                   (uint32_t)(stop - from));
    }
}

VECTOR_WIDE static void paste_wide(const bright_spot *p, const bright_spot *end, const spread *s,
                                   uint32_t channel, uint32_t y, float *to) {
    paste_spots(p, end, s, channel, y, to);
}
static void paste_plain(const bright_spot *p, const bright_spot *end, const spread *s,
                        uint32_t channel, uint32_t y, float *to) {
    paste_spots(p, end, s, channel, y, to);
}

/* The first spot in row y or below it. */
static const bright_spot *first_from(const bright_list *l, int64_t y) {
    size_t lo = 0, hi = l->count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (l->spot[mid].y < y)
            lo = mid + 1;
        else
            hi = mid;
    }
    return l->spot + lo;
}

void bright_row(const bright_list *l, const spread *s, uint32_t channel, uint32_t y, float *to) {
    if (!l->count) return;
    int64_t last = (int64_t)y + s->cy; /* kernel row 0 lies here */
    const bright_spot *p = first_from(l, last - (int64_t)s->kh + 1), *end = first_from(l, last + 1);
    if (vector_wide())
        paste_wide(p, end, s, channel, y, to);
    else
        paste_plain(p, end, s, channel, y, to);
}
