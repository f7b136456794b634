/* Pictures and histogram of differences: every value is counted, and no single pixel is lost. */
#include "image/flat/heat.h"
#include "unit/check.h"
#include "unit/make_image.h"

enum { W = 97, H = 31, CHANNELS = 4 };

static image *blank(void) {
    return make_blank("Z:float diffuse.B:float diffuse.G:float diffuse.R:float", 5, 7, W, H);
}

static float *at(image *img, int channel, int x, int y) {
    return (float *)img->plane[0][channel] + y * W + x;
}

/* Two images, and what is made of their comparison. */
static struct {
    image *a, *b;
    comparison c;
    heat h;
    par *threads;
} f;

static void make(uint32_t widest) {
    static const compare_limits limits = {.fail = 1e-6, .hard_fail = INFINITY};
    comparison_free(&f.c);
    heat_free(&f.h);
    CHECK_OK(compare_parts(&f.c, &(compare_pair){f.a, f.b, 0}, &limits, f.threads, &e));
    CHECK_OK(heat_make(&f.h, &f.c, widest, &e));
}

FIXTURE(open_images) {
    f.a = blank(), f.b = blank();
    f.threads = par_open(2, &e);
    return f.threads ? 0 : -1;
}

FIXTURE(close_images) {
    comparison_free(&f.c);
    heat_free(&f.h);
    image_free(&f.a);
    image_free(&f.b);
    par_close(&f.threads);
    return 0;
}

static uint64_t counted(const heat *h) {
    uint64_t n = h->equal;
    for (int i = 0; i < HEAT_BINS; i++) n += h->bin[i];
    return n;
}

TEST(equal_images_are_black) {
    make(1024);
    assert_int_equal(f.h.width, W);
    assert_int_equal(f.h.height, H);
    assert_int_equal(f.h.equal, W * H * CHANNELS);
    assert_int_equal(counted(&f.h), W * H * CHANNELS);
    for (size_t i = 0; i < 3 * W * H; i++) assert_int_equal(f.h.amplified[i] | f.h.colours[i], 0);
}

/* At any place and size of the picture, one pixel shows, in its channel's colour. */
TEST(one_pixel_shows) {
    static const uint32_t SIZES[] = {1024, 96, 40, 10, 1};
    for (int channel = 0; channel < CHANNELS; channel++)
        for (int y = 0; y < H; y += 5)
            for (int x = y % 7; x < W; x += 13) {
                *at(f.a, channel, x, y) = 0.03f;
                for (size_t k = 0; k < COUNT(SIZES); k++) {
                    make(SIZES[k]);
                    const heat *h = &f.h;
                    size_t n = (size_t)h->width * h->height, lit = 0, hot = 0;
                    for (size_t i = 0; i < n; i++) {
                        const uint8_t *p = h->amplified + 3 * i, *q = h->colours + 3 * i;
                        lit += p[0] || p[1] || p[2];
                        hot += q[0] == 255 && q[1] == 250;
                        if (!(p[0] || p[1] || p[2])) continue;
                        /* 20 times 0.03 is 0.6: bright, and not cut off. */
                        int bright = channel == 0 ? 0 : 3 - channel;
                        assert_in_range(p[bright], 190, 220);
                        for (int i3 = 0; i3 < 3; i3++)
                            assert_int_equal(p[i3] > 0, channel == 0 || i3 == bright);
                    }
                    assert_int_equal(lit, 1);
                    assert_int_equal(hot, 1);
                    assert_true(h->gain == 20);
                    assert_int_equal(counted(h), W * H * CHANNELS);
                    assert_int_equal(h->equal, W * H * CHANNELS - 1);
                }
                *at(f.a, channel, x, y) = 0;
            }
}

/* Against the bin that logarithms in decimal text give. */
TEST(values_fall_into_their_bins) {
    static const struct {
        float value;
        int bin;
    } CASE[] = {{1e-30f, 0}, {2e-10f, 0}, {5e-10f, 1}, {2e-4f, 12},    {5e-4f, 13}, {2, 20},
                {7, 21},     {5e3f, 27},  {1e30f, 27}, {INFINITY, 27}, {NAN, 27}};
    for (size_t i = 0; i < COUNT(CASE); i++) {
        *at(f.a, 2, 50, 20) = CASE[i].value;
        make(64);
        assert_int_equal(f.h.bin[CASE[i].bin], 1);
        assert_true(f.h.gain > 0 && isfinite(f.h.gain) && isfinite(f.h.high));
    }
    *at(f.a, 2, 50, 20) = 0;
}

/* One light that is far off does not hide what the others are. */
TEST(an_outlier_does_not_set_the_gain) {
    for (int i = 0; i < W * H; i++) at(f.a, 1, 0, 0)[i] = 0.02f;
    *at(f.a, 1, 3, 3) = 5000;
    make(1024);
    assert_true(f.h.gain == 20);
    assert_true(f.h.high == 5000);
    for (int i = 0; i < W * H; i++) at(f.a, 1, 0, 0)[i] = 0;
}

TEST(the_scale_brightens) {
    int last = -1;
    for (int i = 0; i <= 100; i++) {
        uint8_t c[3];
        heat_colour((float)i / 100, c);
        int grey = 2 * c[0] + 7 * c[1] + c[2];
        assert_true(grey > last);
        last = grey;
    }
}

RUN_TESTS(open_images, close_images)
