/* lanes_forms.h - the code of math/lanes.inc for each kind of processor, one file each. */
#ifndef MATH_LANES_FORMS_H
#define MATH_LANES_FORMS_H

#include "math/lanes.h"

extern const lanes_code LANES_ANY_FLOAT32, LANES_ANY_FLOAT64;
extern const lanes_code LANES_AVX2_FLOAT32, LANES_AVX2_FLOAT64;
extern const lanes_code LANES_AVX512_FLOAT32, LANES_AVX512_FLOAT64;

#endif
