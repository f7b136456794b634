/* Unpacking ZIP, beside libdeflate and zlib: what zlib takes is taken, what libdeflate refuses is
 * refused, and the bytes are the same. (libdeflate takes a few streams that zlib refuses.)
 *
 *     test_exr_inflate [TIMES]    repeats the trials with random and damaged streams TIMES times
 *
 * Streams lie between pages that may not be touched, as close as the header allows. */
#include "base/mem.h"
#include "image/exr/exr_inflate.h"
#include "unit/check.h"
#include "unit/make_image.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <zlib.h>

enum { MOST = 1 << 18, PAGE = 4096 };
static int times = 1;

static uint32_t below(uint64_t *seed, uint32_t n) {
    return (uint32_t)(make_random(seed) % n);
}

/* --- what is compared --------------------------------------------------------------------- */

/* Room for MOST bytes between two pages that may not be touched. */
static uint8_t *guarded_new(void) {
    uint8_t *all = mmap(NULL, MOST + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(all != MAP_FAILED);
    assert_int_equal(mprotect(all + PAGE, MOST, PROT_READ | PROT_WRITE), 0);
    return all + PAGE;
}

/* Two inflaters, and rooms for two streams and what they unpack to. */
typedef struct {
    exr_inflater *modern, *plain;
    uint8_t *in[2], *out[2];
    struct libdeflate_decompressor *ref;
    uint8_t want[2][MOST];
} bench;

static bench *bench_new(void) {
    err e = {0};
    bench *t = mem_new(1, sizeof *t, "a test", &e);
    CHECK_OK(t, e);
    t->modern = exr_inflater_new(&e);
    t->plain = exr_inflater_new(&e);
    CHECK_OK(t->modern && t->plain, e);
    exr_inflater_plain(t->plain);
    for (int i = 0; i < 2; i++) {
        t->in[i] = guarded_new();
        t->out[i] = guarded_new();
    }
    t->ref = libdeflate_alloc_decompressor();
    return t;
}

static void bench_free(bench *t) {
    for (int i = 0; i < 2; i++) {
        munmap(t->in[i] - PAGE, MOST + 2 * PAGE);
        munmap(t->out[i] - PAGE, MOST + 2 * PAGE);
    }
    libdeflate_free_decompressor(t->ref);
    exr_inflater_free(t->modern);
    exr_inflater_free(t->plain);
    mem_free(t);
}

typedef struct {
    uint8_t *bytes;
    size_t packed, n;
} sample;

/* Has one sample or two unpacked, at the start or at the end of their rooms, and compares. */
static void compare(bench *t, exr_inflater *z, const sample *s, int streams, bool at_end) {
    exr_stream got[2];
    bool ok[2];
    for (int i = 0; i < streams; i++) {
        uint8_t *in = t->in[i] + (at_end ? MOST - EXR_INFLATE_IN - s[i].packed : 0);
        uint8_t *out = t->out[i] + (at_end ? MOST - EXR_INFLATE_OUT - s[i].n : 0);
        memcpy(in, s[i].bytes, s[i].packed);
        memset(in + s[i].packed, at_end ? 0xff : 0, EXR_INFLATE_IN);
        got[i] = (exr_stream){in, s[i].packed, out, s[i].n, false};
        ok[i] = libdeflate_zlib_decompress(t->ref, s[i].bytes, s[i].packed, t->want[i], s[i].n,
                                           NULL) == LIBDEFLATE_SUCCESS;
    }
    exr_inflate(z, got, streams);
    for (int i = 0; i < streams; i++) {
        if (got[i].ok) {
            assert_true(ok[i]);
            assert_memory_equal(got[i].out, t->want[i], s[i].n);
        } else if (ok[i]) {
            uLongf n = s[i].n;
            assert_int_not_equal(uncompress(t->want[i], &n, s[i].bytes, s[i].packed), Z_OK);
        }
    }
}

/* In all ways: alone, together, with and without the processor's newer instructions. */
static void compare_all(bench *t, const sample *a, const sample *b) {
    sample two[2] = {*a, *b};
    for (int at_end = 0; at_end < 2; at_end++) {
        compare(t, t->modern, two, 1, at_end);
        compare(t, t->modern, two, 2, at_end);
    }
    compare(t, t->plain, two, 2, false);
}

/* --- bytes of many kinds, and zlib's streams of them --------------------------------------- */

static void fill(uint8_t *b, size_t n, int kind, uint64_t *seed) {
    for (size_t i = 0, run; i < n; i += run) {
        run = kind == 0 ? n : 1 + below(seed, kind == 1 ? 20 : 600);
        if (run > n - i) run = n - i;
        size_t most = i < 32768 ? i : 32768; /* as far back as deflate reaches, or a little */
        size_t back = i ? 1 + below(seed, kind == 2 && i > 20 ? 20 : (uint32_t)most) : 0;
        for (size_t k = i; k < i + run; k++)
            b[k] = kind == 0           ? (uint8_t)make_random(seed)
                   : i && run % 4 != 0 ? b[k - back]
                   : kind == 1         ? (uint8_t)make_random(seed)
                                       : (uint8_t)__builtin_ctzll(make_random(seed) | 1ull << 60);
    }
}

static sample zlib_sample(const uint8_t *b, size_t n, int level, int strategy, int window) {
    err e = {0};
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, level, Z_DEFLATED, window, 1 + (int)(n % 9), strategy), Z_OK);
    size_t room = deflateBound(&z, n) + 64;
    sample s = {mem_raw(room, 1, "packed", &e), 0, n};
    z.next_in = (Bytef *)(uintptr_t)b;
    z.next_out = s.bytes;
    z.avail_out = (uInt)room;
    for (size_t at = 0, some; at < n; at += some) { /* flushes leave empty stored blocks */
        some = n - at < 30000 ? n - at : 30000;
        z.avail_in = (uInt)some;
        assert_int_equal(deflate(&z, n % 3 ? Z_NO_FLUSH : Z_SYNC_FLUSH), Z_OK);
    }
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    s.packed = z.total_out;
    deflateEnd(&z);
    return s;
}

static void unpacks_what_zlib_packs(void **state) {
    (void)state;
    static const size_t SIZE[] = {1, 2, 3, 15, 16, 17, 31, 33, 257, 258, 259, 1000, 40000, 100003};
    static const int STRATEGY[] = {Z_DEFAULT_STRATEGY, Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE};
    static uint8_t b[MOST];
    uint64_t seed = 1;
    bench *t = bench_new();
    sample before = zlib_sample(b, 5, 1, Z_FIXED, 15);
    for (size_t i = 0; i < sizeof SIZE / sizeof *SIZE; i++)
        for (int kind = 0; kind < 4; kind++)
            for (int way = 0; way < 12; way++) {
                fill(b, SIZE[i], kind, &seed);
                sample s = zlib_sample(b, SIZE[i], way % 10, STRATEGY[way % 4], 9 + way % 7);
                compare_all(t, &s, &before);
                compare(t, t->modern, (sample[]){before, s}, 2, true);
                assert_memory_equal(t->want[1], b, SIZE[i]);
                mem_free(before.bytes);
                before = s;
            }
    mem_free(before.bytes);
    bench_free(t);
}

/* --- streams of any codes ------------------------------------------------------------------ */

typedef struct {
    uint8_t bytes[MOST];
    size_t bits;
} writer;

static void put(writer *w, uint32_t v, unsigned n) {
    for (unsigned i = 0; i < n; i++, w->bits++) {
        uint8_t *at = &w->bytes[w->bits / 8];
        if (w->bits % 8 == 0) *at = 0;
        *at = (uint8_t)(*at | (v >> i & 1) << w->bits % 8);
    }
}

/* Lengths of codes that fill the space, of some of n symbols, up to `deepest` bits: leaves of a
 * tree are split until there are enough. */
static void random_lengths(uint8_t *length, int n, int some, unsigned deepest, uint64_t *seed) {
    uint8_t leaf[288] = {1, 1};
    int leaves = 2;
    memset(length, 0, (size_t)n);
    for (int tries = 0; leaves < some && tries < 5000; tries++) {
        int i = below(seed, 3) ? leaves - 1 : (int)below(seed, (uint32_t)leaves);
        if (leaf[i] >= deepest) continue;
        leaf[leaves++] = ++leaf[i];
    }
    for (int i = 0; i < leaves; i++) {
        int at;
        do at = (int)below(seed, (uint32_t)n);
        while (length[at]);
        length[at] = leaf[i];
    }
}

/* Writes a symbol; its code is found by counting (RFC 1951, 3.2.2). */
static void put_symbol(writer *w, const uint8_t *length, int n, int symbol) {
    uint32_t code = 0;
    for (unsigned d = 1; d <= length[symbol]; d++) {
        code <<= 1;
        for (int i = 0; i < (d < length[symbol] ? n : symbol); i++) code += length[i] == d;
    }
    for (unsigned d = length[symbol]; d > 0; d--) put(w, code >> (d - 1) & 1, 1);
}

static int random_symbol(const uint8_t *length, int from, int to, uint64_t *seed) {
    for (int tries = 0; tries < 60; tries++) {
        int i = from + (int)below(seed, (uint32_t)(to - from));
        if (length[i]) return i;
    }
    return -1;
}

typedef struct {
    uint8_t symbol[288], distance[32];
    size_t made; /* bytes that the block and those before it unpack to */
} codes;

/* Writes a block of random codes and symbols. `lone`: distances have one code, or none. */
static void put_coded(writer *w, codes *c, bool lone, uint64_t *seed) {
    random_lengths(c->symbol, 286, 2 + (int)below(seed, 280), 2 + below(seed, 14), seed);
    random_lengths(c->distance, 30, 2 + (int)below(seed, 28), 5 + below(seed, 11), seed);
    if (!c->symbol[256]) { /* the end takes the place of another symbol */
        int other = random_symbol(c->symbol, 0, 286, seed);
        for (int i = 0; other < 0; i++) other = c->symbol[i] ? i : -1;
        c->symbol[256] = c->symbol[other];
        c->symbol[other] = 0;
    }
    if (lone) memset(c->distance, 0, sizeof c->distance);
    if (lone && below(seed, 2)) c->distance[below(seed, 30)] = 1;
    put(w, 2, 2);
    put(w, 286 - 257, 5);
    put(w, 30 - 1, 5);
    put(w, 19 - 4, 4);
    /* Lengths have codes of five bits, but for 16 to 18, which do not occur, and for 0 and 1. */
    static const uint8_t ORDER[19] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                      11, 4,  12, 3, 13, 2, 14, 1, 15};
    uint8_t of[19] = {4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4};
    for (int i = 0; i < 19; i++) put(w, of[ORDER[i]], 3);
    for (int i = 0; i < 286; i++) put_symbol(w, of, 19, c->symbol[i]);
    for (int i = 0; i < 30; i++) put_symbol(w, of, 19, c->distance[i]);
    for (int k = 0, n = (int)below(seed, 400); k < n; k++) {
        int s = below(seed, 3) ? random_symbol(c->symbol, 0, 256, seed)
                               : random_symbol(c->symbol, 257, 286, seed);
        int d = random_symbol(c->distance, 0, 30, seed);
        if (s < 0 || (s > 256 && d < 0) || c->made > MOST / 2) continue;
        unsigned more = s < 265 || s == 285 ? 0 : (unsigned)(s - 261) / 4,
                 far = d < 4 ? 0 : (unsigned)d / 2 - 1;
        size_t least = d < 4 ? (size_t)d + 1 : 1 + ((size_t)(2 + d % 2) << far);
        if (s > 256 && least + (1u << far) > c->made + (below(seed, 300) == 0)) continue;
        put_symbol(w, c->symbol, 286, s);
        c->made++;
        if (s < 256) continue;
        put(w, (uint32_t)make_random(seed), more);
        put_symbol(w, c->distance, 30, d);
        put(w, (uint32_t)make_random(seed), far);
        c->made += 257; /* at most */
    }
    put_symbol(w, c->symbol, 286, 256);
}

static void put_stored(writer *w, size_t n, uint64_t *seed) {
    put(w, 0, 2);
    while (w->bits % 8) put(w, below(seed, 2), 1);
    put(w, (uint32_t)n, 16);
    put(w, ~(uint32_t)n, 16);
    for (size_t i = 0; i < n; i++) put(w, (uint32_t)make_random(seed), 8);
}

/* Ends a stream of which `packed` bytes are deflate: behind zlib's head and before the sum of what
 * libdeflate unpacks. Where that is nothing, the stream is damaged. */
static sample finished(bench *t, const uint8_t *deflate_bytes, size_t packed, size_t n) {
    err e = {0};
    size_t used = packed, got = n;
    sample s = {mem_raw(packed + 6, 1, "a stream", &e), 0, n};
    bool ok = libdeflate_deflate_decompress_ex(t->ref, deflate_bytes, packed, t->want[0], n, &used,
                                               &got) == LIBDEFLATE_SUCCESS;
    if (!ok) used = packed;
    s.n = ok ? got : n;
    s.packed = used + 6;
    memcpy(s.bytes, "\x78\x01", 2);
    memcpy(s.bytes + 2, deflate_bytes, used);
    uint32_t sum = __builtin_bswap32(libdeflate_adler32(1, t->want[0], ok ? got : 0));
    memcpy(s.bytes + 2 + used, &sum, 4);
    return s;
}

static sample random_stream(bench *t, uint64_t *seed) {
    static writer w;
    codes c = {.made = 0};
    w.bits = 0;
    for (int blocks = 1 + (int)below(seed, 4); blocks > 0; blocks--) {
        put(&w, blocks == 1, 1);
        if (below(seed, 3) || !c.made) {
            size_t n = below(seed, 4) ? below(seed, 3000) : 40000;
            if (below(seed, 3) == 0) {
                put_coded(&w, &c, below(seed, 3) == 0, seed);
                continue;
            }
            put_stored(&w, n, seed);
            c.made += n;
        } else {
            put_coded(&w, &c, below(seed, 3) == 0, seed);
        }
    }
    return finished(t, w.bytes, (w.bits + 7) / 8, MOST - EXR_INFLATE_OUT);
}

/* Counts, so that a generator that makes nothing but damage is found. */
static bool is_sound(bench *t, const sample *s) {
    return libdeflate_zlib_decompress(t->ref, s->bytes, s->packed, t->want[0], s->n, NULL) ==
           LIBDEFLATE_SUCCESS;
}

static void unpacks_streams_of_any_codes(void **state) {
    (void)state;
    uint64_t seed = 2;
    bench *t = bench_new();
    sample before = random_stream(t, &seed);
    int sound = 0, trials = 1000 * times;
    for (int i = 0; i < trials; i++) {
        sample s = random_stream(t, &seed);
        sound += is_sound(t, &s);
        compare_all(t, &s, &before);
        mem_free(before.bytes);
        before = s;
    }
    assert_in_range(sound, trials / 2, trials);
    mem_free(before.bytes);
    bench_free(t);
}

/* --- damage ------------------------------------------------------------------------------- */

static void cut_off_streams_are_damaged(void **state) {
    (void)state;
    static uint8_t b[3000];
    uint64_t seed = 3;
    bench *t = bench_new();
    for (int way = 0; way < 8; way++) {
        fill(b, sizeof b, way % 4, &seed);
        sample whole = zlib_sample(b, sizeof b - (size_t)way, way, way < 4 ? Z_FIXED : 0, 15);
        for (size_t cut = 0; cut < whole.packed; cut++) {
            sample s = {whole.bytes, cut, whole.n};
            compare_all(t, &s, &whole);
            assert_false(is_sound(t, &s));
        }
        for (size_t n = whole.n - 3; n < whole.n + 300; n++) {
            sample s = {whole.bytes, whole.packed, n};
            compare_all(t, &whole, &s);
        }
        mem_free(whole.bytes);
    }
    bench_free(t);
}

/* A changed bit mostly gives a stream that is sound but for its sum, so the sum is made again. */
static void changed_bits_give_the_same_bytes_or_damage(void **state) {
    (void)state;
    static uint8_t b[MOST];
    uint64_t seed = 4;
    bench *t = bench_new();
    int sound = 0, trials = 6000 * times;
    for (int i = 0; i < trials; i++) {
        sample s;
        if (i % 3) {
            size_t n = 1 + below(&seed, i % 50 ? 600 : 60000);
            fill(b, n, i % 4, &seed);
            s = zlib_sample(b, n, i % 10, i % 5 ? 0 : Z_FIXED, 15);
        } else {
            s = random_stream(t, &seed);
        }
        sample other = s;
        size_t span = below(&seed, 2) ? s.packed - 6 : (s.packed - 6 < 90 ? s.packed - 6 : 90);
        for (uint32_t k = below(&seed, 3) + 1; k > 0 && span; k--)
            s.bytes[2 + below(&seed, (uint32_t)span)] ^= (uint8_t)(1 << below(&seed, 8));
        s = finished(t, other.bytes + 2, other.packed - 6, MOST - EXR_INFLATE_OUT);
        sound += is_sound(t, &s);
        compare_all(t, &s, &other);
        mem_free(other.bytes);
        mem_free(s.bytes);
    }
    assert_in_range(sound, trials / 20, trials);
    bench_free(t);
}

static void heads_and_sums_are_checked(void **state) {
    (void)state;
    uint64_t seed = 6;
    uint8_t b[100];
    bench *t = bench_new();
    fill(b, sizeof b, 0, &seed);
    sample s = zlib_sample(b, sizeof b, 6, 0, 15);
    for (int v = 0; v < 65536; v++) {
        sample one = {s.bytes, s.packed, s.n};
        memcpy(s.bytes, (uint8_t[]){(uint8_t)(v >> 8), (uint8_t)v}, 2);
        compare(t, t->modern, &one, 1, false);
    }
    memcpy(s.bytes, "\x78\x01", 2);
    for (size_t bit = 8 * (s.packed - 4); bit < 8 * s.packed; bit++) {
        s.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        compare(t, t->modern, &s, 1, false);
        assert_false(is_sound(t, &s));
        s.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_true(is_sound(t, &s));
    mem_free(s.bytes);
    bench_free(t);
}

int main(int argc, char **argv) {
    if (argc > 1) times = atoi(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unpacks_what_zlib_packs),
        cmocka_unit_test(unpacks_streams_of_any_codes),
        cmocka_unit_test(cut_off_streams_are_damaged),
        cmocka_unit_test(changed_bits_give_the_same_bytes_or_damage),
        cmocka_unit_test(heads_and_sums_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
