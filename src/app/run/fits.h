/* fits.h - whether an image fits into the memory as a whole. */
#ifndef APP_FITS_H
#define APP_FITS_H

#include "app/run/output.h"
#include "bloom/bloom.h"

/* Adds the planes of an image that are in memory while it is made as a whole, and what blooming
 * takes; b NULL: without what depends on the kernel. */
void fits_memory(mem_plan *to, const output *o, const image_header *h, const bloom *b);

/* Returns whether an image can be made as a whole: all that it takes, in *need, fits into the
 * memory's limit, and a device can do it. */
bool fits(mem_plan *need, const output *o, const image_reader *r, const bloom *b);
/* Answers for small images without the kernel; false: fits() says it. */
bool fits_surely(const output *o, const image_reader *r);

/* Chooses the tiles of the first part with colour, and accounts for all that they take. */
bool fits_tiling(tiling *t, mem_plan *memory, const output *o, image_reader *from, const bloom *b,
                 err *e);

#endif
