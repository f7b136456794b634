/* exr_huffman.h - decoding the Huffman codes of PIZ.
 *
 * The libraries find codes of more than 14 bits by comparing with each of them, which is slow where
 * an image has grain and takes minutes where a file is made for it. The codes are canonical - all
 * of one length follow each other, and longer ones are numerically smaller - so one bound for each
 * length finds the length of a code, and a subtraction its symbol. */
#pragma once

#include "base/err.h"

/* The decoder may read this many bytes behind the packed ones, whatever they hold. */
enum { EXR_HUFFMAN_SLACK = 16 };

/* Decodes `bytes` bytes, a header, a table of lengths and codes, to exactly n values. */
bool exr_huffman_decode(const uint8_t *packed, size_t bytes, uint16_t *out, size_t n, err *e);
