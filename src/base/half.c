#include "base/half.h"

#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

static uint32_t bits_of(float f) {
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

static float of_bits(uint32_t u) {
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

float half_to_float(uint16_t h) {
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, mantissa = h & 1023;
    if (exponent == 31) { /* infinity; or NaN, quiet as the processor makes it */
        return of_bits(sign | 0x7f800000 | mantissa << 13 | (mantissa ? 0x400000 : 0));
    }
    if (exponent) return of_bits(sign | (exponent + 112) << 23 | mantissa << 13);
    float magnitude = (float)mantissa * 0x1p-24f; /* zero and denormals, exact */
    return of_bits(sign | bits_of(magnitude));
}

uint16_t half_from_float(float f) {
    uint32_t u = bits_of(f), sign = u >> 16 & 0x8000, a = u & 0x7fffffff;
    if (a > 0x7f800000) return (uint16_t)(sign | 0x7e00 | (a >> 13 & 0x3ff));
    if (a >= 0x477ff000) return (uint16_t)(sign | 0x7c00); /* 65520 and up round to infinity */
    if (a < 0x38800000) {
        /* Below the smallest normal, 2^-14: adding 0.5 leaves a multiple of 2^-24 in the low
         * bits of the sum, rounded as the processor rounds. */
        return (uint16_t)(sign | (bits_of(of_bits(a) + 0.5f) - 0x3f000000));
    }
    a += 0xfff + (a >> 13 & 1);
    return (uint16_t)(sign | ((a - 0x38000000) >> 13));
}

#if defined(__x86_64__)
__attribute__((target("avx,f16c"))) static size_t to_floats_f16c(float *to, const uint16_t *from,
                                                                 size_t n) {
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(from + i))));
    return i;
}

__attribute__((target("avx,f16c"))) static size_t from_floats_f16c(uint16_t *to, const float *from,
                                                                   size_t n) {
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m128i h = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
        _mm_storeu_si128((__m128i *)(to + i), h);
    }
    return i;
}

/* Returns whether there is F16C, for which Clang 14 cannot ask: AVX2 comes with it. */
static int has_f16c(void) {
    return __builtin_cpu_supports("avx2");
}
#endif

void half_to_floats(float *to, const uint16_t *from, size_t n) {
    size_t i = 0;
#if defined(__x86_64__)
    if (has_f16c()) i = to_floats_f16c(to, from, n);
#endif
    for (; i < n; i++) to[i] = half_to_float(from[i]);
}

void half_from_floats(uint16_t *to, const float *from, size_t n) {
    size_t i = 0;
#if defined(__x86_64__)
    if (has_f16c()) i = from_floats_f16c(to, from, n);
#endif
    for (; i < n; i++) to[i] = half_from_float(from[i]);
}
