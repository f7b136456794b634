/* PXR24, B44 and DWA: chunks that do not give every sample are damaged, and no old memory comes
 * through; tiles whose edges cut blocks are written whole. */
#include "image/exr/exr_chunk.h"
#include "unit/load_save.h"
#include "unit/ref_exr.h"

#include <libdeflate.h>
#include <malloc.h>

#if WITH_OPENEXR
static const compression LOSING[] = {COMPRESSION_PXR24, COMPRESSION_B44, COMPRESSION_B44A,
                                     COMPRESSION_DWAA, COMPRESSION_DWAB};

/* A chunk: that of an image which has no other. */
typedef struct {
    image *img;
    exr_layout layout;
    exr_chunk is;
    exr_band band;
    exr_scratch s;
} chunk;

static void chunk_free(chunk *c) {
    exr_scratch_free(&c->s);
    image_free(&c->img);
}

static void chunk_make(chunk *c, const make_part *p) {
    c->img = make_image(p, 1);
    const image_part *part = &c->img->head.part[0];
    CHECK_OK(exr_layout_make(&c->layout, part, LEVELS_ONE, false, &e));
    c->band = (exr_band){c->img->plane[0], 0, p->height, p->width};
    c->is = (exr_chunk){part, &c->layout, &c->band, exr_layout_block(&c->layout, 0)};
    CHECK_OK(exr_chunk_encode(&c->s, &c->is, &e));
}

static void chunk_set(chunk *c, const uint8_t *bytes, size_t n) {
    CHECK_OK(exr_scratch_packed(&c->s, n, &e));
    memcpy(c->s.packed, bytes, c->s.bytes = n);
}

/* Returns whether it decodes: then to the same samples, whatever memory held before. */
static bool decodes(chunk *c, const char *what) {
    static const int WAS[] = {0x11, 0xee};
    OWN(image) *one = MADE(image_new(&c->img->head, &e));
    OWN(image) *other = MADE(image_new(&c->img->head, &e));
    image *const got[] = {one, other};
    bool ok[2];
    for (int i = 0; i < 2; i++) {
        c->band.plane = got[i]->plane[0];
        mallopt(M_PERTURB, WAS[i]);
        mem_free(c->s.raw), mem_free(c->s.look);
        c->s.raw = c->s.look = NULL, c->s.raw_room = c->s.look_room = 0;
        e = (err){0};
        ok[i] = exr_chunk_decode(&c->s, &c->is, &e);
        if (!ok[i] && e.code != ERR_DATA) fail_msg("%s: code %d, '%s'", what, e.code, e.msg);
    }
    mallopt(M_PERTURB, 0);
    c->band.plane = c->img->plane[0];
    assert_int_equal(ok[0], ok[1]);
    if (ok[0]) check_same_pixels(got[0], got[1]);
    return ok[0];
}

static const make_part KIND[] = {
    PART("R:half G:half B:half A:half Z:float id:uint", 0, 0, 37, 29),
    PART("R:float G:float B:float", 0, 0, 64, 16),
    PART("Y:half N.X:half", 0, 0, 40, 30),
    PART("l.A:float k.R:half k.G:half", 0, 0, 33, 9),
};

TEST(changed_bytes_give_samples_or_an_error_but_no_old_memory) {
    enum { TIMES = 400 };
    uint64_t seed = 50;
    for (size_t k = 0; k < COUNT(KIND); k++)
        for (size_t i = 0; i < 2 * COUNT(LOSING); i++) { /* scan lines, and a tile */
            make_part p = KIND[k];
            p.packing = LOSING[i / 2];
            if (i % 2) p.tile_w = p.width + 3, p.tile_h = p.height;
            OWN(chunk) c = {0};
            chunk_make(&c, &p);
            size_t n = c.s.bytes;
            if (n == c.layout.raw) continue; /* floats in B44 are stored as they are */
            OWN_MEM uint8_t *good = mem_raw(n, 1, "a chunk", &e),
                            *bad = mem_raw(n, 1, "a chunk", &e);
            memcpy(good, c.s.packed, n);
            assert_true(decodes(&c, "whole"));
            for (int t = 0; t < TIMES; t++) {
                /* The heads are small and matter most. */
                size_t at = make_below(&seed, t % 2 ? (uint32_t)n : (uint32_t)min_size(n, 120));
                memcpy(bad, good, n);
                bad[at] = (uint8_t)(bad[at] + 1 + make_below(&seed, 255));
                chunk_set(&c, bad, t % 5 ? n : 1 + make_below(&seed, (uint32_t)n));
                decodes(&c, compression_name(p.packing));
            }
        }
}

/* A DWA chunk in its pieces. */
enum {
    DWA_VERSION,
    OTHER_RAW,
    OTHER,
    AC,
    DC,
    RUNS,
    RUNS_INFLATED,
    RUNS_RAW,
    AC_VALUES,
    DC_VALUES,
    AC_WAY,
    HEAD
};
enum { STREAMS = 4, ROOM = 1 << 16 };
static const int STREAM[STREAMS] = {OTHER, AC, DC, RUNS};
typedef struct {
    uint64_t head[HEAD];
    uint8_t rules[ROOM], stream[STREAMS][ROOM]; /* rules with their length */
    size_t rules_bytes;
} dwa;

static void dwa_take(dwa *d, const chunk *c) {
    const uint8_t *at = c->s.packed;
    uint16_t rules;
    memcpy(d->head, at, sizeof d->head);
    memcpy(&rules, at += sizeof d->head, sizeof rules);
    memcpy(d->rules, at, d->rules_bytes = rules);
    at += rules;
    for (int i = 0; i < STREAMS; at += d->head[STREAM[i++]])
        memcpy(d->stream[i], at, d->head[STREAM[i]]);
}

static void dwa_put(const dwa *d, chunk *c) {
    static uint8_t all[5 * ROOM];
    size_t n = sizeof d->head;
    memcpy(all, d->head, n);
    memcpy(all + n, d->rules, d->rules_bytes);
    n += d->rules_bytes;
    for (int i = 0; i < STREAMS; n += d->head[STREAM[i++]])
        memcpy(all + n, d->stream[i], d->head[STREAM[i]]);
    chunk_set(c, all, n);
}

/* Deflates `n` bytes as a stream. */
static void dwa_deflate(dwa *d, int stream, const void *bytes, size_t n) {
    struct libdeflate_compressor *by = libdeflate_alloc_compressor(6);
    d->head[STREAM[stream]] = libdeflate_zlib_compress(by, bytes, n, d->stream[stream], ROOM);
    libdeflate_free_compressor(by);
    assert_true(d->head[STREAM[stream]] > 0);
}

/* Inflates one; what it gives lies behind where AC values are Huffman codes. */
static size_t dwa_inflate(const dwa *d, int stream, uint8_t *to) {
    struct libdeflate_decompressor *by = libdeflate_alloc_decompressor();
    size_t n = 0;
    if (stream == 1 && d->head[AC_WAY] == 0) {
        CHECK_OK(exr_huffman_decode(d->stream[1], d->head[AC], (uint16_t *)(void *)to,
                                    d->head[AC_VALUES], &e));
        n = 2 * d->head[AC_VALUES];
    } else
        assert_int_equal(libdeflate_zlib_decompress(by, d->stream[stream], d->head[STREAM[stream]],
                                                    to, ROOM, &n),
                         0);
    libdeflate_free_decompressor(by);
    return n;
}

static void expect(chunk *c, const dwa *d, const char *says) {
    dwa_put(d, c);
    bool ok = decodes(c, says);
    if (!*says && !ok) fail_msg("a sound chunk: '%s'", e.msg);
    if (*says && ok) fail_msg("a chunk decodes, and should say '%s'", says);
    if (*says && !strstr(e.msg, says)) fail_msg("'%s' does not say '%s'", e.msg, says);
}

/* Each stream is made shorter and longer, with a head that says so and with one that does not; in
 * chunks with rules and, as older ones are, without. */
TEST(each_stream_of_dwa_gives_what_its_head_says_and_its_channels_need) {
    static const int COUNTED[STREAMS] = {OTHER_RAW, AC_VALUES, DC_VALUES, RUNS_INFLATED};
    static _Alignas(8) uint8_t bytes[ROOM + 16];
    for (size_t k = 0; k < 2 * 3; k++) {
        make_part p = KIND[0];
        p.packing = k % 2 ? COMPRESSION_DWAB : COMPRESSION_DWAA;
        OWN(chunk) c = {0};
        OWN_MEM dwa *whole = mem_new(1, sizeof *whole, "a chunk", &e),
                    *d = mem_new(1, sizeof *d, "a chunk", &e);
        chunk_make(&c, &p);
        dwa_take(whole, &c);
        expect(&c, whole, "");
        if (k / 2 < 2) { /* versions 0 and 1 */
            whole->head[DWA_VERSION] = k / 2;
            whole->rules_bytes = 0;
            expect(&c, whole, "");
        }
        for (int i = 0; i < STREAMS; i++) {
            const size_t unit = i == 1 || i == 2 ? 2 : 1, n = dwa_inflate(whole, i, bytes);
            assert_int_equal(n, unit * whole->head[COUNTED[i]]);
            memset(bytes + n, 0, 16);
            for (int more = -1; more <= 1; more += 2)
                for (int said = 0; said < 2; said++) {
                    *d = *whole;
                    if (i == 1) d->head[AC_WAY] = 1;
                    const size_t now = more < 0 && !said ? n / 80 : n + unit * (size_t)more;
                    dwa_deflate(d, i, bytes, now);
                    if (said) d->head[COUNTED[i]] = now / unit;
                    if (i == 1 && said && more > 0) continue; /* a value that no block takes */
                    expect(&c, d,
                           !said    ? "the deflated data is damaged"
                           : i == 1 ? "AC values end"
                           : i == 3 ? "run lengths"
                                    : "its DWA head states");
                }
            *d = *whole;
            d->head[STREAM[i]] = 0; /* no stream at all */
            if (i == 1) d->head[AC_WAY] = 1;
            expect(&c, d, "the deflated data is damaged");
            d->head[COUNTED[i]] = 0;
            expect(&c, d,
                   i == 1   ? "AC values end"
                   : i == 3 ? "run lengths"
                            : "its DWA head states");
        }
        *d = *whole;
        d->head[RUNS_RAW]--;
        expect(&c, d, "its DWA head states");
    }
}

/* A suffix, its end, how, a type: src/image/exr/exr_sound.c. */
TEST(rules_of_dwa) {
    static const struct {
        const char *rule, *says;
        size_t bytes;
    } RULE[] = {{"id\0\x04\0", "in a way that its type does not have", 5},
                {"R\0\x24\1", "two places in a colour", 4},
                {"R\0\x14\1", "", 4},
                {"R\0\x08\1", "in a way that its type does not have", 4},
                {"Z\0\x0c\2", "a rule of its channels is wrong", 4},
                {"Z\0\x40\2", "a rule of its channels is wrong", 4},
                {"Z\0\x04\3", "a rule of its channels is wrong", 4},
                {"Z\0\x04\2", "its DWA head states", 4},
                {"z\0\x05\2", "its DWA head states", 4},
                {"Z\0\x05\2", "", 4}, /* small letters of a name fit no large one of a rule */
                {"Z\0\x04", "the rules of its channels are cut off", 3},
                {"Z", "the rules of its channels are cut off", 1}};
    make_part p = KIND[0];
    p.packing = COMPRESSION_DWAA;
    OWN(chunk) c = {0};
    OWN_MEM dwa *whole = mem_new(1, sizeof *whole, "a chunk", &e),
                *d = mem_new(1, sizeof *d, "a chunk", &e);
    chunk_make(&c, &p);
    dwa_take(whole, &c);
    for (size_t i = 0; i < COUNT(RULE); i++) {
        *d = *whole;
        memcpy(d->rules + d->rules_bytes, RULE[i].rule, RULE[i].bytes);
        uint16_t n = (uint16_t)(d->rules_bytes += RULE[i].bytes);
        memcpy(d->rules, &n, sizeof n);
        expect(&c, d, RULE[i].says);
    }
}

/* The library multiplies the lines of a whole chunk in 32 bits: 2^32 bytes would be none. */
TEST(wide_chunks_that_the_library_cannot_count) {
    enum { CHANNELS = 64, WIDTH = 65536, ONE = 12 };
    static char list[CHANNELS * ONE];
    for (int i = 0; i < CHANNELS; i++)
        snprintf(list + strlen(list), ONE, "%sd%02d:float", i ? " " : "", i);
    for (int tiled = 0; tiled < 2; tiled++) {
        OWN(chunk) c = {0};
        make_part p = PART(list, 0, 0, WIDTH, 1, .packing = COMPRESSION_NONE);
        if (tiled) p.tile_w = WIDTH, p.tile_h = 1;
        chunk_make(&c, &p);
        c.img->head.part[0].packing = COMPRESSION_DWAB;
        c.s.bytes = 88;
        memset(c.s.packed, 0, 88);
        bool ok = exr_chunk_decode(&c.s, &c.is, &e);
        assert_false(ok);
        assert_int_equal(e.code, ERR_DATA);
        if (!tiled && !strstr(e.msg, "would need 4294967296 bytes")) fail_msg("'%s'", e.msg);
        if (tiled) continue;
        CHECK_REFUSED(exr_chunk_encode(&c.s, &c.is, &e), ERR_DATA, "--compression zip");
    }
}

/* Tiles that the image ends within, by 1 to 5 pixels, or that are larger than the image: OpenEXR
 * reads what was written as this reader does. */
static void check_tiles(compression packing, uint32_t tw, uint32_t th, uint32_t w, uint32_t h) {
    const char *path = make_path("tiles.exr");
    OWN(image) *img =
        MAKE("R:half G:half Z:float", 0, 0, w, h, .packing = packing, .tile_w = tw, .tile_h = th);
    save(path, img);
    OWN(image) *back = load(path);
    OWN(image) *ref = MADE(image_new(&img->head, &e));
    assert_true(ref_exr_read(path, 0, &ref->head.part[0], ref->plane[0]));
    check_same_pixels(back, ref);
    if (packing < COMPRESSION_PXR24) check_same_pixels(back, img);
}

TEST(tiles_that_edges_cut) {
    static const uint32_t SIDE[] = {1, 3, 8, 33, 64};
    enum { OVER = 5, LARGE = 16 };
    for (int packing = 0; packing < COMPRESSIONS; packing++)
        for (uint32_t i = 1; i <= OVER; i++)
            for (uint32_t j = 1; j <= OVER; j++) {
                check_tiles((compression)packing, LARGE, LARGE, i, j);
                for (size_t k = 0; k < COUNT(SIDE) * COUNT(SIDE); k++) {
                    uint32_t tw = SIDE[k % COUNT(SIDE)], th = SIDE[k / COUNT(SIDE)];
                    if ((k + i + 5 * j) % 5 && j != 1) continue;
                    check_tiles((compression)packing, tw, th, tw + i, th + j);
                }
            }
}
#endif

RUN_TESTS(NULL, NULL)
