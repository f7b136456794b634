/* exr_split.h - the byte shuffle before deflate and run lengths in EXR.
 *
 * Before they are compressed, the bytes of a chunk are parted into those at even and those at odd
 * places, and each byte is replaced by its difference from the one before, plus 128: smooth images
 * become runs of bytes near 128. These loops see every byte of every ZIP file twice, so they use
 * the 16-byte registers that every x86-64 has, with the same results as the plain loops beside
 * them. */
#ifndef IMAGE_EXR_SPLIT_H
#define IMAGE_EXR_SPLIT_H

#include <stddef.h>
#include <stdint.h>

/* even[i] = from[2i], odd[i] = from[2i + 1], for n pairs; and back. */
void exr_split(uint8_t *even, uint8_t *odd, const uint8_t *from, size_t n);
void exr_join(uint8_t *to, const uint8_t *even, const uint8_t *odd, size_t n);

/* b[i] = b[i] - b[i - 1] + 128 for i > 0, in place; and back. */
void exr_delta(uint8_t *b, size_t n);
void exr_undelta(uint8_t *b, size_t n);

#endif
