/* lanes_form.c - the transforms for one form of processor, in float and in double. The Makefile
 * compiles this file for each FORM, with its instructions; to nothing where there are none. */
#include "math/lanes.h"

#if FORM == 0
#define FLOATS      4
#define NUMBERS     4
#define CODES(type) LANES_ANY_##type
#elif FORM == 1 && defined(__AVX2__)
#define FLOATS      8
#define NUMBERS     4
#define CODES(type) LANES_AVX2_##type
#elif FORM == 2 && defined(__AVX512F__)
#define FLOATS      16
#define NUMBERS     8
#define CODES(type) LANES_AVX512_##type
#endif

#if defined(FLOATS)
#define REAL    float
#define LANES   FLOATS
#define CODE    CODES(FLOAT32)
#define NAME(x) x##_float32
#include "math/lanes.inc"

#define REAL    double
#define LANES   NUMBERS
#define CODE    CODES(FLOAT64)
#define NAME(x) x##_float64
#include "math/lanes.inc"
#endif
