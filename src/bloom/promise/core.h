/* core.h - the middle of the kernel, convolved in space.
 *
 * Where the kernel is peaked and large areas are bright, the taps around the centre make most of
 * what a transform would have to carry. Those within `radius` of it, along x and along y, are
 * summed directly; the transform does the rest. Which radius is not decided here
 * (bloom/promise/accuracy.h). */
#ifndef BLOOM_CORE_H
#define BLOOM_CORE_H

#include "bloom/promise/tail.h"

enum { CORE_RADIUS = 16, CORES = 6 };
extern const uint32_t CORE_RADII[CORES]; /* that methods use, from 0 on */

/* Returns which of these `radius` is. */
uint32_t core_index(uint32_t radius);

typedef struct {
    uint32_t radius; /* 0: there is no core, and nothing is done */
    const kernel_tail *tail;
    double *tap;     /* [kernel][2r + 1][2r + 1], scaled, turned so that rows are read forwards */
    float *rounded;  /* the same as floats */
    int32_t *column; /* w + 2r: the column of the image that is read there, -1 for none */
} kernel_core;

/* Fills *c, to be freed with core_free. */
bool core_make(kernel_core *c, const kernel_tail *tail, uint32_t radius, err *e);
void core_free(kernel_core *c);

/* A plane, and the place of one worker. */
typedef struct {
    const float *plane;
    double by; /* the core's part is multiplied with it */
    /* core_scratch doubles, whose bits were all 1 at first: rows of the image as doubles, which
     * neighbouring rows of the result share. For core_row alone. */
    double *scratch;
} core_input;

/* Adds the core's part of a row. */
void core_row(const kernel_core *c, const tail_row *r, const core_input *in);
size_t core_scratch(const kernel_core *c);

/* Adds the core's part of some rows, in floats: for terms of one sign, of which each sum is off by
 * at most core_rounding of itself. */
void core_floats(const kernel_core *c, const space_rows *r, const float *plane);
double core_rounding(uint32_t radius);

/* Takes the core out of the kernel, but not its centre tap: the spectrum is made of the rest. */
void core_cut(psf *k, uint32_t radius);

/* Returns the number of multiplications of one plane. */
double core_work(const kernel_tail *tail, uint32_t radius);

#endif
