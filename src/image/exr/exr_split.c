#include "image/exr/exr_chunk.h"

/* These loops see every byte of every ZIP file, so they use the 16-byte registers that every x86-64
 * has, with the same results as the plain loops below. */
#if defined(__SSE2__)
#include <emmintrin.h>

typedef __m128i v16;

static inline v16 load(const uint8_t *p) {
    return _mm_loadu_si128((const v16 *)p);
}
static inline void store(uint8_t *p, v16 v) {
    _mm_storeu_si128((v16 *)p, v);
}

/* Returns the differences of 16 bytes; *before holds the ones before in its last byte. */
static inline v16 differences(v16 v, v16 *before) {
    v16 shifted = _mm_or_si128(_mm_slli_si128(v, 1), _mm_srli_si128(*before, 15));
    *before = v;
    return _mm_add_epi8(_mm_sub_epi8(v, shifted), _mm_set1_epi8((char)128));
}

/* Returns the sums of 16 differences, by doubling the reach; *sum is the sum of all before, in each
 * byte. The last sum gets there off the chain from *sum to *sum, which is one add. */
static inline v16 sums(v16 v, v16 *sum) {
    v = _mm_add_epi8(v, _mm_set1_epi8((char)128));
    v = _mm_add_epi8(v, _mm_slli_si128(v, 1));
    v = _mm_add_epi8(v, _mm_slli_si128(v, 2));
    v = _mm_add_epi8(v, _mm_slli_si128(v, 4));
    v = _mm_add_epi8(v, _mm_slli_si128(v, 8));
    v16 last = _mm_unpackhi_epi8(v, v), sums = _mm_add_epi8(v, *sum);
    last = _mm_shufflehi_epi16(last, 0xff);
    *sum = _mm_add_epi8(*sum, _mm_unpackhi_epi64(last, last));
    return sums;
}
#endif

void exr_split(uint8_t *even, uint8_t *odd, const uint8_t *from, size_t n, exr_last *last) {
    exr_last l = *last;
    size_t i = 0;
#if defined(__SSE2__)
    const v16 low = _mm_set1_epi16(0xff);
    v16 evens = _mm_set1_epi8((char)l.even), odds = _mm_set1_epi8((char)l.odd);
    for (; i + 16 <= n; i += 16) {
        v16 a = load(from + 2 * i), b = load(from + 2 * i + 16);
        v16 e = _mm_packus_epi16(_mm_and_si128(a, low), _mm_and_si128(b, low));
        v16 o = _mm_packus_epi16(_mm_srli_epi16(a, 8), _mm_srli_epi16(b, 8));
        store(even + i, differences(e, &evens));
        store(odd + i, differences(o, &odds));
    }
    if (i) l = (exr_last){from[2 * i - 2], from[2 * i - 1]};
#endif
    for (; i < n; i++) {
        even[i] = (uint8_t)(from[2 * i] - l.even + 128);
        odd[i] = (uint8_t)(from[2 * i + 1] - l.odd + 128);
        l = (exr_last){from[2 * i], from[2 * i + 1]};
    }
    *last = l;
}

void exr_split_end(uint8_t *chunk, size_t half, exr_last last) {
    chunk[half] = (uint8_t)(chunk[half] - last.even);
}

static uint8_t sum_of(const uint8_t *b, size_t n) {
    uint8_t sum = 0;
    for (size_t i = 0; i < n; i++) sum = (uint8_t)(sum + b[i] - 128);
    return sum;
}

exr_last exr_join_start(const uint8_t *chunk, size_t half) {
    return (exr_last){128, (uint8_t)(128 + sum_of(chunk, half))};
}

void exr_join(uint8_t *to, const uint8_t *even, const uint8_t *odd, size_t n, exr_last *last) {
    exr_last l = *last;
    size_t i = 0;
    if (!to) {
        last->even = (uint8_t)(l.even + sum_of(even, n));
        last->odd = (uint8_t)(l.odd + sum_of(odd, n));
        return;
    }
#if defined(__SSE2__)
    v16 evens = _mm_set1_epi8((char)l.even), odds = _mm_set1_epi8((char)l.odd);
    for (; i + 16 <= n; i += 16) {
        v16 e = sums(load(even + i), &evens), o = sums(load(odd + i), &odds);
        store(to + 2 * i, _mm_unpacklo_epi8(e, o));
        store(to + 2 * i + 16, _mm_unpackhi_epi8(e, o));
    }
    if (i) l = (exr_last){to[2 * i - 2], to[2 * i - 1]};
#endif
    for (; i < n; i++) {
        to[2 * i] = l.even = (uint8_t)(l.even + even[i] - 128);
        to[2 * i + 1] = l.odd = (uint8_t)(l.odd + odd[i] - 128);
    }
    *last = l;
}
