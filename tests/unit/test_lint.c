/* The linter of kernels: each figure against what the kernel was built to have, each rule against a
 * kernel that breaks it and one that does not. */
#include "kernel/lint.h"
#include "unit/taps.h"

enum { N = 64 };
static float tap[3][(N + 1) * (N + 1)];

static lint look(uint32_t w, uint32_t h, uint32_t channels) {
    const float *plane[3] = {tap[0], tap[1], tap[2]};
    lint l;
    CHECK_OK(lint_kernel(&l, &(psf_planes){w, h, channels, plane, NULL}, &e));
    return l;
}

/* A power law around (cx, cy), to the same three channels. */
static void power(uint32_t w, uint32_t h, double cx, double cy, double slope, double level) {
    for (uint32_t y = 0; y < h; y++)
        for (uint32_t x = 0; x < w; x++) {
            double r2 = (x - cx) * (x - cx) + (y - cy) * (y - cy);
            tap[0][y * w + x] = (float)(pow(1 + r2, -slope / 2) + level);
        }
    memcpy(tap[1], tap[0], sizeof tap[0]);
    memcpy(tap[2], tap[0], sizeof tap[0]);
}

static const kernel_finding *found(const lint *l, const char *key) {
    static kernel_finding f[KERNEL_FINDINGS];
    int n = kernel_findings(f, l);
    for (int i = 0; i < n; i++)
        if (strcmp(f[i].key, key) == 0) return &f[i];
    return NULL;
}

static bool warns(const lint *l, const char *key) {
    const kernel_finding *f = found(l, key);
    return f && f->warning;
}

TEST(figures) {
    power(N + 1, N + 1, 32, 32, 6, 0);
    lint l = look(N + 1, N + 1, 3);
    assert_true(l.peak[0] == 32 && l.peak[1] == 32 && l.bad == 0 && l.negative == 0);
    CHECK_LE(fabs(l.centroid[0] - 32) + fabs(l.centroid[1] - 32), 1e-9);
    CHECK_LE(fabs(l.slope - 6), 0.1);
    assert_true(!warns(&l, "tail") && !found(&l, "centre"));
    double sum = 0;
    for (int i = 0; i < (N + 1) * (N + 1); i++) sum += (double)tap[0][i];
    CHECK_LE(fabs(l.sum[1] - sum), 1e-9 * sum);
    CHECK_LE(fabs(l.centre_tap - 1 / sum), 1e-9);
    /* Of white all around, a black disc's middle gets what the kernel has outside it. */
    double outside = 0, within = 0;
    assert_true(l.glare_disc == 6);
    for (int i = 0; i < (N + 1) * (N + 1); i++) {
        double r = hypot(i % (N + 1) - 32, i / (N + 1) - 32);
        outside += r > 3 ? (double)tap[0][i] : 0;
        within += r <= l.radius_90 ? (double)tap[0][i] : 0;
    }
    CHECK_LE(fabs(l.glare - outside / sum), 1e-9);
    CHECK_LE(fabs(within / sum - 0.9), 0.05);
    CHECK_LE(l.inner_radius, l.radius_90);
    CHECK_LE(l.radius_90, l.radius_99);
}

/* The light that the fitted tail puts outside, against a sum over a plane far larger than the
 * kernel: what a long kernel has along its longer side is not outside. */
TEST(tails) {
    static const uint32_t HIGH[] = {N + 1, N / 2 + 1};
    for (size_t i = 0; i < COUNT(HIGH); i++) {
        const int cy = (int)HIGH[i] / 2;
        power(N + 1, HIGH[i], 32, cy, 3, 0);
        lint l = look(N + 1, HIGH[i], 1);
        double inside = 0, all = 2 * M_PI / 1200;
        for (int y = -1200; y <= 1200; y++)
            for (int x = -1200; x <= 1200; x++) {
                double v = pow(1 + x * x + y * y, -1.5);
                all += v;
                if (abs(x) <= 32 && abs(y) <= cy) inside += v;
            }
        assert_true(warns(&l, "tail"));
        CHECK_LE(fabs(l.beyond - (1 - inside / all)), 0.1 * (1 - inside / all));
        /* 99.9 % of a slope of 3: the rim at which 1 / R is a thousandth of the whole. */
        CHECK_LE(fabs(l.enough - 2 * 2 * M_PI / (all * 1e-3)), 0.25 * l.enough);
    }
}

/* One power law each: the finding, and what its sentence says. */
TEST(rules) {
    static const struct {
        uint32_t side;
        double x, y, slope, level;
        bool warning;
        const char *key, *words;
    } RULE[] = {
        {N, 31, 31, 6, 0, true, "centre", "moves by -1, -1 taps"}, /* the middle of other tools */
        {N, 20, 32, 6, 0, true, "centre", "moves by -12, 0 taps"},
        {N, 0, 0, 6, 0, true, "centre", "--kernel-center corner"},
        {N, 32, 32, 8, 1e-3, true, "background", "about 0.001 in"},
        /* A size is recommended only if a kernel of that size can be made. */
        {N + 1, 32, 32, 3, 0, true, "tail", "taps a side would hold 99.9 %; let it fade"},
        {N + 1, 32, 32, 2.15, 0, true, "tail", "show around bright lights; let it fade"},
        {N + 1, 32, 32, 1.5, 0, true, "tail", "about 100 % of the light would lie outside"},
        {N + 1, 32, 32, -2, 0, true, "tail", "goes as distance^1.99"},
    };
    for (size_t i = 0; i < COUNT(RULE); i++) {
        power(RULE[i].side, RULE[i].side, RULE[i].x, RULE[i].y, RULE[i].slope, RULE[i].level);
        lint l = look(RULE[i].side, RULE[i].side, 1);
        const kernel_finding *f = found(&l, RULE[i].key);
        if (!f || f->warning != RULE[i].warning || !strstr(f->words, RULE[i].words))
            fail_msg("rule %zu: %s", i, f ? f->words : "no finding");
    }
}

TEST(spoilt_taps) {
    power(N, N, 32, 32, 6, 0);
    tap[0][40] = -0.5f, tap[1][70] = NAN, tap[2][71] = INFINITY;
    lint l = look(N, N, 3);
    assert_true(l.negative == 1 && l.bad == 2 && l.first_bad[0] == 1 && l.first_bad[1] == 6 &&
                l.first_bad[2] == 1);
    assert_true(warns(&l, "negative") && warns(&l, "not_finite"));
    power(N, N, 32, 32, 6, 0);
    tap[0][20 * N + 45] += 0.3f; /* a ghost */
    l = look(N, N, 1);
    assert_true(warns(&l, "centre") &&
                strstr(found(&l, "centre")->words, "--kernel-center centroid"));
    for (int i = 0; i < N * N; i++) tap[2][i] *= 0.9f;
    l = look(N, N, 3);
    assert_true(found(&l, "colour") && !warns(&l, "colour"));
    memset(tap, 0, sizeof tap);
    l = look(N, N, 1);
    assert_true(warns(&l, "sum"));
    /* No size crashes it. */
    for (uint32_t w = 1; w < 20; w++)
        for (uint32_t h = 1; h < 20; h++) {
            power(w, h, w / 2, h / 2, 4, 0);
            l = look(w, h, 1);
            kernel_finding f[KERNEL_FINDINGS];
            assert_true(kernel_findings(f, &l) <= KERNEL_FINDINGS);
        }
}

static int warnings(const lint *l) {
    kernel_finding f[KERNEL_FINDINGS];
    int n = 0;
    for (int i = kernel_findings(f, l); i-- > 0;) n += f[i].warning;
    return n;
}

/* One fault is one warning: what follows from it is not said, too. */
TEST(consequences) {
    static float made[N * N];
    power(N, N, 32, 32, 5, 0);
    for (int i = 0; i < N * N;
         i++) { /* a cross, so that neighbours differ, and to nothing outside */
        int x = abs(i % N - 32), y = abs(i / N - 32);
        double r = hypot(x, y);
        made[i] = tap[0][i] * (x == 0 || y == 0 ? 20.0f : 1.0f) * (float)fmax(0, 1 - r / 30);
    }
    memset(tap, 0, sizeof tap);
    memcpy(tap[0], made, sizeof made);
    lint l = look(N, N, 1);
    assert_int_equal(warnings(&l), 0);
    /* Moved, and in the layout of transforms. */
    for (int wrapped = 0; wrapped < 2; wrapped++) {
        memset(tap, 0, sizeof tap);
        for (int i = 0; i < N * N; i++) {
            int x = i % N + (wrapped ? 32 : 9), y = i / N + (wrapped ? 32 : 5);
            if (wrapped || (x < N && y < N)) tap[0][y % N * N + x % N] = made[i];
        }
        l = look(N, N, 1);
        assert_true(l.corner == wrapped && warns(&l, "centre"));
        assert_int_equal(warnings(&l), 1);
        CHECK_LE(0, l.slope);
    }
    /* A constant below everything is not the tail, the border and the centre of gravity as well. */
    for (int i = 0; i < N * N; i++) tap[0][i] = made[i] + 1e-3f;
    l = look(N, N, 1);
    assert_true(warns(&l, "background"));
    assert_int_equal(warnings(&l), 1);
    /* Nothing but a constant. */
    for (int i = 0; i < N * N; i++) tap[0][i] = 0.5f;
    l = look(33, 33, 1);
    assert_true(l.flat && warnings(&l) == 0);
}

/* A bright tap in the corner alone is not the layout of transforms. */
TEST(corners) {
    uint64_t seed = 3;
    for (int i = 0; i < N * N; i++) tap[0][i] = (float)make_chance(&seed);
    tap[0][0] = 2;
    lint l = look(N, N, 1);
    assert_true(!l.corner && !l.centred && warns(&l, "centre"));
}

/* What a run says of its kernel, and what it leaves to the error that refuses it. */
TEST(glances) {
    static const struct {
        double x, y, spoilt;
        bool placed;
        const char *words;
        int off;
    } G[] = {{32, 32, 0, false, "", 0},    {20, 32, 0, false, "off centre by -12, 0", -12},
             {20, 32, 0, true, "", 0},     {0, 0, 0, false, "its centre is in the corner", 0},
             {20, 32, -1e6, false, "", 0}, {20, 32, NAN, false, "", 0}};
    const float *plane[1] = {tap[0]};
    for (size_t i = 0; i < COUNT(G); i++) {
        lint_faults said;
        err e = {0};
        power(N, N, G[i].x, G[i].y, 6, 0);
        tap[0][5] += (float)G[i].spoilt;
        CHECK_OK(lint_glance(&said, &(psf_planes){N, N, 1, plane, NULL}, G[i].placed, &e));
        assert_string_equal(said.words, G[i].words);
        assert_int_equal(said.off[0], G[i].off);
        assert_int_equal(said.off[1], 0);
    }
}

/* A tail that ends at once is one fault, and neither a disc nor a fade is. */
TEST(cut_tails) {
    power(N + 1, N + 1, 32, 32, 2.5, 0);
    for (int i = 0; i < (N + 1) * (N + 1); i++)
        if (hypot(i % (N + 1) - 32, i / (N + 1) - 32) > 20.4) tap[0][i] = 0;
    lint l = look(N + 1, N + 1, 1);
    assert_true(l.cut_at == 21 && warns(&l, "clipped_tail"));
    assert_int_equal(warnings(&l), 1);
    /* What lies outside of 1 + r^2 to the power of -1.25: its share is (1 + R^2)^-0.25. */
    CHECK_LE(fabs(l.cut_off - pow(1 + 20.5 * 20.5, -0.25)), 0.2 * l.cut_off);
    /* The same as 8 bits leave it: black from code 1/2 on. */
    power(N + 1, N + 1, 32, 32, 1.5, 0);
    for (int i = 0; i < (N + 1) * (N + 1); i++) tap[0][i] = roundf(tap[0][i] * 255) / 255;
    l = look(N + 1, N + 1, 1);
    assert_true(l.eight_bit && l.not_decoded && warns(&l, "eight_bit"));
    for (int shape = 0; shape < 2; shape++) {
        for (int i = 0; i < (N + 1) * (N + 1); i++) {
            double r = hypot(i % (N + 1) - 32, i / (N + 1) - 32);
            tap[0][i] = (float)(shape ? pow(1 + r * r, -1.2) * fmax(0, 1 - r * r / 441) : r < 20);
        }
        l = look(N + 1, N + 1, 1);
        assert_true(l.cut_at == 0 && !found(&l, "clipped_tail"));
    }
}

/* Steps of 8 bits are a note, where they are those of sRGB that was decoded. */
TEST(eight_bits) {
    for (int i = 0; i < N * N; i++) {
        double r2 = pow(i % N - 32, 2) + pow(i / N - 32, 2), code = round(255 * exp(-r2 / 200));
        double v = code / 255;
        tap[0][i] = (float)(v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4));
    }
    lint l = look(N, N, 1);
    assert_true(l.eight_bit && !l.not_decoded && found(&l, "eight_bit") && !warns(&l, "eight_bit"));
}

/* A kernel larger than useful is told how large it need be, and crop to that size loses nothing
 * that could be seen. */
TEST(useful_sizes) {
    memset(tap, 0, sizeof tap);
    for (int i = 0; i < (N + 1) * (N + 1); i++)
        if (abs(i % (N + 1) - 32) <= 6 && abs(i / (N + 1) - 32) <= 9) tap[0][i] = 1;
    lint l = look(N + 1, N + 1, 1);
    assert_true(l.useful == 19 && found(&l, "large") && !warns(&l, "large"));
    assert_non_null(strstr(found(&l, "large")->words, "--taps 19"));
    power(N + 1, N + 1, 32, 32, 4, 0);
    l = look(N + 1, N + 1, 1);
    assert_true(l.useful == N + 1 && !found(&l, "large"));
}

/* Kernels that the program makes pass its own check. */
TEST(models_pass) {
    for (int i = 0; i < MODEL_COUNT; i++)
        for (uint32_t side = 64; side <= (strcmp(MODELS[i].name, "moffat") ? 64 : 512); side *= 2) {
            model_request r = request(MODELS[i].name, side, side, NULL);
            double kept;
            uint32_t enough;
            lint l;
            r.fade = 0.6;
            /* What does not fit its taps is cut off, and make says so. */
            CHECK_OK(model_kept(&kept, &enough, &r, 0.8, make_threads(), &e));
            if (kept < 0.8) continue;
            OWN(taps) k = taps_of(&r, make_threads());
            const psf_planes made = {side, side, k.channels, (const float *const *)k.of, NULL};
            CHECK_OK(lint_kernel(&l, &made, &e));
            kernel_finding f[KERNEL_FINDINGS];
            if (warnings(&l) && kernel_findings(f, &l))
                fail_msg("%s of %u taps: %s", MODELS[i].name, side, f[0].words);
        }
}

RUN_TESTS(NULL, NULL)
