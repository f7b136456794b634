#include "device/device_pool.h"

#include "base/clock.h"
#include "base/host.h"
#include "base/log.h"
#include "base/mem.h"
#include "kernel/cache.h"

#include <locale.h>
#include <pthread.h>
#include <stdatomic.h>

/* The most engines of a GPU with the same plan, for tasks that differ in their kernels. */
enum { MOST_ALIKE = 6 };

struct waiter {
    struct waiter *after;
};

/* An engine with what it is prepared for. */
typedef struct device_place {
    device_pool *pool;
    /* Const from when a thread has begun to make it until nobody uses it. */
    hash128 kernel;
    device_choice on;
    engine *engine; /* while `making`, the thread's own that makes it */

    bool making, gone;    /* gone: it is closed when nobody uses it */
    uint32_t users;       /* threads that make it, wait for a slot, or have one */
    struct waiter *queue; /* those that wait for a slot, the first comes first */
    bool busy[ENGINE_SLOTS];
    struct device_place *after;

    /* How the engine is made: with these lines, and maybe by a thread of its own. */
    spectrum_lines lines;
    bool lining; /* the caller makes `lines` */
    host of;
    locale_t locale;
    pthread_t maker;
    bool apart;   /* `maker` is to be joined */
    bool refused; /* by the device */
    err why;      /* ERR_NONE: it is made */
} pool_place;

typedef struct {
    engine_device device;
    engine *engine; /* never prepared: others are opened beside it. NULL: closed */
    bool opening;
} opened;

struct device_pool {
    /* Set by device_pool_open, const afterwards. */
    par *threads;
    char folder[CACHE_PATH];
    const char *cache_dir; /* the folder; NULL: there is none */

    pthread_mutex_t listing; /* guards `list` until it is filled */
    device_list list;

    /* Guards all that follows; `changed` is signalled after each change. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint32_t idle;
    opened open[ENGINE_DEVICES];
    uint32_t count;
    pool_place *first; /* the last used one first */

    atomic_bool gave_up;
};

device_pool *device_pool_open(par *threads, const char *cache_dir, uint32_t idle, err *e) {
    device_pool *p = mem_new(1, sizeof *p, "devices", e);
    if (!p) return NULL;
    p->threads = threads;
    p->cache_dir = cache_path(p->folder, cache_dir) ? p->folder : NULL;
    p->idle = idle;
    pthread_mutex_init(&p->listing, NULL);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    return p;
}

uint32_t device_pool_keep(device_pool *p, uint32_t idle) {
    pthread_mutex_lock(&p->lock);
    const uint32_t before = p->idle;
    p->idle = idle;
    pthread_mutex_unlock(&p->lock);
    return before;
}

par *device_pool_threads(const device_pool *p) {
    return p->threads;
}

static void lock_list(device_pool *p) {
    par_rest(p->threads);
    pthread_mutex_lock(&p->listing);
    par_resume(p->threads);
}

void device_pool_decide(device_pool *p, device_decision *to, const device_request *r) {
    lock_list(p);
    device_decide(to, &p->list, r);
    pthread_mutex_unlock(&p->listing);
}

int device_pool_choose(device_pool *p, device_forecast *to, const device_list **list,
                       const device_request *r, err *e) {
    lock_list(p);
    if (r->lists_all)
        device_list_fill(&p->list, r->want);
    else
        device_list_for(&p->list, r);
    int best = device_choose(to, &p->list, r, e);
    pthread_mutex_unlock(&p->listing);
    *list = &p->list;
    return best;
}

/* --- devices: with the lock held ------------------------------------------------------------- */

static bool same_device(const engine_device *a, const engine_device *b) {
    return a->class == b->class && a->index == b->index;
}

static opened *find_open(device_pool *p, const engine_device *d) {
    for (uint32_t i = 0; i < p->count; i++)
        if (same_device(&p->open[i].device, d)) return &p->open[i];
    if (p->count == ENGINE_DEVICES) return NULL;
    p->open[p->count].device = *d;
    return &p->open[p->count++];
}

/* Returns the device, open; gives the lock up meanwhile. */
static opened *pool_open_device(device_pool *p, const engine_device *d, err *e) {
    opened *o = find_open(p, d);
    if (!o) err_set(e, ERR_INTERNAL, "more than %d devices", ENGINE_DEVICES);
    while (o && o->opening) pthread_cond_wait(&p->changed, &p->lock);
    if (!o || o->engine) return o;
    o->opening = true;
    pthread_mutex_unlock(&p->lock);
    engine *made = engine_open(d, p->threads, p->cache_dir, e);
    pthread_mutex_lock(&p->lock);
    o->engine = made;
    o->opening = false;
    pthread_cond_broadcast(&p->changed);
    return made ? o : NULL;
}

bool device_pool_start(device_pool *p, const engine_device *d, err *e) {
    pthread_mutex_lock(&p->lock);
    bool ok = pool_open_device(p, d, e) != NULL;
    pthread_mutex_unlock(&p->lock);
    return ok;
}

/* --- places: with the lock held -------------------------------------------------------------- */

static void take_out(device_pool *p, const pool_place *place) {
    for (pool_place **at = &p->first; *at; at = &(*at)->after)
        if (*at == place) {
            *at = place->after;
            return;
        }
}

static void put_first(device_pool *p, pool_place *place) {
    place->after = p->first;
    p->first = place;
}

/* The thread has no more to do than to end. */
static void join_maker(pool_place *place) {
    if (place->apart) pthread_join(place->maker, NULL);
    place->apart = false;
}

/* Closes an engine that nobody uses; gives the lock up meanwhile. It takes its memory until it is
 * closed, and so its place stays in the list. */
static void drop(device_pool *p, pool_place *place) {
    place->gone = true;
    place->users = 1;
    pthread_mutex_unlock(&p->lock);
    join_maker(place);
    engine_close(&place->engine);
    pthread_mutex_lock(&p->lock);
    take_out(p, place);
    mem_free(place);
    pthread_cond_broadcast(&p->changed);
}

/* Returns the place that nobody has used for the longest time, of that device unless it is NULL;
 * one that is gone, where a thread of its own has failed, comes first. */
static pool_place *oldest_idle(const device_pool *p, const engine_device *d) {
    pool_place *found = NULL;
    for (pool_place *i = p->first; i; i = i->after)
        if (!i->users && (!d || same_device(&i->on.device, d)) && !(found && found->gone))
            found = i;
    return found;
}

static void pool_trim(device_pool *p) {
    for (pool_place *i; (i = oldest_idle(p, NULL));) drop(p, i);
}

void device_pool_trim(device_pool *p) {
    pthread_mutex_lock(&p->lock);
    pool_trim(p);
    pthread_mutex_unlock(&p->lock);
}

static bool is_alike(const pool_place *i, const device_task *t) {
    return !i->gone && same_device(&i->on.device, &t->on->device) &&
           plan_same(&i->on.plan, &t->on->plan);
}

/* Returns ENGINE_SLOTS if none is free. */
static uint32_t free_slot(const pool_place *place) {
    for (uint32_t i = 0; i < place->on.plan.frames && i < ENGINE_SLOTS; i++)
        if (!place->busy[i]) return i;
    return ENGINE_SLOTS;
}

/* Returns whether one more engine may have the plan of these. Tasks of a single slot each may
 * differ in their kernels, and get as many engines as there are tasks on the CPU. On a GPU, where a
 * frame takes less time than an engine, a few are enough. */
static bool may_be_more(const device_pool *p, uint32_t alike, const device_task *t) {
    const bool cpu = t->on->device.class == ENGINE_CPU;
    return alike < (cpu ? UINT32_MAX : max_u32(p->idle, MOST_ALIKE));
}

/* Finds the place where the task is to wait for a slot; NULL: it needs another one. */
static pool_place *pool_find(const device_pool *p, const device_task *t) {
    uint32_t alike = 0;
    pool_place *found = NULL;
    for (pool_place *i = p->first; i; i = i->after) {
        if (!is_alike(i, t)) continue;
        alike++;
        if (memcmp(&i->kernel, &t->kernel, sizeof i->kernel) != 0) continue;
        bool free = !i->making && !i->queue && free_slot(i) < ENGINE_SLOTS;
        if (free) return i;
        found = i;
    }
    return t->on->plan.frames > 1 || !may_be_more(p, alike, t) ? found : NULL;
}

static uint64_t used_on(const device_pool *p, const engine_device *d) {
    uint64_t bytes = 0;
    for (const pool_place *i = p->first; i; i = i->after)
        if (same_device(&i->on.device, d)) bytes += plan_device_bytes(&i->on.plan);
    return bytes;
}

/* Makes room on the device for one more plan; false: others must end first. */
static bool pool_make_room(device_pool *p, const device_choice *on) {
    const engine_device *d = &on->device;
    uint64_t has = on->plan.ask.limits.memory, need = plan_device_bytes(&on->plan);
    if (!has || d->class == ENGINE_CPU) return true;
    while (used_on(p, d) + need > has) {
        pool_place *idle = oldest_idle(p, d);
        if (!idle) return used_on(p, d) == 0;
        drop(p, idle);
    }
    return true;
}

/* Returns a place for the task, which the caller makes: an old one that nobody uses where enough of
 * these are kept, else a new one. Best is one with the same plan, which needs only its spectrum.
 * *wait: no more may be made, and all are in use. */
static pool_place *pool_begin(device_pool *p, const device_task *t, bool *wait, err *e) {
    uint32_t idle = 0, alike = 0;
    pool_place *place = oldest_idle(p, &t->on->device), *same = NULL;
    for (pool_place *i = p->first; i; i = i->after) {
        idle += !i->users;
        alike += is_alike(i, t);
        if (!i->users && is_alike(i, t)) same = i;
    }
    bool more = may_be_more(p, alike, t);
    *wait = !more && !same;
    if (*wait) return NULL;
    if (same && (!more || idle > p->idle))
        place = same;
    else if (!place || idle <= p->idle)
        place = mem_new(1, sizeof *place, "engine", e);
    if (!place) return NULL;
    engine *old = place->engine;
    take_out(p, place);
    join_maker(place);
    *place = (pool_place){
        .pool = p, .kernel = t->kernel, .on = *t->on, .engine = old, .making = true, .users = 1};
    put_first(p, place);
    return place;
}

/* Opens an engine and prepares it, once its lines are there; gives the lock up meanwhile. */
static void make_engine(device_pool *p, pool_place *place) {
    const engine_options o = {.slots = place->on.plan.frames};
    err why = {0};
    const opened *device = place->engine ? NULL : pool_open_device(p, &place->on.device, &why);
    if (device) place->engine = engine_beside(device->engine, &why);
    while (place->lining) pthread_cond_wait(&p->changed, &p->lock);
    if (place->engine && !place->why.code) {
        const double start = clock_now();
        pthread_mutex_unlock(&p->lock);
        /* The threads that wait for this one may hold all the other places. */
        place->apart ? par_enter_beside(p->threads) : par_resume(p->threads);
        engine_prepare(place->engine, &place->on.plan, &place->lines, &o, &why);
        log_debug("%s: an engine %s in %.4f s", place->on.device.name,
                  device ? "prepared" : "prepared again", clock_now() - start);
        place->apart ? par_leave(p->threads) : par_rest(p->threads);
        pthread_mutex_lock(&p->lock);
    }
    spectrum_lines_free(&place->lines);
    place->refused = why.code != ERR_NONE;
    if (place->refused) place->why = why;
    place->making = false;
    place->gone = place->why.code != ERR_NONE;
    pthread_cond_broadcast(&p->changed);
}

static void *maker_main(void *arg) {
    pool_place *place = arg;
    device_pool *p = place->pool;
    host_set(place->of);
    uselocale(place->locale);
    pthread_mutex_lock(&p->lock);
    make_engine(p, place);
    place->users--;
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Makes a place; gives the lock up meanwhile. A driver may take a second to start and to compile,
 * and asks nobody: a caller that may be stopped leaves that to a thread. */
static bool pool_make(device_pool *p, pool_place *place, const device_task *t, err *e) {
    err why = {0};
    bool stay = true;
    place->of = *host_here();
    place->of.progress = NULL;
    place->locale = uselocale((locale_t)0);
    place->lining = true;
    if (place->engine) engine_forget(place->engine);
    place->apart = host_here()->progress && place->on.device.class != ENGINE_CPU &&
                   pthread_create(&place->maker, NULL, maker_main, place) == 0;
    place->users += place->apart;
    pthread_mutex_unlock(&p->lock);
    par_resume(p->threads);
    t->spectra(t->ctx, &place->lines, &place->on.plan, &why);
    par_rest(p->threads);
    pthread_mutex_lock(&p->lock);
    place->why = why;
    place->lining = false;
    pthread_cond_broadcast(&p->changed);
    if (!place->apart) make_engine(p, place);
    while (stay && place->making) stay = host_wait(&p->changed, &p->lock, e);
    if (stay && place->why.code) *e = place->why;
    return stay && !place->why.code;
}

static void leave(device_pool *p, pool_place *place) {
    place->users--;
    if (place->gone && !place->users) drop(p, place);
    pthread_cond_broadcast(&p->changed);
}

/* Waits for a slot; false: the task needs another place, or the host has stopped it. */
static bool wait_for_slot(device_pool *p, pool_place *place, device_lease *l, err *e) {
    struct waiter me = {NULL}, **at = &place->queue;
    bool stay = true;
    while (*at) at = &(*at)->after;
    *at = &me;
    while (stay && !place->gone &&
           (place->making || place->queue != &me || free_slot(place) == ENGINE_SLOTS))
        stay = host_wait(&p->changed, &p->lock, e);
    for (at = &place->queue; *at != &me;) at = &(*at)->after;
    *at = me.after;
    if (place->gone || !stay) return false;
    *l = (device_lease){place->engine, free_slot(place), place};
    place->busy[l->slot] = true;
    take_out(p, place);
    put_first(p, place);
    pthread_cond_broadcast(&p->changed);
    return true;
}

/* Makes a place for a task that has none, or waits for a change where others have taken what it
 * needs. Returns false where it cannot be made. */
static bool make_place(device_pool *p, const device_task *t, bool *refused, err *e) {
    bool wait = !pool_make_room(p, t->on);
    if (!wait && pool_find(p, t)) return true; /* the lock was given up */
    pool_place *place = wait ? NULL : pool_begin(p, t, &wait, e);
    if (wait) return host_wait(&p->changed, &p->lock, e);
    if (!place) return false;
    bool alone = p->first == place && !place->after, ok = pool_make(p, place, t, e);
    *refused = place->refused && e->code == place->why.code; /* else it was stopped */
    leave(p, place);
    if (ok || alone || err_status(e->code) != ERR_RETRY) return ok;
    pool_trim(p);
    *e = (err){0};
    return !p->first || host_wait(&p->changed, &p->lock, e);
}

bool device_take(device_lease *l, device_pool *p, const device_task *t, bool *refused, err *e) {
    bool ok = true, took = false;
    err why = {0};
    *refused = false;
    par_rest(p->threads);
    pthread_mutex_lock(&p->lock);
    while (ok && !took) {
        pool_place *place = pool_find(p, t);
        if (place) {
            place->users++;
            took = wait_for_slot(p, place, l, &why);
            if (!took) leave(p, place);
            ok = !why.code;
        } else {
            ok = make_place(p, t, refused, &why);
        }
    }
    pthread_mutex_unlock(&p->lock);
    par_resume(p->threads);
    if (!took && e) *e = why;
    return took;
}

void device_give(device_pool *p, device_lease *l, bool failed) {
    pthread_mutex_lock(&p->lock);
    pool_place *place = l->place;
    OPEN(engine) *lost = NULL;
    place->busy[l->slot] = false;
    if (failed && !place->gone) {
        const engine_device d = place->on.device;
        opened *o = find_open(p, &d);
        lost = o->engine;
        o->engine = NULL;
        for (pool_place *i; (i = oldest_idle(p, &d));) drop(p, i);
        for (pool_place *i = p->first; i; i = i->after)
            i->gone |= !i->making && same_device(&i->on.device, &d);
    }
    leave(p, place);
    pthread_mutex_unlock(&p->lock);
}

bool device_pool_give_up(device_pool *p) {
    return !atomic_exchange(&p->gave_up, true);
}

bool device_pool_gave_up(device_pool *p) {
    return atomic_load(&p->gave_up);
}

void device_pool_close(device_pool **pp) {
    OWN_MEM device_pool *p = *pp;
    if (!p) return;
    *pp = NULL;
    pthread_mutex_lock(&p->lock);
    for (pool_trim(p); p->first; pool_trim(p)) pthread_cond_wait(&p->changed, &p->lock);
    pthread_mutex_unlock(&p->lock);
    for (uint32_t i = 0; i < p->count; i++) engine_close(&p->open[i].engine);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    pthread_mutex_destroy(&p->listing);
}
