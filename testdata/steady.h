/* steady.h - arithmetic that gives the same bits everywhere, for the programs that make the
 * shipped images.
 *
 * IEEE 754 rounds + - * / and sqrt correctly, so they do not depend on the machine; sin, cos, exp
 * of a C library do. These are series, right to about 1e-15, and static inline so that this header
 * is all there is. Compile with -ffp-contract=off. */
#ifndef TESTDATA_STEADY_H
#define TESTDATA_STEADY_H

#include <math.h>

#define STEADY_PI 3.14159265358979323846

/* Taylor series of sin about 0; with |x| <= pi/2 the first term left out is below 1e-15. */
static inline double steady_sin_near(double x) {
    static const double OVER[] = {6, 20, 42, 72, 110, 156, 210, 272}; /* (2i + 2) (2i + 3) */
    double square = x * x, sum = 1;
    for (int i = 7; i >= 0; i--) sum = 1 - sum * square * (1 / OVER[i]);
    return x * sum;
}

/* sin(x) = (-1)^n sin(x - n pi). Good for |x| up to 1e6; the bits of pi are in two parts. */
static inline double steady_sin(double x) {
    double n = floor(x / STEADY_PI + 0.5);
    double rest = (x - n * STEADY_PI) - n * 1.2246467991473532e-16;
    double s = steady_sin_near(rest);
    return n - 2.0 * floor(n / 2.0) != 0.0 ? -s : s;
}

static inline double steady_cos(double x) {
    return steady_sin(x + STEADY_PI / 2.0);
}

/* exp(x) = 2^n exp(x - n ln 2); ldexp is exact. */
static inline double steady_exp(double x) {
    if (x < -700.0) return 0.0;
    double n = floor(x * 1.44269504088896340736 + 0.5);
    double rest = x - n * 0.693147180559945309417, sum = 1;
    for (int i = 14; i >= 1; i--) sum = 1 + sum * rest * (1.0 / i);
    return ldexp(sum, (int)n);
}

/* ln(x) for x > 0: x = m 2^n with m near 1, and ln(m) = 2 artanh((m - 1) / (m + 1)). */
static inline double steady_log(double x) {
    int n;
    double m = frexp(x, &n);
    if (m < 0.70710678118654752440) m *= 2, n--;
    double z = (m - 1) / (m + 1), square = z * z, power = z, sum = 0;
    for (int i = 1; i <= 23; i += 2) {
        sum += power / i;
        power *= square;
    }
    return 2 * sum + n * 0.693147180559945309417;
}

/* 0 below a, 1 above b, smooth between. */
static inline double steady_ramp(double a, double b, double x) {
    double t = (x - a) / (b - a);
    t = t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
    return t * t * (3.0 - 2.0 * t);
}

#endif
