/* noise.h - predicts how wrong a pixel that went through a transform can be.
 *
 * |error| <= floor + relative * |pixel|
 *
 * `relative` is rounding of the pixel's own size. `floor` is the same everywhere in the frame, and
 * follows from what the transform has to carry (noise_load) alone. docs/inside/math.md, "The noise
 * floor", argues the constants, and tests/unit/test_noise.c holds them to every engine. */
#pragma once

#include "image/scan.h"
#include "math/plan.h"

/* The sums of a kernel without its centre tap, scaled. */
typedef struct {
    double sum, norm, peak;       /* of |tap|, of squares (root), largest |tap| */
    double alias_sum, alias_peak; /* of what a resampled spectrum makes of them elsewhere */
    double centre;                /* |the centre tap| */
    bool signs;                   /* a tap or the centre is below zero */
} noise_tail;

/* What a transform carries: its result on the whole circle, also at places that are no pixels. */
typedef struct {
    double norm;    /* root of the sum of squares */
    double peak;    /* largest magnitude, also of what terms add up to if none cancels another */
    double alias;   /* bound on the aliases of a resampled spectrum at a pixel */
    double outside; /* bound on the norm of what is outside the image */
    double total;   /* sum of magnitudes of the input, times `gain` */
    double input;   /* root of the sum of squares of the input */
    double gain;    /* the larger of 1 and the tail's sum */
    double own;     /* norm of what the way there rounds and the kernel then cancels */
    double cancel;  /* bound on how much larger than a pixel the sum of its terms' magnitudes is */
} noise_load;

/* How it is transformed. */
typedef struct {
    plan_precision precision;
    double points; /* L1 * L2 */
} noise_transform;

/* The taps of a kernel as they lie in memory. */
typedef struct {
    const float *tap;
    size_t pitch; /* from row to row */
    uint32_t w, h, cx, cy;
    double scale;
    /* spectrum_alias of each column and row; NULL: the spectrum is exact */
    const double *alias_x, *alias_y;
} noise_taps;

/* Returns the sums of all taps but the centre's, and no centre. */
noise_tail noise_tail_of(const noise_taps *k);

/* Returns an upper bound on what a plane makes, for any arrangement of its pixels. `points` as in
 * noise_transform. It is nearer where the channel has a histogram. */
noise_load noise_load_bound(const scan_channel *c, const noise_tail *k,
                            const border_axis axis[PLAN_AXES], double points);

/* Returns the same where the norm of the result inside the image is known. */
noise_load noise_load_known(const noise_load *bound, double inside);

/* Returns the floor; infinity where the numbers do not fit the precision. */
double noise_floor(const noise_transform *t, const noise_load *load);
/* Returns the rounding of a pixel itself, in parts of it. */
double noise_relative(plan_precision p);
