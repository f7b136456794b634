#include "kernel/lint.h"

#include "base/half.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const float *const *plane;
    uint32_t w, h, channels;
    double *all; /* the channels added, what is no number taken for zero */
    double total;
} work;

/* --- sums ----------------------------------------------------------------------------------- */

static double clean(float v) {
    return isfinite(v) ? (double)v : 0;
}

static void sum_channel(lint *l, work *k, uint32_t c, double *size) {
    size_t n = (size_t)k->w * k->h;
    l->low[c] = INFINITY, l->high[c] = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        float tap = k->plane[c][i];
        double v = clean(tap), as_half = (double)half_to_float(half_from_float((float)v));
        if (!isfinite(tap) && l->bad++ == 0) {
            l->first_bad[0] = c;
            l->first_bad[1] = (uint32_t)(i % k->w), l->first_bad[2] = (uint32_t)(i / k->w);
        }
        l->sum[c] += v;
        l->low[c] = fmin(l->low[c], v), l->high[c] = fmax(l->high[c], v);
        *size += fabs(v);
        if (v < 0) l->negative++, l->negative_share -= v;
        l->half_lost += fabs(v - (isfinite(as_half) ? as_half : 0));
        l->half_zero += v != 0 && as_half == 0;
        k->all[i] += v;
    }
    k->total += l->sum[c];
}

static void add_up(lint *l, work *k) {
    double size = 0;
    for (uint32_t c = 0; c < k->channels; c++) sum_channel(l, k, c, &size);
    if (size > 0) l->negative_share /= size, l->half_lost /= size;
}

/* --- places ---------------------------------------------------------------------------------- */

static void find_places(lint *l, const work *k) {
    size_t peak = 0, n = (size_t)k->w * k->h;
    double x = 0, y = 0, odd = 0, size = 0;
    uint32_t cx = k->w / 2, cy = k->h / 2;
    for (size_t i = 0; i < n; i++) {
        uint32_t px = (uint32_t)(i % k->w), py = (uint32_t)(i / k->w);
        /* The tap on the other side of the middle; there is none for the first ones of an even
         * side, and nothing is what lies there. */
        int64_t ox = 2 * (int64_t)cx - px, oy = 2 * (int64_t)cy - py;
        bool there = ox < k->w && oy < k->h;
        double other = there ? k->all[(size_t)oy * k->w + (size_t)ox] : 0;
        odd += fabs(k->all[i] - other) * (there ? 1 : 2);
        size += fabs(k->all[i]);
        x += px * k->all[i], y += py * k->all[i];
        if (k->all[i] > k->all[peak]) peak = i;
    }
    l->peak[0] = (uint32_t)(peak % k->w), l->peak[1] = (uint32_t)(peak / k->w);
    l->asymmetry = size > 0 ? odd / (2 * size) : 0;
    if (!(k->total > 0)) return;
    l->centroid[0] = x / k->total, l->centroid[1] = y / k->total;
    l->centre_tap = k->all[(size_t)cy * k->w + cx] / k->total;
}

/* --- by distance ----------------------------------------------------------------------------- */

/* Means over rings one tap wide around the middle, as far as whole rings go. */
typedef struct {
    uint32_t rings;
    double *sum, *square; /* the latter of the differences between neighbours to the right */
    double *count;
} profile;

static bool make_profile(profile *p, const work *k, err *e) {
    p->rings = ((k->w < k->h ? k->w : k->h) - 1) / 2 + 1;
    p->sum = mem_new((size_t)p->rings * 3, sizeof *p->sum, "profile", e);
    if (!p->sum) return false;
    p->square = p->sum + p->rings;
    p->count = p->square + p->rings;
    for (uint32_t y = 0; y < k->h; y++)
        for (uint32_t x = 0; x < k->w; x++) {
            double dx = (double)x - k->w / 2, dy = (double)y - k->h / 2;
            size_t ring = (size_t)(sqrt(dx * dx + dy * dy) + 0.5), i = (size_t)y * k->w + x;
            if (ring >= p->rings) continue;
            double step = x + 1 < k->w ? k->all[i + 1] - k->all[i] : 0;
            p->sum[ring] += k->all[i];
            p->square[ring] += step * step;
            p->count[ring]++;
        }
    return true;
}

static void find_radius(lint *l, const profile *p, double total) {
    double sum = 0;
    for (uint32_t r = 0; r < p->rings; r++) {
        if ((sum += p->sum[r]) < total / 2) continue;
        /* Between this ring and the one before. */
        l->inner_radius = r + 0.5 - (sum - total / 2) / fmax(p->sum[r], 1e-300);
        return;
    }
    l->inner_radius = p->rings;
}

/* A straight line through log(light) over log(distance), rings of the outer third. With slope n > 2
 * and mean m at the rim R, what lies outside the rim is 2 pi R^2 m / (n - 2). */
static void find_tail(lint *l, const profile *p, double total) {
    uint32_t first = p->rings - p->rings / 3, used = 0;
    double sx = 0, sy = 0, sxx = 0, sxy = 0, noise = 0, level = 0, count = 0;
    for (uint32_t r = first < 2 ? 2 : first; r < p->rings; r++) {
        double mean = p->sum[r] / p->count[r], x = log(r), y;
        noise += p->square[r], level += p->sum[r], count += p->count[r];
        if (!(mean > 0)) continue;
        y = log(mean);
        sx += x, sy += y, sxx += x * x, sxy += x * y, used++;
    }
    if (level > 0) l->noise = sqrt(noise / count / 2) / (level / count);
    double spread = used * sxx - sx * sx;
    if (used < 4 || !(spread > 0) || !(level > 1e-9 * total)) return;
    double slope = -(used * sxy - sx * sy) / spread, rim = p->rings - 0.5;
    double at_rim = exp((sy + slope * sx) / used - slope * log(rim));
    l->slope = slope;
    if (slope <= 2.02) {
        l->beyond = 1, l->enough = INFINITY;
        return;
    }
    double outside = 2 * M_PI * rim * rim * at_rim / (slope - 2);
    double all = total + outside;
    l->beyond = outside / all;
    if (l->beyond > 1e-3) l->enough = 2 * ceil(rim * pow(l->beyond / 1e-3, 1 / (slope - 2)));
}

/* --- the rim ---------------------------------------------------------------------------------- */

/* The corners are the farthest taps: what the darkest of them still has everywhere, a photograph's
 * background has. The mean of an eighth of the side squared, so that noise does not decide. */
static double corner_level(const work *k, int right, int down) {
    uint32_t n = (k->w < k->h ? k->w : k->h) / 8, x0 = right ? k->w - n : 0,
             y0 = down ? k->h - n : 0;
    double sum = 0;
    for (uint32_t y = y0; y < y0 + n; y++)
        for (uint32_t x = x0; x < x0 + n; x++) sum += k->all[(size_t)y * k->w + x];
    return sum / ((double)n * n);
}

static void find_rim(lint *l, const work *k) {
    double border = 0;
    for (uint32_t y = 0; y < k->h; y++)
        for (uint32_t x = 0; x < k->w; x++)
            if (x == 0 || y == 0 || x == k->w - 1 || y == k->h - 1)
                border += k->all[(size_t)y * k->w + x];
    l->border = border / k->total;
    if (k->w < 16 || k->h < 16) return;
    l->background = INFINITY;
    for (int i = 0; i < 4; i++) l->background = fmin(l->background, corner_level(k, i & 1, i / 2));
    l->background_share = l->background * k->w * k->h / k->total;
}

/* ---------------------------------------------------------------------------------------------- */

bool lint_kernel(lint *to, const float *const plane[], uint32_t w, uint32_t h, uint32_t channels,
                 err *e) {
    lint l = {.w = w, .h = h, .channels = channels < LINT_CHANNELS ? channels : LINT_CHANNELS};
    work k = {.plane = plane, .w = w, .h = h, .channels = l.channels};
    profile p = {0};
    k.all = mem_new((size_t)w * h, sizeof *k.all, "kernel", e);
    bool ok = k.all != NULL;
    if (ok) {
        add_up(&l, &k);
        find_places(&l, &k);
    }
    if (ok && k.total > 0 && (ok = make_profile(&p, &k, e))) {
        find_radius(&l, &p, k.total);
        find_tail(&l, &p, k.total);
        find_rim(&l, &k);
    }
    mem_free(p.sum);
    mem_free(k.all);
    if (ok) *to = l;
    return ok;
}
