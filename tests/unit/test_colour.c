/* test_colour.c - primaries, matrices and curves against the numbers that standards and makers of
 * cameras publish, and the names of colour spaces. */
#include "colour/space.h"
#include "image/format.h"
#include "unit/check.h"

static void check_matrix(const matrix *is, const double want[3][3], double bound) {
    for (int i = 0; i < 9; i++) CHECK_LE(fabs(is->m[i / 3][i % 3] - want[i / 3][i % 3]), bound);
}

static const primaries *named(const char *name) {
    const primaries_row *r = primaries_find(name);
    assert_non_null(r);
    return &r->gamut;
}

/* The bounds are half of the last digit that is published. */
TEST(to_xyz) {
    static const double SRGB[3][3] = {
        {0.4124, 0.3576, 0.1805}, {0.2126, 0.7152, 0.0722}, {0.0193, 0.1192, 0.9505}};
    static const double REC2020_Y[3] = {0.2627, 0.6780, 0.0593};
    static const double AP0[3][3] = {{0.9525523959, 0.0000000000, 0.0000936786},
                                     {0.3439664498, 0.7281660966, -0.0721325464},
                                     {0.0000000000, 0.0000000000, 1.0088251844}};
    static const double AP1[3][3] = {{0.6624541811, 0.1340042065, 0.1561876870},
                                     {0.2722287168, 0.6740817658, 0.0536895174},
                                     {-0.0055746495, 0.0040607335, 1.0103391003}};
    matrix m;
    assert_true(primaries_to_xyz(&m, named("rec709")));
    check_matrix(&m, SRGB, 6e-5);
    assert_true(primaries_to_xyz(&m, named("rec2020")));
    for (int i = 0; i < 3; i++) CHECK_LE(fabs(m.m[1][i] - REC2020_Y[i]), 6e-5);
    assert_true(primaries_to_xyz(&m, named("ap0")));
    check_matrix(&m, AP0, 6e-11);
    assert_true(primaries_to_xyz(&m, named("ap1")));
    check_matrix(&m, AP1, 6e-11);
}

TEST(conversions) {
    /* S-2014-004, TRA1: the whites are the same. */
    static const double AP0_AP1[3][3] = {{1.4514393161, -0.2365107469, -0.2149285693},
                                         {-0.0765537734, 1.1762296998, -0.0996759264},
                                         {0.0083161484, -0.0060324498, 0.9977163014}};
    /* The configs of ACES for OpenColorIO: adapted by Bradford. */
    static const double AP1_REC709[3][3] = {{1.70505099, -0.62179212, -0.08325887},
                                            {-0.13025642, 1.14080474, -0.01054832},
                                            {-0.02400336, -0.12896898, 1.15297233}};
    /* ITU-R BT.2087. */
    static const double REC709_REC2020[3][3] = {
        {0.6274, 0.3293, 0.0433}, {0.0691, 0.9195, 0.0114}, {0.0164, 0.0880, 0.8956}};
    matrix m;
    assert_true(primaries_convert(&m, named("ap0"), named("ap1")));
    check_matrix(&m, AP0_AP1, 6e-11);
    assert_true(primaries_convert(&m, named("ap1"), named("rec709")));
    check_matrix(&m, AP1_REC709, 1e-7);
    assert_true(primaries_convert(&m, named("rec709"), named("rec2020")));
    check_matrix(&m, REC709_REC2020, 6e-5);
    assert_true(primaries_convert(&m, named("ciexyzd65"), named("ciexyzd65")));
    check_matrix(&m, MATRIX_IDENTITY.m, 1e-15);
}

/* B. Lindbloom's table, whose whites are those of ASTM E308. */
TEST(adaptation) {
    static const double D65_D50[3][3] = {{1.0478112, 0.0228866, -0.0501270},
                                         {0.0295424, 0.9904844, -0.0170491},
                                         {-0.0092345, 0.0150436, 0.7521316}};
    const double d65[3] = {0.95047, 1, 1.08883}, d50[3] = {0.96422, 1, 0.82521};
    double s = d65[0] + d65[1] + d65[2], t = d50[0] + d50[1] + d50[2], white[3];
    matrix m = primaries_adapt((chromaticity){d65[0] / s, d65[1] / s},
                               (chromaticity){d50[0] / t, d50[1] / t});
    check_matrix(&m, D65_D50, 1e-7);
    matrix_apply(white, &m, d65);
    for (int i = 0; i < 3; i++) CHECK_LE(fabs(white[i] - d50[i]), 1e-12);
}

/* From every set to every other and back; white stays white. */
TEST(round_trips) {
    const double one[3] = {1, 1, 1};
    for (int i = 0; i < PRIMARIES_COUNT; i++)
        for (int k = 0; k < PRIMARIES_COUNT; k++) {
            matrix there, back;
            double white[3];
            assert_true(
                primaries_convert(&there, &PRIMARIES_TABLE[i].gamut, &PRIMARIES_TABLE[k].gamut));
            assert_true(
                primaries_convert(&back, &PRIMARIES_TABLE[k].gamut, &PRIMARIES_TABLE[i].gamut));
            matrix both = matrix_product(&back, &there);
            check_matrix(&both, MATRIX_IDENTITY.m, 1e-13);
            bool xyz = strcmp(PRIMARIES_TABLE[i].name, "ciexyzd65") == 0 ||
                       strcmp(PRIMARIES_TABLE[k].name, "ciexyzd65") == 0;
            matrix_apply(white, &there, one);
            for (int c = 0; c < 3 && !xyz; c++) CHECK_LE(fabs(white[c] - 1), 1e-13);
        }
}

TEST(no_matrix) {
    matrix m = MATRIX_IDENTITY;
    primaries same = {{0.3, 0.3}, {0.3, 0.3}, {0.3, 0.3}, {0.3, 0.3}}, zero = {.red = {0, 0}}, nan;
    nan = *PRIMARIES_REC709;
    nan.green.y = NAN;
    assert_false(primaries_to_xyz(&m, &same));
    assert_false(primaries_to_xyz(&m, &zero));
    assert_false(primaries_to_xyz(&m, &nan));
    assert_false(primaries_convert(&m, PRIMARIES_REC709, &zero));
    check_matrix(&m, MATRIX_IDENTITY.m, 0);
}

/* Files round to floats, and to three digits. */
TEST(sets_are_known_again) {
    for (int i = 0; i < PRIMARIES_COUNT; i++) {
        float xy[8];
        primaries_to_floats(xy, &PRIMARIES_TABLE[i].gamut);
        for (int k = 0; k < 8; k++) xy[k] = roundf(xy[k] * 1000) / 1000;
        primaries p = primaries_from_floats(xy);
        assert_ptr_equal(primaries_like(&p), &PRIMARIES_TABLE[i]);
    }
    primaries other = *PRIMARIES_REC709;
    other.red.x += 0.01;
    assert_null(primaries_like(&other));
}

/* What the makers publish: a code for light. */
TEST(published_codes) {
    static const struct {
        const char *curve;
        double light, code, bound;
    } POINT[] = {
        {"srgb", 0.5, 0.735357, 1e-6},
        {"srgb", 0.0031308, 0.04045, 1e-6},
        {"itu709", 0.18, 0.409008, 1e-6},
        {"g22", 0.18, 0.458656, 1e-6},
        {"g24", 1, 1, 0},
        {"arrilogc3", 0.18, 400 / 1023.0, 1e-4}, /* "18 % grey: code 400" */
        {"arrilogc3", 0, 0.092809, 1e-6},
        {"arrilogc4", 0.18, 0.278396, 1e-6},
        {"arrilogc4", 0, 95 / 1023.0, 1e-12},
        {"arrilogc4", 469.8, 1, 1e-4},
        {"slog3", 0.18, 420 / 1023.0, 1e-12},
        {"slog3", 0, 95 / 1023.0, 1e-12},
        {"slog3", 0.9, 598 / 1023.0, 5e-4},
        {"acescct", 0.18, 0.413588, 1e-6},
        {"acescct", 0, 0.0729055, 1e-7},
        {"acescct", 65504, 1.467996, 1e-6},
        {"vlog", 0.18, 433 / 1023.0, 1e-4},
        {"vlog", 0, 128 / 1023.0, 2e-4},
        {"vlog", 0.9, 602 / 1023.0, 5e-4},
        {"redlog3g10", 0.18, 1 / 3.0, 1e-5},
        {"redlog3g10", 0, 0.091551, 1e-5},
        {"redlog3g10", 184.322, 1, 1e-5},
        {"cineon", 1, 685 / 1023.0, 1e-12},
        {"cineon", 0, 95 / 1023.0, 1e-12},
    };
    for (size_t i = 0; i < COUNT(POINT); i++) {
        const curve *c = curve_find(POINT[i].curve);
        assert_non_null(c);
        double is = c->encode(c, POINT[i].light);
        if (!(fabs(is - POINT[i].code) <= POINT[i].bound))
            fail_msg("%s: %g is coded as %.9g, not %.9g", c->name, POINT[i].light, is,
                     POINT[i].code);
    }
}

/* Codes come back, and the curves rise without a jump. The two halves of a published formula meet
 * to a few 1e-6 only, those of BT.709 to 3e-4. */
TEST(curves_come_back) {
    for (int i = 0; i < CURVE_COUNT; i++) {
        const curve *c = &CURVES[i];
        if (!c->decode) continue;
        double bound = strcmp(c->name, "itu709") == 0 ? 3e-4 : 1e-5, before = 0;
        for (int k = -200; k <= 1500; k++) {
            double code = k / 1000.0, light = c->decode(c, code);
            CHECK_LE(fabs(c->encode(c, light) - code), bound);
            if (k > -200) CHECK_LE(before, light);
            if (k > -200) CHECK_LE(light - before, 0.05 * (1 + fabs(light)));
            before = light;
        }
    }
}

TEST(names) {
    static const struct {
        const char *name, *curve, *primaries;
        bool named;
    } NAME[] = {
        {"lin_ap1_scene", "lin", "ap1", true},
        {"lin_rec709_scene", "lin", "rec709", true},
        {"srgb_rec709_display", "srgb", "rec709", true},
        {"g26_xyzd65_display", "g26", "ciexyzd65", true},
        {"ocio:arrilogc3_awg3_scene", "arrilogc3", "awg3", true},
        {"ocio:slog3_sgamut3_scene", "slog3", "sgamut3", true},
        {"srgb_p3d65", "srgb", "p3d65", true},
        {"sRGB", "srgb", "rec709", false},
        {"ACEScg", "lin", "ap1", true},
        {"ACES - ACEScg", "lin", "ap1", true},
        {"ACES2065-1", "lin", "ap0", true},
        {"Linear", "lin", "rec709", false},
        {"LogC4", "arrilogc4", "awg4", false},
        {"GammaCorrected2.2", "g22", "rec709", false},
        {"pq_rec2020_display", "pq", "rec2020", true},
    };
    colour_space s;
    for (size_t i = 0; i < COUNT(NAME); i++) {
        if (!space_find(&s, NAME[i].name)) fail_msg("'%s' is not known", NAME[i].name);
        assert_string_equal(s.curve->name, NAME[i].curve);
        assert_string_equal(s.primaries->name, NAME[i].primaries);
        assert_int_equal(s.primaries_named, NAME[i].named);
    }
    /* Every name of a curve that docs/colour.md has goes with all primaries. */
    static const char *const WORD[][2] = {
        {"linear", "lin"},    {"srgb", "srgb"},       {"gamma18", "g18"},
        {"gamma22", "g22"},   {"gamma24", "g24"},     {"gamma26", "g26"},
        {"bt709", "itu709"},  {"logc3", "arrilogc3"}, {"logc4", "arrilogc4"},
        {"slog3", "slog3"},   {"acescct", "acescct"}, {"vlog", "vlog"},
        {"cineon", "cineon"}, {"LogC3", "arrilogc3"}, {"log3g10", "redlog3g10"}};
    for (size_t i = 0; i < COUNT(WORD); i++)
        for (int k = 0; k < PRIMARIES_COUNT; k++) {
            char name[64];
            snprintf(name, sizeof name, "%s_%s", WORD[i][0], PRIMARIES_TABLE[k].name);
            if (!space_find(&s, name)) fail_msg("'%s' is not known", name);
            assert_string_equal(s.curve->name, WORD[i][1]);
            assert_ptr_equal(s.primaries, &PRIMARIES_TABLE[k]);
            assert_true(s.primaries_named);
        }
    char longest[200] = "";
    memset(longest, 'a', sizeof longest - 1);
    const char *const UNKNOWN[] = {"",     "_",       "lin_", "lin_nothing", "nothing_ap1",
                                   "data", "rec2020", "ap1",  longest,       "srgb_rec709_screen"};
    for (size_t i = 0; i < COUNT(UNKNOWN); i++)
        if (space_find(&s, UNKNOWN[i])) fail_msg("'%s' is known", UNKNOWN[i]);
}

/* From a file's chromaticities: the figures of docs/inside/math.md, and attributes of which none
 * can be made. */
TEST(weights_of_luminance) {
    static const double REC709[3] = {0.212639, 0.715169, 0.072192},
                        REC2020[3] = {0.262700, 0.677998, 0.059302};
    static const float XY_REC2020[8] = {0.708f, 0.292f, 0.170f,  0.797f,
                                        0.131f, 0.046f, 0.3127f, 0.329f};
    static const float ACES[8] = {0.7347f, 0.2653f, 0, 1, 0.0001f, -0.077f, 0.32168f, 0.33767f},
                       ZERO[8] = {0}, SAME[8] = {.3f, .3f, .3f, .3f, .3f, .3f, .3f, .3f},
                       BAD[8] = {0.708f, 0.292f, 0.170f, NAN, 0.131f, 0.046f, 0.3127f, 0.329f};
    static const double OF_ACES[3] = {0.343966, 0.728166, -0.072133};
    static const struct {
        const float *xy;
        uint32_t bytes;
        const double *want;
    } CASE[] = {{NULL, 0, REC709},       {XY_REC2020, 32, REC2020}, {ACES, 32, OF_ACES},
                {ZERO, 32, REC709},      {SAME, 32, REC709},        {BAD, 32, REC709},
                {XY_REC2020, 28, REC709}}; /* not eight numbers */
    for (size_t i = 0; i < COUNT(CASE); i++) {
        OWN(image_header) h = {.part = mem_new(1, sizeof *h.part, "part", &e), .parts = 1};
        double is[3];
        if (CASE[i].xy)
            CHECK_OK(image_set_attr(h.part, "chromaticities", "chromaticities", CASE[i].xy,
                                    CASE[i].bytes, &e));
        image_luminance(h.part, is);
        for (int c = 0; c < 3; c++)
            if (!(fabs(is[c] - CASE[i].want[c]) <= 2e-6)) fail_msg("case %zu: %g", i, is[c]);
        CHECK_LE(fabs(is[0] + is[1] + is[2] - 1), 1e-12);
    }
}

RUN_TESTS(NULL, NULL)
