/* device_tune.h - shapes of passes that a measurement on a device has found faster than the
 * planner's own, kept between runs.
 *
 * `fftbloom bench --tune` finds them (device_search.h); one small text file per device and driver
 * in the cache folder keeps them. A shape holds for the plan that the planner makes by itself: its
 * first axis, its lengths and its precision. A run whose plan would be such a one takes the shape;
 * whatever of it does not fit there, the planner leaves out. */
#ifndef BLOOM_DEVICE_TUNE_H
#define BLOOM_DEVICE_TUNE_H

#include "base/text.h"
#include "engine/engine.h"

typedef struct {
    uint32_t first, length[2]; /* what it is for: the planner's own choice */
    plan_precision precision;
    plan_axis_order order; /* what is faster; never auto */
    plan_tune tune;
    double before, after; /* s per frame, when it was measured */
} device_shape;

enum { DEVICE_SHAPES = 24 };

typedef struct {
    uint32_t count;
    device_shape shape[DEVICE_SHAPES]; /* the latest last */
} device_tune;

/* As plan_make, with the shape that is known for the plan; t may be NULL. An axis order that is
 * asked for is kept. */
bool device_tune_plan(plan *p, const device_tune *t, const plan_request *ask, err *e);
/* Whether p is of a measured shape. */
bool device_tune_is_in(const plan *p);

/* The shape is for p, a plan that plan_make made without one. */
void device_tune_name(device_shape *s, const plan *p);
/* Replaces the shape for the same plan; the oldest goes where there is no room. s is none of t's.
 */
void device_tune_put(device_tune *t, const device_shape *s);
void device_tune_drop(device_tune *t, const device_shape *s);

/* Nothing where nothing was measured, or for another driver; a damaged file is a warning.
 * cache_dir may be NULL. */
void device_tune_load(device_tune *t, const engine_device *d, const char *cache_dir);
bool device_tune_save(const device_tune *t, const engine_device *d, const char *cache_dir, err *e);

/* One line: "x 2048 1280 float32 : y lengths ..." */
void device_tune_text(const device_shape *s, text *to);

#endif
