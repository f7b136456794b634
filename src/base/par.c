#include "base/par.h"

#include "base/mem.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* One job at a time. Threads wait until `serial` changes, draw indices from `next`, and the last
 * one to finish wakes the caller.
 *
 * Whoever waits looks again and again for a little while before it sleeps: the passes of an image
 * follow each other at once, and to be woken costs 30 to 100 us, ten times a frame. */
struct par {
    pthread_mutex_t turn; /* held by the caller whose job it is */
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    pthread_t *thread; /* threads - 1 of them: the caller is worker 0 */
    int threads, started;
    atomic_uint serial; /* counts jobs */
    atomic_int busy;    /* threads still in the current job */
    atomic_bool quit;

    par_fn *fn;
    void *ctx;
    size_t count;
    atomic_size_t next;
    atomic_bool stop;
    size_t failed_index; /* under lock */
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
    unsigned seen = 0;
    for (;;) {
        for (int i = 0; i < LOOKS && p->serial == seen && !p->quit; i++) relax();
        pthread_mutex_lock(&p->lock);
        while (p->serial == seen && !p->quit) pthread_cond_wait(&p->work, &p->lock);
        if (p->quit) break;
        seen = p->serial;
        pthread_mutex_unlock(&p->lock);
        work_off(p, a.worker);
        pthread_mutex_lock(&p->lock);
        if (--p->busy == 0) pthread_cond_signal(&p->done);
        pthread_mutex_unlock(&p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static int usable_cpus(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
}

par *par_open(int threads, err *e) {
    if (threads <= 0) threads = usable_cpus();
    par *p = mem_new(1, sizeof *p, "thread pool", e);
    if (!p) return NULL;
    pthread_mutex_init(&p->turn, NULL);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->done, NULL);
    p->threads = 1;
    p->thread = mem_new((size_t)threads, sizeof *p->thread, "thread pool", e);
    if (!p->thread) goto fail;
    for (int i = 1; i < threads; i++) {
        start_arg *a = malloc(sizeof *a);
        if (!a) break;
        *a = (start_arg){p, i};
        if (pthread_create(&p->thread[i - 1], NULL, thread_main, a) != 0) {
            free(a); /* fewer threads than asked for still do the work */
            break;
        }
        p->started++;
    }
    p->threads = p->started + 1;
    return p;
fail:
    par_close(&p);
    return NULL;
}

void par_close(par **pp) {
    par *p = *pp;
    if (!p) return;
    pthread_mutex_lock(&p->lock);
    p->quit = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < p->started; i++) pthread_join(p->thread[i], NULL);
    pthread_cond_destroy(&p->done);
    pthread_cond_destroy(&p->work);
    pthread_mutex_destroy(&p->lock);
    mem_free(p->thread);
    mem_free(p);
    *pp = NULL;
}

int par_threads(const par *p) {
    return p->threads;
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
    p->busy = count > 1 ? p->started : 0;
    if (p->busy) {
        p->serial++;
        pthread_cond_broadcast(&p->work);
    }
    pthread_mutex_unlock(&p->lock);
    work_off(p, 0);
    for (int i = 0; i < LOOKS && p->busy; i++) relax();
    pthread_mutex_lock(&p->lock);
    while (p->busy) pthread_cond_wait(&p->done, &p->lock);
    bool ok = !atomic_load(&p->stop);
    if (!ok && e) *e = p->failure;
    pthread_mutex_unlock(&p->lock);
    pthread_mutex_unlock(&p->turn);
    return ok;
}
