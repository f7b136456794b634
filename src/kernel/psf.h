/* psf.h - the kernel as numbers: taps, centre, normalisation.
 *
 * A psf is made from image planes, then brought into the one form the rest of the program knows:
 * convolved (not correlated), centred on a whole tap, with a scale per channel that normalises
 * it. out(p) = sum over taps q of scale * tap(q) * in(p - (q - centre)).
 *
 * Refused with a sentence: no taps or more than PSF_SIDE on a side, a tap that is not finite, a
 * centre outside the kernel, a sum that is zero, negative or not finite (unless normalisation is
 * none). */
#ifndef KERNEL_PSF_H
#define KERNEL_PSF_H

#include "base/err.h"
#include "base/hash.h"

#include <stddef.h>
#include <stdint.h>

enum { PSF_CHANNELS = 16, PSF_SIDE = 32768 };
/* A centre this near to a tap lies on it. */
#define PSF_ON_TAP 1e-6

/* What becomes 1: the luminance of the channel sums (one scale for all channels, so that the
 * kernel keeps its colour; their mean where there are neither one nor three), each channel's sum,
 * the mean of the sums; or nothing. */
typedef enum { PSF_LUMINANCE, PSF_PER_CHANNEL, PSF_SUM, PSF_NONE } psf_normalize;

/* Which tap is the centre: floor(size / 2); the brightest, all channels added (the first of
 * equals); the centre of gravity; the corner, for kernels in the layout of transforms, whose left
 * and upper parts are wrapped around to the far ends (they are unwrapped); or where `at` says. */
typedef enum { PSF_MIDDLE, PSF_PEAK, PSF_CENTROID, PSF_CORNER, PSF_AT } psf_center;

typedef struct {
    psf_normalize normalize;
    psf_center center;
    double at[2];        /* PSF_AT: x, y; may lie between taps */
    bool correlate;      /* turn the kernel by 180 degrees */
    double size;         /* kernel_scale: 1 = one tap per pixel; 0 stands for 1 */
    double luminance[3]; /* weights of Y; zeros stand for Rec.709 */
} psf_options;

typedef struct {
    uint32_t w, h, channels;
    float *tap;                 /* [channel][y][x] */
    uint32_t cx, cy;            /* the centre's tap; may be any tap of the rectangle */
    double scale[PSF_CHANNELS]; /* normalisation: value = scale[c] * tap */
    double sum[PSF_CHANNELS];   /* of the taps, before scaling, in double */
    psf_options made;           /* what it was made with, no zeros standing for defaults */
} psf;

/* Takes copies of `channels` planes of w * h. A centre between taps is applied as a phase ramp on
 * the spectrum of the kernel padded to the next even length without prime factors above 7 from
 * twice its size on, so the psf grows to that size (and has taps below zero where the kernel has
 * sharp edges); a `size` other than 1 resamples it with its sum kept, onto a grid that has a tap on
 * the centre. */
bool psf_make(psf *k, uint32_t w, uint32_t h, uint32_t channels, const float *const plane[],
              const psf_options *o, err *e);
void psf_free(psf *k);
bool psf_copy(psf *to, const psf *from, err *e);
/* The same taps, centre and scale: the same hash, so the same spectrum. */
bool psf_same(const psf *a, const psf *b);

/* True when `asked` would have made the same psf; else the error names the setting that differs,
 * ERR_CONFIG. For kernels that come as .spectrum files, whose settings cannot be changed. */
bool psf_made_with(const psf *k, const psf_options *asked, err *e);

/* Without the taps that cannot reach any pixel of a w * h image with zero borders: those as far
 * from the centre as the image is wide or high, or farther. The scale stays. */
bool psf_crop(psf *to, const psf *from, uint32_t w, uint32_t h, err *e);
/* One channel, the luminance-weighted mean of three: for images that have only Y. Of other numbers
 * of channels the plain mean. */
bool psf_luminance(psf *to, const psf *from, const double weight[3], err *e);

/* Of everything that decides the spectrum: sizes, taps, centre, scale. */
hash128 psf_hash(const psf *k);

#endif
