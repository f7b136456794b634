/* definition.h - computes the definition, summed directly in double.
 *
 *   out(p) = sum over taps q of  scale * tap(q) * in(p - (q - centre))
 *
 * Its sums are compensated, so a result is off by at most two roundings of its own size
 * and 1e-32 of the sum of its terms' sizes. */
#ifndef LAB_DEFINITION_H
#define LAB_DEFINITION_H

#include "unit/reference.h"

#include <math.h>

typedef struct {
    const float *in; /* w * h, packed rows */
    uint32_t w, h;
    const float *tap; /* kernel_w * kernel_h */
    uint32_t kernel_w, kernel_h, cx, cy;
    double scale;
    plan_border border[PLAN_AXES];
} reference;

/* Neumaier's sum: `rest` collects what each addition rounds away. The product of two floats is
 * exact in double. */
typedef struct {
    double sum, rest;
} reference_total;

static inline void reference_add(reference_total *t, double x) {
    double next = t->sum + x;
    if (fabs(t->sum) >= fabs(x))
        t->rest += (t->sum - next) + x;
    else
        t->rest += (x - next) + t->sum;
    t->sum = next;
}

/* Returns the pixel at x, y, which may lie outside the image. */
static inline double reference_pixel(const reference *r, int64_t x, int64_t y) {
    reference_total t = {0, 0};
    for (uint32_t qy = 0; qy < r->kernel_h; qy++) {
        int64_t from_y =
            reference_source(y - ((int64_t)qy - (int64_t)r->cy), r->h, r->border[PLAN_Y]);
        if (from_y < 0) continue;
        for (uint32_t qx = 0; qx < r->kernel_w; qx++) {
            int64_t from_x =
                reference_source(x - ((int64_t)qx - (int64_t)r->cx), r->w, r->border[PLAN_X]);
            if (from_x < 0) continue;
            reference_add(&t, (double)r->tap[(size_t)qy * r->kernel_w + qx] *
                                  (double)r->in[(size_t)from_y * r->w + (size_t)from_x]);
        }
    }
    return r->scale * (t.sum + t.rest);
}

#endif
