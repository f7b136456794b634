#include "kernel/ring.h"

#include "base/mem.h"
#include "base/steady.h"

bool ring_map_make(ring_map *m, uint32_t w, uint32_t h, uint32_t cx, uint32_t cy, err *e) {
    const size_t n = (size_t)w * h;
    *m = (ring_map){.w = w, .h = h, .cx = cx, .cy = cy};
    m->rings = min_u32(min_u32(cx, w - 1 - cx), min_u32(cy, h - 1 - cy)) + 1;
    m->first = mem_new(m->rings + 2, sizeof *m->first, "rings", e);
    m->tap = mem_new(n, sizeof *m->tap, "rings", e);
    m->room = mem_new(n + m->rings, sizeof *m->room, "rings", e);
    if (!m->first || !m->tap || !m->room) {
        ring_map_free(m);
        return false;
    }
    /* Counted, then placed: the taps of a ring stay in the order of the plane. */
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < n; i++) {
            uint32_t r = (uint32_t)(length_of((double)(i % w) - cx, (double)(i / w) - cy) + 0.5);
            if (r >= m->rings) continue;
            if (pass == 0)
                m->first[r + 2]++;
            else
                m->tap[m->first[r + 1]++] = (uint32_t)i;
        }
        for (uint32_t r = 2; pass == 0 && r < m->rings + 2; r++) m->first[r] += m->first[r - 1];
    }
    return true;
}

void ring_map_free(ring_map *m) {
    mem_free(m->first);
    mem_free(m->tap);
    mem_free(m->room);
    *m = (ring_map){0};
}

static uint32_t ring_count(const ring_map *m, uint32_t r) {
    return m->first[r + 1] - m->first[r];
}

static double ring_distance(const ring_map *m, uint32_t r) {
    double sum = 0;
    for (uint32_t i = m->first[r]; i < m->first[r + 1]; i++)
        sum += length_of((double)(m->tap[i] % m->w) - m->cx, (double)(m->tap[i] / m->w) - m->cy);
    return sum / ring_count(m, r);
}

static int ring_by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double ring_robust_mean(const ring_map *m, const double *plane, uint32_t r) {
    uint32_t n = ring_count(m, r), cut = n / 5;
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) m->room[i] = plane[m->tap[m->first[r] + i]];
    qsort(m->room, n, sizeof *m->room, ring_by_value);
    for (uint32_t i = cut; i < n - cut; i++) sum += m->room[i];
    return sum / (n - 2 * cut);
}

double ring_noise(const ring_map *m, const double *plane, uint32_t from, uint32_t to) {
    uint32_t n = 0, w = m->w;
    for (uint32_t i = m->first[from]; i < m->first[to]; i++) {
        uint32_t at = m->tap[i], x = at % w, y = at / w;
        if (x < 1 || y < 1 || x + 1 >= w || y + 1 >= m->h) continue;
        const double *v = plane + at;
        m->room[n++] = fabs(v[0] - (v[1] + *(v - 1) + v[w] + *(v - w)) / 4);
    }
    if (n < 16) return 0;
    qsort(m->room, n, sizeof *m->room, ring_by_value);
    /* The median of |x| is 0.6745 deviations, and a tap less four quarters has 1.25 variances. */
    return m->room[n / 2] / 0.6745 / sqrt(1.25);
}

double ring_scatter(const ring_map *m, const double *plane, uint32_t from, uint32_t to) {
    double *mean = m->room + (size_t)m->w * m->h;
    uint32_t n = 0;
    for (uint32_t r = from; r < to; r++) mean[r] = ring_robust_mean(m, plane, r);
    for (uint32_t r = from; r < to; r++)
        for (uint32_t i = m->first[r]; i < m->first[r + 1]; i++)
            m->room[n++] = fabs(plane[m->tap[i]] - mean[r]);
    if (n < 16) return 0;
    qsort(m->room, n, sizeof *m->room, ring_by_value);
    return m->room[n / 2] / 0.6745;
}

double ring_fall_at(const ring_fall *f, double distance) {
    return f->level * steady_pow(fmax(distance, 1), -f->slope);
}

/* Fits level and background for one slope; returns the sum of squares. The rings count by their
 * noise, and by a twentieth of their light, since no tail follows the law better than that. */
static double fit_slope(ring_fall *f, const double *mean, const ring_map *m, uint32_t from,
                        uint32_t to, double noise, bool ground) {
    double s1 = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, low = INFINITY, sum = 0;
    for (uint32_t r = from; r < to; r++) low = fmin(low, mean[r - from]);
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t r = from; r < to; r++) {
            double y = mean[r - from], x = steady_pow((double)r / to, -f->slope);
            double rough = 0.05 * fmax(y - (ground ? fmax(low, 0) : 0), 0);
            double v = noise * noise / ring_count(m, r) + rough * rough + 1e-30;
            if (pass == 0) {
                s1 += 1 / v, sx += x / v, sy += y / v, sxx += x * x / v, sxy += x * y / v;
            } else {
                double off = y - f->level * x - f->background;
                sum += off * off / v;
            }
            if (pass == 0 && r + 1 == to) {
                double det = s1 * sxx - sx * sx;
                f->level = ground ? (s1 * sxy - sx * sy) / det : sxy / sxx;
                f->background = ground ? (sxx * sy - sx * sxy) / det : 0;
                f->deviation = ground ? sqrt(sxx / det) : 0;
                if (ground && !(f->level >= 0))
                    f->level = 0, f->background = sy / s1, f->deviation = sqrt(1 / s1);
            }
        }
    return sum;
}

ring_fall ring_fit_fall(const ring_map *m, const double *plane, uint32_t from, uint32_t to,
                        double noise, bool ground) {
    ring_fall best = {0};
    double least = INFINITY;
    double *mean = m->room + (size_t)m->w * m->h; /* behind what sorting a ring needs */
    if (to < from + 4) return best;
    for (uint32_t r = from; r < to; r++) mean[r - from] = ring_robust_mean(m, plane, r);
    for (double slope = 1; slope <= 8; slope += 0.02) {
        ring_fall f = {.slope = slope};
        double sum = fit_slope(&f, mean, m, from, to, noise, ground);
        if (sum < least) least = sum, best = f;
    }
    best.level *= steady_pow(to, best.slope); /* from light at ring `to` to light at distance 1 */
    return best;
}

ring_line ring_fit_line(const double *mean, uint32_t first, uint32_t end) {
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    ring_line f = {NAN, NAN, 0};
    uint32_t n = 0;
    for (uint32_t r = first; r < end; r++) {
        if (!(mean[r] > 0)) continue;
        double x = steady_log(r), y = steady_log(mean[r]);
        sx += x, sy += y, sxx += x * x, sxy += x * y, n++;
    }
    double spread = n * sxx - sx * sx;
    if (!(spread > 0)) return f;
    f.slope = -(n * sxy - sx * sy) / spread;
    f.level = (sy + f.slope * sx) / n;
    f.points = n;
    return f;
}

bool core_mark(uint8_t *in, const double *tap, uint32_t w, uint32_t h, size_t from, double least,
               err *e) {
    OWN_MEM uint32_t *stack = mem_raw((size_t)w * h, sizeof *stack, "a piece", e);
    uint32_t top = 0;
    if (!stack) return false;
    if (tap[from] >= least) stack[top++] = (uint32_t)from, in[from] = 1;
    while (top > 0) {
        uint32_t i = stack[--top], x = i % w, y = i / w;
        const uint32_t beside[4] = {x > 0 ? i - 1 : i, x + 1 < w ? i + 1 : i, y > 0 ? i - w : i,
                                    y + 1 < h ? i + w : i};
        for (int b = 0; b < 4; b++)
            if (!in[beside[b]] && tap[beside[b]] >= least)
                in[beside[b]] = 1, stack[top++] = beside[b];
    }
    return true;
}

double core_flank_at(const core_flank *f, double r) {
    return steady_exp(f->level - f->slope * steady_log(1 + r / f->width * (r / f->width)));
}

/* Fits the rings outside `radius`. For one width it is a straight line through the logarithms, in
 * which a ring counts by its noise and by a fiftieth, since no flank follows the law better. */
static bool core_fit_flank(core_flank *best, const double *tap, const ring_map *m, double radius) {
    enum { MOST = 256 };
    double at[MOST], light[MOST], weight[MOST], least = INFINITY;
    double noise = ring_noise(m, tap, m->rings / 2, m->rings);
    uint32_t first = (uint32_t)(radius + 1.5), end = min_u32((uint32_t)(3 * radius + 8), m->rings);
    int n = 0;
    for (uint32_t r = first; r < end && n < MOST; r++) {
        double y = ring_robust_mean(m, tap, r), error = noise / (y * sqrt(ring_count(m, r)));
        if (!(y > 0)) break;
        at[n] = ring_distance(m, r), light[n] = steady_log(y),
        weight[n] = 1 / (error * error + 4e-4);
        n++;
    }
    for (double width = fmax(radius / 8, 0.2); n > 3 && width <= 6 * radius + 4; width *= 1.04) {
        double s1 = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0;
        for (int i = 0; i < n; i++) {
            double x = -steady_log(1 + at[i] / width * (at[i] / width)), y = light[i],
                   w = weight[i];
            s1 += w, sx += w * x, sy += w * y, sxx += w * x * x, sxy += w * x * y, syy += w * y * y;
        }
        double det = s1 * sxx - sx * sx;
        if (!(det > 0)) continue;
        core_flank f = {(sxx * sy - sx * sxy) / det, width, (s1 * sxy - sx * sy) / det, false};
        double sum = syy - f.level * sy - f.slope * sxy;
        if (f.slope > 0.3 && f.slope < 30 && sum < least) least = sum, *best = f;
    }
    return isfinite(least);
}

bool core_find(uint8_t *in, core_flank *f, const ring_map *m, const double *tap, bool eight_bit,
               err *e) {
    const size_t n = (size_t)m->w * m->h, middle = (size_t)m->cy * m->w + m->cx;
    double high = tap[middle], count = 0;
    for (uint32_t i = 0; i < m->first[min_u32(m->rings, 3)]; i++) high = fmax(high, tap[m->tap[i]]);
    memset(in, 0, n);
    *f = (core_flank){0};
    if (!core_mark(in, tap, m->w, m->h, middle, high * core_part(eight_bit), e)) return false;
    for (size_t i = 0; i < n; i++) count += in[i];
    /* Around a disc it is dark: its edge is not part of a slope that goes on outside. */
    double radius = sqrt(count / M_PI), light = 0;
    uint32_t outside = min_u32((uint32_t)(3 * radius + 0.5), m->rings - 1);
    for (uint32_t i = m->first[outside]; i < m->first[outside + 1]; i++) light += tap[m->tap[i]];
    f->cut = count >= 5 && high > 0 && light > 1e-3 * high * ring_count(m, outside) &&
             core_fit_flank(f, tap, m, radius) && core_flank_at(f, 0) > 1.15 * high;
    return true;
}
