/* exr_ilm.h - PXR24, B44, B44A, DWAA and DWAB, through OpenEXR's C++ library.
 *
 * The library reads and writes files, not chunks; so it is handed a file in memory that consists of
 * a fresh header and the one chunk. Of a damaged file it sees only that chunk's data, with sizes
 * that have been checked. It runs on the calling thread. Exceptions do not leave. */
#ifndef IMAGE_EXR_ILM_H
#define IMAGE_EXR_ILM_H

#include "image/exr/exr_chunk.h"

/* Decodes the chunk in s->packed to shape->raw bytes in s->raw. */
bool exr_ilm_decode(exr_scratch *s, const exr_shape *shape, err *e);
/* Encodes s->raw to at most shape->raw bytes in s->packed, and to as many where the chunk does not
 * get smaller. */
bool exr_ilm_encode(exr_scratch *s, const exr_shape *shape, err *e);

#endif
