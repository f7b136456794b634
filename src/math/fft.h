/* fft.h - Fourier transforms on the host, in double, for the kernel's own work.
 *
 * Kernels are transformed once and then cached, so this is made to be read and to be exact to
 * rounding; it is fast enough by working on four lines at a time, one per element of a vector. The
 * image goes through the engines, never through here. Lengths are 2^a 3^b 5^c 7^d; others are
 * refused. Forward is exp(-2 pi i j k / n), and nothing is scaled. */
#ifndef MATH_FFT_H
#define MATH_FFT_H

#include "base/par.h"

#include <stdint.h>

/* exp(-2 pi i t / n), each part to the last bit or so however large t is. */
void fft_root(uint64_t t, uint64_t n, double *re, double *im);

typedef struct fft fft; /* the stages and twiddles of one length; read-only, so threads share it */

fft *fft_new(uint32_t n, err *e);
void fft_free(fft **f);

/* Four complex lines: for element i, FFT_LINES real parts, then as many imaginary parts. */
enum { FFT_LINES = 4, FFT_STEP = 2 * FFT_LINES };

/* Transforms the lines in `a` with `b` as scratch, each n * FFT_STEP doubles aligned to 64 bytes;
 * returns the one of the two that holds the result, in natural order. */
double *fft_forward(const fft *f, double *a, double *b);
double *fft_backward(const fft *f, double *a, double *b);

/* The half spectrum of a real plane of which only some lines are not zero. The plane is `first`
 * samples wide and has `second` lines; line (origin + i) mod second, for i < lines, is what `fill`
 * writes into `first` doubles that are zero before the call (from several threads at once); the
 * other lines are zero and cost nothing. */
typedef struct {
    uint32_t first, second, lines, origin;
    void (*fill)(const void *ctx, uint32_t i, double *to);
    const void *ctx;
    bool float64; /* of the result: complex double instead of complex float */
} fft_plane;

/* to[k1][k2], k1 = 0 .. first / 2, k2 = 0 .. second - 1. */
bool fft_half_spectrum(void *to, const fft_plane *p, par *threads, err *e);

#endif
