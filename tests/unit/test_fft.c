/* The host's transforms against a sum in long double, and half spectra against the same sum. */
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
    OWN(fft) *f = fft_new(n, &e);
    CHECK_OK(f);
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
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        check_length(lengths[i], lengths[i] / 16);
}

TEST(refuses_other_lengths) {
    static const uint32_t lengths[] = {0, 11, 13, 22, 4294967291u};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        CHECK_REFUSED(fft_new(lengths[i], &e), ERR_INTERNAL, "");
}

TEST(roots_are_exact) {
    static const uint32_t lengths[] = {1, 2, 3, 4, 8, 12, 49, 1000, 3072};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        uint32_t n = lengths[i];
        OWN_MEM exact *root = roots_of(n);
        for (uint32_t t = 0; t < n; t++) {
            double re, im;
            fft_root(t + 5ull * n, n, &re, &im);
            CHECK_LE(fabsl(re - creall(root[t])), DBL_EPSILON);
            CHECK_LE(fabsl(im - cimagl(root[t])), DBL_EPSILON);
        }
    }
}

/* --- half spectra --- */

typedef struct {
    uint32_t first, lines;
    double *sample;
} source;

static void fill(const void *ctx, uint32_t i, double *to) {
    const source *s = ctx;
    memcpy(to, s->sample + (size_t)i * s->first, s->first * sizeof *to);
}

static void check_half(par *threads, uint32_t first, uint32_t second, uint32_t lines,
                       uint32_t origin) {
    uint64_t seed = first * 1000 + second;
    source s = {first, lines, mem_raw((size_t)lines * first + 1, sizeof(double), "in", &e)};
    double norm = 0;
    for (size_t i = 0; i < (size_t)lines * first; i++) {
        s.sample[i] = 2 * make_chance(&seed) - 1;
        norm += s.sample[i] * s.sample[i];
    }
    uint32_t halves = first / 2 + 1;
    size_t count = (size_t)halves * second * 2;
    double *out = mem_raw(count, sizeof *out, "out", &e);
    float *narrow = mem_raw(count, sizeof *narrow, "out", &e);
    fft_plane p = {first, second, lines, origin, fill, &s, true};
    CHECK_OK(fft_half_spectrum(out, &p, threads, &e));
    p.float64 = false;
    CHECK_OK(fft_half_spectrum(narrow, &p, threads, &e));
    for (size_t i = 0; i < count; i++) assert_true(narrow[i] == (float)out[i]);

    exact *r1 = roots_of(first), *r2 = roots_of(second);
    for (uint32_t k1 = 0; k1 < halves; k1++)
        for (uint32_t k2 = 0; k2 < second; k2++) {
            exact sum = 0;
            for (uint32_t m = 0; m < lines; m++)
                for (uint32_t i = 0; i < first; i++)
                    sum += s.sample[(size_t)m * first + i] * r1[i * k1 % first] *
                           r2[((uint64_t)m + origin) % second * k2 % second];
            const double *at = out + ((size_t)k1 * second + k2) * 2;
            /* Six sigma: the error is spread evenly over all frequencies. */
            double limit = 6 * sqrt(norm) * (bound(first) + bound(second));
            CHECK_LE(cabsl(sum - at[0] - I * at[1]), limit);
        }
    mem_free(r1), mem_free(r2), mem_free(out), mem_free(narrow), mem_free(s.sample);
}

TEST(half_spectra) {
    OPEN(par) *threads = par_open(3, &e);
    check_half(threads, 1, 1, 1, 0);
    check_half(threads, 2, 1, 1, 0);
    check_half(threads, 1, 6, 4, 5);
    check_half(threads, 16, 12, 12, 0);
    check_half(threads, 15, 9, 9, 4);
    check_half(threads, 30, 21, 5, 19);
    check_half(threads, 7, 64, 9, 60);
    check_half(threads, 8, 8, 0, 0);
}

RUN_TESTS(NULL, NULL)
