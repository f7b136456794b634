/* stencil.h - adds weighted rows up, in floats: the inner loop of all sums in space where no term
 * is below zero.
 *
 *   to[i][x]  +=  sum over k < taps of  tap[i][k] * row[x + k]          i < rows, x < n
 *
 * Up to four rows of sums are made of one row that is read, because loading it takes longer than
 * multiplying. It knows nothing of kernels and images. */
#ifndef BLOOM_STENCIL_H
#define BLOOM_STENCIL_H

#include <stdint.h>

enum {
    STENCIL_ROWS = 4,
    STENCIL_MORE = 15 /* columns behind the n that may be made, too: `row` and `to` have room */
};

typedef struct {
    const float *row, *tap[STENCIL_ROWS];
    float *to[STENCIL_ROWS];
    uint32_t rows, taps, n;
} stencil;

/* Adds. The sum over k is made first, so that a term is rounded at most taps + 2 times. */
void stencil_add(const stencil *s);

#endif
