/* cpu_passes_form.c - the passes for one form of processor, in float and in double. The Makefile
 * compiles this file for each FORM, with its instructions; to nothing where there are none. */
#include "engine/cpu/cpu_passes.h"

#if FORM == 0
#define FLOATS             4
#define NUMBERS            4
#define FORMED(name, type) name##_ANY_##type
#elif FORM == 1 && defined(__AVX2__)
#define FLOATS             8
#define NUMBERS            4
#define FORMED(name, type) name##_AVX2_##type
#elif FORM == 2 && defined(__AVX512F__)
#define FLOATS             16
#define NUMBERS            8
#define FORMED(name, type) name##_AVX512_##type
#endif

#if defined(FLOATS)
#define REAL    float
#define DOUBLES 0
#define LANES   FLOATS
#define CODE    FORMED(LANES, FLOAT32)
#define PASSES  FORMED(CPU_PASSES, FLOAT32)
#define NAME(x) x##_float32
#include "engine/cpu/cpu_passes.inc"

#define REAL    double
#define DOUBLES 1
#define LANES   NUMBERS
#define CODE    FORMED(LANES, FLOAT64)
#define PASSES  FORMED(CPU_PASSES, FLOAT64)
#define NAME(x) x##_float64
#include "engine/cpu/cpu_passes.inc"
#endif
