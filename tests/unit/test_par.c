/* The parallel for: each piece once, the lowest failure, several callers at a time. */
#include "base/par.h"
#include "unit/check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { MOST = 64, THREADS = 4 };

typedef struct {
    atomic_int done[MOST], at_once[4 * THREADS];
    int fail_from; /* pieces from here on fail */
} job;

static bool piece(void *ctx, size_t index, int worker, err *e) {
    job *j = ctx;
    if (atomic_fetch_add(&j->at_once[worker], 1)) return err_set(e, ERR_INTERNAL, "shared worker");
    atomic_fetch_add(&j->done[index], 1);
    atomic_fetch_sub(&j->at_once[worker], 1);
    return (int)index < j->fail_from || err_set(e, ERR_DATA, "piece %zu", index);
}

TEST(every_piece_once) {
    par *p = par_open(THREADS, &e);
    assert_int_equal(par_threads(p), THREADS);
    assert_true(par_workers(p) >= THREADS && par_workers(p) <= 4 * THREADS);
    for (size_t round = 0; round < 20000; round++) {
        job j = {.fail_from = MOST};
        size_t count = round % (round % 10 ? 6 : MOST);
        CHECK_OK(par_for(p, count, piece, &j, &e));
        for (size_t i = 0; i < MOST; i++) assert_int_equal(j.done[i], i < count);
    }
    par_close(&p);
    assert_null(p);
}

TEST(failures) {
    OPEN(par) *p = par_open(THREADS, NULL);
    for (int round = 0; round < 2000; round++) {
        job j = {.fail_from = round % MOST};
        CHECK_REFUSED(par_for(p, MOST, piece, &j, &e), ERR_DATA, "");
        char want[20];
        snprintf(want, sizeof want, "piece %d", j.fail_from);
        assert_string_equal(e.msg, want);
    }
}

/* What all callers of a pool share: no two threads may have the same worker at the same time. */
typedef struct {
    par *p;
    atomic_int at_once[4 * THREADS], working, most;
    uint64_t age;
    bool enters;
} crowd;

static void stay(int microseconds) {
    nanosleep(&(struct timespec){.tv_nsec = microseconds * 1000L}, NULL);
}

static bool crowded_piece(void *ctx, size_t index, int worker, err *e) {
    crowd *c = ctx;
    (void)index;
    if (worker < 0 || worker >= par_workers(c->p) || atomic_fetch_add(&c->at_once[worker], 1))
        return err_set(e, ERR_INTERNAL, "shared worker");
    int now = atomic_fetch_add(&c->working, 1) + 1;
    for (int most = c->most; now > most && !atomic_compare_exchange_weak(&c->most, &most, now);) {
    }
    stay(20);
    atomic_fetch_sub(&c->working, 1);
    atomic_fetch_sub(&c->at_once[worker], 1);
    return true;
}

static void *caller(void *arg) {
    crowd *c = arg;
    for (int round = 0; round < 200 && !e.code; round++) {
        if (c->enters) par_enter(c->p, c->age);
        par_for(c->p, (size_t)(round % 7), crowded_piece, c, &e);
        par_for(c->p, 3, crowded_piece, c, &e);
        if (c->enters) par_leave(c->p);
    }
    return e.code ? arg : NULL;
}

/* Several callers at the same time, more than there are threads. */
TEST(callers) {
    for (int enters = 0; enters < 2; enters++) {
        enum { CALLERS = THREADS + PAR_MORE + 2 };
        crowd c = {.p = par_open(THREADS, NULL), .enters = enters};
        pthread_t t[CALLERS];
        void *wrong;
        for (int i = 0; i < CALLERS; i++)
            assert_int_equal(pthread_create(&t[i], NULL, caller, &c), 0);
        for (int i = 0; i < CALLERS; i++) {
            pthread_join(t[i], &wrong);
            assert_null(wrong);
        }
        /* All callers that fit may work, and a helper may be at its last piece beside them. */
        assert_in_range(c.most, 2, par_workers(c.p));
        par_close(&c.p);
    }
}

/* Threads that have entered take the place of helpers: with as many as the pool has threads, each
 * piece is done by its caller. */
static bool own_piece(void *ctx, size_t index, int worker, err *e) {
    pthread_t *self = ctx;
    (void)index, (void)worker;
    stay(50);
    return pthread_equal(*self, pthread_self()) || err_set(e, ERR_INTERNAL, "a helper");
}

typedef struct {
    par *p;
    pthread_barrier_t *all;
} full;

static void *full_caller(void *arg) {
    full *f = arg;
    pthread_t self = pthread_self();
    par_enter(f->p, 1);
    pthread_barrier_wait(f->all);
    par_for(f->p, 20, own_piece, &self, &e);
    pthread_barrier_wait(f->all);
    par_leave(f->p);
    return e.code ? arg : NULL;
}

TEST(no_helpers_when_full) {
    pthread_barrier_t all;
    pthread_barrier_init(&all, NULL, THREADS);
    full f = {par_open(THREADS, NULL), &all};
    pthread_t t[THREADS];
    void *wrong;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&t[i], NULL, full_caller, &f), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(t[i], &wrong);
        assert_null(wrong);
    }
    pthread_barrier_destroy(&all);
    par_close(&f.p);
}

/* One helper, and two callers that have pieces for it: it goes to the older one. Both stay at their
 * first piece until it has come. */
typedef struct {
    par *p;
    pthread_barrier_t *both;
    uint64_t age;
    pthread_t self;
    atomic_int *begun; /* callers that are at their first piece, and so have offered the rest */
    atomic_uint_least64_t *first; /* the age of the caller that the helper came to first */
} aged;

static bool aged_piece(void *ctx, size_t index, int worker, err *e) {
    aged *a = ctx;
    uint_least64_t none = 0;
    (void)worker, (void)e;
    if (!pthread_equal(a->self, pthread_self()))
        atomic_compare_exchange_strong(a->first, &none, a->age);
    if (index == 0) atomic_fetch_add(a->begun, 1);
    while (index == 0 && !*a->first) stay(100);
    return true;
}

static void *aged_caller(void *arg) {
    aged *a = arg;
    a->self = pthread_self();
    par_enter(a->p, a->age);
    pthread_barrier_wait(a->both);
    par_for(a->p, 40, aged_piece, a, NULL);
    par_leave(a->p);
    return NULL;
}

static void *idle_caller(void *arg) {
    aged *a = arg;
    par_enter(a->p, 0);
    pthread_barrier_wait(a->both);
    while (*a->begun < 2) stay(100);
    par_leave(a->p); /* from now on there is room for one helper */
    return NULL;
}

TEST(oldest_first) {
    pthread_barrier_t both;
    pthread_barrier_init(&both, NULL, 3);
    atomic_int begun = 0;
    atomic_uint_least64_t first = 0;
    OPEN(par) *p = par_open(3, NULL);
    aged young = {.p = p, .both = &both, .age = 9, .begun = &begun, .first = &first}, old = young,
         idle = young;
    old.age = 2;
    pthread_t t[3];
    assert_int_equal(pthread_create(&t[0], NULL, aged_caller, &young), 0);
    assert_int_equal(pthread_create(&t[1], NULL, aged_caller, &old), 0);
    assert_int_equal(pthread_create(&t[2], NULL, idle_caller, &idle), 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    assert_int_equal(first, old.age);
    pthread_barrier_destroy(&both);
}

/* All places are taken by callers that wait for a thread that comes last. */
typedef struct {
    par *p;
    pthread_barrier_t *in; /* all that wait have entered */
    pthread_barrier_t *done;
} waited;

static void *waiting_caller(void *arg) {
    waited *w = arg;
    par_enter(w->p, 1);
    pthread_barrier_wait(w->in);
    par_rest(w->p);
    pthread_barrier_wait(w->done);
    par_resume(w->p);
    par_leave(w->p);
    return NULL;
}

static bool count_piece(void *ctx, size_t index, int worker, err *e) {
    (void)index, (void)worker, (void)e;
    atomic_fetch_add((atomic_int *)ctx, 1);
    return true;
}

static void *last_caller(void *arg) {
    waited *w = arg;
    atomic_int pieces = 0;
    pthread_barrier_wait(w->in);
    par_enter_beside(w->p);
    bool ok = par_for(w->p, 20, count_piece, &pieces, NULL) && pieces == 20;
    par_leave(w->p);
    pthread_barrier_wait(w->done);
    return ok ? NULL : w;
}

TEST(beside_when_full) {
    enum { ALL = 1 + THREADS + PAR_MORE };
    pthread_barrier_t in, done;
    waited w = {par_open(THREADS, NULL), &in, &done};
    pthread_t wait[ALL], last;
    void *wrong;
    pthread_barrier_init(&in, NULL, ALL + 1);
    pthread_barrier_init(&done, NULL, ALL + 1);
    for (int i = 0; i < ALL; i++)
        assert_int_equal(pthread_create(&wait[i], NULL, waiting_caller, &w), 0);
    assert_int_equal(pthread_create(&last, NULL, last_caller, &w), 0);
    for (int i = 0; i < ALL; i++) pthread_join(wait[i], NULL);
    pthread_join(last, &wrong);
    assert_null(wrong);
    pthread_barrier_destroy(&in);
    pthread_barrier_destroy(&done);
    par_close(&w.p);
}

RUN_TESTS(NULL, NULL)
