/* EXR against OpenEXR's C++ library: pixels bit by bit, attributes byte by byte, both ways; and the
 * sample files of the OpenEXR project. */
#include "base/file.h"
#include "base/log.h"
#include "image/exr/exr_chunk.h"
#include "unit/load_save.h"
#include "unit/ref_exr.h"

/* In one piece and in pieces of any lengths. */
TEST(split_matches_its_definition) {
    enum { MOST = 200 };
    uint64_t seed = 5;
    for (size_t half = 1; half < MOST; half++) {
        uint8_t from[2 * MOST], joined[2 * MOST] = {0}, chunk[2 * MOST], apart[2 * MOST];
        for (size_t i = 0; i < half; i++) {
            apart[i] = from[2 * i] = (uint8_t)make_random(&seed);
            apart[half + i] = from[2 * i + 1] = (uint8_t)make_random(&seed);
        }
        exr_last last = EXR_SPLIT_START;
        for (size_t at = 0, n; at < half; at += n) {
            n = half % 2 ? half : 1 + make_random(&seed) % (half - at);
            exr_split(chunk + at, chunk + half + at, from + 2 * at, n, &last);
        }
        exr_split_end(chunk, half, last);
        assert_int_equal(chunk[0], apart[0]);
        for (size_t i = 1; i < 2 * half; i++)
            assert_int_equal(chunk[i], (uint8_t)(apart[i] - apart[i - 1] + 128));
        last = exr_join_start(chunk, half);
        for (size_t at = 0, n; at < half; at += n) {
            n = half % 2 ? half : 1 + make_random(&seed) % (half - at);
            bool skip = make_random(&seed) % 4 == 0;
            exr_join(skip ? NULL : joined + 2 * at, chunk + at, chunk + half + at, n, &last);
            if (skip) memcpy(joined + 2 * at, from + 2 * at, 2 * n);
            assert_int_equal(last.even, from[2 * (at + n) - 2]);
            assert_int_equal(last.odd, from[2 * (at + n) - 1]);
        }
        assert_memory_equal(joined, from, 2 * half);
    }
}

/* They are read many at once. Lines that lie in the file in another order, and a head that is
 * wrong, must be seen there as elsewhere; so must channels that nobody wants. */
TEST(plain_lines) {
    enum { W = 5, H = 150, LINE = 8 + W * (2 + 4 + 4) };
    OWN(image) *img = MAKE("A:half Z:float id:uint", 3, -4, W, H, .packing = COMPRESSION_NONE);
    const char *path = make_path("plain.exr");
    size_t n = 0;
    save(path, img);
    OWN_MEM uint8_t *bytes = MADE(file_read_all(path, 1 << 20, &n, &e));
    uint8_t *chunk = bytes + n - H * LINE, *table = chunk - H * 8, one[LINE], place[8];
    memcpy(one, chunk + 70 * LINE, LINE);
    memcpy(chunk + 70 * LINE, chunk + 99 * LINE, LINE);
    memcpy(chunk + 99 * LINE, one, LINE);
    memcpy(place, table + 70 * 8, 8);
    memcpy(table + 70 * 8, table + 99 * 8, 8);
    memcpy(table + 99 * 8, place, 8);
    CHECK_OK(file_write_all(path, bytes, n, &e));
    image *back = load(path);
    check_same_pixels(back, img);
    image_free(&back);

    image_reader *r = MADE(image_open(path, NULL, make_threads(), &e));
    float z[H * W];
    CHECK_OK(image_read(r, 0, 60, 50, (void *[]){NULL, z, NULL}, &e));
    assert_memory_equal(z, (float *)img->plane[0][1] + 60 * W, 50 * W * sizeof *z);
    image_reader_close(&r);

    chunk[130 * LINE] ^= 1; /* the line's number */
    CHECK_OK(file_write_all(path, bytes, n, &e));
    CHECK_REFUSED(image_load(path, NULL, make_threads(), &e), ERR_DATA, "pixel (0, 130)");
}

#if WITH_OPENEXR
static image *load_ref(const char *path, const image *like) {
    image *img = MADE(image_new(&like->head, &e));
    for (int i = 0; i < img->head.parts; i++)
        assert_true(ref_exr_read(path, i, &img->head.part[i], img->plane[i]));
    return img;
}

/* We read a file that OpenEXR wrote as OpenEXR does. OpenEXR reads the file that we write of the
 * same image as it reads its own, and sees the same attributes in both files. */
static void check_both_ways(const image *img) {
    const char *theirs = make_path("theirs.exr"), *ours = make_path("ours.exr");
    assert_true(ref_exr_write(theirs, img, REF_ONE_LEVEL));
    OWN(image) *ref = load_ref(theirs, img), *got = load(theirs);
    check_same_pixels(got, ref);
    OWN(image) *orig = NULL;
    /* The file's own attributes with the original samples, so that both encode the same. */
    orig = MADE(image_new(&got->head, &e));
    for (int i = 0; i < img->head.parts; i++)
        for (int c = 0; c < img->head.part[i].channels; c++) {
            const image_part *p = &img->head.part[i];
            size_t n = (size_t)image_width(p) * image_height(p);
            memcpy(orig->plane[i][c], img->plane[i][c], n * pixel_bytes(p->channel[c].type));
        }
    save(ours, orig);
    OWN(image) *back = load_ref(ours, img);
    check_same_pixels(back, ref);
    OWN_HEAP char *a = ref_exr_dump(theirs), *b = ref_exr_dump(ours);
    assert_string_equal(a, b);
}

static const char MIXED[] = "A:half B:half G:half R:half Z:float id:uint N.X:float";

static void check_part(const make_part *p, uint64_t noise) {
    OWN(image) *img = make_image(p, 1);
    if (noise) make_noise(img, noise);
    check_both_ways(img);
    if (!noise) return;
    OWN(image) *back = load(make_path("ours.exr"));
    check_same_pixels(back, img);
}

/* One line, a few lines, several chunks of the tallest kind, and tiles; odd windows. Where nothing
 * is lost, every bit comes through. */
TEST(every_compression_both_ways) {
    static const make_part SHAPE[] = {PART(MIXED, -7, 13, 1, 1), PART(MIXED, -7, 13, 61, 37),
                                      PART(MIXED, -7, 13, 23, 301),
                                      PART(MIXED, 5, -9, 75, 50, .tile_w = 32, .tile_h = 19)};
    for (int i = 0; i < COMPRESSIONS * 4; i++) {
        make_part p = SHAPE[i % 4];
        p.packing = (compression)(i / 4);
        check_part(&p, 0);
        if (i % 4 > 0 && p.packing <= COMPRESSION_PIZ) check_part(&p, 1 + (uint64_t)i);
    }
}

TEST(several_parts_with_windows_of_their_own) {
    const make_part parts[] = {
        PART("R:half G:half B:half A:half", 0, 0, 64, 48, .name = "beauty",
             .packing = COMPRESSION_ZIP),
        PART("Z:float", 10, -4, 31, 60, .name = "depth", .packing = COMPRESSION_DWAA),
        PART("R:half G:half B:half", 2, 2, 50, 50, .name = "right", .packing = COMPRESSION_PIZ,
             .order = LINES_DECREASING),
        PART("crypto00.R:float id:uint", 0, 0, 64, 48, .name = "ids", .packing = COMPRESSION_ZIPS,
             .order = LINES_RANDOM, .tile_w = 16, .tile_h = 16),
    };
    OWN(image) *img = make_image(parts, 4);
    check_both_ways(img);
}

static void add_attrs(image_part *p, int count) {
    for (int i = 0; i < count; i++) {
        char name[64], value[64];
        snprintf(name, sizeof name, i % 10 ? "attr%04d" : "an attribute with a long name %04d", i);
        int n = snprintf(value, sizeof value, "value %d", i * i);
        CHECK_OK(image_push_attr(p, name, "string", value, (uint32_t)n, &e));
    }
}

TEST(many_attributes_and_large_ones) {
    OWN(image) *img = MAKE("R:half G:half B:half", 0, 0, 20, 20, .packing = COMPRESSION_ZIP);
    image_part *p = &img->head.part[0];
    add_attrs(p, 1200);
    uint32_t large = 100 * 1000;
    OWN_HEAP char *manifest = malloc(large);
    uint64_t seed = 3;
    for (uint32_t i = 0; i < large; i++) manifest[i] = (char)(' ' + make_random(&seed) % 90);
    CHECK_OK(image_set_attr(p, "cryptomatte/abc/manifest", "string", manifest, large, &e));
    CHECK_OK(image_set_attr(p, "odd", "a type of nobody", "\0\1\2\377", 4, &e));
    CHECK_OK(image_set_attr(p, "empty", "another", NULL, 0, &e));
    check_both_ways(img);
    OWN(image) *back = load(make_path("ours.exr"));
    const image_attr *a = image_find_attr(&back->head.part[0], "cryptomatte/abc/manifest");
    assert_non_null(a);
    assert_int_equal(a->bytes, large);
    assert_memory_equal(a->data, manifest, large);
}

/* Levels of a coarser kind: bytes must be the same as OpenEXR's at every level. */
TEST(dwa_level_is_honoured) {
    size_t last = SIZE_MAX;
    for (float level = 5; level < 500; level *= 6) {
        OWN(image) *img = MAKE("R:half G:half B:half", 0, 0, 128, 64, .packing = COMPRESSION_DWAA);
        CHECK_OK(image_set_attr(&img->head.part[0], "dwaCompressionLevel", "float", &level, 4, &e));
        check_both_ways(img);
        size_t n;
        mem_free(MADE(file_read_all(make_path("ours.exr"), 1 << 20, &n, &e)));
        assert_true(n < last);
        last = n;
    }
}

TEST(smaller_levels_are_left_behind) {
    for (int levels = REF_MIPMAP; levels <= REF_RIPMAP; levels++) {
        OWN(image) *img = MAKE("R:half G:half B:half", 0, 0, 100, 67, .packing = COMPRESSION_ZIP,
                               .tile_w = 16, .tile_h = 16);
        const char *theirs = make_path("levels.exr"), *ours = make_path("ours.exr");
        assert_true(ref_exr_write(theirs, img, (ref_levels)levels));
        OWN(image) *got = load(theirs);
        assert_true(got->head.part[0].mipmapped);
        check_same_pixels(got, img);
        save(ours, got);
        OWN(image) *back = load(ours);
        assert_false(back->head.part[0].mipmapped);
        assert_int_equal(back->head.part[0].tile_w, 16);
        check_same_pixels(back, img);
        OWN(image) *ref = load_ref(ours, img);
        check_same_pixels(ref, img);
    }
}

/* A part that is copied comes out bit by bit even where its compression loses something. */
TEST(copied_parts_are_the_same) {
    const make_part parts[] = {
        PART("R:half G:half B:half", 0, 0, 64, 48, .name = "a", .packing = COMPRESSION_DWAA),
        PART("R:half G:half B:half Z:float", 3, 5, 70, 91, .name = "b", .packing = COMPRESSION_B44,
             .order = LINES_DECREASING),
        PART("R:half G:half B:half", 3, 5, 70, 91, .name = "c", .packing = COMPRESSION_DWAB,
             .tile_w = 32, .tile_h = 32),
    };
    OWN(image) *img = make_image(parts, 3);
    const char *from = make_path("from.exr"), *to = make_path("to.exr");
    assert_true(ref_exr_write(from, img, REF_MIPMAP));
    image_reader *r = MADE(image_open(from, NULL, make_threads(), &e));
    image_writer *w = MADE(image_create(to, image_reader_header(r), true, make_threads(), &e));
    bool done = true;
    for (int i = 0; i < 3 && done; i++) CHECK_OK(image_copy_part(w, i, r, i, &done, &e));
    assert_true(done);
    image_reader_close(&r);
    CHECK_OK(image_commit(&w, &e));
    OWN(image) *a = load(from), *b = load(to), *c = load_ref(to, img);
    check_same_pixels(a, b);
    check_same_pixels(a, c);
}

TEST(chunks_of_other_packing_are_not_copied) {
    OWN(image) *img = MAKE(MIXED, 3, 5, 70, 91, .packing = COMPRESSION_PIZ);
    const char *from = make_path("from.exr"), *to = make_path("to.exr");
    save(from, img);
    OPEN(image_reader) *r = image_open(from, NULL, make_threads(), &e);
    for (int i = 0; i < 3; i++) {
        bool done = true;
        OWN(image_header) h;
        CHECK_OK(image_header_copy(&h, image_reader_header(r), &e));
        if (i == 0) h.part[0].packing = COMPRESSION_RLE;
        if (i == 1) h.part[0].tile_w = h.part[0].tile_h = 20;
        if (i == 2) h.part[0].data.y1--;
        image_writer *w = MADE(image_create(to, &h, true, make_threads(), &e));
        CHECK_OK(image_copy_part(w, 0, r, 0, &done, &e));
        assert_true(!done);
        image_writer_free(&w);
    }
}

/* Drops the attributes that a copy of level 0 must change. */
static void drop_tiles_line(char *dump) {
    char *at = strstr(dump, " tiles "), *end = at ? strchr(at, '\n') : NULL;
    if (end) memmove(at, end, strlen(end) + 1);
}

static void check_sample(const char *name) {
    const char *path = make_shared(name), *ours = make_path("copy.exr");
    OWN(image) *got = load(path), *ref = load_ref(path, got);
    check_same_pixels(got, ref);
    /* WideFloatRange: PXR24 keeps 24 bits of 32, and what it has cut stays cut. */
    save(ours, got);
    OWN(image) *back = load_ref(ours, got);
    check_same_pixels(back, got);
    OWN_HEAP char *a = ref_exr_dump(path), *b = ref_exr_dump(ours);
    if (got->head.part[0].mipmapped) drop_tiles_line(a), drop_tiles_line(b);
    assert_string_equal(a, b);
}

TEST(sample_files_come_through) {
    static const char *const NAME[] = {
        "TestImages_BrightRings.exr",
        "TestImages_BrightRingsNanInf.exr",
        "TestImages_AllHalfValues.exr",
        "TestImages_WideFloatRange.exr",
        "DisplayWindow_t08.exr",
        "ScanLines_Carrots.exr",
        "MultiResolution_WavyLinesLatLong.exr",
        "MultiView_Fog.exr",
    };
    if (!make_shared(NAME[0])) skip();
    for (size_t i = 0; i < COUNT(NAME); i++) check_sample(NAME[i]);
}
#else
TEST(its_codecs_are_written_as_zip) {
    log_set_level(LOG_ERROR);
    for (int c = COMPRESSION_PXR24; c < COMPRESSIONS; c++) {
        OWN(image) *img = MAKE("R:half Z:float", 3, 4, 50, 300, .packing = (compression)c);
        make_noise(img, 6);
        const char *path = make_path("zip.exr");
        save(path, img);
        OWN(image) *back = load(path);
        assert_int_equal(back->head.part[0].packing, COMPRESSION_ZIP);
        check_same_pixels(back, img);
    }
}

TEST(its_codecs_are_named_when_read) {
    const char *path = make_shared("TestImages_WideFloatRange.exr");
    if (!path) skip();
    assert_null(image_load(path, NULL, make_threads(), &e));
    assert_non_null(strstr(e.msg, "pxr24 compression needs OpenEXR"));
}
#endif

TEST(samples_that_are_refused_are_named) {
    if (!make_shared("Chromaticities_Rec709_YC.exr")) skip();
    const char *subsampled = make_shared("Chromaticities_Rec709_YC.exr");
    CHECK_REFUSED(image_load(subsampled, NULL, make_threads(), &e), ERR_DATA, "subsampled");
    assert_non_null(strstr(e.msg, "'BY' (2 x 2)"));
    CHECK_REFUSED(image_load(make_shared("v2_LowResLeftView_Trunks.exr"), NULL, make_threads(), &e),
                  ERR_DATA, "deep");
}

RUN_TESTS(NULL, NULL)
