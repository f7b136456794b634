/* sketch.h - the glare on a coarse grid: what the result will be like, before it is made.
 *
 * The sums of blocks, convolved with the kernel's sums over blocks. An estimate, not a bound: good
 * to a factor of two or so where the kernel is smooth over a block. It tells where the darkest
 * pixel is likely to end up, which no norm of the image tells, and whether bright pixels lie
 * together. Light that borders bring in is left out, so shadows near them are taken for darker than
 * they are. Only `peak_outside` is a bound: nobody can measure what lands outside the image. */
#ifndef BLOOM_SKETCH_H
#define BLOOM_SKETCH_H

#include "bloom/promise/spread.h"

typedef struct {
    double darkest;       /* the least pixel of the result; 0 where some may be without light */
    double norm, outside; /* roots of sums of squares of the glare: everywhere, outside the image */
    double peak;          /* largest mean of a block */
    /* No pixel outside the image has more glare, on the circle of a transform. Valid where neither
     * the image nor the kernel is below zero anywhere. */
    double peak_outside;
} sketch;

/* Kernels on the grid, for any number of images. */
typedef struct {
    uint32_t block;  /* side of the blocks */
    uint32_t w, h;   /* of a kernel */
    uint32_t cx, cy; /* the block that a block lights for the most part is itself */
    const spread *s;
    double *tap;  /* [kernel][y][x]: of a block's light, what lands on each pixel of the block that
                     far away, on average */
    double *most; /* the same: what lands on one of them, at most */
} sketch_kernel;

bool sketch_kernel_make(sketch_kernel *k, const spread *s, err *e);
void sketch_kernel_free(sketch_kernel *k);

/* Of one channel of a scan with blocks of k->block. */
bool sketch_make(sketch *to, const sketch_kernel *k, const scan *scanned, uint32_t channel, err *e);

#endif
