#include "base/mem.h"
#include "base/number.h"
#include "bloom/part_work.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What light of a group that leaves the image is known by: the kernel as the whole part needs it.
 */
typedef struct {
    psf kernel;
    kernel_tail tail;
    spill ledger;
} whole_kernel;

static bool make_kernel(whole_kernel *k, const part_plan *p, const part_group *g, err *e) {
    double full[PSF_CHANNELS], sharpen = g->light.sharpen;
    const kernel_need need = part_need(p->j, g->count, sharpen);
    if (!part_psf(&k->kernel, p->j, &need, full, e)) return false;
    plan_request ask = session_request(p->j->s, &k->kernel, &need, (plan_planes){0});
    const tail_request r = {&k->kernel, full, sharpen, false, &ask};
    return tail_make(&k->tail, &r, e) && ledger_spill_make(&k->ledger, &k->tail, e);
}

/* What is known of a channel so far. */
typedef struct {
    scan_channel seen; /* without blocks */
    uint64_t count[SCAN_BINS], below[SCAN_BINS];
    double spread, spilled; /* sums of what is spread, and of what of it leaves the image, net */
} channel_sums;

/* Groups that are measured together: they need the same of the kernel. */
typedef struct {
    const part_plan *p;
    part_measured *to;
    int from, end; /* of the groups */
    whole_kernel kernel;
    channel_sums *sums;       /* of each channel of the list */
    void **plane;             /* of each channel of the part */
    float *mask;              /* of one group's rows */
    uint32_t some;            /* rows at a time */
    double *spread, *spilled; /* of each channel of a group, and row */
    float *line;              /* of each worker */
} measuring;

/* Rows of a group. */
typedef struct {
    const measuring *m;
    const part_group *g;
    uint32_t row, rows;
    bool bad, masked;
} strip;

static bool measure_row(void *ctx, size_t index, int worker, err *e) {
    const strip *s = ctx;
    const measuring *m = s->m;
    const part_plan *p = m->p;
    const join_spread spread = {s->g->light.threshold, s->g->light.knee,
                                s->masked ? m->mask : NULL};
    (void)e;
    uint32_t c = (uint32_t)(index / s->rows), y = (uint32_t)(index % s->rows), n = p->w;
    const part_channel *is = &p->channel[s->g->first + c];
    float *v = m->line + (size_t)worker * n;
    image_to_float(v, m->plane[is->index], is->type, (size_t)y * n, n);
    if (s->bad)
        for (uint32_t x = 0; x < n; x++) v[x] = isfinite(v[x]) ? v[x] : 0;
    if (!join_spreads_all(&spread)) join_spread_row(&spread, (size_t)y * n, v, v, n);
    double sum = 0;
    for (uint32_t x = 0; x < n; x++) sum += (double)v[x];
    m->spread[index] = sum;
    m->spilled[index] = spill_of_row(&m->kernel.ledger, c, s->row + y, v);
    return true;
}

static void add_scan(channel_sums *to, const scan_channel *from) {
    scan_channel *s = &to->seen;
    s->pixels += from->pixels;
    s->bad += from->bad;
    s->sum += from->sum;
    s->squares += from->squares;
    s->least = fminf(s->least, from->least);
    s->greatest = fmaxf(s->greatest, from->greatest);
    for (int b = 0; b < SCAN_BINS; b++) {
        s->count[b] += from->count[b];
        s->below[b] += from->below[b];
    }
}

static void enter_bad(part_measured *to, const part_plan *p, const part_group *g, const scan *s,
                      uint32_t row) {
    for (uint64_t i = 0; i < s->bad && i < SCAN_BAD && to->bad + i < SCAN_BAD; i++) {
        const scan_bad *from = &s->first[i];
        bloom_bad *bad = &to->first[to->bad + i];
        snprintf(bad->channel, sizeof bad->channel, "%s",
                 p->p->channel[p->channel[g->first + from->channel].index].name);
        bad->x = p->p->data.x0 + (int32_t)from->x;
        bad->y = p->p->data.y0 + (int32_t)(row + from->y);
        bad->value = from->value;
    }
    to->bad += s->bad;
}

static bool measure_strip(measuring *m, strip *s, err *e) {
    const part_plan *p = m->p;
    scan found = {0};
    const void *plane[VIEW_CHANNELS];
    pixel_type type[VIEW_CHANNELS];
    size_t lines = (size_t)s->g->count * s->rows, n = (size_t)p->w * s->rows;
    for (uint32_t c = 0; c < s->g->count; c++) {
        const part_channel *is = &p->channel[s->g->first + c];
        plane[c] = m->plane[is->index];
        type[c] = is->type;
        float v; /* what stays as it is does not count */
        for (size_t i = 0; s->masked && i < n; i++) {
            if (m->mask[i] > 0) continue;
            image_to_float(&v, plane[c], type[c], i, 1);
            if (!isfinite(v)) image_from_float(m->plane[is->index], type[c], i, &(float){0}, 1);
        }
    }
    const scan_request ask = {.w = p->w,
                              .h = s->rows,
                              .channels = s->g->count,
                              .plane = plane,
                              .type = type,
                              .histogram = true};
    if (!scan_make(&found, &ask, p->j->threads, e)) return false;
    for (uint32_t c = 0; c < s->g->count; c++)
        add_scan(&m->sums[s->g->first + c], &found.channel[c]);
    enter_bad(m->to, p, s->g, &found, s->row);
    s->bad = found.bad > 0;
    scan_free(&found);
    if (!par_for(p->j->threads, lines, measure_row, s, e)) return false;
    for (size_t i = 0; i < lines; i++) {
        channel_sums *to = &m->sums[s->g->first + i / s->rows];
        to->spread += m->spread[i];
        to->spilled += m->spilled[i];
    }
    return true;
}

/* Returns what is known of a channel before anything is made of it. */
static part_seen seen_of(const measuring *m, const part_group *g, uint32_t c) {
    const channel_sums *is = &m->sums[g->first + c];
    const scan_channel *in = &is->seen;
    const kernel_tail *tail = &m->kernel.tail;
    uint32_t kernel = tail_kernel(tail, c);
    const part_job *j = m->p->j;
    bool halfs = bloom_stores_halfs(j->s, j->floats, m->p->channel[g->first + c].type);
    part_seen to = {.dark = accuracy_dark(in, halfs),
                    .row = {.in = in->sum,
                            .gained = is->spread * (tail->sum[kernel] - 1),
                            .spilled = is->spilled,
                            .bad_pixels = in->bad,
                            .centre = tail->centre[kernel]}};
    if (in->least < 0) to.row.size = sqrt((double)in->pixels * in->squares);
    snprintf(to.row.channel, sizeof to.row.channel, "%s",
             m->p->p->channel[m->p->channel[g->first + c].index].name);
    return to;
}

/* Takes groups from m->from on: one at the least, and as many as need the same of the kernel and
 * have some rows that may be in memory together. Makes room for these. */
static bool take_groups(measuring *m, err *e) {
    enum { STRIP = 24 << 20, PART = 16 };
    const part_plan *p = m->p;
    const part_group *one = &p->group[m->from];
    uint64_t most = min_u64(STRIP, mem_limit() / PART), row = 0;
    for (m->end = m->from; m->end < p->m.groups; m->end++) {
        const part_group *g = &p->group[m->end];
        uint64_t own = g->light.mask[0] ? p->w * sizeof(float) : 0;
        for (uint32_t c = 0; c < g->count; c++)
            own += p->w * pixel_bytes(p->channel[g->first + c].type);
        bool alike = g->count == one->count && g->light.sharpen == one->light.sharpen;
        if (m->end > m->from && (!alike || (row + own) * 16 > most)) break;
        row += own;
    }
    m->some = min_u32(max_u32((uint32_t)min_u64(most / row, IMAGE_SIDE), 1), p->h);
    size_t lines = (size_t)one->count * m->some, n = (size_t)p->w * m->some;
    m->spread = mem_raw(lines, sizeof *m->spread, "sums", e);
    m->spilled = mem_raw(lines, sizeof *m->spilled, "sums", e);
    m->line = mem_raw((size_t)par_workers(p->j->threads) * p->w, sizeof *m->line, "rows", e);
    m->mask = mem_raw(n, sizeof *m->mask, "a mask", e);
    m->plane = mem_new((size_t)p->p->channels, sizeof *m->plane, "planes", e);
    bool ok = m->spread && m->spilled && m->line && m->mask && m->plane;
    for (int i = m->from; i < m->end; i++)
        for (uint32_t c = 0; ok && c < p->group[i].count; c++) {
            const part_channel *is = &p->channel[p->group[i].first + c];
            ok = (m->plane[is->index] = mem_raw(n, pixel_bytes(is->type), "rows", e));
        }
    return ok && make_kernel(&m->kernel, p, one, e);
}

static void end_groups(measuring *m) {
    for (int c = 0; m->plane && c < m->p->p->channels; c++) mem_free(m->plane[c]);
    mem_free(m->plane);
    mem_free(m->mask);
    mem_free(m->line);
    mem_free(m->spread);
    mem_free(m->spilled);
    ledger_spill_free(&m->kernel.ledger);
    tail_free(&m->kernel.tail);
    psf_free(&m->kernel.kernel);
}

/* Reads the groups' channels from top to bottom. */
static bool measure_groups(measuring *m, err *e) {
    const part_plan *p = m->p;
    const rows_source *in = p->j->in;
    for (uint32_t row = 0; row < p->h; row += m->some) {
        uint32_t rows = min_u32(m->some, p->h - row);
        if (!in->read(in->ctx, p->j->part, row, rows, m->plane, e)) return false;
        for (int i = m->from; i < m->end; i++) {
            const part_group *g = &p->group[i];
            for (uint32_t c = g->first; c < g->first + g->count; c++)
                part_repair_rows(&m->to->repairs, c, p, m->plane[p->channel[c].index], row, rows);
            strip s = {m, g, row, rows, false, g->light.mask[0] != 0};
            if (s.masked && !mask_read(m->mask, in, &g->mask, p->p, row, rows, e)) return false;
            if (!measure_strip(m, &s, e)) return false;
        }
    }
    for (int i = m->from; i < m->end; i++)
        for (uint32_t c = 0; c < p->group[i].count; c++)
            m->to->channel[p->group[i].first + c] = seen_of(m, &p->group[i], c);
    return true;
}

static bool read_once(part_measured *to, const part_plan *p, err *e) {
    channel_sums *sums = mem_new(p->channels, sizeof *sums, "histograms", e);
    bool ok = sums != NULL;
    for (uint32_t c = 0; ok && c < p->channels; c++) {
        sums[c].seen.least = INFINITY;
        sums[c].seen.greatest = -INFINITY;
        sums[c].seen.count = sums[c].count;
        sums[c].seen.below = sums[c].below;
    }
    for (int i = 0; ok && i < p->m.groups;) {
        measuring m = {.p = p, .to = to, .from = i, .sums = sums};
        ok = take_groups(&m, e) && measure_groups(&m, e);
        i = m.end;
        end_groups(&m);
    }
    mem_free(sums);
    return ok;
}

bool part_measure(part_measured *to, const part_plan *p, err *e) {
    *to = (part_measured){.channel = mem_new(p->channels, sizeof *to->channel, "channels", e)};
    if (!to->channel || !read_once(to, p, e)) return false;
    if (!to->bad || p->j->s->nan == NAN_ZERO) return true;
    if (p->j->s->nan == NAN_ERROR) return report_refuse_bad(to->bad, to->first, e);
    const part_measured came = *to;
    uint64_t *bad = mem_new(p->channels, sizeof *bad, "channels", e);
    bool ok = bad && part_repairs_make(&to->repairs, p, e);
    for (uint32_t c = 0; ok && c < p->channels; c++) bad[c] = to->channel[c].row.bad_pixels;
    ok = ok && read_once(to, p, e);
    to->bad = came.bad;
    memcpy(to->first, came.first, sizeof to->first);
    for (uint32_t c = 0; ok && c < p->channels; c++) {
        ledger_row *row = &to->channel[c].row;
        row->in -= to->repairs.added[c];
        row->bad = -to->repairs.added[c];
        row->bad_pixels = bad[c];
    }
    mem_free(bad);
    return ok;
}

void part_measured_free(part_measured *m) {
    part_repairs_free(&m->repairs);
    mem_free(m->channel);
    *m = (part_measured){0};
}
