/* cpu_fft.h - one complex transform of one line, by FFTW, in float or double.
 *
 * Only this module knows FFTW: its planner, which is global and locked here, and its wisdom, the
 * plans that a measurement found fastest. Wisdom is kept in the cache folder, one file per FFTW
 * library, CPU and precision; a file that is damaged or comes from elsewhere is ignored with a
 * warning. Without `patience` no wisdom is read, so that a length has the same plan in every run.
 * It does not know what a line holds.
 *
 * Transforms are forward and not normalised. The conjugate of the transform of a conjugate is the
 * inverse, times the length. */
#ifndef ENGINE_CPU_FFT_H
#define ENGINE_CPU_FFT_H

#include "base/err.h"

#include <stdint.h>

typedef struct cpu_fft cpu_fft;

typedef struct {
    uint32_t length;
    bool float64;
    double patience;       /* seconds for measuring, where no wisdom is known for the length; 0:
                            * FFTW's estimate, without wisdom */
    const char *cache_dir; /* where wisdom is kept; NULL: nowhere */
} cpu_fft_request;

/* Any thread may make or free a transform. */
cpu_fft *cpu_fft_new(const cpu_fft_request *r, err *e);
void cpu_fft_free(cpu_fft **f);

/* Transforms `from` into `to`, which are different memory, each aligned to 64 bytes, and destroys
 * what `from` holds. Several threads may run one transform at the same time. */
void cpu_fft_run(const cpu_fft *f, void *from, void *to);

/* Returns the name and version of the library. */
const char *cpu_fft_version(void);

#endif
