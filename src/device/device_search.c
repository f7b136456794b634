#include "device/device_search.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "device/device_measure.h"
#include "math/lengths.h"

#include <math.h>
#include <string.h>
#include <time.h>

/* --- candidates ------------------------------------------------------------------------------ */

enum { CANDIDATES = 64 };

typedef struct {
    plan_tune list[CANDIDATES];
    uint32_t count;
} candidates;

static plan_tune *add(candidates *c, const plan_tune *like) {
    uint32_t i = c->count < CANDIDATES ? c->count++ : CANDIDATES - 1;
    c->list[i] = *like;
    return &c->list[i];
}

/* Every order of the radices that make `rest`, in as many stages as the planner takes or fewer:
 * another stage is another exchange, which never paid. */
static void add_orders(candidates *c, const plan_tune *like, int axis, uint32_t rest, uint32_t at,
                       uint32_t stages) {
    if (rest == 1) {
        add(c, like);
        return;
    }
    if (at == stages) return;
    for (int i = 0; i < LENGTH_RADICES; i++) {
        if (rest % LENGTH_RADIX[i]) continue;
        plan_tune t = *like;
        t.radix[axis][at] = LENGTH_RADIX[i];
        add_orders(c, &t, axis, rest / LENGTH_RADIX[i], at + 1, stages);
    }
}

static void add_radices(candidates *c, const plan *p, int axis) {
    const plan_fft *f = &p->axis[axis].fft;
    plan_tune t = p->ask.tune;
    if (!p->axis[axis].one_pass) return;
    memset(t.radix[axis], 0, sizeof t.radix[axis]);
    add_orders(c, &t, axis, f->length, 0, f->stages);
}

static void first_radices(candidates *c, const plan *p) {
    add_radices(c, p, 0);
}
static void second_radices(candidates *c, const plan *p) {
    add_radices(c, p, 1);
}

/* One butterfly per thread, of any of the stages. */
static void add_threads(candidates *c, const plan *p, int axis) {
    const plan_fft *f = &p->axis[axis].fft;
    if (!p->axis[axis].one_pass) return;
    for (uint32_t s = 0; s < f->stages; s++)
        add(c, &p->ask.tune)->threads[axis] = f->length / f->radix[s];
}

static void first_threads(candidates *c, const plan *p) {
    add_threads(c, p, 0);
}
static void second_threads(candidates *c, const plan *p) {
    add_threads(c, p, 1);
}

static void add_lines(candidates *c, const plan *p, int pass) {
    static const uint32_t LINES[] = {1, 2, 3, 4, 6, 8};
    for (size_t i = 0; i < sizeof LINES / sizeof LINES[0]; i++)
        add(c, &p->ask.tune)->lines[pass] = LINES[i];
}

static void forward_lines(candidates *c, const plan *p) {
    add_lines(c, p, 0);
}
static void convolve_lines(candidates *c, const plan *p) {
    add_lines(c, p, 1);
}
static void inverse_lines(candidates *c, const plan *p) {
    add_lines(c, p, 2);
}

static void tiles_in(candidates *c, const plan *p) {
    for (uint32_t tile = 1; tile <= 8; tile *= 2) add(c, &p->ask.tune)->tile_in = tile;
}

static void tiles(candidates *c, const plan *p) {
    for (uint32_t tile = 1; tile <= 8; tile *= 2) add(c, &p->ask.tune)->tile = tile;
}

static void whole(candidates *c, const plan *p) {
    add(c, &p->ask.tune)->whole = SWITCH_ON;
    add(c, &p->ask.tune)->whole = SWITCH_OFF;
}

static const struct {
    const char *name;
    void (*make)(candidates *c, const plan *p);
} CHOICE[] = {
    {"radices, first axis", first_radices},   {"threads, first axis", first_threads},
    {"lines, forward", forward_lines},        {"lines, inverse", inverse_lines},
    {"radices, second axis", second_radices}, {"threads, second axis", second_threads},
    {"lines, convolve", convolve_lines},      {"whole exchanges", whole},
    {"tiles, forward to convolve", tiles_in}, {"tiles, convolve to inverse", tiles},
};
enum { CHOICES = sizeof CHOICE / sizeof CHOICE[0] };

/* --- trials ---------------------------------------------------------------------------------- */

enum { SEEN = 1024, ROUNDS = 3 };

typedef struct {
    search_result *to;
    search_time *time;
    void *ctx;
    double end;
    hash128 seen[SEEN];
    uint32_t seen_count;
    plan best;
    double seconds;
} searching;

/* What differs between the plans of a search, as text: equal texts are equal plans. */
static hash128 fingerprint(const plan *p) {
    text t = {0};
    text_add(&t, "%u %u %u", p->first, p->tile_in, p->tile);
    for (uint32_t i = 0; i < p->passes; i++) {
        const plan_pass *s = &p->pass[i];
        text_add(&t, "|%u %u %u %d", s->fft.length, s->lines, s->threads, s->whole);
        for (uint32_t r = 0; r < s->fft.stages; r++) text_add(&t, " %u", s->fft.radix[r]);
    }
    hash128 h = hash_bytes(t.s, t.n);
    text_free(&t);
    return h;
}

static bool is_new(searching *s, const plan *p) {
    hash128 h = fingerprint(p);
    for (uint32_t i = 0; i < s->seen_count; i++)
        if (s->seen[i].lo == h.lo && s->seen[i].hi == h.hi) return false;
    if (s->seen_count < SEEN) s->seen[s->seen_count++] = h;
    return true;
}

/* Differences below this are noise. */
static const double GAIN = 0.99;

/* A plan that cannot be made or run is none. */
static bool try_plan(searching *s, const plan_request *ask, search_step *step) {
    plan p;
    double seconds;
    err why = {0};
    if (clock_now() > s->end || !plan_make(&p, ask, NULL) || !is_new(s, &p)) return false;
    step->tried++;
    s->to->tried++;
    if (!s->time(s->ctx, &p, &seconds, &why)) {
        log_debug("%s: %s", step->name, why.msg);
        return false;
    }
    if (!(seconds < GAIN * s->seconds)) return false;
    s->best = p;
    s->seconds = seconds;
    step->better = true;
    return true;
}

static search_step *begin_step(searching *s, const char *name) {
    uint32_t i = s->to->steps < SEARCH_STEPS ? s->to->steps++ : SEARCH_STEPS - 1;
    s->to->step[i] = (search_step){.name = name};
    return &s->to->step[i];
}

/* The planner's own lengths for an order, named, so that another order of radices keeps them. */
static plan_request pinned(const plan *p) {
    plan_request ask = p->ask;
    ask.order = p->first == PLAN_Y ? AXIS_Y : AXIS_X;
    for (int i = 0; i < 2; i++) ask.tune.length[i] = p->axis[i].length;
    return ask;
}

static bool descend(searching *s) {
    bool any = false;
    for (int i = 0; i < CHOICES && clock_now() < s->end; i++) {
        candidates c = {.count = 0};
        search_step *step = begin_step(s, CHOICE[i].name);
        plan from = s->best;
        CHOICE[i].make(&c, &from);
        for (uint32_t k = 0; k < c.count; k++) {
            plan_request ask = from.ask;
            ask.tune = c.list[k];
            any |= try_plan(s, &ask, step);
        }
        step->seconds = s->seconds;
        if (!step->tried) s->to->steps--;
    }
    return any;
}

/* The two orders as the planner makes them. Each is worth a descent of its own where they are
 * near: `other` is the slower one then. */
static bool orders(searching *s, const plan_request *ask, plan *other, bool *near, err *e) {
    plan_request own = pinned(&s->to->own);
    search_step *step = begin_step(s, "axis order");
    double seconds = INFINITY;
    if (!plan_make(&s->best, &own, e) || !s->time(s->ctx, &s->best, &s->seconds, e)) return false;
    is_new(s, &s->best);
    s->to->shape.before = s->seconds;
    if (ask->order == AXIS_AUTO) {
        plan_request swapped = *ask;
        swapped.order = own.order == AXIS_X ? AXIS_Y : AXIS_X;
        plan p = {0};
        bool may = plan_make(&p, &swapped, NULL);
        if (may) swapped = pinned(&p);
        if (may && plan_make(&p, &swapped, NULL) && is_new(s, &p)) {
            step->tried++;
            s->to->tried++;
            if (!s->time(s->ctx, &p, &seconds, NULL)) seconds = INFINITY;
        }
        *other = p;
        if (seconds < s->seconds) {
            *other = s->best;
            s->best = p;
            double slower = s->seconds;
            s->seconds = seconds;
            seconds = slower;
            step->better = true;
        }
        *near = seconds < 1.25 * s->seconds;
    }
    step->seconds = s->seconds;
    return true;
}

/* Both plans again, by turns: the winner of many trials is in part the luckiest one. */
static bool confirm(searching *s, err *e) {
    double own[ROUNDS], best[ROUNDS];
    search_result *to = s->to;
    hash128 a = fingerprint(&to->own), b = fingerprint(&s->best);
    to->shape.after = to->shape.before;
    if (a.lo == b.lo && a.hi == b.hi) return true;
    for (int i = 0; i < ROUNDS; i++)
        if (!s->time(s->ctx, &to->own, &own[i], e) || !s->time(s->ctx, &s->best, &best[i], e))
            return false;
    to->shape.before = measure_spread_of(own, ROUNDS).median;
    to->shape.after = measure_spread_of(best, ROUNDS).median;
    to->better = to->shape.after < GAIN * to->shape.before;
    return true;
}

static bool search(searching *s, const plan_request *ask, double patience, err *e) {
    search_result *to = s->to;
    plan other = {0};
    bool near = false;
    double start = clock_now();
    if (!plan_make(&to->own, ask, e)) return false;
    s->end = start + patience;
    if (!orders(s, ask, &other, &near, e)) return false;
    /* Where the other order comes near it gets the second half of the time. */
    if (near) s->end = start + patience / 2;
    while (descend(s)) continue;
    if (near) {
        plan best = s->best;
        double seconds = s->seconds;
        s->end = start + patience;
        s->best = other;
        s->seconds = INFINITY;
        search_step *step = begin_step(s, "the other axis order");
        if (s->time(s->ctx, &s->best, &s->seconds, NULL)) {
            step->seconds = s->seconds;
            while (descend(s)) continue;
        }
        if (!(s->seconds < GAIN * seconds)) {
            s->best = best;
            s->seconds = seconds;
        }
    }
    bool ok = confirm(s, e);
    to->best = to->better ? s->best : to->own;
    device_tune_name(&to->shape, &to->own);
    to->shape.order = s->best.ask.order;
    to->shape.tune = s->best.ask.tune;
    to->spent = clock_now() - start;
    return ok;
}

bool device_search(search_result *to, const plan_request *ask, double patience, search_time *time,
                   void *ctx, err *e) {
    searching *s = mem_new(1, sizeof *s, "a search", e);
    if (!s) return false;
    *to = (search_result){0};
    s->to = to;
    s->time = time;
    s->ctx = ctx;
    bool ok = search(s, ask, patience, e);
    mem_free(s);
    return ok;
}

/* --- on a device ----------------------------------------------------------------------------- */

typedef struct {
    engine *g;
    void *plane[ENGINE_CHANNELS];
    void *spectrum; /* room for the largest so far */
    size_t room;
    double least;
} device_trials;

/* Of a kernel that leaves nearly all as it is: nothing grows, and nothing is zero. */
static bool fill_spectrum(device_trials *t, spectrum_lines *k, const plan *p, err *e) {
    size_t n = 2 * (size_t)p->halves * p->axis[1].length * p->ask.spectra;
    if (n > t->room) {
        mem_free(t->spectrum);
        t->room = 0;
        if (!(t->spectrum = mem_raw(n, p->sample_bytes, "a spectrum", e))) return false;
        t->room = n;
        for (size_t i = 0; i < n; i++) {
            double v = i % 2 ? 0.001 : 0.999;
            if (p->sample_bytes == 8)
                ((double *)t->spectrum)[i] = v;
            else
                ((float *)t->spectrum)[i] = (float)v;
        }
    }
    *k = (spectrum_lines){.channels = p->ask.spectra,
                          .halves = p->halves,
                          .length = p->axis[1].length,
                          .float64 = p->sample_bytes == 8,
                          .value = t->spectrum};
    return true;
}

static const double WARM_UP = 0.1; /* s of work */

/* Frames that keep a device at work longer than the transfers before them let it wait. */
static uint32_t frames_for(double frame) {
    static const double ENOUGH = 16e-3;
    return (uint32_t)fmin(400, fmax(1, ceil(ENOUGH / fmax(frame, 1e-6))));
}

static bool time_on_device(void *ctx, const plan *p, double *seconds, err *e) {
    device_trials *t = ctx;
    spectrum_lines k;
    double tap[ENGINE_CHANNELS] = {0}, gain[ENGINE_CHANNELS];
    for (int i = 0; i < ENGINE_CHANNELS; i++) gain[i] = 1;
    engine_frame f = {(const void *const *)t->plane, t->plane, tap, gain, NULL, NULL};
    engine_repeat r = {.count = 1};
    if (!fill_spectrum(t, &k, p, e) || !engine_prepare(t->g, p, &k, NULL, e)) return false;
    /* A device that waited for the host has slowed down: an H200 to a fifth. */
    for (double spent = 0; spent < WARM_UP;) {
        if (!engine_time(t->g, &f, &r, e)) return false;
        spent += fmax(2 * r.frame * r.count, 1e-4); /* with stamps and without */
        r.count = frames_for(r.frame);
    }
    double least = r.frame;
    /* What is slow even then needs no second look. */
    for (int i = 0; i < ROUNDS && least < 3 * t->least; i++) {
        r = (engine_repeat){.count = frames_for(least)};
        if (!engine_time(t->g, &f, &r, e)) return false;
        least = fmin(least, r.frame);
    }
    t->least = fmin(t->least, least);
    *seconds = least;
    return true;
}

/* No zeros: chips do those with less power, and so faster. */
static void *make_plane(size_t n, bool wide, err *e) {
    void *plane = mem_raw(n, wide ? 8 : 4, "a plane", e);
    for (size_t i = 0; plane && i < n; i++) {
        double v = (double)(i * 2654435761u % 1000) * 1e-3 + 1e-3;
        if (wide)
            ((double *)plane)[i] = v;
        else
            ((float *)plane)[i] = (float)v;
    }
    return plane;
}

bool device_search_on(search_result *to, const engine_device *d, const plan_request *ask,
                      double patience, par *threads, err *e) {
    device_trials t = {.least = INFINITY};
    size_t n = (size_t)ask->size[PLAN_X] * ask->size[PLAN_Y];
    plan_request here = *ask;
    here.limits = d->limits;
    here.half_input = false; /* a shape is for both, and what comes out goes in again */
    bool ok = d->limits.invocations > 0 ||
              err_set(e, ERR_NO_DEVICE, "%s has no passes whose shape could be tuned", d->name);
    for (uint32_t c = 0; ok && c < ask->channels; c++)
        ok = (t.plane[c] = make_plane(n, ask->precision == PRECISION_FLOAT64, e));
    /* Without the cache: it would keep every candidate's programs. */
    ok = ok && (t.g = engine_open(d, threads, NULL, e));
    ok = ok && device_search(to, &here, patience, time_on_device, &t, e);
    engine_close(&t.g);
    for (int c = 0; c < ENGINE_CHANNELS; c++) mem_free(t.plane[c]);
    mem_free(t.spectrum);
    return ok;
}
