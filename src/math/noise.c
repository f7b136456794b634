#include "math/noise.h"

#include "base/steady.h"
#include "base/vector.h"

#include <float.h>

/* Half an ulp of what is stored, and the range it is stored in. For doubles a whole ulp: the
 * kernel's spectrum is made in doubles, too, so that its own transform rounds as much again. */
static const struct {
    double unit, smallest, largest;
} NUMBERS[] = {
    [PRECISION_AUTO] = {0x1p-24, 0x1p-126, FLT_MAX},
    [PRECISION_FLOAT32] = {0x1p-24, 0x1p-126, FLT_MAX},
    [PRECISION_FLOAT64] = {0x1p-52, DBL_MIN, DBL_MAX},
};

/* A standard deviation of rounding noise was found to be 0.8 to 1.3 times
 * unit * sqrt(log2(points)) * norm / sqrt(points); ghosts of at most 2.2 units of the peak;
 * rounding of the pixel itself, once per pass and once per axis. */
static const double SPREAD = 1.3, GHOST = 2.5, OWN = 5;

/* The sums of every fourth tap of a row. */
typedef struct {
    vec4d sum, squares, peak, least, alias_sum, alias_peak;
} tail_lanes;

VECTOR_INLINE void add_taps(tail_lanes *to, const noise_taps *k, uint32_t y, uint32_t x,
                            uint32_t end) {
    const float *tap = k->tap + y * k->pitch;
    tail_lanes t = *to;
    for (; x < end; x += 4) {
        vec4d v = {0}, alias_x = {0};
        if (x + 4 <= end) {
            v = VECTOR_DOUBLES(tap + x, 0);
            if (k->alias_x) alias_x = *(const vec4d_any *)(k->alias_x + x);
        }
        for (uint32_t i = 0; x + 4 > end && x + i < end; i++) {
            v[i] = (double)tap[x + i];
            if (k->alias_x) alias_x[i] = k->alias_x[x + i];
        }
        v *= k->scale;
        t.least = VECTOR_PICK4(v < t.least, v, t.least);
        v = (vec4d)((vec4l)v & INT64_MAX);
        t.peak = VECTOR_PICK4(v > t.peak, v, t.peak);
        t.sum += v, t.squares += v * v;
        if (!k->alias_x) continue;
        const vec4d across = v * alias_x, down = v * k->alias_y[y],
                    more = VECTOR_PICK4(across > down, across, down); /* not both in one place */
        t.alias_sum += across + down;
        t.alias_peak = VECTOR_PICK4(more > t.alias_peak, more, t.alias_peak);
    }
    *to = t;
}
VECTOR_WIDE static void add_wide(tail_lanes *t, const noise_taps *k, uint32_t y, uint32_t x,
                                 uint32_t end) {
    add_taps(t, k, y, x, end);
}
static void add_plain(tail_lanes *t, const noise_taps *k, uint32_t y, uint32_t x, uint32_t end) {
    add_taps(t, k, y, x, end);
}

noise_tail noise_tail_of(const noise_taps *k) {
    tail_lanes tails = {.sum = {0}};
    noise_tail t = {0};
    for (uint32_t y = 0; y < k->h; y++) { /* without the centre */
        const bool middle = y == k->cy;
        (vector_wide() ? add_wide : add_plain)(&tails, k, y, 0, middle ? k->cx : k->w);
        if (middle) (vector_wide() ? add_wide : add_plain)(&tails, k, y, k->cx + 1, k->w);
    }
    for (int i = 0; i < 4; i++) {
        t.sum += tails.sum[i], t.norm += tails.squares[i], t.alias_sum += tails.alias_sum[i];
        t.peak = fmax(t.peak, tails.peak[i]),
        t.alias_peak = fmax(t.alias_peak, tails.alias_peak[i]);
        t.signs |= tails.least[i] < 0;
    }
    t.norm = sqrt(t.norm);
    return t;
}

/* Sums of magnitudes, and of their squares. */
typedef struct {
    double sum, squares;
} amount;

/* Returns bounds on the sums of any n pixels: of the n brightest ones, each as bright as its bin
 * allows. */
static amount brightest(const scan_channel *c, double n, double top) {
    amount a = {0};
    if (!c->count) return (amount){n * top, n * top * top};
    for (uint32_t b = scan_bin((float)top) + 1; n > 0 && b-- > 0;) {
        double some = fmin(n, (double)c->count[b]), v = fmin(top, (double)scan_bin_floor(b + 1));
        a.sum += some * v;
        a.squares += some * v * v;
        n -= some;
    }
    return a;
}

/* Returns bounds on the sums of all pixels, each once. */
static amount all_of(const scan_channel *c) {
    amount a = {c->least >= 0 ? c->sum : sqrt((double)c->pixels * c->squares), c->squares};
    double below = 0; /* sum of the magnitudes of what is below zero */
    for (uint32_t b = 0; c->least < 0 && c->below && b < SCAN_BINS; b++)
        below += (double)c->below[b] * fmin((double)scan_bin_floor(b + 1), -(double)c->least);
    if (c->least < 0 && c->below) a.sum = fmin(a.sum, c->sum + 2 * below);
    double rounded = 1e-5 * sqrt((double)c->pixels * c->squares); /* the sums were */
    return (amount){a.sum + rounded, a.squares * (1 + 1e-5)};
}

/* Returns the same of all that a kernel sees: beside the image, above it and in its corners, a
 * border shows pixels again, each a certain number of times at most. A kernel that goes round a
 * circle without such places sees these pixels again as well, so the circle may be smaller. */
static amount shown_of(const scan_channel *c, const border_axis axis[PLAN_AXES], double top) {
    double places[PLAN_AXES], times[PLAN_AXES], most = 1, seen = 1;
    for (int i = 0; i < PLAN_AXES; i++) {
        const border_axis *b = &axis[i];
        times[i] = (double)border_most(b) - 1;
        places[i] = times[i] > 0 ? (double)b->before + b->after : 0;
        most *= times[i] + 1;
        seen *= axis[i].extent + places[i];
    }
    const double again[][2] = {{places[0] * axis[1].extent, times[0]},
                               {places[1] * axis[0].extent, times[1]},
                               {places[0] * places[1], times[0] * times[1]}};
    amount whole = all_of(c), a = whole;
    for (int i = 0; i < 3; i++) {
        if (!(again[i][0] > 0)) continue;
        amount more = brightest(c, ceil(again[i][0] / again[i][1]), top);
        a.sum += again[i][1] * more.sum;
        a.squares += again[i][1] * more.squares;
    }
    return (amount){fmin(fmin(a.sum, most * whole.sum), top * seen),
                    fmin(fmin(a.squares, most * whole.squares), top * top * seen)};
}

/* docs/inside/math.md, "What is known of e before it is made". */
noise_load noise_load_bound(const scan_channel *c, const noise_tail *k,
                            const border_axis axis[PLAN_AXES], double points) {
    double top = fmax(fabs((double)c->least), fabs((double)c->greatest));
    amount shown = shown_of(c, axis, top);
    double light = shown.sum, input = sqrt(shown.squares), held = fmin(light, top * points);
    double peak = fmin(top * k->sum, light * k->peak), gain = fmax(1, k->sum);
    double places = fmax(0, points - (double)c->pixels);
    double below = fmax(0, -(double)c->least) * (2 * k->sum + k->centre);
    return (noise_load){.norm = fmin(fmin(input, top * sqrt(points)) * k->sum, light * k->norm),
                        .peak = peak,
                        .alias = fmin(top * k->alias_sum, light * k->alias_peak),
                        .outside = sqrt(peak * fmin(peak * places, held * k->sum)),
                        .total = held * gain,
                        .input = input,
                        .gain = gain,
                        .own = input * k->norm,
                        .cancel = k->signs ? peak : fmin(peak, below)};
}

noise_load noise_load_known(const noise_load *bound, double inside) {
    noise_load l = *bound;
    l.norm = fmin(l.norm, sqrt(inside * inside + l.own * l.own + l.outside * l.outside));
    return l;
}

/* Returns a bound on a transform's largest number: the sum of all pixels, or of all results on the
 * way back, where the division by `points` may come last; twice that, since two lines are one
 * complex line. docs/inside/math.md, "Range". */
static double largest(const noise_transform *t, const noise_load *load) {
    return 2 * fmax(load->total, t->points * load->peak);
}

/* docs/inside/math.md, "The noise floor", has a paragraph for each term. */
double noise_floor(const noise_transform *t, const noise_load *load) {
    double unit = NUMBERS[t->precision].unit, smallest = NUMBERS[t->precision].smallest;
    if (!(largest(t, load) < NUMBERS[t->precision].largest)) return INFINITY;
    double levels = fmax(1, steady_log(t->points) / steady_log(2));
    /* None of this many errors is expected beyond: 4.5 for a thousand, 6.2 for ten million. */
    double deviations = sqrt(2 * steady_log(20 * fmax(1, t->points)));
    double spread = SPREAD * deviations * sqrt(levels) * load->norm / sqrt(t->points);
    double ghosts = GHOST * load->peak + (OWN + 1) * load->cancel;
    double flushed = smallest * t->points * (load->gain + load->input);
    double alias = t->precision == PRECISION_FLOAT64 ? 0 : load->alias;
    return unit * (spread + ghosts) + alias + flushed;
}

double noise_relative(plan_precision p) {
    return OWN * NUMBERS[p].unit;
}
