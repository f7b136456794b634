#include "engine/spill.h"

#include "base/vector.h"
#include "math/plan.h"

#include <math.h>

/* In floats, SPAN of them at most: what rounding adds is far below what the ledger allows. */
enum { SPAN = 64 };

/* Returns the sum of n numbers, each times its weight; by NULL: the weights are 1. */
VECTOR_INLINE double weigh(const float *v, const float *by, uint32_t n) {
    vec4d all = {0};
    uint32_t i = 0, whole = n / 16 * 16;
    while (i < whole) {
        uint32_t end = i + SPAN < whole ? i + SPAN : whole;
        vec8f a = {0}, b = {0};
        for (; i < end; i += 16) {
            vec8f x = *(const vec8f_any *)(v + i), y = *(const vec8f_any *)(v + i + 8);
            a += by ? x * *(const vec8f_any *)(by + i) : x;
            b += by ? y * *(const vec8f_any *)(by + i + 8) : y;
        }
        a += b;
        VECTOR_ADD_UP(all, a);
    }
    for (; i < n; i++) all[0] += (double)v[i] * (by ? (double)by[i] : 1);
    double sum = (all[0] + all[1]) + (all[2] + all[3]);
    if (isfinite(sum)) return sum;
    sum = 0; /* sums of floats near 1e38 are beyond them */
    for (i = 0; i < n; i++) sum += (double)v[i] * (by ? (double)by[i] : 1);
    return sum;
}

/* Returns the table's row for a row of the image. */
static const float *lost_of(const spill *k, uint32_t channel, uint32_t y) {
    const uint32_t *middle = k->middle[PLAN_Y];
    uint32_t row = y < middle[0] ? y : y < middle[1] ? k->rows - 1 : y - middle[1] + middle[0];
    return k->lost + ((size_t)(k->kernels == 1 ? 0 : channel) * k->rows + row) * k->columns;
}

void spill_unread(const spill *k, uint32_t channel, uint32_t y, uint32_t unread[2]) {
    bool middle = lost_of(k, channel, y)[k->columns - 1] == 0;
    unread[0] = middle ? k->middle[PLAN_X][0] : k->w;
    unread[1] = middle ? k->middle[PLAN_X][1] : k->w;
}

VECTOR_INLINE double spilled(const spill *k, uint32_t channel, uint32_t y, const float *v) {
    const uint32_t *mx = k->middle[PLAN_X];
    const float *lost = lost_of(k, channel, y);
    double rest = (double)lost[k->columns - 1];
    return weigh(v, lost, mx[0]) + weigh(v + mx[1], lost + mx[0], k->w - mx[1]) +
           (rest != 0 ? rest * weigh(v + mx[0], NULL, mx[1] - mx[0]) : 0);
}
VECTOR_WIDE static double spill_wide(const spill *k, uint32_t channel, uint32_t y, const float *v) {
    return spilled(k, channel, y, v);
}
static double spill_plain(const spill *k, uint32_t channel, uint32_t y, const float *v) {
    return spilled(k, channel, y, v);
}

double spill_of_row(const spill *k, uint32_t channel, uint32_t y, const float *v) {
    return (vector_wide() ? spill_wide : spill_plain)(k, channel, y, v);
}
