/* test_ledger.c - whole blooms: accounts that add up under every setting, numbers of every
 * magnitude, and what verify and threshold need of an image that is worked on in place. */
#include "unit/glare.h"

enum { W = 61, H = 43 };
static const char HALFS[] = "B:half G:half R:half", FLOATS[] = "B:float G:float R:float";

/* Light over four decades, black at the left, two suns, one at the border. */
static image *scene(const char *channels, double scale) {
    image *img = glare_image(channels, W, H);
    uint64_t seed = 7;
    for (int c = 0; c < img->head.part[0].channels; c++)
        for (int i = 0; i < W * H; i++) {
            double v = exp2(-12 + 12 * make_chance(&seed));
            if (i % W < 14) v = 0;
            if (i == 17 * W + 33) v = 3000;
            if (i == 5 * W + W - 1) v = 500;
            glare_put(img, c, (size_t)i, (float)(scale * v));
        }
    return img;
}

static const char *lopsided(void) {
    return glare_kernel("lop.exr", glare_lopsided, 24, 17, "B:float G:float R:float");
}

static bloom_report report_of(image *img, const char *kernel, const bloom_settings *s) {
    bloom_report r;
    glare_bloom(img, kernel, s, &r);
    return r;
}

static double sum_of(const image *img, int c) {
    double sum = 0;
    const image_part *p = &img->head.part[0];
    for (size_t i = 0; i < (size_t)image_width(p) * image_height(p); i++) {
        float v = glare_get(img, c, i);
        if (isfinite(v)) sum += (double)v;
    }
    return sum;
}

/* Fails where a channel is off by more than a part of the truth and what is dark. */
static void check_near(const char *what, const image *got, const image *truth, int c, double part,
                       double dark) {
    const image_part *p = &got->head.part[0];
    for (size_t i = 0; i < (size_t)image_width(p) * image_height(p); i++) {
        double is = (double)glare_get(got, c, i), want = (double)glare_get(truth, c, i);
        if (!(is >= 0) || !(fabs(is - want) <= part * want + dark))
            fail_msg("%s, %s: pixel %zu is %g, should be %g", what, p->channel[c].name, i, is,
                     want);
    }
}

/* Blooms and checks every row against sums of the image as it came and as it is now. */
static bloom_report balance(const char *what, image *img, const bloom_settings *s) {
    double in[8];
    int channels = img->head.part[0].channels;
    for (int c = 0; c < channels; c++) in[c] = sum_of(img, c);
    const bloom_report r = report_of(img, lopsided(), s);
    assert_int_equal(r.ledger_rows, 3);
    for (uint32_t i = 0; i < r.ledger_rows; i++) {
        const ledger_row *row = &r.ledger[i];
        int c = image_find_channel(&img->head.part[0], row->channel);
        assert_true(c >= 0);
        double out = sum_of(img, c), size = fmax(in[c], out);
        bool half = img->head.part[0].channel[c].type == PIXEL_HALF;
        if (!(fabs(ledger_gap(row)) <= 1e-6))
            fail_msg("%s: %s has a gap of %g", what, row->channel, ledger_gap(row));
        CHECK_LE(fabs(row->in + row->gained - row->out - row->spilled - row->bad - row->overflow -
                      row->negative),
                 1e-6 * size);
        CHECK_LE(fabs(row->in - in[c]), 1e-7 * size);
        /* The sum of what is stored. Rounding may put each pixel off by half an ulp, and averages
         * out. */
        CHECK_LE(fabs(row->out - out), (half ? 0x1p-11 : 1e-7) * size);
        CHECK_LE(row->negative, 0);
    }
    return r;
}

TEST(every_border_and_setting) {
    for (int i = 0; i < 4 * BORDERS * BORDERS; i++) {
        bloom_settings s = glare_settings("cpu");
        char what[80];
        s.border[0] = (plan_border)(i % BORDERS);
        s.border[1] = (plan_border)(i / BORDERS % BORDERS);
        s.sharpen = i % 3 * 0.2;
        s.kernel.normalize = (psf_normalize)(i / 7 % 4);
        s.threshold = i % 5 == 2 ? 2 : 0;
        s.knee = i % 5 == 2 ? 1.5 : 0;
        s.kernel.correlate = i % 7 == 3;
        /* With x first the CPU engine hands out rows, with y first it does not. */
        s.order = i % 5 < 3 ? AXIS_X : AXIS_Y;
        if (i % 6 == 5) s.precision = PRECISION_FLOAT64;
        bool any_sum = s.kernel.normalize == PSF_NONE;
        OWN(image) *img = scene(i % 2 || any_sum ? FLOATS : HALFS, any_sum ? 1e-3 : 1);
        snprintf(what, sizeof what, "%s %s, setting %d", plan_border_name(s.border[0]),
                 plan_border_name(s.border[1]), i);
        const bloom_report r = balance(what, img, &s);
        for (int c = 0; s.kernel.normalize == PSF_PER_CHANNEL && c < 3; c++)
            CHECK_LE(fabs(r.ledger[c].gained), 1e-6 * r.ledger[c].in);
        if (any_sum && s.threshold == 0) CHECK_LE(r.ledger[0].in, r.ledger[0].gained);
    }
}

/* The light that spills into the dark is the light that a wider window holds in addition. */
TEST(a_wider_window_holds_what_spilled) {
    bloom_settings s = glare_settings("cpu");
    s.kernel.normalize = PSF_PER_CHANNEL;
    OWN(image) *img = scene(FLOATS, 1), *wide = scene(FLOATS, 1);
    const bloom_report r = balance("keep", img, &s);
    s.window = WINDOW_GROW;
    const bloom_report all = balance("grow", wide, &s);
    for (int c = 0; c < 3; c++) {
        CHECK_LE(1, r.ledger[c].spilled);
        CHECK_LE(fabs(all.ledger[c].spilled), 1e-9 * all.ledger[c].in);
        CHECK_LE(fabs(all.ledger[c].out - r.ledger[c].out - r.ledger[c].spilled),
                 2e-6 * r.ledger[c].in);
    }
}

/* `out` is what the file holds; what the display window cuts off has spilled. */
TEST(a_smaller_window_spills_what_it_cuts) {
    for (int t = 0; t < 2; t++) {
        bloom_settings s = glare_settings("cpu");
        s.kernel.normalize = PSF_PER_CHANNEL;
        OWN(image) *img = scene(t ? FLOATS : HALFS, 1), *all = glare_copy(img);
        balance("keep", all, &s);
        s.window = WINDOW_DISPLAY;
        img->head.part[0].display = (image_box){10, 5, 29, 24};
        const bloom_report r = balance("display", img, &s);
        assert_int_equal(image_width(&img->head.part[0]), 20);
        for (int c = 0; c < 3; c++) CHECK_LE(r.ledger[c].out, 0.9 * sum_of(all, c));
    }
}

TEST(bad_pixels_are_entered) {
    for (int i = 0; i < 4; i++) {
        bloom_settings s = glare_settings("cpu");
        s.nan = i % 2 ? NAN_INTERPOLATE : NAN_ZERO;
        OWN(image) *img = scene(i / 2 ? FLOATS : HALFS, 1);
        for (size_t k = 0; k < 12; k++) glare_put(img, 1, 20 * W + 30 + k, k % 2 ? NAN : INFINITY);
        const bloom_report r = balance("bad pixels", img, &s);
        assert_int_equal(r.sum.bad, 12);
        for (int k = 0; k < SCAN_BAD; k++) {
            assert_string_equal(r.sum.first_bad[k].channel, "G");
            assert_true(r.sum.first_bad[k].x == 30 + k && r.sum.first_bad[k].y == 20);
        }
        const ledger_row *row = r.ledger;
        while (strcmp(row->channel, "G") != 0) row++;
        assert_int_equal(row->bad_pixels, 12);
        assert_true(s.nan == NAN_ZERO ? row->bad == 0 : row->bad < 0);
    }
}

TEST(what_halfs_cannot_hold) {
    for (int how = OVERFLOW_CLAMP; how <= OVERFLOW_ERROR; how++)
        for (int narrow = 0; narrow < 2; narrow++) {
            bloom_settings s = glare_settings("cpu");
            s.half_overflow = (bloom_overflow)how;
            s.half = narrow;
            s.kernel.normalize = PSF_NONE;
            OWN(image) *img = scene(narrow ? FLOATS : HALFS, 1);
            for (int i = 0; i < W; i++) glare_put(img, 2, (size_t)i, 65504);
            if (how == OVERFLOW_ERROR) {
                bloom_report r;
                CHECK_REFUSED(glare_try(img, lopsided(), &s, &r, &e), ERR_BAD_PIXELS, "");
                continue;
            }
            const bloom_report r = balance("overflow", img, &s);
            bool clamped = how == OVERFLOW_CLAMP;
            double over = 0;
            for (int c = 0; c < 3; c++) {
                pixel_type is = img->head.part[0].channel[c].type;
                assert_int_equal(is, clamped ? PIXEL_HALF : PIXEL_FLOAT);
                over += r.ledger[c].overflow;
            }
            assert_true(clamped ? over > 65504 : over == 0);
        }
}

/* Times a power of two, everything else is the same, to the bit where nothing is denormal. */
TEST(every_magnitude_is_alike) {
    const char *device;
    for (int d = 0; (device = glare_device(d)); d++)
        for (int power = -110; power <= 113; power += d ? 74 : 11) {
            char what[32];
            bloom_settings s = glare_settings(device);
            OWN(image) *img = scene(FLOATS, ldexp(1, power)),
                       *truth = glare_truth(img, lopsided(), &s);
            assert_true(report_of(img, lopsided(), &s).sum.promise.method.kept);
            snprintf(what, sizeof what, "times 2^%d", power);
            for (int c = 0; c < 3; c++)
                check_near(what, img, truth, c, 1e-3, ldexp(1e-9, power) + 0x1p-148);
        }
}

/* Also where y is first, and the result takes the place of what the engine made. The pixels are
 * lone ones, and what the transform makes is far darker than they are. */
TEST(predictions_scale_with_the_image) {
    static const int POWER[] = {0, -62, 70};
    const char *kernel = glare_kernel("power.exr", glare_power, 63, 63, "Y:float");
    for (int order = AXIS_X; order <= AXIS_Y; order++) {
        double floor[3];
        for (int i = 0; i < 3; i++) {
            bloom_settings s = glare_settings("cpu");
            s.order = (plan_axis_order)order;
            s.precision = PRECISION_FLOAT32;
            s.tolerance = 1e5; /* no method is chosen */
            OWN(image) *img = glare_image(FLOATS, W, H);
            for (int k = 0; k < 3 * W * H; k++)
                glare_put(img, k % 3, (size_t)k / 3, k / 3 % 97 ? 0 : ldexpf(1, POWER[i]));
            floor[i] = ldexp(report_of(img, kernel, &s).sum.promise.method.floor, -POWER[i]);
            CHECK_LE(fabs(floor[i] - floor[0]), 1e-4 * floor[0]);
        }
    }
}

/* A few of the largest floats add up to more than a float holds; beyond them is an error. */
TEST(the_largest_floats_are_accounted_for) {
    bloom_settings s = glare_settings("cpu");
    bloom_report r;
    s.kernel.normalize = PSF_PER_CHANNEL;
    OWN(image) *img = glare_image(FLOATS, 300, 30), *beyond = scene(FLOATS, 1e35);
    for (size_t i = 0; i < 3 * 300 * 30; i++) glare_put(img, (int)(i % 3), i / 3, 3e38f);
    assert_true(balance("the largest", img, &s).ledger[0].spilled > 3e38);
    s.kernel.normalize = PSF_NONE;
    CHECK_REFUSED(glare_try(beyond, lopsided(), &s, &r, &e), ERR_BAD_PIXELS, "");
}

/* Its channels span most of the range of floats, and no sum in doubles holds so much at once: the
 * report says that the promise is not kept, and every pixel is finite. */
TEST(the_sample_of_all_floats) {
    const char *path = make_shared("TestImages_WideFloatRange.exr"), *device;
    if (!path) skip();
    const char *kernel = glare_kernel("power.exr", glare_power, 63, 63, "Y:float");
    for (int d = 0; (device = glare_device(d)); d++) {
        OWN(image) *img = MADE(image_load(path, NULL, make_threads(), &e));
        bloom_settings s = glare_settings(device);
        s.layers = "*";
        assert_false(report_of(img, kernel, &s).sum.promise.method.kept);
        const image_part *p = &img->head.part[0];
        for (size_t i = 0; i < (size_t)image_width(p) * image_height(p); i++)
            assert_true(isfinite(glare_get(img, 0, i)));
    }
}

/* With everything that needs the image as it came: the excess, verify, the glare as a layer, alpha,
 * a wider window, planes of floats that are worked on in place and halfs that are not. */
TEST(settings_together) {
    static const char *const LIST[] = {"A:half B:half G:half R:half",
                                       "A:float B:float G:float R:float"};
    const char *device;
    for (int d = 0; (device = glare_device(d)); d++)
        for (int i = 0; i < (d ? 6 : 24); i++) {
            char what[300];
            bloom_settings s = glare_settings(device);
            s.verify = 60;
            s.threshold = i % 2 ? 1 : 0;
            s.knee = i % 2 ? 0.5 : 0;
            s.emit_layer = i % 3 == 0 ? "glare" : NULL;
            /* 1e-4 of the median of 2^-6, and the program's estimate of it. */
            double scale = i % 7 < 4 ? 1 : 1e-3, dark = 1e-3 * 1e-4 * 0x1p-6 * 1.2 * scale;
            s.order = i % 9 < 5 ? AXIS_X : AXIS_Y;
            s.alpha = i % 4 < 2 ? ALPHA_CONVOLVE : ALPHA_KEEP;
            s.window = i % 6 < 2 ? WINDOW_GROW : WINDOW_KEEP;
            if (d == 0 && i % 8 == 7) s.precision = PRECISION_FLOAT64;
            OWN(image) *img = scene(LIST[i % 5 < 3], scale);
            OWN(image) *truth = glare_truth(img, lopsided(), &s);
            const bloom_report r = report_of(img, lopsided(), &s);
            assert_true(r.sum.promise.method.kept && r.sum.verified.found.pixels > 100);
            assert_int_equal(r.sum.verified.found.broken, 0);
            const image_part *p = &img->head.part[0];
            assert_int_equal(p->channels, s.emit_layer ? 7 + (s.alpha == ALPHA_CONVOLVE) : 4);
            snprintf(what, sizeof what, "%s, settings %d", device, i);
            for (int c = 0; c < p->channels; c++) {
                double unit = p->channel[c].type == PIXEL_HALF ? 0x1p-10 : 0;
                /* The glare alone is dark where the rest of the pixel is not. */
                bool alone = strncmp(p->channel[c].name, "glare", 5) == 0;
                check_near(what, img, truth, c, 1e-3 + unit, alone ? 1e-4 : dark);
            }
        }
}

/* A row of half floats that is read where it is written, and has to be made again because noise is
 * below zero there. */
TEST(rows_made_again) {
    const char *kernel = glare_kernel("bell.exr", glare_bell, 41, 41, FLOATS);
    for (int t = 0; t < 2; t++) {
        bloom_settings s = glare_settings("cpu");
        s.precision = PRECISION_FLOAT32;
        s.tolerance = 1e5; /* no method is chosen */
        OWN(image) *img = glare_image(t ? FLOATS : HALFS, 320, 90);
        for (int i = 0; i < 3 * 320 * 90; i++) {
            int x = i / 3 % 320;
            glare_put(img, i % 3, (size_t)i / 3, x > 250 && x < 300 ? 1000 : 0);
        }
        OWN(image) *truth = glare_truth(img, kernel, &s);
        assert_true(report_of(img, kernel, &s).ledger[0].negative_pixels > 0);
        for (int c = 0; c < 3; c++)
            check_near("made again", img, truth, c, t ? 1e-5 : 0x1p-10, 1e-3);
    }
}

/* sharpen 1 gives every bit back: zeros with a sign, denormals, halves that no float32 transform
 * would return. */
TEST(all_sharpened) {
    static const float ODD[] = {-0.0f, 1e-42f, 3e38f, -7};
    const char *device;
    for (int i = 0; (device = glare_device(i / 2)); i++) {
        bloom_settings s = glare_settings(device);
        OWN(image) *img = scene(i % 2 ? FLOATS : HALFS, 1);
        for (size_t k = 0; k < 4; k++) glare_put(img, 0, k, ODD[k]);
        OWN(image) *before = glare_copy(img);
        s.sharpen = 1;
        report_of(img, lopsided(), &s);
        check_same_pixels(img, before);
    }
}

TEST(precision_is_obeyed) {
    for (int p = PRECISION_FLOAT32; p <= PRECISION_FLOAT64; p++)
        for (int close = 0; close < 2; close++) {
            bloom_settings s = glare_settings("cpu");
            s.precision = (plan_precision)p;
            s.tolerance = close ? 1e-9 : 100;
            OWN(image) *img = scene(FLOATS, 1);
            const bloom_report r = report_of(img, lopsided(), &s);
            assert_int_equal(r.sum.promise.method.precision, p);
            if (!close || p == PRECISION_FLOAT32)
                assert_int_equal(r.sum.promise.method.kept, !close);
        }
}

RUN_TESTS(NULL, NULL)
