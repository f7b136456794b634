/* ring.h - looks at a plane ring by ring around one of its taps, robustly: photographs have noise,
 * reflections and other lamps. Finds the core of a lamp's picture, too. */
#pragma once

#include "base/err.h"

/* The taps of a plane in whole rings one tap wide; ring r is of the taps r - 0.5 to r + 0.5 away.
 */
typedef struct {
    uint32_t w, h, cx, cy, rings; /* around tap cx, cy */
    uint32_t *first;              /* ring r is tap[first[r]] to tap[first[r + 1] - 1] */
    uint32_t *tap;
    double *room; /* for sorting taps, and one number a ring behind them */
} ring_map;

bool ring_map_make(ring_map *m, uint32_t w, uint32_t h, uint32_t cx, uint32_t cy, err *e);
void ring_map_free(ring_map *m);

/* Returns the mean of the taps of a ring between the fifth and the last fifth in order of light. */
double ring_robust_mean(const ring_map *m, const double *plane, uint32_t r);

/* Returns the deviation of the noise in the rings [from, to): of each tap from the mean of its
 * neighbours, by the median, so that structure does not count. */
double ring_noise(const ring_map *m, const double *plane, uint32_t from, uint32_t to);

/* Returns how far taps of the rings [from, to) are from the robust mean of their ring, as the
 * deviation that noise of the same median would have. */
double ring_scatter(const ring_map *m, const double *plane, uint32_t from, uint32_t to);

/* A fall-off: light = level * distance^-slope + background. */
typedef struct {
    double level, slope, background;
    double deviation; /* of the background */
} ring_fall;

/* Fits a fall-off to the robust means of the rings [from, to), whose taps have `noise`; with
 * `ground` also a background, else it is 0. level is 0 where nothing falls off. */
ring_fall ring_fit_fall(const ring_map *m, const double *plane, uint32_t from, uint32_t to,
                        double noise, bool ground);
double ring_fall_at(const ring_fall *f, double distance);

/* A straight line through log(light) over log(distance): light = exp(level) * distance^-slope. */
typedef struct {
    double slope, level;
    uint32_t points; /* rings that have light */
} ring_line;
/* Fits a line to the means of the rings [first, end); NaNs where fewer than two have light. */
ring_line ring_fit_line(const double *mean, uint32_t first, uint32_t end);

/* --- the core: cut off where the light around it rises so steeply that it cannot end there --- */

/* The flank of a core: light ~ exp(level) * (1 + (r / width)^2)^-slope. */
typedef struct {
    double level, width, slope;
    bool cut; /* the core is cut off: the flank leads to a middle that is brighter by more than a
               * seventh */
} core_flank;

double core_flank_at(const core_flank *f, double r);

/* Marks the taps of at least `least` that hang together with tap `from`. */
bool core_mark(uint8_t *in, const double *tap, uint32_t w, uint32_t h, size_t from, double least,
               err *e);
/* Returns the part of the highest value from which taps are as bright: values of 8 bits wobble. */
static inline double core_part(bool eight_bit) {
    return eight_bit ? 0.97 : 0.998;
}

/* Marks the core of a channel, the taps around the middle of the rings that are as bright as the
 * brightest of them, and fits its flank. */
bool core_find(uint8_t *in, core_flank *f, const ring_map *m, const double *tap, bool eight_bit,
               err *e);
