#include "base/par.h"

#include "base/machine.h"
#include "base/mem.h"
#include "base/number.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* One job at a time. A job has seats: as many helpers as it has pieces for. A helper that finds a
 * free seat takes it, draws indices from `next` until none is left, and gives the seat back. When
 * the caller has no piece left either, seats that nobody took are withdrawn, so that nobody waits
 * for a thread that has not even woken up.
 *
 * Whoever waits looks again and again for a little while before it sleeps: the passes of an image
 * follow each other at once, and to be woken costs 30 to 100 us, ten times a frame. */
struct par {
    pthread_mutex_t turn; /* held by the caller whose job it is */
    pthread_mutex_t lock; /* guards the writing of seats, busy, quit and of the failure */
    pthread_cond_t work;  /* seats > 0 or quit */
    pthread_cond_t done;  /* busy == 0 */
    pthread_t *thread;    /* `helpers` of them; the caller is worker 0 */
    int helpers;          /* set by par_open */
    atomic_int seats;     /* free seats of the current job */
    atomic_int busy;      /* helpers that have a seat */
    atomic_bool quit;

    /* The job: written by the caller under `lock` before there are seats, then only read. */
    par_fn *fn;
    void *ctx;
    size_t count;
    atomic_size_t next;
    atomic_bool stop;    /* a piece has failed */
    size_t failed_index; /* under lock, as the next */
    err failure;
};

typedef struct {
    par *p;
    int worker;
} start_arg;

enum { LOOKS = 1500 }; /* some 30 us */

static void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static void work_off(par *p, int worker) {
    for (;;) {
        if (atomic_load_explicit(&p->stop, memory_order_relaxed)) return;
        size_t i = atomic_fetch_add(&p->next, 1);
        if (i >= p->count) return;
        err e = {0};
        if (p->fn(p->ctx, i, worker, &e)) continue;
        pthread_mutex_lock(&p->lock);
        if (!atomic_load(&p->stop) || i < p->failed_index) {
            p->failed_index = i;
            p->failure = e;
        }
        atomic_store(&p->stop, true);
        pthread_mutex_unlock(&p->lock);
    }
}

static void *thread_main(void *arg) {
    start_arg a = *(start_arg *)arg;
    free(arg);
    par *p = a.p;
    for (;;) {
        for (int i = 0; i < LOOKS && !p->seats && !p->quit; i++) relax();
        pthread_mutex_lock(&p->lock);
        while (!p->seats && !p->quit) pthread_cond_wait(&p->work, &p->lock);
        if (p->quit) break;
        p->seats--;
        p->busy++;
        pthread_mutex_unlock(&p->lock);
        work_off(p, a.worker);
        pthread_mutex_lock(&p->lock);
        if (--p->busy == 0) pthread_cond_signal(&p->done);
        pthread_mutex_unlock(&p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

par *par_open(int threads, err *e) {
    if (threads <= 0) threads = machine_cpus();
    par *p = mem_new(1, sizeof *p, "thread pool", e);
    if (!p) return NULL;
    pthread_mutex_init(&p->turn, NULL);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->done, NULL);
    p->thread = mem_new((size_t)threads, sizeof *p->thread, "thread pool", e);
    if (!p->thread) {
        par_close(&p);
        return NULL;
    }
    /* Fewer threads than asked for still do the work. */
    while (p->helpers < threads - 1) {
        start_arg *a = malloc(sizeof *a);
        if (!a) break;
        *a = (start_arg){p, p->helpers + 1};
        if (pthread_create(&p->thread[p->helpers], NULL, thread_main, a) != 0) {
            free(a);
            break;
        }
        p->helpers++;
    }
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
    pthread_cond_destroy(&p->done);
    pthread_cond_destroy(&p->work);
    pthread_mutex_destroy(&p->lock);
    mem_free(p->thread);
    mem_free(p);
    *pp = NULL;
}

int par_threads(const par *p) {
    return p->helpers + 1;
}

bool par_for(par *p, size_t count, par_fn *fn, void *ctx, err *e) {
    if (count == 0) return true;
    pthread_mutex_lock(&p->turn);
    pthread_mutex_lock(&p->lock);
    p->fn = fn;
    p->ctx = ctx;
    p->count = count;
    atomic_store(&p->next, 0);
    atomic_store(&p->stop, false);
    p->seats = (int)min_size(count - 1, (size_t)p->helpers);
    if (p->seats == p->helpers)
        pthread_cond_broadcast(&p->work);
    else
        for (int i = 0; i < p->seats; i++) pthread_cond_signal(&p->work);
    pthread_mutex_unlock(&p->lock);
    work_off(p, 0);
    pthread_mutex_lock(&p->lock);
    p->seats = 0;
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < LOOKS && p->busy; i++) relax();
    pthread_mutex_lock(&p->lock);
    while (p->busy) pthread_cond_wait(&p->done, &p->lock);
    bool ok = !atomic_load(&p->stop);
    if (!ok && e) *e = p->failure;
    pthread_mutex_unlock(&p->lock);
    pthread_mutex_unlock(&p->turn);
    return ok;
}
