/* exr_emit.h - the header bytes of an EXR file, from what it had and what it is now.
 *
 * Attributes come out in their order and byte for byte, except for those that repeat fields of
 * image_part: these are made from the fields, which are the same unless somebody meant to change
 * them. Levels become one, since only level 0 is written. What the format requires and the part
 * lacks (a part that came from another format) is added. */
#ifndef IMAGE_EXR_EMIT_H
#define IMAGE_EXR_EMIT_H

#include "base/text.h"
#include "image/exr/exr_chunk.h"

/* Appends magic, version and all headers: what stands before the chunk tables. `layout` has one
 * entry for each part. Refuses what EXR cannot hold: parts without names in a file of several,
 * names beyond 255 bytes. */
bool exr_emit(text *to, const image_header *h, const exr_layout layout[], err *e);

#endif
