/* ocean_view.h - a view of a sea, as an image in linear light: a camera above the water looks
 * towards a low sun. The image format is that of the file's extension. */
#ifndef LAB_OCEAN_VIEW_H
#define LAB_OCEAN_VIEW_H

#include "lab/ocean.h"

/* Renders the fields of ocean_fields and writes the image. */
bool ocean_view(const char *path, double *const fields[OCEAN_IMAGES], uint32_t n, par *threads,
                err *e);

#endif
