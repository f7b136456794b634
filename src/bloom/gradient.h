/* gradient.h - the gradient of a bloom by the taps of its kernel.
 *
 * With y for what comes back, and x for the light that is spread, the gradient of <y, bloom(x)> by
 * tap q of the scaled kernel is amount times the sum over all pixels p of y(p) * x(p - (q -
 * centre)): the correlation of the two, at as many shifts as there are taps. The engine makes it:
 * the image, as its border continues it, is spread by y as if y were the kernel, on a circle as
 * long as both need. A tint multiplies what each channel gives to all taps but the middle one, and
 * all taps of a core count as the middle one. What normalisation does to the taps follows by the
 * chain rule, once for all images. docs/math.md, "The gradient by the kernel", has the formulas. */
#ifndef BLOOM_GRADIENT_H
#define BLOOM_GRADIENT_H

#include "bloom/bloom.h"

typedef struct {
    bloom_settings s; /* of the bloom */
    device_pool *devices;
    psf kernel;         /* the source's taps, turned and moved as the bloom has them */
    double *plane[3];   /* of each channel of the kernel: the gradient, in that order */
    double error[3];    /* no number of a plane is farther off */
    bloom_report *last; /* of the last correlation: its device */
} gradient;

/* An image of the batch. The planes are packed, and finite. */
typedef struct {
    uint32_t w, h, channels;
    const double *x[4], *y[4]; /* x: what is spread */
} gradient_image;

/* Begins with zeros. Refuses kernels whose taps are not those of the source: spectra, and kernels
 * that are scaled or have a centre between taps. Free also after a failure. */
bool gradient_begin(gradient *g, const bloom_settings *s, const kernel_source *k,
                    device_pool *devices, err *e);
bool gradient_add(gradient *g, const gradient_image *is, err *e);
/* Follows the normalisation, and brings the planes into the order of the source's taps. Fills in
 * their largest magnitude, and the largest error. */
bool gradient_end(gradient *g, double *most, double *error, err *e);
void gradient_free(gradient *g);

#endif
