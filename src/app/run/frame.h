/* frame.h - makes one frame of a job: reads it, blooms it on a device, and writes it.
 *
 * Several workers may each be busy with a frame. A device queue lets one of them at its device at a
 * time, so that one frame is computed while others are read and written; or QUEUE_FRAMES of them,
 * where the device copies one frame while it computes another. This module knows nothing of other
 * frames or of the order of a sequence. */
#ifndef APP_FRAME_H
#define APP_FRAME_H

#include "app/run/report.h"
#include "app/run/stamp.h"

#include <pthread.h>
#include <stdatomic.h>

enum { QUEUE_FRAMES = 2 }; /* at a time on a device, at most */

/* A device, or the choice of one. The caller sets `s` and makes the lock; the rest starts as 0. */
typedef struct {
    bloom_settings s; /* only read once workers run */
    /* Guards all that follows. A worker holds it while it blooms an image, unless has_room. */
    pthread_mutex_t lock;
    bloom *bloom[QUEUE_FRAMES]; /* opened when first needed; used by the worker that made it busy */
    bool busy[QUEUE_FRAMES];
    bool has_room; /* the device can hold several frames at a time: known after the first one */
} device_queue;

/* Closes the blooms and destroys the lock. */
void device_queue_close(device_queue *q);

/* What all workers share. */
typedef struct {
    const settings *s;
    const stamps *stamps; /* NULL: there is no cache folder for them */
    par *threads;
    atomic_flag looked;  /* set when an image was held against the kernel (swap.h) */
    atomic_flag forgets; /* set when the log has said that stamps cannot be written */
} frame_maker;

/* Returns why a frame needs no work or must not be done, with a sentence in *why; FRAME_DONE where
 * it has to be made. Writes nothing. */
frame_state frame_look(const frame_maker *m, const frame_result *f, const char **why);

/* Fills f, of which the caller has set number and paths, and says in the log what happened. f->made
 * points to `made` afterwards where the frame was begun. Returns false when the frame has failed;
 * f->why points into e then. */
bool frame_make(frame_maker *m, device_queue *on, frame_result *f, bloom_report *made, err *e);

#endif
