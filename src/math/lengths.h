/* lengths.h - transform lengths 2^a 3^b 5^c 7^d and their radices. */
#ifndef MATH_LENGTHS_H
#define MATH_LENGTHS_H

#include "math/plan.h"

bool length_is_smooth(uint32_t n);
/* The smallest smooth length >= n that is a multiple of `multiple` (1 or 2); 0 beyond 2^26. */
uint32_t length_next(uint32_t n, uint32_t multiple);

/* Relative price of one complex transform of a smooth length, and of its price per element. */
double length_cost(uint32_t n);

#endif
