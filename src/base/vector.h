/* vector.h - gives hot loops the compiler's vectors, in two versions.
 *
 * A hot loop is written once, as a VECTOR_INLINE function over vec4d or vec8f, and called from two
 * functions: a plain one, and one marked VECTOR_WIDE, which the compiler may lower to AVX2 and
 * F16C. vector_wide() tells at run time which to call. Vectors go in and out of functions by
 * pointer only: their calling convention depends on the target. Pixels are the same on every
 * processor, since both versions round one by one, in the same order. */
#pragma once

#include "base/half.h"

#include <stdbool.h>
#include <stdint.h>

typedef double vec4d __attribute__((vector_size(32)));
typedef float vec8f __attribute__((vector_size(32)));
typedef float vec4f __attribute__((vector_size(16)));
/* The same at any address: for loads from and stores to rows. */
typedef float vec8f_any __attribute__((vector_size(32), aligned(1), may_alias));
typedef double vec4d_any __attribute__((vector_size(32), aligned(1), may_alias));
typedef float vec4f_any __attribute__((vector_size(16), aligned(1), may_alias));

typedef int32_t vec8i __attribute__((vector_size(32)));
typedef int64_t vec4l __attribute__((vector_size(32)));
typedef int32_t vec8i_any __attribute__((vector_size(32), aligned(1), may_alias));
#define VECTOR_PICK8(mask, a, b) (vec8f)(((mask) & (vec8i)(a)) | (~(mask) & (vec8i)(b)))
#define VECTOR_PICK4(mask, a, b) (vec4d)(((mask) & (vec4l)(a)) | (~(mask) & (vec4l)(b)))

/* Make doubles of four floats, of a vector or in memory, in a form that compilers turn into one
 * instruction; and add eight floats to four doubles. */
#define VECTOR_DOUBLES(v, i)                                                             \
    (vec4d) {                                                                            \
        (double)(v)[i], (double)(v)[(i) + 1], (double)(v)[(i) + 2], (double)(v)[(i) + 3] \
    }
#define VECTOR_ADD_UP(to, v) ((to) += VECTOR_DOUBLES(v, 0) + VECTOR_DOUBLES(v, 4))

#define VECTOR_INLINE static inline __attribute__((always_inline))

/* Only in functions that are VECTOR_WIDE: take a where it is less (greater), else b; keep what was
 * loaded in a register, since gcc loads it again for each use. */
#if defined(__x86_64__)
#include <immintrin.h>
#define VECTOR_WIDE       __attribute__((target("avx2,f16c")))
#define VECTOR_MIN8(a, b) (vec8f) _mm256_min_ps(a, b)
#define VECTOR_MAX8(a, b) (vec8f) _mm256_max_ps(a, b)
#define VECTOR_MIN4(a, b) (vec4d) _mm256_min_pd(a, b)
#define VECTOR_MAX4(a, b) (vec4d) _mm256_max_pd(a, b)
#define VECTOR_KEEP(v)    __asm__("" : "+v"(v))
/* Clang 14 cannot ask for F16C, but every processor with AVX2 has it. */
static inline bool vector_wide(void) {
    return __builtin_cpu_supports("avx2");
}
#else
#define VECTOR_WIDE
#define VECTOR_MIN8(a, b) VECTOR_PICK8((a) < (b), a, b)
#define VECTOR_MAX8(a, b) VECTOR_PICK8((a) > (b), a, b)
#define VECTOR_MIN4(a, b) VECTOR_PICK4((a) < (b), a, b)
#define VECTOR_MAX4(a, b) VECTOR_PICK4((a) > (b), a, b)
#define VECTOR_KEEP(v)    ((void)0)
static inline bool vector_wide(void) {
    return false;
}
#endif

/* Make eight floats of halfs, and halfs of floats: only in functions that are VECTOR_WIDE. */
VECTOR_INLINE VECTOR_WIDE void vector_of_halfs(vec8f *to, const uint16_t *from) {
#if defined(__x86_64__)
    *to = (vec8f)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)from));
#else
    half_to_floats((float *)to, from, 8);
#endif
}
VECTOR_INLINE VECTOR_WIDE void vector_to_halfs(uint16_t *to, const vec8f *from) {
#if defined(__x86_64__)
    _mm_storeu_si128((__m128i *)to, _mm256_cvtps_ph((__m256)*from, _MM_FROUND_TO_NEAREST_INT));
#else
    half_from_floats(to, (const float *)from, 8);
#endif
}
