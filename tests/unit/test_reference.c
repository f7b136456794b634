/* The reference itself, against cases small enough to do by hand. */
#include "unit/check.h"
#include "unit/reference.h"

TEST(borders_by_hand) {
    /* Coordinates -7 .. 9 of a line of three. */
    static const int mirror[] = {0, 0, 1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0, 1, 2, 2};
    static const int wrap[] = {2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0};
    for (int i = 0; i < 17; i++) {
        int64_t at = i - 7;
        bool inside = at >= 0 && at < 3;
        assert_int_equal(reference_source(at, 3, BORDER_MIRROR), mirror[i]);
        assert_int_equal(reference_source(at, 3, BORDER_WRAP), wrap[i]);
        assert_int_equal(reference_source(at, 3, BORDER_CLAMP), at < 0 ? 0 : at > 2 ? 2 : at);
        assert_int_equal(reference_source(at, 3, BORDER_ZERO), inside ? at : -1);
    }
    for (int b = BORDER_MIRROR; b < BORDERS; b++)
        for (int64_t at = -5; at < 5; at++)
            assert_int_equal(reference_source(at, 1, (plan_border)b), 0);
}

/* A line of four, a kernel of three whose centre is its first tap: 2 in place, 3 one pixel to the
 * right, 5 two to the right. */
TEST(a_line_by_hand) {
    static const float in[] = {1, 10, 100, 1000}, tap[] = {2, 3, 5};
    static const double want[BORDERS][4] = {
        [BORDER_ZERO] = {2, 23, 235, 2350},
        [BORDER_CLAMP] = {2 + 3 + 5, 20 + 3 + 5, 235, 2350},
        [BORDER_MIRROR] = {2 + 3 + 50, 20 + 3 + 5, 235, 2350},
        [BORDER_WRAP] = {2 + 3000 + 500, 20 + 3 + 5000, 235, 2350},
    };
    for (plan_border b = 0; b < BORDERS; b++) {
        reference x = {in, 4, 1, tap, 3, 1, 0, 0, 1, {b, BORDER_CLAMP}};
        reference y = {in, 1, 4, tap, 1, 3, 0, 0, 0.5, {BORDER_CLAMP, b}};
        double out[4];
        reference_plane(&x, out);
        for (int i = 0; i < 4; i++) assert_true(out[i] == want[b][i]);
        reference_plane(&y, out);
        for (int i = 0; i < 4; i++) assert_true(out[i] == want[b][i] / 2);
    }
}

/* A pixel pastes the kernel as it stands, not turned: centre (1, 0) of a 3 x 2 kernel. */
TEST(an_impulse_gives_the_kernel) {
    static const float tap[] = {1, 2, 3, 4, 5, 6};
    float in[5 * 4] = {0};
    in[2 * 5 + 2] = 2;
    reference r = {in, 5, 4, tap, 3, 2, 1, 0, 1, {0}};
    static const double want[4][5] = {
        {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, {0, 2, 4, 6, 0}, {0, 8, 10, 12, 0}};
    double out[4][5];
    reference_plane(&r, out[0]);
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 5; x++) assert_true(out[y][x] == want[y][x]);
}

/* Light reaches pixels outside the window, and a kernel far larger than the image is folded. */
TEST(outside_and_larger_than_the_image) {
    static const float one[] = {1};
    float tap[9 * 7];
    for (int i = 0; i < 9 * 7; i++) tap[i] = (float)i;
    reference r = {one, 1, 1, tap, 9, 7, 4, 3, 1, {0}};
    assert_true(reference_pixel(&r, -4, -3) == 0);
    assert_true(reference_pixel(&r, 4, 3) == 62);
    assert_true(reference_pixel(&r, 1, -2) == 9 + 5);
    assert_true(reference_pixel(&r, 5, 0) == 0);
    r.border[PLAN_X] = r.border[PLAN_Y] = BORDER_WRAP;
    assert_true(reference_pixel(&r, 0, 0) == 62 * 63 / 2);
}

/* 1e30 - 1e30 hides a plain sum's small terms; not this one's. */
TEST(sums_are_compensated) {
    static const float in[] = {1, 1, 1, 1, 1}, tap[] = {1, 1e30f, 1, -1e30f, 1};
    reference r = {in, 5, 1, tap, 5, 1, 2, 0, 1, {0}};
    assert_true(reference_pixel(&r, 2, 0) == 3);
}

RUN_TESTS(NULL, NULL)
