/* exr_zip.h - ZIP in EXR: the byte shuffle, and an encoder of deflate for what comes out of it.
 *
 * Before they are packed, the bytes of a chunk are split into those at even and, behind them, those
 * at odd places, and each byte is replaced by its difference from the one before, plus 128: smooth
 * images become runs of bytes near 128. RLE takes the same bytes.
 *
 * Saving a file is mostly this encoder. It is made for two halves whose bytes have nothing in
 * common, and for noise; the head of exr_zip.c says how. The same bytes give the same stream on
 * every machine. It does not know about channels. exr_inflate.h unpacks. */
#ifndef IMAGE_EXR_ZIP_H
#define IMAGE_EXR_ZIP_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* The bytes of a chunk come and go in pieces, one line of a channel after the other. This is what
 * the next differences are taken from: the last byte at an even place, and at an odd one. */
typedef struct {
    uint8_t even, odd;
} exr_last;

/* Splits n pairs. The first ones of a chunk start from EXR_SPLIT_START. */
static const exr_last EXR_SPLIT_START = {128, 0};
void exr_split(uint8_t *even, uint8_t *odd, const uint8_t *from, size_t n, exr_last *last);
/* Ends a chunk, whose halves follow each other: the first odd byte comes after the last even one.
 */
void exr_split_end(uint8_t *chunk, size_t half, exr_last last);

/* Returns what the first pairs of a chunk start from. */
exr_last exr_join_start(const uint8_t *chunk, size_t half);
/* Joins n pairs; without `to` they only count for what follows. */
void exr_join(uint8_t *to, const uint8_t *even, const uint8_t *odd, size_t n, exr_last *last);

/* What one thread packs with. Free with mem_free. */
typedef struct exr_zip exr_zip;
/* Makes one for chunks of up to `most` bytes: small ones take little memory. */
exr_zip *exr_zip_new(size_t most, err *e);
/* Returns whether it can pack chunks of n bytes; NULL cannot. */
bool exr_zip_holds(const exr_zip *z, size_t n);
/* Makes it do without instructions that not every processor has. The streams are the same; this is
 * for tests. */
void exr_zip_plain(exr_zip *z);

/* Returns the room that packing n bytes may need. */
size_t exr_zip_bound(size_t n);
/* Packs n > 0 split bytes as a zlib stream and returns its length, which may be beyond n. */
size_t exr_zip_pack(exr_zip *z, const uint8_t *bytes, size_t n, uint8_t *out);

#endif
