/* sequence.h - makes the frames of a job, several at a time.
 *
 * Where memory allows, as many frames are under way as the pool has threads, and one more: each is
 * read, bloomed and written by one thread, which needs no other. Where there are fewer frames than
 * threads, at the end of a sequence or under a low --mem-limit, the pool's threads share the pieces
 * of the frames that are left, those of the oldest frame first.
 *
 * Where --device names several, each of them that can hold the work takes a frame whenever it is
 * free. The first frames are dealt out in the order of `fftbloom devices`, and at the end no device
 * takes a frame that the others would have done sooner. Which device did a frame is in its report;
 * devices differ in the last bits of a result, but the same kind makes the same bytes.
 *
 * A frame that fails stops the run; frames that are under way are finished. With --keep-going the
 * others are made, unless the kernel cannot be used. A frame that fails because there was no memory
 * beside the others, or because its device failed, is made again alone. */
#pragma once

#include "app/run/frame.h"
#include "app/run/progress.h"

/* Adds every frame that was looked at to the report; told NULL: nobody hears how far it is. Returns
 * false where a frame has stopped the run; the error is that of the first such frame in the order
 * of the job. Failures after which the run went on are in the log, and the one that counts is in
 * r->failure. */
bool sequence_run(frame_maker *m, const job_source *from, progress *told, report *r, err *e);
typedef struct {
    const double *seconds; /* that a frame takes on each device; 0: not known yet */
    int devices;
    uint32_t at_a_time; /* frames under way on each device */
    size_t left;        /* frames that nobody has taken */
} sequence_paces;
/* Returns whether a device leaves the next frame to faster ones, which would do all that are left
 * in the time that it needs for a single one. The fastest takes every frame, so none is left. */
bool sequence_leaves(const sequence_paces *p, int device);
/* Adds, as text or as JSON, the frames that would be made or passed over, and makes none.
 * ERR_NO_INPUT where an input is not there and --keep-going is not given. */
bool sequence_list(const frame_maker *m, const job *j, text *to, err *e);
/* Returns whether the input or the output is a stream. */
bool pipe_is(const settings *s);
/* Makes all frames. Refuses options that have no effect on streams. */
bool pipe_run(const cli *c, err *e);
