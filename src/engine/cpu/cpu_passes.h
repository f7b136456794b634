/* cpu_passes.h - the three passes of the CPU engine, on one plane of an image.
 *
 *   plane --forward--> half spectrum --convolve--> half spectrum --inverse--> plane
 *
 *   forward    transforms lines of the image along axis 1, two to a complex one: line i of a batch
 *              is the real part, line CPU_PAIRS + i the imaginary part. Lines that are all padding
 *              are left out. The spectra of the two are taken apart on their way to the half
 *              spectrum.
 *   convolve   takes as many frequencies of axis 1 at a time as there are lanes, which have axis 2
 *              along them. Columns, rows, the product with the kernel, rows back and columns back
 *              (math/lanes.h): from the rows to the rows back a number does not leave the
 *              first-level cache.
 *   inverse    is the first pass backwards; rows are joined with the pixels at once
 *              (engine/cpu/cpu_join.c). Columns go to a plane whose rows are joined afterwards.
 *
 * Each lane of a SIMD register has a line of its own (math/lanes.h). Numbers move between lanes
 * where rows of an image become lanes, and between the passes, as lanes are neighbours along axis 2
 * in passes 1 and 3 and along axis 1 in pass 2. The half spectrum is [block of frequencies][line of
 * axis 2][real parts, imaginary parts of the block], so that pass 2 reads and writes whole vectors
 * one after the other.
 *
 * Only one plane is in work at a time. So only its half spectrum is in memory, which stays in the
 * last-level cache between the passes at the sizes of film frames.
 *
 * This module allocates nothing and knows nothing of threads: cpu_engine.c does both. */
#pragma once

#include "base/par.h"
#include "engine/engine.h"
#include "math/fft.h"
#include "math/lanes.h"
#include "math/plan.h"

/* The last pass: a row of what the transform made becomes a row of the result, by engine/join.h,
 * and is measured, while it is in the cache. This is one plane; the memory is the engine's. */
typedef struct {
    const plan *p;
    const engine_frame *f;
    uint32_t channel;
    join_stats *row; /* of each row */
    char *scratch;   /* cpu_join_room bytes of each worker */
} cpu_join;

/* Returns a worker's bytes, a multiple of 64. */
size_t cpu_join_room(const plan *p);
/* Makes row y. made: what the transform made of it, times the gain. */
void cpu_join_row(const cpu_join *f, uint32_t y, int worker, const void *made);
/* Returns what the plane has turned out to be. */
join_stats cpu_join_stats(const cpu_join *f);

/* Joins planes on the host with what was made of them elsewhere, times the gain: of a field the sum
 * of its windows. Of `ask` count the size, the channels and the planes. */
bool cpu_join_planes(join_stats *st, const plan_request *ask, const engine_frame *f,
                     const float *const *made, par *threads, err *e);

enum { CPU_PAIRS = 16, CPU_LINES = 2 * CPU_PAIRS };

/* Everything a piece of work needs. The memory is the engine's. */
typedef struct {
    const plan *p;
    lanes *fft[2]; /* of each axis */
    /* For indices of axis 1 from extent to length the index that is read there, or -1 for zero. */
    int32_t *beyond;
    /* For each number of axis 2, [j2][j1], the line of the half spectrum that is read there; the
     * one behind all others is zero. */
    uint32_t *source;
    size_t lines;      /* of a block of the half spectrum, with the one that is zero */
    size_t lanes;      /* of the passes: frequencies of a block, */
    size_t wide;       /* of those before this one; of the others, half as many */
    char *room;        /* scratch: that of worker w is at room + w * room_bytes */
    size_t room_bytes; /* a multiple of 64 */
    size_t threads;    /* that take blocks in turn */

    /* Set for each frame and plane, before its first pass. */
    void *half;
    const spectrum_lines *kernel; /* halves lines of axis[1].length, in the order of fft[1] */
    const float *lost;            /* as engine_frame has it, of the plane; or NULL */
    const void *in;               /* the plane, */
    bool halfs;                   /* which has halfs, else floats */
    const join_spread *spread;    /* what of it is spread; NULL: all */
    void *columns;                /* receives columns, in the plan's precision */
    double gain;                  /* undoes the scale of the transforms, too */
    cpu_join join;
    uint32_t spectrum; /* of the kernels */
} cpu_job;

/* The passes in one precision and for one form of processor. The context of each is a cpu_job. */
typedef struct {
    uint32_t lanes;
    size_t number; /* bytes of a complex number of every lane */
    par_fn *forward, *convolve, *inverse;
} cpu_passes;

/* Returns the passes of a form (math/lanes.h). */
const cpu_passes *cpu_passes_of(int form, bool float64);

/* Those of cpu_passes_form.c, which is compiled for each form. */
extern const cpu_passes CPU_PASSES_ANY_FLOAT32, CPU_PASSES_ANY_FLOAT64;
extern const cpu_passes CPU_PASSES_AVX2_FLOAT32, CPU_PASSES_AVX2_FLOAT64;
extern const cpu_passes CPU_PASSES_AVX512_FLOAT32, CPU_PASSES_AVX512_FLOAT64;

/* A pass is cut into pieces: those of the first kind fill all lanes, those of the second take half
 * as many and are done by the code of a lesser form. So they fill the threads better when fewer
 * than half of these would have a piece in the last round. Bytes do not depend on the cut, as no
 * lane knows of another. */
typedef struct {
    size_t wide, narrow;
} cpu_cut;
cpu_cut cpu_cut_of(size_t pieces, size_t threads);

/* Returns the number of pieces of a pass, all of them wide. */
size_t cpu_passes_batches(const cpu_job *j); /* forward, inverse */
size_t cpu_passes_blocks(const cpu_job *j);  /* convolve */

/* Returns how many frequencies a block has, of which k is one. */
static inline size_t cpu_passes_block(const cpu_job *j, size_t k) {
    return k < j->wide ? j->lanes : j->lanes / 2;
}
/* Returns the bytes of scratch that one worker needs. */
size_t cpu_passes_room(const cpu_job *j, const cpu_passes *k);

/* A worker's scratch. */
typedef struct {
    void *matrix;      /* of a long transform */
    void *scratch[2];  /* of a level */
    void *row;         /* of axis 2, transformed, */
    void *kernel;      /* the kernel's numbers for it, */
    void *lines;       /* and the same as they come: line after line */
    void *rows;        /* CPU_LINES rows of the image, `row_room` apart */
    double *transform; /* two lines of axis 2 for each FFT_LINES lanes, in double */
} cpu_room;
size_t cpu_passes_row_room(const cpu_job *j);
cpu_room cpu_passes_room_of(const cpu_job *j, const cpu_passes *k, int worker);

/* Numbers too small for a normalised float cost some CPUs a hundred cycles each, and a transform of
 * a nearly black frame can be full of them. They are far below the rounding error of the transform,
 * so while it runs they count as zero, on every processor. */
unsigned cpu_flush_denormals(void);
void cpu_restore(unsigned was);
