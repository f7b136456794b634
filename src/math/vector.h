/* vector.h - the compiler's vectors, and hot loops in two versions.
 *
 * A hot loop is written once, as a VECTOR_INLINE function over vec4d or vec8f, and called from two
 * functions: a plain one, which the compiler lowers to what every processor of the architecture
 * has, and one marked VECTOR_WIDE, which it may lower to AVX2 and FMA. vector_wide() tells at run
 * time which to call. Vectors go in and out of functions by pointer only: their calling convention
 * depends on the target. */
#ifndef MATH_VECTOR_H
#define MATH_VECTOR_H

#include <stdbool.h>

typedef double vec4d __attribute__((vector_size(32)));
typedef float vec8f __attribute__((vector_size(32)));
/* The same at any address: for loads from and stores to rows. */
typedef float vec8f_any __attribute__((vector_size(32), aligned(4), may_alias));

#define VECTOR_INLINE static inline __attribute__((always_inline))

#if defined(__x86_64__)
#define VECTOR_WIDE __attribute__((target("avx2,fma")))
static inline bool vector_wide(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#else
#define VECTOR_WIDE
static inline bool vector_wide(void) {
    return false;
}
#endif

#endif
