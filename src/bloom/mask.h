/* mask.h - how much of a pixel's light is spread: 1 all of it, 0 none. A mask is a channel of any
 * part of the image, matched by coordinates; outside its window it is 0. */
#pragma once

#include "image/rows.h"

typedef struct {
    int part, channel;
} mask_place;

/* Finds the channel of a name: its full name, or a layer that has one channel, first in the part.
 * Fails, with the name, where there is none. */
bool mask_find(mask_place *to, const image_header *h, int part, const char *name, err *e);
/* Reads what of a mask lies beside rows of a part: values limited to 0 to 1; NaN becomes 0. */
bool mask_read(float *to, const rows_source *in, const mask_place *at, const image_part *beside,
               uint32_t row, uint32_t rows, err *e);
