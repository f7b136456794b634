/* reference.h - computes the definition, summed directly in double.
 *
 *   out(p) = sum over taps q of  scale * tap(q) * in(p - (q - centre))
 *
 * Every engine is compared with it. It is slow and obvious, and shares no code with anything that
 * it checks. Its sums are compensated, so a result is off by at most two roundings of its own size
 * and 1e-32 of the sum of its terms' sizes. */
#ifndef UNIT_REFERENCE_H
#define UNIT_REFERENCE_H

#include "math/plan.h"

#include <math.h>

typedef struct {
    const float *in; /* w * h, packed rows */
    uint32_t w, h;
    const float *tap; /* kernel_w * kernel_h */
    uint32_t kernel_w, kernel_h, cx, cy;
    double scale;
    plan_border border[PLAN_AXES];
} reference;

/* Returns the coordinate in [0, n) that stands for i behind a border, or -1 if that is zero. */
static inline int64_t reference_source(int64_t i, uint32_t n, plan_border b) {
    int64_t size = (int64_t)n;
    if (i >= 0 && i < size) return i;
    switch (b) {
    case BORDER_CLAMP: return i < 0 ? 0 : size - 1;
    case BORDER_WRAP: return (i % size + size) % size;
    case BORDER_MIRROR: { /* 0 1 2 2 1 0 0 1 2 ...: a period of 2n, its second half turned */
        int64_t at = (i % (2 * size) + 2 * size) % (2 * size);
        return at < size ? at : 2 * size - 1 - at;
    }
    case BORDER_ZERO:
    default: return -1;
    }
}

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

/* Computes all w * h pixels of the image: O(w h kernel_w kernel_h). */
static inline void reference_plane(const reference *r, double *out) {
    for (uint32_t y = 0; y < r->h; y++)
        for (uint32_t x = 0; x < r->w; x++) out[(size_t)y * r->w + x] = reference_pixel(r, x, y);
}

#endif
