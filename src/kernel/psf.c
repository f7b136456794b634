#include "kernel/psf.h"

#include "base/mem.h"
#include "kernel/psf_shape.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double REC709[3] = {0.2126, 0.7152, 0.0722};
static const char *const CENTER_NAME[] = {"middle", "peak", "centroid", "corner", "at"};
static const char *const NORMALIZE_NAME[] = {"luminance", "channel", "sum", "none"};

static size_t taps_of(const psf *k) {
    return (size_t)k->w * k->h;
}

/* --- options ----------------------------------------------------------------------------- */

/* With every default written out, and what does not matter zeroed. */
static psf_options effective(const psf_options *o) {
    psf_options f = *o;
    if (f.size == 0) f.size = 1;
    if (f.luminance[0] == 0 && f.luminance[1] == 0 && f.luminance[2] == 0)
        memcpy(f.luminance, REC709, sizeof f.luminance);
    if (f.center != PSF_AT) f.at[0] = f.at[1] = 0;
    return f;
}

static bool differs(err *e, const char *name, const char *is, const char *wanted) {
    return err_set(e, ERR_CONFIG,
                   "the spectrum was made with %s %s, and %s is asked for: make it again from the "
                   "kernel with that setting",
                   name, is, wanted);
}

static bool differs_number(err *e, const char *name, double is, double wanted) {
    char a[32], b[32];
    snprintf(a, sizeof a, "%.9g", is);
    snprintf(b, sizeof b, "%.9g", wanted);
    return differs(e, name, a, b);
}

bool psf_made_with(const psf *k, const psf_options *asked, err *e) {
    static const char *const no_yes[] = {"false", "true"};
    psf_options is = k->made, want = effective(asked);
    if (is.normalize != want.normalize)
        return differs(e, "normalize", NORMALIZE_NAME[is.normalize],
                       NORMALIZE_NAME[want.normalize]);
    if (is.center != want.center)
        return differs(e, "kernel_center", CENTER_NAME[is.center], CENTER_NAME[want.center]);
    for (int i = 0; i < 2; i++)
        if (is.at[i] != want.at[i])
            return differs_number(e, i ? "kernel_center y" : "kernel_center x", is.at[i],
                                  want.at[i]);
    if (is.correlate != want.correlate)
        return differs(e, "correlate", no_yes[is.correlate], no_yes[want.correlate]);
    if (is.size != want.size) return differs_number(e, "kernel_scale", is.size, want.size);
    return true;
}

static bool check_options(const psf_options *o, uint32_t w, uint32_t h, err *e) {
    if (!(o->size > 0) || !isfinite(o->size))
        return err_set(e, ERR_CONFIG, "kernel_scale is %g; it must be greater than 0", o->size);
    for (int i = 0; i < 2 && o->center == PSF_AT; i++) {
        double at = o->at[i], last = (i ? h : w) - 1.0;
        if (!(at >= 0 && at <= last))
            return err_set(e, ERR_CONFIG,
                           "kernel_center %c = %g lies outside the kernel, whose taps are "
                           "0 to %.0f",
                           "xy"[i], at, last);
    }
    return true;
}

/* --- taps in ----------------------------------------------------------------------------- */

static bool check_finite(const float *const plane[], uint32_t w, uint32_t h, uint32_t channels,
                         err *e) {
    size_t bad = 0, n = (size_t)w * h, first = 0;
    uint32_t first_channel = 0;
    for (uint32_t c = 0; c < channels; c++)
        for (size_t i = 0; i < n; i++)
            if (!isfinite(plane[c][i]) && bad++ == 0) first_channel = c, first = i;
    if (bad == 0) return true;
    return err_set(e, ERR_DATA,
                   "%zu of the kernel's %zu taps are not finite numbers, the first (%g) in channel "
                   "%" PRIu32 " at x %zu, y %zu",
                   bad, n * channels, (double)plane[first_channel][first], first_channel, first % w,
                   first / w);
}

static bool take_planes(psf_shape *s, const float *const plane[], err *e) {
    size_t n = (size_t)s->size[AXIS_W] * s->size[AXIS_H];
    s->tap = mem_raw(n * s->channels, sizeof *s->tap, "kernel", e);
    if (!s->tap) return false;
    for (uint32_t c = 0; c < s->channels; c++)
        for (size_t i = 0; i < n; i++) s->tap[c * n + i] = (double)plane[c][i];
    return true;
}

/* --- centre ------------------------------------------------------------------------------ */

static double all_channels(const psf_shape *s, size_t i) {
    size_t n = (size_t)s->size[AXIS_W] * s->size[AXIS_H];
    double sum = 0;
    for (uint32_t c = 0; c < s->channels; c++) sum += s->tap[c * n + i];
    return sum;
}

static void find_peak(psf_shape *s) {
    size_t n = (size_t)s->size[AXIS_W] * s->size[AXIS_H], peak = 0;
    for (size_t i = 1; i < n; i++)
        if (all_channels(s, i) > all_channels(s, peak)) peak = i;
    s->center[0] = (double)(peak % s->size[AXIS_W]);
    s->center[1] = (double)(peak / s->size[AXIS_W]);
}

static bool find_centroid(psf_shape *s, err *e) {
    size_t w = s->size[AXIS_W], n = w * s->size[AXIS_H];
    double sum = 0, x = 0, y = 0;
    for (size_t i = 0; i < n; i++) {
        double t = all_channels(s, i);
        sum += t;
        x += t * (double)(i % w);
        y += t * (double)(i / w);
    }
    x /= sum, y /= sum;
    if (!(sum > 0) || !(x >= 0 && x <= (double)w - 1 && y >= 0 && y <= s->size[AXIS_H] - 1.0))
        return err_set(e, ERR_DATA,
                       "the kernel's centre of gravity is at x %g, y %g (its taps add up to %g): "
                       "it has none inside; give the centre another way",
                       x, y, sum);
    s->center[0] = x, s->center[1] = y;
    return true;
}

static bool find_center(psf_shape *s, const psf_options *o, err *e) {
    for (int i = 0; i < 2; i++) s->center[i] = s->size[i] / 2;
    switch (o->center) {
    case PSF_PEAK: find_peak(s); return true;
    case PSF_CENTROID: return find_centroid(s, e);
    case PSF_CORNER: return shape_unwrap(s, e);
    case PSF_AT: memcpy(s->center, o->at, sizeof s->center); return true;
    case PSF_MIDDLE:
    default: return true;
    }
}

/* --- normalisation ----------------------------------------------------------------------- */

static void sum_up(psf *k) {
    for (uint32_t c = 0; c < k->channels; c++) {
        const float *tap = k->tap + c * taps_of(k);
        k->sum[c] = 0;
        for (size_t i = 0; i < taps_of(k); i++) k->sum[c] += (double)tap[i];
    }
}

/* What the normalisation wants to be 1 in channel c. */
static double measure(const psf *k, uint32_t c) {
    double sum = 0;
    if (k->made.normalize == PSF_NONE) return 1;
    if (k->made.normalize == PSF_PER_CHANNEL) return k->sum[c];
    bool weighted = k->made.normalize == PSF_LUMINANCE && k->channels == 3;
    for (uint32_t i = 0; i < k->channels; i++)
        sum += k->sum[i] * (weighted ? k->made.luminance[i] : 1.0 / k->channels);
    return sum;
}

static bool normalize(psf *k, err *e) {
    static const char *const what[] = {"luminance sum", "channel sum", "mean sum", ""};
    for (uint32_t c = 0; c < k->channels; c++) {
        double m = measure(k, c);
        k->scale[c] = 1 / m;
        if (!(m > 0) || !isfinite(m) || !isfinite(k->scale[c]))
            return err_set(e, ERR_DATA,
                           "the kernel's %s is %g (channel %" PRIu32 "); it must be greater than 0 "
                           "to be brought to 1 (normalize none takes the taps as they are)",
                           what[k->made.normalize], m, c);
    }
    return true;
}

/* --- making ------------------------------------------------------------------------------ */

static bool reshape(psf_shape *s, const psf_options *o, err *e) {
    if (!find_center(s, o, e)) return false;
    if (o->size != 1 && !shape_scale(s, o->size, e)) return false;
    if (o->correlate) shape_turn(s);
    return shape_shift(s, e);
}

static bool take_shape(psf *k, const psf_shape *s, err *e) {
    k->w = s->size[AXIS_W], k->h = s->size[AXIS_H], k->channels = s->channels;
    k->cx = (uint32_t)s->center[0], k->cy = (uint32_t)s->center[1];
    size_t n = taps_of(k) * k->channels;
    k->tap = mem_raw(n, sizeof *k->tap, "kernel", e);
    if (!k->tap) return false;
    for (size_t i = 0; i < n; i++) {
        k->tap[i] = (float)s->tap[i];
        if (!isfinite(k->tap[i]))
            return err_set(e, ERR_DATA, "a tap of the resampled kernel is %g: too large for float",
                           s->tap[i]);
    }
    sum_up(k);
    return normalize(k, e);
}

bool psf_make(psf *k, uint32_t w, uint32_t h, uint32_t channels, const float *const plane[],
              const psf_options *o, err *e) {
    if (w == 0 || h == 0 || w > PSF_SIDE || h > PSF_SIDE)
        return err_set(e, ERR_DATA,
                       "the kernel has %" PRIu32 " x %" PRIu32 " taps; 1 to %d a side are possible",
                       w, h, PSF_SIDE);
    if (channels == 0 || channels > PSF_CHANNELS)
        return err_set(e, ERR_DATA,
                       "the kernel has %" PRIu32 " colour channels; 1 to %d are possible", channels,
                       PSF_CHANNELS);
    psf made = {.made = effective(o)};
    if (!check_options(&made.made, w, h, e) || !check_finite(plane, w, h, channels, e))
        return false;
    psf_shape s = {.size = {w, h}, .channels = channels};
    bool ok = take_planes(&s, plane, e) && reshape(&s, &made.made, e) && take_shape(&made, &s, e);
    mem_free(s.tap);
    if (ok)
        *k = made;
    else
        psf_free(&made);
    return ok;
}

void psf_free(psf *k) {
    mem_free(k->tap);
    *k = (psf){0};
}

/* --- from psf to psf --------------------------------------------------------------------- */

bool psf_copy(psf *to, const psf *from, err *e) {
    psf copy = *from;
    size_t n = taps_of(from) * from->channels;
    if (!(copy.tap = mem_raw(n, sizeof *copy.tap, "kernel", e))) return false;
    memcpy(copy.tap, from->tap, n * sizeof *copy.tap);
    *to = copy;
    return true;
}

/* The taps of one axis within n - 1 of the centre. */
static void crop_axis(uint32_t size, uint32_t center, uint32_t n, uint32_t *first,
                      uint32_t *count) {
    uint32_t reach = n > 0 ? n - 1 : 0;
    *first = center > reach ? center - reach : 0;
    uint32_t behind = size - 1 - center;
    *count = center - *first + 1 + (behind < reach ? behind : reach);
}

bool psf_crop(psf *to, const psf *from, uint32_t w, uint32_t h, err *e) {
    psf crop = *from;
    uint32_t x, y;
    crop_axis(from->w, from->cx, w, &x, &crop.w);
    crop_axis(from->h, from->cy, h, &y, &crop.h);
    crop.cx -= x, crop.cy -= y;
    size_t n = taps_of(&crop) * crop.channels;
    if (!(crop.tap = mem_raw(n, sizeof *crop.tap, "kernel", e))) return false;
    for (uint32_t c = 0; c < crop.channels; c++)
        for (uint32_t row = 0; row < crop.h; row++)
            memcpy(crop.tap + c * taps_of(&crop) + (size_t)row * crop.w,
                   from->tap + c * taps_of(from) + (size_t)(y + row) * from->w + x,
                   crop.w * sizeof *crop.tap);
    sum_up(&crop);
    *to = crop;
    return true;
}

bool psf_luminance(psf *to, const psf *from, const double weight[3], err *e) {
    psf y = *from;
    size_t n = taps_of(from);
    y.channels = 1;
    y.scale[0] = 1;
    if (!(y.tap = mem_raw(n, sizeof *y.tap, "kernel", e))) return false;
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (uint32_t c = 0; c < from->channels; c++)
            sum += from->scale[c] * (double)from->tap[c * n + i] *
                   (from->channels == 3 ? weight[c] : 1.0 / from->channels);
        y.tap[i] = (float)sum;
    }
    sum_up(&y);
    *to = y;
    return true;
}

hash128 psf_hash(const psf *k) {
    const uint32_t sizes[] = {k->w, k->h, k->channels, k->cx, k->cy};
    hash_state *s = hash_begin();
    hash_add(s, sizes, sizeof sizes);
    hash_add(s, k->scale, k->channels * sizeof *k->scale);
    hash_add(s, k->tap, taps_of(k) * k->channels * sizeof *k->tap);
    return hash_end(&s);
}

bool psf_same(const psf *a, const psf *b) {
    hash128 x = psf_hash(a), y = psf_hash(b);
    return x.lo == y.lo && x.hi == y.hi;
}
