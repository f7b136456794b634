#include "bloom/bright.h"

#include "base/mem.h"
#include "math/vector.h"

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

static void count_spots(bright_list *l, const float *plane, const spread *s, uint32_t below) {
    for (uint32_t y = 0; y < s->h; y++) {
        const float *row = plane + (size_t)y * s->w;
        size_t rows = border_count(&s->axis[PLAN_Y], y);
        for (uint32_t x = 0; x < s->w; x++) {
            if (!is_bright(row[x], below)) continue;
            l->pixels++;
            l->count += rows * border_count(&s->axis[PLAN_X], x);
        }
    }
}

static void take_spots(bright_list *l, float *plane, const spread *s, uint32_t below,
                       int64_t *places) {
    int64_t *ys = places, *xs = places + border_most(&s->axis[PLAN_Y]);
    size_t n = 0;
    for (uint32_t y = 0; y < s->h; y++) {
        float *row = plane + (size_t)y * s->w;
        uint32_t rows = border_places(&s->axis[PLAN_Y], y, ys);
        for (uint32_t x = 0; x < s->w; x++) {
            if (!is_bright(row[x], below)) continue;
            uint32_t columns = border_places(&s->axis[PLAN_X], x, xs);
            for (uint32_t j = 0; j < rows; j++)
                for (uint32_t i = 0; i < columns; i++)
                    l->spot[n++] = (bright_spot){(int32_t)xs[i], (int32_t)ys[j], row[x]};
            row[x] = 0;
        }
    }
}

bool bright_take(bright_list *out, float *plane, const spread *s, uint32_t below, err *e) {
    bright_list l = {0};
    count_spots(&l, plane, s, below);
    size_t places = (size_t)border_most(&s->axis[PLAN_X]) + border_most(&s->axis[PLAN_Y]);
    int64_t *room = mem_raw(places, sizeof *room, "bright pixels", e);
    l.spot = mem_raw(l.count, sizeof *l.spot, "bright pixels", e);
    bool ok = room && l.spot;
    if (ok) {
        take_spots(&l, plane, s, below, room);
        qsort(l.spot, l.count, sizeof *l.spot, by_rows);
        *out = l;
    } else {
        mem_free(l.spot);
    }
    mem_free(room);
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
