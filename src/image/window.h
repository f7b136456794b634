/* window.h - gives a part another data window: cut, or surrounded by zeros. */
#ifndef IMAGE_WINDOW_H
#define IMAGE_WINDOW_H

#include "image/image.h"

/* Cuts all channels of a part to `box` and fills what lies outside its old window with zeros.
 * ERR_DATA where a side of `box` has more than IMAGE_SIDE pixels. */
bool image_set_window(image *img, int part, const image_box *box, err *e);

/* Returns false, with ERR_DATA, where a side has no pixel or more than `most`. Windows of files
 * may be as far apart as 32 bits allow, so this comes before any width is computed. */
bool image_box_check(const image_box *box, const char *what, uint32_t most, err *e);

/* Return the smallest box that holds both, and whether `in` lies in `box`. */
image_box image_box_union(const image_box *a, const image_box *b);
bool image_box_holds(const image_box *box, const image_box *in);

/* Adds pixels on each side of `box`. ERR_CONFIG where a corner leaves the numbers of the format. */
bool image_box_grow(image_box *box, uint32_t left, uint32_t top, uint32_t right, uint32_t bottom,
                    err *e);

#endif
