/* raw.h - the line that stands before raw planes in a file, so that it can be read as an image. */
#ifndef IMAGE_RAW_H
#define IMAGE_RAW_H

#include <stddef.h>
#include <stdint.h>

enum { RAW_HEAD = 64 };

/* Writes the line, filled up with zeros, and returns its length. `format` is "raw" for the planes
 * red, green, blue, or "gbr"; `channels` is 1, 3 or 4. */
size_t raw_head(char to[RAW_HEAD], const char *format, uint32_t width, uint32_t height,
                uint32_t channels);

#endif
