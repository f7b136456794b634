/* Openings whose wave is bent by Seidel's terms: against plain sums over the opening, and by where
 * the light goes. */
#include "base/steady.h"
#include "kernel/make/pupil.h"
#include "unit/taps.h"

static const double GREEN = 550;

/* |F|^2 of a round opening, or of a ring from `inner` on, summed ray by ray: its middle sums of the
 * radius and the angle have no edge that they could miss. */
static double sum_of(const pupil *p, double times, double kx, double ky) {
    enum { RADII = 120, ANGLES = 240 };
    const double inner = p->obstruction;
    double re = 0, im = 0;
    for (int i = 0; i < RADII; i++)
        for (int a = 0; a < ANGLES; a++) {
            const double r = inner + (1 - inner) * (i + 0.5) / RADII, t = 2 * M_PI * a / ANGLES,
                         x = r * cos(t), y = r * sin(t), u = x * p->toward_x + y * p->toward_y,
                         wave = p->coma * r * r * u + p->astigmatism * u * u + p->focus * r * r -
                                p->tilt_x * x - p->tilt_y * y,
                         phase = 2 * M_PI * times * wave - kx * x - ky * y;
            re += r * cos(phase), im += r * sin(phase);
        }
    const double each = 2 * (1 - inner) / RADII / ANGLES; /* of the disc's pi */
    return (re * re + im * im) * each * each;
}

static double light_at(const pattern *p, int which, double x, double y) {
    double to;
    pattern_along(p, which, x, y, &(double){1}, 1, &to);
    return to;
}

static const pupil BENT[] = {
    {.toward_x = 0.6, .toward_y = 0.8, .coma = 1.7},
    {.toward_x = -0.8, .toward_y = 0.6, .coma = 0.9, .obstruction = 0.3},
    {.toward_x = 0, .toward_y = -1, .astigmatism = 2.1},
    {.toward_x = 1, .toward_y = 0, .focus = -2.4},
    {.toward_x = 0.8, .toward_y = -0.6, .coma = 3.1, .astigmatism = -1.2, .focus = 0.9}};

/* All over the light and a little beyond, as a share of what an even wave has in the middle. */
TEST(patterns_are_those_of_plain_sums) {
    const double TIMES[] = {1, 0.77, 1.41};
    for (size_t i = 0; i < sizeof BENT / sizeof *BENT; i++) {
        pupil level = BENT[i];
        CHECK_OK(pupil_level(&level, &e));
        OWN(pattern) *p = MADE(pattern_new(&BENT[i], TIMES, 3, 100, false, make_threads(), &e));
        for (int which = 0; which < 3; which++) {
            double off = 0;
            for (int t = 0; t < 150; t++) {
                const double r = 0.5 * t, a = 2.4 * t, x = r * cos(a), y = r * sin(a);
                const double want = sum_of(&level, TIMES[which], x, y);
                off = fmax(off, fabs(light_at(p, which, x, y) - want));
            }
            CHECK_LE(off, 4e-4);
        }
    }
}

/* A small tilt is two thirds of the coma, by Zernike; a level wave has the brightest place in the
 * middle, or nearly so where coma is large, and what is even has no tilt. */
TEST(a_lamp_stays_at_its_place) {
    pupil p = {.toward_x = 0.6, .toward_y = 0.8, .coma = 0.05};
    CHECK_OK(pupil_level(&p, &e));
    CHECK_LE(fabs(p.tilt_x - 0.6 * 0.05 * 2 / 3), 2e-4);
    CHECK_LE(fabs(p.tilt_y - 0.8 * 0.05 * 2 / 3), 2e-4);
    for (double waves = 0.5; waves <= 8; waves *= 2) {
        p = (pupil){.toward_x = 0.6, .toward_y = 0.8, .coma = waves};
        OWN(pattern) *made = MADE(pattern_new(&p, &(double){1}, 1, 60, false, make_threads(), &e));
        double best = 0, at = 0;
        for (int i = -100; i < 100; i++) {
            const double v = light_at(made, 0, 0.6 * i * 0.1, 0.8 * i * 0.1);
            if (v > best) best = v, at = i * 0.1;
        }
        CHECK_LE(fabs(at), 4.2); /* the first dark ring lies at 3.8 */
    }
    p = (pupil){.toward_x = 1, .astigmatism = 2, .focus = 1};
    CHECK_OK(pupil_level(&p, &e));
    CHECK_LE(fabs(p.tilt_x) + fabs(p.tilt_y), 1e-9);
}

/* The moments of a kernel's green light about its middle. */
typedef struct {
    double x, y, along, across; /* mean, and mean squares in a direction and beside it */
} moments;

static moments moments_of(const char *const *set, double degrees) {
    enum { N = 121 };
    model_request r = request("aperture", N, N, set);
    r.fade = 0.5;
    OWN(taps) k = taps_of(&r, make_threads());
    const double c = cos(degrees * M_PI / 180), s = sin(degrees * M_PI / 180);
    moments m = {0};
    double sum = 0;
    for (int i = 0; i < N * N; i++) {
        const double x = i % N - N / 2, y = i / N - N / 2, v = (double)k.of[1][i];
        sum += v, m.x += v * x, m.y += v * y;
        m.along += v * (x * c + y * s) * (x * c + y * s);
        m.across += v * (y * c - x * s) * (y * c - x * s);
    }
    CHECK_LE(fabs(sum - 1), 1e-6);
    return m;
}

TEST(light_goes_where_it_is_told) {
    moments m = moments_of(SET("coma=3", "toward=120", "turn=35"), 120);
    CHECK_LE(fabs(atan2(m.y, m.x) * 180 / M_PI - 120), 1);
    assert_true(hypot(m.x, m.y) > 2);
    m = moments_of(SET("coma=-3", "toward=120"), 120);
    CHECK_LE(fabs(atan2(m.y, m.x) * 180 / M_PI + 60), 1);
    /* Astigmatism makes a line, and a line across where the focus takes that back. */
    m = moments_of(SET("astigmatism=3", "toward=30"), 30);
    assert_true(m.along > 3 * m.across);
    m = moments_of(SET("astigmatism=3", "focus=-3", "toward=30"), 30);
    assert_true(m.across > 3 * m.along);
    m = moments_of(SET("focus=3"), 30);
    CHECK_LE(fabs(m.across / m.along - 1), 0.01);
}

/* 2.5 waves of 440 nm are 2 of 550: the same picture, smaller in the same ratio. */
TEST(a_shorter_wave_has_more_waves) {
    enum { N = 97 };
    model_request a = request("aperture", N, N,
                              SET("light=laser", "wavelength=440", "astigmatism=2", "radius=3",
                                  "toward=70")),
                  b = request("aperture", N, N,
                              SET("light=laser", "wavelength=550", "astigmatism=2.5", "radius=2.4",
                                  "toward=70"));
    OWN(taps) p = taps_of(&a, make_threads()), q = taps_of(&b, make_threads());
    double peak = 0, off = 0;
    for (int i = 0; i < N * N; i++) {
        peak = fmax(peak, (double)p.of[1][i]);
        off = fmax(off, fabs((double)p.of[1][i] - (double)q.of[1][i]));
    }
    CHECK_LE(off, 1e-3 * peak);
}

/* White light against the sum over its wavelengths, each with waves of its own. A pixel is a tenth
 * of the first dark ring's radius. */
TEST(white_light_is_the_sum_of_its_waves) {
    enum { N = 257, PLACES = 12, MOST = 80 };
    const double step = 0.01;
    const int before = (int)(log(LAMP_RED / GREEN) / step),
              after = (int)(log(GREEN / LAMP_VIOLET) / step);
    model_request r = request("aperture", N, N, SET("coma=2.5", "toward=0", "radius=10"));
    OWN(taps) k = taps_of(&r, make_threads());
    static float tint[MOST][MODEL_CHANNELS];
    const lamp_steps steps = {r.colours, true, GREEN, step, before, after};
    CHECK_OK(lamp_tints(tint, r.light, &steps, &e));
    pupil level = {.toward_x = 1, .coma = 2.5};
    CHECK_OK(pupil_level(&level, &e));
    double want[MODEL_CHANNELS][PLACES] = {{0}}, got = 0, sum = 0;
    for (int i = 0; i < PLACES; i++) {
        const double x = i * 3 - 8, y = 5 * sin(i), fine = 3.8317059702075125 / 10;
        for (int t = 0; t <= before + after; t++) {
            const double times = exp((t - before) * step);
            const double light =
                sum_of(&level, times, fine * times * floor(x), fine * times * floor(y));
            for (int c = 0; c < MODEL_CHANNELS; c++) want[c][i] += (double)tint[t][c] * light;
        }
    }
    for (int c = 0; c < MODEL_CHANNELS; c++) {
        double peak = 0;
        got = sum = 0;
        for (int pass = 0; pass < 2; pass++)
            for (int i = 0; i < PLACES; i++) {
                const double x = floor(i * 3 - 8), y = floor(5 * sin(i));
                const double v = (double)k.of[c][(N / 2 + (int)y) * N + N / 2 + (int)x];
                if (pass == 0) got += v, sum += want[c][i], peak = fmax(peak, v);
                /* A pattern stands for wavelengths that differ by up to 9 %. */
                if (pass == 1) CHECK_LE(fabs(v - want[c][i] * got / sum), 0.04 * peak);
            }
    }
}

TEST(more_waves_than_can_be_drawn_are_refused) {
    model_request r = request("aperture", 65, 65, SET("coma=6", "astigmatism=-4", "focus=1.5"));
    double kept;
    uint32_t side;
    CHECK_REFUSED(model_kept(&kept, &side, &r, 0.8, make_threads(), &e), ERR_USAGE,
                  "add up to 11.5 waves; at most 10");
    CHECK_REFUSED(set_word(&r, "coma=11", &e), ERR_USAGE, "from -10 to 10");
}

RUN_TESTS(NULL, NULL)
