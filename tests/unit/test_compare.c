/* Comparison of images, against a slow count of its own, and its verdicts. */
#include "image/compare.h"
#include "unit/check.h"
#include "unit/make_image.h"

static const compare_limits STRICT = {
    .fail = 1e-6, .warn = 1e-6, .hard_fail = INFINITY, .hard_warn = INFINITY};

/* Channels of floats with names of one letter. */
static image *make(uint32_t w, uint32_t h, const char *names) {
    char list[80] = "";
    for (; *names; names++) snprintf(list + strlen(list), 9, "%c:float ", *names);
    return make_blank(list, 3, -2, w, h);
}

static float *at(image *img, int channel, uint32_t x, uint32_t y) {
    return (float *)img->plane[0][channel] + (size_t)y * image_width(&img->head.part[0]) + x;
}

static void fill(image *img, uint64_t seed) {
    const image_part *p = &img->head.part[0];
    for (int c = 0; c < p->channels; c++)
        for (uint32_t i = 0; i < image_width(p) * image_height(p); i++)
            at(img, c, 0, 0)[i] = (float)make_chance(&seed);
}

static compare_verdict compare(comparison *c, const image *a, const image *b,
                               const compare_limits *l, int threads) {
    par *p = par_open(threads, &e);
    CHECK_OK(compare_parts(c, &(compare_pair){a, b, 0}, l, p, &e));
    par_close(&p);
    return c->verdict;
}

TEST(figures) {
    enum { W = 13, H = 7 };
    OWN(image) *a = make(W, H, "ABGR"), *b = make(W, H, "ABGR");
    fill(a, 1);
    fill(b, 2);
    compare_limits l = STRICT;
    l.fail = 0.3;
    l.fail_relative = 0.5;
    l.warn = 0.1;
    double sum = 0, squares = 0, largest = 1, max = 0;
    uint64_t failed = 0, warned = 0;
    for (uint32_t y = 0; y < H; y++)
        for (uint32_t x = 0; x < W; x++) {
            int f = 0, w = 0;
            for (int c = 0; c < 4; c++) {
                double p = *at(a, c, x, y), q = *at(b, c, x, y), d = fabs(p - q);
                sum += d;
                squares += d * d;
                largest = fmax(largest, fmax(p, q));
                max = fmax(max, d);
                if (d > 0.3 && d > 0.5 * (p + q) / 2) f = 1;
                if (d > 0.1) w = 1;
            }
            failed += (uint64_t)f;
            warned += (uint64_t)w;
        }
    for (int threads = 1; threads <= 3; threads++) {
        OWN(comparison) c;
        assert_int_equal(compare(&c, a, b, &l, threads), COMPARE_FAIL);
        CHECK_LE(fabs(c.mean - sum / (W * H * 4)), 1e-12);
        CHECK_LE(fabs(c.rms - sqrt(squares / (W * H * 4))), 1e-12);
        CHECK_LE(fabs(c.psnr - 20 * log10(largest / sqrt(squares / (W * H * 4)))), 1e-9);
        assert_true(c.max == max);
        assert_int_equal(c.failed, failed);
        assert_int_equal(c.warned, warned);
        assert_true(failed > 5 && warned > failed && warned < W * H + 1);
        float worst_a =
            *at(a, c.channel[c.max_channel].a, (uint32_t)(c.max_x - 3), (uint32_t)(c.max_y + 2));
        float worst_b =
            *at(b, c.channel[c.max_channel].b, (uint32_t)(c.max_x - 3), (uint32_t)(c.max_y + 2));
        assert_true(fabs((double)worst_a - worst_b) == max);
        /* R first, A last. */
        assert_int_equal(c.channel[0].a, 3);
        assert_int_equal(c.channel[3].a, 0);
    }
}

TEST(same_images) {
    OWN(image) *a = make(5, 4, "BGR");
    fill(a, 3);
    *at(a, 0, 1, 1) = NAN;
    *at(a, 1, 1, 1) = INFINITY;
    OWN(comparison) c;
    assert_int_equal(compare(&c, a, a, &STRICT, 1), COMPARE_MATCH);
    assert_true(c.max == 0 && c.mean == 0 && isinf(c.psnr) && c.failed == 0);
}

/* One pixel that is not finite on one side only, or differently so, is a failure. */
TEST(not_finite) {
    static const float PAIR[][2] = {
        {NAN, 1}, {1, NAN}, {INFINITY, 1}, {1, -INFINITY}, {INFINITY, -INFINITY}, {NAN, INFINITY}};
    for (size_t i = 0; i < COUNT(PAIR); i++) {
        OWN(image) *a = make(5, 4, "Y"), *b = make(5, 4, "Y");
        *at(a, 0, 2, 3) = PAIR[i][0];
        *at(b, 0, 2, 3) = PAIR[i][1];
        compare_limits l = STRICT;
        l.fail = 1e30;
        l.fail_relative = 10;
        OWN(comparison) c;
        assert_int_equal(compare(&c, a, b, &l, 1), COMPARE_FAIL);
        assert_int_equal(c.failed, 1);
        assert_true(isinf(c.max) && isnan(c.mean) && isnan(c.rms) && isnan(c.psnr));
        assert_int_equal(c.max_x, 5);
        assert_int_equal(c.max_y, 1);
    }
}

TEST(other_sizes_and_channels) {
    OWN(image) *a = make(5, 4, "BGR");
    image *b[] = {make(5, 5, "BGR"), make(5, 4, "BG"), make(5, 4, "ABGR"), make(5, 4, "XYZ"),
                  make_blank("B:float G:float R:float", 4, -2, 5, 4)};
    for (int i = 0; i < 5; i++) {
        OWN(comparison) c;
        assert_int_equal(compare(&c, a, b[i], &STRICT, 1), COMPARE_SIZE);
        assert_true(strlen(c.differs) > 10);
        image_free(&b[i]);
    }
}

/* What fails and warns, in one pixel and at all, and further members. */
#define LIMITS(fail_, warn_, hard_fail_, hard_warn_, ...)                                       \
    {                                                                                           \
        .fail = (fail_), .warn = (warn_), .hard_fail = (hard_fail_), .hard_warn = (hard_warn_), \
        __VA_ARGS__                                                                             \
    }

/* Two of 100 pixels differ by 0.5, and three more by 0.05. idiff 2.4.7 says the same about such a
 * pair, except in the rows that are marked: there a limit counts alone, and idiff says that the
 * images match. */
TEST(verdicts) {
    static const struct {
        compare_limits l;
        compare_verdict want;
    } CASE[] = {
        {LIMITS(1e-6, 1e-6, INFINITY, INFINITY, .warn_percent = 0), COMPARE_FAIL},
        {LIMITS(0.6, 1e-6, 0.1, 0.1, .warn_percent = 0), COMPARE_FAIL}, /* alone */
        {LIMITS(0.6, 1e-6, 0.6, 0.1, .warn_percent = 0), COMPARE_WARN}, /* alone */
        {LIMITS(0.6, 1e-6, 0.6, 0.6, .warn_percent = 0), COMPARE_MATCH},
        {LIMITS(0.6, 0.1, 0.6, 0.6, .warn_given = true), COMPARE_WARN}, /* alone */
        {LIMITS(0.6, 0.1, 0.6, 0.6, .warn_percent = 2, .warn_given = true), COMPARE_MATCH},
        {LIMITS(0.6, 0, 0.4, INFINITY, .allow_failures = 1), COMPARE_FAIL}, /* alone */
        {LIMITS(0.6, 0.6, 0.4, 0.4, .allow_failures = 2), COMPARE_MATCH},
        {LIMITS(0.6, 0.1, 0.6, 0.6, .allow_failures = 2, .warn_given = true), COMPARE_MATCH},
        {LIMITS(0.1, 0.1, 0.4, INFINITY, .fail_relative = 2.1), COMPARE_FAIL}, /* alone */
        /* More fail than are allowed to, within the percentage: then one is enough for hardfail. */
        {LIMITS(0.01, 0, 0.4, 1, .fail_percent = 50, .allow_failures = 4), COMPARE_FAIL},
        {LIMITS(0.1, 0.1, INFINITY, INFINITY, .fail_percent = 2), COMPARE_WARN},
        {LIMITS(0.1, 0.1, INFINITY, INFINITY, .fail_percent = 1.9), COMPARE_FAIL},
        {LIMITS(0.1, 0.1, INFINITY, INFINITY, .fail_percent = 2, .warn_percent = 2), COMPARE_MATCH},
        {LIMITS(0.1, 0.01, INFINITY, INFINITY, .fail_percent = 2, .warn_percent = 4), COMPARE_WARN},
        {LIMITS(0.1, 0.01, INFINITY, 0.4, .fail_percent = 2, .warn_percent = 5), COMPARE_WARN},
        {LIMITS(0.1, 0.01, 0.4, INFINITY, .fail_percent = 2, .warn_percent = 5), COMPARE_FAIL},
        {LIMITS(0.1, 0.01, 0.4, 0.4, .allow_failures = 2), COMPARE_MATCH},
        {LIMITS(0.1, 0.01, INFINITY, INFINITY, .allow_failures = 1), COMPARE_FAIL},
        {LIMITS(0.01, 1e-6, INFINITY, INFINITY, .fail_relative = 1.9), COMPARE_FAIL},
        {LIMITS(0.01, 1e-6, INFINITY, INFINITY, .fail_relative = 2.1), COMPARE_MATCH},
    };
    OWN(image) *a = make(10, 10, "Y"), *b = make(10, 10, "Y");
    for (uint32_t i = 0; i < 5; i++) *at(b, 0, i, i) = i < 2 ? 0.5f : 0.05f;
    for (size_t i = 0; i < COUNT(CASE); i++) {
        OWN(comparison) c;
        if (compare(&c, a, b, &CASE[i].l, 1) != CASE[i].want)
            fail_msg("case %zu: %d", i, c.verdict);
        if (c.verdict == COMPARE_FAIL || c.verdict == COMPARE_WARN)
            assert_true(c.over == (c.limit < 0.04 ? 5 : 2) && c.max > c.limit);
    }
}

/* Integers of 32 bits are told apart exactly: floats would round them. */
TEST(ids) {
    OWN(image) *a = make(5, 4, "Y"), *b = make(5, 4, "Y");
    a->head.part[0].channel[0].type = b->head.part[0].channel[0].type = PIXEL_UINT;
    for (int i = 0; i < 20; i++)
        ((uint32_t *)a->plane[0][0])[i] = ((uint32_t *)b->plane[0][0])[i] = 0xfffffffe;
    ((uint32_t *)b->plane[0][0])[7] = 0xffffffff;
    OWN(comparison) c;
    assert_int_equal(compare(&c, a, b, &STRICT, 1), COMPARE_FAIL);
    assert_true(c.failed == 1 && c.max == 1 && c.max_x == 5 && c.max_y == -1);
}

RUN_TESTS(NULL, NULL)
