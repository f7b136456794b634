/* PNG and the preview, against their definitions. */
#include "base/log.h"
#include "base/mem.h"
#include "image/flat/png.h"
#include "image/flat/preview.h"
#include "unit/check.h"
#include "unit/file_bytes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* --- PNG ---------------------------------------------------------------------------------- */

static void put_big(uint8_t *to, uint32_t v) {
    for (int i = 0; i < 4; i++) to[i] = (uint8_t)(v >> (24 - 8 * i));
}

static void add_chunk(buffer *b, const char *type, const uint8_t *data, size_t n) {
    uint8_t length[4], sum[4];
    put_big(length, (uint32_t)n);
    add(b, length, 4);
    size_t from = b->n;
    add(b, type, 4);
    add(b, data, n);
    put_big(sum, (uint32_t)crc32(0, b->bytes + from, (uInt)(b->n - from)));
    add(b, sum, 4);
}

/* Rows without filters; `samples` as they stand in the file. */
static const char *make_png(uint32_t w, uint32_t h, int bits, int channels,
                            const uint8_t *samples) {
    static const uint8_t KIND[5] = {0, 0, 4, 2, 6};
    buffer b = {.n = 0};
    uint8_t head[13] = {0}, raw[2048], packed[2048];
    put_big(head, w);
    put_big(head + 4, h);
    head[8] = (uint8_t)bits;
    head[9] = KIND[channels];
    size_t row = w * (size_t)channels * (size_t)bits / 8;
    for (uint32_t y = 0; y < h; y++) {
        raw[y * (row + 1)] = 0;
        memcpy(raw + y * (row + 1) + 1, samples + y * row, row);
    }
    uLongf n = sizeof packed;
    assert_int_equal(compress(packed, &n, raw, h * (row + 1)), Z_OK);
    add(&b, "\x89PNG\r\n\x1a\n", 8);
    add_chunk(&b, "IHDR", head, sizeof head);
    add_chunk(&b, "IDAT", packed, n);
    add_chunk(&b, "IEND", NULL, 0);
    return write_file("a.png", b.bytes, b.n);
}

/* The sRGB curve in double precision. */
static double linear(double v) {
    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

static void png_is_decoded_to_linear(void **state) {
    (void)state;
    for (int bits = 8; bits <= 16; bits += 8)
        for (int channels = 1; channels <= 4; channels++) {
            uint8_t samples[5 * 3 * 4 * 2];
            uint64_t seed = 8;
            for (size_t i = 0; i < sizeof samples; i++) samples[i] = (uint8_t)make_random(&seed);
            image *img = load(make_png(5, 3, bits, channels, samples));
            static const char *const NAME[5][4] = {
                {0}, {"Y"}, {"Y", "A"}, {"R", "G", "B"}, {"R", "G", "B", "A"}};
            for (uint32_t i = 0; i < 15; i++) {
                double v[4], alpha = 1;
                for (int c = 0; c < channels; c++) {
                    size_t at = i * (size_t)channels + (size_t)c;
                    v[c] = bits == 8 ? samples[at] / 255.0
                                     : (samples[2 * at] << 8 | samples[2 * at + 1]) / 65535.0;
                }
                if (channels % 2 == 0) alpha = v[channels - 1];
                for (int c = 0; c < channels; c++) {
                    bool is_alpha = channels % 2 == 0 && c == channels - 1;
                    double want = is_alpha ? alpha : linear(v[c]) * alpha;
                    /* A few roundings of float, and the one of powf. */
                    CHECK_LE(fabs(sample(img, NAME[channels][c], i % 5, i / 5) - want),
                             8 * 1.2e-7 * want);
                }
            }
            image_free(&img);
        }
}

/* All 256 values come back as they were, with and without alpha. */
static void png_is_written(void **state) {
    (void)state;
    err e = {0};
    uint8_t samples[256 * 4];
    for (int i = 0; i < 256; i++) {
        memset(samples + 4 * i, i, 3);
        samples[4 * i + 3] = 255;
    }
    const char *in = make_path("in.png"), *out = make_path("out.png"), *again = make_path("2.png");
    CHECK_OK(png_write(in, samples, 16, 16, 4, &e), e);
    image *img = load(in);
    CHECK_OK(image_save(out, img, make_threads(), &e), e);
    check_same_file(in, out);
    image *back = load(out);
    check_same_pixels(img, back);
    CHECK_OK(png_write(again, samples, 16, 16, 4, &e), e);
    check_same_file(in, again);
    image_free(&back);
    image_free(&img);
}

static void png_bombs_stay_within_the_budget(void **state) {
    (void)state;
    /* 5 x 3 pixels whose data inflates to 64 MB. */
    buffer b = {.n = 0};
    uint8_t head[13] = {0, 0, 0, 5, 0, 0, 0, 3, 8, 2, 0, 0, 0};
    size_t raw_bytes = 64 << 20;
    uLongf n = compressBound(raw_bytes);
    uint8_t *raw = calloc(raw_bytes, 1), *packed = malloc(n);
    assert_int_equal(compress2(packed, &n, raw, raw_bytes, 9), Z_OK);
    uint8_t *file = malloc(n + 100);
    add(&b, "\x89PNG\r\n\x1a\n", 8);
    add_chunk(&b, "IHDR", head, sizeof head);
    memcpy(file, b.bytes, b.n);
    size_t at = b.n;
    put_big(file + at, (uint32_t)n);
    memcpy(file + at + 4, "IDAT", 4);
    memcpy(file + at + 8, packed, n);
    put_big(file + at + 8 + n, (uint32_t)crc32(0, file + at + 4, (uInt)n + 4));
    b.n = 0;
    add_chunk(&b, "IEND", NULL, 0);
    memcpy(file + at + 12 + n, b.bytes, b.n);
    refuse(write_file("bomb.png", file, at + 12 + n + b.n),
           "inflates to more than its pixels need");
    free(file);
    free(packed);
    free(raw);
}

static void png_chunks_beyond_2_gigabytes_are_refused(void **state) {
    (void)state;
    buffer b = {.n = 0};
    uint8_t head[13] = {0, 0, 0, 5, 0, 0, 0, 3, 8, 2, 0, 0, 0}, length[4];
    put_big(length, 0x90000000);
    add(&b, "\x89PNG\r\n\x1a\n", 8);
    add_chunk(&b, "IHDR", head, sizeof head);
    add(&b, length, 4);
    add(&b, "IDAT", 4);
    refuse(write_file("long.png", b.bytes, b.n), "a chunk is too long");
}

static void png_of_more_than_2_30_samples_is_refused(void **state) {
    (void)state;
    buffer b = {.n = 0};
    uint8_t head[13] = {0, 0, 0x80, 0, 0, 0, 0x80, 0, 8, 2, 0, 0, 0}; /* 32768 x 32768 R G B */
    add(&b, "\x89PNG\r\n\x1a\n", 8);
    add_chunk(&b, "IHDR", head, sizeof head);
    add_chunk(&b, "IEND", NULL, 0);
    refuse(write_file("large.png", b.bytes, b.n), "1073741824 pixels are too many for a PNG file");
}

/* A file of 320 x 200 pixels that hardly shrink. */
static uint8_t *noise_png(uint8_t *samples, size_t *bytes, err *e) {
    uint64_t seed = 3;
    for (size_t i = 0; i < 320 * 200 * 3; i++) samples[i] = (uint8_t)make_random(&seed);
    return png_encode(samples, 320, 200, 3, bytes, e);
}

/* Each of the blocks that reading and writing take may be the one that is refused. */
static void png_counts_as_memory(void **state) {
    (void)state;
    err e = {0};
    size_t bytes = 0;
    static uint8_t samples[320 * 200 * 3];
    uint64_t before = mem_used();
    uint8_t *png = noise_png(samples, &bytes, &e);
    CHECK_OK(png, e);
    assert_in_range(mem_used() - before, bytes, bytes + 100000);
    const char *path = write_file("noise.png", png, bytes);
    mem_free(png);
    image_free(&(image *){load(path)});
    assert_int_equal(mem_used(), before);
    int refused = 0;
    for (uint64_t room = 20000; room < 1000000; room += 20000) {
        mem_set_limit(before + room);
        e = (err){0};
        png = noise_png(samples, &bytes, &e);
        if (!png) assert_int_equal(e.code, ERR_RETRY);
        refused += !png;
        mem_free(png);
        assert_int_equal(mem_used(), before);
        image *img = image_load(path, NULL, make_threads(), &e);
        if (!img) assert_int_equal(e.code, ERR_RETRY);
        refused += !img;
        image_free(&img);
        assert_int_equal(mem_used(), before);
    }
    mem_set_limit(0);
    assert_in_range(refused, 20, 90);
}

/* --- preview ------------------------------------------------------------------------------ */

static void preview_is_a_picture_of_the_colour(void **state) {
    (void)state;
    err e = {0};
    make_part m = PART("R:half G:half B:half Z:float", 0, 0, 400, 300);
    image *img = make_image(&m, 1);
    const image_part *p = &img->head.part[0];
    const void *const *plane = (const void *const *)img->plane[0];
    const char *a = make_path("a.png"), *b = make_path("b.png");
    preview_options o = {.width = 100};
    CHECK_OK(preview_write(a, p, plane, make_threads(), &o, &e), e);
    CHECK_OK(preview_write(b, p, plane, make_threads(), &o, &e), e);
    check_same_file(a, b);
    image *small = load(a);
    assert_int_equal(image_width(&small->head.part[0]), 100);
    assert_int_equal(image_height(&small->head.part[0]), 75);
    assert_int_equal(small->head.part[0].channels, 3);
    /* The disc is a hundred times brighter than the rest, which is still well to be seen. */
    CHECK_LE(0.9f, sample(small, "G", 30, 45));
    CHECK_LE(0.02f, sample(small, "G", 80, 10));
    CHECK_LE(sample(small, "G", 80, 10), 0.6f);
    o.stops = 2;
    CHECK_OK(preview_write(b, p, plane, make_threads(), &o, &e), e);
    image *brighter = load(b);
    CHECK_LE(sample(small, "G", 80, 10) * 1.2f, sample(brighter, "G", 80, 10));
    image_free(&brighter);
    image_free(&small);
    image_free(&img);
}

static void preview_shows_glare_beyond_alpha(void **state) {
    (void)state;
    err e = {0};
    make_part m = PART("R:float G:float B:float A:float", 0, 0, 4, 1);
    image *img = make_image(&m, 1);
    for (int c = 0; c < 4; c++) {
        float *v = img->plane[0][c];
        const float alpha[4] = {1, 1, 0, 0}, light[4] = {0.2f, 0.2f, 0.2f, 0};
        memcpy(v, strcmp(img->head.part[0].channel[c].name, "A") == 0 ? alpha : light,
               sizeof alpha);
    }
    const char *path = make_path("alpha.png");
    CHECK_OK(preview_write(path, &img->head.part[0], (const void *const *)img->plane[0],
                           make_threads(), NULL, &e),
             e);
    image *got = load(path);
    assert_true(sample(got, "A", 0, 0) == 1);
    CHECK_LE(0.1f, sample(got, "A", 2, 0));
    CHECK_LE(sample(got, "A", 2, 0), 0.9f);
    assert_true(sample(got, "A", 3, 0) == 0);
    image_free(&got);
    image_free(&img);
}

static void preview_of_data_is_refused(void **state) {
    (void)state;
    err e = {0};
    make_part m = PART("Z:float N.X:float", 0, 0, 4, 4);
    image *img = make_image(&m, 1);
    assert_false(preview_write(make_path("x.png"), &img->head.part[0],
                               (const void *const *)img->plane[0], make_threads(), NULL, &e));
    assert_non_null(strstr(e.msg, "no colour"));
    image_free(&img);
}

int main(void) {
    log_set_level(LOG_ERROR);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(png_is_decoded_to_linear),
        cmocka_unit_test(png_is_written),
        cmocka_unit_test(png_bombs_stay_within_the_budget),
        cmocka_unit_test(png_chunks_beyond_2_gigabytes_are_refused),
        cmocka_unit_test(png_of_more_than_2_30_samples_is_refused),
        cmocka_unit_test(png_counts_as_memory),
        cmocka_unit_test(preview_is_a_picture_of_the_colour),
        cmocka_unit_test(preview_shows_glare_beyond_alpha),
        cmocka_unit_test(preview_of_data_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
