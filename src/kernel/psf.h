/* psf.h - holds a kernel as numbers: taps, centre, normalisation.
 *
 * A psf is convolved (not correlated), centred on a whole tap, and has a scale per channel that
 * normalises it. out(p) = sum over taps q of scale * tap(q) * in(p - (q - centre)). */
#pragma once

#include "base/err.h"
#include "base/hash.h"

/* PSF_SCALED: the most that `size` makes of a kernel. */
enum { PSF_CHANNELS = 16, PSF_SIDE = 32768, PSF_SCALED = 16384 };
/* A centre as near to a tap as this lies on it. */
#define PSF_ON_TAP 1e-6

/* What the normalisation brings to 1. */
typedef enum {
    PSF_LUMINANCE,   /* the luminance of the channel sums, so that the kernel keeps its colour; of
                        other numbers than three channels the mean of the sums */
    PSF_PER_CHANNEL, /* each channel's sum */
    PSF_SUM,         /* the mean of the sums */
    PSF_NONE         /* nothing */
} psf_normalize;

/* Which tap is the centre. */
typedef enum {
    PSF_MIDDLE,   /* floor(size / 2) */
    PSF_PEAK,     /* the brightest, all channels added; the first of equals */
    PSF_CENTROID, /* the centre of gravity */
    PSF_CORNER,   /* tap 0, 0: the layout of transforms, which is unwrapped */
    PSF_AT        /* psf_options.at */
} psf_center;

typedef struct {
    psf_normalize normalize;
    psf_center center;
    double at[2];        /* PSF_AT: x, y; may lie between taps */
    bool correlate;      /* turn the kernel by 180 degrees */
    double size;         /* kernel_scale: 1 is one tap per pixel; 0 stands for 1 */
    double wide;         /* the scale of x is size * wide; 0 stands for 1 */
    double turn;         /* kernel_turn: degrees, clockwise, once it has its size */
    double aspect;       /* of the pixels: the turn is round as they are shown; 0 stands for 1 */
    double luminance[3]; /* weights of Y; zeros stand for Rec.709 */
} psf_options;

/* `channels` planes of w * h taps. rest: what they have lost of taps in double; NULL: nothing. */
typedef struct {
    uint32_t w, h, channels;
    const float *const *plane, *const *rest;
} psf_planes;

typedef struct {
    uint32_t w, h, channels;
    float *tap;                 /* [channel][y][x] */
    float *rest;                /* what `tap` has lost of taps in double: what is computed in double
                                   adds it; NULL: nothing */
    uint32_t cx, cy;            /* the centre's tap; may be any tap of the rectangle */
    double scale[PSF_CHANNELS]; /* normalisation: value = scale[c] * tap */
    double sum[PSF_CHANNELS];   /* of the taps, before they are scaled or cropped */
    psf_options made;           /* what it was made with, no zeros standing for defaults */
    double core; /* the radius within which it is folded (psf_core.h); 0: it is not */
} psf;

/* A kernel's taps in double, [channel][y][x]. */
typedef struct {
    uint32_t w, h, channels;
    const double *tap;
} psf_doubles;

/* Finds the centre that `center` and `at` of the options ask for, x and y. It may lie between taps;
 * one outside the kernel is refused. */
bool psf_find_center(double at[2], const psf_doubles *k, const psf_options *o, err *e);

/* Makes a psf from copies of planes. A `size` other than 1 resamples the kernel, with its sum kept,
 * onto a grid that has a tap on the centre, and so does a `turn`; right angles only move taps.
 * Otherwise a centre between taps is applied as a phase ramp on the spectrum of the kernel, which
 * is padded to at least twice its size and has taps below zero then if it has sharp edges. */
bool psf_make(psf *k, const psf_planes *in, const psf_options *o, err *e);
void psf_free(psf *k);
bool psf_copy(psf *to, const psf *from, err *e);
/* Returns a tap in double, by its place in the array. */
static inline double psf_tap(const psf *k, size_t at) {
    return (double)k->tap[at] + (k->rest ? (double)k->rest[at] : 0);
}
/* Returns whether half a turn about its centre leaves a psf as it is. Its spectrum is then real. */
bool psf_is_symmetric(const psf *k);
/* Returns whether taps, centre and scale are the same, and so the spectra. */
bool psf_same(const psf *a, const psf *b);

/* Returns true when `asked` would have made the same psf; ERR_CONFIG names the setting that
 * differs. */
bool psf_made_with(const psf *k, const psf_options *asked, err *e);

/* Takes the taps away that cannot reach any pixel of a w * h image with zero borders: those at
 * least as far from the centre as the image is wide or high. Scale and sum stay. */
void psf_crop(psf *k, uint32_t w, uint32_t h);
/* Makes a psf of one channel, for images that have only Y: the mean of three channels, weighted for
 * luminance, or the plain mean of another number of channels. `beside`: behind those channels. */
bool psf_luminance(psf *to, const psf *from, const double weight[3], bool beside, err *e);

/* Returns the hash of everything that decides the spectrum: sizes, taps, centre, scale. */
hash128 psf_hash(const psf *k);
