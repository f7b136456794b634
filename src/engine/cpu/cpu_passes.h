/* cpu_passes.h - the three passes of the CPU engine, on one plane of an image.
 *
 *   plane --forward--> half spectrum --convolve--> half spectrum --inverse--> plane
 *
 *   forward    16 adjacent lines along axis 1 at a time, as 8 complex ones (one line is the real
 *              part, its neighbour the imaginary). Only lines of the image: none of the padding.
 *              The spectra of the two are taken apart while they are turned into the half
 *              spectrum, where each line is one frequency of axis 1 with axis 2 along it; the 16
 *              values that go to one line fill whole cache lines.
 *   convolve   one line at a time, which stays in the first-level cache: forward, times the
 *              kernel, conjugated, forward: the conjugate of the inverse.
 *   inverse    the first pass backwards; out = tap * in + gain * what comes back.
 *
 * A plane at a time, so the half spectrum in memory is that of one plane and, at the sizes of film
 * frames, stays in the last-level cache between the passes.
 *
 * All lines that FFTW sees are contiguous, aligned, and transformed from one buffer to another: of
 * all ways to call FFTW the fastest by a factor of 1.2 (in place) to 4 (adjacent columns at once).
 * Half the number of complex transforms beats real-to-complex ones, too, which FFTW runs at half
 * the speed. docs/notebook.md has the figures. */
#ifndef ENGINE_CPU_PASSES_H
#define ENGINE_CPU_PASSES_H

#include "base/par.h"
#include "engine/cpu/cpu_fft.h"
#include "engine/engine.h"
#include "math/plan.h"

enum { CPU_LINES = 16, CPU_PAIRS = CPU_LINES / 2 };

/* Everything a piece of work needs to know. Pitches count complex numbers and are whole cache
 * lines, so that neighbouring pieces never write to the same one. */
typedef struct {
    const plan *p;
    /* Of each axis, for the indices from extent to length: the index that is read, -1 for zero. */
    const int32_t *beyond[2];
    const cpu_fft *fft[2]; /* of each axis */
    void *half;            /* complex [batch][k][CPU_LINES] */
    size_t line_pitch;     /* room for length of axis 1 */
    char *block;           /* of worker w at block + w * block_bytes */
    size_t block_bytes;

    const void *kernel; /* spectrum of this plane: halves lines of axis[1].length */
    const void *in;     /* the plane, and where it goes to */
    void *out;
    double tap, gain;        /* gain: of transforms that are not normalised, of twice the image */
    const engine_sink *sink; /* of rows that are lines; `out` is not written then */
    uint32_t channel;
} cpu_job;

/* The context of each is a cpu_job. */
typedef struct {
    size_t complex_bytes;
    par_fn *forward, *convolve, *inverse;
} cpu_passes;

extern const cpu_passes CPU_PASSES_FLOAT32, CPU_PASSES_FLOAT64;

/* Pieces of each pass. */
size_t cpu_passes_batches(const cpu_job *j); /* forward, inverse */
size_t cpu_passes_blocks(const cpu_job *j);  /* convolve */
/* What the block of one worker must hold. */
size_t cpu_passes_block(const cpu_job *j, const cpu_passes *k);

#endif
