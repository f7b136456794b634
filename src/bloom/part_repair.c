/* Neighbours for bad pixels of a part that is never in memory: windows of rows are repaired, each
 * with as many rows around it as its pixels look for neighbours in. */
#include "base/mem.h"
#include "base/number.h"
#include "bloom/part_work.h"
#include "image/repair.h"

#include <math.h>
#include <string.h>

/* A window of one channel. */
typedef struct {
    const part_plan *p;
    const part_group *g;
    uint32_t c;           /* of the list */
    uint32_t top, height; /* the rows that are read */
    float *v, *mask;      /* mask: NULL where there is none */
} window;

static void close_window(window *w) {
    mem_free(w->v);
    mem_free(w->mask);
    w->v = w->mask = NULL;
}

/* Reads rows as floats. What stays as it is, since a mask is 0 there, counts as 0. */
static bool read_window(window *w, err *e) {
    const part_plan *p = w->p;
    const rows_source *in = p->j->in;
    const part_channel *is = &p->channel[w->c];
    size_t n = (size_t)p->w * w->height;
    void **plane = mem_new((size_t)p->p->channels, sizeof *plane, "planes", e);
    void *rows = mem_raw(n, pixel_bytes(is->type), "rows", e);
    bool ok = plane && rows && (w->v = mem_raw(n, sizeof(float), "rows", e));
    if (ok) plane[is->index] = rows;
    ok = ok && in->read(in->ctx, p->j->part, w->top, w->height, plane, e);
    if (ok) image_to_float(w->v, rows, is->type, 0, n);
    if (ok && w->g->light.mask[0])
        ok = (w->mask = mem_raw(n, sizeof(float), "a mask", e)) &&
             mask_read(w->mask, in, &w->g->mask, p->p, w->top, w->height, e);
    for (size_t i = 0; ok && w->mask && i < n; i++)
        if (!isfinite(w->v[i]) && !(w->mask[i] > 0)) w->v[i] = 0;
    mem_free(rows);
    mem_free(plane);
    return ok;
}

static bool push(part_repairs *to, const struct part_repair *one, err *e) {
    if (to->count == to->room) {
        size_t room = 2 * to->room + 64;
        struct part_repair *more = mem_raw(room, sizeof *more, "repaired pixels", e);
        if (!more) return false;
        if (to->count) memcpy(more, to->pixel, to->count * sizeof *more);
        mem_free(to->pixel);
        to->pixel = more;
        to->room = room;
    }
    to->pixel[to->count++] = *one;
    return true;
}

/* Repairs rows [row, row + rows) of a channel, if any of their pixels is bad. */
static bool repair_some(part_repairs *to, const part_plan *p, const part_group *g, uint32_t c,
                        uint32_t row, uint32_t rows, err *e) {
    pixel_type type = p->channel[c].type;
    for (uint32_t margin = 0;; margin = 4 * margin + 8) {
        window w = {.p = p, .g = g, .c = c};
        w.top = row > margin ? row - margin : 0;
        w.height = (uint32_t)min_u64((uint64_t)row + rows + margin, p->h) - w.top;
        size_t n = (size_t)p->w * rows, first = (size_t)(row - w.top) * p->w;
        bool ok = read_window(&w, e), any = false;
        for (size_t i = 0; ok && i < n; i++) any |= !isfinite(w.v[first + i]);
        if (!ok || !any) {
            close_window(&w);
            return ok;
        }
        uint8_t *bad = mem_new(n, 1, "bad pixels", e);
        uint32_t far = UINT32_MAX;
        double added = 0;
        for (size_t i = 0; bad && i < n; i++) bad[i] = !isfinite(w.v[first + i]);
        const repair_request ask = {w.v, PIXEL_FLOAT, p->w, w.height, true, row - w.top, rows};
        ok = bad && repair_rows(&far, &added, &ask, p->j->threads, e);
        bool all = w.height == p->h, done = ok && (far <= margin || all);
        for (size_t i = 0; done && ok && i < n; i++) {
            if (!bad[i]) continue;
            float v = w.v[first + i];
            uint32_t stored; /* it is as the type holds it */
            image_from_float(&stored, type, 0, &v, 1);
            image_to_float(&v, &stored, type, 0, 1);
            to->added[c] += (double)v;
            ok = push(to,
                      &(struct part_repair){c, (uint32_t)(i % p->w), row + (uint32_t)(i / p->w), v},
                      e);
        }
        mem_free(bad);
        close_window(&w);
        if (!ok || done) return ok;
    }
}

bool part_repairs_make(part_repairs *to, const part_plan *p, err *e) {
    uint32_t some = rows_some(p->p, 1);
    bool ok = (to->added = mem_new(p->channels, sizeof *to->added, "channels", e)) != NULL;
    for (int i = 0; ok && i < p->m.groups; i++) {
        const part_group *g = &p->group[i];
        for (uint32_t c = g->first; ok && c < g->first + g->count; c++)
            for (uint32_t row = 0; ok && row < p->h; row += some)
                ok = repair_some(to, p, g, c, row, min_u32(some, p->h - row), e);
    }
    return ok;
}

void part_repairs_free(part_repairs *r) {
    mem_free(r->pixel);
    mem_free(r->added);
    *r = (part_repairs){0};
}

void part_repair_rows(const part_repairs *r, uint32_t channel, const part_plan *p, void *plane,
                      uint32_t row, uint32_t rows) {
    size_t low = 0, high = r->count; /* the first that is not before the row */
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const struct part_repair *is = &r->pixel[mid];
        if (is->channel < channel || (is->channel == channel && is->y < row))
            low = mid + 1;
        else
            high = mid;
    }
    for (size_t i = low; i < r->count; i++) {
        const struct part_repair *is = &r->pixel[i];
        if (is->channel != channel || is->y - row >= rows) return;
        image_from_float(plane, p->channel[channel].type, (size_t)(is->y - row) * p->w + is->x,
                         &is->v, 1);
    }
}
