#include "kernel/ring.h"

#include "base/mem.h"
#include "base/number.h"

#include <math.h>
#include <stdlib.h>

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

uint32_t ring_count(const ring_map *m, uint32_t r) {
    return m->first[r + 1] - m->first[r];
}

double ring_distance(const ring_map *m, uint32_t r) {
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
    return f->level * pow(fmax(distance, 1), -f->slope);
}

/* Fits level and background for one slope; returns the sum of squares. The rings count by their
 * noise, and by a twentieth of their light, since no tail follows the law better than that. */
static double fit_slope(ring_fall *f, const double *mean, const ring_map *m, uint32_t from,
                        uint32_t to, double noise, bool ground) {
    double s1 = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, low = INFINITY, sum = 0;
    for (uint32_t r = from; r < to; r++) low = fmin(low, mean[r - from]);
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t r = from; r < to; r++) {
            double y = mean[r - from], x = pow((double)r / to, -f->slope);
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
    best.level *= pow(to, best.slope); /* from light at ring `to` to light at distance 1 */
    return best;
}
