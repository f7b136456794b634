/* png.h - 8-bit PNG files from bytes, for pictures to look at. */
#ifndef IMAGE_PNG_H
#define IMAGE_PNG_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* Rows from the top, `channels` bytes a pixel: 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA; the colour
 * as sRGB, not multiplied by alpha. The same bytes always give the same file. */
bool png_write(const char *path, const uint8_t *pixels, uint32_t width, uint32_t height,
               int channels, err *e);
/* The file as *bytes bytes; free with mem_free. */
uint8_t *png_encode(const uint8_t *pixels, uint32_t width, uint32_t height, int channels,
                    size_t *bytes, err *e);

#endif
