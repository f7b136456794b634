/* cpu_passes.h - the three passes of the CPU engine, on one plane of an image.
 *
 *   plane --forward--> half spectrum --convolve--> half spectrum --inverse--> plane
 *
 *   forward    transforms 16 adjacent lines along axis 1 at a time, as 8 complex ones (one line is
 *              the real part, its neighbour the imaginary part). Lines that are all padding are
 *              left out. The spectra of the two are taken apart on their way to the half
 *              spectrum, where each line is one frequency of axis 1 with axis 2 along it; the 16
 *              values that go to one line fill whole cache lines.
 *   convolve   takes one line at a time, which stays in the first-level cache: transforms it,
 *              multiplies it by the kernel, conjugates it, and transforms it again, which gives
 *              the conjugate of the inverse.
 *   inverse    is the first pass backwards; out = tap * in + gain * the line.
 *
 * Only one plane is in work at a time. So only its half spectrum is in memory, which
 * stays in the last-level cache between the passes at the sizes of film frames.
 *
 * All lines that FFTW sees are contiguous, aligned, and transformed from one buffer to another. Of
 * all ways to call FFTW this is the fastest, by a factor of 1.2 (in place) to 4 (adjacent columns
 * at once). Half the number of complex transforms is faster than real-to-complex ones, too, which
 * FFTW runs at half the speed. docs/notebook.md has the figures.
 *
 * This module allocates nothing and knows nothing of threads: cpu_engine.c does both. */
#ifndef ENGINE_CPU_PASSES_H
#define ENGINE_CPU_PASSES_H

#include "base/par.h"
#include "engine/cpu/cpu_fft.h"
#include "engine/engine.h"
#include "math/plan.h"

enum { CPU_LINES = 16, CPU_PAIRS = CPU_LINES / 2 };

/* Everything a piece of work needs. The memory is the engine's. Pitches count complex numbers and
 * are whole cache lines, so that neighbouring pieces never write to the same one. */
typedef struct {
    const plan *p;
    /* For each axis the index that is read at indices from extent to length, or -1 for zero. */
    int32_t *beyond[2];
    cpu_fft *fft[2];   /* of each axis */
    size_t line_pitch; /* room for length of axis 1 */
    char *block;       /* scratch: that of worker w is at block + w * block_bytes */
    size_t block_bytes;

    /* Set for each frame and plane, before its first pass. */
    void *half;                   /* complex [batch][k][CPU_LINES] */
    const spectrum_lines *kernel; /* halves lines of axis[1].length */
    const void *in;               /* the plane, */
    bool halfs;                   /* of halfs, and */
    void *out;                    /* where the result goes */
    double tap, gain;             /* `gain` undoes the scale of the transforms, too */
    const engine_sink *sink;      /* gets the rows, and `out` is not written; NULL: none */
    uint32_t channel, spectrum;   /* of the planes, of the kernels */
} cpu_job;

/* The passes for one precision. The context of each is a cpu_job. */
typedef struct {
    size_t complex_bytes;
    par_fn *forward, *convolve, *inverse;
} cpu_passes;

extern const cpu_passes CPU_PASSES_FLOAT32, CPU_PASSES_FLOAT64;

/* Returns the number of pieces of a pass. */
size_t cpu_passes_batches(const cpu_job *j); /* forward, inverse */
size_t cpu_passes_blocks(const cpu_job *j);  /* convolve */
/* Returns the bytes of scratch that one worker needs. */
size_t cpu_passes_block(const cpu_job *j, const cpu_passes *k);

#endif
