/* The linter of kernels: each figure against what the kernel was built to have, each rule against a
 * kernel that breaks it and one that does not. */
#include "app/tools/kernel_words.h"
#include "unit/check.h"

#include <math.h>
#include <string.h>

enum { N = 64 };
static float tap[3][(N + 1) * (N + 1)];

static lint look(uint32_t w, uint32_t h, uint32_t channels) {
    const float *plane[3] = {tap[0], tap[1], tap[2]};
    lint l;
    err e = {0};
    CHECK_OK(lint_kernel(&l, plane, w, h, channels, &e), e);
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

static void figures(void **state) {
    (void)state;
    power(N + 1, N + 1, 32, 32, 6, 0);
    lint l = look(N + 1, N + 1, 3);
    assert_true(l.peak[0] == 32 && l.peak[1] == 32 && l.bad == 0 && l.negative == 0);
    CHECK_LE(fabs(l.centroid[0] - 32) + fabs(l.centroid[1] - 32), 1e-9);
    CHECK_LE(l.asymmetry, 1e-7);
    CHECK_LE(fabs(l.slope - 6), 0.1);
    assert_true(!warns(&l, "tail") && !found(&l, "centre") && !found(&l, "symmetry"));
    double sum = 0;
    for (int i = 0; i < (N + 1) * (N + 1); i++) sum += (double)tap[0][i];
    CHECK_LE(fabs(l.sum[1] - sum), 1e-9 * sum);
    CHECK_LE(fabs(l.centre_tap - 1 / sum), 1e-9);
}

/* What the fitted tail says lies outside, against a sum over a plane ten times as wide. */
static void tails(void **state) {
    (void)state;
    power(N + 1, N + 1, 32, 32, 3, 0);
    lint l = look(N + 1, N + 1, 1);
    double inside = 0, all = 0;
    for (int y = -1200; y <= 1200; y++)
        for (int x = -1200; x <= 1200; x++) {
            double v = pow(1 + x * x + y * y, -1.5);
            all += v;
            if (x * x + y * y <= 32 * 32) inside += v;
        }
    all += 2 * M_PI / 1200;
    assert_true(warns(&l, "tail"));
    CHECK_LE(fabs(l.beyond - (1 - inside / all)), 0.2 * (1 - inside / all));
    /* 99.9 % of a slope of 3: the rim at which 1 / R is a thousandth of the whole. */
    CHECK_LE(fabs(l.enough - 2 * 2 * M_PI / (all * 1e-3)), 0.25 * l.enough);
    power(N + 1, N + 1, 32, 32, 1.5, 0);
    l = look(N + 1, N + 1, 1);
    assert_true(isinf(l.enough) && warns(&l, "tail"));
}

static void rules(void **state) {
    (void)state;
    lint l;
    power(N, N, 31, 31, 6, 0); /* the middle of other tools */
    l = look(N, N, 1);
    assert_true(warns(&l, "centre") && strstr(found(&l, "centre")->words, "(n - 1) / 2"));
    power(N, N, 20, 32, 6, 0);
    l = look(N, N, 1);
    assert_true(warns(&l, "centre") && strstr(found(&l, "centre")->words, "move by -12, 0"));
    power(N, N, 0, 0, 6, 0);
    l = look(N, N, 1);
    assert_true(strstr(found(&l, "centre")->words, "corner"));
    power(N, N, 32, 32, 8, 1e-3); /* a background of a thousandth of the peak */
    l = look(N, N, 1);
    assert_true(warns(&l, "background"));
    CHECK_LE(fabs(l.background - 1e-3), 1e-5);

    power(N, N, 32, 32, 6, 0);
    tap[0][40] = -0.5f, tap[1][70] = NAN, tap[2][71] = INFINITY;
    l = look(N, N, 3);
    assert_true(l.negative == 1 && l.bad == 2 && l.first_bad[0] == 1 && l.first_bad[1] == 6 &&
                l.first_bad[2] == 1);
    assert_true(warns(&l, "negative") && warns(&l, "not_finite"));

    power(N, N, 32, 32, 6, 0);
    tap[0][20 * N + 45] += 0.3f; /* a ghost */
    l = look(N, N, 1);
    assert_true(found(&l, "symmetry") && !warns(&l, "symmetry") && warns(&l, "centroid"));
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

/* Half floats lose what the format says they lose. */
static void halves(void **state) {
    (void)state;
    memset(tap, 0, sizeof tap);
    tap[0][32 * N + 32] = 1;
    for (int i = 0; i < 100; i++) tap[0][i] = 1e-8f;
    lint l = look(N, N, 1);
    assert_int_equal(l.half_zero, 100);
    CHECK_LE(fabs(l.half_lost - 1e-6), 1e-8);
    assert_true(found(&l, "half") && !warns(&l, "half"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(figures), cmocka_unit_test(tails),
                                       cmocka_unit_test(rules), cmocka_unit_test(halves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
