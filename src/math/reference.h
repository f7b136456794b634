/* reference.h - the definition, summed directly in double.
 *
 *   out(p) = sum over taps q of  scale * tap(q) * in(p - (q - centre))
 *
 * What every engine is compared with, in tests and by --verify. Slow and obvious: it shares no
 * code with anything that it checks, and its sums are compensated, so a result is off by two
 * roundings of its own size and of 1e-32 of the sum of its terms' sizes. */
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

/* The pixel at x, y, which may lie outside the image. */
double reference_pixel(const reference *r, int64_t x, int64_t y);

/* All w * h pixels of the image: O(w h kernel_w kernel_h). */
void reference_plane(const reference *r, double *out);

/* The coordinate in [0, n) that stands for i behind a border, or -1 where there is only zero. */
int64_t reference_source(int64_t i, uint32_t n, plan_border b);

#endif
