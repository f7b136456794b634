/* exr_split.h - what ZIP, ZIPS and RLE do to the bytes of a chunk before they are packed: those at
 * even places come before those at odd ones, and each byte is replaced by its difference from the
 * one before, plus 128. */
#pragma once

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
/* Ends a chunk: the first odd byte comes after the last even one. */
void exr_split_end(uint8_t *chunk, size_t half, exr_last last);

/* Returns what the first pairs of a chunk start from. */
exr_last exr_join_start(const uint8_t *chunk, size_t half);
/* Joins n pairs; without `to` they only count for what follows. */
void exr_join(uint8_t *to, const uint8_t *even, const uint8_t *odd, size_t n, exr_last *last);
