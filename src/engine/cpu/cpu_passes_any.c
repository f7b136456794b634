/* cpu_passes_any.c - the passes for every processor */
#include "engine/cpu/cpu_passes.h"

#define REAL    float
#define DOUBLES 0
#define LANES   4
#define CODE    LANES_ANY_FLOAT32
#define PASSES  CPU_PASSES_ANY_FLOAT32
#define NAME(x) x##_float32
#include "engine/cpu/cpu_passes.inc"

#define REAL    double
#define DOUBLES 1
#define LANES   4
#define CODE    LANES_ANY_FLOAT64
#define PASSES  CPU_PASSES_ANY_FLOAT64
#define NAME(x) x##_float64
#include "engine/cpu/cpu_passes.inc"
