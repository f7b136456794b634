/* The table of docs/math.md, "What a filter costs": how far a kernel is changed when its spectrum
 * is read between its frequencies by different filters. All in double and by definition: nothing
 * of the program is used, so that the page's figures stand by themselves. */
#include "unit/kernels.h"

#include <complex.h>

typedef struct {
    const char *name;
    int over, taps; /* grid lengths per kernel size; taps of the filter */
    bool compensated, linear;
    double power_law, disc; /* what the page says: L1 error relative to the kernel's sum */
} filter;

static double beta_of(const filter *f) {
    double w = f->taps;
    return M_PI * sqrt(w * w / 4 * 1.5 * 1.5 - 0.8);
}

/* Simpson's rule on the integral of cosh over a half circle: I0(x). */
static double bessel(double x) {
    enum { N = 64 };
    double sum = 0;
    for (int i = 0; i <= N; i++)
        sum += (i == 0 || i == N ? 1 : i % 2 ? 4 : 2) * cosh(x * cos(M_PI * i / N));
    return sum / (3 * N);
}

static double shape(const filter *f, double t) {
    if (f->linear) return fmax(0, 1 - fabs(t));
    double u = 2 * t / f->taps;
    return u * u < 1 ? bessel(beta_of(f) * sqrt(1 - u * u)) : 0;
}

/* By what the filter multiplies a tap at x cycles per grid step: its transform, by the rectangle
 * rule on a function that vanishes (nearly) at both ends. */
static double falloff(const filter *f, double x) {
    enum { N = 1000 };
    double sum = 0, width = f->linear ? 2 : f->taps;
    for (int i = 0; i < N; i++) {
        double t = width * ((i + 0.5) / N - 0.5);
        sum += shape(f, t) * cos(2 * M_PI * x * t);
    }
    return sum * width / N;
}

static double complex *roots(int n) {
    double complex *to = mem_raw((size_t)n, sizeof *to, "roots", NULL);
    for (int i = 0; i < n; i++) to[i] = cexp(-2 * M_PI * I * (double)i / n);
    return to;
}

/* Returns the matrix of what each tap q of a line of K becomes at place n of a circle of L when its
 * spectrum goes through the filter: [n * K + q], n counted from the middle tap. */
static double *line_matrix(const filter *f, int K, int L) {
    int M = f->over * K;
    double complex *mixed = mem_raw((size_t)L * (size_t)K, sizeof *mixed, "spectra", NULL);
    double *to = mem_raw((size_t)L * (size_t)K, sizeof *to, "matrix", NULL);
    double *undo = mem_raw((size_t)K, sizeof *undo, "weights", NULL);
    for (int q = 0; q < K; q++)
        undo[q] = 1 / falloff(f, f->compensated ? (double)(q - K / 2) / M : 0);
    double complex *small = roots(M), *large = roots(L);
    for (int k = 0; k < L; k++) {
        /* Frequencies above the middle are the negative ones. */
        double place = (double)(2 * k > L ? k - L : k) * M / L;
        int below = (int)floor(place);
        double weight[10]; /* of below - 4 .. below + 5 */
        for (int t = 0; t < 10; t++) weight[t] = shape(f, place - (below - 4 + t));
        for (int q = 0; q < K; q++) {
            double complex sum = 0;
            for (int t = 0; t < 10; t++) {
                long turns = (long)(below - 4 + t) * (q - K / 2) % M;
                sum += weight[t] * small[turns < 0 ? turns + M : turns];
            }
            mixed[k * K + q] = sum * undo[q];
        }
    }
    for (int n = 0; n < L; n++)
        for (int q = 0; q < K; q++) {
            double sum = 0; /* the imaginary parts cancel */
            for (int k = 0; k < L; k++)
                sum += creal(mixed[k * K + q] * conj(large[(long)k * n % L]));
            to[n * K + q] = sum / L;
        }
    mem_free(mixed), mem_free(undo), mem_free(small), mem_free(large);
    return to;
}

/* Returns the error for a kernel of K by K on a circle of lx by ly, relative to its sum. */
static double l1_error(const double *ax, const double *ay, const psf *k, int lx, int ly) {
    int K = (int)k->w;
    double error = 0;
    double *rows = mem_new((size_t)K * (size_t)lx, sizeof *rows, "rows", NULL);
    for (int y = 0; y < K; y++)
        for (int n = 0; n < lx; n++)
            for (int q = 0; q < K; q++)
                rows[y * lx + n] += ax[n * K + q] * (double)k->tap[y * K + q];
    for (int m = 0; m < ly; m++)
        for (int n = 0; n < lx; n++) {
            double is = 0;
            for (int y = 0; y < K; y++) is += ay[m * K + y] * rows[y * lx + n];
            int qx = (n + K / 2) % lx, qy = (m + K / 2) % ly;
            error += fabs(is - (qx < K && qy < K ? (double)k->tap[qy * K + qx] : 0));
        }
    mem_free(rows);
    return error / k->sum[0];
}

static const filter FILTERS[] = {
    {"linear", 1, 2, false, true, 0.091, 0.58},
    {"linear, twice as dense, compensated", 2, 2, true, true, 0.015, 0.099},
    {"Kaiser-Bessel, 4 taps", 2, 4, true, false, 2.3e-3, 1.4e-3},
    {"Kaiser-Bessel, 6 taps", 2, 6, true, false, 1.8e-5, 1.4e-5},
    {"Kaiser-Bessel, 8 taps", 2, 8, true, false, 1.8e-7, 1.3e-7},
};

TEST(the_table) {
    psf power_law = kernel_make(POWER_LAW, 64, 64, 1, 32, 32);
    psf disc = kernel_make(DISC, 64, 64, 1, 32, 32);
    for (size_t i = 0; i < sizeof FILTERS / sizeof *FILTERS; i++) {
        const filter *f = &FILTERS[i];
        double *ax = line_matrix(f, 64, 216), *ay = line_matrix(f, 64, 352);
        double a = l1_error(ax, ay, &power_law, 216, 352), b = l1_error(ax, ay, &disc, 216, 352);
        mem_free(ax), mem_free(ay);
        print_message("%-36s power law %.2g, disc %.2g\n", f->name, a, b);
        CHECK_LE(fabs(a / f->power_law - 1), 0.05); /* the page has two digits */
        CHECK_LE(fabs(b / f->disc - 1), 0.05);
    }
    psf_free(&power_law);
    psf_free(&disc);
}

int main(void) {
    return check_run(NULL, NULL);
}
