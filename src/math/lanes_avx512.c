/* lanes_avx512.c - transforms for processors with AVX-512 */
#include "math/lanes.h"

#if defined(__AVX512F__)
#define REAL    float
#define LANES   16
#define CODE    LANES_AVX512_FLOAT32
#define NAME(x) x##_float32
#include "math/lanes.inc"

#define REAL    double
#define LANES   8
#define CODE    LANES_AVX512_FLOAT64
#define NAME(x) x##_float64
#include "math/lanes.inc"
#endif
