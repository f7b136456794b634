/* psf_core.h - splits a kernel at a radius into core and tail: the light that a lens leaves within
 * some taps of its place, and its glare. A kernel whose core is folded has the core's sum as its
 * centre tap, and zeros around. docs/inside/math.md, "Taking glare away", says what for. */
#pragma once

#include "kernel/psf.h"

#define PSF_CORE_MOST 8192.0

/* Finds the radius from which on the kernel falls off as its tail does: the smallest one, at least
 * 1, from which on the log-log slope of its rings (a ring and those up to twice as far) stays
 * within a fifth of that of the outer third. Where a tail fades out at the kernel's border, that
 * third ends before the fade. */
bool psf_core_radius(double *radius, const psf *k, err *e);

/* Returns whether tap i of a channel lies within the radius. */
bool psf_core_has(const psf *k, size_t i, double radius);
/* Moves what lies within the radius into the centre tap. Sums and scale stay. */
void psf_core_fold(psf *k, double radius);

/* What a channel keeps in its place, and the sum of its tail's magnitudes, scaled. */
typedef struct {
    double core, tail;
} psf_split;
psf_split psf_core_split(const psf *k, uint32_t channel, double radius);
