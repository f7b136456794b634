/* number.h - finds the smaller and the larger of numbers, limits them, and rounds quotients up, by
 * one function per type, so that no argument is converted in silence. */
#pragma once

#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* min_NAME and max_NAME return `b` where `a` is NaN. clamp_NAME returns the number nearest to `v`
 * in [low, high], and `low` for NaN. */
#define NUMBER_ORDER(name, type)                                   \
    static inline type min_##name(type a, type b) {                \
        return a < b ? a : b;                                      \
    }                                                              \
    static inline type max_##name(type a, type b) {                \
        return a > b ? a : b;                                      \
    }                                                              \
    static inline type clamp_##name(type v, type low, type high) { \
        return min_##name(max_##name(v, low), high);               \
    }
/* ceil_div_NAME returns a / b rounded up. It does not overflow; `b` must not be 0. */
#define NUMBER_CEIL_DIV(name, type)                      \
    static inline type ceil_div_##name(type a, type b) { \
        return a / b + (a % b != 0);                     \
    }

/* The members of an array. */
#define COUNT(array) (sizeof(array) / sizeof *(array))

NUMBER_ORDER(int, int)
NUMBER_ORDER(i64, int64_t)
NUMBER_ORDER(u32, uint32_t)
NUMBER_ORDER(u64, uint64_t)
NUMBER_ORDER(size, size_t)
NUMBER_ORDER(float, float)
NUMBER_ORDER(double, double)

NUMBER_CEIL_DIV(u32, uint32_t)
NUMBER_CEIL_DIV(u64, uint64_t)
NUMBER_CEIL_DIV(size, size_t)

/* Returns how far the point x, y is from the origin. hypot, of which nothing else is wanted here,
 * would ask for glibc 2.35. */
static inline double length_of(double x, double y) {
    return sqrt(x * x + y * y);
}

/* Returns the next of 2^64 equally likely numbers. Any state is a good start. */
static inline uint64_t random_next(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}
