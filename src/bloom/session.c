#include "bloom/session.h"

#include "base/clock.h"
#include "base/host.h"
#include "base/log.h"
#include "base/mem.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* The number of sizes kept while no thread uses them: the parts of a file may take turns. */
enum { KEPT_SIZES = 4 };

/* A size, or the attempt to make one. */
typedef struct size_entry {
    session_size size; /* first, so that a size's address is its entry's */
    bool making;       /* by a thread that works without the lock */
    err why;           /* it could not be made */
    uint32_t users;    /* threads that make it, wait for it or have it */
    struct size_entry *next;
} size_entry;

struct session {
    /* Set by session_open, const afterwards. */
    bloom_settings s;
    par *threads;
    device_pool *devices;
    kernel_source kernel;
    bool borrowed;           /* the kernel belongs to another session */
    char faults[LINT_WORDS]; /* of the kernel, in words; "": none */

    atomic_flag told; /* the log has said that the primaries of kernel or image are not known */

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t made;  /* a size has been made, or not; what was expected is there, or not */
    size_entry *sizes;    /* the last used one first */
    uint32_t expecting;   /* calls of session_expect under way */
    session_lease ahead;  /* what they have come to, for the next lease to tell */
};

/* --- opening --------------------------------------------------------------------------------- */

static session *new_session(const bloom_settings *settings, device_pool *devices, err *e) {
    session *s = mem_new(1, sizeof *s, "session", e);
    if (!s) return NULL;
    s->s = *settings;
    s->devices = devices;
    s->threads = device_pool_threads(devices);
    atomic_flag_clear(&s->told);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->made, NULL);
    return s;
}

session *session_open(const bloom_settings *settings, const char *path, const kernel_source *read,
                      device_pool *devices, err *e) {
    session *s = new_session(settings, devices, e);
    if (!s) return NULL;
    s->borrowed = read != NULL;
    if (read) s->kernel = *read;
    bool ok = read || kernel_source_load(&s->kernel, path, s->threads, e);
    if (ok && !s->kernel.is_spectrum) {
        const psf_planes taps = kernel_source_planes(&s->kernel);
        ok = lint_glance(s->faults, &taps, s->s.kernel.center != PSF_MIDDLE, e);
    }
    if (!ok) session_close(&s);
    return s;
}

session *session_open_beside(const session *of, const bloom_settings *settings, err *e) {
    session *s = new_session(settings, of->devices, e);
    if (!s) return NULL;
    s->kernel = of->kernel;
    memcpy(s->faults, of->faults, sizeof s->faults);
    s->borrowed = true;
    return s;
}

static void free_size(size_entry *n) {
    psf_free(&n->size.kernel);
    tail_free(&n->size.tail);
    ledger_spill_free(&n->size.ledger);
    mem_free(n);
}

void session_close(session **ps) {
    session *s = *ps;
    if (!s) return;
    *ps = NULL;
    while (s->sizes) {
        size_entry *n = s->sizes;
        s->sizes = n->next;
        free_size(n);
    }
    if (!s->borrowed) kernel_source_free(&s->kernel);
    pthread_cond_destroy(&s->made);
    pthread_mutex_destroy(&s->lock);
    mem_free(s);
}

const kernel_source *session_kernel(const session *s) {
    return &s->kernel;
}

const char *session_faults(const session *s) {
    return s->faults;
}

/* --- device and plan ------------------------------------------------------------------------- */

plan_request session_request(const bloom_settings *s, const psf *k, const kernel_need *need,
                             plan_planes planes) {
    return (plan_request){.size = {need->w, need->h},
                          .reach_lo = {k->cx, k->cy},
                          .reach_hi = {k->w - 1 - k->cx, k->h - 1 - k->cy},
                          .border = {s->border[PLAN_X], s->border[PLAN_Y]},
                          .order = s->order,
                          .channels = need->channels,
                          .spectra = k->channels,
                          .symmetric = psf_is_symmetric(k),
                          .planes = planes,
                          .frames = s->slots};
}

uint64_t session_bytes(const plan_request *ask) {
    enum { TIMES = 4 };
    uint64_t taps = sizeof(float) * ask->spectra;
    for (int a = 0; a < PLAN_AXES; a++) taps *= (uint64_t)ask->reach_lo[a] + 1 + ask->reach_hi[a];
    return TIMES * mem_rounded(taps);
}

static bool is_auto(const session *s) {
    return !s->s.device || strcmp(s->s.device, "auto") == 0;
}

static device_request request_of(const session *s, const plan_request *ask) {
    /* A GPU computes one frame at a time, while others travel there and back. */
    return (device_request){.want = s->s.device,
                            .images = s->s.images,
                            .vram_limit = s->s.vram_limit,
                            .gpu_frames = 4,
                            .ask = *ask};
}

int session_forecast(session *s, const plan_request *ask, bloom_forecasts *to, err *e) {
    device_request r = request_of(s, ask);
    const device_list *list;
    r.every = to->every;
    r.pixels = to->pixels;
    int best = device_pool_choose(s->devices, to->each, &list, &r, e);
    to->device = list->device;
    to->devices = list->count;
    return best;
}

/* --- sizes ----------------------------------------------------------------------------------- */

static const char *title_of(const primaries *p) {
    const primaries_row *row = primaries_like(p);
    return row ? row->title : "other primaries";
}

/* Says how the colours of the kernel and the image go together, and in the log once what may
 * surprise. */
static void compare_colours(session *s, session_size *size) {
    const primaries to = primaries_from_floats(size->need.primaries);
    const char *kernel = title_of(&s->kernel.is), *image_is = title_of(&to);
    kernel_colours how = kernel_source_colours(&s->kernel, &size->need);
    if (how == KERNEL_AGREES) return;
    if (how == KERNEL_CONVERTED)
        snprintf(size->colours, sizeof size->colours,
                 "the kernel is converted from %s to the image's %s", kernel, image_is);
    else if (how == KERNEL_UNKNOWN)
        snprintf(size->colours, sizeof size->colours,
                 "the kernel does not say its primaries; they are taken to be the image's, %s",
                 image_is);
    else
        snprintf(size->colours, sizeof size->colours,
                 "the image does not say its primaries; they are taken to be the kernel's, %s",
                 kernel);
    if (how != KERNEL_CONVERTED && !atomic_flag_test_and_set(&s->told))
        log_note("%s", size->colours);
}

/* Makes what an engine needs of a size, whose `need` is set: the kernel, and where each transform
 * runs. full: of the kernel's sums. */
static bool make_kernel(session *s, session_size *size, double full[PSF_CHANNELS], err *e) {
    const kernel_use use = bloom_kernel_use(&s->s);
    if (!kernel_source_psf(&size->kernel, &s->kernel, &use, &size->need, full, e)) return false;
    size->hash = psf_hash(&size->kernel);
    compare_colours(s, size);
    /* Doubles may be impossible; floats must not be, unless doubles are asked for. */
    plan_request ask = session_request(&s->s, &size->kernel, &size->need, size->planes);
    device_request r = request_of(s, &ask);
    device_pool_decide(s->devices, &size->decided, &r);
    bool doubles = s->s.precision == PRECISION_FLOAT64;
    const device_choice *needed = &size->decided.way[doubles ? WAY_FLOAT64 : WAY_FLOAT32];
    if (!needed->possible) *e = needed->why;
    return needed->possible;
}

/* Makes what is known of a kernel, of its tail alone: the ledger of all, the sums of one after the
 * other. */
static bool make_part(void *ctx, size_t index, int worker, err *e) {
    session_size *size = ctx;
    (void)worker;
    if (index == 0) return ledger_spill_make(&size->ledger, &size->tail, e);
    uint32_t c = (uint32_t)index - 1;
    size->nonnegative[c] = tail_is_nonnegative(&size->tail, c);
    size->sums[c] = tail_sums(&size->tail, c);
    return true;
}

/* Makes what the promise needs of a size whose kernel is made. */
static bool make_tail(session *s, session_size *size, const double full[PSF_CHANNELS], err *e) {
    plan_request ask = session_request(&s->s, &size->kernel, &size->need, size->planes);
    bool resampled = s->s.spectrum == SPECTRUM_RESAMPLED;
    tail_request tail_ask = {&size->kernel, full, size->need.sharpen, resampled, &ask};
    if (!tail_make(&size->tail, &tail_ask, e) ||
        !par_for(s->threads, (size_t)size->tail.kernels + 1, make_part, size, e))
        return false;
    for (uint32_t c = size->tail.kernels; c < size->need.channels; c++) { /* one serves all */
        size->nonnegative[c] = size->nonnegative[0];
        size->sums[c] = size->sums[0];
    }
    return true;
}

/* Moves the entry to the front and counts its user; with the lock held, as all that follows. */
static size_entry *find_size(session *s, const kernel_need *need, plan_planes planes) {
    for (size_entry **at = &s->sizes; *at; at = &(*at)->next) {
        size_entry *n = *at;
        if (n->why.code || memcmp(&n->size.need, need, sizeof *need) != 0 ||
            memcmp(&n->size.planes, &planes, sizeof planes) != 0)
            continue;
        *at = n->next;
        n->next = s->sizes;
        n->users++;
        return s->sizes = n;
    }
    return NULL;
}

/* Drops what nobody uses, but for `most` sizes. */
static void drop_unused(session *s, int most) {
    int kept = 0;
    for (size_entry **at = &s->sizes; *at;) {
        size_entry *n = *at;
        if (n->users || (!n->why.code && kept++ < most)) {
            at = &n->next;
        } else {
            *at = n->next;
            free_size(n);
        }
    }
}

/* Adds a size that its only user is to make. */
static size_entry *add_size(session *s, const kernel_need *need, plan_planes planes, err *e) {
    size_entry *n = mem_new(1, sizeof *n, "kernel", e);
    if (!n) return NULL;
    *n = (size_entry){
        .size = {.need = *need, .planes = planes}, .making = true, .users = 1, .next = s->sizes};
    return s->sizes = n;
}

/* Ends the making of a size, which has failed unless `why` is empty. */
static void end_size(session *s, size_entry *n, const err *why) {
    n->making = false;
    n->why = *why;
    pthread_cond_broadcast(&s->made);
}

const session_size *session_size_take(session *s, const kernel_need *need, plan_planes planes,
                                      err *e) {
    pthread_mutex_lock(&s->lock);
    size_entry *n = find_size(s, need, planes);
    if (!n && (n = add_size(s, need, planes, e))) { /* others wait for it without the lock */
        err why = {0};
        double full[PSF_CHANNELS];
        pthread_mutex_unlock(&s->lock);
        if (make_kernel(s, &n->size, full, &why)) make_tail(s, &n->size, full, &why);
        pthread_mutex_lock(&s->lock);
        end_size(s, n, &why);
    }
    if (n && n->making) {
        par_rest(s->threads);
        while (n->making) pthread_cond_wait(&s->made, &s->lock);
        par_resume(s->threads);
    }
    if (n && n->why.code) {
        *e = n->why;
        n->users--;
        n = NULL;
    }
    drop_unused(s, KEPT_SIZES);
    pthread_mutex_unlock(&s->lock);
    return n ? &n->size : NULL;
}

void session_size_give(session *s, const session_size *size) {
    if (!size) return;
    pthread_mutex_lock(&s->lock);
    for (size_entry *n = s->sizes; n; n = n->next)
        if (&n->size == size) n->users--;
    pthread_mutex_unlock(&s->lock);
}

void session_rest(session *s) {
    pthread_mutex_lock(&s->lock);
    drop_unused(s, 0);
    pthread_mutex_unlock(&s->lock);
    device_pool_trim(s->devices);
}

/* --- engines --------------------------------------------------------------------------------- */

/* What a spectrum is made for. */
typedef struct {
    session_lease *l;
    session *s;
    const session_want *want;
} lines_job;

/* The spectrum at the plan's lengths. It comes from the user's .spectrum file where that holds this
 * very kernel, else from the cache. An exact spectrum is made from the taps alone. */
static bool make_lines(void *ctx, spectrum_lines *to, const plan *p, err *e) {
    const lines_job *j = ctx;
    session *s = j->s;
    session_lease *l = j->l;
    const spectrum_request ask = {.mode = s->s.spectrum,
                                  .first = p->first,
                                  .length = {p->axis[0].length, p->axis[1].length},
                                  .float64 = p->sample_bytes == 8};
    bool exact = ask.float64 || ask.mode == SPECTRUM_EXACT;
    psf kernel = j->want->size->kernel;
    if (!exact) kernel.rest = NULL; /* a source is of floats, and so is what the cache keeps */
    const psf *k = &kernel;
    const spectrum bare = {.kernel = *k}, *file = &s->kernel.ready, *source = &bare;
    spectrum made = {0};
    cache_place place = {s->s.cache_dir, s->s.cache_size};
    bool ok = true;
    double start = clock_now();
    if (!exact && s->kernel.is_spectrum && psf_same(k, &file->kernel)) {
        source = file;
    } else if (!exact) {
        ok = cache_spectrum(&made, k, &place, s->threads, e), l->spectrum_cached = made.cached;
        l->spectrum_of = made.cached ? psf_hash(k) : l->spectrum_of;
        source = &made;
    }
    ok = ok && spectrum_at(to, source, &ask, s->threads, e);
    spectrum_free(&made);
    l->spectrum_seconds += clock_now() - start;
    return ok;
}

/* Takes a slot on the device of `choice`. */
static bool take_on(session_lease *l, session *s, const session_want *want,
                    const device_choice *choice, bool *refused, err *e) {
    lines_job j = {l, s, want};
    const uint64_t made_of[] = {want->size->hash.lo, want->size->hash.hi, s->s.spectrum};
    const device_task t = {.kernel = hash_bytes(made_of, sizeof made_of),
                           .on = choice,
                           .spectra = make_lines,
                           .ctx = &j};
    *refused = false;
    if (!choice->possible) {
        *e = choice->why;
        return false;
    }
    l->device = choice->device;
    l->plan = choice->plan;
    return device_take(&l->at, s->devices, &t, refused, e);
}

/* Returns whether the CPU does what a device of this class has failed to do. */
static bool cpu_stands_in(const session *s, engine_class class) {
    return is_auto(s) && class != ENGINE_CPU;
}

static void fall_back(session *s, session_lease *l, const engine_device *d, const err *why) {
    if (device_pool_give_up(s->devices))
        log_warn("device '%s' failed: %s; continuing on the CPU", d->name, why->msg);
    snprintf(l->note, sizeof l->note, "device '%.60s' failed (%.120s); the CPU was used instead",
             d->name, why->msg);
}

/* Takes a slot, on the CPU where a device that `auto` chose has failed. */
static bool take_any(session_lease *l, session *s, const session_want *want, err *e) {
    const device_choice *first = &want->size->decided.way[want->way];
    engine_class class = first->device.class;
    bool refused, auto_failed = is_auto(s) && device_pool_gave_up(s->devices);
    err why = {0};
    if (!auto_failed || class == ENGINE_CPU) {
        if (take_on(l, s, want, first, &refused, &why)) return true;
        if (!refused || !cpu_stands_in(s, class)) {
            *e = why;
            return false;
        }
        fall_back(s, l, &first->device, &why);
    }
    const session_size *size = want->size;
    plan_request ask = session_request(&s->s, &size->kernel, &size->need, size->planes);
    device_request r = request_of(s, &ask);
    device_decision instead;
    r.want = "cpu";
    device_pool_decide(s->devices, &instead, &r);
    return take_on(l, s, want, &instead.way[want->way], &refused, e);
}

/* Adds what another lease tells of its spectrum and its device. */
static void tell(session_lease *l, const session_lease *other) {
    l->spectrum_seconds += other->spectrum_seconds;
    if (other->note[0]) memcpy(l->note, other->note, sizeof l->note);
    if (!other->spectrum_cached) return;
    l->spectrum_cached = true;
    l->spectrum_of = other->spectrum_of;
}

bool session_take(session_lease *l, session *s, const session_want *want, err *e) {
    pthread_mutex_lock(&s->lock);
    if (s->expecting) {
        par_rest(s->threads);
        while (s->expecting) pthread_cond_wait(&s->made, &s->lock);
        par_resume(s->threads);
    }
    tell(l, &s->ahead);
    s->ahead = (session_lease){0};
    pthread_mutex_unlock(&s->lock);
    return take_any(l, s, want, e);
}

bool session_give(session *s, session_lease *l, bool failed, const err *why) {
    device_give(s->devices, &l->at, failed);
    bool again = failed && cpu_stands_in(s, l->device.class);
    if (again) fall_back(s, l, &l->device, why);
    return again;
}

/* --- beforehand ------------------------------------------------------------------------------ */

/* A size whose kernel is made. */
typedef struct {
    session *s;
    size_entry *n;
    double full[PSF_CHANNELS];
    host of;
} begun_size;

static void end_begun(begun_size *b) {
    err why = {0};
    make_tail(b->s, &b->n->size, b->full, &why);
    pthread_mutex_lock(&b->s->lock);
    end_size(b->s, b->n, &why);
    pthread_mutex_unlock(&b->s->lock);
}

static void *end_beside(void *arg) {
    begun_size *b = arg;
    host_set(b->of);
    par_enter_beside(b->s->threads);
    end_begun(b);
    par_leave(b->s->threads);
    return NULL;
}

/* Makes a size and, beside what the promise needs of it, an engine. */
static void make_both(session *s, size_entry *n, device_way way, session_lease *l) {
    begun_size b = {s, n, {0}, *host_here()};
    pthread_t thread;
    err why = {0}, ignored = {0};
    if (!make_kernel(s, &n->size, b.full, &why)) {
        pthread_mutex_lock(&s->lock);
        end_size(s, n, &why);
        pthread_mutex_unlock(&s->lock);
        return;
    }
    bool beside = pthread_create(&thread, NULL, end_beside, &b) == 0;
    const session_want want = {.size = &n->size, .way = way};
    if (take_any(l, s, &want, &ignored)) session_give(s, l, false, &ignored);
    if (!beside) end_begun(&b);
    par_rest(s->threads);
    if (beside) pthread_join(thread, NULL);
    par_resume(s->threads);
}

double session_expect(session *s, const kernel_need *need, plan_planes planes, device_way way) {
    session_lease l = {0};
    pthread_mutex_lock(&s->lock);
    size_entry *n = find_size(s, need, planes), *found = n;
    if (!n) n = add_size(s, need, planes, NULL);
    s->expecting++;
    pthread_mutex_unlock(&s->lock);
    if (n && !found) make_both(s, n, way, &l);
    pthread_mutex_lock(&s->lock);
    tell(&s->ahead, &l);
    if (n) n->users--;
    s->expecting--;
    pthread_cond_broadcast(&s->made);
    pthread_mutex_unlock(&s->lock);
    return l.spectrum_seconds;
}
