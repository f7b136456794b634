/* sequence.h - the frames of a job, several at a time.
 *
 * Two frames per device are under way: while one is computed, the other is written and the one
 * after it is read; a GPU has both in flight, on one engine with one kernel's spectrum. With
 * --device all every device that can hold the work takes a frame whenever it is free; the first
 * frames are dealt out in the order of `fftbloom devices`, and at the end no device takes a frame
 * that the others would have done sooner. Which device did a frame is in its report; devices differ
 * in the last bits of a result, but the same kind makes the same bytes.
 *
 * --mem-limit leaves no room for frames in advance: then there is one per device.
 *
 * The frame that fails stops the run; frames that are under way are finished. */
#ifndef APP_SEQUENCE_H
#define APP_SEQUENCE_H

#include "app/run/frame.h"
#include "app/run/job.h"
#include "app/run/progress.h"

/* Returns how many frames of a job of this many are under way at a time on each device. */
uint32_t sequence_workers(const settings *s, size_t frames);

/* Adds every frame that was looked at to the report. The error is that of the first frame, in the
 * order of the job, that failed. */
bool sequence_run(frame_maker *m, const job *j, progress *told, report *r, err *e);

#endif
