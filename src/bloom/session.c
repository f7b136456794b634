#include "bloom/session.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "bloom/promise/core.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* The number of sizes kept while no thread uses them: the parts of a file may take turns. */
enum { KEPT_SIZES = 4 };

typedef struct size_entry {
    session_size size; /* first, so that a size's address is its entry's */
    uint32_t users;
    struct size_entry *next;
} size_entry;

/* What the engine is prepared for. */
typedef struct {
    bool valid;
    kernel_need need;
    device_way way;
    uint32_t core;
    plan plan;
} prepared;

struct session {
    /* Set by session_open, const afterwards. */
    bloom_settings s;
    par *threads;
    kernel_source kernel;
    char folder[CACHE_PATH]; /* the cache; "": there is none */

    /* `lock` guards all fields below, with two exceptions: the thread that is `making` and the
     * thread that prepares the engine work without it, each on the fields that are its own then.
     * `changed` is signalled after each change. */
    pthread_mutex_t lock;
    pthread_cond_t changed;

    bool making; /* a thread makes a size or lists devices; `devices` and `told` are its own */
    bool told;   /* the log has said that the primaries of kernel or image are not known */
    device_list devices; /* filled when a size is first made */
    size_entry *sizes;   /* the last used one first */

    /* Threads take the engine in the order of their tickets. While `leases` is 0, the thread with
     * the ticket `serving` may prepare the engine; the four fields after these are its own then. */
    uint64_t next_ticket, serving;
    engine *engine;   /* NULL until it is first needed */
    engine_device on; /* the device that it was opened on */
    prepared ready;
    bool failed; /* the engine must be opened again */

    uint32_t leases;         /* slots taken */
    bool busy[ENGINE_SLOTS]; /* which ones */
    bool on_cpu;             /* a GPU failed, and the CPU took over */
};

static const char *cache_folder(const session *s) {
    return s->folder[0] ? s->folder : NULL;
}

/* --- opening --------------------------------------------------------------------------------- */

session *session_open(const bloom_settings *settings, const char *kernel, par *threads, err *e) {
    session *s = mem_new(1, sizeof *s, "session", e);
    if (!s) return NULL;
    s->s = *settings;
    s->threads = threads;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    if (!cache_path(s->folder, settings->cache_dir)) s->folder[0] = 0;
    s->devices = (device_list){.threads = par_threads(threads), .cache_dir = cache_folder(s)};
    if (!kernel_source_load(&s->kernel, kernel, threads, e)) session_close(&s);
    return s;
}

static void free_size(size_entry *n) {
    psf_free(&n->size.kernel);
    tail_free(&n->size.tail);
    sketch_kernel_free(&n->size.sketch);
    ledger_kernel_free(&n->size.ledger);
    for (int a = 0; a < PLAN_AXES; a++) mem_free(n->size.seen[a]);
    mem_free(n);
}

void session_close(session **ps) {
    session *s = *ps;
    if (!s) return;
    *ps = NULL;
    engine_close(&s->engine);
    while (s->sizes) {
        size_entry *n = s->sizes;
        s->sizes = n->next;
        free_size(n);
    }
    kernel_source_free(&s->kernel);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    mem_free(s);
}

const kernel_source *session_kernel(const session *s) {
    return &s->kernel;
}

static void begin_making(session *s) {
    par_rest(s->threads);
    pthread_mutex_lock(&s->lock);
    while (s->making) pthread_cond_wait(&s->changed, &s->lock);
    s->making = true;
    pthread_mutex_unlock(&s->lock);
    par_resume(s->threads);
}

static void end_making(session *s) {
    pthread_mutex_lock(&s->lock);
    s->making = false;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

/* --- device and plan ------------------------------------------------------------------------- */

plan_request session_request(const bloom_settings *s, const psf *k, const kernel_need *need) {
    return (plan_request){.size = {need->w, need->h},
                          .reach_lo = {k->cx, k->cy},
                          .reach_hi = {k->w - 1 - k->cx, k->h - 1 - k->cy},
                          .border = {s->border[PLAN_X], s->border[PLAN_Y]},
                          .order = s->order,
                          .channels = need->channels,
                          .spectra = k->channels,
                          .symmetric = psf_is_symmetric(k),
                          .tapless = true,
                          .frames = s->slots};
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
    begin_making(s);
    device_list_fill(&s->devices, r.want);
    int best = device_choose(to->each, &s->devices, &r, e);
    to->device = s->devices.device;
    to->devices = s->devices.count;
    end_making(s);
    return best;
}

/* --- sizes ----------------------------------------------------------------------------------- */

static const char *title_of(const primaries *p) {
    const primaries_row *row = primaries_like(p);
    return row ? row->title : "other primaries";
}

/* Says how the colours of the kernel and the image go together, and in the log once what may
 * surprise. The caller is making. */
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
    if (how != KERNEL_CONVERTED && !s->told) log_note("%s", size->colours);
    s->told |= how != KERNEL_CONVERTED;
}

/* Fills the size, whose `need` is set. The caller is making. */
static bool make_size(session *s, session_size *size, err *e) {
    double full[PSF_CHANNELS];
    const kernel_use use = bloom_kernel_use(&s->s);
    if (!kernel_source_psf(&size->kernel, &s->kernel, &use, &size->need, full, e)) return false;
    compare_colours(s, size);
    plan_request ask = session_request(&s->s, &size->kernel, &size->need);
    bool resampled = s->s.spectrum == SPECTRUM_RESAMPLED;
    tail_request tail_ask = {&size->kernel, full, size->need.sharpen, resampled, &ask};
    if (!tail_make(&size->tail, &tail_ask, e)) return false;
    for (uint32_t c = 0; c < size->need.channels; c++) {
        bool same = c > 0 && size->tail.kernels == 1;
        size->nonnegative[c] = same ? size->nonnegative[0] : tail_is_nonnegative(&size->tail, c);
        if (same)
            memcpy(size->sums[c], size->sums[0], sizeof size->sums[c]);
        else
            tail_sums(size->sums[c], &size->tail, c, CORE_RADII, CORES);
    }
    for (int a = 0; a < PLAN_AXES; a++) {
        const border_axis *axis = &size->tail.axis[a];
        size->seen[a] = mem_raw(axis->extent, sizeof(uint32_t), "border", e);
        if (!size->seen[a]) return false;
        for (uint32_t i = 0; i < axis->extent; i++) size->seen[a][i] = border_count(axis, i);
    }
    if (!sketch_kernel_make(&size->sketch, &size->tail, e) ||
        !ledger_kernel_make(&size->ledger, &size->tail, e))
        return false;
    /* Doubles may be impossible; floats must not be, unless doubles are asked for. */
    device_request r = request_of(s, &ask);
    device_decide(&size->decided, &s->devices, &r);
    bool doubles = s->s.precision == PRECISION_FLOAT64;
    const device_choice *needed = &size->decided.way[doubles ? WAY_FLOAT64 : WAY_FLOAT32];
    if (!needed->possible) *e = needed->why;
    return needed->possible;
}

/* Moves the entry to the front and counts its user; with the lock held. */
static size_entry *find_size(session *s, const kernel_need *need) {
    for (size_entry **at = &s->sizes; *at; at = &(*at)->next) {
        size_entry *n = *at;
        if (memcmp(&n->size.need, need, sizeof *need) != 0) continue;
        *at = n->next;
        n->next = s->sizes;
        n->users++;
        return s->sizes = n;
    }
    return NULL;
}

static void drop_unused(session *s) {
    int kept = 0;
    for (size_entry **at = &s->sizes; *at;) {
        size_entry *n = *at;
        if (n->users || kept++ < KEPT_SIZES) {
            at = &n->next;
        } else {
            *at = n->next;
            free_size(n);
        }
    }
}

const session_size *session_size_take(session *s, const kernel_need *need, err *e) {
    begin_making(s);
    pthread_mutex_lock(&s->lock);
    size_entry *n = find_size(s, need);
    pthread_mutex_unlock(&s->lock);
    if (!n && (n = mem_new(1, sizeof *n, "kernel", e))) {
        n->size.need = *need;
        n->users = 1;
        if (!make_size(s, &n->size, e)) {
            free_size(n);
            n = NULL;
        }
        pthread_mutex_lock(&s->lock);
        if (n) {
            n->next = s->sizes;
            s->sizes = n;
        }
        drop_unused(s);
        pthread_mutex_unlock(&s->lock);
    }
    end_making(s);
    return n ? &n->size : NULL;
}

void session_size_give(session *s, const session_size *size) {
    if (!size) return;
    pthread_mutex_lock(&s->lock);
    for (size_entry *n = s->sizes; n; n = n->next)
        if (&n->size == size) n->users--;
    pthread_mutex_unlock(&s->lock);
}

/* --- the engine ------------------------------------------------------------------------------ */

static bool open_engine(session *s, const engine_device *d, err *e) {
    bool same = s->on.class == d->class && s->on.index == d->index;
    if (s->engine && same && !s->failed) return true;
    engine_close(&s->engine);
    s->failed = false;
    s->on = *d;
    s->engine = engine_open(d, s->threads, cache_folder(s), e);
    return s->engine != NULL;
}

/* The spectrum at the plan's lengths, of the kernel without its core. It comes from the user's
 * .spectrum file where that holds this very kernel, else from the cache. An exact spectrum is made
 * from the taps alone. */
static bool make_lines(spectrum_lines *to, session_lease *l, session *s, const session_size *size,
                       err *e) {
    const plan *p = &s->ready.plan;
    const spectrum_request want = {.mode = s->s.spectrum,
                                   .first = p->first,
                                   .length = {p->axis[0].length, p->axis[1].length},
                                   .float64 = p->sample_bytes == 8};
    bool exact = want.float64 || want.mode == SPECTRUM_EXACT;
    spectrum source = {0};
    psf rest = {0};
    const psf *k = &size->kernel;
    const spectrum *file = &s->kernel.ready;
    cache_place place = {s->s.cache_dir, s->s.cache_size};
    bool ok = true;
    double start = clock_now();
    if (s->ready.core) {
        ok = psf_copy(&rest, k, e);
        if (ok) core_cut(&rest, s->ready.core);
        k = &rest;
    }
    if (ok && exact)
        ok = psf_copy(&source.kernel, k, e);
    else if (ok && s->kernel.is_spectrum && psf_same(k, &file->kernel))
        ok = spectrum_copy(&source, file, e);
    else if (ok)
        ok = cache_spectrum(&source, k, &place, s->threads, e), l->spectrum_cached = source.cached;
    ok = ok && spectrum_at(to, &source, &want, s->threads, e);
    spectrum_free(&source);
    psf_free(&rest);
    l->spectrum_seconds += clock_now() - start;
    return ok;
}

typedef enum { PREPARED, NOT_PREPARED, GPU_FAILED } preparation;

/* Prepares the engine for s->ready on the device of `choice`. GPU_FAILED: the device failed. */
static preparation prepare_on(session *s, session_lease *l, const session_size *size,
                              const device_choice *choice, err *e) {
    spectrum_lines lines = {0};
    engine_options o = {.timestamps = true,
                        .patience = s->s.plans == PLANS_MEASURED ? ENGINE_PATIENCE : 0,
                        .slots = choice->plan.frames};
    if (!choice->possible) {
        *e = choice->why;
        return NOT_PREPARED;
    }
    s->ready.plan = choice->plan;
    preparation failure = choice->device.class != ENGINE_CPU ? GPU_FAILED : NOT_PREPARED;
    if (!open_engine(s, &choice->device, e)) return failure;
    if (!make_lines(&lines, l, s, size, e))
        failure = NOT_PREPARED;
    else if (engine_prepare(s->engine, &s->ready.plan, &lines, &o, e))
        failure = PREPARED;
    else
        s->failed = true;
    spectrum_lines_free(&lines);
    return failure;
}

/* Returns whether the CPU does what a device of this class has failed to do. */
static bool cpu_stands_in(const session *s, engine_class class) {
    engine_device cpu;
    return is_auto(s) && class != ENGINE_CPU && engine_devices_cpu(&cpu) > 0;
}

/* With the lock held. */
static void fall_back(session *s, session_lease *l, const engine_device *d, const err *why) {
    if (!s->on_cpu) log_warn("device '%s' failed: %s; continuing on the CPU", d->name, why->msg);
    snprintf(l->note, sizeof l->note, "device '%.60s' failed (%.120s); the CPU was used instead",
             d->name, why->msg);
    s->on_cpu = true;
    s->failed = true;
}

/* The caller's ticket is served and nobody uses the engine; the lock is not held. */
static bool prepare(session *s, session_lease *l, const session_want *want, err *e) {
    const session_size *size = want->size;
    const device_choice *first = &size->decided.way[want->way];
    preparation is = NOT_PREPARED;
    s->ready = (prepared){.need = size->need, .way = want->way, .core = want->core};
    if (!s->on_cpu || first->device.class == ENGINE_CPU) is = prepare_on(s, l, size, first, e);
    bool gpu_failed = is == GPU_FAILED && cpu_stands_in(s, first->device.class);
    if (gpu_failed) {
        pthread_mutex_lock(&s->lock);
        fall_back(s, l, &first->device, e);
        pthread_mutex_unlock(&s->lock);
    }
    if (is != PREPARED && s->on_cpu && first->device.class != ENGINE_CPU) {
        plan_request ask = session_request(&s->s, &size->kernel, &size->need);
        device_request r = request_of(s, &ask);
        device_list list = {.threads = s->devices.threads, .cache_dir = s->devices.cache_dir};
        device_decision instead;
        r.want = "cpu";
        device_decide(&instead, &list, &r);
        const device_choice *c = &instead.way[want->way];
        if (c->possible)
            is = prepare_on(s, l, size, c, e);
        else if (!gpu_failed)
            *e = c->why;
    }
    return s->ready.valid = is == PREPARED;
}

static bool is_ready(const session *s, const session_want *want) {
    const prepared *is = &s->ready;
    kernel_need need = want->size->need;
    need.sharpen = is->need.sharpen; /* the engine works without it */
    return is->valid && !s->failed && is->way == want->way && is->core == want->core &&
           memcmp(&is->need, &need, sizeof need) == 0;
}

/* Returns ENGINE_SLOTS if none is free. */
static uint32_t free_slot(const session *s) {
    for (uint32_t i = 0; i < s->ready.plan.frames && i < ENGINE_SLOTS; i++)
        if (!s->busy[i]) return i;
    return ENGINE_SLOTS;
}

bool session_take(session_lease *l, session *s, const session_want *want, err *e) {
    bool ok = true;
    par_rest(s->threads);
    pthread_mutex_lock(&s->lock);
    uint64_t ticket = s->next_ticket++;
    while (s->serving != ticket ||
           (s->leases && !(is_ready(s, want) && free_slot(s) < ENGINE_SLOTS)))
        pthread_cond_wait(&s->changed, &s->lock);
    par_resume(s->threads);
    if (!is_ready(s, want)) {
        pthread_mutex_unlock(&s->lock);
        ok = prepare(s, l, want, e);
        pthread_mutex_lock(&s->lock);
    }
    if (ok) {
        l->slot = free_slot(s);
        l->engine = s->engine;
        l->device = s->on;
        l->plan = s->ready.plan;
        s->busy[l->slot] = true;
        s->leases++;
    }
    s->serving++;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return ok;
}

bool session_give(session *s, session_lease *l, bool failed, const err *why) {
    pthread_mutex_lock(&s->lock);
    s->busy[l->slot] = false;
    s->leases--;
    s->failed |= failed;
    bool again = failed && cpu_stands_in(s, l->device.class);
    if (again) fall_back(s, l, &l->device, why);
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return again;
}
