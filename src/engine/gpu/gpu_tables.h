/* gpu_tables.h - the numbers that the host works out for the shaders, all in double: twiddle
 * factors, the places of frequencies, and the kernel's spectrum in the order of pass 2. */
#ifndef ENGINE_GPU_TABLES_H
#define ENGINE_GPU_TABLES_H

#include "base/par.h"
#include "kernel/spectrum.h"
#include "math/plan.h"

/* Where each transform's tables begin in the one twiddle buffer: in entries of two complex numbers
 * for stages, in complex numbers for those of a split line
 * or a row alone. Indexed by the plan's axis. */
typedef struct {
    uint32_t fft[2], outer[2], inner[2], line[2];
    uint32_t copy; /* entries from each table to its copy, which the inverse reads */
    uint64_t bytes;
} gpu_twiddles;

gpu_twiddles gpu_twiddles_layout(const plan *p);
void gpu_twiddles_fill(void *to, const plan *p, const gpu_twiddles *t);

/* place[k] for k < L of a split first axis. */
void gpu_places_fill(uint32_t *to, const plan_axis *a);

/* Channels [first, first + count) of the lines, times 1 / (2 L1 L2), in the order of
 * convolve.comp: [channel][k][part][q][butterfly]. */
bool gpu_spectrum_fill(void *to, const spectrum_lines *from, const plan *p, uint32_t first,
                       uint32_t count, par *threads, err *e);

#endif
