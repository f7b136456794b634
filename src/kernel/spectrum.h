/* spectrum.h - the kernel's spectrum: made once per kernel, resampled to any image size.
 *
 * The source spectrum is that of the kernel padded to twice its size, without its centre tap,
 * scaled, and divided in space by the transform of the Kaiser-Bessel filter that later interpolates
 * it; its middle, tap floor(size / 2), is at the origin (the FFT shift). From it the spectrum at
 * any pair of lengths follows by a separable filter of 8 taps, to 1e-6 of the peak or better;
 * docs/math.md derives it. Lengths shorter than the kernel fold it, as a circle of that length
 * does.
 *
 * Engines get spectrum_lines: the half spectrum at the plan's lengths, in natural order, with the
 * centre tap taken out: image = tap * in + gain * (in conv tail). Normalisation by the transform
 * lengths is the engine's affair. */
#ifndef KERNEL_SPECTRUM_H
#define KERNEL_SPECTRUM_H

#include "base/par.h"
#include "kernel/psf.h"

typedef enum { SPECTRUM_RESAMPLED, SPECTRUM_EXACT, SPECTRUM_BILINEAR } spectrum_mode;

/* The source: what the cache and .spectrum files hold. The psf travels with it, so that everything
 * a kernel can do a spectrum can do, too. */
typedef struct {
    psf kernel;
    uint32_t m[2]; /* lengths of the oversampled grid, x and y: even, >= 2 * size, smooth */
    float *value;  /* complex [channel][kx: 0 .. m[0]/2][ky: 0 .. m[1]-1] */
} spectrum;

/* Floats in `value` of one channel and of all. */
size_t spectrum_channel_floats(const spectrum *s);
size_t spectrum_floats(const spectrum *s);

bool spectrum_make(spectrum *s, const psf *k, par *threads, err *e); /* copies the psf */
bool spectrum_copy(spectrum *to, const spectrum *from, err *e);
void spectrum_free(spectrum *s);

/* Returns what SPECTRUM_RESAMPLED makes of tap `tap`, of `size` along an axis, in other places: in
 * parts of the tap, all of them together. */
double spectrum_alias(uint32_t tap, uint32_t size);

/* What an engine takes. */
typedef struct {
    uint32_t channels, halves, length; /* halves = L1 / 2 + 1 lines of `length` = L2 */
    bool float64;
    void *value;              /* complex float or double [channel][k1][k2] */
    double tap[PSF_CHANNELS]; /* the centre tap, which `value` does not hold */
} spectrum_lines;

/* first: PLAN_X (0) or PLAN_Y (1), the axis that is halved. `exact` transforms the kernel at the
 * lengths, which must be smooth (2^a 3^b 5^c 7^d) for that, and needs no `value`; `bilinear`,
 * for comparison, reads the spectrum of the kernel at its own size with linear interpolation.
 * float64 asks for `exact`, whatever the mode. */
bool spectrum_at(spectrum_lines *to, const spectrum *s, spectrum_mode mode, uint32_t first,
                 uint32_t length_first, uint32_t length_second, bool float64, par *threads, err *e);
void spectrum_lines_free(spectrum_lines *l);

const char *spectrum_mode_name(spectrum_mode m);

#endif
