/* rgbe.h - the pixels of Radiance pictures: three mantissas that share an exponent.
 *
 * A value is m * 2^(e - 136), without the half that some readers add, so that what is written is
 * what is read. A scan line is stored as it stands, in old run lengths (a pixel 1 1 1 n repeats the
 * one before) or, from 8 to 32767 pixels, in new ones (each component for itself). */
#ifndef IMAGE_RGBE_H
#define IMAGE_RGBE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* One line of n pixels of four bytes from [*at, end); *at moves behind it. */
bool rgbe_read_line(uint8_t *line, size_t n, const uint8_t **at, const uint8_t *end, err *e);
/* The most that a line of n pixels takes when it is written, and the writing of one: returns its
 * length. */
size_t rgbe_bound(size_t n);
size_t rgbe_write_line(uint8_t *to, const uint8_t *line, size_t n);

/* Of n pixels; R G B R G B ... What is negative or NaN becomes 0, what is too large the largest. */
void rgbe_to_floats(float *to, const uint8_t *from, size_t n);
void rgbe_from_floats(uint8_t *to, const float *from, size_t n);

#endif
