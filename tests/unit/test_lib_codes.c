/* The C library with pixels of other programs: codes of 8 and 16 bits, colour spaces, pixels that
 * are not square; and settings that change from image to image. */
#include "colour/space.h"
#include "unit/lib_calls.h"

#include <unistd.h>

enum { PIXELS = W * H };

static uint32_t code_at(const void *codes, int32_t type, size_t i) {
    return type == FB_BYTE ? ((const uint8_t *)codes)[i] : ((const uint16_t *)codes)[i];
}

/* Planes of packed codes. */
static void packed(fb_plane to[4], void *codes, int32_t type, uint32_t channels) {
    const ptrdiff_t bytes = type == FB_BYTE ? 1 : 2;
    for (uint32_t c = 0; c < channels; c++)
        to[c] = (fb_plane){(char *)codes + (ptrdiff_t)c * bytes, (ptrdiff_t)channels * bytes,
                           (ptrdiff_t)channels * bytes * W, type, 0};
}

/* Codes that nothing changes come back. Others are those of the light, a step off at the most, and
 * the noise adds nothing in the mean: its variance is less than a quarter of a step. */
static void check_codes(int32_t type) {
    const double most = type == FB_BYTE ? 255 : 65535;
    static uint16_t in[4 * PIXELS], out[4 * PIXELS];
    static float light[4 * PIXELS], want[4 * PIXELS];
    fb_plane a[4], b[4];
    fb_settings set;
    fb_error e;
    double off = 0;
    for (size_t i = 0; i < 4 * PIXELS; i++) {
        const uint32_t code = (uint32_t)(number() * (most + 1));
        if (type == FB_BYTE)
            ((uint8_t *)in)[i] = (uint8_t)code;
        else
            in[i] = (uint16_t)code;
        light[i] = (float)(code / most);
    }
    packed(a, in, type, 4);
    packed(b, out, type, 4);
    fb_image is = image_of(a, b, W, H, 4);
    fb_settings_init(&set, sizeof set);
    for (int whole = 0; whole < 2; whole++) {
        set.amount = whole;
        OPEN(calls) o = open_calls(TAPS, TAPS, 3, &set);
        is.space = whole ? NULL : "srgb";
        LIB_OK(fb_bloom(o.s, &is, NULL, &e));
        bloom_floats(o.s, want, light, W, H, 4);
        for (size_t i = 0; i < 4 * PIXELS; i++) {
            const double got = code_at(out, type, i);
            if (!whole || i % 4 == 3) assert_true(got == code_at(in, type, i));
            if (whole) CHECK_LE(fabs(got - most * (double)want[i]), 1);
            off += whole ? got - most * (double)want[i] : 0;
        }
    }
    CHECK_LE(fabs(off), 6 * 0.5 * sqrt(3 * PIXELS));
}

TEST(codes_are_rounded_without_bias) {
    check_codes(FB_BYTE);
    check_codes(FB_SHORT);
}

/* Codes have no room below 0 and above 1, and say what they cut. */
TEST(codes_are_cut) {
    static uint8_t in[PIXELS], out[PIXELS], all[PIXELS];
    fb_plane a[4], b[4];
    fb_settings set;
    fb_error e;
    fb_report r = {.size = sizeof r};
    fb_settings_init(&set, sizeof set);
    set.tint[0] = set.tint[1] = set.tint[2] = 3;
    OPEN(calls) o = open_calls(TAPS, TAPS, 1, &set);
    memset(in, 255, sizeof in);
    memset(all, 255, sizeof all);
    packed(a, in, FB_BYTE, 1);
    packed(b, out, FB_BYTE, 1);
    const fb_image is = image_of(a, b, W, H, 1);
    LIB_OK(fb_bloom(o.s, &is, &r, &e));
    assert_memory_equal(out, all, sizeof all);
    assert_int_equal(r.clamped, PIXELS);
}

/* --- spaces ----------------------------------------------------------------------------------- */

/* Codes `from` of pixels with alpha into `to`, by the curve, or back. */
static void through_curve(float *to, const float *from, const curve *c, bool decodes) {
    for (size_t i = 0; i < 4 * PIXELS; i++) {
        const double alpha = (double)from[i | 3], by = alpha > 0 && alpha < 1 ? alpha : 1;
        const double v = (double)from[i];
        to[i] = i % 4 == 3
                    ? from[i]
                    : (float)(decodes ? by * c->decode(c, v / by) : by * c->encode(c, v / by));
    }
}

TEST(spaces_are_decoded_and_coded_again) {
    static const char *const NAME[] = {"logc3", "srgb", "g22", "acescct", "lin", "acescg"};
    static float in[4 * PIXELS], light[4 * PIXELS], want[4 * PIXELS], out[4 * PIXELS];
    fb_plane a[4], b[4];
    fb_error e;
    fb_settings set;
    fb_settings_init(&set, sizeof set);
    set.normalize = FB_NORMALIZE_CHANNEL; /* luminance depends on the primaries */
    OPEN(calls) o = open_calls(TAPS, TAPS, 3, &set);
    interleaved(a, in, FB_FLOAT, W, 4);
    interleaved(b, out, FB_FLOAT, W, 4);
    for (size_t i = 0; i < 4 * PIXELS; i++)
        in[i] = (float)(i % 4 == 3 ? 0.5 + 0.5 * number() : 0.4 * number());
    for (size_t i = 3; i < 4 * PIXELS; i += 8) in[i] = i % 3 ? 1 : 0;
    fb_image is = image_of(a, b, W, H, 4);
    for (size_t n = 0; n < COUNT(NAME); n++) {
        colour_space known;
        assert_true(space_find(&known, NAME[n]));
        through_curve(light, in, known.curve, true);
        bloom_floats(o.s, want, light, W, H, 4);
        through_curve(want, want, known.curve, false);
        is.space = NAME[n];
        LIB_OK(fb_bloom(o.s, &is, NULL, &e));
        for (size_t i = 0; i < 4 * PIXELS; i++)
            CHECK_LE(fabs((double)(out[i] - want[i])), 4e-6 * (1 + fabs((double)want[i])));
    }
    assert_int_equal(fb_apply_adjoint(o.s, &is, NULL, &e), FB_OK);
    is.space = "logc3";
    assert_int_equal(fb_apply_adjoint(o.s, &is, NULL, &e), FB_BAD_ARGUMENT);
    is.space = "logc9";
    assert_int_equal(fb_bloom(o.s, &is, NULL, &e), FB_BAD_SETTING);
    assert_non_null(strstr(e.text, "unknown colour space 'logc9'"));
}

/* A sentence calls settings by their names, and lines for other programs stay as they are. */
TEST(sentences_can_be_used_as_they_are) {
    fb_context *c = open_context();
    fb_kernel *k = NULL;
    fb_error e;
    char folder[] = "/tmp/fftbloom-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/photo.jpg", folder);
    FILE *f = fopen(path, "wb");
    assert_true(f && fwrite("\xff\xd8\xff\xe0 a JPEG file", 1, 16, f) == 16 && fclose(f) == 0);
    assert_int_equal(fb_kernel_open(&k, c, path, &e), FB_BAD_DATA);
    assert_non_null(strstr(e.text, "photo.jpg' --colorconvert sRGB linear -o "));
    assert_true(unlink(path) == 0 && rmdir(folder) == 0);
    OPEN(calls) o = open_calls(TAPS, TAPS, 1, NULL);
    float in[4] = {0, NAN, 0, 0}, out[4];
    fb_plane a[1], b[1];
    interleaved(a, in, FB_FLOAT, 2, 1);
    interleaved(b, out, FB_FLOAT, 2, 1);
    fb_image is = image_of(a, b, 2, 2, 1);
    assert_int_equal(fb_bloom(o.s, &is, NULL, &e), FB_BAD_PIXELS);
    assert_non_null(strstr(e.text, "use nan=zero or nan=interpolate"));
    fb_context_close(c);
}

/* --- shapes ----------------------------------------------------------------------------------- */

/* Returns the variance of the light of one bright pixel, along x and y. */
static void spread_of(double to[2], fb_session *s, double aspect) {
    static float in[PIXELS], out[PIXELS];
    fb_plane a, b;
    fb_error e;
    double sum = 0;
    to[0] = to[1] = 0;
    in[H / 2 * W + W / 2] = 1;
    interleaved(&a, in, FB_FLOAT, W, 1);
    interleaved(&b, out, FB_FLOAT, W, 1);
    fb_image is = image_of(&a, &b, W, H, 1);
    is.pixel_aspect = aspect;
    LIB_OK(fb_bloom(s, &is, NULL, &e));
    for (int i = 0; i < PIXELS; i++) {
        const double x = i % W - W / 2, y = i / W - H / 2, v = (double)out[i];
        sum += v, to[0] += v * x * x, to[1] += v * y * y;
    }
    to[0] /= sum, to[1] /= sum;
}

/* On pixels twice as wide a kernel has half as many of them. */
TEST(kernels_keep_their_shape) {
    double square[2], wide[2];
    fb_settings set;
    fb_error e;
    fb_context *c = open_context();
    fb_kernel *k;
    fb_settings_init(&set, sizeof set);
    LIB_OK(fb_kernel_make(&k, c, "{\"model\": \"gaussian\", \"sigma\": 6, \"taps\": 41}", &e));
    fb_session *s = open_session(k, &set);
    set.padding_x = set.padding_y = FB_PADDING_ZERO;
    spread_of(square, s, 0);
    spread_of(wide, s, 2);
    CHECK_LE(fabs(wide[0] / square[0] - 0.25), 0.01);
    CHECK_LE(fabs(wide[1] / square[1] - 1), 0.01);
    fb_session_close(s);
    fb_kernel_close(k);
    fb_context_close(c);
}

/* --- settings --------------------------------------------------------------------------------- */

static void count_spectra(void *user, int level, const char *text) {
    (void)level;
    *(int *)user += strstr(text, "an engine prepared") != NULL;
}

/* A session with another amount, tint or threshold takes over the spectrum of one before. */
TEST(spectra_outlive_settings) {
    int made = 0;
    const fb_context_options options = {.size = sizeof options,
                                        .device = "cpu",
                                        .threads = 2,
                                        .log = count_spectra,
                                        .log_level = FB_LOG_DEBUG,
                                        .user = &made};
    static float in[3 * PIXELS], out[3 * PIXELS];
    fb_context *c;
    fb_error e;
    LIB_OK(fb_context_open(&c, &options, &e));
    fb_kernel *k = open_kernel(c, TAPS, TAPS, 3);
    for (int i = 0; i < 3 * PIXELS; i++) in[i] = (float)number();
    for (int i = 0; i < 5; i++) {
        fb_settings set;
        fb_settings_init(&set, sizeof set);
        if (i & 1) set.amount = 0.5;
        if (i & 2) set.tint[0] = 2, set.tint[1] = set.tint[2] = 1;
        if (i & 4) set.threshold = 0.5, set.knee = 0.1;
        fb_session *s = open_session(k, &set);
        bloom_floats(s, out, in, W, H, 3);
        fb_session_close(s);
        assert_int_equal(made, 1);
    }
    fb_kernel_close(k);
    fb_context_close(c);
}

RUN_TESTS(NULL, NULL)
