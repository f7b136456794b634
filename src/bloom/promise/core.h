/* core.h - the middle of the kernel, convolved in space.
 *
 * Where the kernel is peaked and large areas are bright, the taps around the centre make most of
 * what a transform would have to carry. Those within `radius` of it, along x and along y, are
 * summed directly; the transform does the rest. */
#ifndef BLOOM_CORE_H
#define BLOOM_CORE_H

#include "bloom/promise/spread.h"

enum { CORE_RADIUS = 16 };

typedef struct {
    uint32_t radius; /* 0: none, and nothing is done */
    const spread *s;
    double *tap;     /* [kernel][2r + 1][2r + 1], scaled, turned so that rows are read forwards */
    int32_t *column; /* w + 2r: which column stands there, -1 for none */
} kernel_core;

bool core_make(kernel_core *c, const spread *s, uint32_t radius, err *e);
void core_free(kernel_core *c);

/* Adds `by` times the core's part of row y to `to`, and to `magnitude`, unless that is NULL, what
 * its terms come to without their signs; `in` is the whole plane. A worker that calls it for one
 * row after the other has core_scratch doubles for that alone, whose bits were all 1 at first: rows
 * of the image as doubles, which neighbouring rows of the result share. */
void core_row(const kernel_core *c, uint32_t channel, const float *in, uint32_t y, double by,
              double *to, double *magnitude, double *scratch);
size_t core_scratch(const kernel_core *c);

/* The kernel without its core, but with its centre tap: what the spectrum is made of. */
void core_cut(psf *k, uint32_t radius);

/* Multiplications of one plane. */
double core_work(const spread *s, uint32_t radius);

#endif
