/* device_measure.h - times a device: whole frames and passes, by frames of noise. */
#pragma once

#include "engine/engine.h"
#include "kernel/psf.h"

enum { MEASURE_ROUNDS = 1000, MEASURE_QUEUE = 1000 };

/* What a frame is like, which decides what the last pass does. ORDINARY: all of it is above zero
 * and spreads. BLACK: black areas and lights beyond halfs. SIGNED: values of both signs. MASKED:
 * light spreads under a mask; the plan has one. MARGINS: a tile, of which the middle counts. */
typedef enum {
    MEASURE_ORDINARY,
    MEASURE_BLACK,
    MEASURE_SIGNED,
    MEASURE_MASKED,
    MEASURE_MARGINS
} measure_kind;
extern const char *const MEASURE_NAME[];

typedef struct {
    const engine_device *device;
    const plan *plan;
    spectrum_lines *kernel; /* the engine may take its values */
    const char *cache_dir;  /* NULL: none */
    measure_kind kind;
    uint32_t rounds;    /* 1 .. MEASURE_ROUNDS */
    uint32_t queue;     /* frames of a round, 1 .. MEASURE_QUEUE. One frame is timed with its
                         * transfers; several run back to back, with the data on the device */
    uint32_t in_flight; /* frames under way at a time, 1 .. ENGINE_SLOTS; 1 with a queue */
    double warm_up;     /* s of frames that are not counted, at least one frame */
} measure_request;

/* The minimum, the quartiles and the maximum of several values. */
typedef struct {
    double least, low, median, high, most;
} measure_spread;

/* The spread of each member of engine_times. */
typedef struct {
    measure_spread upload, pass[PLAN_PASSES], download, total;
} measure_times;

/* Seconds. */
typedef struct {
    double open, prepare;
    measure_spread frame; /* of one frame, from planes to planes by the host's clock; with several
                           * in flight, from one end to the next; of a queue, by the device's
                           * clock */
    measure_times times;
    double copy, copy_pass[PLAN_PASSES]; /* those of engine_repeat, once */
} measure_result;

/* Opens the device, runs the rounds, and closes it. */
bool measure_device(measure_result *to, const measure_request *r, par *threads, err *e);
/* Runs the rounds on an engine that is prepared. A failure leaves frames in flight. */
bool measure_rounds(measure_result *to, engine *g, const measure_request *r, err *e);

/* Returns the spread of n values, and sorts them. */
measure_spread measure_spread_of(double *value, uint32_t n);
engine_times measure_medians(const measure_times *t);

/* Makes a round kernel that falls off with the third power of the distance. */
bool measure_kernel(psf *to, uint32_t size, uint32_t channels, err *e);

/* Starts the drivers of the devices, but the CPU, that `want` may mean, before a sandbox is
 * entered: each is opened, computes a small frame, and stays open for the run (engine_open_ahead).
 * One that fails is told of at LOG_INFO. Call it while there is one thread; cache_dir may be NULL.
 */
void device_ahead(const char *want, const char *cache_dir);
