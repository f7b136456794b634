/* spectrum_resample.h - samples a half spectrum at other lengths.
 *
 * The spectrum of a kernel is a trigonometric polynomial: its values on a grid of m frequencies
 * determine those between, and a short filter along each axis finds them. The Kaiser-Bessel filter
 * is right to 1e-7 for a grid of twice the kernel's size, if the kernel was divided by
 * resample_falloff before it was transformed. The linear filter of texture units is not right.
 *
 * The work is done in float, in two passes, each a sum of 8 weighted neighbours: first along the
 * second axis for every line of the source, once; then along the first axis, where whole lines are
 * added, for each line of the result when it is needed. */
#pragma once

#include "base/par.h"

enum { RESAMPLE_TAPS = 8 };

typedef struct {
    const float *from; /* complex [channel][kx: 0 .. m[0]/2][ky: 0 .. m[1]-1] */
    uint32_t channels;
    uint32_t m[2];      /* x, y */
    uint32_t first;     /* 0: the result's halved axis is x; 1: it is y */
    uint32_t length[2]; /* of the result: x, y */
    int64_t shift[2];   /* taps, x and y, by which the kernel moves to the right or down */
} resample_request;

/* A spectrum at other lengths after the first pass. Const once it is made. */
typedef struct resampling resampling;

/* Does the first pass. The request's `from` is not needed any more afterwards. */
resampling *resample_open(const resample_request *r, par *threads, err *e);
void resample_close(resampling **s);
/* Returns the rows that the first pass has made, of L2 complex numbers each, and how many there are
 * of a channel; the channels follow one another. A caller that changes the order of numbers in
 * all of them gets lines in that order. */
float *resample_rows(resampling *s, size_t *count);

/* Fills to[line][number]. Neighbours are made of nearly the same numbers, and some of them together
 * take less time than each alone. */
typedef struct {
    uint32_t channel, k1, lines; /* k1 = 0 .. L1/2 along the first axis */
    uint32_t first, count;       /* complex numbers of each */
} resample_piece;
void resample_lines(const resampling *s, const resample_piece *p, float *to);

/* Returns the factor that the Kaiser-Bessel filter puts on the kernel at x taps from the middle of
 * a grid of m: 1 in the middle, smaller outside. */
double resample_falloff(double x, uint32_t m);
/* Returns the sum of what appears of a tap at x in other places, relative to the tap:
 * docs/inside/math.md, "Interpolation, and undoing what it does". */
double resample_alias(double x, uint32_t m);
