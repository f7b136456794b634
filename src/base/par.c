#include "base/par.h"

#include "base/host.h"
#include "base/machine.h"
#include "base/mem.h"

#include <pthread.h>
#include <stdatomic.h>

/* One call of par_for, on its caller's stack. It is in the pool's list while pieces may be left. */
typedef struct job {
    /* Set before the job is in the list, then only read. */
    par_fn *fn;
    void *ctx;
    size_t count;
    uint64_t age;

    atomic_size_t next;  /* the piece to be handed out next */
    atomic_bool stop;    /* a piece has failed */
    atomic_int helpers;  /* at work on it; changed under the pool's lock, as all that follows */
    pthread_cond_t done; /* helpers == 0 */
    size_t failed_index;
    err failure;
    struct job *younger;
} job;

/* A thread that waits looks for work for a little while before it sleeps: the passes of an image
 * follow each other without a break, and waking a thread takes 30 to 100 us. */
enum { LOOKS = 1500 }; /* some 30 us */

struct par {
    /* Set by par_open. Worker indices: a caller's 0, then the helpers, then other callers. */
    int threads;
    int helpers; /* threads - 1 */
    host of;     /* for whom the helpers work */
    pthread_t *thread;

    /* Guards all that follows. The atomics are also read without it, and `active` may grow. */
    pthread_mutex_t lock;
    pthread_cond_t work; /* for helpers: there may be pieces, and a thread less at work */
    pthread_cond_t left; /* a caller's index is free */
    bool *taken;         /* par_workers of them: the index is a caller's now */
    job *oldest;
    atomic_int jobs;   /* in the list */
    atomic_int active; /* threads at work: callers that have entered and do not rest, and helpers */
    atomic_bool quit;
};

/* The pool that this thread has entered, and its place there. */
typedef struct {
    const par *pool;
    int index;
    uint64_t age;
} place;
static _Thread_local place here;

typedef struct {
    par *p;
    int worker;
} start_arg;

static void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/* A helper stops when all of the pool's threads are at work without it. */
static void work_off(par *p, job *j, int worker, bool helper) {
    for (;;) {
        if (atomic_load_explicit(&j->stop, memory_order_relaxed)) return;
        if (helper && atomic_load_explicit(&p->active, memory_order_relaxed) > p->threads) return;
        size_t i = atomic_fetch_add(&j->next, 1);
        if (i >= j->count) return;
        err e = {0};
        if ((helper || host_ask_again(&e)) && j->fn(j->ctx, i, worker, &e)) continue;
        pthread_mutex_lock(&p->lock);
        if (!atomic_load(&j->stop) || i < j->failed_index) {
            j->failed_index = i;
            j->failure = e;
        }
        atomic_store(&j->stop, true);
        pthread_mutex_unlock(&p->lock);
    }
}

/* Returns the oldest job that has a piece for one more helper; with the lock held. */
static job *find_job(const par *p) {
    if (p->active >= p->threads) return NULL;
    for (job *j = p->oldest; j; j = j->younger)
        if (!j->stop && j->next < j->count && (size_t)j->helpers + 1 < j->count) return j;
    return NULL;
}

static void *helper_main(void *arg) {
    start_arg a = *(start_arg *)arg;
    free(arg);
    par *p = a.p;
    host_set(p->of);
    for (;;) {
        for (int i = 0; i < LOOKS && !p->quit && !(p->jobs && p->active < p->threads); i++) relax();
        pthread_mutex_lock(&p->lock);
        job *j = NULL;
        while (!p->quit && !(j = find_job(p))) pthread_cond_wait(&p->work, &p->lock);
        if (p->quit) break;
        p->active++;
        j->helpers++;
        pthread_mutex_unlock(&p->lock);
        work_off(p, j, a.worker, true);
        pthread_mutex_lock(&p->lock);
        p->active--;
        if (--j->helpers == 0) pthread_cond_signal(&j->done);
        pthread_mutex_unlock(&p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

par *par_open(int threads, err *e) {
    if (threads <= 0) threads = machine_cpus();
    par *p = mem_new(1, sizeof *p, "thread pool", e);
    if (!p) return NULL;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->left, NULL);
    p->threads = threads;
    p->of = *host_here();
    p->thread = mem_new((size_t)threads, sizeof *p->thread, "thread pool", e);
    p->taken = mem_new((size_t)par_workers(p), sizeof *p->taken, "thread pool", e);
    if (!p->thread || !p->taken) {
        par_close(&p);
        return NULL;
    }
    /* Fewer threads than asked for still do the work. */
    while (p->helpers < threads - 1) {
        start_arg *a = malloc(sizeof *a);
        if (!a) break;
        *a = (start_arg){p, p->helpers + 1};
        if (pthread_create(&p->thread[p->helpers], NULL, helper_main, a) != 0) {
            free(a);
            break;
        }
        p->helpers++;
    }
    pthread_mutex_lock(&p->lock); /* helpers look at it */
    p->threads = p->helpers + 1;
    pthread_mutex_unlock(&p->lock);
    return p;
}

void par_close(par **pp) {
    par *p = *pp;
    if (!p) return;
    pthread_mutex_lock(&p->lock);
    p->quit = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < p->helpers; i++) pthread_join(p->thread[i], NULL);
    pthread_cond_destroy(&p->left);
    pthread_cond_destroy(&p->work);
    pthread_mutex_destroy(&p->lock);
    mem_free(p->thread);
    mem_free(p->taken);
    mem_free(p);
    *pp = NULL;
}

int par_threads(const par *p) {
    return p->threads;
}

int par_workers(const par *p) {
    return 2 * p->threads + PAR_MORE + PAR_BESIDE;
}

/* Returns a free index of a caller, or -1; with the lock held. Some are for par_enter_beside. */
static int free_index(const par *p, bool beside) {
    int end = par_workers(p) - PAR_BESIDE;
    if (!beside && !p->taken[0]) return 0;
    for (int i = beside ? end : p->threads; i < (beside ? par_workers(p) : end); i++)
        if (!p->taken[i]) return i;
    return -1;
}

static void enter(par *p, uint64_t age, bool beside) {
    assert(!here.pool);
    pthread_mutex_lock(&p->lock);
    while ((here.index = free_index(p, beside)) < 0) pthread_cond_wait(&p->left, &p->lock);
    p->taken[here.index] = true;
    p->active++;
    pthread_mutex_unlock(&p->lock);
    here.pool = p;
    here.age = age;
}

void par_enter(par *p, uint64_t age) {
    enter(p, age, false);
}

void par_enter_beside(par *p) {
    enter(p, 0, true);
}

void par_leave(par *p) {
    assert(here.pool == p);
    here.pool = NULL;
    pthread_mutex_lock(&p->lock);
    p->taken[here.index] = false;
    p->active--;
    if (p->jobs) pthread_cond_signal(&p->work);
    pthread_cond_broadcast(&p->left); /* they wait for different places */
    pthread_mutex_unlock(&p->lock);
}

void par_rest(par *p) {
    if (here.pool != p) return;
    pthread_mutex_lock(&p->lock);
    p->active--;
    if (p->jobs) pthread_cond_signal(&p->work);
    pthread_mutex_unlock(&p->lock);
}

void par_resume(par *p) {
    if (here.pool == p) p->active++;
}

/* Puts the job behind those that are as old, and wakes as many helpers as it has use for. */
static void offer(par *p, job *j) {
    pthread_cond_init(&j->done, NULL);
    pthread_mutex_lock(&p->lock);
    job **at = &p->oldest;
    while (*at && (*at)->age <= j->age) at = &(*at)->younger;
    j->younger = *at;
    *at = j;
    p->jobs++;
    int wanted = (int)min_size(j->count - 1, (size_t)max_int(p->threads - p->active, 0));
    for (int i = 0; i < wanted; i++) pthread_cond_signal(&p->work);
    pthread_mutex_unlock(&p->lock);
}

/* Takes the job out of the list, so that it gets no more helpers, and waits for those it has. */
static void withdraw(par *p, job *j) {
    pthread_mutex_lock(&p->lock);
    job **at = &p->oldest;
    while (*at != j) at = &(*at)->younger;
    *at = j->younger;
    p->jobs--;
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < LOOKS && j->helpers; i++) relax();
    pthread_mutex_lock(&p->lock);
    if (j->helpers) {
        p->active--; /* another helper may work meanwhile */
        if (p->jobs) pthread_cond_signal(&p->work);
        while (j->helpers) pthread_cond_wait(&j->done, &p->lock);
        p->active++;
    }
    pthread_mutex_unlock(&p->lock);
    pthread_cond_destroy(&j->done);
}

bool par_for(par *p, size_t count, par_fn *fn, void *ctx, err *e) {
    job j = {.fn = fn, .ctx = ctx, .count = count};
    const place elsewhere = here;
    bool guest = here.pool != p, shared = count > 1 && p->helpers;
    if (count == 0) return true;
    if (guest) {
        here.pool = NULL;
        par_enter(p, 0);
    }
    j.age = here.age;
    if (shared) offer(p, &j);
    work_off(p, &j, here.index, false);
    if (shared) withdraw(p, &j);
    if (guest) {
        par_leave(p);
        here = elsewhere;
    }
    if (j.stop && e) *e = j.failure;
    return !j.stop;
}
