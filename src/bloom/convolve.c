#include "bloom/convolve.h"

#include "base/log.h"
#include "bloom/lease.h"
#include "bloom/look.h"
#include "bloom/prepare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ATTEMPTS = 3 };

/* The whole kernel through the transform: a core or bright pixels in space would mend what a
 * bilinear spectrum is there to show. */
static void choose_plain(run *g) {
    double tolerance = g->facts.tolerance;
    g->facts.tolerance = 1e300;
    accuracy_choose(&g->method, &g->facts);
    g->facts.tolerance = tolerance;
    g->method.kept = false;
    g->method.allowed = 0;
}

static accuracy_facts facts_of(const run *g) {
    const bloom_size *s = &g->b->size;
    return (accuracy_facts){.s = &s->spread,
                            .tail = s->tail,
                            .scanned = &g->scanned,
                            .sketch = g->sketched,
                            .dark = g->dark,
                            .tolerance = g->b->s.tolerance,
                            .precision = g->b->s.precision,
                            .points = s->points,
                            .seconds = s->seconds,
                            .seconds64 = s->seconds64};
}

bool convolve_choose(run *g, err *e) {
    g->facts = facts_of(g);
    if (g->b->s.spectrum == SPECTRUM_BILINEAR) {
        choose_plain(g);
        return true;
    }
    accuracy_choose(&g->method, &g->facts);
    if (g->method.kept || g->looked_closely) return true;
    if (!look_closely(g, e)) return false;
    accuracy_choose(&g->method, &g->facts);
    return true;
}

static void load_doubles(run *g, uint32_t c, size_t first, size_t n) {
    finish_excess x = run_excess(g);
    float f[RUN_BLOCK];
    image_to_float(f, *run_plane(g, c), g->type[c], first, n);
    if (!run_spreads_all(g)) finish_excess_row(&x, f, f, n);
    for (size_t i = 0; i < n; i++) ((double *)g->made[c])[first + i] = (double)f[i];
}

/* --- one attempt ----------------------------------------------------------------------------- */

/* Which plane is read, which is written, and where the result goes. */
static bool lay_out(run *g, err *e) {
    bloom *b = g->b;
    bool wide = b->ready.plan.sample_bytes == 8, two = wide || g->method.core;
    if (two && !prepare_planes(b, 1, wide ? sizeof(double) : sizeof(float), e)) return false;
    for (uint32_t c = 0; c < g->n; c++) {
        g->own[c] = g->type[c] == PIXEL_FLOAT && run_spreads_all(g) && !wide &&
                    g->method.below[c] == SCAN_BINS && g->method.exponent[c] == 0;
        void *a = b->plane[0][c];
        g->in[c] = wide ? b->plane[1][c] : g->own[c] ? *run_plane(g, c) : a;
        g->made[c] = wide ? b->plane[1][c] : g->own[c] || !g->method.core ? a : b->plane[1][c];
        g->out[c] = wide ? a : g->made[c];
    }
    return true;
}

static bool fill(run *g, err *e) {
    if (g->b->ready.plan.sample_bytes == 8) return run_blocks(g, load_doubles, e);
    bool missing = !g->loaded;
    for (uint32_t c = 0; c < g->n; c++) /* an image's own plane was never copied */
        missing |= g->type[c] == PIXEL_FLOAT && run_spreads_all(g) && !g->own[c];
    return !missing || run_blocks(g, run_load, e);
}

static bool take_bright(run *g, err *e) {
    for (uint32_t c = 0; c < g->n; c++) {
        bright_free(&g->bright[c]);
        if (g->method.below[c] < SCAN_BINS &&
            !bright_take(&g->bright[c], g->in[c], &g->b->size.spread, g->method.below[c],
                         g->b->threads, e))
            return false;
    }
    return true;
}

static void scale_in(run *g, uint32_t c, size_t first, size_t n) {
    float by = ldexpf(1, g->method.exponent[c]), *v = g->in[c];
    for (size_t i = first; g->method.exponent[c] && i < first + n; i++) v[i] *= by;
}

static bool scale(run *g, err *e) {
    bool any = false;
    for (uint32_t c = 0; c < g->n; c++) any |= g->method.exponent[c] != 0;
    return !any || run_blocks(g, scale_in, e);
}

static bool run_engine(run *g, const engine_source *source, const engine_sink *sink, err *e) {
    double tap[PSF_CHANNELS] = {0}, gain[PSF_CHANNELS];
    for (uint32_t c = 0; c < g->n; c++) gain[c] = 1 - g->b->s.sharpen;
    engine_frame f = {(const void *const *)g->in, g->made, tap, gain, sink, source};
    engine_times times, *sum = &g->r->times;
    engine *made_by = g->b->engine;
    uint32_t slot = g->b->slot;
    if (!engine_submit(made_by, slot, &f, e) || !engine_wait(made_by, slot, &times, e))
        return false;
    sum->upload += times.upload;
    sum->download += times.download;
    sum->total += times.total;
    for (uint32_t i = 0; i < g->b->ready.plan.passes; i++) sum->pass[i] += times.pass[i];
    return true;
}

static void find_light(run *g, uint32_t c) {
    g->light[c] = g->b->size.light[c] && g->scanned.channel[c].least >= 0;
}

static finish_job finish_of(run *g) {
    bool wide = g->b->ready.plan.sample_bytes == 8;
    finish_job j = {.s = &g->b->size.spread,
                    .type = g->type,
                    .excess = run_excess(g),
                    .made = g->made,
                    .wide = wide,
                    .bright = g->bright,
                    .core = &g->core,
                    .ledger = &g->b->size.ledger,
                    .light = g->light,
                    .in = wide ? NULL : (float *const *)g->in,
                    .out = g->out,
                    .glare = g->glare[0] ? g->glare : NULL};
    for (uint32_t c = 0; c < g->n; c++) {
        j.source[c] = *run_plane(g, c);
        j.dark[c] = g->dark[c];
        j.exponent[c] = g->method.exponent[c];
        /* Unless the engine writes over it before the last pass reads it. */
        j.same[c] = !wide && run_spreads_all(g) && g->method.below[c] >= SCAN_BINS &&
                    !j.exponent[c] && (g->b->engine->sinks || g->in[c] != g->made[c]);
    }
    return j;
}

/* Rounding noise below zero is cut off; more than noise would be a mistake of this program. */
static bool is_noise(const run *g) {
    for (uint32_t c = 0; c < g->n; c++)
        if (g->stats[c].negative && !(-g->stats[c].negative_worst <= g->method.noise[c]))
            return false;
    return true;
}

/* The engine and the last pass, in one where the engine can. */
static bool convolve(run *g, err *e) {
    finish_job j = finish_of(g);
    for (uint32_t c = 0; c < g->n; c++) find_light(g, c);
    if (!g->b->engine->sinks)
        return run_engine(g, NULL, NULL, e) && finish_join(g->stats, &j, g->b->threads, e);
    finish *f = finish_open(&j, g->b->threads, e);
    bool ok = f && run_engine(g, NULL, &(engine_sink){finish_row, f}, e);
    finish_close(&f, ok ? g->stats : NULL);
    return ok;
}

static void check(run *g) {
    for (uint32_t c = 0; c < g->n; c++) g->measured[c] = g->stats[c].measured;
    accuracy_check(&g->method, &g->facts, g->measured);
    g->method.kept &= is_noise(g);
    g->b->straight = g->method.kept && !g->looked_closely && g->b->engine->sources &&
                     g->b->s.spectrum != SPECTRUM_BILINEAR;
}

static bool attempt_on_engine(run *g, err *e) {
    core_free(&g->core);
    if (!lay_out(g, e) || !core_make(&g->core, &g->b->size.spread, g->method.core, e) ||
        !fill(g, e) || !take_bright(g, e) || !scale(g, e) || !convolve(g, e))
        return false;
    g->loaded = false; /* it was written over */
    check(g);
    return true;
}

static bool attempt(run *g, err *e) {
    bool ok = lease_take(g->b, g->method.precision, g->method.core, run_gives_halfs(g), g->r, e) &&
              attempt_on_engine(g, e);
    lease_give(g->b, ok);
    return ok;
}

/* Of a result that is not good enough for every pixel that is not 0: perhaps the dark ones are so
 * dark that nothing is promised for them. */
static bool judge_closely(run *g, err *e) {
    if (g->looked_closely) return true;
    if (!look_closely(g, e)) return false;
    accuracy_check(&g->method, &g->facts, g->measured);
    g->method.kept &= is_noise(g);
    return true;
}

/* --- until it can be kept -------------------------------------------------------------------- */

static bool same_method(const accuracy *a, const accuracy *b) {
    return a->precision == b->precision && a->core == b->core &&
           memcmp(a->exponent, b->exponent, sizeof a->exponent) == 0 &&
           memcmp(a->below, b->below, sizeof a->below) == 0;
}

/* The next method after one that failed: from what was measured, or float64 if that would be the
 * same again. False: there is none. */
static bool next_method(run *g) {
    accuracy now = g->method;
    g->facts.measured = g->measured;
    if (now.precision == PRECISION_FLOAT64) return false;
    accuracy_choose(&g->method, &g->facts);
    if (same_method(&g->method, &now) && g->facts.precision == PRECISION_AUTO &&
        isfinite(g->facts.seconds64)) {
        g->facts.precision = PRECISION_FLOAT64;
        accuracy_choose(&g->method, &g->facts);
    }
    bool other = !same_method(&g->method, &now);
    if (!other) g->method = now;
    return other;
}

void convolve_note(run *g, uint32_t attempts) {
    char how[200];
    bloom_promise *p = &g->r->promise;
    accuracy_text(&g->method, how, sizeof how);
    const char *channel = run_name(g, g->method.channel);
    log_info("channel '%s': %s", channel, how);
    if (!g->method.kept && g->b->s.spectrum != SPECTRUM_BILINEAR)
        log_warn("channel '%s': the tolerance of %g is not kept: %s", channel, g->b->s.tolerance,
                 how);
    bool first = g->r->groups == 0;
    if (attempts > p->attempts) p->attempts = attempts;
    if (!first && (p->method.kept < g->method.kept ||
                   (p->method.kept == g->method.kept &&
                    p->method.floor * g->method.allowed > g->method.floor * p->method.allowed)))
        return;
    p->method = g->method;
    snprintf(p->channel, sizeof p->channel, "%s", channel);
}

bool convolve_group(run *g, err *e) {
    if (!convolve_choose(g, e)) return false;
    bool promised = g->b->s.spectrum != SPECTRUM_BILINEAR;
    for (uint32_t i = 1;; i++) {
        if (!attempt(g, e)) return false;
        if (!g->method.kept && promised && !judge_closely(g, e)) return false;
        if (g->method.kept || !promised || i == ATTEMPTS || !next_method(g)) {
            convolve_note(g, i);
            break;
        }
        log_debug("channel '%s': errors may be %g, %g is allowed: another way",
                  run_name(g, g->method.channel), g->method.floor, g->method.allowed);
    }
    if (promised && !is_noise(g))
        return err_set(e, ERR_INTERNAL,
                       "the glare has values down to %g where it cannot be below zero, more than "
                       "the predicted noise of %g: a mistake of this program; please report it",
                       g->stats[0].negative_worst, g->method.noise[0]);
    return true;
}

/* --- in one go ------------------------------------------------------------------------------- */

typedef struct {
    run *g;
    scanner *scanner;
} straight;

static const float *read_rows(void *ctx, uint32_t channel, uint32_t first, int worker) {
    const straight *s = ctx;
    return scan_strip(s->scanner, channel, first, worker);
}

/* Channels that were not read yet count as dark, and keep any promise. */
static bool read_plane(void *ctx, uint32_t c) {
    const straight *s = ctx;
    run *g = s->g;
    accuracy plain = g->method;
    scan_plane(s->scanner, c);
    find_light(g, c);
    g->sum[c] = g->scanned.channel[c].sum;
    if (!sketch_make(&g->sketched[c], &g->b->size.sketch, &g->scanned, c, NULL)) return false;
    g->facts = facts_of(g);
    accuracy_choose(&g->method, &g->facts);
    return g->method.kept && same_method(&g->method, &plain);
}

/* The engine's error is of no interest: what it is, the usual way will meet it again. */
static bool read_and_convolve(run *g) {
    const void *plane[RUN_CHANNELS];
    for (uint32_t c = 0; c < g->n; c++) plane[c] = *run_plane(g, c);
    scan_request ask = {.w = g->b->size.need.w,
                        .h = g->b->size.need.h,
                        .channels = g->n,
                        .plane = plane,
                        .type = g->type,
                        .block = g->b->size.sketch.block};
    finish_job j = finish_of(g);
    for (uint32_t c = 0; c < g->n; c++) j.same[c] = false; /* no plane is copied for the engine */
    straight s = {g, scan_open(&g->scanned, &ask, g->b->threads, NULL)};
    finish *f = s.scanner ? finish_open(&j, g->b->threads, NULL) : NULL;
    engine_source source = {read_rows, read_plane, &s};
    bool ok = f && run_engine(g, &source, &(engine_sink){finish_row, f}, NULL);
    finish_close(&f, ok ? g->stats : NULL);
    scan_close(&s.scanner);
    return ok;
}

/* Blooms that share the engine may have prepared it otherwise meanwhile. */
static bool straight_on_engine(run *g, bool *done, err *e) {
    if (!g->b->engine->sources) return true;
    if (!prepare_planes(g->b, 0, sizeof(float), e) || !lay_out(g, e) ||
        !core_make(&g->core, &g->b->size.spread, 0, e))
        return false;
    if (!read_and_convolve(g)) return true;
    check(g);
    if (g->method.kept) convolve_note(g, 1);
    *done = g->method.kept;
    return true;
}

bool convolve_straight(run *g, bool *done, err *e) {
    if (!g->b->straight || !look_is_enough(g)) return true;
    g->method = (accuracy){.precision = PRECISION_FLOAT32};
    for (uint32_t c = 0; c < PSF_CHANNELS; c++) g->method.below[c] = SCAN_BINS;
    bool ok = lease_take(g->b, PRECISION_FLOAT32, 0, run_gives_halfs(g), g->r, e) &&
              straight_on_engine(g, done, e);
    lease_give(g->b, ok);
    return ok;
}
