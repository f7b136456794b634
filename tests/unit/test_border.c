/* test_border.c - where borders show a sample, against asking every place what it reads. */
#include "math/plan.h"
#include "unit/reference.h"

#include "unit/check.h"

TEST(places_are_those_that_read_the_sample) {
    static const uint32_t REACH[] = {0, 1, 3, 4, 5, 11, 30};
    for (int b = 0; b < BORDERS; b++)
        for (uint32_t n = 1; n <= 7; n++)
            for (int r = 0; r < 49; r++) {
                border_axis a = {(plan_border)b, n, REACH[r % 7], REACH[r / 7]};
                uint32_t most = border_most(&a);
                assert_true(most <= 200);
                for (uint32_t i = 0; i < n; i++) {
                    int64_t got[200];
                    uint32_t count = border_places(&a, i, got), k = 0;
                    for (int64_t p = -(int64_t)a.before; p < (int64_t)n + a.after; p++)
                        if (reference_source(p, n, a.border) == (int64_t)i)
                            assert_true(k < count && got[k++] == p);
                    assert_int_equal(k, count);
                    CHECK_LE(count, most);
                }
            }
}

/* The reference itself. */
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

RUN_TESTS(NULL, NULL)
