/* exr_zip.h - ZIP in EXR: an encoder of deflate for what exr_split makes of a chunk. It is made for
 * two halves whose bytes have nothing in common, and for noise; the head of exr_zip.c says how. The
 * same bytes give the same stream on every machine. libdeflate unpacks. */
#pragma once

#include "base/err.h"

/* What one thread packs with. Free with mem_free. */
typedef struct exr_zip exr_zip;
/* Makes one for chunks of up to `most` bytes: small ones take little memory. */
exr_zip *exr_zip_new(size_t most, err *e);
/* Returns whether it can pack chunks of n bytes; NULL cannot. */
bool exr_zip_holds(const exr_zip *z, size_t n);
/* Makes it do without instructions that not every processor has, for tests. */
void exr_zip_plain(exr_zip *z);

/* Returns the room that packing n bytes may need. */
size_t exr_zip_bound(size_t n);
/* Packs n > 0 split bytes as a zlib stream and returns its length, which may be beyond n. */
size_t exr_zip_pack(exr_zip *z, const uint8_t *bytes, size_t n, uint8_t *out);
