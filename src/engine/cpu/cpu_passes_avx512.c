/* cpu_passes_avx512.c - the passes for processors with AVX-512 */
#include "engine/cpu/cpu_passes.h"

#if defined(__AVX512F__)
#define REAL    float
#define DOUBLES 0
#define LANES   16
#define CODE    LANES_AVX512_FLOAT32
#define PASSES  CPU_PASSES_AVX512_FLOAT32
#define NAME(x) x##_float32
#include "engine/cpu/cpu_passes.inc"

#define REAL    double
#define DOUBLES 1
#define LANES   8
#define CODE    LANES_AVX512_FLOAT64
#define PASSES  CPU_PASSES_AVX512_FLOAT64
#define NAME(x) x##_float64
#include "engine/cpu/cpu_passes.inc"
#endif
