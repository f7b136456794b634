#include "kernel/psf_shape.h"

#include "base/mem.h"
#include "kernel/psf.h"
#include "math/fft.h"
#include "math/lengths.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The taps as lines along one axis, over all channels: tap i of line j is at[i * step] from
 * line_start(j). */
typedef struct {
    size_t n, step, lines, inner; /* `inner` lines lie side by side, then comes the next block */
    size_t line_step, block_step;
} lines_of;

static lines_of lines_along(const psf_shape *s, int axis) {
    size_t w = s->size[AXIS_W], h = s->size[AXIS_H];
    if (axis == AXIS_W) return (lines_of){w, 1, h * s->channels, 1, 0, w};
    return (lines_of){h, w, w * s->channels, w, 1, w * h};
}

static double *line_start(const psf_shape *s, const lines_of *l, size_t j) {
    return s->tap + j / l->inner * l->block_step + j % l->inner * l->line_step;
}

/* An empty shape of another size along one axis. */
static bool resized(psf_shape *to, const psf_shape *s, int axis, uint32_t n, err *e) {
    *to = *s;
    to->size[axis] = n;
    size_t count;
    if (!mem_mul(to->size[AXIS_W], to->size[AXIS_H], &count) ||
        !mem_mul(count, s->channels, &count))
        return err_set(e, ERR_CONFIG, "a kernel of %" PRIu32 " x %" PRIu32 " taps is too large",
                       to->size[AXIS_W], to->size[AXIS_H]);
    return (to->tap = mem_new(count, sizeof *to->tap, "kernel", e)) != NULL;
}

static void replace(psf_shape *s, psf_shape *by) {
    mem_free(s->tap);
    *s = *by;
}

/* --- unwrap, turn ------------------------------------------------------------------------ */

static bool unwrap_axis(psf_shape *s, int axis, err *e) {
    psf_shape to;
    if (!resized(&to, s, axis, s->size[axis], e)) return false;
    lines_of l = lines_along(s, axis);
    for (size_t j = 0; j < l.lines; j++) {
        const double *from = line_start(s, &l, j);
        double *at = line_start(&to, &l, j);
        for (size_t i = 0; i < l.n; i++) at[(i + l.n / 2) % l.n * l.step] = from[i * l.step];
    }
    to.center[axis] = (double)(l.n / 2);
    replace(s, &to);
    return true;
}

bool shape_unwrap(psf_shape *s, err *e) {
    return unwrap_axis(s, AXIS_W, e) && unwrap_axis(s, AXIS_H, e);
}

void shape_turn(psf_shape *s) {
    size_t n = (size_t)s->size[AXIS_W] * s->size[AXIS_H];
    for (uint32_t c = 0; c < s->channels; c++) {
        double *a = s->tap + c * n;
        for (size_t i = 0; i < n / 2; i++) {
            double t = a[i];
            a[i] = a[n - 1 - i];
            a[n - 1 - i] = t;
        }
    }
    for (int axis = 0; axis < 2; axis++) s->center[axis] = s->size[axis] - 1 - s->center[axis];
}

/* --- scale ------------------------------------------------------------------------------- */

/* The kernel as a function of position: every tap times a shape of area 1 around it, a box when
 * shrinking, a tent when enlarging. A new tap is the integral of that function over its own area,
 * so all of them together have the sum that the old ones had. These are the integrals up to x. */
static double box_up_to(double x) {
    return fmin(fmax(x + 0.5, 0), 1);
}
static double tent_up_to(double x) {
    if (x <= -1) return 0;
    if (x >= 1) return 1;
    return x < 0 ? (x + 1) * (x + 1) / 2 : 1 - (1 - x) * (1 - x) / 2;
}

/* The taps that cover `extent` old taps on one side of the centre's tap; 1e-9 of a tap more would
 * be a rounding error. */
static double taps_beside(double extent, double scale) {
    return fmax(0, ceil(extent * scale - 0.5 - 1e-9));
}

static bool scale_axis(psf_shape *s, int axis, double scale, err *e) {
    double (*up_to)(double) = scale < 1 ? box_up_to : tent_up_to;
    double half = scale < 1 ? 0.5 : 1, center = s->center[axis];
    double before = taps_beside(center + half, scale);
    double after = taps_beside(s->size[axis] - 1 - center + half, scale);
    double n = before + 1 + after;
    if (n > PSF_SIDE)
        return err_set(e, ERR_CONFIG,
                       "kernel_scale %g makes a kernel of %" PRIu32 " taps a side %.0f; at most %d "
                       "are possible",
                       scale, s->size[axis], n, PSF_SIDE);
    psf_shape to;
    if (!resized(&to, s, axis, (uint32_t)n, e)) return false;
    lines_of from = lines_along(s, axis), dest = lines_along(&to, axis);
    for (size_t i = 0; i < dest.n; i++) {
        double left = center + ((double)i - before - 0.5) / scale, right = left + 1 / scale;
        double first = fmax(0, floor(left - half)), last = fmin(s->size[axis] - 1.0, right + half);
        for (size_t q = (size_t)first; (double)q <= last; q++) {
            double weight = up_to(right - (double)q) - up_to(left - (double)q);
            for (size_t j = 0; weight > 0 && j < from.lines; j++)
                line_start(&to, &dest, j)[i * dest.step] += weight *
                                                            line_start(s, &from, j)[q * from.step];
        }
    }
    to.center[axis] = before;
    replace(s, &to);
    return true;
}

bool shape_scale(psf_shape *s, double scale, err *e) {
    return scale_axis(s, AXIS_W, scale, e) && scale_axis(s, AXIS_H, scale, e);
}

/* --- shift ------------------------------------------------------------------------------- */

/* The ramp that moves a line of n taps by `by` taps to the left. */
static void ramp(double *to, size_t n, double by) {
    for (size_t k = 0; k < n; k++) {
        double signed_k = k <= n / 2 ? (double)k : (double)k - (double)n;
        double angle = 2 * M_PI * signed_k * by / (double)n;
        to[2 * k] = cos(angle);
        to[2 * k + 1] = 2 * k == n ? 0 : sin(angle);
    }
}

/* Eight real lines at a time: a ramp of real taps keeps the real and the imaginary line of each
 * complex one apart. */
static void shift_lines(psf_shape *to, const lines_of *l, const fft *f, const double *by, double *a,
                        double *b) {
    for (size_t from = 0; from < l->lines; from += FFT_STEP) {
        size_t count = l->lines - from < FFT_STEP ? l->lines - from : FFT_STEP;
        memset(a, 0, l->n * FFT_STEP * sizeof *a);
        for (size_t v = 0; v < count; v++) {
            const double *line = line_start(to, l, from + v);
            for (size_t i = 0; i < l->n; i++) a[i * FFT_STEP + v] = line[i * l->step];
        }
        double *z = fft_forward(f, a, b);
        for (size_t k = 0; k < l->n; k++)
            for (int v = 0; v < FFT_LINES; v++) {
                double *re = z + k * FFT_STEP + v, *im = re + FFT_LINES, x = *re;
                *re = (x * by[2 * k] - *im * by[2 * k + 1]) / (double)l->n;
                *im = (x * by[2 * k + 1] + *im * by[2 * k]) / (double)l->n;
            }
        z = fft_backward(f, z, z == a ? b : a);
        for (size_t v = 0; v < count; v++) {
            double *line = line_start(to, l, from + v);
            for (size_t i = 0; i < l->n; i++) line[i * l->step] = z[i * FFT_STEP + v];
        }
    }
}

/* A copy in the middle of a line twice as long. */
static bool padded(psf_shape *to, const psf_shape *s, int axis, err *e) {
    uint32_t n = length_next(2 * s->size[axis], 2);
    if (n == 0 || n > PSF_SIDE)
        return err_set(e, ERR_CONFIG,
                       "a centre between taps doubles the kernel, and %" PRIu32 " taps a side "
                       "are too many for that: at most %d can be doubled",
                       s->size[axis], PSF_SIDE / 2);
    if (!resized(to, s, axis, n, e)) return false;
    lines_of from = lines_along(s, axis), dest = lines_along(to, axis);
    size_t offset = (dest.n - from.n) / 2;
    for (size_t j = 0; j < from.lines; j++) {
        const double *old = line_start(s, &from, j);
        double *line = line_start(to, &dest, j) + offset * dest.step;
        for (size_t i = 0; i < from.n; i++) line[i * dest.step] = old[i * from.step];
    }
    to->center[axis] = s->center[axis] + (double)offset;
    return true;
}

static bool shift_axis(psf_shape *s, int axis, err *e) {
    double nearest = floor(s->center[axis] + 0.5), by = s->center[axis] - nearest;
    if (fabs(by) < PSF_ON_TAP) {
        s->center[axis] = nearest;
        return true;
    }
    psf_shape to;
    if (!padded(&to, s, axis, e)) return false;
    lines_of l = lines_along(&to, axis);
    fft *f = fft_new((uint32_t)l.n, e);
    double *room = mem_raw(l.n, (2 * FFT_STEP + 2) * sizeof *room, "kernel lines", e);
    bool ok = f && room;
    if (ok) {
        double *a = room, *b = a + l.n * FFT_STEP, *phase = b + l.n * FFT_STEP;
        ramp(phase, l.n, by);
        shift_lines(&to, &l, f, phase, a, b);
        to.center[axis] = floor(to.center[axis] + 0.5);
        replace(s, &to);
    } else {
        mem_free(to.tap);
    }
    mem_free(room);
    fft_free(&f);
    return ok;
}

bool shape_shift(psf_shape *s, err *e) {
    return shift_axis(s, AXIS_W, e) && shift_axis(s, AXIS_H, e);
}
