#include "math/border.h"

border_axis border_of(const plan_request *ask, uint32_t axis) {
    return (border_axis){ask->border[axis], ask->size[axis], ask->reach_hi[axis],
                         ask->reach_lo[axis]};
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
    const int64_t n = a->extent, low = -(int64_t)a->before, high = n + a->after;
    const int64_t one = min_i64(i, n - 1 - i), other = n - 1 - one;
    uint32_t count = 0;
    if (a->border == BORDER_CLAMP || a->border == BORDER_ZERO) { /* seen beyond its own end */
        const int64_t first = i == 0 ? low : i, end = i + 1 == n ? high : i + 1;
        for (int64_t c = first; c < end; c++)
            if (plan_place(a->border, a->extent, c) == i) to[count++] = c;
        return count;
    }
    /* Of each n places one shows the sample, which lies there as in the image or mirrored. */
    for (int64_t at = (low - n + 1) / n * n; at < high; at += n)
        for (int64_t c = at + one;; c = at + other) {
            if (c >= low && c < high && plan_place(a->border, a->extent, c) == i) to[count++] = c;
            if (c == at + other) break;
        }
    return count;
}
