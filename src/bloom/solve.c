#include "base/half.h"
#include "base/host.h"
#include "base/steady.h"
#include "bloom/solve_work.h"

/* --- pixels ----------------------------------------------------------------------------------- */

/* Returns by how much rounding may put a pixel of a step off. */
static double rounding_of(const solving *s, uint32_t c, size_t i) {
    const double y = fabs((double)plate_at(s, c, i)), x = fabs((double)s->next[c][i]);
    const double own = noise_relative(s->precision) * (y / solve_core_of(s->v->size, c) + 2 * x);
    const double m = mask_at(s, i);
    return m > 0 && !s->exact[c] ? m * s->floor[c] + own + 0x1p-24 * x : 0;
}

static found look(solving *s, uint32_t c, size_t first, size_t n) {
    found f = {0};
    for (size_t i = first; i < first + n; i++) {
        const double off = fabs((double)s->next[c][i] - (double)s->x[c][i]),
                     more = rounding_of(s, c, i), allowed = allowed_of(s, c, (double)s->x[c][i]);
        f.worst = fmax(f.worst, part_of(off + more, allowed));
        f.noise = fmax(f.noise, part_of(more, allowed));
    }
    return f;
}

/* Takes what a step in doubles has made of the residual's float: adds that float to x, and makes
 * the next residual. */
static found advance(solving *s, uint32_t c, size_t first, size_t n) {
    found f = {0};
    const double core = solve_core_of(s->v->size, c), floor = s->floor[c];
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
    return f;
}

/* Makes v of the residual, rounded upwards. */
static found make_v(solving *s, uint32_t c, size_t first, size_t n) {
    for (size_t i = first; i < first + n; i++) {
        const double next = (double)s->next[c][i],
                     off = s->fine[c] ? fabs(next + (double)s->rest[c][i]) +
                                            (mask_at(s, i) > 0 ? s->floor[c] : 0)
                                      : fabs(next - (double)s->x[c][i]) + rounding_of(s, c, i);
        s->v_of[c][i] = off > 0 ? (float)(off * (1 + 0x1p-22) + 0x1p-149) : 0;
    }
    return (found){0};
}

/* Looks at what is done: its bounds, and what it has become. */
static found judge(solving *s, uint32_t c, size_t first, size_t n) {
    const view *v = s->v;
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
    return f;
}

static void do_block(const view *v, void *ctx, uint32_t c, size_t first, size_t n) {
    solving *s = ctx;
    s->block[c * s->blocks + first / VIEW_BLOCK] = s->pass(s, c, first, n);
}

/* Goes through all pixels, and sums up what is found of each channel. */
static bool go_through(solving *s, solve_pass *pass, err *e) {
    s->pass = pass, s->worst = s->noise = 0;
    if (!view_blocks(s->v, do_block, s, e)) return false;
    for (uint32_t c = 0; c < s->v->channels; c++) {
        found sum = s->block[c * s->blocks];
        for (size_t i = 1; i < s->blocks; i++) {
            const found *f = &s->block[c * s->blocks + i], had = sum;
            if (f->worst > had.worst) sum = *f;
            sum.made = had.made;
            join_add(&sum.made, &f->made, (join_box){0});
            sum.noise = fmax(had.noise, f->noise);
            sum.largest = fmax(had.largest, f->largest);
            sum.negative = had.negative + f->negative;
            sum.lowest = fmin(had.lowest, f->lowest);
            sum.enough = fmin(had.enough, f->enough);
        }
        s->last[c] = sum;
        s->worst = fmax(s->worst, sum.worst);
        s->noise = fmax(s->noise, sum.noise);
    }
    return true;
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
        ok = (s->next[c] = mem_raw(v->pixels, 2 * sizeof(float), "planes of a step", e)) != NULL;
        if (ok) s->v_of[c] = s->next[c], s->u_of[c] = s->rest[c] = s->next[c] + v->pixels;
    }
    return ok;
}

/* Goes on in doubles, from x. */
static bool make_doubles(solving *s, err *e) {
    const view *v = s->v;
    const plan_planes planes = {.in = PLAN_FLOATS, .out = PLAN_DOUBLES};
    s->wide = kernel_sizes_take(session_sizes(v->session), &v->need, planes, e);
    for (uint32_t c = 0; c < v->channels; c++) {
        if (!s->wide ||
            !(s->made[c] = mem_raw(v->pixels, 2 * sizeof(double), "planes of doubles", e)))
            return false;
        s->fine[c] = s->made[c] + v->pixels;
        s->u_of[c] = (s->v_of[c] = (float *)(void *)s->made[c]) + v->pixels;
        s->floor[c] = 0;
        for (size_t i = 0; i < v->pixels; i++) {
            if (!isfinite(s->next[c][i] = s->x[c][i]))
                s->next[c][i] = ((const float *)s->plate.in[c])[i];
            s->fine[c][i] = (double)s->next[c][i];
        }
    }
    s->precision = PRECISION_FLOAT64;
    return s->first = true;
}

static void free_doubles(solving *s) {
    for (uint32_t c = 0; c < VIEW_CHANNELS; c++) {
        mem_free(s->made[c]);
        s->fine[c] = s->made[c] = NULL;
        s->v_of[c] = s->next[c], s->u_of[c] = s->rest[c];
    }
    if (s->wide) kernel_sizes_give(session_sizes(s->v->session), s->wide);
    s->wide = NULL, s->precision = PRECISION_FLOAT32;
}

uint64_t solve_bytes(const view *v) {
    const size_t each = v->s->precision == PRECISION_FLOAT64 ? 24 : 8;
    return v->channels * mem_rounded((uint64_t)v->pixels * each);
}

static bool take(solving *s, session *of, const kernel_at *size, err *e) {
    const bool doubles = s->precision == PRECISION_FLOAT64;
    const session_want want = {.size = size, .way = doubles ? WAY_FLOAT64 : WAY_FLOAT32};
    return host_ask(0.1, e) && session_take(&s->lease, of, &want, e);
}

/* Gives the engine back, if there is one in hand. */
static void give(solving *s, session *of, bool failed, const err *why) {
    if (!s->lease.at.engine) return;
    s->again |= session_give(of, &s->lease, failed, why);
}

/* What steps are of: the series in floats, what is spread of a residual, or the certificate. */
typedef enum { SERIES, RESIDUAL, CERTIFICATE } step_kind;
typedef struct {
    step_kind of;
    bool goes_on;
    uint32_t steps;
    const scan *light; /* of what is transformed first */
} next_steps;

static bool run(solving *s, join_stats st[VIEW_CHANNELS], const next_steps *n, err *e) {
    const view *v = s->v;
    const void *const in[] = {s->plate.in, s->next, s->v_of};
    const void *const out[] = {s->next, s->made, s->u_of};
    join j = {.spread = v->spread};
    bloom_account one = {.beyond = false};
    if (n->of == RESIDUAL) j.spread = (join_spread){0};
    for (uint32_t c = 0; c < v->channels; c++) {
        const scan_channel *in_is = &n->light->channel[c];
        const double core = solve_core_of(v->size, c),
                     top = fmax(fabs((double)in_is->least), fabs((double)in_is->greatest)),
                     gain = (1 - v->sharpen) * kernel_need_tint(&v->need, c) / core;
        j.channel[c] = (join_channel){.centre = (const double[]){1 / core, 0, 1}[n->of],
                                      .gain = n->of == CERTIFICATE ? gain : -gain,
                                      .most = top * solve_ratio_of(v->size, c)};
    }
    const engine_frame f = {.in = in[n->of],
                            .out = (void *const *)out[n->of],
                            .join = &j,
                            .steps = n->steps,
                            .goes_on = n->goes_on};
    const device_lease *at = &s->lease.at;
    const bool ok = engine_submit(at->engine, at->slot, &f, e) &&
                    engine_wait(at->engine, at->slot, st, &one.times, e);
    if (ok) s->blooms += n->steps;
    account_add(&s->spent, &one);
    return ok;
}

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
    if (s->exact[c] || solve_ratio_of(k, c) == 0) return 0;
    if (norm >= 0) load = noise_load_known(&load, norm * core);
    return noise_floor(&t, &load) / core;
}

/* --- the series ------------------------------------------------------------------------------- */

enum { FIRST_STEPS = 64, MOST_STEPS = 1000000 };

/* Makes iterates until a step changes no pixel by more than `target` of what is allowed, rounding
 * included; or only doubles would reach that, or rounding is what is left, or the last steps have
 * gained less than half of what they should. x is then x(n), next x(n + 1). */
static bool iterate(solving *s, double target, err *e) {
    const view *v = s->v;
    const double r = solve_split_of(v->size).ratio;
    const uint32_t before = s->steps;
    double rate = r, had = 0;
    join_stats st[VIEW_CHANNELS];
    next_steps n = {.of = SERIES, .light = v->scanned, .steps = 1};
    if (r > 0)
        n.steps =
            (uint32_t)fmin(fmax(ceil(steady_log(v->s->tolerance) / steady_log(r)), 1), FIRST_STEPS);
    for (;;) {
        OWN(scan) seen = {.memory = NULL};
        const uint32_t more = n.steps + 1;
        if (n.steps && !run(s, st, &n, e)) return false;
        s->steps += n.steps;
        for (uint32_t c = 0; c < v->channels; c++)
            memcpy(s->x[c], s->next[c], v->pixels * sizeof(float));
        n.steps = 1, n.goes_on = true;
        bool ok = host_ask(0.5, e) && run(s, st, &n, e) && measure(&seen, s, s->x, e);
        for (uint32_t c = 0; ok && c < v->channels; c++)
            s->floor[c] = floor_of(s, &seen, c, st[c].norm);
        if (!ok || !go_through(s, look, e)) return false;
        const uint32_t steps = s->steps - before;
        const double now = s->worst, noise = s->noise;
        const bool stalled = had > 0 && !(now < had * fmax(0.9, (1 + steady_pow(r, more)) / 2));
        if (now <= target || (!(noise < target) && (s->finer || now <= 2 * noise)) || stalled ||
            steps >= MOST_STEPS)
            return true;
        if (had > 0) rate = fmin(r, fmax(steady_pow(now / had, 1.0 / more), 1e-3));
        const double wanted = ceil(steady_log(target / now) / steady_log(rate));
        had = now;
        n.steps = (uint32_t)fmin(fmax(wanted, 1), 2.0 * steps + 2) - 1;
        s->steps++; /* next is an iterate, too */
    }
}

/* Makes the residual smaller until no pixel has more than `target` of what is allowed, or rounding
 * is what is left. */
static bool refine(solving *s, double target, err *e) {
    const view *v = s->v;
    const uint32_t before = s->steps++;
    join_stats st[VIEW_CHANNELS];
    for (;; s->steps++) {
        OWN(scan) seen = {.memory = NULL};
        const next_steps n = {.of = RESIDUAL, .steps = 1, .light = &seen};
        bool ok = host_ask(0.5, e) && measure(&seen, s, s->next, e) && run(s, st, &n, e);
        for (uint32_t c = 0; ok && c < v->channels; c++)
            if (!s->exact[c] && solve_ratio_of(v->size, c) > 0)
                s->floor[c] += floor_of(s, &seen, c, st[c].norm) + 0x1p-126;
        if (!ok || !go_through(s, advance, e)) return false;
        for (uint32_t c = 0; c < v->channels; c++)
            if (!s->exact[c]) s->floor[c] += 0x1p-47 * s->last[c].largest;
        s->first = false;
        if (s->worst <= fmax(target, 2 * s->noise) || s->steps - before >= MOST_STEPS) return true;
    }
}

/* --- the certificate -------------------------------------------------------------------------- */

/* Returns how many steps with |A| the certificate takes, within the 2 n + 2 blooms. */
static uint32_t steps_of_certificate(const solving *s, const scan *seen) {
    const uint32_t most = 2 * s->steps + 2 - s->blooms;
    uint32_t steps = 0;
    for (uint32_t c = 0; c < s->v->channels; c++) {
        const double r = solve_ratio_of(s->v->size, c), top = (double)seen->channel[c].greatest;
        const double least = allowed_of(s, c, 0);
        const double wanted = ceil(steady_log(0.1 * least * (1 - r) / top) / steady_log(r)) - 1;
        if (r > 0 && top > 0 && wanted > 0) steps = max_u32(steps, (uint32_t)fmin(wanted, most));
    }
    return steps;
}

static bool certify(solving *s, err *e) {
    const view *v = s->v;
    bloom_settings signless = *v->s;
    bool signs = false, ok = true;
    OWN(scan) seen = {.memory = NULL};
    session *other = NULL;
    const kernel_at *size = NULL;
    join_stats st[VIEW_CHANNELS];
    if (!go_through(s, make_v, e) || !measure(&seen, s, s->v_of, e)) return false;
    const uint32_t steps = steps_of_certificate(s, &seen);
    const next_steps n = {.of = CERTIFICATE, .steps = steps, .light = &seen};
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
    ok = ok && (!steps || run(s, st, &n, e));
    for (uint32_t c = 0; ok && c < v->channels; c++) {
        const double r = solve_ratio_of(v->size, c), top = (double)seen.channel[c].greatest;
        const double rounding = steps ? floor_of(s, &seen, c, -1) / (1 - r) / (1 - r) : 0;
        s->more[c] = top > 0 ? steady_pow(r, steps + 1) / (1 - r) * top + rounding : 0;
        if (!steps) memcpy(s->u_of[c], s->v_of[c], v->pixels * sizeof(float));
    }
    if (other) {
        give(s, other, !ok && e->code != ERR_CANCELLED, e);
        kernel_sizes_give(session_sizes(other), size);
        session_rest(other);
        session_close(&other);
    }
    return ok;
}

/* --- the whole -------------------------------------------------------------------------------- */

/* Solves in one precision, on one device. Where the certificate does not hold, further steps have a
 * lower target. */
static bool solve_once(solving *s, err *e) {
    const view *v = s->v;
    double target = 0.7 * (1 - solve_split_of(v->size).ratio);
    for (int tries = 0; tries < 3; tries++) {
        err why = {0};
        if (!take(s, v->session, s->wide ? s->wide : v->size, e)) return false;
        s->attempts++;
        bool ok = (s->wide ? refine : iterate)(s, target, &why);
        const double reached = s->worst;
        const bool hopeless = ok && s->finer && reached > 1;
        ok = ok && (hopeless || certify(s, &why));
        give(s, v->session, !ok && why.code != ERR_CANCELLED, &why);
        if (!ok) *e = why;
        if (!ok || hopeless) return ok;
        if (!go_through(s, judge, e)) return false;
        if (s->worst <= 1 || reached > target) break; /* more steps would change nothing */
        target = fmin(0.5 * target / s->worst, 0.5 * reached);
    }
    return true;
}

/* Solves in floats, and goes on in doubles where these are needed and possible, or asked for. */
static bool solve_all(solving *s, bool floats, err *e) {
    const device_choice *way = s->v->size->decided.way;
    floats = floats && way[WAY_FLOAT32].possible;
    s->finer = floats && s->v->s->precision == PRECISION_AUTO && way[WAY_FLOAT64].possible;
    if (!floats && !make_doubles(s, e)) return false;
    for (;;) {
        bool doubles = s->wide != NULL;
        err why = {0};
        do {
            s->again = false;
            why = (err){0};
        } while (!solve_once(s, &why) && s->again);
        if (!why.code) {
            if (!s->finer || s->worst <= 1) return true;
            s->finer = false, doubles = true;
            if (make_doubles(s, &why)) continue;
        }
        if (!(why.code == ERR_MEMORY && floats && doubles)) return *e = why, false;
        free_doubles(s); /* floats do what they can */
    }
}

static double spilled_of(const solving *s, uint32_t c) {
    double sum = 0;
    for (uint32_t y = 0; y < s->v->need.h; y++)
        sum += spill_of_row(&s->v->size->ledger, c, y, 0, s->v->need.w,
                            s->x[c] + (size_t)y * s->v->need.w);
    return sum;
}

static void solving_free(solving *s) {
    free_doubles(s);
    for (uint32_t c = 0; c < VIEW_CHANNELS; c++) mem_free(s->next[c]);
    mem_free(s->block);
    attempt_sources_free(&s->plate);
}

bool solve_run(group_made *to, outcome *o, const view *v, const light *l, err *e) {
    OWN(solving) s = {.v = v, .precision = PRECISION_FLOAT32};
    if (v->spread.threshold > 0)
        return err_set(e, ERR_CONFIG,
                       "light above a threshold alone was never spread by a lens: "
                       "glare is taken away without threshold and knee");
    for (uint32_t c = 0; c < v->channels; c++) {
        const scan_channel *y = &v->scanned->channel[c];
        s.exact[c] = (y->least == 0 && y->greatest == 0) ||
                     (solve_ratio_of(v->size, c) == 0 && solve_core_of(v->size, c) == 1);
    }
    bool ok = solve_converges(v, e) && make_planes(&s, e) &&
              solve_all(&s, v->s->precision != PRECISION_FLOAT64 && !v->lost[0], e) &&
              solve_sum_pixels(to, &s, e);
    for (uint32_t c = 0; ok && v->all_spread && c < v->channels; c++)
        s.spilled[c] = -spilled_of(&s, c);
    if (ok && v->s->clamp) s.cut = true, ok = go_through(&s, judge, e);
    if (ok) solve_tell(to, o, &s);
    return ok;
}
