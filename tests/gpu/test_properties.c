/* test_properties.c - what a convolution is known by, from an image and a kernel's file to an image
 * on every device. That each pixel is the definition's, test_promise.c has. */
#include "gpu/pipeline.h"
#include "unit/glare.h"

enum { W = 66, H = 50, KW = 21, KH = 13, CX = 8, CY = 9 };
static const char COLOURS[] = "B:float G:float R:float";

static double turned(double x, double y, int channel) {
    return glare_lopsided(-x, -y, channel);
}

static bloom_settings settings_of(const char *device) {
    bloom_settings s = glare_settings(device);
    s.kernel.center = PSF_AT;
    s.kernel.at[0] = CX, s.kernel.at[1] = CY;
    return s;
}

/* An impulse gives the kernel, the way up it is in its file, its centre on the impulse; and the
 * same bits again after another frame. */
TEST(an_impulse_gives_the_kernel) {
    static const double LUMINANCE[] = {0.0721923, 0.7151687, 0.2126390}; /* of B, G and R */
    const char *device, *kernel = glare_kernel("k.exr", glare_lopsided, KW, KH, COLOURS);
    double sum = 0;
    for (int i = 0; i < 3 * KW * KH; i++)
        sum += LUMINANCE[i % 3] * glare_lopsided(i / 3 % KW - KW / 2, i / 3 / KW - KH / 2, i % 3);
    for (int d = 0; (device = glare_device(d)); d++) {
        bloom_settings s = settings_of(device);
        bloom_report r;
        OWN(image) *got = glare_image(COLOURS, W, H), *other = glare_copy(got);
        for (int i = 0; i < 3 * W * H; i++)
            glare_put(got, i % 3, (size_t)i / 3, i / 3 == 20 * W + 30);
        OWN(image) *again = glare_copy(got);
        OPEN(bloom) *b = bloom_open(&s, kernel, make_threads(), &e);
        CHECK_OK(b && bloom_image(b, got, &r, &e));
        CHECK_OK(bloom_image(b, other, &r, &e) && bloom_image(b, again, &r, &e));
        check_same_pixels(got, again);
        for (int i = 0; i < 3 * W * H; i++) {
            int x = i / 3 % W - 30 + CX, y = i / 3 / W - 20 + CY;
            bool in = x >= 0 && x < KW && y >= 0 && y < KH;
            double want = in ? glare_lopsided(x - KW / 2, y - KH / 2, i % 3) / sum : 0;
            CHECK_LE(fabs((double)glare_get(got, i % 3, (size_t)i / 3) - want), 1e-6 * 6 / sum);
        }
    }
}

/* Correlating with the turned kernel is convolving with the kernel: the same bits. */
TEST(correlation) {
    const char *device, *kernel = glare_kernel("k.exr", glare_lopsided, KW, KH, COLOURS),
                        *other = glare_kernel("turned.exr", turned, KW, KH, COLOURS);
    for (int d = 0; (device = glare_device(d)); d++) {
        bloom_settings s = settings_of(device);
        bloom_report r;
        OWN(image) *a = glare_image(COLOURS, W, H), *b = glare_copy(a);
        glare_bloom(a, kernel, &s, &r);
        s.kernel.at[0] = KW - 1 - CX, s.kernel.at[1] = KH - 1 - CY;
        s.kernel.correlate = true;
        glare_bloom(b, other, &s, &r);
        check_same_pixels(a, b);
    }
}

/* sharpen 1 gives every bit back: zeros with a sign, denormals, halves that no float32 transform
 * would return. */
TEST(all_sharpened) {
    const char *device, *kernel = glare_kernel("k.exr", glare_lopsided, KW, KH, COLOURS);
    static const float ODD[] = {-0.0f, 1e-42f, 3e38f, -7};
    for (int d = 0; (device = glare_device(d)); d++) {
        bloom_settings s = settings_of(device);
        bloom_report r;
        OWN(image) *img = glare_image(COLOURS, W, H);
        for (size_t i = 0; i < 4; i++) glare_put(img, 0, i, ODD[i]);
        OWN(image) *before = glare_copy(img);
        s.sharpen = 1;
        glare_bloom(img, kernel, &s, &r);
        check_same_pixels(img, before);
    }
}

RUN_TESTS(pipe_begin, pipe_end)
