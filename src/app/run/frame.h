/* frame.h - makes one frame of a job: reads it, blooms it on a device, and writes it.
 *
 * Several workers may each be busy with a frame, on one device or on several. This module knows
 * nothing of other frames or of the order of a sequence. */
#ifndef APP_FRAME_H
#define APP_FRAME_H

#include "app/run/report.h"
#include "app/run/stamp.h"

#include <pthread.h>
#include <stdatomic.h>

/* A device, or the choice of one. The caller sets `s` and makes the lock; `bloom` starts as NULL.
 */
typedef struct {
    bloom_settings s;     /* only read once workers run */
    pthread_mutex_t lock; /* held while the bloom is opened, by the worker that needs it first */
    bloom *bloom;
} device_queue;

/* Closes the bloom and destroys the lock. */
void device_queue_close(device_queue *q);

/* What all workers share. */
typedef struct {
    const settings *s;
    const stamps *stamps; /* NULL: there is no cache folder for them */
    par *threads;
    atomic_flag looked;  /* set when an image was held against the kernel (file_set.h) */
    atomic_flag forgets; /* set when the log has said that stamps cannot be written */
} frame_maker;

/* Returns FRAME_DONE if the frame has to be made; else the reason why it must not be, with a
 * sentence in *why. Writes nothing. */
frame_state frame_look(const frame_maker *m, const frame_result *f, const char **why);

/* Fills f, of which the caller has set number and paths, and says in the log what happened, but not
 * why a frame has failed. f->made points to `made` afterwards where the frame was begun. Returns
 * false when the frame has failed; f->why points into e then. */
bool frame_make(frame_maker *m, device_queue *on, frame_result *f, bloom_report *made, err *e);

#endif
