#include "base/mem.h"
#include "base/number.h"
#include "bloom/part_work.h"

#include <string.h>

bool part_held_open(part_held *h, const part_plan *p, uint32_t rows, bool whole, err *e) {
    const rows_source *in = p->j->in;
    void **lent = NULL;
    *h = (part_held){.p = p, .room = rows};
    if (whole && in->lend && !in->lend(in->ctx, p->j->part, &p->p->data, &lent, e)) return false;
    h->plane = mem_new(p->channels, sizeof *h->plane, "rows", e);
    h->mask = mem_new((size_t)p->m.groups, sizeof *h->mask, "masks", e);
    bool ok = h->plane && h->mask;
    for (int i = 0; ok && i < p->m.groups; i++)
        if (p->group[i].light.mask[0])
            ok = (h->mask[i] = mem_raw((size_t)p->w * rows, sizeof(float), "a mask", e)) &&
                 (!lent || mask_read(h->mask[i], in, &p->group[i].mask, p->p, 0, rows, e));
    for (uint32_t c = 0; ok && c < p->channels; c++) {
        const part_channel *is = &p->channel[c];
        if (lent && lent[is->index]) {
            h->plane[c] = lent[is->index];
            lent[is->index] = NULL;
        } else {
            ok = (h->plane[c] = mem_raw((size_t)p->w * rows, pixel_bytes(is->type), "rows", e));
        }
    }
    if (ok && lent) h->to = rows;
    return ok;
}

void part_held_free(part_held *h) {
    for (uint32_t c = 0; h->plane && c < h->p->channels; c++) mem_free(h->plane[c]);
    for (int i = 0; h->mask && i < h->p->m.groups; i++) mem_free(h->mask[i]);
    mem_free(h->plane);
    mem_free(h->mask);
    *h = (part_held){0};
}

/* Rows that follow each other in the part, up or down, or are one row again and again; and in the
 * ring. */
typedef struct {
    int64_t at, source; /* source -1: zeros */
    uint32_t count;
    int step;
} run;

static run find_run(const part_held *h, int64_t at, int64_t end) {
    plan_border b = h->p->j->s->border[PLAN_Y];
    uint32_t height = h->p->h;
    run r = {at, plan_place(b, height, at), 1, 0};
    end = min_i64(end, at + (int64_t)(h->room - part_row(h, at)));
    if (at + 1 < end && r.source >= 0) {
        int64_t next = plan_place(b, height, at + 1) - r.source;
        r.step = next == 1 || next == -1 ? (int)next : 0;
    }
    while (at + r.count < end) {
        int64_t next = plan_place(b, height, at + r.count);
        if (next != (r.source < 0 ? -1 : r.source + (int64_t)r.count * r.step)) break;
        r.count++;
    }
    return r;
}

/* Makes the rows of a run from those that were read, in the order of the part. */
static void spread_rows(const run *r, uint8_t *rows, size_t bytes) {
    for (uint32_t i = 0; r->step < 0 && i < r->count / 2; i++) {
        uint8_t *a = rows + i * bytes, *b = rows + (r->count - 1 - i) * bytes;
        for (size_t k = 0; k < bytes; k++) {
            uint8_t keep = a[k];
            a[k] = b[k];
            b[k] = keep;
        }
    }
    for (uint32_t i = 1; !r->step && i < r->count; i++) memcpy(rows + i * bytes, rows, bytes);
}

static bool read_run(part_held *h, const run *r, void **plane, err *e) {
    const part_plan *p = h->p;
    const rows_source *in = p->j->in;
    size_t at = part_row(h, r->at) * p->w;
    uint32_t read = r->step ? r->count : 1;
    uint32_t top = (uint32_t)(r->step < 0 ? r->source - (int64_t)(r->count - 1) : r->source);
    for (uint32_t c = 0; c < p->channels; c++) {
        size_t each = pixel_bytes(p->channel[c].type);
        plane[p->channel[c].index] = (uint8_t *)h->plane[c] + at * each;
        if (r->source < 0) memset(plane[p->channel[c].index], 0, (size_t)r->count * p->w * each);
    }
    for (int i = 0; i < p->m.groups && r->source < 0; i++)
        if (h->mask[i]) memset(h->mask[i] + at, 0, (size_t)r->count * p->w * sizeof(float));
    if (r->source < 0) return true;
    if (!in->read(in->ctx, p->j->part, top, read, plane, e)) return false;
    for (int i = 0; i < p->m.groups; i++) {
        const part_group *g = &p->group[i];
        float *mask = h->mask[i] ? h->mask[i] + at : NULL;
        if (mask && !mask_read(mask, in, &g->mask, p->p, top, read, e)) return false;
        for (uint32_t c = g->first; c < g->first + g->count; c++) {
            void *rows = plane[p->channel[c].index];
            if (h->seen) part_mend(h->seen, p, c, rows, mask, top, read);
            spread_rows(r, rows, p->w * pixel_bytes(p->channel[c].type));
        }
        if (mask) spread_rows(r, (uint8_t *)mask, p->w * sizeof(float));
    }
    return true;
}

bool part_hold(part_held *h, int64_t from, int64_t to, err *e) {
    void **plane = mem_new((size_t)h->p->p->channels, sizeof *plane, "planes", e);
    bool ok = plane != NULL;
    bool touch = from < h->to && to > h->from;
    int64_t had[2] = {touch ? h->from : to, touch ? h->to : to};
    const int64_t missing[2][2] = {{from, min_i64(had[0], to)}, {max_i64(had[1], from), to}};
    for (int i = 0; i < 2; i++)
        for (int64_t at = missing[i][0]; ok && at < missing[i][1];) {
            run r = find_run(h, at, missing[i][1]);
            ok = read_run(h, &r, plane, e);
            at += r.count;
        }
    h->from = from;
    h->to = to;
    mem_free(plane);
    return ok;
}
