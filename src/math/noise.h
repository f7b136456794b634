/* noise.h - predicts how wrong a pixel that went through a transform can be.
 *
 *   |error|  <=  floor + relative * |pixel|
 *
 * `relative` is rounding of the pixel's own size, and harmless. `floor` is the same everywhere in
 * the frame, because the rounding errors of a transform spread over all of it: one sun sets the
 * floor of every shadow. It follows from what the transform has to carry (noise_load) and from
 * nothing else; this module knows nothing of the centre tap or of what is added in space. It is
 * pure arithmetic. docs/math.md, "The noise floor", argues the constants, and
 * tests/unit/test_noise.c holds them to every engine. */
#ifndef MATH_NOISE_H
#define MATH_NOISE_H

#include "image/scan.h"
#include "math/plan.h"

#include <stdbool.h>

/* The part of a kernel that goes through the transform, scaled: its sums, and how many taps there
 * are of which magnitude. */
enum { NOISE_SIZES = 256 };
typedef struct {
    double sum, norm, peak;       /* of |tap|, of squares (root), largest |tap| */
    double alias_sum, alias_peak; /* of what a resampled spectrum makes of them elsewhere */
    /* How many taps are in the i-th bin from that of 1 downwards, where tap / top has the bins of a
     * scan; the last one counts all that are smaller. */
    double top;
    uint32_t size[NOISE_SIZES];
} noise_tail;

/* What a transform carries: its result on the whole circle, also at places that are no pixels. */
typedef struct {
    double norm;      /* root of the sum of squares */
    double peak;      /* largest magnitude */
    double magnitude; /* bound on what the terms of a pixel add up to where none cancels another */
    double alias;     /* bound on the aliases of a resampled spectrum at a pixel, */
    double alias_of;  /* where the result's largest magnitude is this */
    double total;     /* sum of magnitudes of the input, times `gain` */
    double input;     /* root of the sum of squares of the input */
    double gain;      /* the larger of 1 and the tail's sum */
} noise_load;

/* How it is transformed. */
typedef struct {
    plan_precision precision;
    double points; /* L1 * L2 */
    bool signs;    /* image or kernel has numbers below zero: terms may cancel */
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

/* Fills to[i] with the sums of the taps farther than core[i] from the centre, along x or y; core 0:
 * of all but the centre tap. The n cores ascend. */
void noise_tails(noise_tail *to, const noise_taps *k, const uint32_t *core, uint32_t n);

/* Returns an upper bound on what a plane makes, for any arrangement of its pixels. It follows from
 * the plane's histogram, without the pixels in bin `below` and higher, and with the pixels that
 * borders show again. A scan without histograms, which has no borders either, counts with all its
 * pixels; the bound is then close unless single pixels are much brighter than the rest. */
noise_load noise_load_bound(const scan_channel *c, uint32_t below, const noise_tail *k);

/* Returns the same where norm and peak of the result are known or estimated, but for the part that
 * borders show again, which counts with its bound. That is much closer for many bright pixels,
 * because a histogram does not tell whether they lie together. */
noise_load noise_load_known(const scan_channel *c, uint32_t below, const noise_tail *k, double norm,
                            double peak);

/* Returns the power of two to scale the input with, so that no number of the transform is too large
 * or too small: 0 where none is, else from NOISE_LOW to NOISE_HIGH. The result is scaled back. */
enum { NOISE_LOW = -60, NOISE_HIGH = 90 };
int noise_exponent(const noise_transform *t, const noise_load *load);

/* Returns the floor; infinity where the numbers, so scaled, do not fit the precision. */
double noise_floor(const noise_transform *t, const noise_load *load, int exponent);
/* Returns the rounding of a pixel itself, in parts of it. */
double noise_relative(plan_precision p);

#endif
