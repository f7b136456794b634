/* accuracy.h - the cheapest way to a result that keeps its promise.
 *
 * The promise: |error| <= tolerance * max(|pixel|, 1e-4 of the median), the median being that of
 * the channel's pixels that are not zero; the rounding of what is stored comes on top. What a
 * pixel's error comes to is predicted (math/noise.h); what keeps it down is, in order of price,
 * nothing, the brightest pixels pasted in space (bloom/promise/bright.h), a core of the kernel in
 * space (bloom/promise/core.h), both, or float64.
 *
 * Decided before the transform from estimates, and checked after it against what was measured. The
 * prices are of one kind of machine and not measured anew, so that the same input is treated alike
 * everywhere. docs/math.md, "Choosing a method". */
#ifndef BLOOM_ACCURACY_H
#define BLOOM_ACCURACY_H

#include "bloom/promise/sketch.h"

enum { ACCURACY_CORES = 5 };
extern const uint32_t ACCURACY_CORE[ACCURACY_CORES]; /* radii: 0, 1, 2, 4 ... */
#define ACCURACY_DARK 1e-4 /* of the median: darker pixels are promised no relative error */

/* Per channel, what a result turned out to be. */
typedef struct {
    double norm, peak; /* of what the transform made, in the image */
    double darkest;    /* least |pixel| of those not far below the promise's floor */
    bool darker;       /* there are pixels far below it */
} accuracy_measured;

typedef struct {
    const spread *s;
    const noise_tail (*tail)[ACCURACY_CORES]; /* of each channel */
    const scan *scanned;  /* without histograms: nothing but the plain transform is considered */
    const sketch *sketch; /* of each channel */
    const double *dark; /* accuracy_dark of each channel of the image, of which perhaps only a part
                           is spread; 0 where there are no histograms */
    double tolerance;
    plan_precision precision;  /* AUTO, or what it has to be */
    double points;             /* of a float32 plan: L1 * L2 */
    double seconds, seconds64; /* of the transforms on one core; seconds64 infinite: impossible */
    const accuracy_measured *measured; /* of an attempt that failed; else NULL */
} accuracy_facts;

typedef struct {
    plan_precision precision; /* FLOAT32 or FLOAT64 */
    uint32_t core;
    uint32_t below[PSF_CHANNELS]; /* histogram bin from which on pixels are pasted */
    int exponent[PSF_CHANNELS];   /* of two: what the transform's input is scaled with */
    double spots;                 /* pasted, with what borders show of them, all channels */
    double seconds;               /* more than the plain transform takes, on one core */
    /* Of the channel that is nearest to breaking the promise: */
    double floor, allowed, darkest;
    uint32_t channel;
    double noise[PSF_CHANNELS]; /* the floor of each channel */
    bool kept;                  /* floor <= allowed, for all channels */
} accuracy;

void accuracy_choose(accuracy *to, const accuracy_facts *f);

/* Whether what came out keeps the promise: sets floor, allowed, darkest, channel and kept. */
void accuracy_check(accuracy *a, const accuracy_facts *f, const accuracy_measured *m);

/* What is allowed for a channel's darkest promised pixel of this magnitude. */
double accuracy_dark(const scan_channel *c); /* 1e-4 of the median */

/* Rounding of the pixel itself on the way, as a part of it. */
double accuracy_relative(const accuracy *a);

/* "float32, 12 pixels in space: errors up to 3e-7, 9e-7 allowed". */
void accuracy_text(const accuracy *a, char *to, size_t room);

#endif
