#include "math/border.h"

border_axis border_of(const plan_request *ask, uint32_t axis) {
    return (border_axis){ask->border[axis], ask->size[axis], ask->reach_hi[axis],
                         ask->reach_lo[axis]};
}

/* Finds the first place of the steps of `period` from `at` that lie in [-before, extent + after),
 * and returns how many there are. */
static uint32_t steps(const border_axis *a, int64_t at, int64_t period, int64_t *first) {
    int64_t low = -(int64_t)a->before, high = (int64_t)a->extent + a->after;
    *first = at - (at - low) / period * period; /* all callers have at >= low */
    return *first < high ? (uint32_t)((high - 1 - *first) / period + 1) : 0;
}

/* Finds the places of a mirrored sample: i and -1 - i, every 2n. */
static void mirrored(const border_axis *a, uint32_t i, int64_t first[2], uint32_t count[2]) {
    int64_t n = a->extent;
    count[0] = steps(a, (int64_t)i, 2 * n, &first[0]);
    count[1] = steps(a, 2 * n - 1 - (int64_t)i, 2 * n, &first[1]);
}

uint32_t border_most(const border_axis *a) {
    uint64_t all = (uint64_t)a->before + a->after;
    switch (a->border) {
    case BORDER_WRAP:
    case BORDER_MIRROR: return (uint32_t)(2 + 2 * (all / a->extent));
    case BORDER_CLAMP: return (uint32_t)(1 + all);
    default: return 1;
    }
}

uint32_t border_places(const border_axis *a, uint32_t i, int64_t *to) {
    int64_t first[2];
    uint32_t count[2], n = 0;
    switch (a->border) {
    case BORDER_WRAP:
        count[0] = steps(a, (int64_t)i, a->extent, first);
        for (; n < count[0]; n++) to[n] = first[0] + (int64_t)n * a->extent;
        return n;
    case BORDER_MIRROR:
        mirrored(a, i, first, count);
        for (uint32_t u = 0, v = 0; u < count[0] || v < count[1];) {
            int64_t p = first[0] + 2 * (int64_t)u * a->extent;
            int64_t q = first[1] + 2 * (int64_t)v * a->extent;
            bool take = v == count[1] || (u < count[0] && p < q);
            to[n++] = take ? p : q;
            u += take, v += !take;
        }
        return n;
    case BORDER_CLAMP:
        for (uint32_t k = i == 0 ? a->before : 0; k > 0; k--) to[n++] = -(int64_t)k;
        to[n++] = i;
        for (uint32_t k = 0; i + 1 == a->extent && k < a->after; k++)
            to[n++] = (int64_t)a->extent + k;
        return n;
    default: to[0] = i; return 1;
    }
}
