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

/* The rows that are measured at a time. */
typedef struct {
    const tiled_work *w;
    const ledger_kernel *ledger; /* of the group at hand */
    tiled_plane *first;          /* its first tiled_plane */
    uint8_t *const *plane;       /* of each of the group's channels */
    uint32_t row, rows;
    join_excess excess;
    double *spread, *spilled; /* of each channel and row */
    float *line;              /* of each worker */
} strip;

static bool measure_row(void *ctx, size_t index, int worker, err *e) {
    const strip *s = ctx;
    (void)e;
    uint32_t c = (uint32_t)(index / s->rows), y = (uint32_t)(index % s->rows), n = s->w->w;
    float *v = s->line + (size_t)worker * n;
    image_to_float(v, s->plane[c], s->first[c].type, (size_t)y * n, n);
    if (s->w->bad)
        for (uint32_t x = 0; x < n; x++) v[x] = isfinite(v[x]) ? v[x] : 0;
    double sum = 0;
    if (s->excess.threshold > 0) {
        join_excess_row(&s->excess, v, v, n);
        for (uint32_t x = 0; x < n; x++) sum += (double)v[x];
    }
    s->spread[index] = sum;
    s->spilled[index] = ledger_spill(s->ledger, c, s->row + y, v);
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

static bool measure_strip(tiled_work *w, strip *s, uint32_t channels, bloom_report *r, err *e) {
    scan found = {0};
    pixel_type type[VIEW_CHANNELS];
    for (uint32_t c = 0; c < channels; c++) type[c] = s->first[c].type;
    const scan_request ask = {.w = w->w,
                              .h = s->rows,
                              .channels = channels,
                              .plane = (const void *const *)s->plane,
                              .type = type,
                              .histogram = true};
    if (!scan_make(&found, &ask, w->j->threads, e)) return false;
    for (uint32_t c = 0; c < channels; c++) add_scan(w, &s->first[c], &found.channel[c]);
    enter_bad(w, &found, s->first, s->row, r);
    scan_free(&found);
    if (!par_for(w->j->threads, (size_t)channels * s->rows, measure_row, s, e)) return false;
    for (size_t i = 0; i < (size_t)channels * s->rows; i++) {
        s->first[i / s->rows].spread += s->spread[i];
        s->first[i / s->rows].spilled += s->spilled[i];
    }
    return true;
}

static bool make_whole_kernel(whole_kernel *k, const tiled_work *w, uint32_t channels,
                              double sharpen, err *e) {
    double full[PSF_CHANNELS];
    const tiled_job *j = w->j;
    const kernel_need need = tiled_need(j, channels, sharpen);
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

/* Reads a group's channels from top to bottom. */
static bool measure_group(tiled_work *w, tiled_plane *first, uint32_t channels, bloom_report *r,
                          err *e) {
    enum { STRIP = 24 << 20 };
    const bloom_rows *rows = w->j->rows;
    uint32_t unit = rows->step(rows->ctx, w->j->part), some = 0;
    size_t row = 0;
    whole_kernel k = {.kernel = {0}};
    uint8_t *plane[VIEW_CHANNELS] = {0};
    void **all = mem_new((size_t)w->p->channels, sizeof *all, "planes", e);
    strip s = {.w = w, .first = first, .plane = plane, .ledger = &k.ledger};
    s.excess = (join_excess){first->by->threshold, first->by->knee};
    for (uint32_t c = 0; c < channels; c++) row += w->w * pixel_bytes(first[c].type);
    uint64_t most = min_u64(STRIP, mem_left() / 8);
    some = min_u32(max_u32((uint32_t)(most / (row * unit)), 1) * unit, w->h);
    bool ok = all && make_whole_kernel(&k, w, channels, first->by->sharpen, e);
    for (uint32_t c = 0; ok && c < channels; c++) {
        plane[c] = mem_raw((size_t)w->w * some, pixel_bytes(first[c].type), "rows", e);
        ok = (all[first[c].index] = plane[c]);
    }
    ok = ok && (s.spread = mem_raw((size_t)channels * some, 2 * sizeof(double), "sums", e)) &&
         (s.line = mem_raw((size_t)par_workers(w->j->threads) * w->w, sizeof(float), "rows", e));
    s.spilled = ok ? s.spread + (size_t)channels * some : NULL;
    for (; ok && s.row < w->h; s.row += some) {
        s.rows = min_u32(some, w->h - s.row);
        ok = rows->read(rows->ctx, w->j->part, s.row, s.rows, all, e) &&
             measure_strip(w, &s, channels, r, e);
    }
    for (uint32_t c = 0; ok && c < channels; c++) {
        first[c].dark = accuracy_dark(&first[c].seen);
        begin_row(w, &first[c], &k.tail, tail_kernel(&k.tail, c));
    }
    for (uint32_t c = 0; c < channels; c++) mem_free(plane[c]);
    mem_free(all);
    mem_free(s.spread);
    mem_free(s.line);
    free_whole_kernel(&k);
    return ok;
}

bool tiled_measure(tiled_work *w, bloom_report *r, err *e) {
    uint32_t first = 0;
    uint64_t before = r->bad;
    for (int i = 0; i < w->m.groups; i++) {
        uint32_t n = tiled_channels(w->j->s, &w->m.group[i]);
        if (!measure_group(w, w->list + first, n, r, e)) return false;
        first += n;
    }
    const bloom_bad *b = &r->first_bad[before < SCAN_BAD ? before : 0];
    if (!w->bad || w->j->s->nan == NAN_ZERO) return true;
    if (w->j->s->nan == NAN_ERROR)
        return err_set(e, ERR_BAD_PIXELS,
                       "%" PRIu64 " pixel%s NaN or infinite, the first in channel '%s' at %d, %d "
                       "(%g); use --nan zero to continue",
                       r->bad - before, r->bad - before == 1 ? " is" : "s are", b->channel, b->x,
                       b->y, (double)b->value);
    return err_set(e, ERR_CONFIG,
                   "%" PRIu64 " pixel%s NaN or infinite; --nan interpolate looks for neighbours in "
                   "the whole image, which does not fit into the memory; use --nan zero, or raise "
                   "--mem-limit",
                   r->bad - before, r->bad - before == 1 ? " is" : "s are");
}
