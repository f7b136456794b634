#include "bloom/part_work.h"

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
                 (!lent || mask_read(h->mask[i], &p->group[i].mask, p->p, 0, rows, e));
    for (uint32_t c = 0; ok && c < p->channels; c++) {
        const part_channel *channel = &p->channel[c];
        if (lent) h->plane[c] = lent[channel->index], lent[channel->index] = NULL;
        ok = h->plane[c] ||
             (h->plane[c] = mem_raw((size_t)p->w * rows, pixel_bytes(channel->type), "rows", e));
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

/* Reads rows that follow each other in the part and in the ring, from row `at` of the ring on. */
static bool read_rows(part_held *h, int64_t at, uint32_t rows, void **plane, err *e) {
    const part_plan *p = h->p;
    const rows_source *in = p->j->in;
    const size_t before = part_row(h, at) * p->w;
    const uint32_t row = (uint32_t)(((at % p->h) + p->h) % p->h);
    for (uint32_t c = 0; c < p->channels; c++)
        plane[p->channel[c].index] = (uint8_t *)h->plane[c] +
                                     before * pixel_bytes(p->channel[c].type);
    if (!in->read(in->ctx, p->j->part, row, rows, plane, e)) return false;
    for (int i = 0; i < p->m.groups; i++) {
        const part_group *g = &p->group[i];
        float *mask = h->mask[i] ? h->mask[i] + before : NULL;
        if (mask && !mask_read(mask, &g->mask, p->p, row, rows, e)) return false;
        for (uint32_t c = g->first; h->seen && c < g->first + g->count; c++)
            part_mend(h->seen, p, c, plane[p->channel[c].index], mask, row, rows);
    }
    return true;
}

int64_t part_held_row(const part_held *h, int64_t row) {
    plan_border b = h->p->j->s->border[PLAN_Y];
    int64_t place = b == BORDER_WRAP ? row : plan_place(b, h->p->h, row);
    return place < 0 && b != BORDER_WRAP ? PART_DARK : place;
}

bool part_hold(part_held *h, int64_t from, int64_t to, err *e) {
    OWN_MEM void **plane = mem_new((size_t)h->p->p->channels, sizeof *plane, "planes", e);
    bool ok = plane != NULL;
    int64_t low = INT64_MAX, high = INT64_MIN, height = h->p->h;
    for (int64_t y = from; y < to; y++) { /* what the border shows may be farther away */
        int64_t row = part_held_row(h, y);
        if (row == PART_DARK) continue;
        low = min_i64(low, row);
        high = max_i64(high, row + 1);
    }
    bool touch = low < h->to && high > h->from;
    const int64_t had[2] = {touch ? h->from : high, touch ? h->to : high};
    const int64_t missing[2][2] = {{low, min_i64(had[0], high)}, {max_i64(had[1], low), high}};
    for (int i = 0; i < 2; i++)
        for (int64_t at = missing[i][0]; ok && at < missing[i][1];) {
            int64_t row = ((at % height) + height) % height, rows = missing[i][1] - at;
            rows = min_i64(rows, min_i64(height - row, (int64_t)(h->room - part_row(h, at))));
            ok = read_rows(h, at, (uint32_t)rows, plane, e);
            at += rows;
        }
    h->from = low;
    h->to = high;
    return ok;
}
