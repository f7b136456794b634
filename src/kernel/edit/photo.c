#include "kernel/edit/photo.h"

#include "base/mem.h"
#include "base/number.h"

#include <math.h>
#include <string.h>

/* --- the centre ------------------------------------------------------------------------------- */

/* Marks the taps of at least `least` that hang together with tap `from`, and returns how many. */
static uint32_t mark_piece(uint8_t *in, const double *tap, uint32_t w, uint32_t h, size_t from,
                           double least, uint32_t *stack) {
    uint32_t top = 0, count = 0;
    if (!(tap[from] >= least)) return 0;
    stack[top++] = (uint32_t)from, in[from] = 1;
    while (top > 0) {
        uint32_t i = stack[--top], x = i % w, y = i / w;
        const uint32_t beside[4] = {x > 0 ? i - 1 : i, x + 1 < w ? i + 1 : i, y > 0 ? i - w : i,
                                    y + 1 < h ? i + w : i};
        count++;
        for (int b = 0; b < 4; b++)
            if (!in[beside[b]] && tap[beside[b]] >= least)
                in[beside[b]] = 1, stack[top++] = beside[b];
    }
    return count;
}

bool photo_find_centre(uint32_t at[2], const edit_kernel *k, err *e) {
    const size_t n = (size_t)k->w * k->h;
    double *all = mem_new(n, sizeof *all, "all channels", e), x = 0, y = 0, sum = 0;
    uint32_t *stack = mem_new(n, sizeof *stack, "a piece", e);
    uint8_t *in = mem_new(n, 1, "a piece", e);
    size_t peak = 0;
    bool ok = all && stack && in;
    at[0] = k->w / 2, at[1] = k->h / 2;
    for (size_t i = 0; ok && i < n; i++) {
        for (uint32_t c = 0; c < k->channels; c++) all[i] += k->tap[c * n + i];
        if (all[i] > all[peak]) peak = i;
    }
    if (ok && all[peak] > 0) {
        double half = all[peak] / 2;
        mark_piece(in, all, k->w, k->h, peak, half, stack);
        for (size_t i = 0; i < n; i++) {
            double v = in[i] ? all[i] - half : 0;
            x += v * (double)(i % k->w), y += v * (double)(i / k->w), sum += v;
        }
        at[0] = (uint32_t)floor(x / sum + 0.5), at[1] = (uint32_t)floor(y / sum + 0.5);
    }
    mem_free(all);
    mem_free(stack);
    mem_free(in);
    return ok;
}

bool photo_recentre(edit_kernel *k, const uint32_t at[2], edit_account *told, err *e) {
    const uint32_t size[2] = {k->w, k->h};
    uint32_t side[2], first[2];
    if (at[0] >= k->w || at[1] >= k->h)
        return err_set(e, ERR_CONFIG, "the centre %u, %u lies outside the %u x %u taps", at[0],
                       at[1], k->w, k->h);
    for (int a = 0; a < 2; a++) {
        uint32_t before = at[a], after = size[a] - 1 - at[a];
        side[a] = before > after ? 2 * after + 2 : 2 * before + 1;
        first[a] = at[a] - side[a] / 2;
    }
    if (side[0] == k->w && side[1] == k->h) return true;
    edit_kernel to;
    double before = edit_light(k);
    if (!edit_new(&to, side[0], side[1], k->channels, e)) return false;
    for (uint32_t c = 0; c < k->channels; c++)
        for (uint32_t y = 0; y < to.h; y++)
            memcpy(to.tap + ((size_t)c * to.h + y) * to.w,
                   k->tap + ((size_t)c * k->h + y + first[1]) * k->w + first[0],
                   to.w * sizeof *to.tap);
    if (told)
        edit_say(told, "centre", at[0],
                 "tap %u, %u is the centre: the picture was cut to the %u x %u taps around it",
                 at[0], at[1], to.w, to.h);
    if (told && before > 0)
        edit_say(told, "cut", 1 - edit_light(&to) / before,
                 "that cut %.3g %% of its light, the background's included",
                 100 * (1 - edit_light(&to) / before));
    edit_free(k);
    *k = to;
    return true;
}

/* --- the core --------------------------------------------------------------------------------- */

double photo_flank_at(const photo_flank *f, double r) {
    return exp(f->level - f->slope * log1p(r / f->width * (r / f->width)));
}

/* Fits the rings outside `radius`. For one width it is a straight line through the logarithms, in
 * which a ring counts by its noise and by a fiftieth, since no flank follows the law better. */
static bool fit_flank(photo_flank *best, const double *tap, const ring_map *m, double radius) {
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
        photo_flank f = {(sxx * sy - sx * sxy) / det, width, (s1 * sxy - sx * sy) / det};
        double sum = syy - f.level * sy - f.slope * sxy;
        if (f.slope > 0.3 && f.slope < 30 && sum < least) least = sum, *best = f;
    }
    return isfinite(least);
}

bool photo_core_make(photo_core *c, const ring_map *m, err *e) {
    const size_t n = (size_t)m->w * m->h;
    *c = (photo_core){.in = mem_new(n, 1, "the core", e),
                      .stack = mem_new(n, sizeof *c->stack, "the core", e)};
    if (c->in && c->stack) return true;
    photo_core_free(c);
    return false;
}

void photo_core_free(photo_core *c) {
    mem_free(c->in);
    mem_free(c->stack);
    *c = (photo_core){0};
}

bool photo_find_core(photo_core *c, const double *tap, const ring_map *m, bool coarse) {
    const size_t middle = (size_t)(m->h / 2) * m->w + m->w / 2;
    memset(c->in, 0, (size_t)m->w * m->h);
    c->high = tap[middle];
    for (uint32_t i = 0; i < m->first[min_u32(m->rings, 3)]; i++)
        c->high = fmax(c->high, tap[m->tap[i]]);
    double least = c->high * (coarse ? 0.97 : 0.998);
    c->count = mark_piece(c->in, tap, m->w, m->h, middle, least, c->stack);
    c->radius = sqrt(c->count / M_PI);
    return c->count >= 5 && c->high > 0 && fit_flank(&c->flank, tap, m, c->radius) &&
           photo_flank_at(&c->flank, 0) > 1.15 * c->high;
}

/* --- exposures -------------------------------------------------------------------------------- */

/* Taps are chosen by the longer exposure alone, in which noise is small: to choose by the shorter
 * one would prefer those whose noise is above zero. */
double photo_ratio(const double *longer, const double *shorter, size_t n, double white,
                   double noise) {
    double a = 0, b = 0;
    for (size_t i = 0; i < n; i++) {
        if (longer[i] > 0.9 * white || longer[i] < fmax(0.2 * white, 4 * noise)) continue;
        a += longer[i], b += shorter[i];
    }
    return b > 0 ? a / b : 0;
}

/* shorter = share * longer + offset: the longer exposure, in which noise is small beside the light,
 * is the one that is taken to be exact. With light E L + black in an exposure E, the offset is
 * black * (1 - share). The errors are those of taps whose noise differs (White's). */
bool photo_fit_match(photo_match *to, const double *longer, const double *shorter, size_t n,
                     uint32_t channels, double white, double least) {
    double count[EDIT_CHANNELS] = {0}, light[EDIT_CHANNELS] = {0}, offset[EDIT_CHANNELS] = {0};
    double spread = 0, share = 0, of_share = 0, of_offset[EDIT_CHANNELS] = {0};
    /* First the means, then the line, then how far taps are from it. */
    for (int pass = 0; pass < 3; pass++) {
        for (uint32_t c = 0; c < channels; c++)
            for (size_t i = c * n; i < (c + 1) * n; i++) {
                double y = longer[i], x = shorter[i], d = y - light[c];
                if (!(y >= least && y <= 0.9 * white)) continue;
                double off = x - offset[c] - share * y;
                if (pass == 0) count[c]++, light[c] += y, offset[c] += x;
                if (pass == 1) spread += d * d, share += d * (x - offset[c]);
                if (pass == 2) of_share += d * d * off * off, of_offset[c] += off * off;
            }
        for (uint32_t c = 0; pass == 0 && c < channels; c++)
            light[c] /= fmax(count[c], 1), offset[c] /= fmax(count[c], 1);
        if (pass == 0) continue;
        if (!(spread > 0)) return false;
        if (pass == 2) of_share = sqrt(of_share) / spread;
        if (pass == 1) share /= spread;
        for (uint32_t c = 0; pass == 1 && c < channels; c++) offset[c] -= share * light[c];
    }
    if (!(share > 0 && share < 1)) return false;
    *to = (photo_match){.ratio = 1 / share, .ratio_error = of_share / share};
    for (uint32_t c = 0; c < channels; c++) {
        double error = hypot(sqrt(of_offset[c]) / fmax(count[c], 1), light[c] * of_share);
        to->black[c] = offset[c] / (1 - share);
        to->black_error = fmax(to->black_error, error / (1 - share));
        if (count[c] < 8) return false;
    }
    return true;
}
