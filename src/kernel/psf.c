/* psf.c - from planes to a psf: options, taps, centre, shape, normalisation. */
#include "kernel/psf.h"

#include "base/mem.h"
#include "base/steady.h"
#include "kernel/stretch.h"
#include "math/fft.h"
#include "math/lengths.h"

static const double REC709[3] = {0.2126, 0.7152, 0.0722};
static const char *const CENTER_NAME[] = {"middle", "peak", "centroid", "corner", "at"};
static const char *const NORMALIZE_NAME[] = {"luminance", "channel", "sum", "none"};

static size_t taps_of(const psf *k) {
    return (size_t)k->w * k->h;
}

/* Makes room for the taps of all channels. fine: and for what they lose by being floats. */
static bool new_arrays(psf *k, bool fine, err *e) {
    size_t n = taps_of(k) * k->channels;
    k->rest = NULL;
    k->tap = mem_raw(n, sizeof *k->tap, "kernel", e);
    if (!k->tap) return false;
    if (!fine || (k->rest = mem_raw(n, sizeof *k->rest, "kernel", e))) return true;
    mem_free(k->tap);
    k->tap = NULL;
    return false;
}

static void set_tap(psf *k, size_t at, double v) {
    k->tap[at] = (float)v;
    if (k->rest) k->rest[at] = (float)(v - (double)k->tap[at]);
}

/* Returns the options with every default written out, and fields without effect zeroed. */
static psf_options effective(const psf_options *o) {
    psf_options f = *o;
    if (f.size == 0) f.size = 1;
    if (f.wide == 0) f.wide = 1;
    if (f.aspect == 0) f.aspect = 1;
    f.turn = fmod(f.turn, 360);
    if (f.turn < 0) f.turn = fmod(f.turn + 360, 360); /* of a tiny one, the sum is 360 */
    if (f.luminance[0] == 0 && f.luminance[1] == 0 && f.luminance[2] == 0)
        memcpy(f.luminance, REC709, sizeof f.luminance);
    if (f.center != PSF_AT) f.at[0] = f.at[1] = 0;
    return f;
}

bool psf_made_with(const psf *k, const psf_options *asked, err *e) {
    static const char *const NO_YES[] = {"false", "true"};
    psf_options had = k->made, want = effective(asked);
    const struct {
        const char *name, *had, *want; /* words, or NULL for numbers: */
        double a, b;
    } setting[] = {
        {"normalize", NORMALIZE_NAME[had.normalize], NORMALIZE_NAME[want.normalize], 0, 0},
        {"kernel_center", CENTER_NAME[had.center], CENTER_NAME[want.center], 0, 0},
        {"kernel_center x", NULL, NULL, had.at[0], want.at[0]},
        {"kernel_center y", NULL, NULL, had.at[1], want.at[1]},
        {"correlate", NO_YES[had.correlate], NO_YES[want.correlate], 0, 0},
        {"kernel_scale", NULL, NULL, had.size, want.size},
        {"kernel_scale x / y", NULL, NULL, had.wide, want.wide},
        {"kernel_turn", NULL, NULL, had.turn, want.turn},
    };
    for (size_t i = 0; i < COUNT(setting); i++) {
        const char *x = setting[i].had, *y = setting[i].want;
        char a[32], b[32];
        if (x == y && setting[i].a == setting[i].b) continue; /* words are those of one table */
        snprintf(a, sizeof a, "%.9g", setting[i].a);
        snprintf(b, sizeof b, "%.9g", setting[i].b);
        return err_set(e, ERR_CONFIG,
                       "the spectrum was made with %s %s, and %s is asked for: make it again from "
                       "the kernel with that setting",
                       setting[i].name, x ? x : a, y ? y : b);
    }
    return true;
}

static bool check_options(const psf_options *o, err *e) {
    if (!(o->size > 0) || !isfinite(o->size))
        return err_set(e, ERR_CONFIG, "kernel_scale is %g; it must be greater than 0", o->size);
    if (!isfinite(o->turn))
        return err_set(e, ERR_CONFIG, "kernel_turn is %g; it must be a number of degrees", o->turn);
    return (o->wide > 0 && isfinite(o->wide)) ||
           err_set(e, ERR_CONFIG, "kernel_scale x / y is %g; it must be greater than 0", o->wide);
}

/* A kernel before it is a psf, in double. Its centre may lie between taps. Each step keeps the sum
 * of the taps and leaves the centre where it was in the picture. */
typedef struct {
    uint32_t size[2], channels; /* width, height */
    double *tap;                /* [channel][y][x] */
    double center[2];           /* x, y */
} psf_shape;

static bool new_taps(psf_shape *s, err *e) {
    size_t n = (size_t)s->size[0] * s->size[1];
    return (s->tap = mem_new(n, s->channels * sizeof *s->tap, "kernel", e)) != NULL;
}

static void psf_shape_free(psf_shape *s) {
    mem_free(s->tap);
}

/* Puts `to` in the place of a shape. */
static void become(psf_shape *s, psf_shape to) {
    mem_free(s->tap);
    *s = to;
}

static bool check_finite(const psf_planes *in, err *e) {
    size_t bad = 0, n = (size_t)in->w * in->h, first = 0;
    uint32_t first_channel = 0;
    for (uint32_t c = 0; c < in->channels; c++)
        for (size_t i = 0; i < n; i++)
            if (!isfinite(in->plane[c][i]) && bad++ == 0) first_channel = c, first = i;
    return bad == 0 || err_set(e, ERR_DATA,
                               "%zu of the kernel's %zu taps are not finite numbers, the first "
                               "(%g) in channel %u at x %zu, y %zu",
                               bad, n * in->channels, (double)in->plane[first_channel][first],
                               first_channel, first % in->w, first / in->w);
}

static bool take_planes(psf_shape *s, const psf_planes *in, err *e) {
    const size_t n = (size_t)in->w * in->h;
    if (!check_finite(in, e) || !new_taps(s, e)) return false;
    for (uint32_t c = 0; c < s->channels; c++)
        for (size_t i = 0; i < n; i++)
            s->tap[c * n + i] = (double)in->plane[c][i] + (in->rest ? (double)in->rest[c][i] : 0);
    return true;
}

/* Puts the taps into a rectangle of this size, moved to the right and down by `by` taps. What would
 * leave it comes in on the other side. */
static bool place(psf_shape *s, const uint32_t size[2], const uint32_t by[2], err *e) {
    psf_shape to = {{size[0], size[1]}, s->channels, NULL, {s->center[0], s->center[1]}};
    const double *from = s->tap;
    if (!new_taps(&to, e)) return false;
    for (size_t c = 0; c < s->channels; c++)
        for (size_t y = 0; y < s->size[1]; y++)
            for (size_t x = 0; x < s->size[0]; x++)
                to.tap[(c * size[1] + (y + by[1]) % size[1]) * size[0] + (x + by[0]) % size[0]] =
                    *from++;
    become(s, to);
    return true;
}

bool psf_find_center(double at[2], const psf_doubles *k, const psf_options *o, err *e) {
    const size_t w = k->w, n = w * k->h;
    double sum = 0, x = 0, y = 0, peak = -INFINITY;
    at[0] = k->w / 2, at[1] = k->h / 2;
    if (o->center == PSF_CORNER) at[0] = at[1] = 0;
    if (o->center == PSF_AT) memcpy(at, o->at, sizeof o->at);
    for (int i = 0; i < 2 && o->center == PSF_AT; i++) {
        double last = (i ? k->h : k->w) - 1.0;
        if (!(at[i] >= 0 && at[i] <= last))
            return err_set(
                e, ERR_CONFIG,
                "kernel_center %c = %g lies outside the kernel, whose taps are 0 to %.0f", "xy"[i],
                at[i], last);
    }
    if (o->center != PSF_PEAK && o->center != PSF_CENTROID) return true;
    for (size_t i = 0; i < n; i++) {
        double t = 0;
        for (uint32_t c = 0; c < k->channels; c++) t += k->tap[c * n + i];
        sum += t, x += t * (double)(i % w), y += t * (double)(i / w);
        if (o->center != PSF_PEAK || !(t > peak)) continue;
        peak = t;
        at[0] = (double)(i % w), at[1] = (double)(i / w);
    }
    if (o->center == PSF_PEAK) return true;
    at[0] = x /= sum, at[1] = y /= sum;
    if (sum > 0 && x >= 0 && x <= (double)w - 1 && y >= 0 && y <= k->h - 1.0) return true;
    return err_set(e, ERR_DATA,
                   "the kernel's centre of gravity is at x %g, y %g (its taps add up to %g): it "
                   "has none inside; give the centre another way",
                   x, y, sum);
}

/* Finds the centre; a kernel whose centre is its first tap is unwrapped around its middle. */
static bool find_center(psf_shape *s, const psf_options *o, err *e) {
    const uint32_t half[2] = {s->size[0] / 2, s->size[1] / 2};
    const psf_doubles taps = {s->size[0], s->size[1], s->channels, s->tap};
    if (!psf_find_center(s->center, &taps, o, e)) return false;
    if (o->center != PSF_CORNER) return true;
    s->center[0] = half[0], s->center[1] = half[1];
    return place(s, (uint32_t[]){s->size[0], s->size[1]}, half, e);
}

/* Turns the kernel clockwise by a right angle: taps only move. */
static bool turn_quarter(psf_shape *s, err *e) {
    const size_t w = s->size[0], h = s->size[1];
    psf_shape to = {
        {s->size[1], s->size[0]}, s->channels, NULL, {s->size[1] - 1 - s->center[1], s->center[0]}};
    const double *from = s->tap;
    if (!new_taps(&to, e)) return false;
    for (size_t c = 0; c < s->channels; c++)
        for (size_t y = 0; y < h; y++)
            for (size_t x = 0; x < w; x++) to.tap[(c * w + x) * h + h - 1 - y] = *from++;
    become(s, to);
    return true;
}

/* Makes the kernel `scale` times as large along each axis. The new grid has a tap on the centre, so
 * a centre between taps ends on one. */
static bool resize(psf_shape *s, const double scales[2], err *e) {
    stretch by = {.scale = {scales[0], scales[1]}};
    psf_shape to = {.channels = s->channels};
    for (int axis = 0; axis < 2; axis++) {
        const double scale = scales[axis];
        double before = stretch_reach(s->center[axis], scale, 0);
        double n = before + 1 + stretch_reach(s->size[axis] - 1 - s->center[axis], scale, 0);
        char meant[64] = "";
        if (scale >= 10) snprintf(meant, sizeof meant, "; %g %%? that is %g", scale, scale / 100);
        if (n > PSF_SCALED && scale > 1)
            return err_set(
                e, ERR_CONFIG,
                "kernel_scale %g makes a kernel of %u taps a side %.0f; at most %d are possible%s",
                scale, s->size[axis], n, PSF_SCALED, meant);
        by.from[axis] = s->size[axis], by.middle[axis] = s->center[axis];
        to.size[axis] = by.to[axis] = (uint32_t)n;
        to.center[axis] = by.at[axis] = before;
    }
    bool ok = new_taps(&to, e);
    for (size_t c = 0; ok && c < s->channels; c++)
        ok = stretch_add(to.tap + c * to.size[0] * to.size[1], 1, &by,
                         s->tap + c * s->size[0] * s->size[1], &(double){1}, NULL, e);
    become(s, to);
    return ok;
}

/* Turns the kernel by less than a right angle, onto a grid that has a tap on the centre. */
static bool turn_between(psf_shape *s, double degrees, err *e) {
    turn by = {.from = {s->size[0], s->size[1]},
               .middle = {s->center[0], s->center[1]},
               .channels = s->channels};
    psf_shape to = {.channels = s->channels};
    uint32_t reach[4];
    turn_by(&by, degrees);
    turn_reach(reach, &by, s->tap);
    for (int axis = 0; axis < 2; axis++) {
        to.center[axis] = by.at[axis] = reach[2 * axis];
        to.size[axis] = by.to[axis] = reach[2 * axis] + 1 + reach[2 * axis + 1];
        if (to.size[axis] > PSF_SIDE)
            return err_set(
                e, ERR_CONFIG,
                "kernel_turn makes a kernel of %u x %u taps %u a side; at most %d are possible",
                s->size[0], s->size[1], to.size[axis], PSF_SIDE);
    }
    bool ok = new_taps(&to, e) && turn_add(to.tap, &by, s->tap, NULL, e);
    become(s, to);
    return ok;
}

/* Gives the kernel its size and its direction. Where it is turned, it has its shape as the pixels
 * are shown before, and that on the pixels afterwards. */
static bool bend(psf_shape *s, const psf_options *o, err *e) {
    const double rest = fmod(o->turn, 90);
    const double aspect = fmod(o->turn, 180) == 0 ? 1 : o->aspect;
    const double before[2] = {o->size * o->wide * aspect, o->size}, after[2] = {1 / aspect, 1};
    bool ok = (before[0] == 1 && before[1] == 1) || resize(s, before, e);
    ok = ok && (rest == 0 || turn_between(s, rest, e));
    for (int i = (int)(o->turn / 90); ok && i > 0; i--) ok = turn_quarter(s, e);
    ok = ok && (aspect == 1 || resize(s, after, e));
    for (int i = o->correlate ? 2 : 0; ok && i > 0; i--) ok = turn_quarter(s, e);
    return ok;
}

/* Moves all lines along an axis by `by` taps to the left; `room` has n * (2 * FFT_STEP + 2)
 * doubles. Eight real lines go at a time. The ramp at the Nyquist frequency is its cosine, which
 * keeps the taps real. */
static void shift_lines(psf_shape *s, int axis, const fft *f, double by, double *room) {
    const size_t w = s->size[0], n = s->size[axis], step = axis ? w : 1;
    const size_t lines = w * s->size[1] * s->channels / n;
    double *a = room, *b = a + n * FFT_STEP, *ramp = b + n * FFT_STEP, *line[FFT_STEP];
    for (size_t k = 0; k < n; k++) {
        double signed_k = k <= n / 2 ? (double)k : (double)k - (double)n;
        double angle = 2 * M_PI * signed_k * by / (double)n;
        ramp[2 * k] = steady_cos(angle);
        ramp[2 * k + 1] = 2 * k == n ? 0 : steady_sin(angle);
    }
    for (size_t from = 0; from < lines; from += FFT_STEP) {
        size_t count = min_size(lines - from, FFT_STEP);
        memset(a, 0, n * FFT_STEP * sizeof *a);
        for (size_t v = 0; v < count; v++) {
            size_t j = from + v;
            line[v] = s->tap + (axis ? j / w * w * n + j % w : j * n);
            for (size_t i = 0; i < n; i++) a[i * FFT_STEP + v] = line[v][i * step];
        }
        double *z = fft_forward(f, a, b);
        for (size_t k = 0; k < n; k++)
            for (int v = 0; v < FFT_LINES; v++) {
                double *re = z + k * FFT_STEP + v, *im = re + FFT_LINES, x = *re;
                *re = (x * ramp[2 * k] - *im * ramp[2 * k + 1]) / (double)n;
                *im = (x * ramp[2 * k + 1] + *im * ramp[2 * k]) / (double)n;
            }
        z = fft_backward(f, z, z == a ? b : a);
        for (size_t v = 0; v < count; v++)
            for (size_t i = 0; i < n; i++) line[v][i * step] = z[i * FFT_STEP + v];
    }
}

/* Moves a centre between taps onto the nearest one by a phase ramp on the kernel's spectrum
 * (docs/inside/math.md, "The centre"). The axis then grows to at least twice its size. */
static bool shift_axis(psf_shape *s, int axis, err *e) {
    double nearest = floor(s->center[axis] + 0.5), by = s->center[axis] - nearest;
    if (fabs(by) < PSF_ON_TAP) {
        s->center[axis] = nearest;
        return true;
    }
    uint32_t n = length_next(2 * s->size[axis], 2), size[2] = {s->size[0], s->size[1]};
    uint32_t offset[2] = {0, 0};
    if (n == 0 || n > PSF_SIDE)
        return err_set(e, ERR_CONFIG,
                       "a centre between taps doubles the kernel, and %u taps a side are too many "
                       "for that: at most %d can be doubled",
                       s->size[axis], PSF_SIDE / 2);
    offset[axis] = (n - size[axis]) / 2, size[axis] = n;
    OWN(fft) *f = fft_new(n, e);
    OWN_MEM double *room = mem_raw(n, (2 * FFT_STEP + 2) * sizeof *room, "kernel lines", e);
    if (!f || !room || !place(s, size, offset, e)) return false;
    shift_lines(s, axis, f, by, room);
    s->center[axis] = floor(s->center[axis] + offset[axis] + 0.5);
    return true;
}

/* Sums up the channels from `first` on. */
static void sum_up(psf *k, uint32_t first) {
    for (uint32_t c = first; c < k->channels; c++) {
        k->sum[c] = 0;
        for (size_t i = 0; i < taps_of(k); i++) k->sum[c] += psf_tap(k, c * taps_of(k) + i);
    }
}

static bool normalize(psf *k, err *e) {
    static const char *const WHAT[] = {"luminance sum", "channel sum", "mean sum", ""};
    bool weighted = k->made.normalize == PSF_LUMINANCE && k->channels == 3;
    double mean = 0;
    for (uint32_t c = 0; c < k->channels; c++)
        mean += k->sum[c] * (weighted ? k->made.luminance[c] : 1.0 / k->channels);
    for (uint32_t c = 0; c < k->channels; c++) {
        double m = k->made.normalize == PSF_NONE          ? 1
                   : k->made.normalize == PSF_PER_CHANNEL ? k->sum[c]
                                                          : mean;
        k->scale[c] = 1 / m;
        if (!(m > 0) || !isfinite(m) || !isfinite(k->scale[c]))
            return err_set(e, ERR_DATA,
                           "the kernel's %s is %g (channel %u); it must be greater than 0 to be "
                           "brought to 1 (normalize none takes the taps as they are)",
                           WHAT[k->made.normalize], m, c);
    }
    return true;
}

/* Makes room for what the shape becomes; fine: the taps are kept in double. */
static bool begin_psf(psf *k, const psf_shape *s, bool fine, err *e) {
    k->w = s->size[0], k->h = s->size[1], k->channels = s->channels;
    k->cx = (uint32_t)s->center[0], k->cy = (uint32_t)s->center[1];
    return new_arrays(k, fine, e);
}

static bool take_shape(psf *k, const psf_shape *s, bool fine, err *e) {
    if (!begin_psf(k, s, fine, e)) return false;
    for (size_t i = 0; i < taps_of(k) * k->channels; i++) {
        set_tap(k, i, s->tap[i]);
        if (!isfinite(k->tap[i]))
            return err_set(e, ERR_DATA, "a tap of the resampled kernel is %g: too large for float",
                           s->tap[i]);
    }
    sum_up(k, 0);
    return normalize(k, e);
}

/* Returns whether taps stay where they are, as numbers of another type. */
static bool stays(const psf_options *o) {
    return o->size == 1 && o->wide == 1 && o->aspect == 1 && o->turn == 0 && !o->correlate &&
           (o->center == PSF_MIDDLE ||
            (o->center == PSF_AT && o->at[0] == floor(o->at[0]) && o->at[1] == floor(o->at[1])));
}

/* Makes of such taps what take_shape makes, without doubles between. */
static bool copy_planes(psf *k, const psf_planes *in, err *e) {
    psf_shape s = {.size = {in->w, in->h}, .channels = in->channels};
    if (!find_center(&s, &k->made, e) || !begin_psf(k, &s, in->rest, e)) return false;
    const size_t n = taps_of(k);
    for (uint32_t c = 0; c < k->channels; c++) {
        memcpy(k->tap + c * n, in->plane[c], n * sizeof *k->tap);
        if (in->rest) memcpy(k->rest + c * n, in->rest[c], n * sizeof *k->rest);
    }
    sum_up(k, 0);
    for (uint32_t c = 0; c < k->channels; c++) /* a sum of finite floats is finite in double */
        if (!isfinite(k->sum[c]) && !check_finite(in, e)) return false;
    return normalize(k, e);
}

bool psf_make(psf *k, const psf_planes *in, const psf_options *options, err *e) {
    if (in->w == 0 || in->h == 0 || in->w > PSF_SIDE || in->h > PSF_SIDE)
        return err_set(e, ERR_DATA, "the kernel has %u x %u taps; 1 to %d a side are possible",
                       in->w, in->h, PSF_SIDE);
    if (in->channels == 0 || in->channels > PSF_CHANNELS)
        return err_set(e, ERR_DATA, "the kernel has %u colour channels; 1 to %d are possible",
                       in->channels, PSF_CHANNELS);
    psf made = {.made = effective(options)};
    const psf_options *o = &made.made;
    OWN(psf_shape) s = {.size = {in->w, in->h}, .channels = in->channels};
    if (!check_options(o, e)) return false;
    bool ok = stays(o) ? copy_planes(&made, in, e)
                       : take_planes(&s, in, e) && find_center(&s, o, e) && bend(&s, o, e) &&
                             shift_axis(&s, 0, e) && shift_axis(&s, 1, e) &&
                             take_shape(&made, &s, in->rest, e);
    if (!ok) return psf_free(&made), false;
    *k = made;
    return true;
}

void psf_free(psf *k) {
    mem_free(k->tap);
    mem_free(k->rest);
    *k = (psf){0};
}

bool psf_copy(psf *to, const psf *from, err *e) {
    psf copy = *from;
    size_t n = taps_of(from) * from->channels;
    if (!new_arrays(&copy, from->rest, e)) return false;
    memcpy(copy.tap, from->tap, n * sizeof *copy.tap);
    if (copy.rest) memcpy(copy.rest, from->rest, n * sizeof *copy.rest);
    *to = copy;
    return true;
}

/* Finds the taps of one axis within n - 1 of the centre. */
static void crop_axis(uint32_t size, uint32_t center, uint32_t n, uint32_t *first,
                      uint32_t *count) {
    uint32_t reach = n > 0 ? n - 1 : 0;
    *first = center > reach ? center - reach : 0;
    *count = center - *first + 1 + min_u32(size - 1 - center, reach);
}

void psf_crop(psf *k, uint32_t w, uint32_t h) {
    const psf from = *k;
    uint32_t x, y;
    crop_axis(from.w, from.cx, w, &x, &k->w);
    crop_axis(from.h, from.cy, h, &y, &k->h);
    if (k->w == from.w && k->h == from.h) return;
    k->cx -= x, k->cy -= y;
    for (uint32_t c = 0; c < k->channels; c++) /* rows move towards the first tap */
        for (uint32_t row = 0; row < k->h; row++) {
            const size_t at = c * taps_of(k) + (size_t)row * k->w,
                         was = c * taps_of(&from) + ((size_t)y + row) * from.w + x;
            memmove(k->tap + at, k->tap + was, k->w * sizeof *k->tap);
            if (k->rest) memmove(k->rest + at, k->rest + was, k->w * sizeof *k->rest);
        }
}

bool psf_luminance(psf *to, const psf *from, const double weight[3], bool beside, err *e) {
    psf kernel = *from;
    const size_t n = taps_of(from), had = beside ? n * from->channels : 0;
    const uint32_t at = beside ? from->channels : 0;
    kernel.channels = at + 1;
    if (!new_arrays(&kernel, from->rest, e)) return false;
    memcpy(kernel.tap, from->tap, had * sizeof *kernel.tap);
    if (kernel.rest) memcpy(kernel.rest, from->rest, had * sizeof *kernel.rest);
    kernel.scale[at] = 1;
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (uint32_t c = 0; c < from->channels; c++)
            sum += from->scale[c] * psf_tap(from, c * n + i) *
                   (from->channels == 3 ? weight[c] : 1.0 / from->channels);
        set_tap(&kernel, had + i, sum);
    }
    sum_up(&kernel, at);
    *to = kernel;
    return true;
}

hash128 psf_hash(const psf *k) {
    const uint32_t sizes[] = {k->w, k->h, k->channels, k->cx, k->cy};
    hash_state s;
    hash_begin(&s);
    hash_add(&s, sizes, sizeof sizes);
    hash_add(&s, k->scale, k->channels * sizeof *k->scale);
    hash_add(&s, k->tap, taps_of(k) * k->channels * sizeof *k->tap);
    if (k->rest) hash_add(&s, k->rest, taps_of(k) * k->channels * sizeof *k->rest);
    return hash_end(&s);
}

/* Returns a tap at x, y from the centre; 0 outside the rectangle. */
static double tap_at(const psf *k, uint32_t channel, int64_t x, int64_t y) {
    int64_t at_x = k->cx + x, at_y = k->cy + y;
    if (at_x < 0 || at_y < 0 || at_x >= k->w || at_y >= k->h) return 0;
    return psf_tap(k, ((size_t)channel * k->h + (size_t)at_y) * k->w + (size_t)at_x);
}

bool psf_is_symmetric(const psf *k) {
    const int64_t w = k->w, h = k->h, cx = k->cx, cy = k->cy;
    const bool middle = w == 2 * cx + 1 && h == 2 * cy + 1; /* half of the rows have the others */
    for (uint32_t c = 0; c < k->channels; c++)
        for (int64_t y = -cy; y < (middle ? 1 : h - cy); y++)
            for (int64_t x = -cx; x < w - cx; x++)
                if (tap_at(k, c, x, y) != tap_at(k, c, -x, -y)) return false;
    return true;
}

bool psf_same(const psf *a, const psf *b) {
    hash128 x = psf_hash(a), y = psf_hash(b);
    return x.lo == y.lo && x.hi == y.hi;
}
