/* jpeg.h - makes JPEG files of pictures to look at, a tenth as large as PNG. It knows nothing of
 * light, and reads none. */
#ifndef IMAGE_JPEG_H
#define IMAGE_JPEG_H

#include "base/text.h"
#include "image/flat/png.h"

/* Adds the file of a picture with 3 channels. `quality` is 1 to 100. */
bool jpeg_encode(text *to, const png_picture *p, int quality, err *e);

#endif
