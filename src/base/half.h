/* half.h - converts 16-bit floats, as IEEE 754 and OpenEXR have them. Float to half rounds to
 * nearest, ties to even; beyond 65504 it gives infinity. NaN stays NaN with its upper payload bits.
 * Rows use the processor's instruction if it has one, with the same results. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define HALF_MAX 65504.0f /* the largest finite half */

float half_to_float(uint16_t h);
uint16_t half_from_float(float f);

void half_to_floats(float *to, const uint16_t *from, size_t n);
void half_from_floats(uint16_t *to, const float *from, size_t n);
