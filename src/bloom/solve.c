#include "bloom/solve.h"

#include "base/half.h"
#include "base/host.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/random.h"
#include "bloom/solve_kernel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- the work in hand ------------------------------------------------------------------------- */

/* What is found in a block of pixels, or in a channel. */
typedef struct {
    double worst, noise; /* the largest error and rounding, in parts of what is allowed */
    size_t at;           /* the pixel of `worst` */
    double bound, value; /* of that pixel: its error with the rounding of the stored type; itself */
    uint64_t negative;   /* pixels below zero */
    double lowest, below; /* of those: the least, and the sum */
    double enough;        /* the amount, as a part of ours, with which none is below zero */
    join_stats made;
} found;

typedef struct {
    const view *v;
    attempt_sources plate;                         /* floats */
    float *x[VIEW_CHANNELS], *next[VIEW_CHANNELS]; /* x(n) and x(n + 1) */
    float *sum[VIEW_CHANNELS];                     /* u */
    session_lease lease;
    plan_precision precision;
    bloom_account spent;              /* times */
    uint32_t steps, blooms, attempts; /* steps: of all attempts */
    bool again;                       /* the device has failed, and another one is to be tried */
    double spilled[VIEW_CHANNELS];    /* before anything is cut off */
    bool cut;                         /* pixels below zero become zero */
    bool exact[VIEW_CHANNELS];        /* a step rounds nothing */
    double floor[VIEW_CHANNELS];      /* rounding of a step */
    double more[VIEW_CHANNELS];       /* rounding of u, and the terms that u leaves out */
    found *block;                     /* of each block of each channel */
    size_t blocks;
} solving;

static float plate_at(const solving *s, uint32_t c, size_t i) {
    return ((const float *)s->plate.in[c])[i];
}
static double mask_at(const solving *s, size_t i) {
    return s->v->spread.mask ? (double)s->v->spread.mask[i] : 1;
}
static double allowed_of(const solving *s, uint32_t c, double x) {
    return s->v->s->tolerance * fmax(fabs(x), s->v->dark[c]);
}
static double part_of(double error, double allowed) {
    return error > 0 ? error / allowed : 0;
}

/* Returns by how much rounding may put a pixel of a step off. */
static double rounding_of(const solving *s, uint32_t c, size_t i) {
    const double y = fabs((double)plate_at(s, c, i)), x = fabs((double)s->next[c][i]);
    const double own = noise_relative(s->precision) * (y / solve_core_of(s->v->size, c) + 2 * x);
    const double m = mask_at(s, i);
    return m > 0 && !s->exact[c] ? m * s->floor[c] + own + 0x1p-24 * x : 0;
}

/* Looks at x(n) and x(n + 1). */
static void look(const view *v, void *ctx, uint32_t c, size_t first, size_t n) {
    solving *s = ctx;
    found f = {0};
    (void)v;
    for (size_t i = first; i < first + n; i++) {
        const double off = fabs((double)s->next[c][i] - (double)s->x[c][i]),
                     more = rounding_of(s, c, i), allowed = allowed_of(s, c, (double)s->x[c][i]);
        f.worst = fmax(f.worst, part_of(off + more, allowed));
        f.noise = fmax(f.noise, part_of(more, allowed));
    }
    s->block[c * s->blocks + first / VIEW_BLOCK] = f;
}

/* Puts v, rounded upwards, in the place of x(n + 1). */
static void make_residual(const view *v, void *ctx, uint32_t c, size_t first, size_t n) {
    solving *s = ctx;
    (void)v;
    for (size_t i = first; i < first + n; i++) {
        const double off = fabs((double)s->next[c][i] - (double)s->x[c][i]) + rounding_of(s, c, i);
        s->next[c][i] = off > 0 ? (float)(off * (1 + 0x1p-22) + 0x1p-149) : 0;
    }
}

/* Looks at what is done: its bounds, and what it has become. */
static void judge(const view *v, void *ctx, uint32_t c, size_t first, size_t n) {
    solving *s = ctx;
    found f = {.enough = 1, .made = join_begin()};
    const bool half = bloom_stores_halfs(v->s, view_part(v)->channel[c].wide, v->type[c]);
    for (size_t i = first; i < first + n; i++) {
        const double x = (double)s->x[c][i], y = (double)plate_at(s, c, i), m = mask_at(s, i);
        const double u = m > 0 ? (double)s->sum[c][i] * (1 + 0x1p-18) + s->more[c] : 0;
        const double part = part_of(u, allowed_of(s, c, x));
        float stored = (float)x;
        if (half) stored = half_to_float(half_from_float(stored));
        const double bound = u + (isfinite(stored) ? fabs((double)stored - x) : 0);
        if (v->doubles[c]) v->doubles[c][i] = bound;
        if (part > f.worst || i == first) f.worst = part, f.at = i, f.bound = bound, f.value = x;
        if (x < 0) {
            f.negative++, f.below += x, f.lowest = fmin(f.lowest, x);
            f.enough = fmin(f.enough, y > 0 ? y / (y - x) : 0);
            if (s->cut) s->x[c][i] = 0;
        }
        const double kept = s->cut && x < 0 ? 0 : x;
        f.made.sum += kept;
        f.made.largest = fmaxf(f.made.largest, (float)fabs(kept));
        if (!(fabs(kept) > (double)HALF_MAX)) continue;
        f.made.over++, f.made.over_sum += kept - copysign((double)HALF_MAX, kept);
    }
    s->block[c * s->blocks + first / VIEW_BLOCK] = f;
}

/* Goes through all pixels; to: of each channel. */
static bool go_through(found to[VIEW_CHANNELS], solving *s, view_fn *fn, err *e) {
    if (!view_blocks(s->v, fn, s, e)) return false;
    for (uint32_t c = 0; c < s->v->channels; c++) {
        to[c] = s->block[c * s->blocks];
        for (size_t i = 1; i < s->blocks; i++) {
            const found *f = &s->block[c * s->blocks + i];
            found sum = f->worst > to[c].worst ? *f : to[c];
            sum.made = to[c].made;
            join_add(&sum.made, &f->made, (join_box){0});
            sum.noise = fmax(to[c].noise, f->noise);
            sum.negative = to[c].negative + f->negative;
            sum.below = to[c].below + f->below;
            sum.lowest = fmin(to[c].lowest, f->lowest);
            sum.enough = fmin(to[c].enough, f->enough);
            to[c] = sum;
        }
    }
    return true;
}

static double worst_of(const found f[VIEW_CHANNELS], uint32_t channels, bool noise) {
    double most = 0;
    for (uint32_t c = 0; c < channels; c++) most = fmax(most, noise ? f[c].noise : f[c].worst);
    return most;
}

/* --- steps ------------------------------------------------------------------------------------ */

static bool make_planes(solving *s, err *e) {
    const view *v = s->v;
    s->blocks = ceil_div_size(v->pixels, VIEW_BLOCK);
    s->block = mem_new(v->channels * s->blocks, sizeof *s->block, "what is known of blocks", e);
    bool ok = s->block && buffers_room(v->buf, v->channels, v->pixels * sizeof(float), e) &&
              attempt_sources_find(&s->plate, v, e);
    for (uint32_t c = 0; ok && c < v->channels; c++) {
        s->x[c] = v->buf->plane[c];
        ok = (s->next[c] = mem_raw(v->pixels, sizeof(float), "planes of a step", e)) &&
             (s->sum[c] = mem_raw(v->pixels, sizeof(float), "planes of a bound", e));
    }
    return ok;
}

static void free_planes(solving *s) {
    for (uint32_t c = 0; c < s->v->channels; c++) {
        mem_free(s->next[c]);
        mem_free(s->sum[c]);
    }
    mem_free(s->block);
    attempt_sources_free(&s->plate, s->v);
    s->block = NULL;
}

uint64_t solve_bytes(const view *v) {
    return 2ull * v->channels * mem_rounded((uint64_t)v->pixels * sizeof(float));
}

static device_way way_of(plan_precision p) {
    return p == PRECISION_FLOAT64 ? WAY_FLOAT64 : WAY_FLOAT32;
}

static bool take(solving *s, session *of, const kernel_at *size, err *e) {
    const session_want want = {size, way_of(s->precision)};
    return host_ask(0.1, e) && session_take(&s->lease, of, &want, e);
}

/* Gives the engine back, if there is one in hand. */
static void give(solving *s, session *of, bool failed, const err *why) {
    if (!s->lease.at.engine) return;
    s->again |= session_give(of, &s->lease, failed, why);
}

/* The next steps of the series, or of its certificate. */
typedef struct {
    bool certificate, goes_on;
    const void *const *in;
    float *const *out;
    uint32_t steps;
    const scan *light; /* of what is transformed first */
} next_steps;

static bool run(solving *s, join_stats st[VIEW_CHANNELS], const next_steps *n, err *e) {
    const view *v = s->v;
    join j = {.spread = v->spread};
    bloom_account one = {.beyond = false};
    for (uint32_t c = 0; c < v->channels; c++) {
        const scan_channel *in = &n->light->channel[c];
        const double core = solve_core_of(v->size, c),
                     top = fmax(fabs((double)in->least), fabs((double)in->greatest));
        const double gain = (1 - v->sharpen) * kernel_need_tint(&v->need, c) / core;
        j.channel[c] = (join_channel){.centre = n->certificate ? 1 : 1 / core,
                                      .gain = n->certificate ? gain : -gain,
                                      .most = top * solve_ratio_of(v->size, c)};
    }
    const engine_frame f = {.in = n->in,
                            .out = (void *const *)n->out,
                            .join = &j,
                            .steps = n->steps,
                            .goes_on = n->goes_on};
    const device_lease *at = &s->lease.at;
    s->blooms += n->steps;
    const bool ok = engine_submit(at->engine, at->slot, &f, e) &&
                    engine_wait(at->engine, at->slot, st, &one.times, e);
    account_add(&s->spent, &one);
    return ok;
}

/* Measures planes of floats. */
static bool measure(scan *to, const solving *s, float *const plane[VIEW_CHANNELS], err *e) {
    pixel_type type[VIEW_CHANNELS];
    for (uint32_t c = 0; c < s->v->channels; c++) type[c] = PIXEL_FLOAT;
    const scan_request ask = {.w = s->v->need.w,
                              .h = s->v->need.h,
                              .channels = s->v->channels,
                              .plane = (const void *const *)plane,
                              .type = type};
    return scan_make(to, &ask, s->v->threads, e);
}

/* Returns the floor of what the transform makes of planes, over C. norm: of that; below 0: it is
 * not known. */
static double floor_of(const solving *s, const scan *of, uint32_t c, double norm) {
    const kernel_at *k = s->v->size;
    const plan *p = &s->lease.plan;
    const double points = (double)p->axis[0].length * p->axis[1].length, core = solve_core_of(k, c);
    const noise_transform t = {s->precision, points};
    noise_load load = noise_load_bound(&of->channel[c], &k->sums[c], k->tail.axis, points);
    if (norm >= 0) load = noise_load_known(&load, norm * core);
    return noise_floor(&t, &load) / core;
}

/* --- the series ------------------------------------------------------------------------------- */

enum { FIRST_STEPS = 64, MOST_STEPS = 10000 };

/* Makes iterates until a step changes no pixel by more than `target` of what is allowed, rounding
 * included, or rounding or the number of steps ends it. x is then x(n), next x(n + 1). */
static bool iterate(uint32_t *steps, found last[VIEW_CHANNELS], solving *s, double target, err *e) {
    const view *v = s->v;
    const double r = solve_split_of(v->size).ratio;
    double rate = r, had = 0;
    join_stats st[VIEW_CHANNELS];
    next_steps n = {.in = s->plate.in, .out = s->next, .light = v->scanned};
    n.steps = r > 0 ? (uint32_t)fmin(fmax(ceil(log(v->s->tolerance) / log(r)), 1), FIRST_STEPS) : 1;
    for (*steps = 0;; n.goes_on = true) {
        scan seen = {.memory = NULL};
        uint32_t more = n.steps;
        if (n.steps && !run(s, st, &n, e)) return false;
        *steps += n.steps;
        for (uint32_t c = 0; c < v->channels; c++)
            memcpy(s->x[c], s->next[c], v->pixels * sizeof(float));
        n.steps = 1, n.goes_on = true;
        bool ok = host_ask(0.5, e) && run(s, st, &n, e) && measure(&seen, s, s->x, e);
        for (uint32_t c = 0; ok && c < v->channels; c++) {
            const scan_channel *y = &v->scanned->channel[c];
            const bool alone = solve_ratio_of(v->size, c) == 0;
            s->exact[c] = (y->least == 0 && y->greatest == 0) ||
                          (alone && solve_core_of(v->size, c) == 1);
            s->floor[c] = s->exact[c] || alone ? 0 : floor_of(s, &seen, c, st[c].norm);
        }
        scan_free(&seen);
        if (!ok || !go_through(last, s, look, e)) return false;
        const double now = worst_of(last, v->channels, false),
                     noise = worst_of(last, v->channels, true);
        if (had > 0 && more > 0) rate = fmin(r, fmax(pow(now / had, 1.0 / (more + 1)), 1e-3));
        const bool stalled = had > 0 && !(now < 0.9 * had);
        if (now <= target || !(noise < target) || stalled || *steps >= MOST_STEPS) return true;
        const double wanted = ceil(log(target / now) / log(rate));
        had = now;
        n.steps = (uint32_t)fmin(fmax(wanted, 1), 2.0 * *steps + 2) - 1;
        (*steps)++; /* next is an iterate, too */
    }
}

/* --- the certificate -------------------------------------------------------------------------- */

/* Sums u in s->sum, by at most `most` steps with |A|. */
static bool certify(solving *s, uint32_t most, err *e) {
    const view *v = s->v;
    bloom_settings signless = *v->s;
    bool signs = false;
    scan seen = {.memory = NULL};
    session *other = NULL;
    const kernel_at *size = NULL;
    uint32_t steps = 0;
    if (!view_blocks(v, make_residual, s, e) || !measure(&seen, s, s->next, e)) return false;
    for (uint32_t c = 0; c < v->channels; c++) {
        const double r = solve_ratio_of(v->size, c), top = (double)seen.channel[c].greatest;
        const double least = allowed_of(s, c, 0);
        const double wanted = ceil(log(0.1 * least * (1 - r) / top) / log(r)) - 1;
        if (r > 0 && top > 0 && wanted > 0) steps = max_u32(steps, (uint32_t)fmin(wanted, most));
        signs |= v->size->sums[c].signs;
    }
    bool ok = true;
    if (signs && steps) {
        signless.magnitudes = true;
        give(s, v->session, false, NULL);
        ok = (other = session_open_beside(v->session, &signless, e)) &&
             (size = kernel_sizes_take(session_sizes(other), &v->need, v->size->planes, e)) &&
             take(s, other, size, e);
    }
    join_stats st[VIEW_CHANNELS];
    const next_steps n = {.certificate = true,
                          .in = (const void *const *)s->next,
                          .out = s->sum,
                          .steps = steps,
                          .light = &seen};
    for (uint32_t c = 0; ok && !steps && c < v->channels; c++)
        memcpy(s->sum[c], s->next[c], v->pixels * sizeof(float));
    ok = ok && (!steps || run(s, st, &n, e));
    for (uint32_t c = 0; ok && c < v->channels; c++) {
        const double r = solve_ratio_of(v->size, c), top = (double)seen.channel[c].greatest;
        const double rounding = steps ? floor_of(s, &seen, c, -1) / (1 - r) / (1 - r) : 0;
        s->more[c] = top > 0 ? pow(r, steps + 1) / (1 - r) * top + rounding : 0;
    }
    if (other) {
        give(s, other, !ok && e->code != ERR_CANCELLED, e);
        kernel_sizes_give(session_sizes(other), size);
        session_rest(other);
        session_close(&other);
    }
    scan_free(&seen);
    return ok;
}

/* --- residuals by direct sums ------------------------------------------------------------------
 */

/* A pixel whose bloom is summed directly. */
typedef struct {
    uint32_t channel;
    size_t at;
    double want, got; /* the plate, and what the bloom of x should equal it with */
    double part;      /* of the residual in what was reckoned with */
} summed;

typedef struct {
    const solving *s;
    summed *pixel;
} sum_job;

static bool sum_pixel(void *ctx, size_t index, int worker, err *e) {
    const sum_job *j = ctx;
    const solving *s = j->s;
    const view *v = s->v;
    summed *p = &j->pixel[index];
    const kernel_at *k = v->size;
    const uint32_t c = p->channel, w = v->need.w;
    const definition_rows rows = {
        .plane = s->x[c], .type = PIXEL_FLOAT, .w = w, .h = v->need.h, .rows = v->need.h};
    const definition_kernel kernel = {&k->kernel, {v->s->border[PLAN_X], v->s->border[PLAN_Y]}};
    const definition_gain gain =
        definition_gain_of(&k->kernel, c, v->sharpen, kernel_need_tint(&v->need, c));
    definition_pixel is = {.x = (uint32_t)(p->at % w), .y = (uint32_t)(p->at / w)};
    (void)worker;
    if (!definition_add(&is, &rows, &kernel, c, e)) return false;
    p->want = (double)plate_at(s, c, p->at);
    /* Under a mask m, a step is x(n+1) = (1 - m) y + m (y - A x(n)) / C. */
    const double core = solve_core_of(k, c), m = mask_at(s, p->at),
                 off = (1 - m) * ((double)s->x[c][p->at] - p->want) +
                       m * (definition_value(&is, &gain) - p->want) / core;
    p->got = p->want + core * off;
    const double most = (double)s->next[c][p->at] +
                        definition_rounding(&is, &k->kernel, &gain) / core;
    p->part = fabs(off) > most ? fabs(off) / most : 0;
    return true;
}

/* Sums the worst pixel of each channel, and as many as --verify asks for. A spectrum that is
 * damaged shows here. */
static bool sum_pixels(group_made *to, solving *s, const found last[VIEW_CHANNELS], err *e) {
    const view *v = s->v;
    const uint32_t count = v->channels + v->s->verify;
    uint64_t seed = v->pixels;
    summed *p = mem_new(count, sizeof *p, "pixels to verify", e);
    for (uint32_t i = 0; p && i < count; i++)
        p[i] = (summed){.channel = i % v->channels,
                        .at = i < v->channels ? last[i].at : random_next(&seed) % v->pixels};
    bool ok = p && par_for(v->threads, count, sum_pixel, &(sum_job){s, p}, e);
    for (uint32_t i = 0; ok && i < count; i++) {
        verify_result *r = &to->sum.verified.found;
        const double x = (double)s->x[p[i].channel][p[i].at];
        const double off = fabs(p[i].got - p[i].want) / solve_core_of(v->size, p[i].channel),
                     error = part_of(off, allowed_of(s, p[i].channel, x)) * v->s->tolerance;
        const uint32_t at_x = (uint32_t)(p[i].at % v->need.w),
                       at_y = (uint32_t)(p[i].at / v->need.w);
        to->sum.promise.proof = fmax(to->sum.promise.proof, p[i].part);
        if (i < v->channels) continue;
        if (!r->pixels++ || verify_is_worse(r, error, p[i].part > 1)) {
            r->worst = (verify_pixel){p[i].channel, at_x, at_y, p[i].got, p[i].want, error};
            snprintf(to->sum.verified.channel, sizeof to->sum.verified.channel, "%s",
                     view_name(v, p[i].channel));
            to->sum.verified.x = view_part(v)->data.x0 + (int32_t)at_x;
            to->sum.verified.y = view_part(v)->data.y0 + (int32_t)at_y;
        }
        r->broken += p[i].part > 1;
    }
    to->sum.promise.proved = ok ? v->channels : 0;
    mem_free(p);
    if (!ok || !(to->sum.promise.proof > 1) || to->sum.verified.found.broken) return ok;
    if (s->lease.spectrum_cached) cache_distrust(s->lease.spectrum_of, v->s->cache_dir);
    return err_set(e, ERR_INTERNAL,
                   "a pixel that is bloomed again by its definition is %.3g times as far from the "
                   "plate as the series has left it. A cached spectrum was dropped, if it was one: "
                   "try again; else this is a bug, please report it",
                   to->sum.promise.proof);
}

/* --- what is told ------------------------------------------------------------------------------
 */

/* Counts the pixels that have lost light, and finds how far that may matter: as if all of it, as
 * much again as they have, were in one place. */
static void tell_clipped(bloom_solved *to, const solving *s) {
    const view *v = s->v;
    const kernel_tail *t = &v->size->tail;
    to->clip = v->s->clip;
    if (isnan(v->s->clip))
        for (uint32_t c = 0; c < v->channels; c++)
            to->clip = fmax(to->clip, (double)v->scanned->channel[c].greatest);
    if (!(to->clip > 0)) return;
    for (uint32_t c = 0; c < v->channels; c++) {
        uint64_t count = 0;
        for (size_t i = 0; i < v->pixels; i++) count += (double)plate_at(s, c, i) >= to->clip;
        if (isnan(v->s->clip) && count < 2) continue;
        to->clipped += count;
        const double lost = (double)count * to->clip, scale = fabs(t->scale[tail_kernel(t, c)]),
                     seen = v->s->tolerance * scan_median(v->scanned->channel[c].count);
        const float *tap = tail_taps(t, c);
        for (size_t i = 0; i < (size_t)t->kw * t->kh; i++) {
            const double x = (double)(i % t->kw) - t->cx, y = (double)(i / t->kw) - t->cy;
            if (lost * scale * fabs((double)tap[i]) > seen)
                to->reach = fmax(to->reach, sqrt(x * x + y * y));
        }
    }
}

/* Finds the light of the image that its bloom loses over the border. */
static double spilled_of(const solving *s, uint32_t c) {
    const spill *k = &s->v->size->ledger;
    double sum = 0;
    for (uint32_t y = 0; y < s->v->need.h; y++)
        sum += spill_of_row(k, c, y, s->x[c] + (size_t)y * s->v->need.w);
    return sum;
}

static void tell(group_made *to, outcome *o, const solving *s, const found last[VIEW_CHANNELS]) {
    const view *v = s->v;
    const solve_split is = solve_split_of(v->size);
    bloom_solved *d = &to->sum.solved;
    uint32_t worst = 0;
    d->radius = v->size->kernel.core;
    d->core = is.core, d->tail = is.tail, d->ratio = is.ratio;
    d->steps = s->steps, d->blooms = s->blooms;
    d->enough = 1;
    for (uint32_t c = 0; c < v->channels; c++) {
        const found *f = &last[c];
        if (f->worst > last[worst].worst) worst = c;
        d->negative += f->negative;
        d->lowest = fmin(d->lowest, f->lowest);
        d->enough = fmin(d->enough, f->enough);
        o->stats[c] = f->made;
        o->stats[c].spilled = s->spilled[c];
        o->stats[c].negative = s->cut ? f->negative : 0;
        o->stats[c].negative_sum = s->cut ? f->below : 0;
        o->out[c] = s->x[c];
    }
    d->amount = 1 - v->sharpen;
    d->enough *= d->amount;
    d->bound = last[worst].bound, d->value = last[worst].value;
    snprintf(d->channel, sizeof d->channel, "%s", view_name(v, worst));
    d->x = view_part(v)->data.x0 + (int32_t)(last[worst].at % v->need.w);
    d->y = view_part(v)->data.y0 + (int32_t)(last[worst].at / v->need.w);
    const double allowed = allowed_of(s, worst, d->value);
    to->sum.promise.tolerance = v->s->tolerance;
    to->sum.promise.attempts = s->attempts;
    snprintf(to->sum.promise.channel, sizeof to->sum.promise.channel, "%s", d->channel);
    to->sum.promise.method = (accuracy){.precision = s->precision,
                                        .floor = last[worst].worst * allowed,
                                        .allowed = allowed,
                                        .darkest = allowed / v->s->tolerance,
                                        .channel = worst,
                                        .kept = last[worst].worst <= 1};
    for (uint32_t c = 0; c < v->channels; c++)
        to->sum.promise.method.error[c] = last[c].worst * allowed_of(s, c, last[c].value);
    o->type = PIXEL_FLOAT;
    o->lease = s->lease;
    to->sum.times = s->spent.times;
    to->sum.spectrum_seconds += s->lease.spectrum_seconds;
    to->sum.spectrum_cached |= s->lease.spectrum_cached;
    to->sum.plan = s->lease.plan;
    to->sum.device = s->lease.device;
    memcpy(to->note, s->lease.note, sizeof to->note);
    tell_clipped(d, s);
}

/* --- the whole ----------------------------------------------------------------------------------
 */

/* Solves in one precision, on one device: `target` as iterate has it, a lower one where the
 * certificate does not hold. */
static bool solve_once(found last[VIEW_CHANNELS], solving *s, err *e) {
    const view *v = s->v;
    const double r = solve_split_of(v->size).ratio;
    double target = 0.7 * (1 - r);
    for (int tries = 0; tries < 3; tries++) {
        found before[VIEW_CHANNELS];
        err why = {0};
        uint32_t steps = 0;
        if (!take(s, v->session, v->size, e)) return false;
        s->attempts++;
        bool ok = iterate(&steps, before, s, target, &why);
        s->steps += steps;
        const double reached = worst_of(before, v->channels, false);
        ok = ok && certify(s, steps + 1, &why);
        give(s, v->session, !ok && why.code != ERR_CANCELLED, &why);
        if (!ok) *e = why;
        if (!ok || !go_through(last, s, judge, e)) return false;
        const double worst = worst_of(last, v->channels, false);
        if (worst <= 1 || reached > target) break; /* more steps would change nothing */
        target = fmin(0.5 * target / worst, 0.5 * reached);
    }
    return true;
}

bool solve_run(group_made *to, outcome *o, const view *v, const light *l, err *e) {
    const device_choice *way = v->size->decided.way;
    const plan_precision given = v->s->precision;
    solving s = {.v = v, .precision = given == PRECISION_AUTO ? PRECISION_FLOAT32 : given};
    found last[VIEW_CHANNELS];
    (void)l;
    if (v->spread.threshold > 0)
        return err_set(e, ERR_CONFIG,
                       "light above a threshold alone was never spread by a lens: "
                       "glare is taken away without threshold and knee");
    if (!solve_converges(v, e)) return false;
    if (s.precision == PRECISION_FLOAT32 && !way[WAY_FLOAT32].possible)
        s.precision = PRECISION_FLOAT64;
    bool ok = make_planes(&s, e);
    while (ok) {
        s.again = false;
        ok = solve_once(last, &s, e);
        const bool better = ok && s.precision == PRECISION_FLOAT32 && given == PRECISION_AUTO &&
                            way[WAY_FLOAT64].possible && worst_of(last, v->channels, false) > 1;
        if (better) s.precision = PRECISION_FLOAT64;
        if (!ok && s.again) *e = (err){0};
        if (!better && !(s.again && !ok)) break;
        ok = true;
    }
    ok = ok && sum_pixels(to, &s, last, e);
    for (uint32_t c = 0; ok && v->all && c < v->channels; c++) s.spilled[c] = -spilled_of(&s, c);
    if (ok && v->s->clamp) s.cut = true, ok = go_through(last, &s, judge, e);
    if (ok) tell(to, o, &s, last);
    free_planes(&s);
    return ok;
}
