/* device_measure.h - times a device: whole frames and passes, and the constants of device_speed.h.
 *
 * Works below images and files: a frame of noise and a kernel's spectrum go through the engine. */
#ifndef BLOOM_DEVICE_MEASURE_H
#define BLOOM_DEVICE_MEASURE_H

#include "bloom/device_speed.h"

enum { MEASURE_ROUNDS = 1000 };

typedef struct {
    const engine_device *device;
    const plan *plan;
    spectrum_lines *kernel; /* whose values the engine may take */
    const char *cache_dir;  /* NULL: none */
    uint32_t rounds;        /* 1 .. MEASURE_ROUNDS */
    double patience;        /* s: engine_options */
} measure_request;

/* Seconds. Of the rounds the medians, each member for itself, after one that is not counted. */
typedef struct {
    double open, prepare;
    double frame, least; /* from planes to planes, as the host sees it */
    engine_times times;
} measure_result;

bool measure_device(measure_result *to, const measure_request *r, par *threads, err *e);

/* A round kernel of size * size taps that falls off with the third power of the distance, a little
 * different in each channel. */
bool measure_kernel(psf *to, uint32_t size, uint32_t channels, err *e);

/* Fits the constants to a small and a large frame, whose sizes suit the class; takes seconds. */
bool measure_speed(device_speed *to, const engine_device *d, const char *cache_dir, par *threads,
                   err *e);

#endif
