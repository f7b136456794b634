/* window.h - another data window for a part: cut, or surrounded by zeros. */
#ifndef IMAGE_WINDOW_H
#define IMAGE_WINDOW_H

#include "image/image.h"

/* All channels; what the part had outside of `box` is gone. ERR_CONFIG where the window has more
 * pixels than fit in memory or its corners leave the numbers of the format. */
bool image_set_window(image *img, int part, const image_box *box, err *e);

/* The smallest box that holds both; and whether `in` lies in `box`. */
image_box image_box_union(const image_box *a, const image_box *b);
bool image_box_holds(const image_box *box, const image_box *in);

/* `box` with so many pixels more on each side. */
bool image_box_grow(image_box *box, uint32_t left, uint32_t top, uint32_t right, uint32_t bottom,
                    err *e);

#endif
