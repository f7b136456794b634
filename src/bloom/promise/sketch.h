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
    double inside;  /* pixels of cells that are all image; infinite without a close look */
    double outside; /* all others. Without a close look: of the whole tail, whatever the core */
} sketch_bound;

typedef struct {
    double darkest;       /* the least pixel of the result; 0 where some may be without light */
    double norm, outside; /* roots of sums of squares of the glare: everywhere, outside the image */
    double peak;          /* largest mean of a block */
    sketch_bound most[CORES]; /* by the core that the kernel has lost */
} sketch;

/* A block is cut into this many cells along a side for a close look, so that a cell is no smaller
 * than the largest core. */
enum { SKETCH_CELLS = 4, SKETCH_NEAR = 4 * SKETCH_CELLS - 1, SKETCH_CORES = 8 };

/* Kernels on the grid, for any number of images. */
typedef struct {
    uint32_t block;  /* side of the blocks */
    uint32_t cells;  /* of a block, along a side: up to SKETCH_CELLS */
    uint32_t w, h;   /* of a kernel */
    uint32_t cx, cy; /* its centre: the light of a block that falls back on the block */
    const kernel_tail *tail;
    double *mean; /* [kernel][y][x]: the part of a block's light that lands on a pixel of the block
                     that far away: the mean over these pixels */
    double *most; /* the same, but the maximum over these pixels; 0 beside the centre, where `near`
                     has it */
    struct {
        double most[9];            /* of the 3 x 3 blocks around the centre */
        double core[9];            /* of these: the part of `mean` that is the largest core's */
        double peak[SKETCH_CORES]; /* the largest tap, for each core that is cut out */
        /* In cells: the maximum, but for the 3 x 3 around the centre, with rows turned round; and
         * these 3 x 3, for each core. */
        double cell[SKETCH_NEAR * SKETCH_NEAR], centre[9][SKETCH_CORES];
        double beside; /* the maximum of `cell` */
    } * near;          /* [kernel] */
} sketch_kernel;

/* Fills *k, to be freed with sketch_kernel_free, but for the kernels; and one kernel, c, which may
 * be done beside the others. */
bool sketch_kernel_open(sketch_kernel *k, const kernel_tail *tail, err *e);
bool sketch_kernel_fill(sketch_kernel *k, uint32_t c, err *e);
void sketch_kernel_free(sketch_kernel *k);

typedef struct {
    const sketch_kernel *kernel;
    const scan *scanned; /* with blocks of kernel->block; close: of kernel->block / kernel->cells */
    uint32_t channel;
    bool close;     /* the bounds are sharper */
    tail_kept kept; /* where the darkest pixel is looked for */
} sketch_request;

/* Sketches one channel of a scan. */
bool sketch_make(sketch *to, const sketch_request *r, err *e);

#endif
