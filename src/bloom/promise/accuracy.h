/* accuracy.h - whether a result keeps its promise: in floats, or else in doubles.
 *
 * The promise: |error| <= tolerance * max(|pixel|, dark); the rounding of what is stored comes on
 * top. Dark is 1e-4 of the median of the channel's pixels that are not zero, or more: the median
 * size of its pixels below zero where these are common, as they are noise, but at most 1e-2 of the
 * median; and a half's smallest step where halfs are stored (docs/inside/math.md, "What is dark").
 * How wrong a pixel can be is predicted by math/noise.h: the precision is chosen from what a scan
 * of the image knows ("Floats or doubles"), and the result is judged by what was measured. */
#pragma once

#include "bloom/promise/tail.h"
#include "engine/join.h"

#define ACCURACY_DARK 1e-4 /* of the median */

typedef struct {
    const kernel_tail *tail;
    const noise_tail *sums; /* of each channel: tail_sums */
    const scan *scanned;
    const double *dark; /* accuracy_dark of each channel of the image, of which perhaps only a part
                           is spread */
    const bool *signs;  /* of each channel: image or kernel has numbers below zero */
    bool partly;        /* light only partly spreads, and is rounded to floats before */
    double digits;      /* what a pixel loses, in parts of it, before and after; 0: nothing */
    double tolerance;
    plan_precision precision; /* AUTO, or what it has to be */
    double points;            /* of the plan: L1 * L2 */
    bool doubles;             /* are possible */
    /* Of a field: the floor of each channel's sum of windows, once they are made; NULL: none are.
     */
    const double *floors;
    uint32_t roundings; /* to floats on the way of a pixel's glare; 0: those of one transform */
} accuracy_facts;

typedef struct {
    plan_precision precision; /* FLOAT32 or FLOAT64 */
    uint32_t roundings;       /* as the facts have it */
    bool in_parts;            /* pixels may be joined of parts that are floats: not on a CPU */

    /* The verdict, of the channel that is nearest to breaking the promise: */
    double floor, allowed, darkest;
    double rounded; /* what comes on top of `floor` where a pixel is large: digits and sums */
    uint32_t channel;
    bool kept; /* floor <= allowed, for all channels */
    /* For each channel, no pixel is off by more than error + accuracy_relative * max(|pixel|,
     * dark). */
    double error[PSF_CHANNELS];
} accuracy;

/* Chooses a precision by what is known before a transform. */
void accuracy_choose(accuracy *to, const accuracy_facts *f);

/* Judges what came out of each channel: sets floor, allowed, darkest, channel, error and kept. */
void accuracy_check(accuracy *a, const accuracy_facts *f, const join_stats *m);

/* Returns the magnitude below which a pixel's error is not relative to the pixel any more. halfs:
 * the channel is stored in halfs. */
double accuracy_dark(const scan_channel *c, bool halfs);

/* Returns a channel's lowest value, if people see it and it is no noise; 0 otherwise. It is deeper
 * than a tenth of the median, and than what noise reaches: 16 times the median of what is below
 * zero, or, where fewer than one pixel in 100 is, twice the median. */
double accuracy_depth(const scan_channel *c);

/* Returns the part of the error that grows with the pixel. */
double accuracy_relative(const accuracy *a);
/* Writes "float32: errors up to 3e-7, and 9e-7 allowed ...". */
void accuracy_text(const accuracy *a, char *to, size_t room);
