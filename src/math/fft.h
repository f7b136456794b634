/* fft.h - Fourier transforms in double, for kernels: four lines at a time, by math/lanes.h, in
 * natural order. Forward is exp(-2 pi i j k / n), and nothing is scaled. */
#pragma once

#include "base/par.h"

typedef struct fft fft; /* the stages and twiddles of one length; read-only, so threads share it */

fft *fft_new(uint32_t n, err *e);
void fft_free(fft **f);

/* Four complex lines: for element i, FFT_LINES real parts, then as many imaginary parts. */
enum { FFT_LINES = 4, FFT_STEP = 2 * FFT_LINES };

/* Transform the lines in `a` with `b` as scratch, each n * FFT_STEP doubles aligned to 64 bytes.
 * Return the one of the two that holds the result, in natural order. */
double *fft_forward(const fft *f, double *a, double *b);
double *fft_backward(const fft *f, double *a, double *b);

/* A real plane of which only some lines are not zero, `first` samples wide, with `second` lines.
 * `fill` writes line (origin + i) mod second, for i < lines, into `first` doubles that are zero
 * before; several threads call it at once. */
typedef struct {
    uint32_t first, second, lines, origin;
    void (*fill)(const void *ctx, uint32_t i, double *to);
    const void *ctx;
    bool float64; /* of the result: complex double instead of complex float */
} fft_plane;

/* Fills the half spectrum to[k1][k2], k1 = 0 .. first / 2, k2 = 0 .. second - 1. */
bool fft_half_spectrum(void *to, const fft_plane *p, par *threads, err *e);

/* The first of its two steps, along the lines that are not zero. Const once made. */
typedef struct fft_halves fft_halves;
fft_halves *fft_halves_open(const fft_plane *p, par *threads, err *e);
void fft_halves_close(fft_halves **h);
/* Does the second step for FFT_LINES lines from k1 on, as fft_forward does; those behind the last
 * one are zero. Several threads may call it at the same time. */
double *fft_halves_lines(const fft_halves *h, size_t k1, double *a, double *b);
