/* reference.h - what an axis shows behind its border, slow and obvious: it shares no code with
 * anything that it checks. */
#ifndef UNIT_REFERENCE_H
#define UNIT_REFERENCE_H

#include "math/plan.h"

/* Returns the coordinate in [0, n) that stands for i, or -1 if that is zero. */
static inline int64_t reference_source(int64_t i, int64_t n, plan_border b) {
    while (i < 0 || i >= n) {
        if (b == BORDER_ZERO) return -1;
        if (b == BORDER_CLAMP) i = i < 0 ? 0 : n - 1;
        if (b == BORDER_WRAP) i += i < 0 ? n : -n;
        if (b == BORDER_MIRROR) i = i < 0 ? -1 - i : 2 * n - 1 - i;
    }
    return i;
}

#endif
