/* fits.h - whether an image fits into the memory as a whole. */
#ifndef APP_FITS_H
#define APP_FITS_H

#include "app/run/output.h"
#include "bloom/bloom.h"

/* Return whether an image has to be made in tiles: because its planes and what blooming takes do
 * not fit into the memory's limit, or no device can do the whole of it. The first function answers
 * for small images without the kernel: false is final. */
bool fits_perhaps_not(const output *o, const image_reader *r);
bool fits_not(const output *o, const image_reader *r, const bloom *b);

/* Chooses the tiles of the first part with colour. */
bool fits_tiling(tiling *t, const output *o, image_reader *from, const bloom *b, err *e);

#endif
