/* forecast.h - what a run would do with a frame, without device work. */
#pragma once

#include "app/run/frame.h"

typedef struct {
    uint32_t images;           /* of the run; all else is zero before */
    tiling tiles;              /* where the image does not fit; zeros: it does */
    mem_plan memory;           /* that an image takes */
    bloom_report predicted;    /* promise, bad pixels and notes of the image */
    bloom_forecasts by_device; /* of each device */
    int best;                  /* the device that would be taken */
    double kernel_scale;       /* as frame_result has it */
    bloom *owner;              /* keeps the list of devices alive */
} forecast;

/* Reads the image and the kernel. Free with forecast_free, also after a failure. */
bool frame_forecast(frame_maker *m, const job_files *files, forecast *f, err *e);
void forecast_free(forecast *f);
