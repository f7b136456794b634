/* psf_shape.h - what is done to a kernel's taps before they are a psf, in double.
 *
 * A shape's centre may lie between taps; each step keeps the sum of the taps and leaves the centre
 * where it was in the picture. The steps that change the size put a new array in place of the old
 * one. For psf.c only. */
#ifndef KERNEL_PSF_SHAPE_H
#define KERNEL_PSF_SHAPE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum { AXIS_W, AXIS_H };

typedef struct {
    uint32_t size[2], channels; /* width, height */
    double *tap;                /* [channel][y][x] */
    double center[2];           /* x, y */
} psf_shape;

/* From a kernel whose centre is its corner, with what lies left of it and above wrapped around to
 * the far ends (the layout of transforms), to one whose centre is floor(size / 2). */
bool shape_unwrap(psf_shape *s, err *e);

/* By 180 degrees. */
void shape_turn(psf_shape *s);

/* `scale` times as large. The new grid has a tap on the centre, so a centre between taps ends on
 * one. Shrinking, each new tap gathers what its area covers; enlarging, it gathers the area under
 * straight lines from tap to tap. No tap below zero can come out of taps that were not. */
bool shape_scale(psf_shape *s, double scale, err *e);

/* Moves a centre between taps onto the nearest one by a phase ramp on the spectrum of the kernel
 * padded to the next even length without prime factors above 7 from twice its size on, along the
 * axes that need it; these grow to that size. The ramp at the
 * Nyquist frequency is its cosine, which keeps the taps real. */
bool shape_shift(psf_shape *s, err *e);

#endif
