#include "bloom/lease.h"

#include "base/clock.h"
#include "base/mem.h"
#include "bloom/prepare.h"
#include "bloom/promise/core.h"

#include <pthread.h>
#include <string.h>

struct bloom_shared {
    kernel_input kernel; /* never written again */

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t given;
    uint32_t users, leases;
    bool busy[ENGINE_SLOTS];
    engine *engine;
    bool failed; /* the engine has, and is of no use any more */
    engine_device on;
    bloom_ready ready;
};

/* --- users ----------------------------------------------------------------------------------- */

bloom_shared *lease_open(const char *kernel, par *threads, err *e) {
    bloom_shared *s = mem_new(1, sizeof *s, "engine", e);
    if (!s) return NULL;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->given, NULL);
    s->users = 1;
    if (!kernel_input_load(&s->kernel, kernel, threads, e)) lease_leave(&s);
    return s;
}

const kernel_input *lease_kernel(const bloom_shared *s) {
    return &s->kernel;
}

bloom_shared *lease_join(bloom_shared *s) {
    pthread_mutex_lock(&s->lock);
    s->users++;
    pthread_mutex_unlock(&s->lock);
    return s;
}

void lease_leave(bloom_shared **ps) {
    bloom_shared *s = *ps;
    if (!s) return;
    *ps = NULL;
    pthread_mutex_lock(&s->lock);
    bool last = --s->users == 0;
    pthread_mutex_unlock(&s->lock);
    if (!last) return;
    engine_close(&s->engine);
    kernel_input_free(&s->kernel);
    pthread_cond_destroy(&s->given);
    pthread_mutex_destroy(&s->lock);
    mem_free(s);
}

/* --- preparing ------------------------------------------------------------------------------- */

static bool open_engine(bloom_shared *s, const bloom *b, const engine_device *d, err *e) {
    bool same = s->on.class == d->class && s->on.index == d->index;
    if (s->engine && same && !s->failed) return true;
    engine_close(&s->engine);
    s->failed = false;
    s->on = *d;
    s->engine = engine_open(d, b->threads, prepare_folder(b), e);
    return s->engine != NULL;
}

/* What the spectrum at the plan's lengths comes from: the user's .spectrum file where the image
 * needs the kernel as it is in there, else the cache. An exact spectrum needs the taps only. */
static bool find_source(bloom *b, spectrum *to, const psf *k, bool exact, bloom_report *r, err *e) {
    const spectrum *ready = &b->kernel->ready;
    cache_place place = {b->s.cache_dir, b->s.cache_size};
    if (exact) return psf_copy(&to->kernel, k, e);
    if (b->kernel->is_spectrum && psf_same(k, &ready->kernel)) return spectrum_copy(to, ready, e);
    return cache_spectrum(to, k, &place, b->threads, &r->spectrum_cached, e);
}

/* The spectrum at the plan's lengths of what the transform does of the kernel. */
static bool make_lines(bloom *b, spectrum_lines *l, const bloom_ready *ready, bloom_report *r,
                       err *e) {
    const plan *p = &ready->plan;
    bool float64 = p->sample_bytes == 8;
    bool exact = float64 || b->s.spectrum == SPECTRUM_EXACT;
    spectrum source = {0};
    psf rest = {0};
    const psf *k = &b->size.kernel;
    if (ready->core) {
        if (!psf_copy(&rest, k, e)) return false;
        core_cut(&rest, ready->core);
        k = &rest;
    }
    bool ok = find_source(b, &source, k, exact, r, e) &&
              spectrum_at(l, &source, b->s.spectrum, p->first, p->axis[0].length, p->axis[1].length,
                          float64, b->threads, e);
    spectrum_free(&source);
    psf_free(&rest);
    return ok;
}

static bool prepare(bloom_shared *s, bloom *b, const bloom_ready *want, bloom_report *r, err *e) {
    spectrum_lines lines = {0};
    engine_device d;
    engine_options o = {.timestamps = true};
    plan_request ask = prepare_request(b, &b->size.kernel, &b->size.need, want->precision);
    ask.half_input = want->halfs;
    s->ready = *want;
    bool ok = prepare_choice(b, &ask, &s->ready.plan, &d, &o.patience, e) &&
              open_engine(s, b, &d, e);
    double start = clock_now();
    ok = ok && make_lines(b, &lines, &s->ready, r, e);
    r->spectrum_seconds += clock_now() - start;
    o.slots = s->ready.plan.frames;
    ok = ok && engine_prepare(s->engine, &s->ready.plan, &lines, &o, e);
    spectrum_lines_free(&lines);
    s->ready.valid = ok;
    return ok;
}

/* --- taking and giving ----------------------------------------------------------------------- */

static bool is_ready(const bloom_shared *s, const bloom_ready *want) {
    const bloom_ready *is = &s->ready;
    return is->valid && is->precision == want->precision && is->core == want->core &&
           is->halfs == want->halfs && memcmp(&is->need, &want->need, sizeof is->need) == 0;
}

/* ENGINE_SLOTS: none. */
static uint32_t free_slot(const bloom_shared *s) {
    for (uint32_t i = 0; i < s->ready.plan.frames && i < ENGINE_SLOTS; i++)
        if (!s->busy[i]) return i;
    return ENGINE_SLOTS;
}

static bool take(bloom_shared *s, bloom *b, const bloom_ready *want, bloom_report *r, err *e) {
    while (s->leases && !(is_ready(s, want) && free_slot(s) < ENGINE_SLOTS))
        pthread_cond_wait(&s->given, &s->lock);
    if (!is_ready(s, want) && !prepare(s, b, want, r, e)) return false;
    b->slot = free_slot(s);
    b->engine = s->engine;
    b->on = s->on;
    b->ready = s->ready;
    s->busy[b->slot] = true;
    s->leases++;
    return true;
}

bool lease_take(bloom *b, plan_precision precision, uint32_t radius, bool halfs, bloom_report *r,
                err *e) {
    bloom_shared *s = b->shared;
    const bloom_ready want = {
        .need = b->size.need, .precision = precision, .core = radius, .halfs = halfs};
    pthread_mutex_lock(&s->lock);
    bool ok = take(s, b, &want, r, e);
    pthread_mutex_unlock(&s->lock);
    return ok;
}

void lease_give(bloom *b, bool done) {
    bloom_shared *s = b->shared;
    if (!b->engine) return;
    b->engine = NULL;
    pthread_mutex_lock(&s->lock);
    s->busy[b->slot] = false;
    s->leases--;
    if (!done) {
        s->ready.valid = false;
        s->failed = true;
    }
    pthread_cond_broadcast(&s->given);
    pthread_mutex_unlock(&s->lock);
}
