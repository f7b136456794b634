/* Codes of deflate: complete, prefix-free, short enough, and nearly as good as Huffman's, which are
 * computed here with a heap's patience: the two smallest again and again. */
#include "image/exr/exr_code.h"
#include "unit/check.h"
#include "unit/make_image.h"

/* Returns the bits of all symbols under Huffman's code: the sum of all weights in the tree. */
static uint64_t huffman_bits(const uint32_t *count, int n) {
    uint64_t weight[LENGTH_CODES], sum = 0;
    int used = 0;
    for (int i = 0; i < n; i++)
        if (count[i]) weight[used++] = count[i];
    if (used == 1) return weight[0];
    for (; used > 1; used--) {
        for (int k = 0; k < 2; k++) { /* the two smallest to the end */
            int least = 0;
            for (int i = 1; i < used - k; i++)
                if (weight[i] < weight[least]) least = i;
            uint64_t w = weight[least];
            weight[least] = weight[used - 1 - k];
            weight[used - 1 - k] = w;
        }
        weight[used - 2] += weight[used - 1];
        sum += weight[used - 2];
    }
    return sum;
}

static uint64_t code_bits(const exr_code *c, const uint32_t *count, int n) {
    uint64_t bits = 0;
    for (int i = 0; i < n; i++) bits += (uint64_t)count[i] * c->length[i];
    return bits;
}

/* Checks that each symbol that occurs has a code, that no code starts another, and that together
 * they leave nothing over, but for a code that is alone. */
static void check_code(const exr_code *c, const uint32_t *count, int n, unsigned deepest) {
    uint32_t sum = 0;
    int used = 0;
    for (int i = 0; i < n; i++) {
        assert_int_equal(c->length[i] > 0, count[i] > 0);
        if (!count[i]) continue;
        assert_in_range(c->length[i], 1, deepest);
        assert_int_equal(c->code[i] >> c->length[i], 0);
        sum += 1u << (deepest - c->length[i]);
        used++;
        for (int k = 0; k < i; k++) {
            if (!count[k]) continue;
            unsigned common = c->length[i] < c->length[k] ? c->length[i] : c->length[k];
            assert_int_not_equal((c->code[i] ^ c->code[k]) & ((1u << common) - 1), 0);
        }
    }
    if (used == 1)
        assert_int_equal(sum, 1u << (deepest - 1));
    else if (used)
        assert_int_equal(sum, 1u << deepest);
}

/* Counts of several shapes, with sums below 2^24. */
static void fill_counts(uint32_t *count, int n, int shape, uint64_t *seed) {
    uint32_t a = 1, b = 1;
    for (int i = 0; i < n; i++) {
        uint32_t r = (uint32_t)(make_random(seed) >> 32);
        uint32_t fibonacci = a + b;
        if (i % 2 == 0 && b < 10000) a = b, b = fibonacci;
        count[i] = shape == 0   ? r % 300
                   : shape == 1 ? (r % 20 == 0 ? r >> 17 : 0)
                   : shape == 2 ? 1 + (i < 2 ? 30000 : 0)
                   : shape == 3 ? b
                   : shape == 4 ? 1 + (60000u >> (i % 17))
                   : shape == 5 ? (r & 255) == 0
                                : 40000u >> (r % 16);
    }
}

TEST(codes_are_complete_and_nearly_as_short_as_huffmans) {
    enum { SHAPES = 7, ROUNDS = 40 };
    static const int SYMBOLS[] = {1, 2, 3, 19, 30, 100, LENGTH_CODES};
    uint64_t seed = 4;
    uint32_t count[LENGTH_CODES];
    exr_code c;
    for (int s = 0; s < SHAPES; s++) {
        uint64_t ours = 0, best = 0;
        for (int k = 0; k < 7; k++)
            for (int r = 0; r < ROUNDS; r++) {
                fill_counts(count, SYMBOLS[k], s, &seed);
                exr_code_make(&c, count, SYMBOLS[k], LONGEST_CODE);
                check_code(&c, count, SYMBOLS[k], LONGEST_CODE);
                ours += code_bits(&c, count, SYMBOLS[k]);
                best += huffman_bits(count, SYMBOLS[k]);
                if (SYMBOLS[k] > 30) continue;
                exr_code_make(&c, count, SYMBOLS[k], 7);
                check_code(&c, count, SYMBOLS[k], 7);
            }
        if (ours > best + best / 50)
            fail_msg("shape %d: %lu bits, Huffman's %lu", s, (unsigned long)ours,
                     (unsigned long)best);
    }
}

RUN_TESTS(NULL, NULL)
