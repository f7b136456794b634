/* spectrum.h - makes the spectrum of a kernel once, and resamples it to any image size.
 *
 * The source spectrum is made of the kernel without its centre tap, scaled, padded to twice its
 * size, with its middle (tap floor(size / 2)) at the origin. From it a separable filter of 8 taps
 * makes the spectrum at any pair of lengths, to 1e-6 of the peak or better (docs/inside/math.md,
 * "Spectral resampling"). Lengths shorter than the kernel fold it, as a circle of that length does.
 *
 * Engines get spectrum_lines: the half spectrum at the plan's lengths, line by line, in natural
 * order, without the centre tap: image = tap * in + gain * (in conv tail). */
#pragma once

#include "base/par.h"
#include "kernel/psf.h"
#include "kernel/spectrum_resample.h"

typedef enum { SPECTRUM_RESAMPLED, SPECTRUM_EXACT, SPECTRUM_MODES } spectrum_mode;

/* The source, as the cache and .spectrum files hold it. */
typedef struct {
    psf kernel;
    uint32_t m[2]; /* lengths of the oversampled grid, x and y: even, >= 2 * size, smooth */
    float *value;  /* complex [channel][kx: 0 .. m[0]/2][ky: 0 .. m[1]-1] */
    bool cached;   /* it was read from the cache */
} spectrum;

size_t spectrum_floats(const spectrum *s);

/* Makes a source, with a copy of the psf. spectrum_free frees it. */
bool spectrum_make(spectrum *s, const psf *k, par *threads, err *e);
void spectrum_free(spectrum *s);

/* Returns what SPECTRUM_RESAMPLED makes of tap number `tap` of `size` in other places along an
 * axis: the sum, as a part of the tap. */
double spectrum_alias(uint32_t tap, uint32_t size);

/* What an engine takes. */
typedef struct {
    uint32_t channels, halves, length; /* halves = L1 / 2 + 1 lines of `length` = L2 */
    bool float64;
    void *value;              /* complex float or double [channel][k1][k2]; or NULL, and */
    uint32_t lanes;           /* lines that are mixed with each other: spectrum_arrange; 0: none */
    double tap[PSF_CHANNELS]; /* the centre tap, which the lines do not hold */
    resampling *made;         /* makes the lines, or */
    struct fft_halves *half[PSF_CHANNELS]; /* these do; NULL where `value` is not */
} spectrum_lines;

typedef struct {
    spectrum_mode mode;
    uint32_t first;     /* PLAN_X (0) or PLAN_Y (1): the axis that is halved */
    uint32_t length[2]; /* of the first axis, of the other one */
    bool float64;       /* the result is in double; the mode is then SPECTRUM_EXACT */
    bool by_lines;      /* of those in double: they are made when they are wanted, by
                           spectrum_transform alone, in a tenth of the memory */
    bool at_once;       /* of resampled ones: all lines are made and kept, for frame after frame */
} spectrum_request;

/* Makes the spectrum at other lengths. SPECTRUM_EXACT transforms the kernel at these lengths, which
 * must be smooth (2^a 3^b 5^c 7^d), and needs no `value`. */
bool spectrum_at(spectrum_lines *to, const spectrum *s, const spectrum_request *r, par *threads,
                 err *e);
void spectrum_lines_free(spectrum_lines *l);

/* Returns the bytes that the lines take of a kernel of w x h taps; *making: what more spectrum_at
 * and spectrum_make take meanwhile. */
uint64_t spectrum_bytes(uint32_t w, uint32_t h, uint32_t channels, const spectrum_request *r,
                        uint64_t *making);
size_t spectrum_line_bytes(const spectrum_lines *l);
/* Returns `lines` lines of a channel from k1 on: where they lie, or in `room`, which must have
 * their bytes. Several threads may ask at the same time. */
const void *spectrum_some(const spectrum_lines *l, uint32_t channel, uint32_t k1, uint32_t lines,
                          void *room);

/* Returns lines k1 to k1 + 3 where they are made so, mixed and in natural order: number i of all
 * real parts, then of all imaginary parts, then number i + 1. Those behind the last one are zero.
 * a, b: 8 * length doubles each, of which one has the result. */
double *spectrum_transform(const spectrum_lines *l, uint32_t channel, uint32_t k1, double *a,
                           double *b);

/* Puts the numbers of all lines into another order, once: number i of a line is then the one of
 * frequency order[i]. Where the lines have values, those of each `lanes` lines, from the first on,
 * are mixed: number i of all their real parts, then of their imaginary parts, then number i + 1.
 * The last lines of a channel, fewer than `lanes`, stay as they are. */
bool spectrum_arrange(spectrum_lines *l, const uint32_t *order, uint32_t lanes, par *threads,
                      err *e);
/* Returns number i of `lanes` lines that are mixed, from k1 on; NULL where these are not. */
const void *spectrum_mixed(const spectrum_lines *l, uint32_t channel, uint32_t k1, uint32_t i);

/* Fills to[line][number] with a part of some lines that are not mixed, for any thread. */
typedef resample_piece spectrum_piece;
void spectrum_part(const spectrum_lines *l, const spectrum_piece *p, void *to);

const char *spectrum_mode_name(spectrum_mode m);
