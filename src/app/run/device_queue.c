#include "app/run/device_queue.h"

enum { UNUSED = 2 }; /* blooms that are kept though no frame uses them: two views take turns */
enum { BLOOMS = sizeof((device_queue *)NULL)->bloom / sizeof(queue_bloom) };

void device_queue_open(device_queue *q, const bloom_settings *s, device_pool *devices) {
    *q = (device_queue){.s = *s, .devices = devices};
    pthread_mutex_init(&q->lock, NULL);
    pthread_mutex_init(&q->making, NULL);
    for (int i = 0; i < BLOOMS; i++) pthread_mutex_init(&q->bloom[i].lock, NULL);
}

void device_queue_close(device_queue *q) {
    for (int i = 0; i < BLOOMS; i++) {
        bloom_close(&q->bloom[i].bloom);
        mem_free(q->bloom[i].kernel);
        pthread_mutex_destroy(&q->bloom[i].lock);
    }
    pthread_mutex_destroy(&q->making);
    pthread_mutex_destroy(&q->lock);
}

/* Finds the entry of a kernel, or else an entry for it: an empty one, or that of the kernel which
 * nobody has used for longest. There are more entries than frames under way. */
static queue_bloom *find_entry(device_queue *q, const char *kernel, double size) {
    queue_bloom *empty = NULL, *oldest = NULL;
    int unused = 0;
    for (queue_bloom *b = q->bloom; b < q->bloom + BLOOMS; b++) {
        if (b->kernel && b->size == size && strcmp(b->kernel, kernel) == 0) return b;
        if (!b->kernel) empty = b;
        if (!b->kernel || b->users) continue;
        unused++;
        if (!oldest || b->last < oldest->last) oldest = b;
    }
    return (empty && unused < UNUSED) || !oldest ? empty : oldest;
}

void device_queue_give(device_queue *q, queue_bloom *b) {
    pthread_mutex_lock(&q->lock);
    b->users--;
    pthread_mutex_unlock(&q->lock);
}

queue_bloom *device_queue_take(device_queue *q, const char *kernel, double size, par *threads,
                               err *e) {
    bloom *old = NULL;
    char *name = mem_str(kernel, e);
    if (!name) return NULL;
    pthread_mutex_lock(&q->lock);
    queue_bloom *b = find_entry(q, kernel, size);
    if (!b->kernel || b->size != size || strcmp(b->kernel, kernel) != 0) {
        char *unused = b->kernel;
        old = b->bloom;
        b->bloom = NULL;
        b->kernel = name;
        b->size = size;
        name = unused;
    }
    b->users++;
    b->last = ++q->takes;
    pthread_mutex_unlock(&q->lock);
    mem_free(name);
    bloom_close(&old);
    par_rest(threads);
    pthread_mutex_lock(&b->lock);
    par_resume(threads);
    bloom_settings own = q->s;
    own.kernel.size = size;
    if (!b->bloom) b->bloom = bloom_open_on(&own, kernel, NULL, q->devices, e);
    bool ok = b->bloom != NULL;
    pthread_mutex_unlock(&b->lock);
    if (!ok) device_queue_give(q, b);
    return ok ? b : NULL;
}
