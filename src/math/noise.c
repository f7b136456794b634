#include "math/noise.h"

#include <float.h>
#include <math.h>

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

/* Returns a number that no magnitude in bin b reaches. */
static double bin_top(uint32_t b) {
    return fmin((double)scan_bin_floor(b + 1), FLT_MAX);
}

static uint32_t from_centre(const noise_taps *k, uint32_t x, uint32_t y) {
    uint32_t dx = x > k->cx ? x - k->cx : k->cx - x, dy = y > k->cy ? y - k->cy : k->cy - y;
    return dx > dy ? dx : dy;
}

static double tap_of(const noise_taps *k, uint32_t x, uint32_t y) {
    return fabs(k->scale * (double)k->tap[y * k->pitch + x]);
}

/* Enters the taps that are farther than `beyond` from the centre, and not farther than `to`. The
 * norm is squared. */
static void add_taps(noise_tail *t, const noise_taps *k, uint32_t beyond, uint32_t to) {
    uint32_t left = k->cx > to ? k->cx - to : 0, top = k->cy > to ? k->cy - to : 0;
    uint32_t right = k->w - 1 - k->cx > to ? k->cx + to : k->w - 1,
             low = k->h - 1 - k->cy > to ? k->cy + to : k->h - 1;
    for (uint32_t y = top; y <= low; y++)
        for (uint32_t x = left; x <= right; x++) {
            double tap = tap_of(k, x, y);
            if (!(tap > 0) || from_centre(k, x, y) <= beyond) continue;
            double alias_x = k->alias_x ? tap * k->alias_x[x] : 0,
                   alias_y = k->alias_x ? tap * k->alias_y[y] : 0;
            t->sum += tap;
            t->norm += tap * tap;
            t->alias_sum += alias_x + alias_y;
            if (tap > t->peak) t->peak = tap;
            if (alias_x > t->alias_peak) t->alias_peak = alias_x; /* not in one place, */
            if (alias_y > t->alias_peak) t->alias_peak = alias_y; /* so not both */
            uint32_t i = scan_bin(1) - scan_bin((float)(tap / t->top));
            t->size[i < NOISE_SIZES ? i : NOISE_SIZES - 1]++;
        }
}

void noise_tails(noise_tail *to, const noise_taps *k, const uint32_t *core, uint32_t n) {
    noise_tail t = {0};
    for (uint32_t y = 0; y < k->h; y++)
        for (uint32_t x = 0; x < k->w; x++)
            if (x != k->cx || y != k->cy) t.top = fmax(t.top, tap_of(k, x, y));
    for (uint32_t i = n; i-- > 0;) {
        add_taps(&t, k, core[i], i + 1 < n ? core[i + 1] : UINT32_MAX);
        to[i] = t;
        to[i].norm = sqrt(t.norm);
    }
}

/* Returns how often pixels of bin b are seen: in the image and its borders, or in the borders only.
 */
static double seen(const scan_channel *c, uint32_t b, bool border) {
    return (double)((border ? 0 : c->count[b]) + c->extra[b]);
}

/* Returns a bound on the peak: no arrangement of the pixels makes more than the one in which the
 * largest pixel meets the largest tap, the second largest pixel the second largest tap, and so on.
 */
static double together(const scan_channel *c, bool border, uint32_t first, uint32_t end,
                       const noise_tail *k) {
    double most = 0, tap = k->peak, taps = k->size[0];
    uint32_t i = 0; /* the bin of taps that is used up, from the largest on */
    for (uint32_t b = end; b-- > first;) {
        double n = seen(c, b, border), v = bin_top(b);
        while (n > 0) {
            while (taps <= 0) {
                if (++i == NOISE_SIZES) return most;
                taps = k->size[i];
                tap = fmin(k->peak, k->top * bin_top(scan_bin(1) - i));
            }
            double pairs = fmin(n, taps);
            most += pairs * v * tap;
            n -= pairs;
            taps -= pairs;
        }
    }
    return most;
}

/* Young's inequality has two bounds on the norm of a plane's part of the result: the plane's norm
 * times the tail's sum, and the plane's sum times the tail's norm; the peak has two of the same
 * kind. The first is near the truth for light that fills the frame, the second for lone bright
 * pixels. So the plane is cut in two by magnitude, where that gives the smallest bound:
 * docs/math.md, "What is known of e before it is made". */
static noise_load bound(const scan_channel *c, bool border, uint32_t below, const noise_tail *k) {
    double sum = 0, squares = 0, high = 0; /* of all; of the bins that are cut off */
    noise_load l = {.norm = INFINITY, .peak = INFINITY, .alias = INFINITY};
    uint32_t end = border && !c->again ? 0 : below < c->end_bin ? below : c->end_bin;
    uint32_t first = c->first_bin < end ? c->first_bin : end;
    for (uint32_t b = first; b < end; b++) {
        double n = seen(c, b, border), v = bin_top(b);
        sum += n * v;
        squares += n * v * v;
    }
    l.gain = fmax(1, k->sum);
    l.total = sum * l.gain;
    l.input = sqrt(squares);
    for (uint32_t b = end;; b--) { /* the bins from b on are cut off */
        if (b < end) {
            double n = seen(c, b, border), v = bin_top(b);
            high += n * v;
            squares = fmax(0, squares - n * v * v);
        }
        if (b > first && seen(c, b - 1, border) == 0) continue;
        double top = b > first ? bin_top(b - 1) : 0;
        l.norm = fmin(l.norm, sqrt(squares) * k->sum + high * k->norm);
        l.peak = fmin(l.peak, top * k->sum + high * k->peak);
        l.alias = fmin(l.alias, top * k->alias_sum + high * k->alias_peak);
        if (b == first) break;
    }
    l.alias_of = l.peak;
    l.magnitude = l.peak = fmin(l.peak, together(c, border, first, end, k));
    return l;
}

/* Returns the bound that follows from the plane's norm and peak alone, without a histogram. */
static noise_load plain_bound(const scan_channel *c, const noise_tail *k) {
    double top = fmax(fabs((double)c->least), fabs((double)c->greatest));
    double input = sqrt(c->squares), gain = fmax(1, k->sum);
    return (noise_load){.norm = input * k->sum,
                        .peak = top * k->sum,
                        .magnitude = top * k->sum,
                        .alias = top * k->alias_sum,
                        .alias_of = top * k->sum,
                        .total = sqrt((double)c->pixels) * input * gain,
                        .input = input,
                        .gain = gain};
}

noise_load noise_load_bound(const scan_channel *c, uint32_t below, const noise_tail *k) {
    return c->count ? bound(c, false, below, k) : plain_bound(c, k);
}

noise_load noise_load_known(const scan_channel *c, uint32_t below, const noise_tail *k, double norm,
                            double peak) {
    noise_load all = noise_load_bound(c, below, k), border = {0};
    if (c->count) border = bound(c, true, below, k);
    double input = c->count ? sqrt(fmax(0, all.input * all.input - border.input * border.input))
                            : all.input;
    double own = input * k->norm; /* the way there rounds what the kernel then cancels */
    all.norm = fmin(all.norm, sqrt(norm * norm + own * own) + border.norm);
    all.peak = fmin(all.peak, peak + border.peak);
    return all;
}

/* Returns a bound on a transform's largest number: the sum of all pixels, or of all results on the
 * way back, where the division by `points` may come last; twice that, since two lines are one
 * complex line. docs/math.md, "Scaling". */
static double largest(const noise_transform *t, const noise_load *load) {
    return 2 * fmax(load->total, t->points * load->peak);
}

int noise_exponent(const noise_transform *t, const noise_load *load) {
    static const int ROOM = 100; /* large numbers are brought below 2^101 */
    double most = largest(t, load);
    if (most >= NUMBERS[t->precision].largest / 2) {
        int e = isfinite(most) ? ROOM - ilogb(most) : NOISE_LOW;
        return e > NOISE_LOW ? e : NOISE_LOW;
    }
    /* Small ones are all in the same place, far from where large ones begin. */
    double lost = NUMBERS[t->precision].smallest * t->points;
    bool small = lost > NUMBERS[t->precision].unit * load->peak / 16;
    return small && load->peak > 0 ? NOISE_HIGH : 0;
}

/* Returns a number of deviations beyond which none of this many errors is expected: 4.5 for a
 * thousand, 6.2 for ten million. */
static double deviations(double points) {
    return sqrt(2 * log(20 * fmax(1, points)));
}

/* docs/math.md, "The noise floor", has a paragraph for each term. */
double noise_floor(const noise_transform *t, const noise_load *load, int exponent) {
    double unit = NUMBERS[t->precision].unit, smallest = NUMBERS[t->precision].smallest;
    if (!(ldexp(largest(t, load), exponent) < NUMBERS[t->precision].largest)) return INFINITY;
    double spread = SPREAD * deviations(t->points) * sqrt(fmax(1, log2(t->points))) * load->norm /
                    sqrt(t->points);
    double ghosts = t->signs ? (GHOST + OWN + 1) * load->magnitude : GHOST * load->peak;
    double flushed = smallest * t->points * (ldexp(load->gain, -exponent) + load->input);
    double alias = t->precision == PRECISION_FLOAT64 ? 0 : load->alias;
    /* Where nothing cancels, the bound on the aliases is too high by as much as that on the peak.
     */
    if (!t->signs && load->alias_of > 0) alias *= load->peak / load->alias_of;
    return unit * (spread + ghosts) + alias + flushed;
}

double noise_relative(plan_precision p) {
    return OWN * NUMBERS[p].unit;
}
