/* noise.h - how wrong a pixel that went through a transform can be, predicted.
 *
 *   |error|  <=  floor + relative * |pixel|
 *
 * `relative` is rounding of the pixel's own size, and harmless. `floor` is the same everywhere in
 * the frame: the rounding errors of a transform spread over all of it, so one sun sets the floor of
 * every shadow. It follows from what the transform has to carry (noise_load) and from nothing else;
 * the centre tap and whatever else is done in space do not count. Pure arithmetic; docs/math.md,
 * "The noise floor", argues the constants, and tests/unit/test_noise.c holds them to every engine.
 */
#ifndef MATH_NOISE_H
#define MATH_NOISE_H

#include "image/scan.h"
#include "math/plan.h"

/* The part of a kernel that goes through the transform, scaled. */
typedef struct {
    double sum, norm, peak; /* of |tap|, of squares (root), largest |tap| */
} noise_tail;

/* What a transform carries: the result on its whole circle. */
typedef struct {
    double norm;  /* root of the sum of squares */
    double peak;  /* largest magnitude */
    double total; /* sum of magnitudes of the input, times the larger of 1 and the tail's sum */
} noise_load;

/* Taps farther than `core` from the centre, along x or y; core 0: all but the centre tap. */
noise_tail noise_tail_of(const float *tap, uint32_t w, uint32_t h, uint32_t cx, uint32_t cy,
                         double scale, uint32_t core);

/* A bound on what a plane makes, from its histogram, pixels in bin `below` and higher left out, and
 * with what borders show again. For any arrangement of the pixels. Of a scan without histograms,
 * which has no borders, everything is in: a bound that is near where no pixel stands out. */
noise_load noise_load_bound(const scan_channel *c, uint32_t below, const noise_tail *k);

/* The same when the result's norm and peak are known or estimated where the image itself is what
 * makes them: much nearer to the truth for many bright pixels, of which a histogram does not tell
 * whether they lie together. What borders show again counts with its bound. */
noise_load noise_load_known(const scan_channel *c, uint32_t below, const noise_tail *k, double norm,
                            double peak);

/* What to scale the input with, as a power of two, so that no number of the transform is too large
 * or too small: 0 where none is, else from NOISE_LOW to NOISE_HIGH. The result is scaled back. */
enum { NOISE_LOW = -60, NOISE_HIGH = 90 };
int noise_exponent(plan_precision p, double points, const noise_load *load);

/* points: L1 * L2. Infinite where the numbers, so scaled, do not fit the precision. */
double noise_floor(plan_precision p, double points, const noise_load *load, int exponent);
double noise_relative(plan_precision p);

#endif
