#include "math/noise.h"

#include <float.h>
#include <math.h>

/* Half an ulp of what is stored, and the range it is stored in. */
static const struct {
    double unit, smallest, largest;
} NUMBERS[] = {
    [PRECISION_AUTO] = {0x1p-24, 0x1p-126, FLT_MAX},
    [PRECISION_FLOAT32] = {0x1p-24, 0x1p-126, FLT_MAX},
    [PRECISION_FLOAT64] = {0x1p-53, DBL_MIN, DBL_MAX},
};

/* Six standard deviations of what rounding noise was found to be, 0.8 to 1.3 times
 * unit * sqrt(log2(points)) * norm / sqrt(points); ghosts of at most 2.2 units of the peak;
 * rounding of the pixel itself, once per pass and once per axis. */
static const double SPREAD = 8, GHOST = 2.5, OWN = 5;

noise_tail noise_tail_of(const float *tap, uint32_t w, uint32_t h, uint32_t cx, uint32_t cy,
                         double scale, uint32_t core) {
    noise_tail t = {0};
    for (uint32_t y = 0; y < h; y++)
        for (uint32_t x = 0; x < w; x++) {
            uint32_t dx = x > cx ? x - cx : cx - x, dy = y > cy ? y - cy : cy - y;
            if (dx <= core && dy <= core) continue;
            double k = fabs(scale * (double)tap[(size_t)y * w + x]);
            t.sum += k;
            t.norm += k * k;
            if (k > t.peak) t.peak = k;
        }
    t.norm = sqrt(t.norm);
    return t;
}

/* Magnitudes in bin b are below this. */
static double bin_top(uint32_t b) {
    return fmin((double)scan_bin_floor(b + 1), FLT_MAX);
}

static double seen(const scan_channel *c, uint32_t b, bool border) {
    return (double)((border ? 0 : c->count[b]) + c->extra[b]);
}

/* Young's inequality bounds a plane's part of the result twice: its norm by its own norm times the
 * tail's sum, or by its sum times the tail's norm; the peak alike. The first is near the truth for
 * what fills the frame, the second for lone bright pixels. So the plane is cut in two by magnitude,
 * wherever that gives the least bound. */
static noise_load bound(const scan_channel *c, bool border, uint32_t below, const noise_tail *k) {
    double sum = 0, squares = 0, high = 0; /* of all; what is in the bins that are cut off */
    noise_load l = {INFINITY, INFINITY, 0};
    if (below > SCAN_BINS) below = SCAN_BINS;
    for (uint32_t b = 0; b < below; b++) {
        double n = seen(c, b, border), v = bin_top(b);
        sum += n * v;
        squares += n * v * v;
    }
    for (uint32_t b = below;; b--) { /* the bins from b on are cut off */
        if (b < below) {
            double n = seen(c, b, border), v = bin_top(b);
            high += n * v;
            squares = fmax(0, squares - n * v * v);
        }
        if (b > 0 && seen(c, b - 1, border) == 0) continue;
        l.norm = fmin(l.norm, sqrt(squares) * k->sum + high * k->norm);
        l.peak = fmin(l.peak, (b ? bin_top(b - 1) * k->sum : 0) + high * k->peak);
        if (b == 0) break;
    }
    l.total = sum * fmax(1, k->sum);
    return l;
}

/* Without a histogram: by the plane's own norm and peak. */
static noise_load plain_bound(const scan_channel *c, const noise_tail *k) {
    double peak = fmax(fabs((double)c->least), fabs((double)c->greatest));
    return (noise_load){sqrt(c->squares) * k->sum, peak * k->sum,
                        sqrt((double)c->pixels * c->squares) * fmax(1, k->sum)};
}

noise_load noise_load_bound(const scan_channel *c, uint32_t below, const noise_tail *k) {
    return c->count ? bound(c, false, below, k) : plain_bound(c, k);
}

noise_load noise_load_known(const scan_channel *c, uint32_t below, const noise_tail *k, double norm,
                            double peak) {
    noise_load all = noise_load_bound(c, below, k), border = {0};
    double squares = c->count ? 0 : c->squares;
    if (c->count) border = bound(c, true, below, k);
    for (uint32_t b = 0; c->count && b < below && b < SCAN_BINS; b++)
        squares += (double)c->count[b] * bin_top(b) * bin_top(b);
    double known = sqrt(norm * norm + squares * k->norm * k->norm) + border.norm;
    all.norm = fmin(all.norm, known);
    all.peak = fmin(all.peak, peak + border.peak);
    return all;
}

/* A transform's largest number is at most the sum of all pixels, two lines of them packed; on the
 * way back, where the division by `points` may come last, of all results. */
static double largest(double points, const noise_load *load) {
    return 2 * fmax(load->total, points * load->peak);
}

int noise_exponent(plan_precision p, double points, const noise_load *load) {
    static const int ROOM = 100; /* large numbers are brought below 2^101 */
    double most = largest(points, load);
    if (most >= NUMBERS[p].largest / 2) {
        int e = isfinite(most) ? ROOM - ilogb(most) : NOISE_LOW;
        return e > NOISE_LOW ? e : NOISE_LOW;
    }
    /* Small ones are all in the same place, far from where large ones begin. */
    bool small = NUMBERS[p].smallest * points > NUMBERS[p].unit * load->peak / 16;
    return small && load->peak > 0 ? NOISE_HIGH : 0;
}

double noise_floor(plan_precision p, double points, const noise_load *load, int exponent) {
    double unit = NUMBERS[p].unit;
    if (!(ldexp(largest(points, load), exponent) < NUMBERS[p].largest)) return INFINITY;
    double spread = SPREAD * sqrt(fmax(1, log2(points))) * load->norm / sqrt(points);
    return unit * (spread + GHOST * load->peak) + ldexp(NUMBERS[p].smallest * points, -exponent);
}

double noise_relative(plan_precision p) {
    return OWN * NUMBERS[p].unit;
}
