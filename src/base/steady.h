/* steady.h - arithmetic that gives the same bits everywhere, for generated kernels and images. IEEE
 * 754 rounds + - * / and sqrt correctly; sin, cos, exp of a C library depend on the machine. These
 * are series, right to about 1e-13. Compile with -ffp-contract=off. */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define STEADY_PI 3.14159265358979323846

/* Taylor series of sin about 0. The first term left out is below 5e-14 for |x| <= pi / 2, and below
 * 1e-19 for |x| <= pi / 4. */
static inline double steady_sin_near(double x) {
    static const double OVER[] = {6, 20, 42, 72, 110, 156, 210, 272}; /* (2i + 2) (2i + 3) */
    double square = x * x, sum = 1;
    for (int i = 7; i >= 0; i--) sum = 1 - sum * square * (1 / OVER[i]);
    return x * sum;
}

/* The same of cos; |x| <= pi / 4 leaves out less than 1e-17. */
static inline double steady_cos_near(double x) {
    static const double OVER[] = {2, 12, 30, 56, 90, 132, 182, 240}; /* (2i + 1) (2i + 2) */
    double square = x * x, sum = 1;
    for (int i = 7; i >= 0; i--) sum = 1 - sum * square * (1 / OVER[i]);
    return sum;
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

/* exp(-2 pi i t / n), each part to the last bit or so. The angle is brought into the first octant
 * by integers, where sin and cos lose nothing. */
static inline void steady_root(uint64_t t, uint64_t n, double *re, double *im) {
    t %= n;
    const bool below = 2 * t > n; /* the lower half plane, mirrored up */
    if (below) t = n - t;
    const bool left = 4 * t > n; /* the left quadrant, mirrored to the right */
    const uint64_t right2 = left ? n - 2 * t
                                 : 2 * t; /* twice the index, so that halves stay whole */
    const bool steep = 4 * right2 > n;
    const double part = steep ? (double)n / 4 - (double)right2 / 2 : (double)right2 / 2;
    const double angle = 6.283185307179586476925286766559 * part / (double)n;
    const double c = steady_cos_near(angle), s = steady_sin_near(angle);
    *re = left ? -(steep ? s : c) : steep ? s : c;
    *im = below ? (steep ? c : s) : -(steep ? c : s);
}

/* exp(x) = 2^n exp(x - n ln 2); a product with a power of two is exact. 0 below exp(-700). */
static inline double steady_exp(double x) {
    static const double OVER[] = {1.0,      1.0 / 2,  1.0 / 3,  1.0 / 4, 1.0 / 5,
                                  1.0 / 6,  1.0 / 7,  1.0 / 8,  1.0 / 9, 1.0 / 10,
                                  1.0 / 11, 1.0 / 12, 1.0 / 13, 1.0 / 14};
    if (!(x >= -700.0)) return x < 0.0 ? 0.0 : x; /* NaN stays */
    if (x > 710.0) return INFINITY;
    double n = floor(x * 1.44269504088896340736 + 0.5);
    double rest = x - n * 0.693147180559945309417, sum = 1, power;
    for (int i = 13; i >= 0; i--) sum = 1 + sum * rest * OVER[i];
    if (n > 1000.0) return ldexp(sum, (int)n);
    uint64_t bits = (uint64_t)(1023 + (int64_t)n) << 52;
    memcpy(&power, &bits, sizeof power);
    return sum * power;
}

/* ln(x): x = m 2^n with m near 1, and ln(m) = 2 artanh((m - 1) / (m + 1)). */
static inline double steady_log(double x) {
    if (!(x > 0.0) || isinf(x)) return x == 0.0 ? -INFINITY : x > 0.0 ? x : NAN;
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

/* x^y for x >= 0 and y other than 0. */
static inline double steady_pow(double x, double y) {
    return steady_exp(y * steady_log(x));
}

static inline double steady_log10(double x) {
    return steady_log(x) * 0.43429448190325182765;
}

/* Taylor series for |z| <= tan(pi / 8); larger ones are turned back by pi / 4. */
static inline double steady_atan_near(double z) {
    double square = z * z, power = z, sum = 0;
    for (int i = 1; i <= 39; i += 2) {
        sum += power / i;
        power *= -square;
    }
    return sum;
}

/* The direction of a place, from -pi to pi. */
static inline double steady_atan2(double y, double x) {
    double ax = fabs(x), ay = fabs(y), low = ax < ay ? ax : ay, high = ax < ay ? ay : ax;
    if (high == 0.0) return 0.0;
    double z = low / high;
    double a = z > 0.41421356237309504880
                   ? STEADY_PI / 4.0 + steady_atan_near((z - 1.0) / (z + 1.0))
                   : steady_atan_near(z);
    if (ay > ax) a = STEADY_PI / 2.0 - a;
    if (x < 0.0) a = STEADY_PI - a;
    return y < 0.0 ? -a : a;
}

/* Bessel's function J1: its series near 0, and from 12 on Hankel's expansion, whose terms shrink
 * until they are below 1e-10. Good for 0 <= x <= 1e6. */
static inline double steady_j1(double x) {
    if (x < 12.0) {
        double square = x * x / 4.0, term = x / 2.0, sum = 0.0;
        for (int k = 1; k <= 40; k++) {
            sum += term;
            term *= -square / ((double)k * (k + 1));
        }
        return sum;
    }
    double term = 1.0, part[2] = {0.0, 0.0};
    for (int k = 0; k < 20; k++) {
        part[k % 2] += k % 4 < 2 ? term : -term;
        term *= (4.0 - (2.0 * k + 1) * (2.0 * k + 1)) / ((k + 1) * 8.0 * x);
    }
    double at = x - 0.75 * STEADY_PI;
    return sqrt(2.0 / (STEADY_PI * x)) * (part[0] * steady_cos(at) - part[1] * steady_sin(at));
}

/* 0 below a, 1 above b, smooth between. */
static inline double steady_ramp(double a, double b, double x) {
    double t = (x - a) / (b - a);
    t = t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
    return t * t * (3.0 - 2.0 * t);
}
