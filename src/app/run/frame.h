/* frame.h - one frame of a job: read, bloomed on a device, written.
 *
 * Several threads may each be busy with a frame. A seat lets one of them at its device at a time,
 * so that one frame is computed while others are read and written; or SEAT_FRAMES of them, where
 * the device copies one frame while it computes another. */
#ifndef APP_FRAME_H
#define APP_FRAME_H

#include "app/run/report.h"
#include "app/run/stamp.h"

#include <pthread.h>
#include <stdatomic.h>

enum { SEAT_FRAMES = 2 }; /* at a time on a device, at most */

/* A device, or the choice of one. */
typedef struct {
    pthread_mutex_t lock;
    bloom_settings s;
    bloom *bloom[SEAT_FRAMES]; /* the first opened for the first frame, others beside it */
    bool busy[SEAT_FRAMES];
    bool has_room; /* for several frames at a time: each has a bloom of its own then */
} seat;

void seat_close(seat *s);

typedef struct {
    const settings *s;
    const stamps *stamps; /* NULL: there is no cache folder for them */
    par *threads;
    atomic_flag forgets; /* set when the log has said that stamps cannot be written */
} frame_maker;

/* Fills f but for its number and paths, which the caller sets, and says in the log what happened.
 * `made` is what f->made points to afterwards, if anything. False: the frame has failed, and f says
 * so, too; f->why points into e then. */
bool frame_make(frame_maker *m, seat *on, frame_result *f, bloom_report *made, err *e);

#endif
