/* Values keyed by frame: reading them, and the value at each frame against a slow, obvious one. */
#include "app/cli/keyed.h"
#include "base/text.h"
#include "unit/check.h"

static double at(const keyed *k, int frame) {
    OWN(text) t = {0};
    keyed_add_at(k, frame, &t);
    double v = strtod(t.s, NULL);
    return v;
}

TEST(values_are_linear_between_keys) {
    static const int FRAME[] = {-7, 3, 4, 1001};
    static const double VALUE[] = {0.5, -2, 8, 0.1};
    OWN(keyed) k;
    CHECK_OK(keyed_parse(&k, "4:8, 3:-2 ,1001:0.1,-7:.5", false, &e));
    assert_int_equal(k.count, 4);
    for (int f = -20; f < 1100; f++) {
        double want = f <= FRAME[0] ? VALUE[0] : VALUE[3];
        for (int i = 0; i < 3; i++)
            if (f >= FRAME[i] && f <= FRAME[i + 1])
                want = VALUE[i] + (VALUE[i + 1] - VALUE[i]) * (f - FRAME[i]) /
                                      (double)(FRAME[i + 1] - FRAME[i]);
        CHECK_LE(fabs(at(&k, f) - want), 1e-14);
    }
    for (int i = 0; i < 4; i++) assert_true(at(&k, FRAME[i]) == VALUE[i]);
}

TEST(text_and_json_bring_the_keys_back) {
    OWN(keyed) k, again;
    OWN(text) t = {0}, j = {0};
    CHECK_OK(keyed_parse(&k, "10:0.1h,-1:1e-3h", false, &e));
    keyed_add_text(&k, &t);
    assert_string_equal(t.s, "-1:0.001h,10:0.1h");
    CHECK_OK(keyed_parse(&again, t.s, false, &e));
    keyed_add_json(&again, &j);
    assert_string_equal(j.s, "{\"-1\": \"0.001h\", \"10\": \"0.1h\"}");
}

TEST(what_is_no_list_of_keys_is_refused) {
    static const char *const BAD[] = {"",      ":",      "1:",      "1:x",      "x:1",
                                      "1:1,",  ",1:1",   "1:1 2:2", "1:1,1:2",  "1:nan",
                                      "1:inf", "1:0x10", "1.5:1",   "1:1h,2:1", "1234567890:1",
                                      "1:1hh", "1::1"};
    for (size_t i = 0; i < COUNT(BAD); i++) {
        keyed k;
        if (keyed_parse(&k, BAD[i], false, &e)) fail_msg("taken: '%s'", BAD[i]);
        assert_int_equal(e.code, ERR_CONFIG);
    }
}

RUN_TESTS(NULL, NULL)
