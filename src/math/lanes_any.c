/* lanes_any.c - transforms for every processor */
#include "math/lanes.h"

#define REAL    float
#define LANES   4
#define CODE    LANES_ANY_FLOAT32
#define NAME(x) x##_float32
#include "math/lanes.inc"

#define REAL    double
#define LANES   4
#define CODE    LANES_ANY_FLOAT64
#define NAME(x) x##_float64
#include "math/lanes.inc"
