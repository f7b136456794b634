#include "math/reference.h"

#include <math.h>

int64_t reference_source(int64_t i, uint32_t n, plan_border b) {
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
} total;

static void add(total *t, double x) {
    double next = t->sum + x;
    if (fabs(t->sum) >= fabs(x))
        t->rest += (t->sum - next) + x;
    else
        t->rest += (x - next) + t->sum;
    t->sum = next;
}

double reference_pixel(const reference *r, int64_t x, int64_t y) {
    total t = {0, 0};
    for (uint32_t qy = 0; qy < r->kernel_h; qy++) {
        int64_t from_y =
            reference_source(y - ((int64_t)qy - (int64_t)r->cy), r->h, r->border[PLAN_Y]);
        if (from_y < 0) continue;
        for (uint32_t qx = 0; qx < r->kernel_w; qx++) {
            int64_t from_x =
                reference_source(x - ((int64_t)qx - (int64_t)r->cx), r->w, r->border[PLAN_X]);
            if (from_x < 0) continue;
            add(&t, (double)r->tap[(size_t)qy * r->kernel_w + qx] *
                        (double)r->in[(size_t)from_y * r->w + (size_t)from_x]);
        }
    }
    return r->scale * (t.sum + t.rest);
}

void reference_plane(const reference *r, double *out) {
    for (uint32_t y = 0; y < r->h; y++)
        for (uint32_t x = 0; x < r->w; x++) out[(size_t)y * r->w + x] = reference_pixel(r, x, y);
}
