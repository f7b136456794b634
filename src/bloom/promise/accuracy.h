/* accuracy.h - the cheapest way to a result that keeps its promise.
 *
 * The promise: |error| <= tolerance * max(|pixel|, 1e-4 of the median), the median being that of
 * the channel's pixels that are not zero; the rounding of what is stored comes on top. A pixel's
 * error is predicted (math/noise.h) for each method in a table, and the cheapest method that keeps
 * the promise is taken: docs/math.md, "Choosing a method".
 *
 * The choice is made before the transform from estimates, and judged after it by what was measured.
 * Prices are in seconds of one core of the host: those of sums in space are constants, those of
 * transforms follow from the device at hand (device/device_choice.h). Nothing here touches a pixel:
 * bloom/attempt.h runs a method. */
#ifndef BLOOM_ACCURACY_H
#define BLOOM_ACCURACY_H

#include "bloom/promise/sketch.h"

#define ACCURACY_DARK 1e-4 /* of the median: darker pixels are promised no relative error */

/* Per channel, what a result turned out to be. */
typedef struct {
    double norm, peak; /* of what the transform made, in the image */
    double darkest;    /* least |pixel| of those not far below the promise's floor */
    bool darker;       /* there are pixels far below it */
    /* How far terms that cancel, added in space, may have put a pixel off by their rounding, where
     * that is more than the pixel's own: the largest, as it is, and in parts of what the pixel
     * should be or of dark, whichever is larger. 0 where nothing is below zero. */
    double cancelled, cancelled_part;
} accuracy_measured;

typedef struct {
    const kernel_tail *tail;
    const noise_tail (*sums)[CORES]; /* of each channel: tail_sums */
    const scan *scanned;  /* without histograms: nothing but the plain transform is considered */
    const sketch *sketch; /* of each channel */
    const double *dark; /* accuracy_dark of each channel of the image, of which perhaps only a part
                           is spread; 0 where there are no histograms */
    const bool *signs;  /* of each channel: image or kernel has numbers below zero */
    double tolerance;
    plan_precision precision;  /* AUTO, or what it has to be */
    double points;             /* of a float32 plan: L1 * L2 */
    double seconds, seconds64; /* of the transforms on one core; seconds64 infinite: impossible */
    const accuracy_measured *measured; /* of an attempt that failed; else NULL */
} accuracy_facts;

typedef struct {
    /* The method: what bloom/attempt.h runs. */
    const char *method;           /* its name */
    plan_precision precision;     /* FLOAT32 or FLOAT64 */
    uint32_t core;                /* radius of the kernel's core that is summed in space */
    uint32_t below[PSF_CHANNELS]; /* histogram bin from which on pixels are pasted */
    int exponent[PSF_CHANNELS];   /* of two: what the transform's input is scaled with */
    double spots;                 /* pasted, with what borders show of them, all channels */
    double terms;                 /* added in space for one pixel, at most */
    /* Where nothing is below zero, these terms may be added up in floats, which puts a pixel off by
     * this part of it; 0: they may not. */
    double floats;
    double seconds; /* more than the plain transform takes, on one core */

    /* The verdict, of the channel that is nearest to breaking the promise: */
    double floor, allowed, darkest;
    uint32_t channel;
    bool kept; /* floor <= allowed, for all channels */
    /* For each channel, no pixel is off by more than error + accuracy_relative * max(|pixel|,
     * dark). It is the floor plus what terms that cancel add to it, perhaps at bright pixels. */
    double error[PSF_CHANNELS];
} accuracy;

/* Chooses by what is known before a transform; f->measured: by what the last one turned out to be.
 */
void accuracy_choose(accuracy *to, const accuracy_facts *f);

/* Judges what came out: sets floor, allowed, darkest, channel, error and kept. */
void accuracy_check(accuracy *a, const accuracy_facts *f, const accuracy_measured *m);

/* Returns true if both are run in the same way. */
bool accuracy_same_method(const accuracy *a, const accuracy *b);

/* Returns the magnitude below which a pixel's error is not relative to the pixel any more. */
double accuracy_dark(const scan_channel *c);

/* Returns the rounding of what is added in space for one pixel, in parts of what its terms come to
 * without their signs. excess: the terms are of the excess over a threshold, which is rounded to
 * floats. */
double accuracy_rounding(const accuracy *a, bool excess);

/* Returns the part of the error that grows with the pixel. */
double accuracy_relative(const accuracy *a);

/* Writes "float32, 12 bright spots in space: errors up to 3e-7, and 9e-7 allowed ...". */
void accuracy_text(const accuracy *a, char *to, size_t room);

#endif
