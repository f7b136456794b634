/* test_straight.c - images of a sequence that are looked at while the engine reads them: byte by
 * byte what each gives on its own, also where the image turns out to need more than the one before,
 * and has the same account. */
#include "bloom/inside.h"
#include "unit/glare.h"

enum { CHANNELS = 3, KERNEL = 31, FRAMES = 12 };

/* Every pixel lit, over a decade. */
static void ordinary(image *img, uint32_t n, uint64_t seed) {
    for (int c = 0; c < CHANNELS; c++)
        for (uint32_t i = 0; i < n; i++) {
            double grain = (double)(make_random(&seed) >> 40) * 0x1p-24;
            glare_put(img, c, i, (float)(0.1 + grain * (1 + c)));
        }
}

typedef enum { PLAIN, SUN, BAD, BELOW, LARGE, SMALL, BLACK } kind;
static const kind FRAME[FRAMES] = {PLAIN, PLAIN, SUN,   PLAIN, PLAIN, BAD,
                                   PLAIN, BELOW, LARGE, PLAIN, SMALL, BLACK};

static image *make_frame(const char *channels, uint32_t w, uint32_t h, int index) {
    image *img = glare_image(channels, w, h);
    bool half = img->head.part[0].channel[0].type == PIXEL_HALF;
    uint32_t n = w * h, last = n - 1;
    ordinary(img, n, (uint64_t)index + 1);
    switch (FRAME[index]) {
    case PLAIN: break;
    case SUN: /* found when the last plane is read */
        for (uint32_t i = 0; i < n; i++) glare_put(img, 2, i, 1e-4f);
        glare_put(img, 2, last / 2, 6e4f);
        break;
    case BAD:
        glare_put(img, 1, last, NAN);
        glare_put(img, 1, w + 3, INFINITY);
        break;
    case BELOW: glare_put(img, 0, 5, -0.25f); break;
    case LARGE:
    case SMALL:
        for (uint32_t i = 0; i < n && !half; i++)
            glare_put(img, 1, i, glare_get(img, 1, i) * (FRAME[index] == LARGE ? 1e33f : 1e-33f));
        break;
    case BLACK:
        for (int c = 0; c < CHANNELS; c++)
            for (uint32_t i = 0; i < n; i++) glare_put(img, c, i, 0);
    }
    return img;
}

static void is_same_account(const bloom_report *a, const bloom_report *b) {
    assert_true(a->ledger_rows == CHANNELS && b->ledger_rows == CHANNELS);
    for (int c = 0; c < CHANNELS; c++) {
        const ledger_row *x = &a->ledger[c], *y = &b->ledger[c];
        CHECK_LE(fabs(ledger_gap(x)), 1e-6);
        CHECK_LE(fabs(x->in - y->in), 1e-6 * y->size);
        CHECK_LE(fabs(x->out - y->out), 1e-6 * y->size);
        CHECK_LE(fabs(x->spilled - y->spilled), 1e-6 * y->size);
        CHECK_LE(fabs(x->bad - y->bad), 1e-6 * y->size);
        assert_true(x->bad_pixels == y->bad_pixels && x->negative_pixels == y->negative_pixels);
    }
    assert_true(a->bad == b->bad);
    for (uint64_t i = 0; i < a->bad; i++) {
        assert_string_equal(a->first_bad[i].channel, b->first_bad[i].channel);
        assert_true(a->first_bad[i].x == b->first_bad[i].x &&
                    a->first_bad[i].y == b->first_bad[i].y);
    }
    const accuracy *x = &a->promise.method, *y = &b->promise.method;
    assert_true(x->kept == y->kept && x->precision == y->precision && x->spots == y->spots);
    assert_true(x->channel == y->channel && a->promise.attempts == b->promise.attempts);
    CHECK_LE(fabs(x->floor - y->floor), 1e-4 * y->floor);
}

static void one_size(const char *channels, uint32_t w, uint32_t h) {
    err e = {0};
    bloom_settings s = glare_settings("cpu");
    s.nan = NAN_ZERO;
    const char *kernel =
        glare_kernel("straight.exr", glare_power, KERNEL, KERNEL, "B:float G:float R:float");
    bloom *b = bloom_open(&s, kernel, make_threads(), &e);
    CHECK_OK(b, e);
    bloom_report *alone = malloc(sizeof *alone), *r = malloc(sizeof *r);
    for (int i = 0; i < FRAMES; i++) {
        image *img = make_frame(channels, w, h, i), *want = glare_copy(img);
        glare_bloom(want, kernel, &s, alone);
        /* Else none of this is about what it says. */
        if (i == 1 || i == 4) assert_true(b->straight && b->ready.plan.first == PLAN_X);
        CHECK_OK(bloom_image(b, img, r, &e), e);
        for (int c = 0; c < CHANNELS; c++)
            assert_memory_equal(img->plane[0][c], want->plane[0][c],
                                (size_t)w * h * pixel_bytes(img->head.part[0].channel[c].type));
        is_same_account(r, alone);
        if (i == 2) assert_false(b->straight);
        image_free(&img);
        image_free(&want);
    }
    free(alone);
    free(r);
    bloom_close(&b);
}

static void halfs_are_as_on_their_own(void **state) {
    (void)state;
    if (!WITH_FFTW) skip();
    one_size("B:half G:half R:half", 160, 90);
    one_size("B:half G:half R:half", 131, 67);
}

static void floats_are_as_on_their_own(void **state) {
    (void)state;
    if (!WITH_FFTW) skip();
    one_size("B:float G:float R:float", 160, 90);
    one_size("B:float G:float R:float", 300, 33);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halfs_are_as_on_their_own),
        cmocka_unit_test(floats_are_as_on_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
