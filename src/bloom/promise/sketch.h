/* sketch.h - the glare on a coarse grid: what the result will be like, before it is made.
 *
 * The sums of blocks are convolved with the kernel's sums over blocks. That tells where the darkest
 * pixel is likely to end up, which no norm of the image tells, and whether bright pixels lie
 * together. It is an estimate, good to a factor of two or so where the kernel is smooth over a
 * block. What lands outside the image nobody can measure, so there are bounds as well.
 * A sketch leaves out the light that borders bring in, so it takes shadows near them for darker
 * than they are. */
#ifndef BLOOM_SKETCH_H
#define BLOOM_SKETCH_H

#include "bloom/promise/core.h"

/* What no pixel of the glare exceeds, on the circle of a transform, where neither the image nor the
 * kernel is below zero anywhere. */
typedef struct {
    double inside;  /* pixels of blocks that are all image; infinite without a close look */
    double outside; /* all others */
} sketch_bound;

typedef struct {
    double darkest;       /* the least pixel of the result; 0 where some may be without light */
    double norm, outside; /* roots of sums of squares of the glare: everywhere, outside the image */
    double peak;          /* largest mean of a block */
    sketch_bound most[CORES]; /* by the core that the kernel has lost */
} sketch;

/* Kernels on the grid, for any number of images. */
typedef struct {
    uint32_t block;  /* side of the blocks */
    uint32_t w, h;   /* of a kernel */
    uint32_t cx, cy; /* its centre: the light of a block that falls back on the block */
    const kernel_tail *tail;
    double *mean; /* [kernel][y][x]: the part of a block's light that lands on a pixel of the block
                     that far away: the mean over these pixels */
    double *most; /* the same, but the maximum over these pixels. Beside the centre, where cores are
                     cut out, it is 0 here and stands in `near`: [kernel][CORES][3][3] */
    double (*near)[CORES][9];
} sketch_kernel;

/* Fills *k, to be freed with sketch_kernel_free. */
bool sketch_kernel_make(sketch_kernel *k, const kernel_tail *tail, err *e);
void sketch_kernel_free(sketch_kernel *k);

/* Sketches one channel of a scan with blocks of k->block. close: see sketch_bound. */
bool sketch_make(sketch *to, const sketch_kernel *k, const scan *scanned, uint32_t channel,
                 bool close, err *e);

#endif
