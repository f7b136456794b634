/* random.h - numbers that look random and are the same in every run: splitmix64. */
#pragma once

#include <stdint.h>

/* Returns the next of 2^64 equally likely numbers. Any state is a good start. */
static inline uint64_t random_next(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}
