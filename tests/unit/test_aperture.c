/* Diffraction at openings that are drawn: against Bessel's functions, the closed form of a polygon,
 * and what the shapes are known for. */
#include "base/hash.h"
#include "base/number.h"
#include "base/steady.h"
#include "kernel/make/pupil.h"
#include "unit/taps.h"

static void draw(double *to, uint32_t across, const pupil *p) {
    OPEN(pupil_drawing) *d = MADE(pupil_drawing_open(p, across, &e));
    const uint32_t side = across + 2 * PUPIL_MARGIN;
    for (uint32_t row = 0; row < side; row++) pupil_drawing_row(d, row, to + (size_t)row * side);
}

static pattern *pattern_of(const pupil *p, double reach) {
    pattern *made = pattern_new(p, &(double){1}, 1, reach, false, make_threads(), &e);
    if (!made) fail_msg("%s", e.msg);
    return made;
}

static double light_at(const pattern *p, double x, double y) {
    double to;
    pattern_along(p, 0, x, y, &(double){1}, 1, &to);
    return to;
}

TEST(steady) {
    for (int i = 0; i < 4000; i++) {
        double x = i * 0.05 + 1e-3, a = i * 0.01 - 20;
        CHECK_LE(fabs(steady_j1(x) - j1(x)), 2e-11);
        CHECK_LE(fabs(steady_atan2(sin(a), cos(a)) - atan2(sin(a), cos(a))), 1e-14);
        CHECK_LE(fabs(steady_pow(x, -1.7) / pow(x, -1.7) - 1), 1e-13);
    }
    assert_true(steady_atan2(0, 0) == 0);
}

static double airy(double k) {
    double a = k < 1e-9 ? 1 : 2 * j1(k) / k;
    return a * a;
}

TEST(circle) {
    pupil round = {0};
    OWN(pattern) *p = pattern_of(&round, 700);
    double peak = light_at(p, 0, 0);
    CHECK_LE(fabs(peak - 1), 3e-6);
    for (int i = 0; i < 4000; i++) {
        double k = 700.0 * i / 4000, a = 0.37 * i;
        double got = light_at(p, k * cos(a), k * sin(a));
        CHECK_LE(fabs(got / peak - airy(k)), 1e-6);
        /* Far out, against the height of the rings there. */
        CHECK_LE(fabs(got / peak - airy(k)), 0.06 * 8 / M_PI / (1 + k * k * k));
    }
    /* The first dark ring holds 1 - J0^2 of the light. */
    double in = 0, step = 3.8317059702075125 / 2000;
    for (int i = 0; i < 2000; i++) {
        double k = (i + 0.5) * step;
        in += light_at(p, k * 0.6, k * 0.8) * 2 * M_PI * k * step;
    }
    CHECK_LE(fabs(in / (4 * M_PI) - (1 - j0(3.8317059702075125) * j0(3.8317059702075125))), 1e-5);
    CHECK_LE(fabs(in / (4 * M_PI) - 0.838), 5e-4);
    /* Beyond the reach it goes on as edges do: 8 times fainter an octave farther out. */
    assert_true(light_at(p, 1e6, 0) > 0 && light_at(p, 1e6, 3e5) == 8 * light_at(p, 2e6, 6e5));
}

/* The model `airy` and the model `aperture` make the same taps. */
TEST(models_agree) {
    const model_request one = request("airy", 65, 65, SET("radius=3")),
                        two = request("aperture", 65, 65, SET("radius=3"));
    OWN(taps) a = taps_of(&one, make_threads()), b = taps_of(&two, make_threads());
    for (int c = 0; c < MODEL_CHANNELS; c++)
        for (int i = 0; i < 65 * 65; i++)
            CHECK_LE(fabs((double)a.of[c][i] - (double)b.of[c][i]),
                     2e-5 * (double)a.of[c][32 * 65 + 32]);
}

TEST(polygon) {
    const model *star = model_find("star");
    for (int blades = 3; blades <= 8; blades += 5) {
        pupil iris = {.blades = blades};
        OWN(pattern) *p = pattern_of(&iris, 300);
        double v[MODEL_PARAMETERS] = {3.8317059702075125, blades};
        double peak = star->light(v, 0, 0, MODEL_GREEN);
        for (int i = 0; i < 2000; i++) {
            double k = 0.15 * i, a = 0.61 * i, x = k * cos(a), y = k * sin(a);
            CHECK_LE(fabs(light_at(p, x, y) / light_at(p, 0, 0) -
                          star->light(v, x, y, MODEL_GREEN) / peak),
                     1e-5);
        }
    }
}

/* Light at a distance by direction, in parts of 1/720 of a turn. */
static void around(const pattern *p, double to[720]) {
    for (int d = 0; d < 720; d++) {
        double a = 2 * M_PI * d / 720;
        to[d] = 0;
        for (int i = 0; i < 60; i++) {
            double k = 200 * (1 + i / 120.0);
            to[d] += light_at(p, k * cos(a), k * sin(a));
        }
    }
}

/* An even number of straight blades makes as many spikes, an odd number twice as many; each spike
 * is at right angles to a blade. The rounder the blades, the weaker the spikes. */
TEST(spikes) {
    for (int blades = 4; blades <= 9; blades++) {
        double light[720], mean = 0;
        int count = 0, want = blades % 2 ? 2 * blades : blades;
        pupil iris = {.blades = blades};
        OWN(pattern) *p = pattern_of(&iris, 300);
        around(p, light);
        for (int d = 0; d < 720; d++) mean += light[d] / 720;
        for (int d = 0; d < 720; d++) {
            bool top = light[d] > 3 * mean; /* and the highest of 4 degrees to both sides */
            for (int i = -8; i <= 8; i++)
                top = top && (light[d] > light[(d + i + 720) % 720] ||
                              (i >= 0 && light[d] == light[(d + i) % 720]));
            if (!top) continue;
            count++;
            double off = fmod(d + 360.0 / want, 720.0 / want) - 360.0 / want;
            CHECK_LE(fabs(off), 1.01);
        }
        assert_int_equal(count, want);
    }
    double strength[3];
    for (int i = 0; i < 3; i++) {
        double light[720], mean = 0;
        pupil iris = {.blades = 6, .curvature = 0.45 * i + 0.05};
        OWN(pattern) *p = pattern_of(&iris, 300);
        around(p, light);
        for (int d = 0; d < 720; d++) mean += light[d] / 720;
        strength[i] = light[0] / mean;
    }
    assert_true(strength[0] > 2 * strength[1] && strength[1] > 1.5 * strength[2]);
    CHECK_LE(strength[2], 2.5);
}

/* Blades whose curvature is 1 are a circle. */
TEST(round_blades) {
    pupil iris = {.blades = 7, .curvature = 1};
    OWN(pattern) *p = pattern_of(&iris, 60);
    for (int i = 0; i < 200; i++)
        CHECK_LE(fabs(light_at(p, 0.18 * i, 0.24 * i) - airy(0.3 * i)), 5e-5);
}

/* An image of a disc is a disc; dirt comes from its seed alone and only takes light. */
TEST(drawn) {
    enum { N = 256, M = 64 + 2 * PUPIL_MARGIN };
    static float mask[N * N];
    for (int i = 0; i < N * N; i++)
        mask[i] = (float)clamp_double(
            N / 2 - 2 - hypot(i % N + 0.5 - N / 2, i / N + 0.5 - N / 2) + 0.5, 0, 1);
    pupil image = {.shape = PUPIL_MASK, .mask = mask, .mask_w = N, .mask_h = N};
    pattern *p = pattern_of(&image, 60);
    double scale = (N / 2 - 2.0) / (N / 2), peak = light_at(p, 0, 0);
    for (int i = 0; i < 200; i++)
        CHECK_LE(fabs(light_at(p, 0.18 * i, 0.24 * i) / peak - airy(0.3 * i * scale)), 1e-3);
    pattern_free(&p);

    static double plain[M * M], a[M * M], b[M * M];
    pupil clean = {.blades = 5}, dirty = {.blades = 5,
                                          .dust = 50,
                                          .scratches = 5,
                                          .fibres = 2,
                                          .lashes = 6,
                                          .smudges = 2,
                                          .seed = 7};
    draw(plain, 64, &clean);
    draw(a, 64, &dirty);
    draw(b, 64, &dirty);
    assert_memory_equal(a, b, sizeof a);
    double taken = 0, all = 0;
    for (int i = 0; i < M * M; i++) {
        assert_true(a[i] >= 0 && a[i] <= plain[i] && plain[i] <= 1);
        taken += plain[i] - a[i], all += plain[i];
    }
    assert_true(taken > 0.02 * all && taken < 0.6 * all);
    dirty.seed = 8;
    draw(b, 64, &dirty);
    assert_true(memcmp(a, b, sizeof a) != 0);
    /* A regular pentagon with its corners on the unit circle. */
    CHECK_LE(fabs(all / (32 * 32) - 2.5 * sin(2 * M_PI / 5)), 2e-3);
}

static taps make(const char *name, uint32_t side, const char *const *set) {
    const model_request r = request(name, side, side, set);
    taps k = taps_of(&r, make_threads());
    assert_int_equal(k.channels, 3);
    return k;
}

/* The pattern of 660 nm is that of 440 nm, larger by one and a half. */
TEST(wavelengths) {
    static const char *const NAME[] = {"aperture", "star", "airy"};
    for (int i = 0; i < 3; i++) {
        OWN(taps) a = make(NAME[i], 64, SET("light=laser", "wavelength=660", "radius=2"));
        OWN(taps) b = make(NAME[i], 64, SET("light=laser", "wavelength=440", "radius=3"));
        for (int c = 0; c < MODEL_CHANNELS; c++)
            for (int t = 0; t < 64 * 64; t++)
                CHECK_LE(fabs((double)a.of[c][t] - (double)b.of[c][t]), 1e-6 * (double)b.of[c][t]);
    }
}

/* The light of rings around the centre, one tap wide; of a kernel that is three times as fine,
 * three taps wide: each tap lies in a tap of the coarse kernel. */
static void ring_sums(double *to, int rings, const float *plane, int side, int finer) {
    memset(to, 0, (size_t)rings * sizeof *to);
    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++) {
            double u = floor((double)(x - side / 2) / finer + 0.5),
                   v = floor((double)(y - side / 2) / finer + 0.5);
            int r = (int)(hypot(u, v) + 0.5);
            if (r < rings) to[r] += (double)plane[y * side + x];
        }
}

/* The same lens and film at 1.4K and at 4K: each ring has the same light, as far as the directions
 * of a table, 2.2 a fringe, meet spikes that are narrower than a tap. */
TEST(sizes) {
    enum { SMALL = 97, RINGS = 45 };
    static const char *const NAME[] = {"aperture", "star", "airy", "spencer"};
    for (int i = 0; i < 4; i++) {
        const char *lens[5] = {"width=1365", "fnumber=22", "sensor=24"};
        const char *eye[5] = {"width=1365", "hfov=20"};
        const char **set = i == 3 ? eye : lens;
        if (i < 2) set[3] = "blades=7";
        OWN(taps) a = make(NAME[i], SMALL, set);
        set[0] = "width=4095";
        OWN(taps) b = make(NAME[i], 3 * SMALL, set);
        for (int c = 0; c < MODEL_CHANNELS; c++) {
            double one[RINGS], three[RINGS];
            ring_sums(one, RINGS, a.of[c], SMALL, 1);
            ring_sums(three, RINGS, b.of[c], 3 * SMALL, 3);
            for (int r = 0; r < RINGS; r++) CHECK_LE(fabs(one[r] - three[r]), 3e-3 * three[r]);
        }
    }
}

/* The same bytes on every machine, with every compiler, and with any number of threads: this is the
 * hash of one kernel with everything in it. */
TEST(same_everywhere) {
    enum { SIDE = 129 };
    uint64_t first = 0;
    model_request r =
        request("aperture", SIDE, SIDE,
                SET("radius=1.4", "blades=7", "round=0.4", "dust=90", "scratches=3", "fibres=2",
                    "smudges=1", "lashes=4", "seed=7", "turn=3", "vanes=3", "obstruction=0.2"));
    r.fade = 0.3;
    for (int run = 0; run < 2; run++) {
        OPEN(par) *some = par_open(run ? 3 : 1, &e);
        OWN(taps) k = taps_of(&r, some);
        hash_state sum;
        hash_begin(&sum);
        for (int c = 0; c < MODEL_CHANNELS; c++)
            hash_add(&sum, k.of[c], SIDE * SIDE * sizeof(float));
        uint64_t is = hash_end(&sum).lo;
        if (run == 0) first = is;
        assert_true(is == first);
    }
    if (first != 0x60783590f1edaddd)
        fail_msg("the taps are others: %016llx", (unsigned long long)first);
}

static double angle_of(int i) {
    return 0.002 * pow(1.6, i); /* degrees; 20 of them reach 15 */
}

TEST(spencer) {
    const model *m = model_find("spencer");
    static const double PHOTOPIC[] = {0.384, 0.478, 0.138, 0},
                        MESOPIC[] = {0.368, 0.478, 0.138, 0.016},
                        SCOTOPIC[] = {0.282, 0.478, 0.207, 0.033};
    const double *weight[] = {PHOTOPIC, MESOPIC, SCOTOPIC};
    for (int s = 0; s < 3; s++)
        for (int i = 0; i < 20; i++) {
            double t = angle_of(i), w = 400 + 15 * i, p[MODEL_PARAMETERS] = {0.02, s};
            double want = weight[s][0] * 2.61e6 * exp(-pow(t / 0.02, 2)) +
                          weight[s][1] * 20.91 * pow(t + 0.02, -3) +
                          weight[s][2] * 72.37 * pow(t + 0.02, -2) +
                          weight[s][3] * 436.9 * (568 / w) * exp(-pow(t - 3 * w / 568, 2));
            CHECK_LE(fabs(m->light(p, t / 0.02 * 0.6, t / 0.02 * 0.8, w) / want - 1), 1e-6);
        }
}

TEST(vos) {
    const model *m = model_find("cie");
    for (int s = 0; s < 3; s++)
        for (int i = 0; i < 20; i++) {
            double t = angle_of(i), age = 20 + 30 * s, pigment = 0.5 * s;
            double p[MODEL_PARAMETERS] = {0.02, age, pigment}, old = pow(age / 70, 4);
            double want = (1 - 0.08 * old) * (9.2e6 / pow(1 + pow(t / 0.0046, 2), 1.5) +
                                              1.5e5 / pow(1 + pow(t / 0.045, 2), 1.5)) +
                          (1 + 1.6 * old) * ((400 / (1 + pow(t / 0.1, 2)) + 3e-8 * t * t) +
                                             pigment * (1300 / pow(1 + pow(t / 0.1, 2), 1.5) +
                                                        0.8 / pow(1 + pow(t / 0.1, 2), 0.5))) +
                          2.5e-3 * pigment;
            CHECK_LE(fabs(m->light(p, t / 0.02, 0, MODEL_GREEN) / want - 1), 1e-6);
        }
}

/* Each white light is as white as its definition says, and each laser makes the same kernel in all
 * channels. */
TEST(lights) {
    static const struct {
        const char *name;
        double x, y, within;
    } WHITE[] = {{"d65", 0.3127, 0.3290, 0.004},
                 {"tungsten", 0.4476, 0.4074, 0.004},
                 {"equal", 1 / 3.0, 1 / 3.0, 0.004},
                 {"led", 0.3805, 0.3768, 0.004}};
    for (size_t i = 0; i < COUNT(WHITE); i++) {
        const lamp *l = LAMPS;
        while (strcmp(l->name, WHITE[i].name) != 0) l++;
        double sum[3] = {0}, v[3];
        for (int w = 380; w <= 720; w++) {
            lamp_xyz(w, exp, v);
            for (int k = 0; k < 3; k++) sum[k] += v[k] * l->power(w);
        }
        double all = sum[0] + sum[1] + sum[2];
        CHECK_LE(fabs(sum[0] / all - WHITE[i].x), WHITE[i].within);
        CHECK_LE(fabs(sum[1] / all - WHITE[i].y), WHITE[i].within);
    }
    OWN(taps) k = make("airy", 33, SET("light=sodium", "radius=4"));
    for (int t = 0; t < 33 * 33; t++)
        for (int c = 1; c < MODEL_CHANNELS; c++)
            CHECK_LE(fabs((double)k.of[c][t] - (double)k.of[0][t]), 1e-6 * (double)k.of[0][t]);
}

/* What two discs of radius 1 share has a known area, and its middle lies half the way to the rim.
 */
TEST(a_rim_clips_the_opening) {
    enum { ACROSS = 256, SIDE = ACROSS + 2 * PUPIL_MARGIN };
    static double to[SIDE * SIDE];
    static const double OFF[] = {0.3, 1, 1.7};
    for (int i = 0; i < 3; i++) {
        const double d = OFF[i], fine = ACROSS / 2.0;
        const pupil p = {.clip = d, .toward_x = 0.6, .toward_y = -0.8};
        double sum = 0, x = 0, y = 0;
        draw(to, ACROSS, &p);
        for (int k = 0; k < SIDE * SIDE; k++)
            sum += to[k], x += to[k] * (k % SIDE + 0.5), y += to[k] * (k / SIDE + 0.5);
        const double area = 2 * acos(d / 2) - d / 2 * sqrt(4 - d * d);
        CHECK_LE(fabs(sum / (fine * fine) - area), 1e-3);
        CHECK_LE(fabs((x / sum - SIDE / 2.0) / fine - 0.3 * d), 1e-3);
        CHECK_LE(fabs((y / sum - SIDE / 2.0) / fine + 0.4 * d), 1e-3);
    }
}

RUN_TESTS(NULL, NULL)
