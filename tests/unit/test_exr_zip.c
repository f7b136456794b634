/* The encoder of ZIP: zlib reads every stream, streams depend on nothing but the bytes, and they
 * are no larger than the format and zlib allow. */
#include "base/half.h"
#include "image/exr/exr_chunk.h"
#include "unit/check.h"
#include "unit/load_save.h"

#include <libdeflate.h>
#include <sys/mman.h>
#include <zlib.h>

static void zeros(uint8_t *b, size_t n, uint64_t *seed) {
    (void)seed;
    memset(b, 0, n);
}
static void noise(uint8_t *b, size_t n, uint64_t *seed) {
    for (size_t i = 0; i < n; i++) b[i] = (uint8_t)make_random(seed);
}
/* Small numbers around 128, as the high bytes of a smooth image are. */
static void peaked(uint8_t *b, size_t n, uint64_t *seed) {
    for (size_t i = 0; i < n; i++)
        b[i] = (uint8_t)(128 + (int)make_below(seed, 3) - (int)make_below(seed, 3));
}
/* Each byte half as likely as the one before: the longest Huffman codes there can be. */
static void steep(uint8_t *b, size_t n, uint64_t *seed) {
    for (size_t i = 0; i < n; i++) b[i] = (uint8_t)__builtin_ctzll(make_random(seed) | 1ull << 40);
}
/* Two bytes of which the second follows from the first. */
static void pairs(uint8_t *b, size_t n, uint64_t *seed) {
    noise(b, n, seed);
    for (size_t i = 1; i < n; i += 2) b[i] = (uint8_t)-b[i - 1];
}
/* Repetitions of any length and distance, with literals between them. */
static void repeats(uint8_t *b, size_t n, uint64_t *seed) {
    for (size_t i = 0, run; i < n; i += run) {
        run = 1 + make_below(seed, make_below(seed, 4) ? 12 : 700);
        if (run > n - i) run = n - i;
        size_t from = i ? make_below(seed, (uint32_t)i) : 0;
        for (size_t k = 0; k < run; k++)
            b[i + k] = i && run > 3 ? b[from + k] : (uint8_t)make_random(seed);
    }
}
/* Noise that comes back after a while: the encoder skips places, and then finds it from behind. */
static void rounds(uint8_t *b, size_t n, uint64_t *seed) {
    size_t round = 3000 + make_below(seed, 20000);
    noise(b, n < round ? n : round, seed);
    for (size_t i = round; i < n; i++) b[i] = b[i - round];
}
/* One half of one kind, the other of another. */
static void halves(uint8_t *b, size_t n, uint64_t *seed) {
    noise(b, n / 2, seed);
    zeros(b + n / 2, n - n / 2, seed);
}

/* Each byte a little more than the one before. */
static void ramp(uint8_t *b, size_t n, uint64_t *seed) {
    uint32_t slope = 1 + make_below(seed, 1000);
    for (size_t i = 0; i < n; i++) b[i] = (uint8_t)(i * slope >> 8);
}
/* Lines of colours, and for each fifth one depth: slopes that change now and then, and flat areas.
 */
static void depth(uint8_t *b, size_t n, uint64_t *seed) {
    peaked(b, n, seed);
    for (size_t from = 0; from + 5120 <= n; from += 5120) {
        uint8_t slope = 0;
        for (size_t i = from; i < from + 1024; i += 2) {
            if (make_below(seed, 20) == 0)
                slope = make_below(seed, 9) ? (uint8_t)make_random(seed) : 128;
            b[i] = slope;
            b[i + 1] = (uint8_t)-slope;
        }
    }
}

typedef void fill_fn(uint8_t *b, size_t n, uint64_t *seed);
static fill_fn *const FILL[] = {zeros,   noise,  peaked, steep, pairs,
                                repeats, rounds, halves, ramp,  depth};
enum { FILLS = COUNT(FILL) };

static const size_t SIZE[] = {1,     2,      3,      4,      7,      63,     64,
                              65,    66,     127,    128,    129,    257,    258,
                              259,   1000,   32767,  32768,  40000,  65535,  65536,
                              99999, 131069, 131070, 131071, 131074, 200003, 700000};
enum { SIZES = COUNT(SIZE) };

enum { BEFORE = 1 << 17 };

/* Returns room for n bytes. To touch the last 128 KiB before them ends the test. */
static uint8_t *guarded_new(size_t n) {
    uint8_t *all =
        mmap(NULL, BEFORE + n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(all != MAP_FAILED && mprotect(all, BEFORE, PROT_NONE) == 0);
    return all + BEFORE;
}

static void guarded_free(uint8_t *p, size_t n) {
    munmap(p - BEFORE, BEFORE + n);
}

TEST(no_byte_before_the_first_is_read) {
    uint64_t seed = 5;
    OWN_MEM exr_zip *z = MADE(exr_zip_new(SIZE_MAX, &e));
    for (int i = 0; i < 150; i++)
        for (int f = 0; f < FILLS; f++) {
            size_t n = 1 + make_below(&seed, 65536), room = exr_zip_bound(n);
            uint8_t *b = guarded_new(n), *packed = guarded_new(room);
            FILL[f](b, n, &seed);
            assert_in_range(exr_zip_pack(z, b, n, packed), 1, room);
            guarded_free(b, n);
            guarded_free(packed, room);
        }
}

/* Packs n bytes and has zlib unpack them. An encoder with room for no more packs the same. Buffers
 * end where their bytes end, so that a sanitizer sees what goes beyond. */
static void there_and_back(exr_zip *z, fill_fn *fill, size_t n, uint64_t *seed) {
    size_t room = exr_zip_bound(n);
    OWN_MEM uint8_t *b = mem_raw(n, 1, "bytes", &e), *packed = mem_raw(room, 1, "packed", &e);
    OWN_MEM uint8_t *back = mem_raw(n, 1, "back", &e);
    fill(b, n, seed);
    size_t bytes = exr_zip_pack(z, b, n, packed);
    assert_in_range(bytes, 1, room);
    uLongf got = n;
    assert_int_equal(uncompress(back, &got, packed, bytes), Z_OK);
    assert_int_equal(got, n);
    assert_memory_equal(back, b, n);
    OWN_MEM exr_zip *small = exr_zip_new(n, &e);
    OWN_MEM uint8_t *again = mem_raw(room, 1, "packed again", &e);
    assert_true(exr_zip_holds(small, n) && !exr_zip_holds(NULL, n));
    assert_int_equal(exr_zip_pack(small, b, n, again), bytes);
    assert_memory_equal(again, packed, bytes);
}

TEST(zlib_reads_every_stream) {
    uint64_t seed = 3;
    OWN_MEM exr_zip *z = MADE(exr_zip_new(SIZE_MAX, &e));
    for (int f = 0; f < FILLS; f++) {
        for (size_t s = 0; s < SIZES; s++) there_and_back(z, FILL[f], SIZE[s], &seed);
        for (size_t n = 1; n < 300; n++) there_and_back(z, FILL[f], n, &seed);
    }
}

TEST(streams_depend_on_their_bytes_alone) {
    enum { N = 90001 };
    uint64_t seed = 8;
    static uint8_t b[N], other[N];
    size_t room = exr_zip_bound(N);
    OWN_MEM uint8_t *one = mem_raw(room, 1, "one", &e), *two = mem_raw(room, 1, "two", &e);
    for (int f = 0; f < FILLS; f++) {
        FILL[f](b, N, &seed);
        repeats(other, N, &seed);
        OWN_MEM exr_zip *used = exr_zip_new(SIZE_MAX, &e), *fresh = exr_zip_new(SIZE_MAX, &e),
                        *plain = exr_zip_new(SIZE_MAX, &e);
        exr_zip_plain(plain);
        exr_zip_pack(used, other, N, one);
        size_t n = exr_zip_pack(used, b, N, one), m = exr_zip_pack(fresh, b, N, two);
        assert_int_equal(n, m);
        assert_memory_equal(one, two, n);
        assert_int_equal(exr_zip_pack(plain, b, N, two), n);
        assert_memory_equal(one, two, n);
    }
}

/* What a picture holds: flat stripes, or edges and gradients with more or less grain, or lines of
 * the shipped scene, which is rendered without noise. */
typedef enum { FLAT, SMOOTH, FINE, MIDDLE, COARSE, RENDERED } content;
typedef enum { HALFS, FLOATS, HALFS_IN_FLOATS, SAMPLES } samples;

enum { W = 600, H = 16, C = 3 };
static image *scene;

static float light_at(content what, int x, int y, int channel, uint64_t *seed) {
    static const float GRAIN[] = {[FINE] = 0.001f, [MIDDLE] = 0.03f, [COARSE] = 0.5f};
    if (what == FLAT) return 0.18f * (float)(1 + x / 100);
    if (what == RENDERED)
        return half_to_float(((uint16_t *)scene->plane[0][channel])[y * 1280 + x]);
    float shape = 0.4f + 0.3f * sinf(0.02f * (float)(x + 3 * y + 50 * channel));
    if (x % 150 > 90) shape = 0.25f * (float)(channel + 1);
    if (what == SMOOTH) return shape;
    return shape + GRAIN[what] * (float)make_below(seed, 1 << 20) * 0x1p-20f;
}

/* Makes the samples of a picture from line `top` on as they stand in a chunk. */
static size_t picture(uint8_t *to, content what, samples in, int top, int lines) {
    static float line[W];
    static uint8_t run[W * H * C * 4];
    uint64_t seed = 11;
    pixel_type type = in == HALFS ? PIXEL_HALF : PIXEL_FLOAT;
    size_t at = 0;
    for (int y = top; y < top + lines; y++)
        for (int c = 0; c < C; c++) {
            for (int x = 0; x < W; x++) line[x] = light_at(what, x, y, c, &seed);
            if (in == HALFS_IN_FLOATS) {
                uint16_t half[W];
                image_from_float(half, PIXEL_HALF, 0, line, W);
                half_to_floats(line, half, W);
            }
            image_from_float(run + at, type, 0, line, W);
            at += W * pixel_bytes(type);
        }
    exr_last last = EXR_SPLIT_START;
    exr_split(to, to + at / 2, run, at / 2, &last);
    exr_split_end(to, at / 2, last);
    return at;
}

TEST(sizes_are_those_of_zlib_or_less) {
    static uint8_t b[200000], packed[400000];
    OWN_MEM exr_zip *z = exr_zip_new(SIZE_MAX, &e);
    for (int i = 0; i < SAMPLES * RENDERED * 2; i++) {
        samples in = (samples)(i / 2 / RENDERED);
        content what = (content)(i / 2 % RENDERED);
        size_t n = picture(b, what, in, 0, i % 2 ? H : 1);
        uLongf theirs = sizeof packed;
        compress2(packed, &theirs, b, n, 4); /* as OpenEXR does */
        size_t ours = exr_zip_pack(z, b, n, packed);
        /* A second list of codes, some 100 bytes, shows where next to nothing is left. */
        if (ours > theirs + theirs * 3 / 100 + 100)
            fail_msg("samples %d, content %d, %zu bytes: %zu packed, zlib %lu", in, what, n, ours,
                     theirs);
    }
    /* Bytes that cannot be packed grow by no more than the heads of their blocks. */
    uint64_t seed = 1;
    noise(b, sizeof b, &seed);
    assert_in_range(exr_zip_pack(z, b, sizeof b, packed), 1, sizeof b + 6 + 4 * 6);
}

/* OpenEXR packs with libdeflate from version 3.2 on, also at level 4. */
TEST(sizes_of_pictures_are_those_of_libdeflate_or_less) {
    static uint8_t b[200000], packed[400000];
    OWN_MEM exr_zip *z = exr_zip_new(SIZE_MAX, &e);
    struct libdeflate_compressor *deflate = libdeflate_alloc_compressor(4);
    scene = load("testdata/scene.exr");
    for (int in = HALFS; in < SAMPLES; in++)
        for (int lines = 1; lines <= H; lines += H - 1) { /* ZIPS, and ZIP */
            size_t ours[2] = {0}, theirs[2] = {0};        /* with grain, and rendered */
            for (int i = FINE; i < RENDERED + 720 / H; i++) {
                bool rendered = i >= RENDERED;
                size_t n = picture(b, rendered ? RENDERED : (content)i, (samples)in,
                                   rendered ? (i - RENDERED) * H : 0, lines);
                ours[rendered] += exr_zip_pack(z, b, n, packed);
                theirs[rendered] += libdeflate_zlib_compress(deflate, b, n, packed, sizeof packed);
            }
            /* Rendered halfs line by line have little to find, and lists of codes weigh most. */
            bool thin = in == HALFS && lines == 1;
            for (int k = 0; k < 2; k++)
                CHECK_LE((double)ours[k], (thin && k ? 1.06 : 1.03) * (double)theirs[k]);
        }
    libdeflate_free_compressor(deflate);
    image_free(&scene);
}

RUN_TESTS(NULL, NULL)
