/* exr_ilm.h - PXR24, B44, B44A, DWAA and DWAB, through OpenEXR's C++ library.
 *
 * The library reads and writes files, not chunks; so it is handed a file in memory that consists
 * of a fresh header and the one chunk. What it sees of a damaged file is that chunk's data alone,
 * with sizes that have been checked. It runs on the calling thread. Exceptions do not leave. */
#ifndef IMAGE_EXR_ILM_H
#define IMAGE_EXR_ILM_H

#include "image/exr/exr_chunk.h"

/* From `packed` to shape->raw bytes. */
bool exr_ilm_decode(const exr_shape *shape, const uint8_t *packed, size_t bytes, uint8_t *raw,
                    err *e);
/* To at most shape->raw bytes: what does not get smaller is left as it is. */
bool exr_ilm_encode(const exr_shape *shape, const uint8_t *raw, uint8_t *packed, size_t *bytes,
                    err *e);

#endif
