/* edit_clean.c - makes a kernel of a photograph of a lamp: finds the centre, takes the background
 * out, restores a saturated core, replaces the noise of the tail, and clips what is below zero. */
#include "base/mem.h"
#include "base/number.h"
#include "kernel/edit/edit.h"
#include "kernel/edit/photo.h"
#include "kernel/edit/ring.h"

#include <math.h>
#include <string.h>

enum { BACKGROUND, NOISE, CORE }; /* parameters */

typedef struct {
    const edit_request *r;
    edit_kernel k;
    ring_map rings;
    edit_account *told;
} cleaning;

static double *plane(const cleaning *w, uint32_t c) {
    return w->k.tap + c * (size_t)w->k.w * w->k.h;
}

/* --- the background --------------------------------------------------------------------------- */

/* The outer four fifths are a fall-off over a constant; the fit tells them apart. A constant that
 * is within three of its deviations of zero is none, and one that is not most of what the outermost
 * ring has is a tail that does not follow the law. */
static void take_background_out(cleaning *w) {
    const size_t n = (size_t)w->k.w * w->k.h;
    double before = edit_light(&w->k), level = 0, taken = 0;
    for (uint32_t c = 0; c < w->k.channels && w->rings.rings > 16; c++) {
        double *tap = plane(w, c);
        uint32_t end = w->rings.rings;
        double noise = fmax(ring_noise(&w->rings, tap, end / 2, end), w->r->input[0].quantum / 4);
        ring_fall f = ring_fit_fall(&w->rings, tap, max_u32(4, end / 5), end, noise, true);
        double outermost = ring_robust_mean(&w->rings, tap, end - 1);
        if (!(f.background > 3 * f.deviation && f.background > 0.5 * outermost)) continue;
        for (size_t i = 0; i < n; i++) tap[i] -= f.background;
        level += f.background / w->k.channels;
        taken += f.background * (double)n;
    }
    if (taken > 0 && before > 0)
        edit_say(w->told, "background", taken / before,
                 "a background of %.3g was subtracted; it had %.3g %% of the light", level,
                 100 * taken / before);
}

/* --- the core --------------------------------------------------------------------------------- */

/* The light of shorter exposures, in the units of the longest. */
typedef struct {
    edit_kernel light; /* 0 where all are saturated or too dark */
    double *ratio;     /* for each tap of `light`: of the exposure that it was taken from */
    photo_core cut;    /* where the exposure at hand is saturated */
} shorter_light;

static bool shorter_make(shorter_light *s, const cleaning *w, err *e) {
    const edit_kernel *k = &w->k;
    s->ratio = mem_new((size_t)k->w * k->h * k->channels, sizeof *s->ratio, "ratios", e);
    return s->ratio && photo_core_make(&s->cut, &w->rings, e) &&
           edit_new(&s->light, k->w, k->h, k->channels, e);
}

static void shorter_free(shorter_light *s) {
    edit_free(&s->light);
    mem_free(s->ratio);
    photo_core_free(&s->cut);
}

/* Takes the ground of the outer rings out of a channel of a shorter exposure. Returns how many
 * times its light `longer` has; 0 if that cannot be told. */
static double level_shorter(const cleaning *w, double *tap, const double *longer) {
    const size_t n = (size_t)w->k.w * w->k.h;
    uint32_t end = w->rings.rings, outer = end - 1 - end / 5;
    double noise = ring_noise(&w->rings, tap, end / 2, end), ground = 0, high = 0;
    for (uint32_t q = outer; q < end; q++)
        ground += ring_robust_mean(&w->rings, tap, q) / (end - outer);
    for (size_t t = 0; t < n; t++) tap[t] -= ground, high = fmax(high, longer[t]);
    return photo_ratio(longer, tap, n, high, noise);
}

/* Takes what a channel of an exposure knows: its taps that are not cut off, unless a longer one had
 * them. */
static void take_channel(shorter_light *s, uint32_t c, const double *tap, bool saturated,
                         double ratio) {
    const size_t n = (size_t)s->light.w * s->light.h;
    double *best = s->ratio + c * n, *light = s->light.tap + c * n;
    for (size_t t = 0; t < n; t++)
        if (!(saturated && s->cut.in[t]) && tap[t] > 0 && !(best[t] > 0 && best[t] < ratio))
            light[t] = tap[t] * ratio, best[t] = ratio;
}

/* Takes what a shorter exposure knows. `k`: its taps, which are changed. */
static bool take_exposure(shorter_light *s, const cleaning *w, const edit_input *in, edit_kernel *k,
                          err *e) {
    const edit_input *first = &w->r->input[0];
    for (uint32_t c = 0; c < k->channels; c++) {
        double *tap = k->tap + (size_t)k->w * k->h * c, ratio = level_shorter(w, tap, plane(w, c));
        if (isfinite(in->amount))
            ratio = (isfinite(first->amount) ? first->amount : 1) / in->amount;
        if (!(ratio > 1))
            return err_set(e, ERR_DATA,
                           "'%s' must be a shorter exposure than '%s', and its taps do "
                           "not show that; give its exposure, such as %s:0.1 for a "
                           "tenth of the light",
                           in->name, first->name, in->name);
        if (c == 0)
            edit_say(w->told, "exposure", ratio, "%s has 1/%.4g of the light of %s", in->name,
                     ratio, first->name);
        bool saturated = photo_find_core(&s->cut, tap, &w->rings, in->quantum > 0);
        take_channel(s, c, tap, saturated, ratio);
    }
    return true;
}

/* Takes what the shorter exposures know. They come in any order. */
static bool take_shorter(shorter_light *s, const cleaning *w, const uint32_t at[2], err *e) {
    bool ok = shorter_make(s, w, e);
    for (int i = 1; ok && i < w->r->inputs; i++) {
        const edit_input *in = &w->r->input[i];
        edit_kernel k = {0};
        ok = edit_same_size(&w->r->input[0], in, e) && edit_copy(&k, &in->kernel, e) &&
             photo_recentre(&k, at, NULL, e) && take_exposure(s, w, in, &k, e);
        edit_free(&k);
    }
    return ok;
}

/* Puts the light of shorter exposures, or of the flank's extrapolation, where the core is cut
 * off. */
static bool restore_core(cleaning *w, const edit_kernel *shorter, err *e) {
    const size_t n = (size_t)w->k.w * w->k.h;
    photo_core cut;
    if (!photo_core_make(&cut, &w->rings, e)) return false;
    double before = 0, after = 0;
    uint64_t measured = 0, guessed = 0;
    for (uint32_t c = 0; c < w->k.channels; c++) {
        double *tap = plane(w, c);
        if (!photo_find_core(&cut, tap, &w->rings, w->r->input[0].quantum > 0)) continue;
        for (size_t i = 0; i < n; i++) {
            if (!cut.in[i]) continue;
            double x = (double)(i % w->k.w) - w->k.w / 2, y = (double)(i / w->k.w) - w->k.h / 2;
            double v = fmax(photo_flank_at(&cut.flank, hypot(x, y)), tap[i]);
            bool there = shorter->tap && shorter->tap[c * n + i] > 0;
            if (there) v = shorter->tap[c * n + i];
            before += tap[i], after += v;
            measured += there, guessed += !there;
            tap[i] = v;
        }
    }
    photo_core_free(&cut);
    if (measured)
        edit_say(w->told, "core_measured", (double)measured,
                 "%.0f taps of the saturated core come from shorter exposures", (double)measured);
    if (guessed)
        edit_say(w->told, "core_extrapolated", (double)guessed,
                 "%.0f taps of the saturated core are extrapolated from its flank; a shorter "
                 "exposure would measure them",
                 (double)guessed);
    if (measured + guessed) {
        double share = (after - before) / edit_light(&w->k);
        edit_say(w->told, "core_light", share, "the core gained %.3g %% of all light", 100 * share);
    }
    return true;
}

/* --- the tail --------------------------------------------------------------------------------- */

/* Returns the first ring from which taps are not `times` the noise, or 0 if none. */
static uint32_t first_noisy(const cleaning *w, const double *tap, double noise, double times) {
    uint32_t end = w->rings.rings;
    double sum = 0; /* over eight rings, so that none decides alone */
    for (uint32_t r = 4; r < end; r++) {
        sum += ring_robust_mean(&w->rings, tap, r);
        if (r >= 12) sum -= ring_robust_mean(&w->rings, tap, r - 8);
        if (r >= 11 && sum / 8 < times * noise) return r - 7;
    }
    return 0;
}

/* Returns the mean of the 25 taps around one, or of those of them that there are. */
static double local_mean(const edit_kernel *k, const double *tap, size_t i) {
    uint32_t x = (uint32_t)(i % k->w), y = (uint32_t)(i / k->w), n = 0;
    double sum = 0;
    for (uint32_t py = y > 2 ? y - 2 : 0; py <= y + 2 && py < k->h; py++)
        for (uint32_t px = x > 2 ? x - 2 : 0; px <= x + 2 && px < k->w; px++)
            sum += tap[(size_t)py * k->w + px], n++;
    return sum / n;
}

/* Replaces taps from ring `first` on, blended in over a sixth of the way, by what falls off as the
 * rings before it do. Spikes that stand out of the noise are kept, and those that only their mean
 * shows are smoothed. Returns the change of light, or INFINITY without memory. */
static double replace_tail(cleaning *w, double *tap, uint32_t first, double noise, double times,
                           const ring_fall *fall, err *e) {
    const size_t n = (size_t)w->k.w * w->k.h;
    double *local = mem_new(n, sizeof *local, "a tail", e), change = 0, level = 0, want = 0;
    const uint32_t end = w->rings.rings;
    ring_fall f = *fall;
    if (!local) return INFINITY;
    for (size_t i = 0; i < n; i++) local[i] = local_mean(&w->k, tap, i);
    /* A mean of 25 taps has a fifth of their noise, or more: JPEG's blocks go up and down as
     * one. */
    /* Of n numbers by chance, the largest is about sqrt(2 ln n) deviations away. */
    const double chance = sqrt(2 * log((double)n));
    double wobble = fmax(noise / 5, ring_scatter(&w->rings, local, 2 * end / 3, end));
    for (uint32_t r = first - max_u32(1, first / 4); r < first; r++)
        level += ring_robust_mean(&w->rings, tap, r), want += ring_fall_at(&f, r);
    if (want > 0) f.level *= fmax(level, 0) / want;
    for (size_t i = 0; i < n; i++) {
        double x = (double)(i % w->k.w) - w->k.w / 2, y = (double)(i / w->k.w) - w->k.h / 2;
        double d = hypot(x, y), blend = clamp_double(6 * (d / first - 5.0 / 6), 0, 1);
        double v = ring_fall_at(&f, d), apart = (local[i] - v) / wobble;
        v += clamp_double(apart - chance, 0, 1) * (local[i] - v);
        blend *= clamp_double(2.5 - 2 * local[i] / (times * noise), 0, 1);
        change += blend * (v - tap[i]);
        tap[i] += blend * (v - tap[i]);
    }
    mem_free(local);
    return change;
}

static bool clean_tail(cleaning *w, double times, err *e) {
    double change = 0, all = edit_light(&w->k), slope = 0;
    uint32_t nearest = 0;
    for (uint32_t c = 0; c < w->k.channels && times > 0 && w->rings.rings > 16; c++) {
        double *tap = plane(w, c);
        uint32_t end = w->rings.rings;
        double noise = fmax(ring_noise(&w->rings, tap, 2 * end / 3, end), w->r->input[0].quantum);
        uint32_t first = noise > 0 ? first_noisy(w, tap, noise, times) : 0;
        if (!first) continue;
        ring_fall f = ring_fit_fall(&w->rings, tap, max_u32(2, first / 3), first, noise, false);
        if (!(f.level > 0)) f = (ring_fall){0};
        slope = f.slope;
        change += replace_tail(w, tap, first, noise, times, &f, e);
        if (isinf(change)) return false;
        if (!nearest || first < nearest) nearest = first;
    }
    if (nearest)
        edit_say(w->told, "tail", nearest,
                 "from %u taps on, noise was replaced by a fall-off as distance^-%.2f; the light "
                 "changed by %.3g %%",
                 nearest, slope, 100 * change / all);
    return true;
}

static void clip_negative(cleaning *w) {
    const size_t n = (size_t)w->k.w * w->k.h * w->k.channels;
    double light = edit_light(&w->k), below = 0;
    uint64_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (w->k.tap[i] < 0) below -= w->k.tap[i], count++, w->k.tap[i] = 0;
    if (count)
        edit_say(w->told, "negative", (double)count,
                 "%.0f taps below zero were set to zero; they had %.3g %% of the light",
                 (double)count, 100 * below / light);
}

/* ---------------------------------------------------------------------------------------------- */

bool edit_clean(edit_kernel *to, const edit_request *r, edit_account *told, err *e) {
    cleaning w = {.r = r, .told = told};
    shorter_light shorter = {0};
    const uint32_t *at = r->at;
    uint32_t found[2];
    if (r->inputs > 1 && !(r->value[CORE] > 0))
        return err_set(e, ERR_USAGE,
                       "core=0 leaves the core as it is, so shorter exposures have no effect");
    if (!r->centred) at = found;
    bool ok = (r->centred || photo_find_centre(found, &r->input[0].kernel, e)) &&
              edit_copy(&w.k, &r->input[0].kernel, e) && photo_recentre(&w.k, at, told, e) &&
              ring_map_make(&w.rings, w.k.w, w.k.h, e);
    if (ok && r->value[BACKGROUND] > 0) take_background_out(&w);
    if (ok && r->inputs > 1) ok = take_shorter(&shorter, &w, at, e);
    if (ok && r->value[CORE] > 0) ok = restore_core(&w, &shorter.light, e);
    ok = ok && clean_tail(&w, r->value[NOISE], e);
    if (ok) clip_negative(&w);
    if (ok && !told->sayings) edit_say(told, "nothing", 0, "there was nothing to clean");
    shorter_free(&shorter);
    ring_map_free(&w.rings);
    if (ok)
        *to = w.k;
    else
        edit_free(&w.k);
    return ok;
}
