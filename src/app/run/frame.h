/* frame.h - makes one frame of a job: reads it, blooms it on a device, and writes it. Several
 * workers may each be busy with a frame. */
#pragma once

#include "app/run/device_queue.h"
#include "app/run/record.h"
#include "bloom/light_notes.h"
#include "image/flat/screen.h"

#include <stdatomic.h>

/* What all workers share. */
typedef struct {
    const run_choice *run;
    picture_look look;
    const record_run *records;
    par *threads;
    screen *screen;      /* of pictures; NULL: there are none */
    atomic_flag begun;   /* set when a frame has begun to get ready what all of them need */
    light_told *told;    /* what the log has said of light */
    atomic_flag forgets; /* set when the log has said that records cannot be written */
} frame_maker;

/* Makes the frame of these files and fills f; says in the log what happened, but not
 * why a frame has failed. f->made points to `made` afterwards where the frame was begun. Returns
 * false when the frame has failed; f->why points into e then. */
bool frame_make(frame_maker *m, device_queue *on, const job_files *files, frame_result *f,
                bloom_report *made, err *e);
/* Makes a frame of the run's input and kernel, and returns the result with all its channels
 * instead of writing it; also where --verify finds the promise broken, with ERR_TOLERANCE. */
image *frame_image(frame_maker *m, frame_result *f, bloom_report *made, err *e);
/* Returns an image as a frame has it before it is bloomed: with all channels, and decoded. */
image *frame_read(const settings *s, const char *input, par *threads, err *e);
