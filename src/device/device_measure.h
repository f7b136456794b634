/* device_measure.h - times a device: whole frames and passes, and the constants of device_speed.h.
 *
 * Works below images and files: a frame of noise and a kernel's spectrum go through the engine. */
#ifndef BLOOM_DEVICE_MEASURE_H
#define BLOOM_DEVICE_MEASURE_H

#include "device/device_speed.h"

enum { MEASURE_ROUNDS = 1000, MEASURE_QUEUE = 1000 };

typedef struct {
    const engine_device *device;
    const plan *plan;
    spectrum_lines *kernel; /* whose values the engine may take */
    const char *cache_dir;  /* NULL: none */
    uint32_t rounds;        /* 1 .. MEASURE_ROUNDS */
    uint32_t queue;         /* frames of a round, 1 .. MEASURE_QUEUE: one frame is timed with its
                             * transfers, several back to back with the data on the device */
    uint32_t in_flight;     /* frames under way at a time, 1 .. ENGINE_SLOTS; of a queue 1 */
    double warm_up;         /* s of frames before the first that counts, which is never the first */
    double patience;        /* s: engine_options */
} measure_request;

/* Of all rounds: the least, the quartiles and the most. */
typedef struct {
    double least, low, median, high, most;
} measure_spread;

/* As engine_times, each member for itself. */
typedef struct {
    measure_spread upload, pass[PLAN_PASSES], download, total;
} measure_times;

/* Seconds. */
typedef struct {
    double open, prepare;
    measure_spread frame; /* one frame: from planes to planes, as the host sees it, or with several
                           * in flight from the end of one to that of the next; of several one, by
                           * the device's clock */
    measure_times times;
    double copy, copy_pass[PLAN_PASSES]; /* as engine_repeat: medians */
} measure_result;

bool measure_device(measure_result *to, const measure_request *r, par *threads, err *e);

/* Of n values, which are sorted. */
measure_spread measure_spread_of(double *value, uint32_t n);
/* The medians. */
engine_times measure_medians(const measure_times *t);

/* A round kernel of size * size taps that falls off with the third power of the distance, a little
 * different in each channel. */
bool measure_kernel(psf *to, uint32_t size, uint32_t channels, err *e);

/* Fits the constants to a small and a large frame, whose sizes suit the class; takes seconds. */
bool measure_speed(device_speed *to, const engine_device *d, const char *cache_dir, par *threads,
                   err *e);

#endif
