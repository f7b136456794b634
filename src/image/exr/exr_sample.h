/* exr_sample.h - what some bytes of half a chunk say about all of them, so that the encoder of ZIP
 * knows how to look for repetitions. */
#ifndef IMAGE_EXR_SAMPLE_H
#define IMAGE_EXR_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
