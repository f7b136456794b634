/* lanes_avx2.c - transforms for processors with AVX2 */
#include "math/lanes.h"

#if defined(__AVX2__)
#define REAL    float
#define LANES   8
#define CODE    LANES_AVX2_FLOAT32
#define NAME(x) x##_float32
#include "math/lanes.inc"

#define REAL    double
#define LANES   4
#define CODE    LANES_AVX2_FLOAT64
#define NAME(x) x##_float64
#include "math/lanes.inc"
#endif
