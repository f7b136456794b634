#include "kernel/psf_core.h"

#include "base/mem.h"
#include "kernel/ring.h"

/* A ring's slope ends at twice its distance. The tail fades where the last third of some rings
 * falls STEEPER times as fast as the third before; slopes within NEAR are alike. */
enum { FEW_RINGS = 12 };
static const double STEEPER = 1.1, NEAR = 0.2;

/* The mean light of each ring of one tap around the centre. */
typedef struct {
    uint32_t rings;
    double *mean;
} ring_light;

static void ring_light_free(ring_light *l) {
    mem_free(l->mean);
}

static double distance_of(const psf *k, size_t i) {
    return length_of((double)(i % k->w) - k->cx, (double)(i / k->w) - k->cy);
}

bool psf_core_has(const psf *k, size_t i, double radius) {
    return distance_of(k, i) <= radius;
}

static bool find_rings(ring_light *to, const psf *k, err *e) {
    const uint32_t near_x = min_u32(k->cx, k->w - 1 - k->cx),
                   near_y = min_u32(k->cy, k->h - 1 - k->cy);
    to->rings = min_u32(near_x, near_y) + 1;
    to->mean = mem_new(2 * (size_t)to->rings, sizeof *to->mean, "rings", e);
    if (!to->mean) return false;
    double *count = to->mean + to->rings;
    const size_t n = (size_t)k->w * k->h;
    for (size_t i = 0; i < n; i++) {
        const size_t ring = (size_t)(distance_of(k, i) + 0.5);
        if (ring >= to->rings) continue;
        for (uint32_t c = 0; c < k->channels; c++)
            to->mean[ring] += k->scale[c] * psf_tap(k, c * n + i);
        count[ring]++;
    }
    for (uint32_t r = 0; r < to->rings; r++) to->mean[r] /= count[r];
    return true;
}

/* Returns by which power of the distance the rings from `first` to before `end` fall off. */
static double slope_of(const ring_light *l, uint32_t first, uint32_t end) {
    return ring_fit_line(l->mean, first, min_u32(end, l->rings)).slope;
}

bool psf_core_radius(double *radius, const psf *k, err *e) {
    OWN(ring_light) l = {0};
    *radius = 1;
    if (!find_rings(&l, k, e)) return false;
    uint32_t end = l.rings;
    while (end > FEW_RINGS &&
           !(slope_of(&l, 2 * end / 3, end) <= STEEPER * slope_of(&l, end / 3, 2 * end / 3)))
        end--;
    if (end <= FEW_RINGS) return true;
    const double tail = slope_of(&l, 2 * end / 3, end);
    uint32_t from = 2 * end / 3;
    for (; from > 1; from--) {
        const uint32_t to = min_u32(max_u32(2 * (from - 1), from + 1) + 1, end);
        if (!(fabs(slope_of(&l, from - 1, to) - tail) <= NEAR * fabs(tail))) break;
    }
    *radius = from;
    return true;
}

psf_split psf_core_split(const psf *k, uint32_t channel, double radius) {
    psf_split s = {0, 0};
    const size_t n = (size_t)k->w * k->h;
    for (size_t i = 0; i < n; i++) {
        const double tap = k->scale[channel] * psf_tap(k, channel * n + i);
        if (psf_core_has(k, i, radius))
            s.core += tap;
        else
            s.tail += fabs(tap);
    }
    return s;
}

void psf_core_fold(psf *k, double radius) {
    const size_t n = (size_t)k->w * k->h, centre = (size_t)k->cy * k->w + k->cx;
    for (uint32_t c = 0; c < k->channels; c++) {
        float *tap = k->tap + c * n, *rest = k->rest ? k->rest + c * n : NULL;
        double sum = 0;
        for (size_t i = 0; i < n; i++) {
            if (!psf_core_has(k, i, radius)) continue;
            sum += psf_tap(k, c * n + i);
            tap[i] = 0;
            if (rest) rest[i] = 0;
        }
        tap[centre] = (float)sum;
        if (rest) rest[centre] = (float)(sum - (double)tap[centre]);
    }
}
