#include "bloom/group.h"

#include "base/clock.h"
#include "base/host.h"
#include "base/log.h"
#include "base/mem.h"
#include "bloom/field.h"
#include "bloom/sampler.h"
#include "bloom/solve.h"
#include "math/lengths.h"

/* --- a proof ---------------------------------------------------------------------------------- */

/* The promise rests on a prediction of what a transform rounds. So a few pixels are summed directly
 * in double before a result is believed: the darkest of each channel, and those where errors are
 * likely to gather. That is evidence and no bound: it shows a damaged spectrum or a mistake of this
 * program, whose errors are everywhere. It takes a small part of the transform's time. */
typedef struct {
    uint32_t pixels; /* looked at */
    double worst;    /* the largest error, in parts of what is predicted for its pixel */
    uint32_t channel, x, y;
    double got, want; /* of that pixel */
} proof;

enum { PROVED = 4 }; /* of each channel, at most */

typedef struct {
    const view *v;
    const outcome *o;
    const definition_kernel *k;
    join_box kept;
    uint32_t count, end; /* end: of the channel's */
    sampler_pixel at[PROVED * VIEW_CHANNELS];
} choice;

static double result_at(const choice *p, uint32_t c, uint32_t x, uint32_t y) {
    float v;
    image_to_float(&v, p->o->out[c], p->o->type, (size_t)y * p->v->size->need.w + x, 1);
    return (double)v;
}

static double size_at(const choice *p, uint32_t c, uint32_t x, uint32_t y) {
    return fabs(result_at(p, c, x, y));
}

static void add_pixel(choice *p, uint32_t c, uint32_t x, uint32_t y) {
    if (p->count == p->end) return;
    p->at[p->count++] = (sampler_pixel){c, {.x = x, .y = y}, result_at(p, c, x, y), 1};
}

/* Returns what of a few lines is kept. */
static join_box kept_of(const choice *p, const join_box *lines) {
    const join_box *k = &p->kept;
    const uint32_t x0 = max_u32(k->x, lines->x), x1 = min_u32(k->x + k->w, lines->x + lines->w),
                   y0 = max_u32(k->y, lines->y), y1 = min_u32(k->y + k->h, lines->y + lines->h);
    return x0 < x1 && y0 < y1 ? (join_box){x0, y0, x1 - x0, y1 - y0} : (join_box){0};
}

/* Adds the darkest pixel of some, of those that something is promised for. */
static void add_darkest(choice *p, uint32_t c, join_box in) {
    double least = INFINITY;
    uint32_t at_x = 0, at_y = 0;
    for (uint32_t y = in.y; y < in.y + in.h; y++)
        for (uint32_t x = in.x; x < in.x + in.w; x++) {
            double size = size_at(p, c, x, y);
            if (size >= p->v->dark[c] && size < least) least = size, at_x = x, at_y = y;
        }
    if (isfinite(least)) add_pixel(p, c, at_x, at_y);
}

/* Adds the darkest places where errors of the brightest pixel of some gather, half a transform away
 * and a quarter of one. */
static void add_ghosts(choice *p, uint32_t c, join_box in) {
    uint32_t x = in.x, y = in.y;
    for (uint32_t j = in.y; j < in.y + in.h; j++)
        for (uint32_t i = in.x; i < in.x + in.w; i++)
            if (size_at(p, c, i, j) > size_at(p, c, x, y)) x = i, y = j;
    const plan *layout = &p->o->lease.plan;
    const join_box *k = &p->kept;
    const uint32_t across = layout->axis[layout->first == PLAN_X ? 0 : 1].length,
                   down = layout->axis[layout->first == PLAN_X ? 1 : 0].length;
    bool taken[16] = {true};
    for (;;) {
        int best = 0;
        uint32_t best_x = 0, best_y = 0;
        for (int i = 1; i < 16; i++) {
            const uint32_t gx = (uint32_t)((x + (uint64_t)(i % 4) * across / 4) % across),
                           gy = (uint32_t)((y + (uint64_t)(i / 4) * down / 4) % down);
            if (taken[i] || gx < k->x || gy < k->y || gx >= k->x + k->w || gy >= k->y + k->h)
                continue;
            if (!best || size_at(p, c, gx, gy) < size_at(p, c, best_x, best_y))
                best = i, best_x = gx, best_y = gy;
        }
        if (!best || p->count == p->end) return;
        taken[best] = true;
        add_pixel(p, c, best_x, best_y);
    }
}

/* Returns a pixel's error in parts of what may be expected: the prediction, and rounding. Light
 * that only partly spreads is rounded to floats before it does. What is beyond floats is refused
 * when it is stored. */
static double part_of(double *want, const choice *p, const sampler_pixel *at,
                      const accuracy *method) {
    const view *v = p->v;
    const definition_gain gain = definition_gain_of(
        p->k, at->channel, v->sharpen, kernel_need_tint(&v->need, at->channel), &at->defined);
    double rounding;
    *want = sampler_want(&rounding, at, p->o->type, p->k, &gain);
    if (!isfinite(at->got)) return 0;
    double off = fabs(at->got - *want),
           predicted = method->error[at->channel] +
                       accuracy_relative(method) * fmax(fabs(*want), p->v->dark[at->channel]);
    if (!v->all_spread)
        rounding += (method->in_parts ? 0x1p-21 : 0x1p-24) * gain.glare * at->defined.size;
    return off > 0 ? off / (predicted + rounding) : 0;
}

/* Returns the seconds of one core of the host that a transform costs: of steps, of which one is a
 * number in a butterfly of radix 2, weighted as length_cost does; or of bytes that the host copies
 * to a device and back. They follow from constants (that of a byte is an assumption), so that the
 * same run decides alike each time. */
static double price_of(const session_lease *l) {
    static const double STEP = 0.25e-9, DOUBLES = 1.7, BYTE = 2e-10;
    const plan *p = &l->plan;
    const double lines[2] = {2.0 * ((p->axis[1].extent + 1) / 2), 2.0 * p->halves}; /* and back */
    double steps = 0;
    if (l->device.class == ENGINE_GPU)
        return ((double)plan_bytes_up(p) + (double)plan_bytes_down(p)) / 2 * BYTE;
    for (int i = 0; i < 2; i++)
        steps += lines[i] * (p->ask.limits.invocations ? length_cost(p->axis[i].length)
                                                       : length_cost_cpu(p->axis[i].length));
    return steps * p->ask.channels * STEP * (p->sample_bytes == 8 ? DOUBLES : 1);
}

/* Looks at the result of an attempt by this method. All products may take PART of the transform's
 * time; one takes PRODUCT seconds of a core, most of which is waiting for memory. */
static bool prove(proof *to, const view *v, const outcome *o, const accuracy *method, err *e) {
    static const double PRODUCT = 2e-9, PART = 0.04;
    const kernel_at *size = v->size;
    const definition_field field = {size->psf, &size->field};
    const definition_kernel k = {
        &size->kernel, {v->s->border[PLAN_X], v->s->border[PLAN_Y]}, size->nodes ? &field : NULL};
    const uint32_t w = size->need.w, h = size->need.h;
    const bool lost = o->lease.device.class == ENGINE_CPU || size->nodes;
    definition_rows rows[VIEW_CHANNELS];
    /* Of a field: its windows take as many transforms, and a pixel the products of some nodes. */
    uint32_t windows = !size->nodes, nodes = size->nodes ? min_u32(size->nodes, FIELD_MIXED) : 1;
    for (uint32_t i = 0; i < size->nodes; i++)
        windows += !field_window_empty(&size->node[i].window);
    double some = PART * price_of(&o->lease) * windows /
                  (PRODUCT * nodes * size->kernel.w * size->kernel.h * v->channels);
    uint32_t most = some < 1 ? 1 : some < PROVED ? (uint32_t)some : PROVED;
    choice p = {.v = v, .o = o, .k = &k, .kept = v->kept.w ? v->kept : (join_box){0, 0, w, h}};
    for (uint32_t c = 0; c < v->channels; c++) {
        const join_box bright = kept_of(&p, &o->stats[c].bright_at),
                       dim = kept_of(&p, &o->stats[c].dark_at);
        p.end = p.count + most;
        bool ghosts_first = c % 2; /* if one is all */
        if (!ghosts_first) add_darkest(&p, c, dim);
        if (bright.w) add_ghosts(&p, c, bright);
        if (ghosts_first) add_darkest(&p, c, dim);
        rows[c] = (definition_rows){*view_plane(v, c),       v->type[c], v->spread, w, h, 0, h,
                                    lost ? v->lost[c] : NULL};
    }
    *to = (proof){.pixels = p.count};
    const sampler_rows whole = {0, v->channels, rows, k};
    if (!sampler_add(&(sampler){p.at, p.count}, &whole, v->threads, e)) return false;
    for (uint32_t i = 0; i < p.count; i++) {
        const sampler_pixel *at = &p.at[i];
        double want, part = part_of(&want, &p, at, method);
        if (i && !(part > to->worst)) continue;
        *to = (proof){p.count, part, at->channel, at->defined.x, at->defined.y, at->got, want};
    }
    return true;
}

/* --- floats or doubles: docs/inside/math.md
 * ---------------------------------------------------------- */

/* The search for a result that keeps the promise of a group. */
typedef struct {
    const view *v;
    const light *l;
    outcome *o;
    accuracy_facts facts;
    accuracy method;
    err bug;      /* why the last result cannot be right; ERR_NONE: it can */
    proof proved; /* of the last attempt */
} search;

static accuracy_facts facts_of(const view *v, const light *l) {
    const device_choice *c = v->size->decided.way, *doubles = &c[WAY_FLOAT64];
    const plan_axis *axis =
        (v->s->precision == PRECISION_FLOAT64 ? doubles : &c[WAY_FLOAT32])->plan.axis;
    return (accuracy_facts){.tail = &v->size->tail,
                            .sums = v->size->sums,
                            .scanned = l->scanned,
                            .dark = v->dark,
                            .signs = l->signs,
                            .partly = !v->all_spread,
                            .digits = v->digits,
                            .tolerance = v->s->tolerance,
                            .precision = v->s->precision,
                            .points = (double)axis[0].length * axis[1].length,
                            .doubles = doubles->possible,
                            .roundings = v->size->nodes ? field_roundings(v->size) : 0};
}

/* --- judging a result: docs/inside/math.md, "The promise"
 * -------------------------------------------- */

/* An error that is larger than its prediction times this cannot be rounding. */
static const double MISTAKE = 16;

/* Judges by what was measured. Noise below zero, where light cannot be, is cut off. It is also a
 * measurement: where it is larger than predicted, the measured noise takes the prediction's place
 * and the promise is not kept. Where only a mistake of this program explains it, s->bug says so. */
static void check(search *s) {
    accuracy *m = &s->method;
    s->bug = (err){0};
    if (s->o->lease.device.class == ENGINE_CPU) m->in_parts = false;
    accuracy_check(m, &s->facts, s->o->stats);
    for (uint32_t c = 0; c < s->v->channels; c++) {
        double found = -s->o->stats[c].negative_worst;
        if (found <= m->error[c]) continue;
        if (!(found <= MISTAKE * m->error[c]) && !(found < 1e-30))
            err_set(&s->bug, ERR_INTERNAL,
                    "channel '%s': the glare has values down to %g where it cannot be below zero; "
                    "the predicted noise is %g. This is a bug; please report it",
                    view_name(s->v, c), -found, m->error[c]);
        m->kept = false;
        m->error[c] = found;
        if (found > m->floor) m->channel = c;
        m->floor = fmax(m->floor, found);
    }
}

/* Compares some pixels with the definition. One that is farther off breaks the promise. */
static bool check_proof(search *s, err *e) {
    const view *v = s->v;
    accuracy *m = &s->method;
    proof *p = &s->proved;
    if (!prove(p, v, s->o, m, e)) return false;
    if (p->worst <= 1) return true;
    const image_box *data = &view_part(v)->data;
    const int x = data->x0 + (int)p->x, y = data->y0 + (int)p->y;
    log_info("channel '%s': the pixel at %d, %d is %g and should be %g, %.3g times as far off as "
             "predicted: the result is not believed",
             view_name(v, p->channel), x, y, p->got, p->want, p->worst);
    if (s->o->lease.spectrum_cached) cache_distrust(s->o->lease.spectrum_of, v->s->cache_dir);
    m->kept = false;
    m->channel = p->channel;
    m->error[p->channel] = m->floor = fabs(p->got - p->want);
    if (p->worst > MISTAKE)
        err_set(&s->bug, ERR_INTERNAL,
                "channel '%s': the pixel at %d, %d is %g and should be %g, which is %.3g times as "
                "far off as rounding can put it. This is a bug; please report it",
                view_name(v, p->channel), x, y, p->got, p->want, p->worst);
    return true;
}

/* Says where light is so faint that a device in floats may take it for none. */
static void tell_faint(group_made *to, const view *v, const light *l, const accuracy *m) {
    const bool floats = m->precision == PRECISION_FLOAT32 && to->sum.device.class != ENGINE_CPU;
    const uint32_t normal = scan_bin(0x1p-126F);
    for (uint32_t c = 0; floats && c < v->channels && !to->note[0]; c++) {
        uint64_t faint = 0;
        for (uint32_t b = 1; b < normal; b++) faint += l->scanned->channel[c].count[b];
        if (faint)
            snprintf(to->note, sizeof to->note,
                     "channel '%.60s': device '%.60s' may take %llu pixel%s below 1.2e-38 for 0",
                     view_name(v, c), to->sum.device.name, (unsigned long long)faint,
                     faint == 1 ? "" : "s");
    }
}

void group_add(group_made *to, const group_made *one) {
    account_add(&to->sum, &one->sum);
    if (one->note[0]) memcpy(to->note, one->note, sizeof to->note);
    memcpy(to->fit, one->fit, sizeof to->fit);
    to->over += one->over;
    to->largest = fmaxf(to->largest, one->largest);
    for (uint32_t c = 0; c < one->channels; c++) {
        ledger_row *row = &to->row[c];
        const ledger_row *from = &one->row[c];
        row->gained += from->gained;
        row->out += from->out;
        row->spilled += from->spilled;
        row->overflow += from->overflow;
        row->overflow_pixels += from->overflow_pixels;
        row->negative += from->negative;
        row->negative_pixels += from->negative_pixels;
        row->size = fmax(fmax(row->size, fabs(row->spilled)), fmax(fabs(row->in), fabs(row->out)));
        row->size = fmax(row->size, fmax(fabs(row->overflow), fabs(row->negative)));
        row->centre = from->centre;
    }
}

static void spread(const void *ctx, float *v, size_t first, size_t n) {
    join_spread_row(ctx, first, v, v, n);
}

/* Looks at the light, which has no bad pixels any more. own: for scans that are made here. */
static bool find_light(light *l, scan *own, const view *v, err *e) {
    const void *plane[VIEW_CHANNELS];
    scan_request ask = {.w = v->need.w,
                        .h = v->need.h,
                        .channels = v->channels,
                        .plane = plane,
                        .type = v->type,
                        .ctx = &v->spread};
    *l = (light){.scanned = v->scanned ? v->scanned : own};
    for (uint32_t c = 0; c < v->channels; c++) plane[c] = *view_plane(v, c);
    if (!v->scanned && !scan_make(own, &ask, v->threads, e)) return false;
    for (uint32_t c = 0; c < v->channels; c++)
        l->signs[c] = v->size->sums[c].signs || l->scanned->channel[c].least < 0;
    if (!v->all_spread) { /* what is spread is less */
        scan_free(own);
        l->scanned = own;
        ask.change = spread;
        if (!scan_make(own, &ask, v->threads, e)) return false;
    }
    for (uint32_t c = 0; c < v->channels; c++)
        l->nonnegative[c] = !v->size->sums[c].signs && l->scanned->channel[c].least >= 0;
    return true;
}

/* Makes the result, again in doubles where floats do not keep the promise. */
static bool convolve(group_made *to, outcome *o, const view *v, const light *l, err *e) {
    search s = {.v = v, .l = l, .o = o, .facts = facts_of(v, l)};
    accuracy_choose(&s.method, &s.facts);
    for (uint32_t i = 1;; i++) {
        if (!(v->size->nodes ? field_run : attempt_run)(o, v, l, &s.method, e)) return false;
        if (v->size->nodes) s.facts.floors = o->floor;
        session_account(&to->sum, &o->lease, &o->times);
        memcpy(to->note, o->lease.note, sizeof to->note);
        s.proved = (proof){0};
        check(&s);
        if (s.method.kept && !check_proof(&s, e)) return false;
        const accuracy *m = &s.method;
        bool last = m->precision == PRECISION_FLOAT64 || s.facts.precision != PRECISION_AUTO ||
                    !s.facts.doubles;
        if (m->kept || last) {
            account_promise(&to->sum, v->s->tolerance, m, view_name(v, m->channel), i);
            tell_faint(to, v, l, m);
            to->sum.promise.proved = s.proved.pixels;
            to->sum.promise.proof = s.proved.worst;
            break;
        }
        log_debug("channel '%s', float32: predicted error %g, allowed %g: trying float64",
                  view_name(v, m->channel), m->floor, m->allowed);
        s.facts.precision = PRECISION_FLOAT64;
        accuracy_choose(&s.method, &s.facts);
    }
    if (!s.bug.code) return true;
    *e = s.bug;
    return false;
}

/* Enters what would be tried first. Of what is solved a residual tells, and nobody knows it yet. */
static bool foresee(group_made *to, const view *v, const light *l, err *e) {
    const accuracy_facts facts = facts_of(v, l);
    accuracy method;
    accuracy_choose(&method, &facts);
    const device_choice *c = &v->size->decided.way[attempt_way(&method)];
    to->sum.plan = c->plan, to->sum.device = c->device;
    if (v->s->solve) return solve_foresee(&to->sum.solved, v, e);
    account_promise(&to->sum, v->s->tolerance, &method, view_name(v, method.channel), 0);
    return true;
}

static void spread_block(const view *v, void *ctx, uint32_t c, size_t first, size_t n) {
    float *to = v->glare[c] + first;
    image_to_float(to, *view_plane(v, c), v->type[c], first, n);
    join_spread_row(&v->spread, first, to, to, n);
}

/* Does the work at the size that v->size is. */
static bool bloom_at(group_made *to, view *v, bool predict, err *e) {
    light l;
    OWN(scan) own = {.memory = NULL};
    outcome o = {0};
    const bool emits = v->emits && !predict;
    if (!host_ask(0, e)) return false;
    for (uint32_t c = 0; emits && c < v->channels; c++)
        if (!(v->glare[c] = to->glare[c] = mem_raw(v->pixels, sizeof(float), "glare", e)))
            return false;
    if (emits && v->s->emit == EMIT_SOURCE && !view_blocks(v, spread_block, NULL, e))
        return false; /* else the engine fills these */
    const double start = clock_now();
    if (!find_light(&l, &own, v, e)) return false;
    to->sum.contract_seconds = clock_now() - start;
    memcpy(to->fit, v->size->fit, sizeof to->fit);
    if (v->s->solve && v->s->black && !predict && !solve_black(to, v, &l, e)) return false;
    if (predict ? !foresee(to, v, &l, e)
                : !(v->s->solve ? solve_run : convolve)(to, &o, v, &l, e) ||
                      !store_result(to, v, &l, &o, e))
        return false;
    if (v->size->nodes && !v->kept.w)
        to->sum.points = field_points(v, to->note[0] ? NULL : to->note, sizeof to->note);
    return true;
}

bool group_bloom(group_made *to, view *v, bool predict, err *e) {
    *to = (group_made){0};
    v->size = kernel_sizes_take(session_sizes(v->session), &v->need, view_planes(v), e);
    const bool ok = v->size && kernel_at_possible(v->size, v->s->precision, e) &&
                    bloom_at(to, v, predict, e);
    kernel_sizes_give(session_sizes(v->session), v->size);
    return ok || (*v->layer && err_in(e, "layer '%s'", v->layer));
}
