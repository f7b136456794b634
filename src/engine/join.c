#include "engine/join.h"

#include <float.h>
#include <math.h>

/* A parabola joins the two lines at threshold -+ knee. */
double join_spread_of(const join_spread *x, size_t at, double v) {
    if (x->mask) v *= (double)x->mask[at];
    double over = v - x->threshold;
    if (!(x->threshold > 0)) return v;
    if (over >= x->knee) return over > 0 ? over : 0;
    if (over <= -x->knee || !(v > 0)) return 0;
    return fmin(v, (over + x->knee) * (over + x->knee) / (4 * x->knee));
}

void join_spread_row(const join_spread *x, size_t at, float *to, const float *from, size_t n) {
    for (size_t i = 0; i < n; i++) to[i] = (float)join_spread_of(x, at + i, (double)from[i]);
}

join join_plain(uint32_t channels, const double *centre, const double *gain) {
    join j = {0};
    for (uint32_t c = 0; c < channels; c++)
        j.channel[c] = (join_channel){.centre = centre[c], .gain = gain[c]};
    return j;
}

join_stats join_begin(void) {
    return (join_stats){.darkest = INFINITY};
}

void join_add(join_stats *to, const join_stats *from, join_box at) {
    if (from->darkest < to->darkest) to->dark_at = at;
    if (!to->bright_at.w || from->peak > to->peak) to->bright_at = at;
    to->norm += from->norm;
    to->peak = fmax(to->peak, from->peak);
    to->darkest = fmin(to->darkest, from->darkest);
    to->darker |= from->darker;
    to->sum += from->sum;
    to->spilled += from->spilled;
    to->negative += from->negative;
    to->negative_sum += from->negative_sum;
    to->negative_worst = fmin(to->negative_worst, from->negative_worst);
    to->over += from->over;
    to->over_sum += from->over_sum;
    to->largest = from->largest > to->largest ? from->largest : to->largest;
}

void join_end(join_stats *st) {
    st->norm = sqrt(st->norm);
    if (st->darkest >= (double)FLT_MAX) st->darkest = 0;
}
