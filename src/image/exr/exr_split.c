#include "image/exr/exr_split.h"

#if defined(__SSE2__)
#include <emmintrin.h>

typedef __m128i v16;

static v16 load(const uint8_t *p) {
    return _mm_loadu_si128((const v16 *)p);
}
static void store(uint8_t *p, v16 v) {
    _mm_storeu_si128((v16 *)p, v);
}

static size_t split_fast(uint8_t *even, uint8_t *odd, const uint8_t *from, size_t n) {
    const v16 low = _mm_set1_epi16(0xff);
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        v16 a = load(from + 2 * i), b = load(from + 2 * i + 16);
        store(even + i, _mm_packus_epi16(_mm_and_si128(a, low), _mm_and_si128(b, low)));
        store(odd + i, _mm_packus_epi16(_mm_srli_epi16(a, 8), _mm_srli_epi16(b, 8)));
    }
    return i;
}

static size_t join_fast(uint8_t *to, const uint8_t *even, const uint8_t *odd, size_t n) {
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        v16 a = load(even + i), b = load(odd + i);
        store(to + 2 * i, _mm_unpacklo_epi8(a, b));
        store(to + 2 * i + 16, _mm_unpackhi_epi8(a, b));
    }
    return i;
}

/* From the end to the start, so that what is subtracted is still there. Returns how many bytes
 * from the start are left to do. */
static size_t delta_fast(uint8_t *b, size_t n) {
    const v16 offset = _mm_set1_epi8((char)128);
    for (; n >= 17; n -= 16) {
        v16 here = load(b + n - 16), before = load(b + n - 17);
        store(b + n - 16, _mm_add_epi8(_mm_sub_epi8(here, before), offset));
    }
    return n;
}

/* Running sums within a register by doubling the reach, then the sum of all before is added. */
static size_t undelta_fast(uint8_t *b, size_t n) {
    const v16 offset = _mm_set1_epi8((char)128);
    size_t i = 0;
    if (n < 16) return 0;
    /* The first byte has no offset: it is added here to be taken away again. */
    v16 carry = offset;
    for (; i + 16 <= n; i += 16) {
        v16 v = _mm_add_epi8(load(b + i), offset);
        v = _mm_add_epi8(v, _mm_slli_si128(v, 1));
        v = _mm_add_epi8(v, _mm_slli_si128(v, 2));
        v = _mm_add_epi8(v, _mm_slli_si128(v, 4));
        v = _mm_add_epi8(v, _mm_slli_si128(v, 8));
        store(b + i, _mm_add_epi8(v, carry));
        /* The last byte in every place; off the chain from carry to carry, which is one add. */
        v16 last = _mm_unpackhi_epi8(v, v);
        last = _mm_shufflehi_epi16(last, 0xff);
        carry = _mm_add_epi8(carry, _mm_unpackhi_epi64(last, last));
    }
    return i;
}
#else
static size_t split_fast(uint8_t *even, uint8_t *odd, const uint8_t *from, size_t n) {
    (void)even, (void)odd, (void)from, (void)n;
    return 0;
}
static size_t join_fast(uint8_t *to, const uint8_t *even, const uint8_t *odd, size_t n) {
    (void)to, (void)even, (void)odd, (void)n;
    return 0;
}
static size_t delta_fast(uint8_t *b, size_t n) {
    (void)b;
    return n;
}
static size_t undelta_fast(uint8_t *b, size_t n) {
    (void)b, (void)n;
    return 0;
}
#endif

void exr_split(uint8_t *even, uint8_t *odd, const uint8_t *from, size_t n) {
    for (size_t i = split_fast(even, odd, from, n); i < n; i++) {
        even[i] = from[2 * i];
        odd[i] = from[2 * i + 1];
    }
}

void exr_join(uint8_t *to, const uint8_t *even, const uint8_t *odd, size_t n) {
    for (size_t i = join_fast(to, even, odd, n); i < n; i++) {
        to[2 * i] = even[i];
        to[2 * i + 1] = odd[i];
    }
}

void exr_delta(uint8_t *b, size_t n) {
    for (size_t i = delta_fast(b, n); i > 1; i--) b[i - 1] = (uint8_t)(b[i - 1] - b[i - 2] + 128);
}

void exr_undelta(uint8_t *b, size_t n) {
    size_t i = undelta_fast(b, n);
    for (i = i ? i : 1; i < n; i++) b[i] = (uint8_t)(b[i - 1] + b[i] - 128);
}
