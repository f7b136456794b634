/* device_search.h - looks for shapes of passes that are faster than the planner's own.
 *
 * By coordinate descent: one choice after the other (axis order, radices, threads, lines per
 * workgroup, ...) every candidate is timed with all others as they are, and the fastest stays;
 * around again until a round brings nothing or the time is up. Candidates that make a plan which
 * was timed before cost nothing. */
#ifndef BLOOM_DEVICE_SEARCH_H
#define BLOOM_DEVICE_SEARCH_H

#include "device/device_tune.h"

/* Seconds per frame with the plan, or false where the device cannot run it. */
typedef bool search_time(void *ctx, const plan *p, double *seconds, err *e);

/* One choice. */
typedef struct {
    const char *name;
    uint32_t tried;
    double seconds; /* per frame, with the best so far */
    bool better;
} search_step;

enum { SEARCH_STEPS = 64 };

typedef struct {
    plan own, best; /* the planner's, and the fastest; the same where nothing is faster */
    bool better;
    device_shape shape; /* of `best` */
    search_step step[SEARCH_STEPS];
    uint32_t steps, tried;
    double spent; /* s */
} search_result;

/* ask: with the limits of a device and without shapes. patience: s; what is begun is ended. */
bool device_search(search_result *to, const plan_request *ask, double patience, search_time *time,
                   void *ctx, err *e);

/* On a device that is opened for it: frames back to back with the data on the device. */
bool device_search_on(search_result *to, const engine_device *d, const plan_request *ask,
                      double patience, par *threads, err *e);

#endif
