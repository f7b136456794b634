#include "kernel/make/lines.h"

#include "base/mem.h"
#include "base/steady.h"

static const double ROOT = 2.50662827463100050242; /* of 2 pi */
/* Beyond this many deviations, squared, a bell is 4e-18 of its peak and is taken for 0. */
static const double BELL_END = 80;
/* From this deviation on the mean of a bell over a pixel is a series. */
static const double BROAD = 0.5;
/* Entries of the table for the smallest length, or for four deviations of a blur. A cubic through
 * four of them is off by 3/128 of the fourth difference: some 1e-10 of the light. */
static const double FINE = 512;

/* Grooves are never equally deep. */
static double arm(int i, double uneven) {
    uint64_t state = (uint64_t)(i + 3) << 20;
    return 1 + uneven * (2 * (double)(random_next(&state) >> 11) * 0x1p-53 - 1);
}

void lines_set(lines *l, const line_shape *shape, const double *p, double c, double s) {
    *l = (lines){.shape = *shape, .p = p};
    for (int i = 0; i < shape->count; i++) {
        double a = STEADY_PI * i / shape->count, ca = steady_cos(a), sa = steady_sin(a);
        l->c[i] = c * ca - s * sa, l->s[i] = s * ca + c * sa;
        for (int k = 0; k < 2; k++) l->arm[2 * i + k] = arm(2 * i + k, shape->uneven);
    }
}

/* Returns the light in the middle of a line. */
static double middle(const lines *l, double far, int kind) {
    const line_shape *shape = &l->shape;
    return shape->share(l->p, far, kind) * (shape->slope - 1) / (2 * shape->length) *
           steady_pow(1 + far / shape->length, -shape->slope) /
           (ROOT * (shape->width + shape->grow * far));
}

bool lines_table(lines *l, double far, err *e) {
    const line_shape *shape = &l->shape;
    l->per = FINE / fmin(fmin(shape->length, shape->width / shape->grow), 4 * shape->blur);
    size_t n = (size_t)(far * l->per) + 5;
    if (!(l->along = mem_new(n, sizeof *l->along, "lines", e))) return false;
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < l->shape.kinds; k++)
            l->along[i][k] = middle(l, ((double)i - 1) / l->per, k);
    return true;
}

void lines_free(lines *l) {
    mem_free(l->along);
}

double lines_at(const lines *l, double x, double y, int kind) {
    double sum = 0;
    for (int i = 0; i < l->shape.count; i++) {
        double along = l->c[i] * x + l->s[i] * y, across = l->c[i] * y - l->s[i] * x;
        double far = fabs(along), t = across / (l->shape.width + l->shape.grow * far),
               square = t * t;
        if (square <= BELL_END)
            sum += middle(l, far, kind) * l->arm[2 * i + (along < 0)] * steady_exp(-0.5 * square);
    }
    return sum;
}

uint32_t lines_near(const lines *l, double x, double y, double reach) {
    const double ends = 9; /* deviations: more than BELL_END's */
    uint32_t near = 0;
    for (int i = 0; i < l->shape.count; i++) {
        const double along = fabs(l->c[i] * x + l->s[i] * y) + reach;
        const double across = fabs(l->c[i] * y - l->s[i] * x) - reach;
        near |= (uint32_t)(across <= ends * (l->shape.width + l->shape.grow * along)) << i;
    }
    return near;
}

/* Adds light at a distance along a line, by a cubic through four entries of the table. */
VECTOR_INLINE void add_along(const lines *l, double far, double light, vec4d *sum) {
    const double at = far * l->per, f = at - floor(at), g = f - 1, h = f - 2, e = f + 1;
    const vec4d *v = l->along + (size_t)at;
    *sum += light * (e * g * h / 2 * v[1] - f * g * h / 6 * v[0] +
                     (e * f * g / 6 * v[3] - e * f * h / 2 * v[2]));
}

/* Adds a sample that lies along a line and across it. */
VECTOR_INLINE void add_sample(const lines *l, int i, double along, double across, vec4d *sum) {
    const double far = fabs(along), t = across / (l->shape.width + l->shape.grow * far),
                 square = t * t;
    if (square <= BELL_END)
        add_along(l, far, l->arm[2 * i + (along < 0)] * steady_exp(-0.5 * square), sum);
}

/* Adds the mean over a pixel in which the line is even along itself: the bell, blurred by the
 * square, which has the variance 1/12 and the fourth cumulant -1/120 in each direction. Edgeworth's
 * series is right to a thousandth of the peak where the bell's deviation is BROAD or more. */
VECTOR_INLINE void add_pixel(const lines *l, int i, double along, double across, vec4d *sum) {
    const double far = fabs(along), wide = l->shape.width + l->shape.grow * far;
    const double variance = wide * wide + 1 / 12.0, z = across * across / variance;
    const double c = l->c[i] * l->c[i], s = l->s[i] * l->s[i];
    const double fourth = (c * c + s * s) / (120 * 24 * variance * variance);
    const double bell = steady_exp(-0.5 * z) * (1 - fourth * (z * z - 6 * z + 3));
    const double light = l->arm[2 * i + (along < 0)] * wide / sqrt(variance);
    add_along(l, far, light * max_double(bell, 0), sum);
}

VECTOR_INLINE void add_lines(const lines *l, const line_pixel *at, double *to) {
    const int n = at->n;
    vec4d sum = {0};
    for (uint32_t left = at->near; left; left &= left - 1) {
        const int i = __builtin_ctz(left);
        const double c = l->c[i], s = l->s[i];
        const double along = c * at->x + s * at->y, across = c * at->y - s * at->x;
        const double wide = l->shape.width + l->shape.grow * fabs(along);
        if (at->far && across * across > BELL_END * wide * wide) continue;
        if (at->far && wide >= BROAD) {
            add_pixel(l, i, along, across, &sum);
            continue;
        }
        vec4d samples = {0};
        for (int row = 0; row < n; row++)
            for (int column = 0; column < n; column++) {
                const double u = (column + 0.5) / n - 0.5, v = (row + 0.5) / n - 0.5;
                add_sample(l, i, along + c * u + s * v, across + c * v - s * u, &samples);
            }
        sum += samples / (n * n);
    }
    for (int k = 0; k < l->shape.kinds; k++) to[k] += sum[k];
}

VECTOR_WIDE static void add_wide(const lines *l, const line_pixel *at, double *to) {
    add_lines(l, at, to);
}

void lines_add(const lines *l, const line_pixel *at, double sum[LINE_KINDS]) {
    (vector_wide() ? add_wide : add_lines)(l, at, sum);
}
