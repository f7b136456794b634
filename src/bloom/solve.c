#include "base/half.h"
#include "base/host.h"
#include "base/mem.h"
#include "base/number.h"
#include "bloom/solve_work.h"

#include <string.h>

/* --- pixels ----------------------------------------------------------------------------------- */

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

/* Takes what a step in doubles has made of the residual's float: adds that float to x, and makes
 * the next residual. */
static void advance(const view *v, void *ctx, uint32_t c, size_t first, size_t n) {
    solving *s = ctx;
    found f = {0};
    const double core = solve_core_of(v->size, c), floor = s->floor[c];
    for (size_t i = first; i < first + n; i++) {
        const double m = mask_at(s, i), y = plate_at(s, c, i), t = s->made[c][i];
        const double part = (double)s->next[c][i], rest = (double)s->rest[c][i];
        if (!s->first) s->fine[c][i] += part;
        const double x = s->fine[c][i], allowed = allowed_of(s, c, x);
        const double left = s->first ? (1 - m) * y + m * (y / core + t) - x : rest + m * t;
        s->next[c][i] = (float)left;
        s->rest[c][i] = (float)(left - (double)s->next[c][i]);
        /* Later steps round x once, to 2^-53, which changes the residual by at most twice that. */
        const double added = fabs(t) + (s->first ? fabs(x) + fabs(y) * (1 + 1 / core)
                                                 : fabs(part) + 0x1p-4 * fabs(x));
        f.largest = fmax(f.largest, added);
        f.worst = fmax(f.worst, part_of(fabs(left) + floor, allowed));
        f.noise = fmax(f.noise, part_of(floor, allowed));
    }
    s->block[c * s->blocks + first / VIEW_BLOCK] = f;
}

/* Makes v of the residual, rounded upwards. */
static void make_v(const view *v, void *ctx, uint32_t c, size_t first, size_t n) {
    solving *s = ctx;
    (void)v;
    for (size_t i = first; i < first + n; i++) {
        const double next = (double)s->next[c][i],
                     off = s->fine[c] ? fabs(next + (double)s->rest[c][i]) +
                                            (mask_at(s, i) > 0 ? s->floor[c] : 0)
                                      : fabs(next - (double)s->x[c][i]) + rounding_of(s, c, i);
        s->v_of[c][i] = off > 0 ? (float)(off * (1 + 0x1p-22) + 0x1p-149) : 0;
    }
}

/* Looks at what is done: its bounds, and what it has become. */
static void judge(const view *v, void *ctx, uint32_t c, size_t first, size_t n) {
    solving *s = ctx;
    found f = {.enough = 1, .made = join_begin()};
    const bool half = bloom_stores_halfs(v->s, view_part(v)->channel[c].wide, v->type[c]);
    for (size_t i = first; i < first + n; i++) {
        const double x = image_at(s, c, i), y = plate_at(s, c, i);
        const double u = (double)s->u_of[c][i] * (1 + 0x1p-18) +
                         (mask_at(s, i) > 0 ? s->more[c] : 0);
        const double part = part_of(u, allowed_of(s, c, x));
        float stored = s->x[c][i] = (float)x;
        if (half) stored = half_to_float(half_from_float(stored));
        const double bound = u + (isfinite(stored) ? fabs((double)stored - x) : 0);
        if (v->bounds[c]) v->bounds[c][i] = bound;
        if (v->doubles[c]) v->doubles[c][i] = s->cut && x < 0 ? 0 : x;
        if (part > f.worst || i == first) f.worst = part, f.at = i, f.bound = bound, f.value = x;
        if (x + bound < -v->s->tolerance * fabs(y)) {
            f.negative++, f.lowest = fmin(f.lowest, x);
            f.enough = fmin(f.enough, y > 0 ? y / (y - x) : 0);
        }
        if (x < 0 && s->cut) f.made.negative++, f.made.negative_sum += x, s->x[c][i] = 0;
        const double kept = (double)s->x[c][i];
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
            sum.largest = fmax(to[c].largest, f->largest);
            sum.negative = to[c].negative + f->negative;
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
        memcpy(s->x[c], s->plate.in[c], v->pixels * sizeof(float));
        ok = (s->v_of[c] = s->next[c] = mem_raw(v->pixels, sizeof(float), "planes of a step", e)) &&
             (s->u_of[c] = s->rest[c] = mem_raw(v->pixels, sizeof(float), "planes of a bound", e));
    }
    return ok;
}

/* Goes on in doubles, from x. */
static bool make_doubles(solving *s, err *e) {
    const view *v = s->v;
    const plan_planes planes = {.in = PLAN_FLOATS, .out = PLAN_DOUBLES};
    s->wide = kernel_sizes_take(session_sizes(v->session), &v->need, planes, e);
    bool ok = s->wide != NULL;
    for (uint32_t c = 0; ok && c < v->channels; c++)
        ok = (s->made[c] = mem_raw(v->pixels, sizeof(double), "planes of doubles", e)) &&
             (s->fine[c] = mem_raw(v->pixels, sizeof(double), "planes of doubles", e));
    for (uint32_t c = 0; ok && c < v->channels; c++) {
        for (size_t i = 0; i < v->pixels; i++)
            s->fine[c][i] = (double)(s->next[c][i] = isfinite(s->x[c][i])
                                                         ? s->x[c][i]
                                                         : ((const float *)s->plate.in[c])[i]);
        s->v_of[c] = (float *)(void *)s->made[c];
        s->u_of[c] = s->v_of[c] + v->pixels;
        s->floor[c] = 0;
    }
    if (ok) s->precision = PRECISION_FLOAT64;
    return s->first = ok;
}

static void free_doubles(solving *s) {
    for (uint32_t c = 0; c < s->v->channels; c++) {
        mem_free(s->fine[c]);
        mem_free(s->made[c]);
        s->fine[c] = s->made[c] = NULL;
        s->v_of[c] = s->next[c], s->u_of[c] = s->rest[c];
    }
    if (s->wide) kernel_sizes_give(session_sizes(s->v->session), s->wide);
    s->wide = NULL;
}

static void free_planes(solving *s) {
    free_doubles(s);
    for (uint32_t c = 0; c < s->v->channels; c++) {
        mem_free(s->next[c]);
        mem_free(s->rest[c]);
    }
    mem_free(s->block);
    attempt_sources_free(&s->plate, s->v);
}

uint64_t solve_bytes(const view *v) {
    const size_t each = v->s->precision == PRECISION_FLOAT64 ? 24 : 8;
    return v->channels * mem_rounded((uint64_t)v->pixels * each);
}

static bool take(solving *s, session *of, const kernel_at *size, err *e) {
    const bool doubles = s->precision == PRECISION_FLOAT64;
    const session_want want = {size, doubles ? WAY_FLOAT64 : WAY_FLOAT32};
    return host_ask(0.1, e) && session_take(&s->lease, of, &want, e);
}

/* Gives the engine back, if there is one in hand. */
static void give(solving *s, session *of, bool failed, const err *why) {
    if (!s->lease.at.engine) return;
    s->again |= session_give(of, &s->lease, failed, why);
}

/* Steps that are to be made: of the series in floats, of what is spread of a residual, or of the
 * certificate. */
typedef struct {
    enum { SERIES, RESIDUAL, CERTIFICATE } of;
    bool goes_on;
    const void *const *in;
    void *const *out;
    uint32_t steps;
    const scan *light; /* of what is transformed first */
} next_steps;

static bool run(solving *s, join_stats st[VIEW_CHANNELS], const next_steps *n, err *e) {
    const view *v = s->v;
    join j = {.spread = v->spread};
    bloom_account one = {.beyond = false};
    if (n->of == RESIDUAL) j.spread = (join_spread){0};
    for (uint32_t c = 0; c < v->channels; c++) {
        const scan_channel *in = &n->light->channel[c];
        const double core = solve_core_of(v->size, c),
                     top = fmax(fabs((double)in->least), fabs((double)in->greatest));
        const double gain = (1 - v->sharpen) * kernel_need_tint(&v->need, c) / core;
        j.channel[c] = (join_channel){.centre = n->of == SERIES     ? 1 / core
                                                : n->of == RESIDUAL ? 0
                                                                    : 1,
                                      .gain = n->of == CERTIFICATE ? gain : -gain,
                                      .most = top * solve_ratio_of(v->size, c)};
    }
    const engine_frame f = {
        .in = n->in, .out = n->out, .join = &j, .steps = n->steps, .goes_on = n->goes_on};
    const device_lease *at = &s->lease.at;
    const bool ok = engine_submit(at->engine, at->slot, &f, e) &&
                    engine_wait(at->engine, at->slot, st, &one.times, e);
    if (ok) s->blooms += n->steps;
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

enum { FIRST_STEPS = 64, MOST_STEPS = 1000000 };

/* Makes iterates until a step changes no pixel by more than `target` of what is allowed, rounding
 * included; or only doubles would reach that, or rounding is what is left, or the last steps have
 * gained less than half of what they should. x is then x(n), next x(n + 1). */
static bool iterate(uint32_t *steps, found last[VIEW_CHANNELS], solving *s, double target, err *e) {
    const view *v = s->v;
    const double r = solve_split_of(v->size).ratio;
    double rate = r, had = 0;
    join_stats st[VIEW_CHANNELS];
    next_steps n = {
        .of = SERIES, .in = s->plate.in, .out = (void *const *)s->next, .light = v->scanned};
    n.steps = r > 0 ? (uint32_t)fmin(fmax(ceil(log(v->s->tolerance) / log(r)), 1), FIRST_STEPS) : 1;
    for (*steps = 0;; n.goes_on = true) {
        scan seen = {.memory = NULL};
        const uint32_t more = n.steps + 1;
        if (n.steps && !run(s, st, &n, e)) return false;
        *steps += n.steps;
        for (uint32_t c = 0; c < v->channels; c++)
            memcpy(s->x[c], s->next[c], v->pixels * sizeof(float));
        n.steps = 1, n.goes_on = true;
        bool ok = host_ask(0.5, e) && run(s, st, &n, e) && measure(&seen, s, s->x, e);
        for (uint32_t c = 0; ok && c < v->channels; c++)
            s->floor[c] = s->exact[c] || solve_ratio_of(v->size, c) == 0
                              ? 0
                              : floor_of(s, &seen, c, st[c].norm);
        scan_free(&seen);
        if (!ok || !go_through(last, s, look, e)) return false;
        const double now = worst_of(last, v->channels, false),
                     noise = worst_of(last, v->channels, true);
        const bool stalled = had > 0 && !(now < had * fmax(0.9, (1 + pow(r, more)) / 2));
        if (now <= target || (!(noise < target) && (s->finer || now <= 2 * noise)) || stalled ||
            *steps >= MOST_STEPS)
            return true;
        if (had > 0) rate = fmin(r, fmax(pow(now / had, 1.0 / more), 1e-3));
        const double wanted = ceil(log(target / now) / log(rate));
        had = now;
        n.steps = (uint32_t)fmin(fmax(wanted, 1), 2.0 * *steps + 2) - 1;
        (*steps)++; /* next is an iterate, too */
    }
}

/* Makes the residual smaller until no pixel has more than `target` of what is allowed, or rounding
 * is what is left. */
static bool refine(uint32_t *steps, found last[VIEW_CHANNELS], solving *s, double target, err *e) {
    const view *v = s->v;
    join_stats st[VIEW_CHANNELS];
    for (*steps = 1;; ++*steps) {
        scan seen = {.memory = NULL};
        const next_steps n = {.of = RESIDUAL,
                              .in = (const void *const *)s->next,
                              .out = (void *const *)s->made,
                              .steps = 1,
                              .light = &seen};
        bool ok = host_ask(0.5, e) && measure(&seen, s, s->next, e) && run(s, st, &n, e);
        for (uint32_t c = 0; ok && c < v->channels; c++)
            if (!s->exact[c] && solve_ratio_of(v->size, c) > 0)
                s->floor[c] += floor_of(s, &seen, c, st[c].norm) + 0x1p-126;
        scan_free(&seen);
        if (!ok || !go_through(last, s, advance, e)) return false;
        for (uint32_t c = 0; c < v->channels; c++)
            if (!s->exact[c]) s->floor[c] += 0x1p-47 * last[c].largest;
        s->first = false;
        const double least = fmax(target, 2 * worst_of(last, v->channels, true));
        if (worst_of(last, v->channels, false) <= least || *steps >= MOST_STEPS) return true;
    }
}

/* --- the certificate -------------------------------------------------------------------------- */

/* Returns how many steps with |A| the certificate takes, of at most `most`. */
static uint32_t steps_of_certificate(const solving *s, const scan *seen, uint32_t most) {
    uint32_t steps = 0;
    for (uint32_t c = 0; c < s->v->channels; c++) {
        const double r = solve_ratio_of(s->v->size, c), top = (double)seen->channel[c].greatest;
        const double least = allowed_of(s, c, 0);
        const double wanted = ceil(log(0.1 * least * (1 - r) / top) / log(r)) - 1;
        if (r > 0 && top > 0 && wanted > 0) steps = max_u32(steps, (uint32_t)fmin(wanted, most));
    }
    return steps;
}

/* Sums u. */
static bool certify(solving *s, uint32_t most, err *e) {
    const view *v = s->v;
    bloom_settings signless = *v->s;
    bool signs = false, ok = true;
    scan seen = {.memory = NULL};
    session *other = NULL;
    const kernel_at *size = NULL;
    if (!view_blocks(v, make_v, s, e) || !measure(&seen, s, s->v_of, e)) return false;
    const uint32_t steps = steps_of_certificate(s, &seen, most);
    for (uint32_t c = 0; c < v->channels; c++) signs |= v->size->sums[c].signs;
    if (steps && (signs || s->wide)) give(s, v->session, false, NULL);
    if (steps && signs) {
        signless.magnitudes = true;
        ok = (other = session_open_beside(v->session, &signless, e)) &&
             (size = kernel_sizes_take(session_sizes(other), &v->need, v->size->planes, e)) &&
             take(s, other, size, e);
    } else if (steps && s->wide) {
        ok = take(s, v->session, v->size, e);
    }
    join_stats st[VIEW_CHANNELS];
    const next_steps n = {.of = CERTIFICATE,
                          .in = (const void *const *)s->v_of,
                          .out = (void *const *)s->u_of,
                          .steps = steps,
                          .light = &seen};
    for (uint32_t c = 0; ok && !steps && c < v->channels; c++)
        memcpy(s->u_of[c], s->v_of[c], v->pixels * sizeof(float));
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

/* --- the whole -------------------------------------------------------------------------------- */

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
        if (!take(s, v->session, s->wide ? s->wide : v->size, e)) return false;
        s->attempts++;
        bool ok = (s->wide ? refine : iterate)(&steps, before, s, target, &why);
        s->steps += steps;
        const double reached = worst_of(before, v->channels, false);
        const bool hopeless = ok && s->finer && reached > 1;
        ok = ok && (hopeless || certify(s, 2 * s->steps + 2 - s->blooms, &why));
        give(s, v->session, !ok && why.code != ERR_CANCELLED, &why);
        if (!ok) *e = why;
        if (hopeless) memcpy(last, before, sizeof before);
        if (!ok || hopeless) return ok;
        if (!go_through(last, s, judge, e)) return false;
        const double worst = worst_of(last, v->channels, false);
        if (worst <= 1 || reached > target) break; /* more steps would change nothing */
        target = fmin(0.5 * target / worst, 0.5 * reached);
    }
    return true;
}

/* Solves in floats, and goes on in doubles where these are needed and possible, or asked for. */
static bool solve_all(found last[VIEW_CHANNELS], solving *s, err *e) {
    const device_choice *way = s->v->size->decided.way;
    const bool floats = s->precision == PRECISION_FLOAT32 && way[WAY_FLOAT32].possible;
    s->finer = floats && s->v->s->precision == PRECISION_AUTO && way[WAY_FLOAT64].possible;
    if (!floats && !make_doubles(s, e)) return false;
    for (;;) {
        err why = {0};
        do {
            s->again = false;
            why = (err){0};
        } while (!solve_once(last, s, &why) && s->again);
        bool small = why.code == ERR_MEMORY && floats && s->wide;
        if (!why.code) {
            if (!s->finer || worst_of(last, s->v->channels, false) <= 1) return true;
            s->finer = false;
            if (make_doubles(s, &why)) continue;
            small = why.code == ERR_MEMORY;
        }
        if (!small) return *e = why, false;
        free_doubles(s); /* floats do what they can */
        s->precision = PRECISION_FLOAT32;
    }
}

bool solve_run(group_made *to, outcome *o, const view *v, const light *l, err *e) {
    const bool wide = v->s->precision == PRECISION_FLOAT64 || v->lost[0];
    solving s = {.v = v, .precision = wide ? PRECISION_FLOAT64 : PRECISION_FLOAT32};
    found last[VIEW_CHANNELS];
    (void)l;
    if (v->spread.threshold > 0)
        return err_set(e, ERR_CONFIG,
                       "light above a threshold alone was never spread by a lens: "
                       "glare is taken away without threshold and knee");
    for (uint32_t c = 0; c < v->channels; c++) {
        const scan_channel *y = &v->scanned->channel[c];
        s.exact[c] = (y->least == 0 && y->greatest == 0) ||
                     (solve_ratio_of(v->size, c) == 0 && solve_core_of(v->size, c) == 1);
    }
    bool ok = solve_converges(v, e) && make_planes(&s, e) && solve_all(last, &s, e) &&
              solve_sum_pixels(to, &s, last, e);
    for (uint32_t c = 0; ok && v->all && c < v->channels; c++) s.spilled[c] = -solve_spilled(&s, c);
    if (ok && v->s->clamp) s.cut = true, ok = go_through(last, &s, judge, e);
    if (ok) solve_tell(to, o, &s, last);
    free_planes(&s);
    return ok;
}
