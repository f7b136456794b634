/* pattern.h - the light behind an opening: Fraunhofer diffraction of one wavelength, at any place.
 * Around the focus of a perfect lens light makes |F(k)|^2, with F the Fourier transform of the
 * opening and k = pi times the place in units of wavelength times f-number. F is computed once on a
 * grid and interpolated to some 1e-7 of its peak. */
#pragma once

#include "kernel/make/pupil.h"

typedef struct pattern pattern;

/* Computes the pattern out to |k| = reach, in steps that also suit what lies within; beyond, the
 * last octave is repeated, each time 8 times fainter: sharp edges fall off as k^-3. The largest
 * reach that is computed is 2573. */
pattern *pattern_new(const pupil *p, double reach, bool draft, par *threads, err *e);
void pattern_free(pattern **p);

/* Fills in |F(k)|^2 at n places, as a share of that of a full disc of radius 1 at k = 0. Places
 * that follow each other closely cost less. */
typedef struct {
    double x, y;
} pattern_place;
void pattern_at(const pattern *p, const pattern_place *k, size_t n, double *to);
