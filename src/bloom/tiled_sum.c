/* The results of a kernel's pieces add up: out(p) = sum over pieces of (piece conv in)(p). Each
 * piece keeps half of the tolerance, relative to its own result or to its part of what the darkest
 * pixel is known to be, or of the magnitude below which nothing is promised. Where nothing is below
 * zero, the parts add up to no more than the whole, so the sum keeps the promise (docs/math.md,
 * "Pieces of a kernel"); elsewhere the errors of all pieces are added and held against the darkest
 * pixel. */
#include "base/half.h"
#include "base/mem.h"
#include "base/number.h"
#include "bloom/tiled_work.h"

#include <math.h>
#include <stdio.h>

/* What a row of a channel turned out to be. */
typedef struct {
    double sum, over; /* of the row as it is stored; and what was cut off beyond half floats */
    uint64_t overs;
    double least, largest; /* magnitudes */
} row_facts;

typedef struct {
    const tiled_work *w;
    uint32_t first; /* channel */
    uint32_t y, rows;
    row_facts *facts; /* [channel][row] */
    float *line;      /* of each worker: two rows */
} band;

/* Makes one row of a channel of the result, from the image and the sums. */
static bool finish_row(void *ctx, size_t index, int worker, err *e) {
    const band *b = ctx;
    const tiled_work *w = b->w;
    const tiled_plane *is = &w->list[b->first + index / b->rows];
    const join_excess excess = {is->by->threshold, is->by->knee};
    uint32_t row = (uint32_t)(index % b->rows), n = w->w;
    size_t first = (size_t)row * n;
    float *out = b->line + (size_t)worker * 2 * n, *glare = out + n;
    bool half = is->becomes == PIXEL_HALF, additive = w->j->s->emit == EMIT_ADDITIVE;
    double keep = is->by->sharpen, most = half ? (double)HALF_MAX : INFINITY;
    row_facts f = {.least = INFINITY};
    (void)e;
    image_to_float(out, tiled_row(w, is, (int64_t)b->y + row), is->type, 0, n);
    for (uint32_t x = 0; x < n; x++) {
        double in = (double)out[x], spread = in;
        if (excess.threshold > 0) spread = join_excess_of(&excess, in);
        double v = in - spread + keep * spread + (1 - keep) * is->sum[first + x];
        double stored = clamp_double(v, -most, most);
        double without = additive ? in : in - spread + is->row.centre * spread;
        f.overs += stored != v;
        f.over += stored != v ? v - stored : 0;
        f.sum += stored;
        f.least = fmin(f.least, fabs(v));
        f.largest = fmax(f.largest, fabs(v));
        out[x] = (float)stored;
        glare[x] = (float)clamp_double(v - without, -most, most);
    }
    image_from_float(is->out, is->becomes, first, out, n);
    if (is->glare) image_from_float(is->glare, is->becomes, first, glare, n);
    b->facts[index] = f;
    return true;
}

/* Enters what the channel's rows turned out to be. */
static bool enter_rows(tiled_work *w, tiled_plane *is, row_facts *all, const row_facts *f,
                       uint32_t rows, err *e) {
    *all = (row_facts){.least = INFINITY};
    for (uint32_t y = 0; y < rows; y++) {
        all->sum += f[y].sum;
        all->over += f[y].over;
        all->overs += f[y].overs;
        all->least = fmin(all->least, f[y].least);
        all->largest = fmax(all->largest, f[y].largest);
    }
    if (!(all->largest <= 3.4e38) || !isfinite(all->sum))
        return err_set(e, ERR_BAD_PIXELS,
                       "channel '%s': values of the result are beyond 3.4e38, the largest that "
                       "floats hold",
                       w->p->channel[is->index].name);
    if (all->overs && w->j->s->half_overflow != OVERFLOW_CLAMP) return tiled_refuse_over(w, is, e);
    is->row.out += all->sum;
    is->row.overflow += all->over;
    is->row.overflow_pixels += all->overs;
    return true;
}

/* Judges a channel of the band, and keeps the promise that came nearest to being broken. */
static void judge(tiled_work *w, uint32_t channel, const row_facts *f, const bloom_promise *last) {
    const tiled_plane *is = &w->list[channel];
    bloom_promise p = *last;
    accuracy *m = &p.method;
    bool light = w->light_kernel && is->seen.least >= 0;
    m->allowed = w->j->s->tolerance * fmax(f->least, is->dark);
    m->darkest = f->least;
    m->floor = (1 - is->by->sharpen) * is->off;
    m->kept = m->floor <= m->allowed;
    if (light && w->kept) {
        m->kept = true;
        m->floor = fmin(m->floor, m->allowed);
    }
    m->error[m->channel] = m->floor;
    snprintf(p.channel, sizeof p.channel, "%s", w->p->channel[is->index].name);
    const accuracy *worst = &w->promise.method;
    bool nearer = m->kept == worst->kept ? m->floor * worst->allowed > worst->floor * m->allowed
                                         : worst->kept;
    p.attempts = p.attempts > w->promise.attempts ? p.attempts : w->promise.attempts;
    if (!w->summed || nearer)
        w->promise = p;
    else
        w->promise.attempts = p.attempts;
    w->summed = true;
}

bool tiled_sum(tiled_work *w, uint32_t y, uint32_t rows, bloom_report *r, err *e) {
    band b = {.w = w, .y = y, .rows = rows};
    size_t workers = (size_t)par_workers(w->j->threads);
    bool ok = (b.facts = mem_raw((size_t)VIEW_CHANNELS * rows, sizeof *b.facts, "sums", e)) &&
              (b.line = mem_raw(workers * 2 * w->w, sizeof *b.line, "rows", e));
    for (uint32_t i = 0; ok && i < w->portions; i++) {
        const tiled_portion *o = &w->portion[i];
        b.first = o->first;
        ok = tiled_hold(w, o, y, (int64_t)y + rows, e) &&
             par_for(w->j->threads, (size_t)o->count * rows, finish_row, &b, e);
        for (uint32_t c = 0; ok && c < o->count; c++) {
            row_facts all;
            ok = enter_rows(w, &w->list[o->first + c], &all, b.facts + (size_t)c * rows, rows, e);
            if (ok) judge(w, o->first + c, &all, &r->promise);
        }
    }
    mem_free(b.facts);
    mem_free(b.line);
    return ok;
}
