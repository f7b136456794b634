#include "kernel/core.h"

#include "base/mem.h"
#include "base/number.h"

#include <math.h>
#include <string.h>

bool core_mark(uint8_t *in, const double *tap, uint32_t w, uint32_t h, size_t from, double least,
               err *e) {
    uint32_t *stack = mem_raw((size_t)w * h, sizeof *stack, "a piece", e), top = 0;
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
    mem_free(stack);
    return true;
}

double core_flank_at(const core_flank *f, double r) {
    return exp(f->level - f->slope * log1p(r / f->width * (r / f->width)));
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
        at[n] = ring_distance(m, r), light[n] = log(y), weight[n] = 1 / (error * error + 4e-4);
        n++;
    }
    for (double width = fmax(radius / 8, 0.2); n > 3 && width <= 6 * radius + 4; width *= 1.04) {
        double s1 = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0;
        for (int i = 0; i < n; i++) {
            double x = -log1p(at[i] / width * (at[i] / width)), y = light[i], w = weight[i];
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
