#include "base/mem.h"
#include "base/number.h"
#include "bloom/tiled_work.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* --- the kernel that the whole part needs --------------------------------------------------- */

kernel_need tiled_need(const tiled_job *j, uint32_t channels, double sharpen) {
    const image_part *p = &j->head->part[j->part];
    image img = {.head = *j->head};
    view v = {.img = &img, .part = j->part};
    kernel_need need = {.channels = channels,
                        .w = image_width(p),
                        .h = image_height(p),
                        .height = j->height,
                        .sharpen = sharpen};
    view_primaries(&v, need.primaries);
    return need;
}

bool tiled_psf(psf *k, const tiled_job *j, const kernel_need *need, double *full, err *e) {
    const kernel_use use = bloom_kernel_use(j->s);
    return kernel_source_psf(k, session_kernel(j->session), &use, need, full, e);
}

/* What light of a group that leaves the image is known by: the kernel as the whole part needs it.
 */
typedef struct {
    psf kernel;
    kernel_tail tail;
    ledger_kernel ledger;
} whole_kernel;

/* --- the part, some rows at a time ---------------------------------------------------------- */

/* The rows of a group that are measured at a time. */
typedef struct {
    const tiled_work *w;
    const whole_kernel *by;
    tiled_plane *first; /* its first tiled_plane */
    uint32_t channels;
    uint8_t *plane[VIEW_CHANNELS]; /* of each of its channels */
    uint32_t row, rows;
    double *spread, *spilled; /* of each channel and row */
    float *line;              /* of each worker */
} strip;

static bool measure_row(void *ctx, size_t index, int worker, err *e) {
    const strip *s = ctx;
    const join_excess excess = {s->first->by->threshold, s->first->by->knee};
    (void)e;
    uint32_t c = (uint32_t)(index / s->rows), y = (uint32_t)(index % s->rows), n = s->w->w;
    float *v = s->line + (size_t)worker * n;
    image_to_float(v, s->plane[c], s->first[c].type, (size_t)y * n, n);
    if (s->w->bad)
        for (uint32_t x = 0; x < n; x++) v[x] = isfinite(v[x]) ? v[x] : 0;
    double sum = 0;
    if (excess.threshold > 0) {
        join_excess_row(&excess, v, v, n);
        for (uint32_t x = 0; x < n; x++) sum += (double)v[x];
    }
    s->spread[index] = sum;
    s->spilled[index] = ledger_spill(&s->by->ledger, c, s->row + y, v);
    return true;
}

static void add_scan(tiled_work *w, tiled_plane *to, const scan_channel *from) {
    scan_channel *s = &to->seen;
    s->pixels += from->pixels;
    s->bad += from->bad;
    s->sum += from->sum;
    s->squares += from->squares;
    s->least = fminf(s->least, from->least);
    s->greatest = fmaxf(s->greatest, from->greatest);
    for (int b = 0; b < SCAN_BINS; b++) s->count[b] += from->count[b];
    w->bad |= from->bad > 0;
}

static void enter_bad(const tiled_work *w, const scan *s, const tiled_plane *first, uint32_t row,
                      bloom_report *r) {
    for (uint64_t i = 0; i < s->bad && i < SCAN_BAD && r->bad + i < SCAN_BAD; i++) {
        const scan_bad *from = &s->first[i];
        bloom_bad *to = &r->first_bad[r->bad + i];
        snprintf(to->channel, sizeof to->channel, "%s",
                 w->p->channel[first[from->channel].index].name);
        to->x = w->p->data.x0 + (int32_t)from->x;
        to->y = w->p->data.y0 + (int32_t)(row + from->y);
        to->value = from->value;
    }
    r->bad += s->bad;
}

static bool measure_strip(tiled_work *w, strip *s, bloom_report *r, err *e) {
    scan found = {0};
    pixel_type type[VIEW_CHANNELS];
    size_t lines = (size_t)s->channels * s->rows;
    for (uint32_t c = 0; c < s->channels; c++) type[c] = s->first[c].type;
    const scan_request ask = {.w = w->w,
                              .h = s->rows,
                              .channels = s->channels,
                              .plane = (const void *const *)s->plane,
                              .type = type,
                              .histogram = true};
    if (!scan_make(&found, &ask, w->j->threads, e)) return false;
    for (uint32_t c = 0; c < s->channels; c++) add_scan(w, &s->first[c], &found.channel[c]);
    enter_bad(w, &found, s->first, s->row, r);
    scan_free(&found);
    if (!par_for(w->j->threads, lines, measure_row, s, e)) return false;
    for (size_t i = 0; i < lines; i++) {
        s->first[i / s->rows].spread += s->spread[i];
        s->first[i / s->rows].spilled += s->spilled[i];
    }
    return true;
}

static bool make_whole_kernel(whole_kernel *k, const tiled_work *w, const strip *s, err *e) {
    double full[PSF_CHANNELS], sharpen = s->first->by->sharpen;
    const tiled_job *j = w->j;
    const kernel_need need = tiled_need(j, s->channels, sharpen);
    if (!tiled_psf(&k->kernel, j, &need, full, e)) return false;
    plan_request ask = session_request(j->s, &k->kernel, &need);
    const tail_request r = {&k->kernel, full, sharpen, false, &ask};
    return tail_make(&k->tail, &r, e) && ledger_kernel_make(&k->ledger, &k->tail, e);
}

static void free_whole_kernel(whole_kernel *k) {
    ledger_kernel_free(&k->ledger);
    tail_free(&k->tail);
    psf_free(&k->kernel);
}

/* Begins the ledger's row of a channel: what is known before anything is made. */
static void begin_row(const tiled_work *w, tiled_plane *is, const kernel_tail *tail,
                      uint32_t kernel) {
    const scan_channel *in = &is->seen;
    double spread = is->by->threshold > 0 ? is->spread : in->sum;
    is->row = (ledger_row){.in = in->sum,
                           .gained = spread * (tail->sum[kernel] - 1),
                           .spilled = is->spilled,
                           .bad_pixels = in->bad,
                           .centre = tail->centre[kernel]};
    if (in->least < 0) is->row.size = sqrt((double)in->pixels * in->squares);
    snprintf(is->row.channel, sizeof is->row.channel, "%s", w->p->channel[is->index].name);
}

/* Groups that are measured together: they need the same of the kernel. */
typedef struct {
    tiled_work *w;
    strip *group; /* each with rows of its own */
    int groups;
    whole_kernel kernel;
    void **plane;  /* of each channel of the part */
    uint32_t some; /* rows at a time */
} measuring;

static void end_measuring(measuring *m) {
    for (int i = 0; i < m->groups; i++)
        for (uint32_t c = 0; c < m->group[i].channels; c++) mem_free(m->group[i].plane[c]);
    if (m->groups) {
        mem_free(m->group[0].spread);
        mem_free(m->group[0].line);
    }
    free_whole_kernel(&m->kernel);
    mem_free(m->group);
    mem_free(m->plane);
}

/* Takes groups from number `at` on: one at the least, and as many as need the same of the kernel
 * and have some rows that may be in memory together. */
static bool take_groups(measuring *m, tiled_plane *first, int at, err *e) {
    enum { STRIP = 24 << 20 };
    const tiled_work *w = m->w;
    const bloom_rows *rows = w->j->rows;
    uint32_t unit = rows->step(rows->ctx, w->j->part);
    uint64_t most = min_u64(STRIP, mem_left() / 8), row = 0, left = (uint64_t)(w->m.groups - at);
    m->group = mem_new(left, sizeof *m->group, "layers", e);
    m->plane = mem_new((size_t)w->p->channels, sizeof *m->plane, "planes", e);
    if (!m->group || !m->plane) return false;
    for (; at + m->groups < w->m.groups; m->groups++) {
        strip *s = &m->group[m->groups];
        *s = (strip){.w = w, .first = first};
        s->channels = tiled_channels(w->j->s, &w->m.group[at + m->groups]);
        const strip *one = &m->group[0];
        bool alike = s->channels == one->channels && first->by->sharpen == one->first->by->sharpen;
        uint64_t own = 0;
        for (uint32_t c = 0; c < s->channels; c++) own += w->w * pixel_bytes(first[c].type);
        if (m->groups && (!alike || (row + own) * unit > most)) break;
        row += own;
        first += s->channels;
    }
    m->some = min_u32(max_u32((uint32_t)(most / (row * unit)), 1) * unit, w->h);
    return true;
}

/* Makes the kernel, and the planes of the groups. */
static bool begin_measuring(measuring *m, err *e) {
    const tiled_work *w = m->w;
    size_t lines = (size_t)VIEW_CHANNELS * m->some, n = (size_t)w->w * m->some;
    strip *first = &m->group[0];
    first->spread = mem_raw(lines, 2 * sizeof(double), "sums", e);
    first->line =
        mem_raw((size_t)par_workers(w->j->threads) * w->w, sizeof *first->line, "rows", e);
    bool ok = first->spread && first->line && make_whole_kernel(&m->kernel, w, first, e);
    for (int i = 0; ok && i < m->groups; i++) {
        strip *s = &m->group[i];
        s->spread = first->spread;
        s->spilled = s->spread + lines;
        s->line = first->line;
        s->by = &m->kernel;
        for (uint32_t c = 0; ok && c < s->channels; c++) {
            s->plane[c] = mem_raw(n, pixel_bytes(s->first[c].type), "rows", e);
            ok = (m->plane[s->first[c].index] = s->plane[c]);
        }
    }
    return ok;
}

/* Reads the groups' channels from top to bottom. */
static bool measure_groups(measuring *m, bloom_report *r, err *e) {
    tiled_work *w = m->w;
    const bloom_rows *from = w->j->rows;
    for (uint32_t row = 0; row < w->h; row += m->some) {
        uint32_t rows = min_u32(m->some, w->h - row);
        if (!from->read(from->ctx, w->j->part, row, rows, m->plane, e)) return false;
        for (int i = 0; i < m->groups; i++) {
            m->group[i].row = row;
            m->group[i].rows = rows;
            if (!measure_strip(w, &m->group[i], r, e)) return false;
        }
    }
    for (int i = 0; i < m->groups; i++) {
        const strip *s = &m->group[i];
        for (uint32_t c = 0; c < s->channels; c++) {
            s->first[c].dark = accuracy_dark(&s->first[c].seen);
            begin_row(w, &s->first[c], &s->by->tail, tail_kernel(&s->by->tail, c));
        }
    }
    return true;
}

/* Reads the part once, or more often if its layers differ, or are too many for the memory. */
static bool measure_all(tiled_work *w, bloom_report *r, err *e) {
    tiled_plane *first = w->list;
    bool ok = true;
    for (int at = 0; ok && at < w->m.groups;) {
        measuring m = {.w = w};
        ok = take_groups(&m, first, at, e) && begin_measuring(&m, e) && measure_groups(&m, r, e);
        at += m.groups;
        for (int i = 0; i < m.groups; i++) first += m.group ? m.group[i].channels : 0;
        end_measuring(&m);
    }
    return ok;
}

bool tiled_measure(tiled_work *w, bloom_report *r, err *e) {
    uint64_t before = r->bad;
    if (!measure_all(w, r, e)) return false;
    const bloom_bad *b = &r->first_bad[before < SCAN_BAD ? before : 0];
    if (!w->bad || w->j->s->nan == NAN_ZERO) return true;
    if (w->j->s->nan == NAN_ERROR)
        return err_set(e, ERR_BAD_PIXELS,
                       "%" PRIu64 " pixel%s NaN or infinite, the first in channel '%s' at %d, %d "
                       "(%g); use --nan zero to continue",
                       r->bad - before, r->bad - before == 1 ? " is" : "s are", b->channel, b->x,
                       b->y, (double)b->value);
    char why[120];
    snprintf(why, sizeof why,
             "%" PRIu64 " pixel%s NaN or infinite; --nan interpolate looks for neighbours in",
             r->bad - before, r->bad - before == 1 ? " is" : "s are");
    return tiled_refuse_whole(w, why, "--nan zero", e);
}
