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
#include <string.h>

typedef struct {
    const edit_input *in;
    edit_kernel k; /* cut around the centre */
    double exposure, noise, quantum, white;
} exposure;

typedef struct {
    exposure x[EDIT_INPUTS]; /* the shortest first */
    int count;
    uint32_t w, h, channels;
    size_t n; /* taps of a channel */
} bracket;

/* --- the exposures ---------------------------------------------------------------------------- */

static int by_light(const void *a, const void *b) {
    const exposure *x = a, *y = b;
    double p = isfinite(x->in->amount) ? x->in->amount : edit_light(&x->in->kernel);
    double q = isfinite(y->in->amount) ? y->in->amount : edit_light(&y->in->kernel);
    return (p > q) - (p < q);
}

/* Returns the light at which an exposure is cut off: 1 for 8 bits, the highest value if five taps
 * share it, or more than there is. */
static double white_of(const edit_input *in) {
    const edit_kernel *k = &in->kernel;
    const size_t n = (size_t)k->w * k->h * k->channels;
    double high = 0;
    int same = 0;
    for (size_t i = 0; i < n; i++) high = fmax(high, k->tap[i]);
    for (size_t i = 0; i < n; i++) same += k->tap[i] == high && same < 5;
    return in->quantum > 0 ? fmax(high, 1) : same < 5 ? 2 * high : high;
}

/* The taps of an exposure that are well exposed. */
typedef struct {
    size_t *tap;
    size_t count;
} well_exposed;

static bool find_well_exposed(well_exposed *to, const exposure *x, err *e) {
    const edit_kernel *k = &x->in->kernel;
    const size_t n = (size_t)k->w * k->h * k->channels;
    for (int pass = 0; pass < 2; pass++) {
        size_t count = 0;
        for (size_t i = 0; i < n; i++) {
            if (k->tap[i] < 0.05 * x->white || k->tap[i] > 0.9 * x->white) continue;
            if (pass) to->tap[count] = i;
            count++;
        }
        to->count = count;
        if (pass == 0 && !(to->tap = mem_new(count, sizeof *to->tap, "taps", e))) return false;
    }
    return true;
}

/* Returns what of the well exposed light of `longer` no multiple of `shorter`, moved by x, y,
 * explains. */
static double unlike(const well_exposed *of, const edit_kernel *longer, const edit_kernel *shorter,
                     int64_t x, int64_t y) {
    const int64_t w = longer->w, h = longer->h, n = w * h;
    double ll = 0, ls = 0, ss = 0;
    for (size_t t = 0; t < of->count; t++) {
        int64_t i = (int64_t)of->tap[t], px = i % n % w - x, py = i % n / w - y;
        double v = longer->tap[i], q = 0;
        if (px >= 0 && py >= 0 && px < w && py < h) q = shorter->tap[i / n * n + py * w + px];
        ll += v * v, ls += v * q, ss += q * q;
    }
    return ss > 0 ? ll - ls * ls / ss : ll;
}

/* Finds how far the camera has moved between two exposures, in whole taps; less than a tap, or what
 * explains the picture hardly better, is nothing. */
static bool find_move(int64_t move[2], const exposure *longer, const exposure *shorter, err *e) {
    enum { FAR = 8 };
    const edit_kernel *l = &longer->in->kernel, *s = &shorter->in->kernel;
    well_exposed of = {0};
    if (!find_well_exposed(&of, longer, e)) return false;
    double least = 0.8 * unlike(&of, l, s, 0, 0);
    move[0] = move[1] = 0;
    for (int64_t y = -FAR; y <= FAR; y++)
        for (int64_t x = -FAR; x <= FAR; x++) {
            double rest = unlike(&of, l, s, x, y);
            if (rest < least) least = rest, move[0] = x, move[1] = y;
        }
    mem_free(of.tap);
    return true;
}

/* Cuts all exposures around the same centre, which is found in the shortest, where the core is
 * smallest. */
static bool cut_bracket(bracket *b, const edit_request *r, edit_account *told, err *e) {
    int64_t at[2] = {r->at[0], r->at[1]}, move[2];
    uint32_t found[2];
    double lost;
    if (!r->centred) {
        if (!photo_find_centre(found, &b->x[0].in->kernel, e)) return false;
        at[0] = found[0], at[1] = found[1];
    }
    for (int i = 0; i < b->count; i++) {
        exposure *x = &b->x[i];
        x->white = white_of(x->in);
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
    int given = 0;
    for (int i = 0; i < r->inputs; i++) {
        b->x[i].in = &r->input[i];
        given += isfinite(r->input[i].amount);
        if (!edit_same_size(&r->input[0], &r->input[i], e)) return false;
    }
    if (given && given < r->inputs)
        return err_set(e, ERR_USAGE, "give the exposure of every file (FILE:1/60), or of none");
    b->count = r->inputs;
    qsort(b->x, (size_t)b->count, sizeof *b->x, by_light);
    b->channels = r->input[0].kernel.channels;
    return cut_bracket(b, r, told, e);
}

/* Finds noise, white and quantum of each exposure, and how long it was. */
static bool measure(bracket *b, const ring_map *m, edit_account *told, err *e) {
    for (int i = 0; i < b->count; i++) {
        exposure *x = &b->x[i];
        x->quantum = x->in->quantum;
        for (uint32_t c = 0; c < b->channels; c++)
            x->noise += ring_noise(m, x->k.tap + c * b->n, m->rings / 2, m->rings) / b->channels;
        x->exposure = isfinite(x->in->amount) ? x->in->amount : 1;
        if (i == 0) continue;
        exposure *y = &b->x[i - 1];
        double ratio = photo_ratio(x->k.tap, y->k.tap, b->n * b->channels, x->white, x->noise);
        if (!isfinite(x->in->amount)) {
            if (!(ratio > 1))
                return err_set(e, ERR_DATA,
                               "'%s' and '%s' have no well exposed taps in common; give "
                               "their exposures, such as %s:1/60",
                               y->in->name, x->in->name, x->in->name);
            x->exposure = y->exposure * ratio;
        } else if (ratio > 0 && fabs(ratio * y->exposure / x->exposure - 1) > 0.05) {
            edit_say(told, "exposure_differs", ratio,
                     "%s has %.4g times the light of %s, not %.4g as their exposures say; without "
                     "exposures it is measured",
                     x->in->name, ratio, y->in->name, x->exposure / y->exposure);
        }
        edit_say(told, "exposure", x->exposure / b->x[0].exposure,
                 "%s has %.4g times the exposure of %s", x->in->name,
                 x->exposure / b->x[0].exposure, b->x[0].in->name);
    }
    return true;
}

/* --- what an exposure knows ------------------------------------------------------------------- */

/* Returns the step between codes of 8 bits at a value: that of sRGB, unless the dark end has the
 * step of linear codes. */
static double step_at(const exposure *x, double v) {
    if (!(x->quantum > 0)) return 0;
    double at = clamp_double(v / x->white, 0, 1);
    if (x->quantum * 255 > 0.5 * x->white) return x->white / 255;
    if (at <= 0.0031308) return x->white / (12.92 * 255);
    return x->white * 2.4 / 1.055 * pow(at, 1.4 / 2.4) / 255;
}

/* Returns the weight of what the exposure says of a tap of this light: one over the variance, which
 * has the noise, the steps and a hundredth of the light, for pixels differ; and nothing near white,
 * where it is cut off. */
static double weight(const exposure *x, double light) {
    double v = light * x->exposure, step = step_at(x, v);
    double variance = x->noise * x->noise + step * step / 12 + 1e-4 * v * v + 1e-20;
    double room = clamp_double((0.95 - v / x->white) / 0.15, 0, 1);
    return room * x->exposure * x->exposure / variance;
}

/* Returns the light of tap i as the longest exposure has it in which neither it nor a neighbour is
 * near white, or the shortest of all. */
static double first_guess(const bracket *b, uint32_t c, size_t i) {
    for (int q = b->count - 1; q >= 0; q--) {
        const exposure *x = &b->x[q];
        const double *tap = x->k.tap + c * b->n;
        uint32_t px = (uint32_t)(i % b->w), py = (uint32_t)(i / b->w);
        double high = 0;
        for (uint32_t y = py ? py - 1 : 0; y <= py + 1 && y < b->h; y++)
            for (uint32_t xx = px ? px - 1 : 0; xx <= px + 1 && xx < b->w; xx++)
                high = fmax(high, tap[(size_t)y * b->w + xx]);
        if (high < 0.9 * x->white || q == 0) return tap[i] / x->exposure;
    }
    return 0;
}

/* --- merging ---------------------------------------------------------------------------------- */

typedef struct {
    bracket *b;
    edit_kernel *to;
    double *variance;              /* of each tap, all channels added */
    double *says[EDIT_INPUTS];     /* what each exposure adds to a tap, weighted; channels added */
    double *expected[EDIT_INPUTS]; /* the same if it agreed with the result */
} merging;

static void merge_tap(merging *m, uint32_t c, size_t i) {
    const bracket *b = m->b;
    double guess = first_guess(b, c, i), sum = 0, all = 0, w[EDIT_INPUTS];
    for (int q = 0; q < b->count; q++) {
        const exposure *x = &b->x[q];
        double v = x->k.tap[c * b->n + i];
        w[q] = v < 0.98 * x->white ? weight(x, guess) : 0;
        sum += w[q] * v / x->exposure, all += w[q];
    }
    if (!(all > 0)) { /* white in all: the shortest says the least wrong */
        m->to->tap[c * b->n + i] = b->x[0].k.tap[c * b->n + i] / b->x[0].exposure;
        return;
    }
    double light = sum / all;
    m->to->tap[c * b->n + i] = light;
    m->variance[i] += 1 / all;
    for (int q = 0; q < b->count; q++) {
        m->says[q][i] += w[q] / all * b->x[q].k.tap[c * b->n + i] / b->x[q].exposure;
        m->expected[q][i] += w[q] / all * light;
    }
}

/* Fills in how far each ring can be trusted: the noise of its mean, and the most by which an
 * exposure that counts for more than a twentieth disagrees with the result. */
static bool judge_rings(const merging *m, const ring_map *rings, edit_account *told, err *e) {
    const bracket *b = m->b;
    told->ring = mem_new(rings->rings, sizeof *told->ring, "rings", e);
    if (!told->ring) return false;
    told->rings = rings->rings;
    for (uint32_t r = 0; r < rings->rings; r++) {
        double light = 0, variance = 0, apart = 0, count = ring_count(rings, r);
        edit_ring *ring = &told->ring[r];
        for (uint32_t i = rings->first[r]; i < rings->first[r + 1]; i++) {
            variance += m->variance[rings->tap[i]];
            for (uint32_t c = 0; c < b->channels; c++)
                light += m->to->tap[c * b->n + rings->tap[i]];
        }
        for (int q = 0; q < b->count; q++) {
            double says = 0, expected = 0;
            for (uint32_t i = rings->first[r]; i < rings->first[r + 1]; i++)
                says += m->says[q][rings->tap[i]], expected += m->expected[q][rings->tap[i]];
            if (!(expected > 0.05 * light)) continue;
            ring->exposures++;
            apart = fmax(apart, fabs(says / expected - 1));
        }
        ring->light = light / (count * b->channels);
        ring->deviation = light > 0 ? hypot(sqrt(variance) / light, apart) : INFINITY;
        if (!ring->exposures) ring->deviation = INFINITY;
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

static bool open_merging(merging *m, err *e) {
    const bracket *b = m->b;
    bool ok = edit_new(m->to, b->w, b->h, b->channels, e) &&
              (m->variance = mem_new(b->n, sizeof *m->variance, "variances", e));
    for (int q = 0; q < b->count && ok; q++)
        ok = (m->says[q] = mem_new(b->n, sizeof(double), "exposures", e)) &&
             (m->expected[q] = mem_new(b->n, sizeof(double), "exposures", e));
    return ok;
}

static void close_merging(merging *m) {
    mem_free(m->variance);
    for (int q = 0; q < EDIT_INPUTS; q++) mem_free(m->says[q]), mem_free(m->expected[q]);
    for (int q = 0; q < m->b->count; q++) edit_free(&m->b->x[q].k);
}

bool edit_merge(edit_kernel *to, const edit_request *r, edit_account *told, err *e) {
    bracket b = {0};
    merging m = {.b = &b, .to = to};
    ring_map rings = {0};
    bool ok = open_bracket(&b, r, told, e) && ring_map_make(&rings, b.w, b.h, e) &&
              measure(&b, &rings, told, e) && open_merging(&m, e);
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
    close_merging(&m);
    ring_map_free(&rings);
    return ok;
}
