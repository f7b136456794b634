#include "bloom/session.h"

#include "base/clock.h"
#include "base/host.h"
#include "base/log.h"
#include "base/mem.h"
#include "kernel/kernel_field.h"

#include <pthread.h>

struct session {
    /* Set by session_open, const afterwards. */
    bloom_settings s;
    par *threads;
    device_pool *devices;
    kernel_source kernel;
    bool borrowed;       /* the kernel belongs to another session */
    lint_faults faults;  /* of the kernel */
    kernel_sizes *sizes; /* has a lock of its own */

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t there; /* what was expected is there, or not */
    uint32_t expecting;   /* calls of session_expect under way */
    session_lease ahead;  /* what they have come to, for the next lease to tell */
};

/* Opens a session with a kernel, which becomes the session's unless it is borrowed. */
static session *new_session(const bloom_settings *settings, const kernel_source *k, bool borrowed,
                            device_pool *devices, err *e) {
    session *s = mem_new(1, sizeof *s, "session", e);
    if (!s) return NULL;
    s->s = *settings;
    s->devices = devices;
    s->threads = device_pool_threads(devices);
    if (k) s->kernel = *k;
    s->borrowed = borrowed;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->there, NULL);
    return s;
}

static bool open_sizes(session *s, err *e) {
    return (s->sizes = kernel_sizes_open(&s->s, &s->kernel, s->devices, e)) != NULL;
}

uint32_t session_keep(session *s, uint32_t engines) {
    return device_pool_keep(s->devices, engines);
}

session *session_open(const bloom_settings *settings, const char *path, const kernel_source *read,
                      device_pool *devices, err *e) {
    session *s = new_session(settings, read, read != NULL, devices, e);
    if (s && !((read || kernel_field_load(&s->kernel, path, s->threads, e)) &&
               kernel_source_glance(&s->faults, &s->kernel, &s->s.kernel, e) && open_sizes(s, e)))
        session_close(&s);
    if (s && s->kernel.field && s->s.images > 1) {
        const uint32_t nodes = field_nodes(&s->kernel.field->grid), had = session_keep(s, nodes);
        if (had > nodes) session_keep(s, had);
    }
    return s;
}

session *session_open_beside(const session *of, const bloom_settings *settings, err *e) {
    session *s = new_session(settings, &of->kernel, true, of->devices, e);
    if (s) s->faults = of->faults;
    if (s && !open_sizes(s, e)) session_close(&s);
    return s;
}

void session_close(session **ps) {
    OWN_MEM session *s = *ps;
    if (!s) return;
    *ps = NULL;
    kernel_sizes_close(&s->sizes);
    if (!s->borrowed) kernel_source_free(&s->kernel);
    pthread_cond_destroy(&s->there);
    pthread_mutex_destroy(&s->lock);
}

const kernel_source *session_kernel(const session *s) {
    return &s->kernel;
}

const lint_faults *session_faults(const session *s) {
    return &s->faults;
}

kernel_sizes *session_sizes(session *s) {
    return s->sizes;
}

void session_rest(session *s) {
    kernel_sizes_rest(s->sizes);
    device_pool_trim(s->devices);
}

spectrum_request session_spectrum(const bloom_settings *s, engine_class class, const plan *p) {
    enum { SMALL = 32 };
    const bool cpu = class == ENGINE_CPU;
    const uint64_t bytes = (uint64_t)p->ask.spectra * (p->axis[0].length / 2 + 1) *
                           p->axis[1].length * 2 * sizeof(float);
    return (spectrum_request){.mode = s->spectrum,
                              .first = p->first,
                              .length = {p->axis[0].length, p->axis[1].length},
                              .float64 = p->sample_bytes == sizeof(double),
                              .by_lines = cpu && s->images <= 1,
                              .at_once = cpu && s->images > 1 && bytes <= mem_limit() / SMALL};
}

int session_forecast(session *s, const plan_request *ask, bloom_forecasts *to, err *e) {
    device_request r = kernel_at_device(&s->s, ask);
    const device_list *list;
    r.lists_all = to->lists_all;
    r.pixels = to->pixels;
    int best = device_pool_choose(s->devices, to->each, &list, &r, e);
    to->device = list->device;
    to->devices = list->count;
    to->preferred = device_prefer(list, &r);
    return best;
}

/* --- engines --------------------------------------------------------------------------------- */

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
    const spectrum_request ask = session_spectrum(&s->s, l->device.class, p);
    bool exact = ask.float64 || ask.mode == SPECTRUM_EXACT;
    spectrum bare = {.kernel = j->want->size->kernel}, made = {0};
    const spectrum *file = &s->kernel.ready, *source = &bare;
    if (!exact) bare.kernel.rest = NULL; /* a source is of floats, and so is what the cache keeps */
    const cache_place place = {s->s.cache_dir, s->s.cache_size};
    bool ok = true;
    const double start = clock_now();
    if (!exact && s->kernel.is_spectrum && psf_same(&bare.kernel, &file->kernel)) {
        source = file;
    } else if (!exact) {
        ok = cache_spectrum(&made, &bare.kernel, &place, s->threads, e);
        source = &made;
        if ((l->spectrum_cached = made.cached)) l->spectrum_of = psf_hash(&bare.kernel);
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
    if (!choice->possible) return *e = choice->why, false;
    l->device = choice->device;
    l->plan = choice->plan;
    return device_take(&l->at, s->devices, &t, refused, e);
}

/* Returns whether the CPU does what a device of this class has failed to do. */
static bool cpu_stands_in(const session *s, engine_class class) {
    return (!s->s.device || strcmp(s->s.device, "auto") == 0) && class != ENGINE_CPU;
}

static void fall_back(session *s, session_lease *l, const engine_device *d, const err *why) {
    if (device_pool_give_up(s->devices))
        log_warn("device '%s' failed: %s; continuing on the CPU", d->name, why->msg);
    snprintf(l->note, sizeof l->note, "device '%.60s' failed (%.120s); the CPU was used instead",
             d->name, why->msg);
}

/* Takes a slot, on the CPU where a device that `auto` chose has failed. */
static bool take_any(session_lease *l, session *s, const session_want *want, err *e) {
    const kernel_node *node = want->node;
    const device_choice *first = &(node ? &node->decided : &want->size->decided)->way[want->way];
    const bool may = cpu_stands_in(s, first->device.class);
    bool refused;
    err why = {0};
    if (!may || !device_pool_gave_up(s->devices)) {
        if (take_on(l, s, want, first, &refused, &why)) return true;
        if (!refused || !may) return *e = why, false;
        fall_back(s, l, &first->device, &why);
    }
    device_request r = kernel_at_device(&s->s, node ? &node->ask : &want->size->ask);
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
        while (s->expecting) pthread_cond_wait(&s->there, &s->lock);
        par_resume(s->threads);
    }
    tell(l, &s->ahead);
    s->ahead = (session_lease){0};
    pthread_mutex_unlock(&s->lock);
    return take_any(l, s, want, e);
}

bool session_give(session *s, session_lease *l, bool failed, const err *why) {
    device_give(s->devices, &l->at, failed);
    l->at = (device_lease){0};
    bool again = failed && cpu_stands_in(s, l->device.class);
    if (again) fall_back(s, l, &l->device, why);
    return again;
}

/* --- beforehand ------------------------------------------------------------------------------ */

typedef struct {
    session *s;
    const kernel_at *k;
    host of;
} begun_size;

static void *end_beside(void *arg) {
    begun_size *b = arg;
    host_set(b->of);
    par_enter_beside(b->s->threads);
    kernel_sizes_end(b->s->sizes, b->k);
    par_leave(b->s->threads);
    return NULL;
}

/* Makes an engine and, beside it, what the promise needs of a size that is begun. */
static void make_both(session *s, const kernel_at *k, device_way way, session_lease *l) {
    begun_size b = {s, k, *host_here()};
    pthread_t thread;
    err ignored = {0};
    bool beside = pthread_create(&thread, NULL, end_beside, &b) == 0;
    const bool open = way == DEVICE_WAYS;
    const session_want want = {.size = k, .way = open ? WAY_FLOAT32 : way};
    const engine_device *d = &k->decided.way[want.way].device;
    if (open && k->decided.way[want.way].possible && d->class != ENGINE_CPU)
        device_pool_start(s->devices, d, &ignored); /* compiling takes longer than a first image */
    else if (take_any(l, s, &want, &ignored))
        session_give(s, l, false, &ignored);
    if (!beside) kernel_sizes_end(s->sizes, k);
    par_rest(s->threads);
    if (beside) pthread_join(thread, NULL);
    par_resume(s->threads);
}

double session_expect(session *s, const kernel_need *need, plan_planes planes, device_way way) {
    session_lease l = {0};
    pthread_mutex_lock(&s->lock);
    s->expecting++;
    pthread_mutex_unlock(&s->lock);
    const kernel_at *k = kernel_sizes_begin(s->sizes, need, planes);
    if (k) make_both(s, k, way, &l);
    kernel_sizes_give(s->sizes, k);
    pthread_mutex_lock(&s->lock);
    tell(&s->ahead, &l);
    s->expecting--;
    pthread_cond_broadcast(&s->there);
    pthread_mutex_unlock(&s->lock);
    return l.spectrum_seconds;
}

void session_account(bloom_account *to, const session_lease *l, const engine_times *times) {
    account_add(to, &(bloom_account){.plan = l->plan,
                                     .device = l->device,
                                     .times = *times,
                                     .spectrum_seconds = l->spectrum_seconds,
                                     .spectrum_cached = l->spectrum_cached});
}
