/* exr_code.h - prefix codes as deflate has them: made from counts, and written at the head of a
 * block; how bits are written; and how many of them a sample of the bytes says that codes will
 * take.
 *
 * The lengths of codes are chosen without a tree. A symbol should have the length -log2 of its
 * share. All lengths are rounded up first. What is then left of Kraft's sum is spent where most was
 * added, until the sum is one, as deflate demands. Files are 0.0 to 0.3 % larger than with
 * Huffman's codes, which take twice the time. The arithmetic is the same on every machine. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum {
    END_OF_BLOCK = 256,
    LENGTH_CODES = 286, /* literals, end of block, lengths */
    DISTANCE_CODES = 30,
    LONGEST_CODE = 14, /* four literals, and 7 bits that wait, fit 64 */
};

typedef struct {
    uint8_t *at;
    uint64_t bits; /* the lowest `count` are not written yet */
    unsigned count;
} bit_writer;

static inline void put(bit_writer *w, uint64_t v, unsigned bits) {
    w->bits |= v << w->count;
    w->count += bits;
}

/* Writes the whole bytes, and 8 bytes of memory; up to 7 bits stay, so that 57 more fit. */
static inline void flush(bit_writer *w) {
    memcpy(w->at, &w->bits, 8);
    w->at += w->count >> 3;
    w->bits >>= w->count & ~7u;
    w->count &= 7;
}

/* Fills the last byte with zeros and writes it. */
static inline void to_byte(bit_writer *w) {
    w->count = (w->count + 7) & ~7u;
    flush(w);
}

/* Returns a bit for each of 16 bytes: whether they are equal, the first lowest. */
static inline uint32_t equal16(const uint8_t *a, const uint8_t *b) {
#if defined(__SSE2__)
    __m128i equal =
        _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)a), _mm_loadu_si128((const __m128i *)b));
    return (uint32_t)_mm_movemask_epi8(equal);
#else
    uint32_t equal = 0;
    for (int i = 0; i < 16; i++) equal |= (uint32_t)(a[i] == b[i]) << i;
    return equal;
#endif
}

typedef struct {
    uint16_t code[LENGTH_CODES]; /* the first bit lowest; valid where there is a length */
    uint8_t length[LENGTH_CODES];
} exr_code;

/* Returns the bits of a whole number below 2^24 as a float: nearly its logarithm times 2^23. */
static inline int32_t float_bits(uint32_t v) {
    float f = (float)(int32_t)v;
    int32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

/* Makes a good code of at most `deepest` bits for n symbols that occur count[] times. Symbols that
 * do not occur have length 0, and one that is alone has length 1. */
void exr_code_make(exr_code *code, const uint32_t *count, int n, unsigned deepest);

/* Writes the lengths of the codes of a block as a list of lengths and repetitions, which has a code
 * of its own (RFC 1951, 3.2.7). */
void exr_code_put(bit_writer *w, const exr_code *symbols, const exr_code *distances);

/* What a sample says about the bytes of a half. */
typedef struct {
    unsigned bits; /* that a literal takes, in 1/16 bit */
    bool pairs;    /* to be searched for pairs: see exr_zip.c */
    bool depth;    /* some lines may be: see exr_zip.c */
    bool low;      /* the half is the first one, with low bytes */
    bool halfs;    /* low bytes of floats that hold halfs: see exr_zip.c */
} exr_sample;

/* Takes a sample of n bytes as exr_split leaves them; `low` is left false. */
exr_sample exr_sample_take(const uint8_t *b, size_t n);
