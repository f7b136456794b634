/* The host's transforms against a sum in long double; half spectra are those of test_spectrum.c. */
#include "base/steady.h"
#include "math/fft.h"
#include "unit/check.h"
#include "unit/make_image.h"

#include <complex.h>
#include <float.h>
#include <time.h>

typedef long double complex exact;

static bool smooth(uint32_t n) {
    static const uint32_t primes[] = {2, 3, 5, 7};
    for (int i = 0; i < 4; i++)
        while (n % primes[i] == 0) n /= primes[i];
    return n == 1;
}

static exact *roots_of(uint32_t n) {
    exact *root = mem_raw(n, sizeof *root, "roots", NULL);
    for (uint32_t t = 0; t < n; t++) {
        long double angle = -2 * 3.14159265358979323846264338327950288L * t / n;
        root[t] = cosl(angle) + I * sinl(angle);
    }
    return root;
}

/* Each of about 2 log2(n) additions and multiplications in a row adds at most one rounding of the
 * running norm, and roundings of both signs mostly cancel; the odd radices sum up to seven terms
 * per stage. */
static double bound(uint32_t n) {
    return DBL_EPSILON * (1 + log2((double)n));
}

/* Relative L2 error of frequency k = step, 2 step, ... of line `v`. */
static double error_of(const double *in, const double *out, uint32_t n, int v, uint32_t step) {
    OWN_MEM exact *root = roots_of(n);
    double error = 0, norm = 0;
    for (uint32_t k = 0; k < n; k += step) {
        exact sum = 0;
        for (uint32_t i = 0; i < n; i++)
            sum += (in[i * FFT_STEP + v] + I * in[i * FFT_STEP + FFT_LINES + v]) *
                   root[(uint64_t)i * k % n];
        exact d = sum - (out[k * FFT_STEP + v] + I * out[k * FFT_STEP + FFT_LINES + v]);
        error += (double)(creall(d) * creall(d) + cimagl(d) * cimagl(d));
        norm += (double)(creall(sum) * creall(sum) + cimagl(sum) * cimagl(sum));
    }
    return sqrt(error / norm);
}

static void check_length(uint32_t n, uint32_t step) {
    uint64_t seed = n;
    size_t count = (size_t)n * FFT_STEP;
    OWN_MEM double *a = mem_raw(count, sizeof *a, "a", &e), *b = mem_raw(count, sizeof *b, "b", &e),
                   *in = mem_raw(count, sizeof *in, "in", &e);
    for (size_t i = 0; i < count; i++) a[i] = in[i] = 2 * make_chance(&seed) - 1;
    OWN(fft) *f = MADE(fft_new(n, &e));
    double *out = fft_forward(f, a, b);
    for (int v = 0; v < FFT_LINES; v += FFT_LINES - 1)
        CHECK_LE(error_of(in, out, n, v, step), bound(n));
    double *back = fft_backward(f, out, out == a ? b : a);
    double worst = 0;
    for (size_t i = 0; i < count; i++) worst = fmax(worst, fabs(back[i] / n - in[i]));
    CHECK_LE(worst, 6 * bound(n)); /* six sigma of the two-way error, for samples of at most 1 */
}

TEST(every_smooth_length) {
    for (uint32_t n = 1; n <= 512; n++)
        if (smooth(n)) check_length(n, 1 + n / 64);
}

TEST(long_lengths) {
    static const uint32_t lengths[] = {1080, 1280, 2048, 2401, 3125, 6561, 10080, 16384};
    for (size_t i = 0; i < COUNT(lengths); i++) check_length(lengths[i], lengths[i] / 16);
}

TEST(refuses_other_lengths) {
    static const uint32_t lengths[] = {0, 11, 13, 22, 4294967291u};
    for (size_t i = 0; i < COUNT(lengths); i++)
        CHECK_REFUSED(fft_new(lengths[i], &e), ERR_INTERNAL, "");
}

TEST(roots_are_exact) {
    static const uint32_t lengths[] = {1, 2, 3, 4, 8, 12, 49, 1000, 3072};
    for (size_t i = 0; i < COUNT(lengths); i++) {
        uint32_t n = lengths[i];
        OWN_MEM exact *root = roots_of(n);
        for (uint32_t t = 0; t < n; t++) {
            double re, im;
            steady_root(t + 5ull * n, n, &re, &im);
            CHECK_LE(fabsl(re - creall(root[t])), DBL_EPSILON);
            CHECK_LE(fabsl(im - cimagl(root[t])), DBL_EPSILON);
        }
    }
}

RUN_TESTS(NULL, NULL)
