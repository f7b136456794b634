/* mask.h - a mask says how much of a pixel's light is spread: 1 all of it, 0 none. It is a channel
 * of any part of the image, matched by coordinates; outside its window it is 0. */
#ifndef BLOOM_MASK_H
#define BLOOM_MASK_H

#include "image/repair.h"
#include "image/rows.h"

typedef struct {
    int part, channel;
} mask_place;

/* Finds the channel of a name: its full name, or a layer that has one channel. It is searched in
 * the part first, then in the others. Fails, with the name, where there is none. */
bool mask_find(mask_place *to, const image_header *h, int part, const char *name, err *e);

/* Reads what of a mask lies beside rows of a part: values limited to 0 to 1; NaN becomes 0. */
bool mask_read(float *to, const rows_source *in, const mask_place *at, const image_part *beside,
               uint32_t row, uint32_t rows, err *e);

/* Pixels that are not finite stay as they are where the mask is 0: finds those of a plane, and puts
 * 0 in their places. repairs_put brings them back. Free with repairs_free, also after a failure. */
bool mask_set_aside(repairs *to, void *plane, pixel_type type, uint32_t w, uint32_t h,
                    const float *mask, err *e);

#endif
