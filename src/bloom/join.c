#include "bloom/join.h"

#include "base/half.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/vector.h"
#include "bloom/row.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { STRIP = 16 }; /* rows of a piece */

/* --- what is spread -------------------------------------------------------------------------- */

/* A parabola joins the two lines at threshold -+ knee. */
double join_spread_of(const join_spread *x, size_t at, double v) {
    if (x->mask) v *= (double)x->mask[at];
    double over = v - x->threshold;
    if (!(x->threshold > 0)) return v;
    if (over >= x->knee) return over > 0 ? over : 0;
    if (over <= -x->knee || !(v > 0)) return 0;
    return fmin(v, (over + x->knee) * (over + x->knee) / (4 * x->knee));
}

void join_spread_row(const join_spread *x, size_t at, float *to, const float *from, size_t n) {
    for (size_t i = 0; i < n; i++) to[i] = (float)join_spread_of(x, at + i, (double)from[i]);
}

/* --- all rows -------------------------------------------------------------------------------- */

struct join {
    join_job j;
    join_stats *row; /* [channel][y] */
    void *scratch;   /* of each worker, `room` bytes */
    size_t room;
};

/* Writes number by number. A whole struct would be made elsewhere and copied in larger pieces, and
 * each of these would wait for what was just stored. */
static void set_stats(join_stats *st, const row_totals *t, double spilled) {
    st->measured.norm = t->norm;
    st->measured.peak = t->peak;
    st->measured.darkest = (double)t->darkest;
    st->measured.darker = t->darker;
    st->sum = t->sum;
    st->spilled = spilled;
    st->negative = t->negative;
    st->negative_sum = t->negative_sum;
    st->negative_worst = t->negative ? t->lowest : 0;
    st->over = 0;
    st->over_sum = 0;
    st->largest = t->largest;
}

/* A worker's scratch. In doubles: what the pixels give themselves, and the glare. In floats: the
 * row as it came, the part of it that is spread, what the engine made, and the result. */
typedef struct {
    double *own, *glare;
    float *in, *excess, *made, *out;
} scratch;

static size_t scratch_bytes(const join_job *j) {
    return ((2 * sizeof(double) + 4 * sizeof(float)) * j->tail->w + 127) / 64 * 64;
}

static scratch lay_out(const join_job *j, void *at) {
    size_t w = j->tail->w;
    scratch s = {.own = at};
    s.glare = s.own + w;
    s.in = (float *)(s.glare + w);
    s.excess = s.in + w;
    s.made = s.excess + w;
    s.out = s.made + w;
    return s;
}

/* Which row is made, and with what. */
typedef struct {
    const join_job *j;
    uint32_t c, y;
    size_t first;   /* where its pixels are in the planes */
    tail_kept kept; /* what of the image counts */
    bool all;       /* all light is spread, none of it is held back */
    scratch s;
} row_job;

static row_job job_of(const join *f, uint32_t c, uint32_t y, int worker) {
    const join_job *j = &f->j;
    const tail_kept whole = {0, 0, j->tail->w, j->tail->h};
    return (row_job){.j = j,
                     .c = c,
                     .y = y,
                     .first = (size_t)y * j->tail->w,
                     .kept = j->kept.w ? j->kept : whole,
                     .all = join_spreads_all(&j->spread),
                     .s = lay_out(j, (char *)f->scratch + (size_t)worker * f->room)};
}

/* Returns the row without its pixels. made: what the engine made, where that is not in planes. */
static row row_of(const row_job *p, const void *made) {
    const join_job *j = p->j;
    if (!made && j->wide) made = (const double *)j->made[p->c] + p->first;
    if (!made) made = (const float *)j->made[p->c] + p->first;
    return (row){.out = j->half ? p->s.out : j->out[p->c] + p->first,
                 .n = j->tail->w,
                 .centre = j->tail->centre[tail_kernel(j->tail, p->c)],
                 .dark = j->dark[p->c] / 2,
                 .nonnegative = j->nonnegative[p->c],
                 .floats = j->wide ? NULL : made,
                 .doubles = j->wide ? made : NULL,
                 .back = ldexp(1, -j->exponent[p->c]),
                 .own = p->s.own,
                 .glare = p->s.glare};
}

/* Gives the row its pixels, and returns what of them is spread over the border. */
static double read_pixels(const row_job *p, row *r) {
    const join_job *j = p->j;
    const float *plane = j->type[p->c] == PIXEL_FLOAT ? (const float *)j->source[p->c]
                         : j->same[p->c]              ? j->in[p->c]
                                                      : NULL;
    r->in = plane ? plane + p->first : p->s.in;
    if (!plane) image_to_float(p->s.in, j->source[p->c], j->type[p->c], p->first, r->n);
    if (!p->all) join_spread_row(&j->spread, p->first, p->s.excess, r->in, r->n);
    return ledger_spill(j->ledger, p->c, p->y, p->all ? r->in : p->s.excess);
}

/* --- an ordinary row --- */

/* Makes a row, or one of halfs where it has these, if it is an ordinary one. */
static bool make_ordinary(const row_job *p, const row *r, row_totals *t) {
    row k = row_kept(r, &p->kept);
    if (!row_make_ordinary(&k, t)) return false;
    row_add_margins(r, t, &p->kept);
    return true;
}

/* Returns whether the row may be an ordinary one, which its pixels decide. */
static bool may_be_ordinary(const row_job *p, const row *r) {
    const join_job *j = p->j;
    return p->all && r->nonnegative && !j->glare && !j->doubles && !j->exponent[p->c];
}

/* Makes a row that may be ordinary from halfs to halfs, without floats in memory, but for the
 * pixels whose light leaves the image. */
static bool make_halfs(const row_job *p, const row *is, row_totals *t, double *spilled) {
    const join_job *j = p->j;
    if (!j->half || j->type[p->c] != PIXEL_HALF || j->kept.w) return false;
    uint32_t unread[2];
    row r = *is;
    r.half_in = (const uint16_t *)j->source[p->c] + p->first;
    r.half_out = j->half[p->c] + p->first;
    if (!make_ordinary(p, &r, t)) return false;
    ledger_unread(j->ledger, p->c, p->y, unread);
    half_to_floats(p->s.in, r.half_in, unread[0]);
    half_to_floats(p->s.in + unread[1], r.half_in + unread[1], r.n - unread[1]);
    *spilled = ledger_spill(j->ledger, p->c, p->y, p->s.in);
    return true;
}

/* --- a row in doubles --- */

/* Makes any row. */
static void make_in_doubles(const row_job *p, row *r, row_totals *t) {
    const join_job *j = p->j;
    if (r->in == r->out) { /* the result of another try may be there by now */
        image_to_float(p->s.in, j->source[p->c], j->type[p->c], p->first, r->n);
        r->in = p->s.in;
    }
    row_begin(r, t);
    for (uint32_t i = 0; !p->all && i < r->n; i++) {
        double v = (double)r->in[i], x = join_spread_of(&j->spread, p->first + i, v);
        r->own[i] = v - x + r->centre * x;
    }
    row k = row_kept(r, &p->kept);
    row_finish(&k, t);
    for (uint32_t i = 0; j->glare && i < r->n; i++)
        j->glare[p->c][p->first + i] = (float)r->glare[i];
    for (uint32_t i = 0; j->doubles && i < r->n; i++)
        j->doubles[p->c][p->first + i] = r->own[i] + r->glare[i];
}

/* --- a row --- */

/* Counts what halfs cannot hold, and limits it where the result is halfs. */
static void limit_to_halfs(const row_job *p, const row *r, join_stats *st) {
    const double half = (double)HALF_MAX;
    for (float *at = r->out + p->kept.x, *end = at + p->kept.w; at < end; at++) {
        double out = (double)*at;
        if (!(fabs(out) > half)) continue;
        st->over++;
        st->over_sum += out - copysign(half, out);
        if (p->j->half) *at = copysignf(HALF_MAX, *at);
    }
}

void join_row(void *ctx, uint32_t c, uint32_t y, int worker, const void *made) {
    const join *f = ctx;
    join_stats *st = &f->row[(size_t)c * f->j.tail->h + y];
    __builtin_prefetch(st, 1); /* nothing has touched its two cache lines before */
    __builtin_prefetch(st + 1, 1);
    const row_job p = job_of(f, c, y, worker);
    row r = row_of(&p, made);
    row_totals t;
    double spilled;
    bool ordinary = may_be_ordinary(&p, &r);
    if (ordinary && make_halfs(&p, &r, &t, &spilled)) {
        set_stats(st, &t, spilled);
        return;
    }
    spilled = read_pixels(&p, &r);
    if (y < p.kept.y || y - p.kept.y >= p.kept.h) { /* a margin: what the engine made is measured */
        row_begin(&r, &t);
        set_stats(st, &t, 0);
        return;
    }
    if (ordinary && r.floats == r.out) /* it is written over */
        r.floats = memcpy(p.s.made, r.floats, r.n * sizeof *r.floats);
    if (!ordinary || !make_ordinary(&p, &r, &t)) make_in_doubles(&p, &r, &t);
    set_stats(st, &t, spilled);
    if (t.largest > HALF_MAX) limit_to_halfs(&p, &r, st);
    if (f->j.half) half_from_floats(f->j.half[c] + p.first, r.out, r.n);
}

static void merge(join_stats *to, const join_stats *from) {
    accuracy_measured *m = &to->measured;
    m->norm += from->measured.norm;
    m->peak = fmax(m->peak, from->measured.peak);
    m->darkest = fmin(m->darkest, from->measured.darkest);
    m->darker |= from->measured.darker;
    to->sum += from->sum;
    to->spilled += from->spilled;
    to->negative += from->negative;
    to->negative_sum += from->negative_sum;
    to->negative_worst = fmin(to->negative_worst, from->negative_worst);
    to->over += from->over;
    to->over_sum += from->over_sum;
    to->largest = from->largest > to->largest ? from->largest : to->largest;
}

join *join_open(const join_job *j, par *threads, err *e) {
    join *f = mem_new(1, sizeof *f, "last pass", e);
    if (!f) return NULL;
    f->j = *j;
    f->room = scratch_bytes(j);
    f->row = mem_raw((size_t)j->tail->h * j->tail->channels, sizeof *f->row, "statistics", e);
    if (f->row) f->scratch = mem_raw(f->room * (size_t)par_workers(threads), 1, "rows", e);
    if (!f->scratch) join_close(&f, NULL);
    return f;
}

void join_close(join **pf, join_stats *st) {
    join *f = *pf;
    if (!f) return;
    for (uint32_t c = 0; st && c < f->j.tail->channels; c++) {
        accuracy_measured *m = &st[c].measured;
        st[c] = (join_stats){.measured.darkest = INFINITY};
        for (uint32_t y = 0; y < f->j.tail->h; y++) {
            const join_stats *one = &f->row[(size_t)c * f->j.tail->h + y];
            if (one->measured.darkest < m->darkest) st[c].dark_row = y;
            if (one->measured.peak > m->peak) st[c].bright_row = y;
            merge(&st[c], one);
        }
        m->norm = sqrt(m->norm);
        if (m->darkest == FLT_MAX) m->darkest = 0;
    }
    mem_free(f->row);
    mem_free(f->scratch);
    mem_free(f);
    *pf = NULL;
}

static bool join_strip(void *ctx, size_t index, int worker, err *e) {
    join *f = ctx;
    (void)e;
    size_t strips = ceil_div_u32(f->j.tail->h, STRIP);
    uint32_t y = (uint32_t)(index % strips) * STRIP, end = min_u32(y + STRIP, f->j.tail->h);
    for (; y < end; y++) join_row(f, (uint32_t)(index / strips), y, worker, NULL);
    return true;
}

bool join_all(join_stats *st, const join_job *j, par *threads, err *e) {
    join *f = join_open(j, threads, e);
    size_t strips = ceil_div_u32(j->tail->h, STRIP);
    bool ok = f && par_for(threads, strips * j->tail->channels, join_strip, f, e);
    join_close(&f, ok ? st : NULL);
    return ok;
}
