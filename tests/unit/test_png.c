/* PNG and the preview, against their definitions. */
#include "base/log.h"
#include "image/flat/flat.h"
#include "image/flat/png.h"
#include "image/flat/preview.h"
#include "unit/check.h"
#include "unit/file_bytes.h"

#include <zlib.h>

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

static void begin_png(buffer *b, const uint8_t head[13]) {
    b->n = 0;
    add(b, "\x89PNG\r\n\x1a\n", 8);
    add_chunk(b, "IHDR", head, 13);
}

/* Rows without filters; `samples` as they stand in the file. */
static const char *make_png(uint32_t w, uint32_t h, int bits, int channels,
                            const uint8_t *samples) {
    static const uint8_t KIND[5] = {0, 0, 4, 2, 6};
    buffer b;
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
    begin_png(&b, head);
    add_chunk(&b, "IDAT", packed, n);
    add_chunk(&b, "IEND", NULL, 0);
    return make_file("a.png", b.bytes, b.n);
}

/* The sRGB curve in double precision. */
static double linear(double v) {
    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

TEST(png_is_decoded_to_linear) {
    for (int bits = 8; bits <= 16; bits += 8)
        for (int channels = 1; channels <= 4; channels++) {
            uint8_t samples[5 * 3 * 4 * 2];
            uint64_t seed = 8;
            for (size_t i = 0; i < sizeof samples; i++) samples[i] = (uint8_t)make_random(&seed);
            OWN(image) *img = load(make_png(5, 3, bits, channels, samples));
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
        }
}

/* All 256 values come back as they were, with and without alpha. */
/* To the rounding of a float, from where the line ends to white. */
TEST(curve_of_srgb_is_right) {
    for (float v = 0.0031309F; v < 1; v *= 1.00001F) {
        const double want = 1.055 * pow((double)v, 1 / 2.4) - 0.055;
        assert_true(fabs((double)flat_to_srgb(v) - want) <= 0x1p-24 * want + 1e-12);
    }
    assert_true(flat_to_srgb(1) == 1);
}

TEST(png_is_written) {
    uint8_t samples[256 * 4];
    size_t n, m;
    const png_picture picture = {samples, 16, 16, 4};
    for (int i = 0; i < 256; i++) {
        memset(samples + 4 * i, i, 3);
        samples[4 * i + 3] = (uint8_t)(255 - i / 2); /* colours are divided by it */
    }
    uint8_t *first = png_encode(&picture, &n, &e), *again = png_encode(&picture, &m, &e);
    assert_true(first && again && n == m && memcmp(first, again, n) == 0);
    const char *in = make_file("in.png", first, n), *out = make_path("out.png");
    mem_free(first);
    mem_free(again);
    OWN(image) *img = load(in);
    CHECK_OK(image_save(out, img, make_threads(), &e));
    check_same_file(in, out);
    OWN(image) *back = load(out);
    check_same_pixels(img, back);
}

TEST(png_bombs_stay_within_the_budget) {
    /* 5 x 3 pixels whose data inflates to 64 MB. */
    buffer b;
    uint8_t head[13] = {0, 0, 0, 5, 0, 0, 0, 3, 8, 2, 0, 0, 0};
    size_t raw_bytes = 64 << 20;
    uLongf n = compressBound(raw_bytes);
    OWN_HEAP uint8_t *raw = calloc(raw_bytes, 1), *packed = malloc(n);
    assert_int_equal(compress2(packed, &n, raw, raw_bytes, 9), Z_OK);
    OWN_HEAP uint8_t *file = malloc(n + 100);
    begin_png(&b, head);
    memcpy(file, b.bytes, b.n);
    size_t at = b.n;
    put_big(file + at, (uint32_t)n);
    memcpy(file + at + 4, "IDAT", 4);
    memcpy(file + at + 8, packed, n);
    put_big(file + at + 8 + n, (uint32_t)crc32(0, file + at + 4, (uInt)n + 4));
    b.n = 0;
    add_chunk(&b, "IEND", NULL, 0);
    memcpy(file + at + 12 + n, b.bytes, b.n);
    refuse(make_file("bomb.png", file, at + 12 + n + b.n), "inflates to more than its pixels need");
}

TEST(png_chunks_beyond_2_gigabytes_are_refused) {
    buffer b;
    uint8_t head[13] = {0, 0, 0, 5, 0, 0, 0, 3, 8, 2, 0, 0, 0}, length[4];
    put_big(length, 0x90000000);
    begin_png(&b, head);
    add(&b, length, 4);
    add(&b, "IDAT", 4);
    refuse(make_file("long.png", b.bytes, b.n), "a chunk is too long");
}

TEST(png_of_more_than_2_30_samples_is_refused) {
    buffer b;
    uint8_t head[13] = {0, 0, 0x80, 0, 0, 0, 0x80, 0, 8, 2, 0, 0, 0}; /* 32768 x 32768 R G B */
    begin_png(&b, head);
    add_chunk(&b, "IEND", NULL, 0);
    refuse(make_file("large.png", b.bytes, b.n), "1073741824 pixels are too many for a PNG file");
}

/* A file of 320 x 200 pixels that hardly shrink. */
static uint8_t *noise_png(uint8_t *samples, size_t *bytes, err *e) {
    uint64_t seed = 3;
    for (size_t i = 0; i < 320 * 200 * 3; i++) samples[i] = (uint8_t)make_random(&seed);
    return png_encode(&(png_picture){samples, 320, 200, 3}, bytes, e);
}

/* Each of the blocks that reading and writing take may be the one that is refused. */
TEST(png_counts_as_memory) {
    size_t bytes = 0;
    static uint8_t samples[320 * 200 * 3];
    uint64_t before = mem_used();
    uint8_t *png = MADE(noise_png(samples, &bytes, &e));
    assert_in_range(mem_used() - before, bytes, bytes + 100000);
    const char *path = make_file("noise.png", png, bytes);
    mem_free(png);
    image_free(&(image *){load(path)});
    assert_int_equal(mem_used(), before);
    int refused = 0;
    for (uint64_t room = 20000; room < 1000000; room += 20000) {
        mem_set_limit(before + room);
        e = (err){0};
        png = noise_png(samples, &bytes, &e);
        if (!png) assert_int_equal(e.code, ERR_MEMORY);
        refused += !png;
        mem_free(png);
        assert_int_equal(mem_used(), before);
        image *img = image_load(path, NULL, make_threads(), &e);
        if (!img) assert_int_equal(e.code, ERR_MEMORY);
        refused += !img;
        image_free(&img);
        assert_int_equal(mem_used(), before);
    }
    mem_set_limit(0);
    assert_in_range(refused, 20, 90);
}

/* Returns the linear light that a byte stands for. */
static float light_at(const preview_picture *p, uint32_t x, uint32_t y, int c) {
    return flat_from_srgb((float)p->pixel[3 * (y * p->width + x) + (uint32_t)c] / 255);
}

TEST(preview_is_a_picture_of_the_colour) {
    OWN(image) *img = MAKE("R:half G:half B:half Z:float", 0, 0, 400, 300);
    const preview_options o = {.width = 100, .whole = true};
    preview_picture small, again;
    CHECK_OK(preview_make(&small, img, &o, make_threads(), &e));
    CHECK_OK(preview_make(&again, img, &o, make_threads(), &e));
    assert_true(small.width == 100 && small.height == 75);
    assert_memory_equal(small.pixel, again.pixel, 3 * 100 * 75);
    /* The disc is a hundred times brighter than the rest, which is still well to be seen. */
    CHECK_LE(0.9f, light_at(&small, 30, 45, 1));
    CHECK_LE(0.02f, light_at(&small, 80, 10, 1));
    CHECK_LE(light_at(&small, 80, 10, 1), 0.6f);
    mem_free(small.pixel);
    mem_free(again.pixel);
}

/* An image of one part whose pixels in all channels are `light`, and a picture of it. */
typedef struct {
    image *img;
    preview_picture got;
} picture;

static picture picture_of(const make_part *m, float (*light)(uint32_t x, uint32_t y),
                          const preview_options *o) {
    picture p = {.img = make_image(m, 1)};
    const image_part *part = &p.img->head.part[0];
    for (int c = 0; c < part->channels; c++)
        for (uint32_t y = 0, i = 0; y < image_height(part); y++)
            for (uint32_t x = 0; x < image_width(part); x++, i++)
                ((float *)p.img->plane[0][c])[i] = light(x, y);
    part = &p.img->head.part[0];
    p.img->head.part[0].display = part->data;
    CHECK_OK(preview_make(&p.got, p.img, o, make_threads(), &e));
    return p;
}

/* Makes the picture again, of an image that has been changed. */
static void look_again(picture *p, const preview_options *o) {
    mem_free(p->got.pixel);
    CHECK_OK(preview_make(&p->got, p->img, o, make_threads(), &e));
}

static void picture_free(picture *p) {
    image_free(&p->img);
    mem_free(p->got.pixel);
}

/* The light of a byte's step and a half at a middle grey: rounding, and the noise before it. */
static const float GREY_STEPS = 0.005f;

static const make_part RGB = PART("R:float G:float B:float", 0, 0, 100, 50);

static float grey_left(uint32_t x, uint32_t y) {
    (void)y;
    return x < 50 ? 0.18f : 6;
}
static float grey_right(uint32_t x, uint32_t y) {
    (void)y;
    return x < 50 ? 0.001f : 0.18f;
}

TEST(preview_at_a_stated_exposure_is_the_same_for_all) {
    OWN(picture) a = picture_of(&RGB, grey_left, &(preview_options){.exposed = true});
    OWN(picture) b = picture_of(&RGB, grey_right, &(preview_options){.exposed = true});
    CHECK_LE(fabsf(light_at(&a.got, 10, 10, 1) - 0.18f), GREY_STEPS);
    assert_in_range(b.got.pixel[3 * 99], a.got.pixel[0] - 2, a.got.pixel[0] + 2);
    const preview_options more = {.exposed = true, .stops = 1};
    OWN(picture) brighter = picture_of(&RGB, grey_left, &more);
    CHECK_LE(0.3f, light_at(&brighter.got, 10, 10, 1));
    CHECK_LE(light_at(&brighter.got, 10, 10, 1), 0.4f);
    assert_true(brighter.got.stops == 1);
}

/* A lamp and its wall: 3 stops above a middle grey, and `WALL` stops below. */
enum { WALL = 4 };
static float lamp_at_night(uint32_t x, uint32_t y) {
    return x < 2 && y < 25 ? 0.18f * 8 : ldexpf(0.18f, -WALL);
}
static float snow(uint32_t x, uint32_t y) {
    (void)x, (void)y;
    return ldexpf(0.18f, 3);
}

TEST(an_exposure_that_suits_makes_what_is_bright_grey_and_leaves_night_dark) {
    OWN(picture) night = picture_of(&RGB, lamp_at_night, &(preview_options){0});
    CHECK_LE(fabs(night.got.stops - WALL / 4.0), 0.05);
    OWN(picture) day = picture_of(&RGB, snow, &(preview_options){0});
    CHECK_LE(fabs(day.got.stops + 3.0), 1e-3);
}

static float dot_and_rounding(uint32_t x, uint32_t y) {
    if (x == 50 && y == 25) return 1000;
    return 1e-7f * ((float)((x * 7 + y * 13) % 11) - 5);
}
static float candle(uint32_t x, uint32_t y) {
    return x > 90 && y > 30 ? 0.2f : 1e-4f; /* a thirtieth of the picture has light */
}
static float candle_in_candelas(uint32_t x, uint32_t y) {
    return 1e-9f * candle(x, y);
}

TEST(preview_suits_dark_pictures) {
    OWN(picture) dot = picture_of(&RGB, dot_and_rounding, &(preview_options){0});
    for (size_t i = 0; i < 3 * 100 * 50; i++)
        assert_true(dot.got.pixel[i] <= 1 || i / 3 == 25 * 100 + 50);
    CHECK_LE(0.9f, light_at(&dot.got, 50, 25, 0));
    OWN(picture) low = picture_of(&RGB, candle, &(preview_options){0});
    CHECK_LE(0.18f, light_at(&low.got, 95, 40, 0));
    CHECK_LE(light_at(&low.got, 95, 40, 0), 0.95f);
    /* The unit of the light does not decide. */
    OWN(picture) unit = picture_of(&RGB, candle_in_candelas, &(preview_options){0});
    CHECK_LE(0.6f, light_at(&unit.got, 95, 40, 0));
}

static float one(uint32_t x, uint32_t y) {
    (void)x, (void)y;
    return 0.18f;
}

/* Colours are those of the file's primaries, in those of the screen. */
TEST(preview_honours_chromaticities) {
    static const float XYZ[8] = {1, 0, 0, 1, 0, 0, 1 / 3.0f, 1 / 3.0f};
    static const float ACESCG[8] = {0.713f, 0.293f, 0.165f,   0.83f,
                                    0.128f, 0.044f, 0.32168f, 0.33767f};
    /* X Y Z of a red of Rec.709; and a grey, which stays grey. */
    static const double LIGHT[2][3] = {{0.4124564, 0.2126729, 0.0193339}, {1, 1, 1}};
    const preview_options o = {.exposed = true};
    for (int file = 0; file < 2; file++) {
        OWN(picture) p = picture_of(&RGB, one, &o);
        image_part *part = &p.img->head.part[0];
        for (int c = 0; c < 3; c++) {
            int at = image_find_channel(part, (const char *[]){"R", "G", "B"}[c]);
            for (int i = 0; i < 5000; i++)
                ((float *)p.img->plane[0][at])[i] = (float)(0.18 * LIGHT[file][c]);
        }
        CHECK_OK(image_set_attr(part, "chromaticities", "chromaticities", file == 0 ? XYZ : ACESCG,
                                sizeof XYZ, &e));
        look_again(&p, &o);
        for (int c = 0; c < 3; c++) {
            double want = file == 1 || c == 0 ? 0.18 : 0;
            CHECK_LE(fabs((double)light_at(&p.got, 9, 9, c) - want), GREY_STEPS);
        }
    }
}

/* Pixels that are not opaque lie over black, and the picture shows the display window. */
TEST(preview_shows_the_display_window) {
    make_part m = PART("R:float G:float B:float A:float", -10, 5, 40, 20);
    OWN(picture) p = picture_of(&m, one, &(preview_options){.exposed = true});
    image_part *part = &p.img->head.part[0];
    assert_true(p.got.width == 40 && p.got.height == 20);
    part->display = (image_box){0, 0, 99, 49};
    for (int whole = 0; whole < 2; whole++) {
        preview_options o = {.exposed = true, .whole = whole};
        look_again(&p, &o);
        assert_true(p.got.width == (whole ? 40u : 100u) && p.got.height == (whole ? 20u : 50u));
    }
    look_again(&p, &(preview_options){.exposed = true});
    /* Columns -10 to 29 and rows 5 to 24 have light. */
    for (uint32_t y = 0; y < 50; y++)
        for (uint32_t x = 0; x < 100; x++)
            assert_true((light_at(&p.got, x, y, 0) > 0.1f) == (x < 30 && y >= 5 && y < 25));
    /* A window of another place altogether, and one that is too large for a picture. */
    part->display = (image_box){2000000000, -2000000000, 2000000003, -1999999998};
    look_again(&p, &(preview_options){0});
    assert_true(p.got.width == 4 && p.got.height == 3 && p.got.pixel[0] == 0);
    part->display = (image_box){INT32_MIN, INT32_MIN, INT32_MAX, INT32_MAX};
    preview_picture none;
    CHECK_REFUSED(
        preview_make(&none, p.img, &(preview_options){.width = UINT32_MAX}, make_threads(), &e),
        ERR_DATA, "too many");
}

/* A gradient of a few steps of a byte. */
static float slope(uint32_t x, uint32_t y) {
    (void)y;
    return 0.2f + (float)x * 1e-4f;
}

/* Noise hides the steps: the mean of each column is the light's, and pixels beside each other
 * differ. The noise is the same in every picture. */
TEST(preview_is_dithered) {
    enum { W = 256, H = 400 };
    const make_part m = PART("R:float G:float B:float", 0, 0, W, H);
    OPEN(screen) *plain = MADE(screen_open("srgb", &e));
    const preview_options as = {.exposed = true, .on = plain};
    OWN(picture) p = picture_of(&m, slope, &as), again = picture_of(&m, slope, &as);
    assert_memory_equal(p.got.pixel, again.got.pixel, 3 * W * H);
    int changes = 0;
    for (uint32_t x = 0; x < W; x++) {
        double mean = 0, want = 255 * (double)flat_to_srgb(slope(x, 0));
        for (uint32_t y = 0; y < H; y++) mean += p.got.pixel[3 * (W * y + x)] / (double)H;
        for (uint32_t y = 1; y < H; y++)
            changes += p.got.pixel[3 * (W * y + x)] != p.got.pixel[3 * (W * (y - 1) + x)];
        CHECK_LE(fabs(mean - want), 0.15); /* four deviations: a byte's is 0.5, a mean's 0.5 / 20 */
    }
    CHECK_LE(W * H / 4, changes);
}

TEST(preview_says_what_it_leaves_out) {
    const make_part parts[] = {PART("Z:float", 0, 0, 4, 4),
                               PART("R:half G:half B:half A:half", 0, 0, 4, 4),
                               PART("R:half G:half B:half", 0, 0, 4, 4)};
    OWN(image) *img = make_image(parts, 3),
               *depth = MAKE("R:half G:half B:half Z:float", 0, 0, 4, 4),
               *plain = MAKE("R:half G:half B:half A:half Z:float id:uint", 0, 0, 4, 4),
               *all = make_image(parts + 2, 1);
    text said = {0};
    assert_int_equal(preview_part(&img->head, &said), 1);
    assert_non_null(strstr(said.s, "2 of 3 parts are left out"));
    text_free(&said);
    assert_int_equal(preview_part(&plain->head, &said), 0);
    assert_non_null(strstr(said.s, "2 channels are left out"));
    text_free(&said);
    assert_int_equal(preview_part(&depth->head, &said), 0);
    assert_non_null(strstr(said.s, "1 channel is left out"));
    text_free(&said);
    assert_int_equal(preview_part(&all->head, &said), 0);
    assert_true(said.n == 0);
}

TEST(preview_of_data_is_refused) {
    OWN(image) *img = MAKE("Z:float N.X:float", 0, 0, 4, 4);
    preview_picture none;
    CHECK_REFUSED(preview_make(&none, img, &(preview_options){0}, make_threads(), &e), ERR_DATA,
                  "no colour");
}

int main(void) {
    log_set_level(LOG_ERROR);
    return check_run(NULL, NULL);
}
