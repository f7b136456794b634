/* What bloom_expect makes ready is what bloom_image then finds, and the result is the same. */
#include "unit/glare.h"

#include <pthread.h>
#include <unistd.h>

enum { W = 97, H = 61 };

typedef struct {
    const bloom *b;
    const image_header *h;
    double seconds; /* of the spectrum */
    pthread_t thread;
} expecting;

static void *expect_main(void *arg) {
    expecting *x = arg;
    x->seconds = bloom_expect(x->b, x->h);
    return NULL;
}

/* Threads that expect an image, as many as `several`, or one with an image that comes before all is
 * ready: `after` microseconds after the thread has begun. */
static void check(const char *channels, const bloom_settings *s, int several, long after) {
    const char *kernel = glare_kernel("kernel.exr", glare_power, 33, 21, "R:float G:float B:float");
    OWN(image) *alone = glare_image(channels, W, H), *got = glare_copy(alone);
    bloom_report plain, r; /* in floats, as is expected */
    glare_bloom(alone, kernel, s, &plain);
    assert_true(plain.sum.spectrum_seconds > 0);
    OPEN(bloom) *b = MADE(bloom_open(s, kernel, make_threads(), &e));
    OWN(image) *like = glare_copy(got);
    expecting x[3];
    double seconds = 0;
    for (int i = 0; i < several; i++) {
        x[i] = (expecting){.b = b, .h = &like->head};
        assert_int_equal(pthread_create(&x[i].thread, NULL, expect_main, &x[i]), 0);
    }
    if (several == 1) usleep((useconds_t)after);
    if (several == 1) CHECK_OK(bloom_image(b, got, &r, &e));
    for (int i = 0; i < several; i++) {
        pthread_join(x[i].thread, NULL);
        seconds += x[i].seconds;
    }
    if (several > 1) CHECK_OK(bloom_image(b, got, &r, &e));
    assert_true(several == 1 ? r.sum.spectrum_seconds > 0
                             : seconds > 0 && r.sum.spectrum_seconds == seconds);
    check_same_pixels(alone, got);
}

TEST(is_waited_for) {
    if (!glare_device(0)) skip();
    bloom_settings s = glare_settings(glare_device(0));
    for (long i = 0; i < 8; i++) check("R:half G:half B:half", &s, 1, 100 * i);
    s.tolerance = 1e-5; /* another method follows */
    for (long i = 0; i < 8; i++) check("R:float G:float B:float", &s, 1, 100 * i);
}

TEST(is_found) {
    const char *device;
    for (int i = 0; (device = glare_device(i)); i++) {
        bloom_settings s = glare_settings(device);
        s.precision = PRECISION_FLOAT32; /* auto waits for the pixels to decide */
        check("R:half G:half B:half", &s, 3, 0);
        if (!i) check("R:float G:float B:float", &s, 3, 0); /* a driver compiles for each */
        if (!i) check("Y:half", &s, 3, 0);
        s.window = WINDOW_GROW;
        check("A:half B:half G:half R:half", &s, 3, 0);
        s.window = WINDOW_KEEP;
        s.border[PLAN_X] = BORDER_MIRROR;
        check("A:half B:half G:half R:half", &s, 3, 0);
    }
    if (!glare_device(0)) skip();
    bloom_settings s = glare_settings(glare_device(0));
    s.precision = PRECISION_FLOAT64;
    check("R:half G:half B:half", &s, 3, 0);
}

/* Nothing is told of what cannot be done, or is not needed; it is told when it is tried. */
TEST(failures_wait) {
    bloom_report r;
    if (!glare_device(0)) skip();
    const char *kernel = glare_kernel("kernel.exr", glare_power, 9, 9, "Y:float");
    bloom_settings s = glare_settings(glare_device(0));
    OWN(image) *img = glare_image("Z:float id:uint", W, H);
    OPEN(bloom) *b = MADE(bloom_open(&s, kernel, make_threads(), &e));
    assert_true(bloom_expect(b, &img->head) == 0);
    CHECK_REFUSED(bloom_image(b, img, &r, &e), ERR_DATA, "no colour layer");
    bloom_close(&b);
    image_free(&img);
    img = glare_image("R:half G:half B:half", W, H);
    s.device = "none of these";
    e = (err){0};
    CHECK_OK((b = bloom_open(&s, kernel, make_threads(), &e)));
    bloom_expect(b, &img->head);
    CHECK_REFUSED(bloom_image(b, img, &r, &e), ERR_NO_DEVICE, "");
}

RUN_TESTS(NULL, NULL)
