/* device_queue.h - a device, or the choice of one, and the blooms that frames on it share: one for
 * each kernel, several where kernels are many. */
#pragma once

#include "bloom/bloom.h"

#include <pthread.h>

/* A bloom that frames with the same kernel share. */
typedef struct {
    /* The queue's lock guards these. */
    char *kernel;   /* its path; NULL: the entry is empty */
    double size;    /* and what its taps are scaled by */
    uint32_t users; /* frames that open the bloom, wait for it or use it */
    uint64_t last;  /* when it was last taken */

    pthread_mutex_t lock; /* held while the bloom is opened */
    bloom *bloom;         /* NULL until it is opened */
} queue_bloom;

typedef struct {
    /* Only read once workers run. */
    bloom_settings s;
    device_pool *devices;

    pthread_mutex_t making; /* held while the kernel of a frame is made */
    pthread_mutex_t lock;
    queue_bloom bloom[ENGINE_SLOTS + 4]; /* more than frames under way */
    uint64_t takes;
} device_queue;

/* Makes a queue, whose devices belong to the caller and must outlive it. The settings are those of
 * stages_bloom, with the queue's own device and slots. */
void device_queue_open(device_queue *q, const bloom_settings *s, device_pool *devices);
void device_queue_close(device_queue *q);
/* Takes the bloom of a kernel at a size, which is opened unless it is there, until it is given
 * back. Frames that want it meanwhile wait; if it cannot be opened, each finds out for itself why.
 */
queue_bloom *device_queue_take(device_queue *q, const char *kernel, double size, par *threads,
                               err *e);
void device_queue_give(device_queue *q, queue_bloom *b);
