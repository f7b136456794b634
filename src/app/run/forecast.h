/* forecast.h - says what a run would do, without device work: how the first image's promise would
 * be kept, the plan, and the time on each device. Writes nothing. */
#ifndef APP_FORECAST_H
#define APP_FORECAST_H

#include "app/cli/settings.h"

typedef struct {
    bloom_report predicted;      /* promise, bad pixels and notes of the image */
    const engine_device *device; /* the machine's, `devices` of them */
    device_forecast *each;       /* of each device */
    uint32_t devices;
    int best;     /* the device that would be taken */
    bloom *owner; /* holds the devices */
} forecast;

/* Reads the image and the kernel. `images` is how many the run has. Free with forecast_free, also
 * after a failure. */
bool forecast_make(forecast *f, const settings *s, const char *input, uint32_t images, par *threads,
                   err *e);
void forecast_free(forecast *f);

#endif
