/* edit_merge.c - makes one kernel of several exposures of the same lamp.
 *
 * A camera sees three or four decades of light at a time, a kernel has eight. Each tap is the mean
 * of what the exposures say of it, weighted by how well they know it. The weights come from an
 * estimate of the tap's light, not from the value itself: a weight that follows the noise would
 * prefer values above the mean. */
#include "base/mem.h"
#include "base/number.h"
#include "kernel/edit/edit.h"
#include "kernel/edit/photo.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    const edit_input *in;
    edit_kernel k; /* cut around the centre */
    double exposure, noise, quantum, white;
    double scale_error; /* of the exposure beside the shortest: its relative standard error */
    double scale_doubt; /* how far the pictures contradict the exposure that was given */
} exposure;

typedef struct {
    exposure x[EDIT_INPUTS]; /* the shortest first */
    int count;
    uint32_t w, h, channels;
    size_t n;                                 /* taps of a channel */
    double black[EDIT_CHANNELS], black_error; /* what no light is in all pictures; taken away */
    double noise;                             /* of the noisiest picture */
    double codes;  /* the camera's noise in steps between codes, where there are codes */
    double wobble; /* of a mean of rounded values, as a part of the step */
    bool clipped;  /* values below zero are zero */
} bracket;

/* --- the exposures ---------------------------------------------------------------------------- */

static int by_light(const void *a, const void *b) {
    const exposure *x = a, *y = b;
    double p = isfinite(x->in->amount) ? x->in->amount : edit_light(&x->in->kernel);
    double q = isfinite(y->in->amount) ? y->in->amount : edit_light(&y->in->kernel);
    return (p > q) - (p < q);
}

/* Two exposures, and the taps that are well exposed in the longer one. */
typedef struct {
    const edit_kernel *longer, *shorter;
    size_t *well, count;
} pair;

/* Returns what of the well exposed light no multiple of the shorter exposure, moved by x, y,
 * explains. */
static double unlike(const pair *p, int64_t x, int64_t y) {
    const int64_t w = p->longer->w, h = p->longer->h, n = w * h;
    double ll = 0, ls = 0, ss = 0;
    for (size_t t = 0; t < p->count; t++) {
        int64_t i = (int64_t)p->well[t], px = i % n % w - x, py = i % n / w - y;
        double v = p->longer->tap[i], q = 0;
        if (px >= 0 && py >= 0 && px < w && py < h) q = p->shorter->tap[i / n * n + py * w + px];
        ll += v * v, ls += v * q, ss += q * q;
    }
    return ss > 0 ? ll - ls * ls / ss : ll;
}

/* Finds how far the camera has moved between two exposures, in whole taps; less than a tap, or what
 * explains the picture hardly better, is nothing. */
static bool find_move(int64_t move[2], const exposure *longer, const exposure *shorter, err *e) {
    enum { FAR = 8 };
    const edit_kernel *k = &longer->in->kernel;
    const size_t n = (size_t)k->w * k->h * k->channels;
    pair p = {k, &shorter->in->kernel, mem_raw(n, sizeof *p.well, "taps", e), 0};
    if (!p.well) return false;
    for (size_t i = 0; i < n; i++)
        if (k->tap[i] >= 0.05 * longer->white && k->tap[i] <= 0.9 * longer->white)
            p.well[p.count++] = i;
    double least = 0.8 * unlike(&p, 0, 0);
    move[0] = move[1] = 0;
    for (int64_t y = -FAR; y <= FAR; y++)
        for (int64_t x = -FAR; x <= FAR; x++) {
            double rest = unlike(&p, x, y);
            if (rest < least) least = rest, move[0] = x, move[1] = y;
        }
    mem_free(p.well);
    return true;
}

/* Cuts all exposures around the same centre, which is found in the shortest, where the core is
 * smallest. */
static bool cut_bracket(bracket *b, const edit_request *r, edit_account *told, err *e) {
    const edit_kernel *any = &b->x[0].in->kernel;
    const size_t n = (size_t)any->w * any->h * any->channels;
    uint32_t first[2];
    double lost;
    if (!photo_centre(first, r, b->x[0].in, e)) return false;
    int64_t at[2] = {first[0], first[1]}, move[2];
    for (int i = 0; i < b->count; i++) {
        exposure *x = &b->x[i];
        const double *tap = x->in->kernel.tap;
        double high = 0;
        int same = 0;
        for (size_t t = 0; t < n; t++) high = fmax(high, tap[t]);
        for (size_t t = 0; t < n; t++) same += tap[t] == high && same < 5;
        /* 1 for 8 bits, the highest value if five taps share it, or more than there is. */
        x->white = x->in->quantum > 0 ? fmax(high, 1) : same < 5 ? 2 * high : high;
        if (i > 0) {
            if (!find_move(move, x, x - 1, e)) return false;
            at[0] += move[0], at[1] += move[1];
            if (move[0] || move[1])
                edit_say(told, "moved", hypot((double)move[0], (double)move[1]),
                         "%s was moved back by %d, %d taps: the camera had moved", x->in->name,
                         -(int)move[0], -(int)move[1]);
        }
        const uint32_t middle[2] = {(uint32_t)at[0], (uint32_t)at[1]}; /* far outside if negative */
        if (!edit_copy(&x->k, &x->in->kernel, e) ||
            !photo_recentre(&x->k, middle, i ? NULL : told, e))
            return false;
        b->w = i ? min_u32(b->w, x->k.w) : x->k.w;
        b->h = i ? min_u32(b->h, x->k.h) : x->k.h;
    }
    for (int i = 0; i < b->count; i++)
        if (!edit_fit(&b->x[i].k, b->w, b->h, &lost, e)) return false;
    b->n = (size_t)b->w * b->h;
    return true;
}

static bool open_bracket(bracket *b, const edit_request *r, edit_account *told, err *e) {
    const edit_input *a = &r->input[0];
    int given = 0;
    for (int i = 0; i < r->inputs; i++) {
        const edit_kernel *k = &a->kernel, *l = &r->input[i].kernel;
        b->x[i].in = &r->input[i];
        given += isfinite(r->input[i].amount);
        if (k->w != l->w || k->h != l->h || k->channels != l->channels)
            return err_set(e, ERR_DATA,
                           "'%s' has %u x %u taps in %u channel%s, '%s' %u x %u in %u; they must "
                           "be the same",
                           a->name, k->w, k->h, k->channels, k->channels == 1 ? "" : "s",
                           r->input[i].name, l->w, l->h, l->channels);
    }
    if (given && given < r->inputs)
        return err_set(e, ERR_USAGE, "give the exposure of every file (FILE:1/60), or of none");
    b->count = r->inputs;
    qsort(b->x, (size_t)b->count, sizeof *b->x, by_light);
    b->channels = a->kernel.channels;
    return cut_bracket(b, r, told, e);
}

/* Returns the step between codes of 8 bits at a value: that of sRGB, unless the dark end has the
 * step of linear codes. */
static double step_at(const exposure *x, double v) {
    if (!(x->quantum > 0)) return 0;
    double at = clamp_double(v / x->white, 0, 1);
    if (x->quantum * 255 > 0.5 * x->white) return x->white / 255;
    if (at <= 0.0031308) return x->white / (12.92 * 255);
    return x->white * 2.4 / 1.055 * pow(at, 1.4 / 2.4) / 255;
}

/* Finds noise and quantum of each exposure, and what rounding to codes does to means: the mean of
 * many values of equal light is off by at most this part of a step, because noise blurs the steps
 * (the first term of their Fourier series). */
static void measure_noise(bracket *b, const ring_map *m) {
    for (int i = 0; i < b->count; i++) {
        exposure *x = &b->x[i];
        x->quantum = x->in->quantum;
        for (uint32_t c = 0; c < b->channels; c++)
            x->noise += ring_noise(m, x->k.tap + c * b->n, m->rings / 2, m->rings) / b->channels;
        b->noise = fmax(b->noise, x->noise);
        double level = 0, taps = 0;
        for (uint32_t t = m->first[m->rings / 2]; t < m->first[m->rings]; t++, taps++)
            level += x->k.tap[m->tap[t]];
        double step = step_at(x, taps > 0 ? level / taps : 0);
        if (step > 0) b->codes = fmax(b->codes, x->noise / step);
    }
    double quantum = b->x[0].quantum, blur = quantum > 0 ? b->noise / quantum : 1;
    b->wobble = quantum > 0 ? exp(-2 * M_PI * M_PI * blur * blur) / M_PI : 0;
    size_t zeros = 0, all = b->n * b->channels;
    for (size_t i = 0; i < all; i++) zeros += b->x[0].k.tap[i] <= 0;
    b->clipped = (double)zeros > 0.01 * (double)all;
}

/* Finds the black level that explains all neighbours, and takes it away. Returns whether there is
 * one. */
static bool find_black(bracket *b, const photo_match match[], edit_account *told) {
    double weight = 0, sum[EDIT_CHANNELS] = {0}, most = 0;
    for (int i = 1; i < b->count; i++) {
        if (!(match[i].ratio > 0)) continue;
        double error = match[i].black_error, w = 1 / (error * error + 1e-30);
        for (uint32_t c = 0; c < b->channels; c++) sum[c] += w * match[i].black[c];
        weight += w;
    }
    if (!(weight > 0)) return false;
    b->black_error = hypot(sqrt(1 / weight), b->wobble * b->x[0].quantum);
    for (uint32_t c = 0; c < b->channels; c++)
        if (fabs(sum[c] / weight) > fabs(most)) most = sum[c] / weight;
    if (fabs(most) < 3 * b->black_error) return false;
    for (uint32_t c = 0; c < b->channels; c++) {
        b->black[c] = sum[c] / weight;
        for (int i = 0; i < b->count; i++)
            for (size_t t = 0; t < b->n; t++) b->x[i].k.tap[c * b->n + t] -= b->black[c];
    }
    edit_say(told, "black", most,
             "the pictures have a black level of %.2g (white is 1), which was taken away", most);
    return true;
}

/* Compares an exposure with the next shorter one, and sets it where it was not given. */
static bool set_exposure(exposure *x, const exposure *y, const photo_match *is, double ratio,
                         edit_account *told, err *e) {
    bool given = isfinite(x->in->amount), fits = is->ratio > 0;
    x->exposure = given ? x->in->amount : y->exposure * ratio;
    if (!given && !(ratio > 1))
        return err_set(e, ERR_DATA,
                       "'%s' and '%s' have no well exposed taps in common; give their exposures, "
                       "such as %s:1/60",
                       y->in->name, x->in->name, x->in->name);
    double differs = ratio > 0 ? fabs(ratio * y->exposure / x->exposure - 1) : 0;
    double error = fits ? is->ratio_error : 0.05;
    x->scale_error = hypot(y->scale_error, given ? 0 : error);
    x->scale_doubt = y->scale_doubt + (given && differs > 3 * error ? differs : 0);
    if (given && differs > fmax(0.05, 3 * error))
        edit_say(told, "exposure_differs", ratio,
                 "%s has %.4g times the light of %s, not %.4g as their exposures say; leave the "
                 "exposures out if they may be wrong, and it is measured",
                 x->in->name, ratio, y->in->name, x->exposure / y->exposure);
    return true;
}

/* Finds noise, black level and length of each exposure. */
static bool merge_measure(bracket *b, const ring_map *m, edit_account *told, err *e) {
    photo_match match[EDIT_INPUTS] = {0};
    measure_noise(b, m);
    for (int i = 1; i < b->count; i++) {
        exposure *x = &b->x[i];
        const double *longer = x->k.tap, *shorter = b->x[i - 1].k.tap;
        double ratio = photo_ratio(longer, shorter, b->n * b->channels, x->white, x->noise);
        /* Where the shorter exposure ends in black, its taps tell nothing. */
        double least = -INFINITY, shown = 3 * b->x[0].quantum * ratio;
        if (b->clipped)
            least = fmin(fmax(fmax(0.05 * x->white, 4 * x->noise), shown), 0.2 * x->white);
        if (!photo_fit_match(&match[i], longer, shorter, b->n, b->channels, x->white, least))
            match[i] = (photo_match){0};
    }
    bool dark = find_black(b, match, told);
    b->x[0].exposure = isfinite(b->x[0].in->amount) ? b->x[0].in->amount : 1;
    for (int i = 1; i < b->count; i++) {
        exposure *x = &b->x[i];
        const exposure *y = x - 1;
        double ratio = photo_ratio(x->k.tap, y->k.tap, b->n * b->channels, x->white, x->noise);
        if (dark && match[i].ratio > 0) ratio = match[i].ratio;
        if (!set_exposure(x, y, &match[i], ratio, told, e)) return false;
        edit_say(told, "exposure", x->exposure / b->x[0].exposure,
                 "%s has %.4g times the exposure of %s", x->in->name,
                 x->exposure / b->x[0].exposure, b->x[0].in->name);
    }
    return true;
}

/* --- what an exposure knows ------------------------------------------------------------------- */

/* Returns by how much the mean of values of this light is too high if all below zero are zero. */
static double lifted(const exposure *x, double v, double noise) {
    double sigma = hypot(noise, step_at(x, fmax(v, 0)) / sqrt(12)), z = v / fmax(sigma, 1e-30);
    if (z > 6) return 0;
    return fmax(sigma * (exp(-z * z / 2) / sqrt(2 * M_PI) - z * erfc(z / sqrt(2)) / 2), 0);
}

/* Returns the weight of what the exposure says of a tap of this light: one over the variance, which
 * has the noise, the steps and a hundredth of the light, for pixels differ; and nothing near white,
 * where it is cut off. Codes have the same noise at every light. It is that of the picture which
 * shows most of it, since black hides it. How near white is, the taps around tell: by the estimate
 * of the light alone, which a shorter exposure may have made, that one would count for more where
 * its noise is above zero than where it is below. */
static double weight(const bracket *b, const exposure *x, double light, double black, double near) {
    double v = light * x->exposure, step = step_at(x, v + black);
    double noise = step > 0 ? b->codes * step : x->noise;
    double variance = noise * noise + step * step / 12 + 1e-4 * v * v + 1e-20;
    double room = clamp_double((0.95 - near / x->white) / 0.15, 0, 1);
    return room * x->exposure * x->exposure / variance;
}

/* Returns the light of tap i as the longest exposure has it in which neither it nor a neighbour is
 * near white, or the shortest of all. near: the mean of both, in each exposure, for `weight`. */
static double first_guess(const bracket *b, uint32_t c, size_t i, double near[EDIT_INPUTS]) {
    const uint32_t px = (uint32_t)(i % b->w), py = (uint32_t)(i / b->w);
    double guess = NAN;
    for (int q = b->count - 1; q >= 0; q--) {
        const double *tap = b->x[q].k.tap + c * b->n;
        double high = 0, sum = 0, count = 0;
        for (uint32_t y = py ? py - 1 : 0; y <= py + 1 && y < b->h; y++)
            for (uint32_t x = px ? px - 1 : 0; x <= px + 1 && x < b->w; x++, count++) {
                high = fmax(high, tap[(size_t)y * b->w + x]);
                sum += tap[(size_t)y * b->w + x];
            }
        near[q] = sum / count;
        if (isnan(guess) && (high < 0.9 * b->x[q].white || q == 0))
            guess = tap[i] / b->x[q].exposure;
    }
    return guess;
}

/* --- merging ---------------------------------------------------------------------------------- */

/* What is known of a tap, all channels added. */
enum {
    VARIANCE,
    SHIFT, /* what one unit of the black level changes in it */
    BIAS,  /* what clipping and rounding may have added to it */
    SAYS,  /* what each exposure adds to it, weighted; and the same if it agreed with the result */
    KNOWN = SAYS + 2 * EDIT_INPUTS
};

typedef struct {
    bracket *b;
    edit_kernel *to;
    double *known; /* [tap][SAYS + 2 * b->count] */
} merging;

static void merge_tap(merging *m, uint32_t c, size_t i) {
    const bracket *b = m->b;
    double near[EDIT_INPUTS], w[EDIT_INPUTS], sum = 0, all = 0;
    double guess = first_guess(b, c, i, near);
    for (int q = 0; q < b->count; q++) {
        const exposure *x = &b->x[q];
        double v = x->k.tap[c * b->n + i];
        w[q] = v < 0.98 * x->white ? weight(b, x, guess, b->black[c], near[q]) : 0;
        sum += w[q] * v / x->exposure, all += w[q];
    }
    if (!(all > 0)) { /* white in all: the shortest says the least wrong */
        m->to->tap[c * b->n + i] = b->x[0].k.tap[c * b->n + i] / b->x[0].exposure;
        return;
    }
    double light = sum / all;
    m->to->tap[c * b->n + i] = light;
    double *known = m->known + i * (SAYS + 2 * (size_t)b->count);
    known[VARIANCE] += 1 / all;
    for (int q = 0; q < b->count; q++) {
        const exposure *x = &b->x[q];
        double v = x->k.tap[c * b->n + i], raw = light * x->exposure + b->black[c];
        double part = w[q] / all / x->exposure;
        known[SAYS + 2 * q] += part * v;
        known[SAYS + 2 * q + 1] += w[q] / all * light;
        known[SHIFT] += part;
        known[BIAS] += part *
                       (b->wobble * step_at(x, raw) + (b->clipped ? lifted(x, raw, b->noise) : 0));
    }
}

/* Fills in how far each ring can be trusted. Two standard errors count, of its noise, of the scale
 * of the exposures that it comes from and of the black level; and in full what may be wrong in the
 * same way everywhere: what clipping and rounding may have added, how far the pictures contradict
 * the exposures that were given, and the most by which an exposure that counts for more than a
 * twentieth disagrees with the result. */
static bool judge_rings(const merging *m, const ring_map *rings, edit_account *told, err *e) {
    const bracket *b = m->b;
    told->ring = mem_new(rings->rings, sizeof *told->ring, "rings", e);
    if (!told->ring) return false;
    told->rings = rings->rings;
    const int known = SAYS + 2 * b->count;
    for (uint32_t r = 0; r < rings->rings; r++) {
        double sum[KNOWN] = {0}, light = 0, apart = 0, scale = 0, doubt = 0;
        edit_ring *ring = &told->ring[r];
        for (uint32_t i = rings->first[r]; i < rings->first[r + 1]; i++) {
            size_t t = rings->tap[i];
            for (int f = 0; f < known; f++) sum[f] += m->known[t * (size_t)known + (size_t)f];
            for (uint32_t c = 0; c < b->channels; c++) light += m->to->tap[c * b->n + t];
        }
        for (int q = 0; q < b->count; q++) {
            double says = sum[SAYS + 2 * q], expected = sum[SAYS + 2 * q + 1];
            scale += expected * b->x[q].scale_error, doubt += expected * b->x[q].scale_doubt;
            if (!(expected > 0.05 * light)) continue;
            ring->exposures++;
            apart = fmax(apart, fabs(says / expected - 1));
        }
        double chance = hypot(sqrt(sum[VARIANCE]), hypot(scale, sum[SHIFT] * b->black_error));
        double most = hypot(2 * chance, apart * light) + sum[BIAS] + doubt;
        ring->light = light / ((double)ring_count(rings, r) * b->channels);
        ring->deviation = light > 0 && ring->exposures ? most / light : INFINITY;
    }
    return true;
}

static void tell_rings(edit_account *told) {
    static const double LEVEL[2] = {0.02, 0.1};
    double high = told->ring[0].light;
    for (uint32_t r = 0; r < told->rings; r++) high = fmax(high, told->ring[r].light);
    for (int i = 0; i < 2; i++) {
        uint32_t r = 0, bad = 0;
        double low = high;
        for (; r < told->rings && bad < 3; r++) {
            bool good = told->ring[r].deviation <= LEVEL[i];
            bad = good ? 0 : bad + 1; /* one ring alone may be off */
            if (good) low = fmin(low, told->ring[r].light);
        }
        if (high > 0 && low > 0)
            edit_say(told, i ? "known_to_0.1" : "known_to_0.02", r - bad,
                     "known to %g %% within %u taps, over %.1f decades of light", 100 * LEVEL[i],
                     r - bad, log10(high / low));
    }
}

bool edit_merge(edit_kernel *to, const edit_request *r, edit_account *told, err *e) {
    bracket b = {0};
    merging m = {.b = &b, .to = to};
    ring_map rings = {0};
    bool ok = open_bracket(&b, r, told, e) &&
              ring_map_make(&rings, b.w, b.h, b.w / 2, b.h / 2, e) &&
              merge_measure(&b, &rings, told, e) && edit_new(to, b.w, b.h, b.channels, e) &&
              (m.known = mem_new(b.n, (SAYS + 2 * (size_t)b.count) * sizeof *m.known,
                                 "what is known", e));
    for (uint32_t c = 0; ok && c < b.channels; c++)
        for (size_t i = 0; i < b.n; i++) merge_tap(&m, c, i);
    ok = ok && judge_rings(&m, &rings, told, e);
    if (ok) {
        uint64_t white = 0;
        for (size_t i = 0; i < b.n * b.channels; i++)
            white += b.x[0].k.tap[i] >= 0.98 * b.x[0].white;
        if (white > 1)
            edit_say(told, "saturated", (double)white,
                     "%.0f taps are white even in the shortest exposure, %s; 'kernel clean' can "
                     "restore them from the flank",
                     (double)white, b.x[0].in->name);
        tell_rings(told);
    }
    mem_free(m.known);
    for (int q = 0; q < b.count; q++) edit_free(&b.x[q].k);
    ring_map_free(&rings);
    return ok;
}
