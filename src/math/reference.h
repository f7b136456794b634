/* reference.h - computes the definition, summed directly in double.
 *
 *   out(p) = sum over taps q of  scale * tap(q) * in(p - (q - centre))
 *
 * Every engine is compared with it, in tests and by --verify. It is slow and obvious, and shares no
 * code with anything that it checks. Its sums are compensated, so a result is off by at most two
 * roundings of its own size and 1e-32 of the sum of its terms' sizes. */
#ifndef MATH_REFERENCE_H
#define MATH_REFERENCE_H

#include "math/plan.h"

typedef struct {
    const float *in; /* w * h, packed rows */
    uint32_t w, h;
    plan_border border[PLAN_AXES];
    const float *tap; /* kernel_w * kernel_h */
    uint32_t kernel_w, kernel_h, cx, cy;
    double scale;
} reference;

/* Returns the pixel at x, y, which may lie outside the image. */
double reference_pixel(const reference *r, int64_t x, int64_t y);

/* Computes all w * h pixels of the image: O(w h kernel_w kernel_h). */
void reference_plane(const reference *r, double *out);

/* Returns the coordinate in [0, n) that stands for i behind a border, or -1 if that is zero. */
int64_t reference_source(int64_t i, uint32_t n, plan_border b);

#endif
