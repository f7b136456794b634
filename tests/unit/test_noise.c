/* test_noise.c - the error model by hand; test_promise.c holds it to measured errors. */
#include "math/noise.h"

#include "unit/check.h"

TEST(tails_by_hand) {
    static const float TAP[15] = {0, 1, 0, 0, 0, /**/ 2, 3, 100, -4, 8, /**/ 0, 0, 2, 0, 0};
    static const double ALIAS[5] = {0.1, 0, 0, 0, 0.2};
    noise_taps k = {
        .tap = TAP, .pitch = 5, .w = 5, .h = 3, .cx = 2, .cy = 1, .scale = 0.5, .alias_x = ALIAS};
    k.alias_y = ALIAS + 1; /* zeros */
    noise_tail t = noise_tail_of(&k);
    CHECK_LE(fabs(t.sum - 10), 1e-12);
    CHECK_LE(fabs(t.norm - 0.5 * sqrt(98)), 1e-12);
    CHECK_LE(fabs(t.peak - 4), 1e-12);
    CHECK_LE(fabs(t.alias_sum - 0.5 * (0.1 * 2 + 0.2 * 8)), 1e-12);
    CHECK_LE(fabs(t.alias_peak - 0.5 * 0.2 * 8), 1e-12);
    k.alias_x = NULL;
    t = noise_tail_of(&k);
    CHECK_LE(fabs(t.sum - 10), 1e-12);
    assert_true(t.alias_sum == 0 && t.alias_peak == 0);
}

static const noise_transform FLOATS = {PRECISION_FLOAT32, 1e6}, DOUBLES = {PRECISION_FLOAT64, 1e6};

/* Sums beyond the largest float cannot be done in float32, and what is lost below the smallest is
 * in the floor. */
TEST(what_overflows_has_no_floor) {
    noise_load huge = {.norm = 1, .peak = 1, .total = 3e38, .gain = 1};
    assert_true(isinf(noise_floor(&FLOATS, &huge)));
    CHECK_LE(noise_floor(&DOUBLES, &huge), 1e-12);
    noise_load tiny = {.norm = 1e-30, .peak = 1e-30, .total = 1e-28, .gain = 1};
    CHECK_LE(1e-33, noise_floor(&FLOATS, &tiny));
    CHECK_LE(noise_floor(&DOUBLES, &tiny), 1e-40);
    noise_load one = {.norm = 1e3, .peak = 1, .total = 1e6, .gain = 1};
    CHECK_LE(noise_floor(&FLOATS, &one), 1e-5);
}

/* A kernel of denormals has a spectrum of them, which floats do not hold. */
TEST(tiny_kernels_have_a_floor) {
    noise_load dark = {.norm = 1e-34, .peak = 1e-37, .input = 1e3, .gain = 1};
    CHECK_LE(1e-36, noise_floor(&FLOATS, &dark));
}

RUN_TESTS(NULL, NULL)
