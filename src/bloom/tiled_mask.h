/* tiled_mask.h - masks of an image that is bloomed in tiles: stands between bloom and the rows.
 *
 * Who reads through it sees the light that the masks let through. When rows of the result are
 * written, their light is read once more, and what the masks have set aside of it is added. So only
 * a few rows of it are ever in memory. */
#ifndef BLOOM_TILED_MASK_H
#define BLOOM_TILED_MASK_H

#include "bloom/mask.h"
#include "bloom/tiled.h"
#include "bloom/view.h"

typedef struct tiled_masks tiled_masks;

/* Opens the masks of an image with this header; all arguments must outlive them. */
tiled_masks *tiled_masks_open(const bloom_settings *s, const image_header *h,
                              const bloom_rows *under, err *e);
void tiled_masks_close(tiled_masks **m);
/* Returns the rows behind the masks. */
const bloom_rows *tiled_masks_rows(const tiled_masks *m);
/* Returns the number of values that mask_give has clamped so far. */
uint64_t tiled_masks_clamped(const tiled_masks *m);

#endif
