/* exr_tiny.h - PIZ (a wavelet and Huffman codes), through tinyexr's functions.
 *
 * tinyexr trusts sizes and passes over errors of its inner functions with success, so to decode
 * the steps are called one by one here, each with its own check, and Huffman codes are read by
 * exr_huffman.h. Exceptions do not leave this file. */
#ifndef IMAGE_EXR_TINY_H
#define IMAGE_EXR_TINY_H

#include "image/exr/exr_chunk.h"

/* From `packed` to shape->raw bytes. */
bool exr_piz_decode(const exr_shape *shape, const uint8_t *packed, size_t bytes, uint8_t *raw,
                    err *e);
/* Room for what encoding may need, far more than it leaves. */
size_t exr_piz_bound(size_t raw);
bool exr_piz_encode(const exr_shape *shape, const uint8_t *raw, uint8_t *packed, size_t *bytes,
                    err *e);

#endif
