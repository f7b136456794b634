#include "bloom/part_work.h"

/* Groups that are measured together: they need the same of the kernel. */
typedef struct {
    const part_plan *p;
    part_measured *to;
    int from, end; /* of the groups */
    /* The kernel as the whole part needs it; by it the light that leaves is known. A field is taken
     * from the session's sizes, and goes back there. */
    kernel_at own;
    const kernel_at *at;
    void **plane;             /* of each channel of the part */
    float *mask;              /* of one group's rows */
    uint32_t some;            /* rows at a time */
    double *gained, *spilled; /* of each channel of a group, and row */
    float *line;              /* of each worker, two rows */
} measuring;

typedef struct {
    const measuring *m;
    const part_group *g;
    uint32_t row, rows;
    const float *mask;
} strip;

/* Adds some rows of a group, whose planes are those of its channels in the list. What stays as it
 * is, since a mask is 0 there, is not bad. */
static bool scan_rows(part_measured *to, const part_plan *p, const strip *s, void *const *plane,
                      err *e) {
    const part_group *g = s->g;
    const void *at[VIEW_CHANNELS];
    pixel_type type[VIEW_CHANNELS];
    scan found;
    for (uint32_t c = 0; c < g->count; c++)
        at[c] = plane[c], type[c] = p->channel[g->first + c].type;
    const scan_request ask = {
        .w = p->w, .h = s->rows, .channels = g->count, .plane = at, .type = type, .mask = s->mask};
    if (!scan_make(&found, &ask, p->j->threads, e)) return false;
    for (uint64_t i = 0; !to->mended && i < found.bad && i < SCAN_BAD && to->bad + i < SCAN_BAD;
         i++) {
        const scan_bad *from = &found.first[i];
        bloom_bad *bad = &to->first[to->bad + i];
        *bad = (bloom_bad){.x = p->p->data.x0 + (int32_t)from->x,
                           .y = p->p->data.y0 + (int32_t)(s->row + from->y),
                           .value = from->value};
        snprintf(bad->channel, sizeof bad->channel, "%s", part_name(p, g->first + from->channel));
    }
    if (!to->mended) to->bad += found.bad;
    to->hidden |= found.hidden;
    scan_add(&to->group[g - p->group], &found);
    return true;
}

/* --- a part that is read ---------------------------------------------------------------------- */

/* Fills in the part of a row that a node of a field spreads: pixels lit[0] to before lit[1].
 * Returns false if there are none. */
static bool weigh_row(float *to, const float *v, const kernel_at *k, uint32_t node, uint32_t y) {
    const join_field *f = &k->field;
    const uint32_t w = f->extent[PLAN_X], h = f->extent[PLAN_Y],
                   *lit = k->node[node].window.axis[PLAN_X].light;
    const double *across = f->weight[PLAN_X] + (size_t)field_line(f->nodes, node, PLAN_X) * w;
    const double down = f->weight[PLAN_Y][(size_t)field_line(f->nodes, node, PLAN_Y) * h + y];
    for (uint32_t x = lit[0]; x < lit[1] && down > 0; x++)
        to[x] = (float)((double)v[x] * across[x] * down);
    return down > 0 && lit[0] < lit[1];
}

static bool measure_row(void *ctx, size_t index, int worker, err *e) {
    const strip *s = ctx;
    const measuring *m = s->m;
    const part_plan *p = m->p;
    const join_spread spread = {s->g->light.threshold, s->g->light.knee, s->mask};
    uint32_t c = (uint32_t)(index / s->rows), y = (uint32_t)(index % s->rows), n = p->w;
    const part_channel *channel = &p->channel[s->g->first + c];
    float *v = m->line + 2 * (size_t)worker * n, *part = v + n;
    image_to_float(v, m->plane[channel->index], channel->type, (size_t)y * n, n);
    if (m->to->bad || s->mask)
        for (uint32_t x = 0; x < n; x++) v[x] = isfinite(v[x]) ? v[x] : 0;
    if (!join_spreads_all(&spread)) join_spread_row(&spread, (size_t)y * n, v, v, n);
    const kernel_at *k = m->at;
    m->gained[index] = m->spilled[index] = 0;
    for (uint32_t i = 0; i < max_u32(k->nodes, 1); i++) {
        const kernel_at *one = k->nodes ? k->node[i].at : k;
        double sum = 0;
        if (k->nodes && !weigh_row(part, v, k, i, s->row + y)) continue;
        const float *goes = k->nodes ? part : v;
        const uint32_t row[] = {0, n}, *lit = k->nodes ? k->node[i].window.axis[PLAN_X].light : row;
        for (uint32_t x = lit[0]; x < lit[1]; x++) sum += (double)goes[x];
        m->gained[index] += sum * (one->tail.sum[tail_kernel(&one->tail, c)] -
                                   !(k->nodes && kernel_at_common(k, i)));
        m->spilled[index] +=
            spill_of_row(&one->ledger, c, s->row + y, lit[0], lit[1] - lit[0], goes + lit[0]);
    }
    return true;
}

static bool measure_strip(measuring *m, strip *s, err *e) {
    const part_plan *p = m->p;
    size_t lines = (size_t)s->g->count * s->rows;
    void *plane[VIEW_CHANNELS];
    for (uint32_t c = 0; c < s->g->count; c++)
        plane[c] = m->plane[p->channel[s->g->first + c].index];
    if (!scan_rows(m->to, p, s, plane, e) || !par_for(p->j->threads, lines, measure_row, s, e))
        return false;
    for (size_t i = 0; i < lines; i++) {
        ledger_row *to = &m->to->row[s->g->first + i / s->rows];
        to->gained += m->gained[i];
        to->spilled += m->spilled[i];
    }
    return true;
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
    m->gained = mem_raw(2 * lines, sizeof *m->gained, "sums", e);
    m->line = mem_raw(2 * (size_t)par_workers(p->j->threads) * p->w, sizeof *m->line, "rows", e);
    m->mask = mem_raw(n, sizeof *m->mask, "a mask", e);
    m->plane = mem_new((size_t)p->p->channels, sizeof *m->plane, "planes", e);
    bool ok = m->gained && m->line && m->mask && m->plane;
    for (int i = m->from; i < m->end; i++)
        for (uint32_t c = 0; ok && c < p->group[i].count; c++) {
            const part_channel *channel = &p->channel[p->group[i].first + c];
            ok = (m->plane[channel->index] = mem_raw(n, pixel_bytes(channel->type), "rows", e));
        }
    double full[PSF_CHANNELS];
    kernel_at *k = &m->own;
    k->need = part_need(p->j, one->count, one->light.sharpen);
    m->spilled = m->gained + lines;
    if (session_kernel(p->j->session)->field)
        return ok && (m->at = kernel_sizes_take(session_sizes(p->j->session), &k->need,
                                                (plan_planes){.in = PLAN_FLOATS}, e));
    m->at = k;
    if (!ok || !part_psf(&k->kernel, p->j, &k->need, full, e)) return false;
    kernel_at_plan(k, p->j->s);
    const tail_request r = {&k->kernel, full, &k->need, false, &k->ask, false};
    return tail_make(&k->tail, &r, e) && ledger_spill_make(&k->ledger, &k->tail, e);
}

static void end_groups(measuring *m) {
    for (int c = 0; m->plane && c < m->p->p->channels; c++) mem_free(m->plane[c]);
    mem_free(m->plane);
    mem_free(m->mask);
    mem_free(m->line);
    mem_free(m->gained);
    if (m->at != &m->own) kernel_sizes_give(session_sizes(m->p->j->session), m->at);
    ledger_spill_free(&m->own.ledger);
    tail_free(&m->own.tail);
    psf_free(&m->own.kernel);
}

/* Reads the groups' channels from top to bottom, and enters what leaves the image. */
static bool measure_groups(measuring *m, err *e) {
    const part_plan *p = m->p;
    const rows_source *in = p->j->in;
    for (uint32_t row = 0; row < p->h; row += m->some) {
        uint32_t rows = min_u32(m->some, p->h - row);
        if (!in->read(in->ctx, p->j->part, row, rows, m->plane, e)) return false;
        for (int i = m->from; i < m->end; i++) {
            const part_group *g = &p->group[i];
            strip s = {m, g, row, rows, g->light.mask[0] ? m->mask : NULL};
            if (s.mask && !mask_read(m->mask, &g->mask, p->p, row, rows, e)) return false;
            for (uint32_t c = g->first; c < g->first + g->count; c++)
                repairs_put(&m->to->repairs[c], m->plane[p->channel[c].index], p->channel[c].type,
                            p->w, row, rows);
            if (!measure_strip(m, &s, e)) return false;
        }
    }
    return true;
}

/* --- bad pixels ------------------------------------------------------------------------------- */

/* A channel whose bad pixels are looked for. */
typedef struct {
    const part_plan *p;
    const part_held *held;
    const part_group *g;
    uint32_t c; /* of the list */
} looked;

/* Reads rows as floats, bad pixels as NaN. Those that stay as they are, since a mask is 0 there,
 * are infinite. */
static bool read_floats(void *ctx, float *to, uint32_t row, uint32_t rows, err *e) {
    const looked *l = ctx;
    const part_plan *p = l->p;
    const rows_source *in = p->j->in;
    const part_channel *channel = &p->channel[l->c];
    const size_t n = (size_t)p->w * rows, first = l->held ? (size_t)row * p->w : 0;
    OWN_MEM void **plane = mem_new((size_t)p->p->channels, sizeof *plane, "planes", e);
    OWN_MEM void *own = plane && !l->held ? mem_raw(n, pixel_bytes(channel->type), "rows", e)
                                          : NULL;
    OWN_MEM float *mask = NULL;
    if (own) plane[channel->index] = own;
    bool ok = plane && (l->held || (own && in->read(in->ctx, p->j->part, row, rows, plane, e)));
    if (ok) image_to_float(to, l->held ? l->held->plane[l->c] : own, channel->type, first, n);
    if (ok && l->g->light.mask[0])
        ok = (mask = mem_raw(n, sizeof *mask, "a mask", e)) &&
             mask_read(mask, &l->g->mask, p->p, row, rows, e);
    for (size_t i = 0; ok && i < n; i++)
        if (!isfinite(to[i])) to[i] = mask && !(mask[i] > 0) ? INFINITY : NAN;
    return ok;
}

void part_mend(const part_measured *m, const part_plan *p, uint32_t channel, void *plane,
               const float *mask, uint32_t row, uint32_t rows) {
    pixel_type type = p->channel[channel].type;
    if (!m->bad) return;
    repairs_put(&m->repairs[channel], plane, type, p->w, row, rows);
    for (size_t i = 0; i < (size_t)p->w * rows; i++) {
        float v;
        image_to_float(&v, plane, type, i, 1);
        if (!isfinite(v) && (!mask || mask[i] > 0))
            image_from_float(plane, type, i, &(float){0}, 1);
    }
}

/* Enters what is known of each channel before anything is made of it. */
static void enter_channels(part_measured *to, const part_plan *p) {
    for (int i = 0; i < to->groups; i++)
        for (uint32_t c = 0; c < p->group[i].count; c++) {
            const uint32_t at = p->group[i].first + c;
            const scan_channel *in = &to->group[i].channel[c];
            const image_channel *channel = &p->p->channel[p->channel[at].index];
            ledger_row *row = &to->row[at];
            to->dark[at] =
                accuracy_dark(in, bloom_stores_halfs(p->j->s, channel->wide, channel->type));
            if (in->least < 0) row->size = sqrt((double)in->pixels * in->squares);
            row->bad = to->mended ? -to->repairs[at].added : 0;
            if (to->mended) continue;
            row->in = in->sum;
            row->bad_pixels = in->bad;
            row->highest = (double)in->greatest;
            if (row->highest == 1) row->ones = (double)in->count[scan_bin(1)] / (double)in->pixels;
            row->lowest = accuracy_depth(in);
            row->below = row->lowest < 0 ? scan_count(in->below) : 0;
            snprintf(row->channel, sizeof row->channel, "%s", channel->name);
        }
}

static bool measure_once(part_measured *to, const part_plan *p, const part_held *held, err *e) {
    bool ok = true;
    for (int i = 0; i < to->groups; i++) scan_free(&to->group[i]);
    for (uint32_t c = 0; c < p->channels; c++) to->row[c].gained = to->row[c].spilled = 0;
    for (int i = 0; ok && held && i < to->groups; i++) {
        const strip whole = {NULL, &p->group[i], 0, p->h, held->mask[i]};
        ok = scan_rows(to, p, &whole, held->plane + whole.g->first, e);
    }
    for (int i = 0; ok && !held && i < to->groups;) {
        measuring m = {.p = p, .to = to, .from = i};
        ok = take_groups(&m, e) && measure_groups(&m, e);
        i = m.end;
        end_groups(&m);
    }
    if (ok) enter_channels(to, p);
    return ok;
}

static bool measure(part_measured *to, const part_plan *p, const part_held *held, err *e) {
    const bool predict = p->j->predict;
    const bloom_nan nan = p->j->s->nan;
    *to = (part_measured){.groups = predict ? 1 : p->m.groups, .channels = p->channels};
    to->group = mem_new((size_t)to->groups, sizeof *to->group, "scans", e);
    to->row = mem_new(p->channels, sizeof *to->row, "channels", e);
    to->dark = mem_new(p->channels, sizeof *to->dark, "channels", e);
    to->repairs = mem_new(p->channels, sizeof *to->repairs, "channels", e);
    if (!to->group || !to->row || !to->dark || !to->repairs || !measure_once(to, p, held, e))
        return false;
    if (!to->bad) return true;
    const bloom_bad *first = &to->first[0];
    if (nan == NAN_ERROR && !predict)
        return err_set(e, ERR_BAD_PIXELS,
                       "%" PRIu64 " pixel%s NaN or infinite, the first in channel '%s' at %d, %d "
                       "(%g); use --nan=zero or --nan=interpolate to continue",
                       to->bad, to->bad == 1 ? " is" : "s are", first->channel, first->x, first->y,
                       (double)first->value);
    to->mended = nan == NAN_INTERPOLATE;
    image_box has = p->j->came;
    has.x0 -= p->p->data.x0, has.x1 -= p->p->data.x0;
    has.y0 -= p->p->data.y0, has.y1 -= p->p->data.y0;
    for (int i = 0; i < to->groups; i++) {
        const part_group *g = &p->group[i];
        for (uint32_t c = g->first; c < g->first + g->count; c++) {
            looked l = {p, held, g, c};
            const repair_plane r = {p->w,        p->h, rows_some(p->p, 1), has, p->channel[c].type,
                                    read_floats, &l};
            if (to->mended && to->group[i].channel[c - g->first].bad &&
                !repairs_find(&to->repairs[c], &r, p->j->threads, e))
                return false;
            if (held) part_mend(to, p, c, held->plane[c], held->mask[i], 0, p->h);
        }
    }
    return !to->mended || measure_once(to, p, held, e);
}

bool part_measure(part_measured *to, const part_plan *p, const part_held *held, err *e) {
    bool ok = measure(to, p, held, e);
    for (int i = 0; ok && !held && i < to->groups; i++) scan_free(&to->group[i]);
    for (uint32_t c = 0; ok && held && c < p->channels; c++) repairs_free(&to->repairs[c]);
    return ok;
}

void part_measured_free(part_measured *m) {
    for (int i = 0; m->group && i < m->groups; i++) scan_free(&m->group[i]);
    for (uint32_t c = 0; m->repairs && c < m->channels; c++) repairs_free(&m->repairs[c]);
    mem_free(m->group);
    mem_free(m->row);
    mem_free(m->dark);
    mem_free(m->repairs);
    *m = (part_measured){.groups = 0};
}
