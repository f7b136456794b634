/* cpu_fft.h - one complex transform of one line, by FFTW, in float or double.
 *
 * Everything else that knows FFTW is behind this header: its planner, which is not thread-safe and
 * is locked here, and its wisdom, which is kept in the cache directory, one file per FFTW version,
 * CPU and precision. A wisdom file that is damaged or from elsewhere is ignored with a warning.
 *
 * Transforms are forward, and not normalised. The conjugate of the transform of a conjugate is the
 * inverse, times the length. */
#ifndef ENGINE_CPU_FFT_H
#define ENGINE_CPU_FFT_H

#include "base/err.h"

#include <stdint.h>

typedef struct cpu_fft cpu_fft;

/* `patience`: seconds that may be spent on timing several ways and keeping the best, where no
 * wisdom knows the length; FFTW looks farther the more there is. 0 takes FFTW's guess, at once.
 * Wisdom that is at hand is used in any case. */
cpu_fft *cpu_fft_new(uint32_t length, bool float64, double patience, err *e);
void cpu_fft_free(cpu_fft **f);

/* `from` and `to` are different memory, each aligned to 64 bytes; `from` is destroyed. Any number
 * of threads may run one transform at once. */
void cpu_fft_run(const cpu_fft *f, void *from, void *to);

/* Adds what the directory's wisdom files know; a directory without them is fine. */
void cpu_fft_load_wisdom(const char *cache_dir);
/* Writes the files anew if anything was measured since. Failure is a warning: it costs time only.
 */
void cpu_fft_save_wisdom(const char *cache_dir);

const char *cpu_fft_version(void);

#endif
