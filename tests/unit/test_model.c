/* Kernels by formula: against integrals in closed form, a numeric transform, and properties that
 * every model has. */
#include "unit/taps.h"

TEST(all_models) {
    for (int i = 0; i < MODEL_COUNT; i++) {
        model_request r = request(MODELS[i].name, 97, 64, NULL);
        OPEN(par) *lone = par_open(1, &e); /* one thread makes the same bits */
        OWN(taps) a = taps_of(&r, make_threads()), b = taps_of(&r, lone);
        uint32_t n = a.channels;
        assert_int_equal(n, MODELS[i].spectrum == MODEL_GREY ? 1 : 3);
        for (uint32_t c = 0; c < n; c++) {
            assert_memory_equal(a.of[c], b.of[c], 97 * 64 * sizeof(float));
            double sum = 0;
            for (size_t t = 0; t < 97 * 64; t++) {
                assert_true(a.of[c][t] >= 0 && isfinite(a.of[c][t]));
                sum += (double)a.of[c][t];
            }
            /* 6208 roundings to float, each of at most half a bit of a tap. */
            CHECK_LE(fabs(sum - 1), 6e-8);
            /* Light at (x, y) from the centre is light at (-x, -y). */
            for (int y = -31; y <= 31; y++)
                for (int x = -48; x <= 48; x++) {
                    double p = (double)a.of[c][(32 + y) * 97 + 48 + x],
                           q = (double)a.of[c][(32 - y) * 97 + 48 - x];
                    CHECK_LE(fabs(p - q), 1e-4 * fmax(p, q) + 1e-12);
                }
        }
    }
}

/* A grating's ray has as much light as a plain line's, and its first order lies at `spacing` for
 * green: nearer for blue, farther for red. */
TEST(gratings) {
    enum { N = 257, MIDDLE = N / 2 };
    const char *const *set = SET("lines=1", "turn=0", "spacing=40", "blur=1", "length=1000");
    model_request r = request("grating", N, N, set);
    r.fade = 1;
    OWN(taps) p = taps_of(&r, make_threads());
    static const double AT[] = {605, 545, 455};
    for (int c = 0; c < 3; c++) {
        double light = 0, sum = 0, dark = 0;
        for (int x = 20; x <= 60; x++) {
            double v = (double)p.of[c][MIDDLE * N + MIDDLE + x];
            light += v, sum += v * x;
        }
        CHECK_LE(fabs(sum / light - 40 * AT[c] / 550), 0.6);
        for (int x = 16; x <= 20; x++) dark += (double)p.of[c][MIDDLE * N + MIDDLE + x];
        CHECK_LE(dark, 1e-3 * light);
    }
}

/* The integral of the bell over each pixel, as error functions. */
TEST(gaussians) {
    static const double SIGMA[] = {0.4, 1, 3.5};
    for (int i = 0; i < 3; i++) {
        model_request r = request("gaussian", 41, 40, NULL);
        r.value[0] = SIGMA[i];
        OWN(taps) p = taps_of(&r, make_threads());
        double s = SIGMA[i] * sqrt(2), peak = (double)p.of[0][20 * 41 + 20];
        for (int y = 0; y < 40; y++)
            for (int x = 0; x < 41; x++) {
                double want = (erf((x - 19.5) / s) - erf((x - 20.5) / s)) *
                              (erf((y - 19.5) / s) - erf((y - 20.5) / s)) / 4;
                /* Midpoints 1/8 apart: an error of h^2/24 f'' at most. */
                CHECK_LE(fabs((double)p.of[0][y * 41 + x] - want), 3e-3 * peak);
            }
    }
}

TEST(discs) {
    model_request r = request("disc", 64, 64, NULL);
    r.value[0] = 20;
    OWN(taps) p = taps_of(&r, make_threads());
    double flat = 1 / (M_PI * (400 + 1.0 / 12)); /* an edge one pixel wide adds this much */
    for (int y = 0; y < 64; y++)
        for (int x = 0; x < 64; x++) {
            double d = hypot(x - 32, y - 32), tap = (double)p.of[0][y * 64 + x];
            if (d < 18.7) CHECK_LE(fabs(tap - flat), 1e-3 * flat);
            if (d > 21.3) assert_true(tap == 0);
        }
}

/* Within R of a Moffat's centre lies 1 - (1 + (R / core)^2)^(1 - slope) of it. */
TEST(moffats) {
    model_request r = request("moffat", 257, 257, NULL);
    r.value[0] = 3, r.value[1] = 2.5;
    OWN(taps) p = taps_of(&r, make_threads());
    double in = 0, far = 0;
    for (int y = 0; y < 257; y++)
        for (int x = 0; x < 257; x++) {
            double d = hypot(x - 128, y - 128), tap = (double)p.of[0][y * 257 + x];
            in += d < 10 ? tap : 0;
            far += d < 60 ? tap : 0;
        }
    double want = (1 - pow(1 + 100 / 9.0, -1.5)) / (1 - pow(1 + 3600 / 9.0, -1.5));
    CHECK_LE(fabs(in / far - want), 2e-3); /* pixels at the rim of the circle */
}

/* |transform|^2 of the aperture, summed over a fine grid of points within the polygon. */
static double summed(int blades, double kx, double ky) {
    enum { SIDE = 501 };
    double re = 0, im = 0, cell = 2.0 / (SIDE - 1);
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            double x = -1 + i * cell, y = -1 + j * cell, open = 1;
            for (int b = 0; b < blades; b++) {
                double a = 2 * M_PI * b / blades;
                if (x * cos(a) + y * sin(a) > cos(M_PI / blades)) open = 0;
            }
            re += open * cos(kx * x + ky * y);
            im -= open * sin(kx * x + ky * y);
        }
    return (re * re + im * im) * cell * cell * cell * cell;
}

static double look(const model *m, const double *p, double r, double a) {
    return m->light(p, r * cos(a), r * sin(a), MODEL_GREEN);
}

TEST(stars) {
    const model *m = model_find("star");
    static const int CASE[] = {6, 5, 3};
    for (int i = 0; i < 3; i++) {
        double p[MODEL_PARAMETERS] = {3.8317059702075125, CASE[i]};
        double whole = m->light(p, 0, 0, MODEL_GREEN);
        int parts = m->mirrors(p);
        assert_int_equal(parts, CASE[i] % 2 ? 2 * CASE[i] : 6);
        /* With this radius pixels are the transform's own unit. */
        for (int k = 0; k < 6; k++) {
            double r = 1.7 * k, a = 0.37 * M_PI / parts * k;
            double want = summed(CASE[i], r * cos(a), r * sin(a)), light = look(m, p, r, a);
            /* The grid's edges are stairs: half a cell of the aperture's rim. */
            CHECK_LE(fabs(light - want), 0.01 * whole);
            /* Turned by a part, and mirrored, it is the same. */
            CHECK_LE(fabs(look(m, p, r, a + 2 * M_PI / parts) - light), 1e-9 * whole);
            CHECK_LE(fabs(look(m, p, r, -a) - light), 1e-9 * whole);
        }
    }
}

/* Red reaches farther than blue, in proportion to the wavelength; the green channel's first dark
 * ring is near where it was asked for. */
TEST(colours) {
    model_request r = request("airy", 128, 128, NULL);
    r.value[0] = 12;
    OWN(taps) p = taps_of(&r, make_threads());
    double half[3];
    for (int c = 0; c < 3; c++) {
        double moment = 0, sum = 0;
        int darkest = 0;
        for (int x = 1; x < 18; x++)
            if (p.of[c][64 * 128 + 64 + x] < p.of[c][64 * 128 + 64 + darkest]) darkest = x;
        if (c == 1) assert_in_range(darkest, 11, 13);
        for (int x = 0; x < 10; x++) {
            double tap = (double)p.of[c][64 * 128 + 64 + x];
            moment += x * tap, sum += tap;
        }
        half[c] = moment / sum;
    }
    assert_true(half[0] > half[1] && half[1] > half[2]);
}

TEST(parameters) {
    model_request r = request("star", 16, 16, NULL);
    CHECK_OK(set_word(&r, "blades=8", &e));
    assert_true(r.value[1] == 8);
    static const char *const BAD[][2] = {{"blade=8", "did you mean 'blades'?"},
                                         {"f=8", "it has radius, blades, round, turn"},
                                         {"blades", "write NAME=VALUE, for example radius=1.5"},
                                         {"blades=", "whole number from 3 to 32"},
                                         {"blades=2.5", "whole number"},
                                         {"blades=33", "from 3 to 32, not '33'"},
                                         {"round=nan", "from 0 to 1"},
                                         {"round=1x", "from 0 to 1"}};
    for (size_t i = 0; i < COUNT(BAD); i++)
        CHECK_REFUSED(set_word(&r, BAD[i][0], &e), ERR_USAGE, BAD[i][1]);
    /* The smallest kernels, and the fade. */
    for (uint32_t n = 1; n <= 3; n++) {
        model_request small = request("airy", n, 1, NULL);
        OWN(taps) p = taps_of(&small, make_threads());
        assert_int_equal(p.channels, 3);
    }
    model_request faded = request("moffat", 64, 64, NULL);
    faded.fade = 0.5;
    OWN(taps) p = taps_of(&faded, make_threads());
    for (int i = 0; i < 64; i++) assert_true(p.of[0][i] == 0 && p.of[0][64 * i] == 0);
}

/* How much light the taps keep, against a sum over the taps themselves. */
static double kept_by(const model_request *r, double enough, uint32_t *side) {
    double share;
    CHECK_OK(model_kept(&share, side, r, enough, make_threads(), &e));
    return share;
}

TEST(kept) {
    uint32_t side;
    model_request r = request("gaussian", 128, 128, NULL);
    r.fade = 1;
    r.value[0] = 40;
    double inside = erf(63.5 / 40 / sqrt(2)), share = kept_by(&r, 0.9, &side);
    CHECK_LE(fabs(share - inside * inside), 0.02);
    /* The side that it names does keep as much. */
    r.w = r.h = side;
    CHECK_LE(0.9, kept_by(&r, 0.9, &side));
    r = request("disc", 64, 64, NULL);
    r.value[0] = 4000;
    CHECK_LE(kept_by(&r, 0.9, &side), 1e-3);
    r.fade = 0.6;
    kept_by(&r, 0.9, &side);
    assert_int_equal(side, 0);
    /* Outside a distance R an opening of area A and rim L leaves L / (pi A k) of its light. */
    r = request("aperture", 128, 128, NULL);
    r.fade = 1;
    r.value[0] = 2;
    double k = 3.8317 / 2 * 63 * 1.13;
    CHECK_LE(fabs(kept_by(&r, 0.9, &side) - (1 - 2 / (M_PI * k))), 2e-3);
    /* A line along x, of which 64 taps hold a share. */
    r = request("streak", 64, 64, NULL);
    r.fade = 1;
    CHECK_LE(fabs(kept_by(&r, 0.9, &side) - (0.8 + 0.2 * (1 - 20 / (20 + 31 * 1.13)))), 0.01);
    /* The smallest usual size that keeps enough. */
    r = request("gaussian", 1, 1, NULL);
    CHECK_OK(model_fit(&r, 0.999, make_threads(), &e));
    assert_true(r.w == 64 && r.h == 64);
    r.value[0] = 20;
    CHECK_OK(model_fit(&r, 0.999, make_threads(), &e));
    assert_int_equal(r.w, 192);
    CHECK_LE(0.999, kept_by(&r, 0.999, &side));
    r = request("moffat", 1, 1, NULL);
    CHECK_OK(model_fit(&r, 0.999, make_threads(), &e));
    assert_int_equal(r.w, MODEL_AUTO);
}

/* Lengths in units of the camera, and what it takes to know them. */
static double resolved(const char *name, const char *const *set) {
    double p[MODEL_PARAMETERS];
    const model_request r = request(name, 16, 16, set);
    CHECK_OK(model_resolve(p, &r, &e));
    return p[0];
}

TEST(units) {
    const double dark = 1.2196698912665045 * 0.55, degree = 180 / M_PI;
    const struct {
        const char *model, *set[4];
        double want;
    } CASE[] = {
        {"star", {"fnumber=8", "pitch=4um"}, dark * 2},
        {"airy", {"fnumber=8", "sensor=36mm", "width=4000"}, dark * 8 / 9},
        /* A lens of 18 mm sees 90 degrees on 36 mm. */
        {"star", {"fnumber=8", "hfov=90", "focal=18", "width=4000"}, dark * 8 / 9},
        {"cie", {"hfov=90", "width=2000"}, degree / 1000},
        {"spencer", {"focal=50", "pitch=5"}, degree * 1e-4},
        {"gaussian", {"sigma=0.002w", "width=4096"}, 8.192},
        {"gaussian", {"sigma=20um", "pitch=5um"}, 4},
        {"moffat", {"core=0.5deg", "hfov=90", "width=2000"}, 0.5 / (degree / 1000)},
        {"film", {"radius=120", "pitch=6"}, 20},
        {"film", {"radius=30px"}, 30},
        {"film", {"radius=120"}, 10},
    };
    for (size_t i = 0; i < COUNT(CASE); i++) {
        const char *const *s = CASE[i].set;
        double is = resolved(CASE[i].model, SET(s[0], s[1], s[2], s[3]));
        if (!(fabs(is - CASE[i].want) <= 1e-9))
            fail_msg("%s, %s: %.12g, not %.12g", CASE[i].model, s[0], is, CASE[i].want);
    }
    static const char *const BAD[][4] = {
        {"star", "fnumber=8", "fall=1", "no parameter 'fall'"},
        {"star", "fnumber=8", "radius=2", "give one of the two"},
        {"star", "fnumber=8", "turn=3", "needs the size of a pixel: pitch="},
        {"gaussian", "sigma=0.002w", "sigma=0.002w", "needs width="},
        {"gaussian", "sigma=3", "fnumber=8", "no parameter 'fnumber'"},
        {"gaussian", "sigma=3", "light=d65", "no parameter 'light'"},
        {"gaussian", "sigma=3m", "sigma=3", "or a length such as 20um"},
        {"gaussian", "sigma=0.9w", "width=8000", "is 7200 pixels; the maximum is 2000"},
        {"airy", "light=laser", "radius=3", "light=laser needs wavelength="},
        {"airy", "light=sodum", "radius=3", "did you mean 'sodium'?"},
        {"airy", "primaries=rec710", "radius=3", "unknown primaries 'rec710'"},
        {"airy", "fnumber=1000", "pitch=0.01", "the maximum is 1000"},
    };
    for (size_t i = 0; i < COUNT(BAD); i++) {
        double p[MODEL_PARAMETERS];
        model_request r = request(BAD[i][0], 16, 16, NULL);
        CHECK_REFUSED(set_word(&r, BAD[i][1], &e) && set_word(&r, BAD[i][2], &e) &&
                          model_resolve(p, &r, &e),
                      ERR_USAGE, BAD[i][3]);
    }
}

RUN_TESTS(NULL, NULL)
