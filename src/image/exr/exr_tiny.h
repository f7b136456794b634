/* exr_tiny.h - PIZ (a wavelet and Huffman codes), through tinyexr's functions.
 *
 * tinyexr trusts sizes and passes over errors of its inner functions with success, so to decode
 * the steps are called one by one here, each with its own check, and Huffman codes are read by
 * exr_huffman.h. Exceptions do not leave this file. */
#ifndef IMAGE_EXR_TINY_H
#define IMAGE_EXR_TINY_H

#include "image/exr/exr_chunk.h"

/* Decodes the chunk in s->packed to shape->raw bytes in s->raw. */
bool exr_piz_decode(exr_scratch *s, const exr_shape *shape, err *e);
/* Returns the room that encoding may need in s->packed, far more than it leaves. */
size_t exr_piz_bound(size_t raw);
/* Encodes s->raw to s->packed. */
bool exr_piz_encode(exr_scratch *s, const exr_shape *shape, err *e);

#endif
