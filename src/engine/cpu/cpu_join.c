#include "engine/cpu/cpu_passes.h"

#include "base/half.h"
#include "base/mem.h"
#include "engine/cpu/cpu_row.h"

/* A worker's scratch. In doubles: what the pixels give themselves, the glare, and a field's
 * centres. In floats: the row as it came, the part of it that is spread, and the result. */
typedef struct {
    double *own, *glare, *centre;
    float *in, *excess, *out;
} scratch;

size_t cpu_join_room(const plan *p) {
    return ((3 * sizeof(double) + 3 * sizeof(float)) * p->ask.size[PLAN_X] + 127) / 64 * 64;
}

typedef struct {
    const join *how;
    const join_channel *channel;
    plan_planes planes;
    uint32_t c, y;
    const void *in;    /* its pixels, as they are stored, */
    void *out;         /* and where they go */
    const float *lost; /* of the pixels; NULL: nothing */
    float *glare;      /* NULL: not wanted */
    size_t first;      /* where the pixels are in their plane */
    join_box kept;
    bool all_spread; /* all light is spread, none of it is held back */
    scratch s;
} row_job;

static void *at_pixel(const void *plane, plan_sample type, size_t first) {
    return plane ? (char *)(uintptr_t)plane + first * plan_sample_bytes(type) : NULL;
}

static row_job job_of(const cpu_join *f, uint32_t y, int worker) {
    const plan_request *ask = &f->p->ask;
    const join *how = f->f->join;
    const join_box whole = {0, 0, ask->size[PLAN_X], ask->size[PLAN_Y]};
    size_t first = (size_t)y * whole.w;
    double *doubles = (double *)(void *)(f->scratch + (size_t)worker * cpu_join_room(f->p));
    float *floats = (float *)(doubles + 3 * whole.w);
    return (row_job){.how = how,
                     .channel = &how->channel[f->channel],
                     .planes = ask->planes,
                     .c = f->channel,
                     .y = y,
                     .in = at_pixel(f->f->in[f->channel], ask->planes.in, first),
                     .out = at_pixel(f->f->out[f->channel], ask->planes.out, first),
                     .lost = f->f->lost ? f->f->lost[f->channel] + first : NULL,
                     .glare = ask->planes.glare ? f->f->glare[f->channel] + first : NULL,
                     .first = first,
                     .kept = how->kept.w ? how->kept : whole,
                     .all_spread = join_spreads_all(&how->spread),
                     .s = {doubles, doubles + whole.w, doubles + 2 * whole.w, floats,
                           floats + whole.w, floats + 2 * whole.w}};
}

/* Returns the row without its pixels. */
static row row_of(const row_job *p, const void *made, const plan *layout) {
    bool wide = layout->sample_bytes == sizeof(double);
    return (row){.out = p->planes.out == PLAN_FLOATS ? p->out : p->s.out,
                 .n = layout->ask.size[PLAN_X],
                 .centre = p->channel->centre,
                 .nonnegative = p->channel->nonnegative,
                 .floats = wide ? NULL : made,
                 .doubles = wide ? made : NULL,
                 .own = p->s.own,
                 .glare = p->s.glare};
}

/* Makes a row (of halfs where it has these) if it is an ordinary one or one of both signs. */
static bool make_at_once(const row_job *p, const row *r, row_totals *t) {
    row k = row_kept(r, &p->kept);
    if (!(k.nonnegative && row_make_ordinary(&k, t)) && !row_make_signs(&k, t)) return false;
    row_add_margins(r, t, &p->kept);
    return true;
}

/* Makes such a row from halfs to halfs, without floats in memory, but for the pixels whose light
 * leaves the image. */
static bool make_halfs(const row_job *p, const row *light, row_totals *t, double *spilled) {
    if (p->planes.out != PLAN_HALFS || p->planes.in != PLAN_HALFS || p->how->kept.w) return false;
    if (p->in == p->out) return false;
    row r = *light;
    r.half_in = p->in;
    r.half_out = p->out;
    *spilled = 0;
    if (!make_at_once(p, &r, t)) return false;
    *spilled = join_spilled(p->how, &(join_row){p->c, p->y, p->in, true}, p->s.in);
    return true;
}

/* Fills r->own where it is not the centre's part of a row that is all spread. */
static void set_own(const row_job *p, row *r) {
    const join_field *by = p->how->field;
    for (uint32_t i = 0; (by || !p->all_spread) && i < r->n; i++)
        r->own[i] = (double)r->in[i] + (p->lost ? (double)p->lost[i] : 0);
    if (by) join_centre_row(by, p->c, p->y, p->s.centre);
    for (uint32_t i = 0; by && p->all_spread && i < r->n; i++) r->own[i] *= p->s.centre[i];
    for (uint32_t i = 0; by && !p->all_spread && i < r->n; i++) {
        const join_parts parts = join_parts_of(&p->how->spread, p->first + i, r->own[i]);
        r->own[i] = parts.rest + p->s.centre[i] * parts.spread;
    }
    if (!by && !p->all_spread) join_own_row(&p->how->spread, r->centre, p->first, r->own, r->n);
    for (uint32_t i = 0; !by && p->all_spread && p->lost && i < r->n; i++)
        r->own[i] += r->centre * (double)p->lost[i];
}

static void make_in_doubles(const row_job *p, row *r, row_totals *t) {
    row_begin(r, t);
    set_own(p, r);
    const float *mask = p->planes.again ? p->how->spread.mask : NULL;
    for (uint32_t i = 0; mask && i < r->n; i++) r->glare[i] *= (double)mask[p->first + i];
    row k = row_kept(r, &p->kept);
    row_finish(&k, t);
    for (uint32_t i = 0; p->glare && i < r->n; i++)
        p->glare[i] = p->how->additive ? r->out[i] - r->in[i] : (float)r->glare[i];
    for (uint32_t i = 0; p->planes.out == PLAN_DOUBLES && i < r->n; i++)
        ((double *)p->out)[i] = r->own[i] + r->glare[i];
}

/* Counts what halfs cannot hold, and limits it where the result is halfs. */
static void limit_to_halfs(const row_job *p, const row *r, join_stats *st) {
    const double half = (double)HALF_MAX;
    for (float *at = r->out + p->kept.x, *end = at + p->kept.w; at < end; at++) {
        double out = (double)*at;
        if (!(fabs(out) > half)) continue;
        st->over++;
        st->over_sum += out - copysign(half, out);
        if (p->planes.out == PLAN_HALFS) *at = copysignf(HALF_MAX, *at);
    }
}

/* Writes number by number. A whole struct would be made elsewhere and copied in larger pieces, and
 * each of these would wait for what was just stored. */
static void set_stats(join_stats *st, const row_totals *t, double spilled, double dark) {
    st->norm = t->norm;
    st->peak = t->peak;
    st->sum = t->sum;
    st->spilled = spilled;
    st->negative = t->negative;
    st->negative_sum = t->negative_sum;
    st->negative_worst = t->negative ? t->lowest : 0;
    st->over = 0;
    st->over_sum = 0;
    st->largest = t->largest;
    join_set_darkest(st, (double)t->least, dark);
}

void cpu_join_row(const cpu_join *f, uint32_t y, int worker, const void *made) {
    join_stats *st = &f->row[y];
    __builtin_prefetch(st, 1); /* nothing has touched its cache lines before */
    __builtin_prefetch(st + 1, 1);
    const row_job p = job_of(f, y, worker);
    row r = row_of(&p, made, f->p);
    row_totals t;
    double spilled;
    bool at_once = p.all_spread && !p.glare && p.planes.out != PLAN_DOUBLES &&
                   !p.how->field; /* its pixels decide, too */
    if (at_once && make_halfs(&p, &r, &t, &spilled)) {
        set_stats(st, &t, spilled, p.channel->dark);
        return;
    }
    /* Where a row goes to the place of its pixels, they may be wanted again; not if the centre is
     * 0. */
    const bool keeps = p.in == p.out && !(at_once && p.channel->centre == 0);
    r.in = keeps ? memcpy(p.s.in, p.in, r.n * sizeof *r.in) : p.in;
    if (p.planes.in == PLAN_HALFS) {
        half_to_floats(p.s.in, p.in, r.n);
        r.in = p.s.in;
    }
    spilled = join_spilled(p.how, &(join_row){p.c, y, r.in, false}, p.s.excess);
    if (y < p.kept.y || y - p.kept.y >= p.kept.h) { /* a margin: what the engine made is measured */
        row_begin(&r, &t);
        set_stats(st, &t, 0, p.channel->dark);
        return;
    }
    if (!at_once || !make_at_once(&p, &r, &t)) make_in_doubles(&p, &r, &t);
    set_stats(st, &t, spilled, p.channel->dark);
    if (t.largest > HALF_MAX) limit_to_halfs(&p, &r, st);
    if (p.planes.out == PLAN_HALFS)
        half_from_floats((uint16_t *)p.out + p.kept.x, r.out + p.kept.x, p.kept.w);
}

join_stats cpu_join_stats(const cpu_join *f) {
    const uint32_t *size = f->p->ask.size;
    join_stats sum = join_begin();
    for (uint32_t y = 0; y < size[PLAN_Y]; y++)
        join_add(&sum, &f->row[y], (join_box){0, y, size[PLAN_X], 1});
    join_end(&sum);
    return sum;
}

typedef struct {
    cpu_join j;
    const float *made;
} planes_job;

static bool join_row_of(void *ctx, size_t y, int worker, err *e) {
    const planes_job *p = ctx;
    cpu_join_row(&p->j, (uint32_t)y, worker, p->made + y * p->j.p->ask.size[PLAN_X]);
    return true;
}

bool cpu_join_planes(join_stats *st, const plan_request *ask, const engine_frame *f,
                     const float *const *made, par *threads, err *e) {
    const plan p = {.ask = *ask, .sample_bytes = sizeof(float)};
    const size_t room = cpu_join_room(&p);
    OWN_MEM char *lines = mem_raw((size_t)par_workers(threads), room, "rows", e);
    OWN_MEM join_stats *stats = mem_new(ask->size[PLAN_Y], sizeof *stats, "rows", e);
    bool ok = lines && stats;
    for (uint32_t c = 0; ok && c < ask->channels; c++) {
        planes_job job = {{&p, f, c, stats, lines}, made[c]};
        ok = par_for(threads, ask->size[PLAN_Y], join_row_of, &job, e);
        if (ok) st[c] = cpu_join_stats(&job.j);
    }
    return ok;
}
