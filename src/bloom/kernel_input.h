/* kernel_input.h - the kernel as it came: an image's planes, or a spectrum file.
 *
 * What a run needs depends on the image: a scale relative to its height, one luminance channel or
 * three, taps that reach no pixel cut off. So the planes are kept, and a psf is made per need. */
#ifndef BLOOM_KERNEL_INPUT_H
#define BLOOM_KERNEL_INPUT_H

#include "base/par.h"
#include "bloom/bloom.h"

typedef struct {
    const char *path; /* the caller's */
    uint32_t w, h, channels;
    float *plane[PSF_CHANNELS]; /* NULL where it is a spectrum */
    double luminance[3];
    spectrum ready; /* of a .spectrum file */
    bool is_spectrum;
} kernel_input;

/* The first colour group of an image's first part that has one; its only channel where it has but
 * one. An image without either is refused by the names of its channels. */
bool kernel_input_load(kernel_input *k, const char *path, par *threads, err *e);
void kernel_input_free(kernel_input *k);

/* The psf for `channels` planes of a w * h image: 1 (luminance), 3, or 4 (colour and alpha, which
 * is spread as luminance is). A kernel of one channel serves all and stays one. */
bool kernel_input_psf(psf *to, const kernel_input *k, const bloom_settings *s, uint32_t channels,
                      uint32_t w, uint32_t h, err *e);

#endif
