/* jpeg.h - makes JPEG files of pictures to look at, a tenth as large as PNG. It knows nothing of
 * light, and reads none. */
#ifndef IMAGE_JPEG_H
#define IMAGE_JPEG_H

#include "image/flat/png.h"

/* Returns the file, of *bytes bytes, to be freed with mem_free. `quality` is 1 to 100. The picture
 * has 3 channels. */
uint8_t *jpeg_encode(const png_picture *p, int quality, size_t *bytes, err *e);

#endif
