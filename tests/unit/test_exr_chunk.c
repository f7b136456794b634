/* Chunks of EXR at their edges: those that packing leaves as long as they were, and tables that
 * count the smaller levels of tiles. */
#include "image/exr/exr_chunk.h"
#include "unit/check.h"
#include "unit/make_image.h"

enum { MOST = 16 * 64 };

/* Returns the bytes of runs, by their definition: two for three to 127 equal bytes and more; others
 * stand as they are behind their number, up to 127 of them. */
static size_t run_bytes(const uint8_t *b, size_t n) {
    size_t bytes = 0, single = 0;
    for (size_t at = 0, same; at < n; at += same) {
        for (same = 1; at + same < n && same < 128 && b[at + same] == b[at];) same++;
        if (same < 3) same = 1;
        bytes += same >= 3 ? 2 : single % 127 == 0 ? 2 : 1;
        single = same >= 3 ? 0 : single + 1;
    }
    return bytes;
}

/* Returns to how many bytes a codec packs the samples of a plane. */
static size_t packed_bytes(compression by, const image_part *p, const uint16_t *plane, size_t n) {
    exr_scratch s = {0};
    const exr_shape shape = {p, image_width(p), image_height(p), 2 * n};
    size_t bytes = 0;
    CHECK_OK(exr_scratch_packed(&s, exr_piz_bound(2 * n) + exr_zip_bound(2 * n), &e));
    if (by == COMPRESSION_PIZ) {
        s.raw = mem_raw(2 * n, 1, "a chunk", &e);
        memcpy(s.raw, plane, 2 * n);
        CHECK_OK(exr_piz_encode(&s, &shape, &e));
        bytes = s.bytes;
    } else {
        uint8_t split[2 * MOST];
        exr_last last = EXR_SPLIT_START;
        exr_split(split, split + n, (const uint8_t *)plane, n, &last);
        exr_split_end(split, n, last);
        exr_zip *z = MADE(exr_zip_new(2 * n, &e));
        bytes = by == COMPRESSION_RLE ? run_bytes(split, 2 * n)
                                      : exr_zip_pack(z, split, 2 * n, s.packed);
        mem_free(z);
    }
    exr_scratch_free(&s);
    return bytes;
}

/* A reader takes a chunk that is as long as its pixels for pixels. Chunks of all lengths near that
 * come back: the shorter ones packed, and the others as they are. PIZ's encoder leaves none longer.
 */
static void check_lengths(compression by, uint32_t w, uint32_t h) {
    OWN(image) *img = make_blank("Y:half", 0, 0, w, h);
    image_part *p = &img->head.part[0];
    uint16_t *plane = img->plane[0][0], back[MOST];
    const size_t n = (size_t)w * h, raw = 2 * n;
    exr_layout l;
    exr_scratch s = {0};
    uint64_t seed = by;
    uint32_t shorter = 0, equal = 0, longer = 0;
    p->packing = by;
    assert_true(n <= MOST);
    CHECK_OK(exr_layout_make(&l, p, LEVELS_ONE, false, &e));
    assert_int_equal(exr_layout_chunks(&l), 1);
    for (uint32_t i = 0; i < 20000 && (equal < 4 || shorter < 20 || i < 100); i++) {
        const uint32_t few = make_below(&seed, (uint32_t)n + 1) * make_below(&seed, 3) / 2,
                       range = 1u << make_below(&seed, 9);
        for (size_t k = 0; k < n; k++)
            plane[k] = (uint16_t)(k < few ? make_random(&seed) : make_below(&seed, range));
        const size_t packed = packed_bytes(by, p, plane, n);
        if (packed == raw)
            equal++;
        else if (packed > raw)
            longer++;
        else
            shorter++;
        if (packed != raw && i % 16) continue;
        const exr_band in = {(void *const[]){plane}, 0, h, w},
                       out = {(void *const[]){back}, 0, h, w};
        CHECK_OK(exr_chunk_encode(&s, &(exr_chunk){p, &l, &in, {0, 0, w, h}}, &e));
        assert_int_equal(s.bytes, packed < 2 * n ? packed : raw);
        if (packed == raw) assert_memory_equal(s.packed, plane, raw);
        memset(back, 0, sizeof back);
        CHECK_OK(exr_chunk_decode(&s, &(exr_chunk){p, &l, &out, {0, 0, w, h}}, &e));
        assert_memory_equal(back, plane, raw);
    }
    exr_scratch_free(&s);
    print_message("%s: %u shorter, %u as long, %u longer\n", compression_name(by), shorter, equal,
                  longer);
    assert_true(shorter && equal && (longer || by == COMPRESSION_PIZ));
}

TEST(runs_as_long_as_their_pixels) {
    check_lengths(COMPRESSION_RLE, 30, 1);
}

TEST(deflate_as_long_as_its_pixels) {
    check_lengths(COMPRESSION_ZIPS, 300, 1);
    check_lengths(COMPRESSION_ZIP, 30, 16);
}

TEST(wavelets_as_long_as_their_pixels) {
    check_lengths(COMPRESSION_PIZ, 32, 32);
}

/* Returns how many tiles lie along each level of a length, and their number of levels: each level
 * has half of the one before, and the last has one pixel. */
static int tiles_of(uint32_t to[], uint32_t length, uint32_t tile, bool up) {
    int levels = 0;
    for (;; length = up ? length - length / 2 : length / 2) {
        to[levels++] = (length + tile - 1) / tile;
        if (length == 1) return levels;
    }
}

/* Counts tiles one level after the other. */
static uint64_t count_tiles(uint32_t w, uint32_t h, uint32_t tile, exr_levels levels, bool up) {
    uint32_t across[32], down[32];
    const int wide = tiles_of(across, w, tile, up), high = tiles_of(down, h, tile, up);
    uint64_t all = 0;
    for (int i = 0; i < wide; i++)
        for (int j = 0; j < high; j++)
            if (levels == LEVELS_RIPMAP || (levels == LEVELS_ONE ? i + j == 0 : i == j))
                all += (uint64_t)across[i] * down[j];
    /* A mipmap goes on with the longer side alone. */
    for (int i = high; levels == LEVELS_MIPMAP && i < wide; i++) all += across[i];
    for (int j = wide; levels == LEVELS_MIPMAP && j < high; j++) all += down[j];
    return all;
}

TEST(tables_count_the_tiles_of_all_levels) {
    OWN(image) *img = make_blank("Y:half", 0, 0, 1, 1);
    image_part *p = &img->head.part[0];
    for (uint32_t i = 0; i < 70 * 70 * 2 * 3; i++) {
        const uint32_t w = 1 + i / 6 % 70, h = 1 + i / 420, tile = 1 + (w + h) % 9;
        const exr_levels levels = (exr_levels)(i / 2 % 3);
        const bool up = i % 2;
        exr_layout l;
        p->data = (image_box){0, 0, (int32_t)w - 1, (int32_t)h - 1};
        p->tile_w = p->tile_h = tile;
        CHECK_OK(exr_layout_make(&l, p, levels, up, &e));
        if (l.table != count_tiles(w, h, tile, levels, up))
            fail_msg("%u x %u in tiles of %u, levels %d, %s: %llu", w, h, tile, levels,
                     up ? "round up" : "round down", (unsigned long long)l.table);
    }
    /* By hand: 7 x 5 has 4 x 3, 2 x 2 and 1 x 1 in the one mode, and 3 x 2 and 1 x 1 in the other.
     */
    assert_int_equal(count_tiles(7, 5, 2, LEVELS_MIPMAP, true), 12 + 4 + 1 + 1);
    assert_int_equal(count_tiles(7, 5, 2, LEVELS_MIPMAP, false), 12 + 2 + 1);
    assert_int_equal(count_tiles(7, 5, 2, LEVELS_RIPMAP, true), (4 + 2 + 1 + 1) * (3 + 2 + 1 + 1));
    assert_int_equal(count_tiles(7, 5, 2, LEVELS_RIPMAP, false), (4 + 2 + 1) * (3 + 1 + 1));
}

RUN_TESTS(NULL, NULL)
