#include "engine/join.h"

#include "base/vector.h"

#include <float.h>

/* A parabola joins the two lines at threshold -+ knee. */
join_parts join_parts_of(const join_spread *x, size_t at, double v) {
    const double total = v;
    if (x->mask) v *= (double)x->mask[at];
    double over = v - x->threshold, part = 0;
    if (!(x->threshold > 0)) return (join_parts){v, total - v};
    if (over >= x->knee && over > 0) return (join_parts){over, total - v + x->threshold};
    if (over > -x->knee && over < x->knee && v > 0)
        part = fmin(v, (over + x->knee) * (over + x->knee) / (4 * x->knee));
    return (join_parts){part, total - part};
}

typedef struct {
    vec4d spread, rest;
} four_parts;

VECTOR_INLINE void parts_of_four(four_parts *to, const join_spread *x, size_t at,
                                 const vec4d *from) {
    const vec4d whole = *from, zero = {0};
    vec4d v = whole;
    if (x->mask) v *= VECTOR_DOUBLES(x->mask + at, 0);
    vec4d over = v - x->threshold, begun = over + x->knee, part = v;
    if (x->knee > 0) part = begun * begun / (4 * x->knee);
    part = VECTOR_PICK4(part < v, part, v);
    part = VECTOR_PICK4((over > -x->knee) & (v > 0), part, zero);
    vec4d total = VECTOR_PICK4(over > 0, over, zero);
    part = x->threshold > 0 ? VECTOR_PICK4(over >= x->knee, total, part) : v;
    vec4d rest = whole - part;
    if (x->threshold > 0)
        rest = VECTOR_PICK4((over >= x->knee) & (over > 0), whole - v + x->threshold, rest);
    *to = (four_parts){part, rest};
}

/* A row, as floats or as doubles, whose parts are wanted: the spread ones in place, or in doubles
 * also what the pixels give themselves. */
typedef struct {
    float *floats;
    const float *from; /* of floats */
    double *doubles;
    bool own;
    double centre;
} parts_wanted;

VECTOR_INLINE void parts_row(const join_spread *x, size_t at, const parts_wanted *to, size_t n) {
    size_t i = 0;
    for (four_parts v; i + 4 <= n; i += 4) {
        const vec4d whole = to->floats ? VECTOR_DOUBLES(to->from + i, 0)
                                       : (vec4d) * (const vec4d_any *)(to->doubles + i);
        parts_of_four(&v, x, at + i, &whole);
        for (size_t k = 0; to->floats && k < 4; k++) to->floats[i + k] = (float)v.spread[k];
        if (to->doubles)
            *(vec4d_any *)(to->doubles + i) = to->own ? v.rest + to->centre * v.spread : v.spread;
    }
    for (; i < n; i++) {
        join_parts v = join_parts_of(x, at + i, to->floats ? (double)to->from[i] : to->doubles[i]);
        if (to->floats) to->floats[i] = (float)v.spread;
        if (to->doubles) to->doubles[i] = to->own ? v.rest + to->centre * v.spread : v.spread;
    }
}
VECTOR_WIDE static void floats_wide(const join_spread *x, size_t at, const parts_wanted *to,
                                    size_t n) {
    parts_row(x, at, &(parts_wanted){.floats = to->floats, .from = to->from}, n);
}
VECTOR_WIDE static void doubles_wide(const join_spread *x, size_t at, const parts_wanted *to,
                                     size_t n) {
    parts_row(x, at, &(parts_wanted){.doubles = to->doubles}, n);
}
VECTOR_WIDE static void own_wide(const join_spread *x, size_t at, const parts_wanted *to,
                                 size_t n) {
    parts_row(x, at, &(parts_wanted){.doubles = to->doubles, .own = true, .centre = to->centre}, n);
}

void join_spread_row(const join_spread *x, size_t at, float *to, const float *from, size_t n) {
    const parts_wanted wanted = {.floats = to, .from = from};
    (vector_wide() ? floats_wide : parts_row)(x, at, &wanted, n);
}

void join_spread_doubles(const join_spread *x, size_t at, double *v, size_t n) {
    const parts_wanted wanted = {.doubles = v};
    (vector_wide() ? doubles_wide : parts_row)(x, at, &wanted, n);
}

void join_own_row(const join_spread *x, double centre, size_t at, double *v, size_t n) {
    const parts_wanted wanted = {.doubles = v, .own = true, .centre = centre};
    (vector_wide() ? own_wide : parts_row)(x, at, &wanted, n);
}

double join_weight_at(const join_field *k, uint32_t node, uint32_t x, uint32_t y) {
    return k->weight[0][(size_t)field_line(k->nodes, node, 0) * k->extent[0] + x] *
           k->weight[1][(size_t)field_line(k->nodes, node, 1) * k->extent[1] + y];
}

/* Adds v times the weights of a column of nodes. */
VECTOR_INLINE void add_column(double *to, double v, const double *across, uint32_t n) {
    uint32_t i = 0;
    for (; i + 4 <= n; i += 4) *(vec4d_any *)(to + i) += v * *(const vec4d_any *)(across + i);
    for (; i < n; i++) to[i] += v * across[i];
}
VECTOR_WIDE static void add_column_wide(double *to, double v, const double *across, uint32_t n) {
    add_column(to, v, across, n);
}

void join_centre_row(const join_field *k, uint32_t channel, uint32_t y, double *to) {
    const uint32_t common = k->nodes[0] * k->nodes[1];
    const double *centre = k->centre + (size_t)channel * k->count;
    for (uint32_t x = 0; x < k->extent[0]; x++) to[x] = k->count > common ? centre[common] : 0;
    for (uint32_t i = 0; i < k->nodes[0]; i++) {
        double column = 0;
        for (uint32_t j = 0; j < k->nodes[1]; j++)
            column += k->weight[1][(size_t)j * k->extent[1] + y] * centre[j * k->nodes[0] + i];
        (vector_wide() ? add_column_wide : add_column)(
            to, column, k->weight[0] + (size_t)i * k->extent[0], k->extent[0]);
    }
}

/* In floats, SPAN of them at most: what rounding adds is far below what the ledger allows. */
enum { SPAN = 64 };

/* Returns the sum of n numbers, each times its weight; by NULL: the weights are 1. */
VECTOR_INLINE double weigh(const float *v, const float *by, uint32_t n) {
    vec4d total = {0};
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
        VECTOR_ADD_UP(total, a);
    }
    for (; i < n; i++) total[0] += (double)v[i] * (by ? (double)by[i] : 1);
    double sum = (total[0] + total[1]) + (total[2] + total[3]);
    if (isfinite(sum)) return sum;
    sum = 0; /* sums of floats near 1e38 are beyond them */
    for (i = 0; i < n; i++) sum += (double)v[i] * (by ? (double)by[i] : 1);
    return sum;
}

static const float *lost_of(const spill *k, uint32_t channel, uint32_t y) {
    const uint32_t *middle = k->middle[PLAN_Y];
    uint32_t row = y < middle[0] ? y : y < middle[1] ? k->rows - 1 : y - middle[1] + middle[0];
    return k->lost + ((size_t)(k->kernels == 1 ? 0 : channel) * k->rows + row) * k->columns;
}

/* lost: of the row. */
VECTOR_INLINE double spilled(const spill *k, const float *lost, uint32_t from, uint32_t n,
                             const float *v) {
    const uint32_t *mx = k->middle[PLAN_X], end = from + n, left = clamp_u32(mx[0], from, end),
                   right = clamp_u32(mx[1], from, end), behind = right - min_u32(mx[1], right);
    double rest = (double)lost[k->columns - 1];
    return weigh(v, lost + min_u32(from, mx[0]), left - from) +
           weigh(v + right - from, lost + mx[0] + behind, end - right) +
           (rest != 0 ? rest * weigh(v + left - from, NULL, right - left) : 0);
}
VECTOR_WIDE static double spill_wide(const spill *k, const float *lost, uint32_t from, uint32_t n,
                                     const float *v) {
    return spilled(k, lost, from, n, v);
}

double spill_of_row(const spill *k, uint32_t channel, uint32_t y, uint32_t from, uint32_t n,
                    const float *v) {
    return (vector_wide() ? spill_wide : spilled)(k, lost_of(k, channel, y), from, n, v);
}

double join_spilled(const join *j, const join_row *row, float *room) {
    const spill *k = j->spill;
    const bool spreads_all = join_spreads_all(&j->spread);
    if (!k) return 0;
    if (spreads_all && !row->halfs) return spill_of_row(k, row->channel, row->y, 0, k->w, row->in);
    /* Columns that lose nothing in this row are not looked at. */
    bool some = lost_of(k, row->channel, row->y)[k->columns - 1] == 0;
    uint32_t left = some ? k->middle[PLAN_X][0] : k->w, right = some ? k->middle[PLAN_X][1] : k->w;
    const uint32_t side[2][2] = {{0, left}, {right, k->w - right}};
    for (int i = 0; i < 2; i++) {
        uint32_t at = side[i][0], n = side[i][1];
        const float *from = row->halfs ? room + at : (const float *)row->in + at;
        if (row->halfs) half_to_floats(room + at, (const uint16_t *)row->in + at, n);
        if (!spreads_all)
            join_spread_row(&j->spread, (size_t)row->y * k->w + at, room + at, from, n);
    }
    return spill_of_row(k, row->channel, row->y, 0, k->w, room);
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

void join_set_darkest(join_stats *st, double least, double dark) {
    st->darker = least < dark;
    st->darkest = !st->darker ? least : (double)st->largest >= dark ? dark : INFINITY;
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
