/* mask.h - how much of a pixel's light is spread: 1 all of it, 0 none. A mask is a channel of any
 * part of the image, or of a file of its own, matched by coordinates; outside its window it is 0.
 */
#pragma once

#include "image/rows.h"

typedef struct {
    const rows_source *in; /* the image, or the file; NULL: a file that no account reads */
    int part, channel;
} mask_place;

/* Finds the channel of a name in an image: its full name, or a layer that has one channel, first in
 * the part. Fails, and lists the channels, where there is none. */
bool mask_find(mask_place *to, const rows_source *in, int part, const char *name, err *e);
/* Returns the channel of a mask's file that counts: Y, else A, else R, else the first. */
int mask_channel(const image_part *p);
/* Reads what of a mask lies beside rows of a part: values limited to 0 to 1; NaN becomes 0. */
bool mask_read(float *to, const mask_place *at, const image_part *beside, uint32_t row,
               uint32_t rows, err *e);
