/* Radiance and PFM, against their definitions, and the table of formats. PNG: test_png.c. */
#include "base/log.h"
#include "unit/check.h"
#include "unit/file_bytes.h"

enum { W = 9, H = 4 };

/* Pixel (x, y) of the test picture, with runs along x in some components. */
static void rgbe_at(int x, int y, uint8_t p[4]) {
    p[0] = (uint8_t)(200 - y);
    p[1] = (uint8_t)(x < 6 ? 77 : 77 + x);
    p[2] = (uint8_t)(10 * x + y);
    p[3] = (uint8_t)(128 + y + x / 5);
}

static double value_at(int x, int y, int c) {
    uint8_t p[4];
    rgbe_at(x, y, p);
    return p[c] * pow(2, p[3] - 136);
}

static void check_hdr(const char *path, double r, double g, double b) {
    OWN(image) *img = load(path);
    assert_string_equal(img->head.format, "hdr");
    assert_int_equal(image_width(&img->head.part[0]), W);
    assert_int_equal(image_height(&img->head.part[0]), H);
    const double factor[3] = {r, g, b};
    static const char *const NAME[] = {"R", "G", "B"};
    for (uint32_t y = 0; y < H; y++)
        for (uint32_t x = 0; x < W; x++)
            for (int c = 0; c < 3; c++) {
                float want = (float)(value_at((int)x, (int)y, c) * factor[c]);
                float got = sample(img, NAME[c], x, y);
                CHECK_LE(fabsf(got - want), want * 1e-7f);
            }
}

static void add_new_runs(buffer *b) {
    for (int y = 0; y < H; y++) {
        const uint8_t start[4] = {2, 2, 0, W};
        add(b, start, 4);
        for (int c = 0; c < 4; c++) {
            uint8_t v[W], run[2] = {128 + 4, 0};
            for (int x = 0; x < W; x++) {
                uint8_t p[4];
                rgbe_at(x, y, p);
                v[x] = p[c];
            }
            bool can = v[0] == v[1] && v[1] == v[2] && v[2] == v[3];
            run[1] = v[0];
            if (can) add(b, run, 2);
            uint8_t count = can ? W - 4 : W;
            add(b, &count, 1);
            add(b, v + W - count, count);
        }
    }
}

static void add_old_runs(buffer *b) {
    for (int y = 0; y < H; y++) {
        uint8_t p[4], run[4] = {1, 1, 1, 0}, last[4];
        for (int x = 0; x < W; x++) {
            rgbe_at(x, y, p);
            if (x > 0 && memcmp(p, last, 4) == 0) {
                run[3] = 1;
                add(b, run, 4);
            } else {
                add(b, p, 4);
            }
            memcpy(last, p, 4);
        }
    }
}

static const char HEAD[] = "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 4 +X 9\n";

TEST(both_kinds_of_runs) {
    buffer b = {.n = 0};
    add_text(&b, HEAD);
    add_new_runs(&b);
    check_hdr(make_file("new.hdr", b.bytes, b.n), 1, 1, 1);
    b.n = 0;
    add_text(&b, HEAD);
    add_old_runs(&b);
    check_hdr(make_file("old.hdr", b.bytes, b.n), 1, 1, 1);
}

/* 1 + 3 + 2 * 256 + 1 pixels: runs in a row count in bytes of rising weight. */
TEST(long_old_runs) {
    buffer b = {.n = 0};
    add_text(&b, "#?RGBE\n\n-Y 1 +X 517\n");
    const uint8_t pixels[] = {10, 20, 30, 136, 1, 1, 1, 3, 1, 1, 1, 2, 40, 50, 60, 136};
    add(&b, pixels, sizeof pixels);
    OWN(image) *img = load(make_file("long.hdr", b.bytes, b.n));
    for (uint32_t x = 0; x < 517; x++) assert_true(sample(img, "R", x, 0) == (x < 516 ? 10 : 40));
}

TEST(exposure_divides) {
    buffer b = {.n = 0};
    add_text(&b, "#?RADIANCE\nEXPOSURE=2\nFORMAT=32-bit_rle_rgbe\nCOLORCORR= 1 2 4\nEXPOSURE= 4.0\n"
                 "PIXASPECT=2\nPRIMARIES=.64 .33 .3 .6 .15 .06 .3127 .329\n\n-Y 4 +X 9\n");
    add_new_runs(&b);
    const char *path = make_file("e.hdr", b.bytes, b.n);
    check_hdr(path, 1 / 8.0, 1 / 16.0, 1 / 32.0);
    OWN(image) *img = load(path);
    assert_true(img->head.part[0].aspect == 0.5f);
    assert_non_null(image_find_attr(&img->head.part[0], "chromaticities"));
}

TEST(xyze_and_nonsense_are_refused) {
    static const char *const CASE[][2] = {
        {"#?RADIANCE\nFORMAT=32-bit_rle_xyze\n\n-Y 4 +X 9\n", "XYZE"},
        {"#?RADIANCE\nFORMAT=float\n\n-Y 4 +X 9\n", "'float' is unknown"},
        {"#?RADIANCE\nEXPOSURE=0\n\n-Y 4 +X 9\n", "EXPOSURE"},
        {"#?RADIANCE\n\n-Y 4 -Y 9\n", "line of the size"},
        {"#?RADIANCE\n\n+Y 4 +X 9\n", "stored turned, as '+Y 4 +X 9'"},
        {"#?RADIANCE\n\n-Y 4 -X 9\n", "stored turned"},
        {"#?RADIANCE\n\n+X 9 -Y 4\n", "oiiotool IN -o OUT.exr"},
        {"#?RADIANCE\n\n-Y 0 +X 9\n", "pixels"},
        {"#?RADIANCE\n\n-Y 70000 +X 9\n", "70000"},
        {"#?RADIANCE\n\n-Y 4 +X 9 \n", "cut off"},
        {"#?RADIANCE\n", "cut off"},
        {"#?RADIANCE\n\n-Y 1 +X 3\n\1\1\1\2....", "a run of 2 pixels at 0"},
        {"#?RADIANCE\n\n-Y 1 +X 3\nabcd\1\1\1\3....", "a run of 3 pixels at 1"},
        {"#?RADIANCE\n\n-Y 1 +X 9\n\2\2\1\1....", "says it has 257 pixels, not 9"},
    };
    for (size_t i = 0; i < COUNT(CASE); i++) refuse(make_text("bad.hdr", CASE[i][0]), CASE[i][1]);
    /* There is a zero among the bytes. */
    refuse(make_file("bad.hdr", "#?RADIANCE\n\n-Y 1 +X 9\n\2\2\0\11\212abcd", 32),
           "a run of 10 pixels at 0");
}

TEST(pfm_of_both_byte_orders) {
    for (int big = 0; big < 2; big++)
        for (int colours = 1; colours <= 3; colours += 2) {
            buffer b = {.n = 0};
            char head[64];
            snprintf(head, sizeof head, "P%c\n3 2\n%s\n", colours == 3 ? 'F' : 'f',
                     big ? "2.5" : "-1");
            add_text(&b, head);
            for (int y = 1; y >= 0; y--)
                for (int x = 0; x < 3; x++)
                    for (int c = 0; c < colours; c++) {
                        float v = (float)(100 * y + 10 * x + c) - 0.125f;
                        uint32_t u;
                        memcpy(&u, &v, 4);
                        if (big) u = __builtin_bswap32(u);
                        add(&b, &u, 4);
                    }
            OWN(image) *img = load(make_file("a.pfm", b.bytes, b.n));
            for (uint32_t y = 0; y < 2; y++)
                for (uint32_t x = 0; x < 3; x++)
                    for (int c = 0; c < colours; c++) {
                        const char name[2] = {colours == 3 ? "RGB"[c] : 'Y', 0};
                        assert_true(sample(img, name, x, y) ==
                                    (float)(100 * (int)y + 10 * (int)x + c) - 0.125f);
                    }
        }
}

TEST(pfm_comes_back_bit_by_bit) {
    static const char *const CHANNELS[] = {"R:float G:float B:float", "Y:float"};
    for (int i = 0; i < 2; i++) {
        OWN(image) *img = MAKE(CHANNELS[i], 0, 0, 37, 21);
        make_noise(img, 5);
        const char *path = make_path("b.pfm");
        CHECK_OK(image_save(path, img, make_threads(), &e));
        OWN(image) *back = load(path);
        check_same_pixels(back, img);
    }
}

TEST(pfm_nonsense_is_refused) {
    static const char *const CASE[][2] = {
        {"PF\n3 2\n-1\nabc", "cut off"},
        {"PF\n3\n", "damaged"},
        {"PF\n3 2\n0\n", "scale '0'"},
        {"PF\n3 2\nnan\n", "scale 'nan'"},
        {"PF\n-3 2\n-1\n", "damaged"},
        {"PF\n99999999 2\n-1\n", "99999999 x 2"},
        {"PF\n65536 65536\n-1\n", "cut off: its samples need 51539607552 bytes"},
    };
    for (size_t i = 0; i < COUNT(CASE); i++) refuse(make_text("bad.pfm", CASE[i][0]), CASE[i][1]);
}

TEST(content_decides_not_the_name) {
    OWN(image) *img = MAKE("R:float G:float B:float", 0, 0, 8, 8);
    const char *exr = make_path("a.exr"), *misnamed = make_path("b.png");
    CHECK_OK(image_save(exr, img, make_threads(), &e));
    assert_int_equal(rename(exr, misnamed), 0);
    image *back = load(misnamed);
    assert_string_equal(back->head.format, "exr");
    image_free(&back);
    refuse(make_file("c.exr", "this is not an image", 20),
           "is not a recognised image format (.exr, .hdr, .pfm or .png)");
    refuse(make_file("d.exr", "", 0), "empty");
    CHECK_REFUSED(image_save(make_path("e.jpeg"), img, make_threads(), &e), ERR_USAGE,
                  "unsupported extension; use .exr, .pfm or .png");
    CHECK_REFUSED(image_save(make_path("e.pic"), img, make_threads(), &e), ERR_USAGE,
                  "write .exr, or .pfm");
    CHECK_REFUSED(image_save(make_path("e.npy"), img, make_threads(), &e), ERR_USAGE,
                  "arrays are for the Python module");
}

TEST(other_formats_are_named) {
    static const struct {
        const char *bytes, *says;
        size_t n;
    } CASE[] = {
        {"\xff\xd8\xff\xe0"
         "12345678",
         "f.jpg' is a JPEG file, which is not supported; convert it", 12},
        {"II*\0"
         "12345678",
         "is a TIFF file", 12},
        {"MM\0*"
         "12345678",
         "is a TIFF file", 12},
        {"RIFF1234WEBP", "is a WebP file", 12},
        {"RIFF1234WAVE", "not a recognised", 12},
        {"1234ftypheic", "is an HEIF file", 12},
        {"1234ftypmif1", "is an HEIF file", 12},
        {"1234ftypavif", "is an AVIF file", 12},
        {"1234ftypisom", "is a video (MP4 or MOV); ffmpeg gives its frames", 12},
        {"1234ftypqt  ", "docs/pipes.md", 12},
        {"SIMPLE  =   ", "is a FITS file, which is not supported; convert it", 12},
        {"\x93NUMPY\1\0v\0{'", "is a NumPy array, which is not read; the Python module", 12},
        {"\xff\xd8", "not a recognised", 2},
    };
    for (size_t i = 0; i < COUNT(CASE); i++)
        refuse(make_file("f.jpg", CASE[i].bytes, CASE[i].n), CASE[i].says);
}

TEST(what_a_format_cannot_hold_is_refused) {
    const make_part parts[] = {PART("R:half G:half B:half", 0, 0, 8, 8, .name = "a"),
                               PART("R:half G:half B:half", 0, 0, 8, 8, .name = "b")};
    OWN(image) *two = make_image(parts, 2);
    OWN(image) *depth = MAKE("Z:float", 0, 0, 8, 8);
    static const char *const NAME[] = {"x.pfm", "x.png"};
    for (int i = 0; i < 2; i++) {
        CHECK_REFUSED(image_save(make_path(NAME[i]), two, make_threads(), &e), ERR_DATA,
                      "holds one part, this image has 2");
        CHECK_REFUSED(image_save(make_path(NAME[i]), depth, make_threads(), &e), ERR_DATA,
                      "neither channels R G B nor a channel Y");
    }
}

int main(void) {
    log_set_level(LOG_ERROR);
    return check_run(NULL, NULL);
}
