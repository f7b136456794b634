/* frame.h - makes one frame of a job: reads it, blooms it on a device, and writes it. Several
 * workers may each be busy with a frame. */
#pragma once

#include "app/run/record.h"
#include "bloom/bloom.h"
#include "bloom/light_notes.h"
#include "image/flat/screen.h"

#include <pthread.h>
#include <stdatomic.h>

/* A bloom that frames with the same kernel share. */
typedef struct {
    /* The queue's lock guards these. */
    char *kernel;   /* its path; NULL: the entry is empty */
    uint32_t users; /* frames that open the bloom, wait for it or use it */
    uint64_t last;  /* when it was last taken */

    pthread_mutex_t lock; /* held while the bloom is opened */
    bloom *bloom;         /* NULL until it is opened */
} queue_bloom;

/* A device, or the choice of one, and its blooms: several where kernels are many. */
typedef struct {
    /* Only read once workers run. */
    bloom_settings s;
    device_pool *devices;

    pthread_mutex_t lock;
    queue_bloom bloom[ENGINE_SLOTS + 4]; /* more than frames under way */
    uint64_t takes;
} device_queue;

/* Makes a queue, whose devices belong to the caller and must outlive it. The settings are those of
 * stages_bloom, with the queue's own device and slots. */
void device_queue_open(device_queue *q, const bloom_settings *s, device_pool *devices);
void device_queue_close(device_queue *q);

/* What all workers share. */
typedef struct {
    const run_choice *run;
    const record_run *records;
    par *threads;
    screen *screen;      /* of pictures; NULL: there are none */
    atomic_flag begun;   /* set when a frame has begun to get ready what all of them need */
    light_told told;     /* what the log has said of light */
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

/* What a run would do with a frame, without device work. */
typedef struct {
    uint32_t images;        /* of the run; all else is zero before */
    tiling tiles;           /* where the image does not fit; zeros: it does */
    mem_plan memory;        /* that an image takes */
    bloom_report predicted; /* promise, bad pixels and notes of the image */
    bloom_forecasts all;    /* of each device */
    int best;               /* the device that would be taken */
    bloom *owner;           /* keeps the list of devices alive */
} forecast;

/* Reads the image and the kernel. Free with forecast_free, also after a failure. */
bool frame_forecast(frame_maker *m, const job_files *files, forecast *f, err *e);
void forecast_free(forecast *f);
/* Tells in the log, once a run, what is wrong with the kernel, in the words of lint_glance. */
void hints_faults(const char *kernel, const char *faults);
