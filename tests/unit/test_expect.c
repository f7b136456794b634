/* What bloom_expect makes ready is what bloom_image then finds, and the result is the same. */
#include "unit/glare.h"

#include <pthread.h>
#include <time.h>

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

static void check(const char *channels, const bloom_settings *s) {
    const char *kernel = glare_kernel("kernel.exr", glare_power, 33, 21, "R:float G:float B:float");
    OWN(image) *alone = glare_image(channels, W, H), *after = glare_copy(alone);
    bloom_report plain, r; /* in floats, as is expected */
    glare_bloom(alone, kernel, s, &plain);
    assert_true(plain.spectrum_seconds > 0);
    OPEN(bloom) *b = bloom_open(s, kernel, make_threads(), &e);
    CHECK_OK(b);
    expecting x[3];
    for (int i = 0; i < 3; i++) {
        x[i] = (expecting){.b = b, .h = &after->head};
        assert_int_equal(pthread_create(&x[i].thread, NULL, expect_main, &x[i]), 0);
    }
    double seconds = 0;
    for (int i = 0; i < 3; i++) {
        pthread_join(x[i].thread, NULL);
        seconds += x[i].seconds;
    }
    assert_true(seconds > 0);
    CHECK_OK(bloom_image(b, after, &r, &e));
    assert_true(r.spectrum_seconds == seconds); /* it was there */
    check_same_pixels(alone, after);
}

/* Images come before all is ready. */
static void check_beside(const char *channels, const bloom_settings *s) {
    const char *kernel = glare_kernel("kernel.exr", glare_power, 33, 21, "R:float G:float B:float");
    OWN(image) *alone = glare_image(channels, W, H), *first = glare_copy(alone);
    bloom_report plain, r;
    glare_bloom(alone, kernel, s, &plain);
    for (int i = 0; i < 8; i++) {
        OWN(image) *after = glare_copy(first);
        OPEN(bloom) *b = bloom_open(s, kernel, make_threads(), &e);
        CHECK_OK(b);
        expecting x = {.b = b, .h = &first->head};
        assert_int_equal(pthread_create(&x.thread, NULL, expect_main, &x), 0);
        struct timespec some = {0, i * 100000};
        nanosleep(&some, NULL);
        CHECK_OK(bloom_image(b, after, &r, &e));
        pthread_join(x.thread, NULL);
        assert_true(r.spectrum_seconds > 0);
        check_same_pixels(alone, after);
    }
}

TEST(is_waited_for) {
    if (!glare_device(0)) skip();
    bloom_settings s = glare_settings(glare_device(0));
    check_beside("R:half G:half B:half", &s);
    s.tolerance = 1e-5; /* another method follows */
    check_beside("R:float G:float B:float", &s);
}

TEST(is_found) {
    const char *device;
    for (int i = 0; (device = glare_device(i)); i++) {
        bloom_settings s = glare_settings(device);
        s.tolerance = 100; /* floats do, also in a window that has grown into the dark */
        check("R:half G:half B:half", &s);
        check("R:float G:float B:float", &s);
        check("Y:half", &s);
        s.window = WINDOW_GROW;
        check("A:half B:half G:half R:half", &s);
        s.window = WINDOW_KEEP;
        s.border[PLAN_X] = BORDER_MIRROR;
        check("A:half B:half G:half R:half", &s);
    }
    if (!glare_device(0)) skip();
    bloom_settings s = glare_settings(glare_device(0));
    s.precision = PRECISION_FLOAT64;
    check("R:half G:half B:half", &s);
}

/* Nothing is told of what cannot be done, or is not needed; it is told when it is tried. */
TEST(failures_wait) {
    bloom_report r;
    if (!glare_device(0)) skip();
    const char *kernel = glare_kernel("kernel.exr", glare_power, 9, 9, "Y:float");
    bloom_settings s = glare_settings(glare_device(0));
    OWN(image) *img = glare_image("Z:float id:uint", W, H);
    OPEN(bloom) *b = bloom_open(&s, kernel, make_threads(), &e);
    CHECK_OK(b);
    assert_true(bloom_expect(b, &img->head) == 0);
    assert_false(bloom_image(b, img, &r, &e));
    assert_non_null(strstr(e.msg, "no colour layer"));
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
