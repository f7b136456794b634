/* frame.h - one frame of a job: read, bloomed on a device, written.
 *
 * Several threads may each be busy with a frame; a seat lets one of them at its device at a time,
 * so that one frame is computed while others are read and written. */
#ifndef APP_FRAME_H
#define APP_FRAME_H

#include "app/report.h"
#include "app/stamp.h"

#include <pthread.h>

/* A device, or the choice of one. */
typedef struct {
    pthread_mutex_t lock;
    bloom_settings s;
    bloom *bloom; /* opened for the first frame */
} seat;

typedef struct {
    const settings *s;
    const stamps *stamps; /* NULL: there is no cache folder for them */
    par *threads;
} frame_maker;

/* Fills f but for its number and paths, which the caller sets, and says in the log what happened.
 * `made` is what f->made points to afterwards, if anything. False: the frame has failed, and f says
 * so, too; f->why points into e then. */
bool frame_make(const frame_maker *m, seat *on, frame_result *f, bloom_report *made, err *e);

#endif
