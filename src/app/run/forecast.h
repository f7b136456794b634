/* forecast.h - says what a run would do, without device work: which frames it would make, how the
 * promise of an image would be kept, and the plan on each device. Writes nothing. */
#ifndef APP_FORECAST_H
#define APP_FORECAST_H

#include "app/run/frame.h"
#include "app/run/job.h"

typedef struct {
    /* Set by the caller; all else is zero before. */
    const char *input, *kernel; /* of the image, or of the first frame */
    uint32_t images;            /* of the run */

    tiling tiles;           /* where the image does not fit; zeros: it does */
    mem_plan memory;        /* that an image takes */
    bloom_report predicted; /* promise, bad pixels and notes of the image */
    bloom_forecasts all;    /* of each device */
    int best;               /* the device that would be taken */
    bloom *owner;           /* keeps the list of devices alive */
} forecast;

/* Reads the image and the kernel. Free with forecast_free, also after a failure. */
bool forecast_make(forecast *f, const settings *s, par *threads, err *e);
void forecast_free(forecast *f);

/* Adds the run's work, the rule of the choice, and for each device an object with lengths and
 * bytes. */
void forecast_json(const forecast *f, json_out *j, const char *key);

/* Adds for `plan` with an output, as text or as JSON, the frames that would be made or passed over.
 * ERR_NO_INPUT where an input is not there and --keep-going is not
 * given; the list is whole then as well. */
bool dry_run(const frame_maker *m, const job *j, text *to, err *e);

#endif
