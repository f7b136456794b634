/* fits.h - what an image takes of the memory as a whole and in tiles, which of its channels are
 * read, and how many images are under way at a time? */
#pragma once

#include "app/run/output.h"
#include "bloom/bloom.h"
#include "image/format.h"

/* Returns, for each channel of a part, whether it is read at once where the image fits; free with
 * mem_free. The others are read as they are written: parts without colour, and channels of data
 * where they are many. A .png may show any part, so all are read for it. */
bool *fits_channels(const output *o, const image_part *p, err *e);
/* Returns all that an image takes that is made as a whole. b NULL: but for what follows from the
 * kernel. */
mem_plan fits_need(const output *o, const image_reader *r, const bloom *b);
/* Returns whether an image can be made as a whole: that fits into the memory's limit, and a device
 * can do it. b NULL: true for small images, with any kernel; false: the kernel decides. */
bool fits_held(const output *o, const image_reader *r, const bloom *b);
/* Chooses the tiles of the first part with colour, and accounts for all that they take. */
bool fits_tiling(tiling *t, mem_plan *memory, const output *o, image_reader *from, const bloom *b,
                 err *e);
/* Returns how many images of this header, of a job of `frames`, are under way at a time. Channels
 * that stay in the file take no memory. */
uint32_t fits_at_a_time(const output *o, const image_header *h, size_t frames);
