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

/* Takes the first colour group of the first part that has one. Where no part has colour, it takes
 * the first part that has a single channel. An image without either is refused with the names of
 * its channels. */
bool kernel_input_load(kernel_input *k, const char *path, par *threads, err *e);
void kernel_input_free(kernel_input *k);

/* What a kernel is needed for. */
typedef struct {
    uint32_t
        channels;  /* 1 (luminance), 3, or 4 (colour and alpha, which is spread as luminance is) */
    uint32_t w, h; /* of the image that is bloomed: taps that reach no pixel of it are cut off */
    uint32_t height; /* of the image as it came, which a relative scale is of */
} kernel_need;

/* A kernel of one channel serves all and stays one. `full`, if not NULL, receives the scaled sums
 * of the taps before any were cut off. */
bool kernel_input_psf(psf *to, const kernel_input *k, const bloom_settings *s,
                      const kernel_need *need, double full[PSF_CHANNELS], err *e);

#endif
