/* PIZ, chunk by chunk: any number of 16-bit values in a chunk goes there and back. */
#include "image/exr/exr_chunk.h"
#include "unit/make_image.h"

#include "unit/check.h"

enum { VALUES = 65536 };

/* A chunk of one channel of halfs. */
typedef struct {
    image_channel channel;
    image_part part;
    exr_shape shape;
    exr_scratch s;
    uint16_t *word;
} chunk;

static void chunk_free(chunk *c) {
    exr_scratch_free(&c->s);
    free(c->word);
}

static void chunk_make(chunk *c, uint32_t w, uint32_t h) {
    c->channel = (image_channel){.name = (char *)(uintptr_t) "Y", .type = PIXEL_HALF};
    c->part = (image_part){.channel = &c->channel, .channels = 1, .packing = COMPRESSION_PIZ};
    c->shape = (exr_shape){&c->part, w, h, (size_t)w * h * 2};
    c->word = malloc(c->shape.raw);
    c->s.raw = mem_raw(c->shape.raw, 1, "a chunk", &e);
    CHECK_OK(c->word && c->s.raw && exr_scratch_packed(&c->s, exr_piz_bound(c->shape.raw), &e));
    c->s.raw_room = c->shape.raw;
}

static void check_there_and_back(chunk *c) {
    memcpy(c->s.raw, c->word, c->shape.raw);
    CHECK_OK(exr_piz_encode(&c->s, &c->shape, &e));
    CHECK_LE(c->s.bytes, c->shape.raw - 1); /* else it is stored as it is, and tests nothing */
    memset(c->s.raw, 0, c->shape.raw);
    CHECK_OK(exr_piz_decode(&c->s, &c->shape, &e));
    assert_memory_equal(c->s.raw, c->word, c->shape.raw);
}

/* A chunk of one line has no wavelet, so its values are the symbols of the code: each of `symbols`
 * neighbours once, in any place, and then some of them often, so that packing shrinks the chunk. */
static void check_symbols(uint32_t symbols, uint64_t *seed) {
    const uint32_t often = 3 * symbols + 4096, first = make_below(seed, VALUES - symbols + 1);
    OWN(chunk) c = {0};
    chunk_make(&c, symbols + often, 1);
    for (uint32_t i = 0; i < symbols; i++) c.word[i] = (uint16_t)(first + i);
    for (uint32_t i = 0; i < often; i++) {
        double rare = make_chance(seed);
        c.word[symbols + i] = (uint16_t)(first + (uint32_t)(pow(rare, 8) * symbols));
    }
    for (uint32_t i = symbols + often; i-- > 1;) {
        uint32_t j = make_below(seed, i + 1);
        uint16_t v = c.word[i];
        c.word[i] = c.word[j];
        c.word[j] = v;
    }
    check_there_and_back(&c);
}

TEST(any_number_of_symbols) {
    uint64_t seed = 37;
    for (uint32_t n = 1; n <= VALUES; n *= 2)
        for (uint32_t i = n > 1 ? n - 1 : n; i <= n + 1 && i <= VALUES; i++)
            check_symbols(i, &seed);
    for (int i = 0; i < 950; i++) check_symbols((uint32_t)exp2(16 * make_chance(&seed)), &seed);
}

/* Chunks of 32 lines, as files have them, in which the wavelet's numbers are all that there are. */
TEST(chunks_with_all_values) {
    uint64_t seed = 38;
    for (int k = 0; k < 8; k++) {
        OWN(chunk) c = {0};
        chunk_make(&c, 16384, 32);
        for (size_t i = 0; i < c.shape.raw / 2; i++) {
            double spread = pow(make_chance(&seed), 6) * make_chance(&seed);
            c.word[i] = (uint16_t)(i < VALUES ? i : (uint32_t)(spread * VALUES));
        }
        check_there_and_back(&c);
    }
}

RUN_TESTS(NULL, NULL)
