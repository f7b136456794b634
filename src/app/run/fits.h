/* fits.h - does an image fit into the memory as a whole, which of its channels are read, and how
 * many images are under way at a time? */
#pragma once

#include "app/run/output.h"
#include "bloom/bloom.h"
#include "image/format.h"

/* Returns, for each channel of a part, whether it is read at once where the image fits; free with
 * mem_free. The others are read as they are written: parts without colour, and channels of data
 * where they are many. A .png may show any part, so all are read for it. */
bool *fits_channels(const output *o, const image_part *p, err *e);
/* Returns whether an image can be made as a whole: all that it takes, in *need, fits into the
 * memory's limit, and a device can do it. */
bool fits_whole(mem_plan *need, const output *o, const image_reader *r, const bloom *b);
/* Answers for small images without the kernel; false: fits_whole says it. */
bool fits_surely(const output *o, const image_reader *r);
/* Chooses the tiles of the first part with colour, and accounts for all that they take. */
bool fits_tiling(tiling *t, mem_plan *memory, const output *o, image_reader *from, const bloom *b,
                 err *e);
/* Returns how many images of this header, of a job of `frames`, are under way at a time. Channels
 * that stay in the file take no memory. */
uint32_t fits_at_a_time(const output *o, const image_header *h, size_t frames);
