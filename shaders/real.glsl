// real.glsl - the number types of a build: every pass is compiled for 32-bit and for 64-bit floats.
#include "shared.h"

#ifdef FLOAT64
#define real     double
#define complex  dvec2
#define complex2 dvec4
#else
#define real     float
#define complex  vec2
#define complex2 vec4 // two complex numbers that are neighbours in memory
#endif
