#include "image/exr/exr_sample.h"

#include "image/exr/exr_code.h"

/* Returns whether two bytes are opposite numbers when 128 is taken for zero. Those near zero are
 * not counted: flat areas have them, too. */
static bool is_far(const uint8_t *pair) {
    return (uint8_t)(pair[0] - 120) > 16;
}
static bool is_opposite(const uint8_t *pair) {
    return is_far(pair) && (uint8_t)(pair[0] + pair[1]) == 0;
}

/* Takes one byte in 13 of a small half, and some 250 of a large one. A pair that repeats the one
 * before is not counted: flat areas have them, too. Byte 0 of floats that hold halfs is zero, so
 * that the difference to byte 2 and the one from it are opposite. */
exr_sample exr_sample_take(const uint8_t *b, size_t n) {
    enum { STRIDE = 13, SAMPLES = 250, LEAST = 128 /* a code has a bit or more; in 1/128 */ };
    uint16_t seen[256] = {0};
    size_t stride = (n / SAMPLES < STRIDE ? STRIDE : n / SAMPLES) | 1;
    uint32_t taken = 0, pairs = 0, changing = 0, far = 0, opposite = 0;
    int32_t sum = 0;
    uint8_t before = 0;
    for (size_t i = 0; i + 1 < n; i += stride, taken++) {
        const uint8_t *pair = b + (i & ~(size_t)1), *next = b + (i | 1);
        seen[b[i]]++;
        pairs += is_opposite(pair) && pair[0] != before;
        before = pair[0];
        if (i + 4 >= n || memcmp(next, next + 2, 2) == 0) continue;
        changing++;
        far += is_far(next);
        opposite += is_opposite(next);
    }
    if (!taken) return (exr_sample){.bits = 8 * 16};
    for (size_t i = 0; i + 1 < n; i += stride) {
        int32_t bits = (float_bits(taken) - float_bits(seen[b[i]])) >> 16;
        sum += bits < LEAST ? LEAST : bits;
    }
    exr_sample s = {.bits = (unsigned)sum / taken / 8, .depth = pairs * 12 > taken};
    s.pairs = s.bits >= 112 || (s.bits >= 64 && pairs * 8 > taken * 3);
    s.halfs = changing * 32 >= taken && far * 2 >= changing && opposite * 16 >= far * 15;
    return s;
}
