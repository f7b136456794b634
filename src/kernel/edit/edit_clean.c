/* edit_clean.c - makes a kernel of a photograph of a lamp: finds the centre, takes the background
 * out, restores a saturated core, replaces the noise of the tail, and clips what is below zero. */
#include "base/mem.h"
#include "base/steady.h"
#include "kernel/edit/edit.h"
#include "kernel/ring.h"

enum { BACKGROUND, NOISE, CORE }; /* parameters */

typedef struct {
    edit_kernel *k;
    double quantum; /* of edit_input */
    ring_map rings;
    edit_account *told;
} cleaning;

static void cleaning_free(cleaning *w) {
    ring_map_free(&w->rings);
}

static double *plane(const cleaning *w, uint32_t c) {
    return w->k->tap + c * (size_t)w->k->w * w->k->h;
}

/* Takes the centre that was asked for, or finds that of the lamp: the middle of the light above
 * half of the brightest tap, in one piece around it, as a whole tap. */
static bool find_centre(uint32_t at[2], const edit_request *r, err *e) {
    const edit_kernel *k = &r->input[0].kernel;
    const size_t n = (size_t)k->w * k->h;
    at[0] = r->centred ? r->at[0] : k->w / 2, at[1] = r->centred ? r->at[1] : k->h / 2;
    if (r->centred) return true;
    OWN_MEM double *total = mem_new(n, sizeof *total, "all channels", e);
    OWN_MEM uint8_t *mark = mem_new(n, 1, "a piece", e);
    double x = 0, y = 0, sum = 0;
    size_t peak = 0;
    if (!total || !mark) return false;
    for (size_t i = 0; i < n; i++) {
        for (uint32_t c = 0; c < k->channels; c++) total[i] += k->tap[c * n + i];
        if (total[i] > total[peak]) peak = i;
    }
    const double half = total[peak] / 2;
    if (!(half > 0)) return true;
    if (!core_mark(mark, total, k->w, k->h, peak, half, e)) return false;
    for (size_t i = 0; i < n; i++) {
        double v = mark[i] ? total[i] - half : 0;
        x += v * (double)(i % k->w), y += v * (double)(i / k->w), sum += v;
    }
    at[0] = (uint32_t)floor(x / sum + 0.5), at[1] = (uint32_t)floor(y / sum + 0.5);
    return true;
}

/* Cuts the picture to the largest one that has tap `at` as its centre, and says what that cost. */
static bool recentre(edit_kernel *k, const uint32_t at[2], edit_account *told, err *e) {
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
    edit_say(told, "centre", at[0],
             "tap %u, %u is the centre: the picture was cut to the %u x %u taps around it", at[0],
             at[1], to.w, to.h);
    if (before > 0)
        edit_say(told, "cut", 1 - edit_light(&to) / before,
                 "that cut %.3g %% of its light, the background's included",
                 100 * (1 - edit_light(&to) / before));
    edit_kernel_free(k);
    *k = to;
    return true;
}

/* The outer four fifths are a fall-off over a constant; the fit tells them apart. A constant that
 * is within three of its deviations of zero is none, and one that is not most of what the outermost
 * ring has is a tail that does not follow the law. */
static void take_background_out(cleaning *w) {
    const size_t n = (size_t)w->k->w * w->k->h;
    double before = edit_light(w->k), level = 0, taken = 0;
    for (uint32_t c = 0; c < w->k->channels && w->rings.rings > 16; c++) {
        double *tap = plane(w, c);
        uint32_t end = w->rings.rings;
        double noise = fmax(ring_noise(&w->rings, tap, end / 2, end), w->quantum / 4);
        ring_fall f = ring_fit_fall(&w->rings, tap, max_u32(4, end / 5), end, noise, true);
        double outermost = ring_robust_mean(&w->rings, tap, end - 1);
        if (!(f.background > 3 * f.deviation && f.background > 0.5 * outermost)) continue;
        for (size_t i = 0; i < n; i++) tap[i] -= f.background;
        level += f.background / w->k->channels;
        taken += f.background * (double)n;
    }
    if (taken > 0 && before > 0)
        edit_say(w->told, "background", taken / before,
                 "a background of %.3g was subtracted; it had %.3g %% of the light", level,
                 100 * taken / before);
}

/* Puts what the flank leads to where the core is cut off. */
static bool restore_core(cleaning *w, err *e) {
    const size_t n = (size_t)w->k->w * w->k->h;
    OWN_MEM uint8_t *in = mem_raw(n, 1, "the core", e);
    double before = 0, after = 0, count = 0;
    core_flank f;
    for (uint32_t c = 0; c < w->k->channels; c++) {
        double *tap = plane(w, c);
        if (!in || !core_find(in, &f, &w->rings, tap, w->quantum > 0, e)) return false;
        for (size_t i = 0; f.cut && i < n; i++) {
            if (!in[i]) continue;
            double x = (double)(i % w->k->w) - w->k->w / 2, y = (double)(i / w->k->w) - w->k->h / 2;
            double v = fmax(core_flank_at(&f, length_of(x, y)), tap[i]);
            before += tap[i], after += v, count++;
            tap[i] = v;
        }
    }
    if (!count) return true;
    double share = (after - before) / edit_light(w->k);
    edit_say(w->told, "core_extrapolated", count,
             "%.0f taps of the saturated core are extrapolated from its flank; a shorter exposure "
             "would show them",
             count);
    edit_say(w->told, "core_light", share, "the core gained %.3g %% of all light", 100 * share);
    return true;
}

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
    const size_t n = (size_t)w->k->w * w->k->h;
    OWN_MEM double *local = mem_new(n, sizeof *local, "a tail", e);
    double change = 0, level = 0, want = 0;
    const uint32_t end = w->rings.rings;
    ring_fall f = *fall;
    if (!local) return INFINITY;
    for (size_t i = 0; i < n; i++) local[i] = local_mean(w->k, tap, i);
    /* A mean of 25 taps has a fifth of their noise, or more where JPEG's blocks move as one. Of n
     * numbers by chance, the largest is about sqrt(2 ln n) deviations away. */
    const double chance = sqrt(2 * steady_log((double)n));
    double wobble = fmax(noise / 5, ring_scatter(&w->rings, local, 2 * end / 3, end));
    for (uint32_t r = first - max_u32(1, first / 4); r < first; r++)
        level += ring_robust_mean(&w->rings, tap, r), want += ring_fall_at(&f, r);
    if (want > 0) f.level *= fmax(level, 0) / want;
    for (size_t i = 0; i < n; i++) {
        double x = (double)(i % w->k->w) - w->k->w / 2, y = (double)(i / w->k->w) - w->k->h / 2;
        double d = length_of(x, y), blend = clamp_double(6 * (d / first - 5.0 / 6), 0, 1);
        double v = ring_fall_at(&f, d), apart = (local[i] - v) / wobble;
        v += clamp_double(apart - chance, 0, 1) * (local[i] - v);
        blend *= clamp_double(2.5 - 2 * local[i] / (times * noise), 0, 1);
        change += blend * (v - tap[i]);
        tap[i] += blend * (v - tap[i]);
    }
    return change;
}

static bool clean_tail(cleaning *w, double times, err *e) {
    double change = 0, light = edit_light(w->k), slope = 0;
    uint32_t nearest = 0;
    for (uint32_t c = 0; c < w->k->channels && times > 0 && w->rings.rings > 16; c++) {
        double *tap = plane(w, c);
        uint32_t end = w->rings.rings;
        double noise = fmax(ring_noise(&w->rings, tap, 2 * end / 3, end), w->quantum);
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
                 nearest, slope, 100 * change / light);
    return true;
}

bool edit_clean(edit_kernel *to, const edit_request *r, edit_account *told, err *e) {
    OWN(cleaning) w = {.k = to, .quantum = r->input[0].quantum, .told = told};
    uint32_t at[2];
    if (!find_centre(at, r, e) || !edit_copy(to, &r->input[0].kernel, e) ||
        !recentre(to, at, told, e) ||
        !ring_map_make(&w.rings, to->w, to->h, to->w / 2, to->h / 2, e))
        return false;
    if (r->value[BACKGROUND] > 0) take_background_out(&w);
    if (r->value[CORE] > 0 && !restore_core(&w, e)) return false;
    if (!clean_tail(&w, r->value[NOISE], e)) return false;
    double light = edit_light(to), below = 0, count = 0;
    for (size_t i = 0, n = (size_t)to->w * to->h * to->channels; i < n; i++)
        if (to->tap[i] < 0) below -= to->tap[i], count++, to->tap[i] = 0;
    if (count)
        edit_say(told, "negative", count,
                 "%.0f taps below zero were set to zero; they had %.3g %% of the light", count,
                 100 * below / light);
    if (!told->sayings) edit_say(told, "nothing", 0, "there was nothing to clean");
    return true;
}
