#include "kernel/spectrum.h"

#include "base/mem.h"
#include "kernel/spectrum_resample.h"
#include "math/fft.h"
#include "math/lengths.h"

#include <inttypes.h>
#include <string.h>

static uint32_t middle_of(uint32_t size) {
    return size / 2;
}

/* --- taps as lines for a transform ------------------------------------------------------- */

/* One channel of a kernel as fft_plane wants it: line i along the first axis, with the tap
 * (origin1, origin2) at 0 and without the centre tap. It is folded where a length is shorter than
 * the kernel. Both axes may have weights. */
typedef struct {
    const float *tap;
    double scale;
    uint32_t size1, size2, center1, center2, origin1;
    size_t step1, step2; /* from tap to tap along either axis */
    uint32_t length1, length2;
    const double *weight1, *weight2; /* or NULL */
} tap_lines;

static void fill_line(const void *ctx, uint32_t i, double *to) {
    const tap_lines *t = ctx;
    /* Advanced by one per tap: `to` is a circle. */
    uint32_t start = (t->length1 - t->origin1 % t->length1) % t->length1;
    for (uint64_t q2 = i; q2 < t->size2; q2 += t->length2) {
        const float *line = t->tap + q2 * t->step2;
        double scale = t->scale * (t->weight2 ? t->weight2[q2] : 1);
        uint32_t at = start;
        for (uint32_t q1 = 0; q1 < t->size1; q1++) {
            if (q1 != t->center1 || q2 != t->center2)
                to[at] += scale * (t->weight1 ? t->weight1[q1] : 1) * (double)line[q1 * t->step1];
            if (++at == t->length1) at = 0;
        }
    }
}

/* A transform of one channel of a kernel; everything is in the order x, y. */
typedef struct {
    const psf *kernel;
    uint32_t channel;
    uint32_t first;          /* the axis that is halved */
    const uint32_t *length;  /* of the transform */
    uint32_t origin[2];      /* the tap that is at 0 */
    const double *weight[2]; /* of the taps along each axis, or NULL */
    bool float64;            /* the result is double */
} tap_transform;

static bool transform_taps(void *to, const tap_transform *f, par *threads, err *e) {
    const psf *k = f->kernel;
    const uint32_t size[2] = {k->w, k->h}, center[2] = {k->cx, k->cy};
    const size_t step[2] = {1, k->w};
    const uint32_t *length = f->length, *origin = f->origin;
    uint32_t a = f->first, b = 1 - f->first;
    tap_lines t = {.tap = k->tap + (size_t)f->channel * k->w * k->h,
                   .scale = k->scale[f->channel],
                   .size1 = size[a],
                   .size2 = size[b],
                   .center1 = center[a],
                   .center2 = center[b],
                   .origin1 = origin[a],
                   .step1 = step[a],
                   .step2 = step[b],
                   .length1 = length[a],
                   .length2 = length[b],
                   .weight1 = f->weight[a],
                   .weight2 = f->weight[b]};
    fft_plane p = {.first = length[a],
                   .second = length[b],
                   .lines = size[b] < length[b] ? size[b] : length[b],
                   .origin = (length[b] - origin[b] % length[b]) % length[b],
                   .fill = fill_line,
                   .ctx = &t,
                   .float64 = f->float64};
    return fft_half_spectrum(to, &p, threads, e);
}

/* --- the source -------------------------------------------------------------------------- */

static size_t channel_floats(const spectrum *s) {
    return ((size_t)s->m[0] / 2 + 1) * s->m[1] * 2;
}

size_t spectrum_floats(const spectrum *s) {
    return channel_floats(s) * s->kernel.channels;
}

/* Returns the weights that undo the filter's falloff at each tap of an axis. */
static double *compensation(uint32_t size, uint32_t m, err *e) {
    double *w = mem_raw(size, sizeof *w, "filter", e);
    for (uint32_t q = 0; w && q < size; q++)
        w[q] = 1 / resample_falloff((double)q - middle_of(size), m);
    return w;
}

double spectrum_alias(uint32_t tap, uint32_t size) {
    return resample_alias((double)tap - middle_of(size), length_next(2 * size, 2));
}

bool spectrum_make(spectrum *to, const psf *k, par *threads, err *e) {
    spectrum s = {.m = {length_next(2 * k->w, 2), length_next(2 * k->h, 2)}};
    double *weight[2] = {compensation(k->w, s.m[0], e), compensation(k->h, s.m[1], e)};
    bool ok = weight[0] && weight[1] && psf_copy(&s.kernel, k, e) &&
              (s.value = mem_raw(spectrum_floats(&s), sizeof *s.value, "kernel spectrum", e));
    for (uint32_t c = 0; ok && c < k->channels; c++)
        ok = transform_taps(s.value + c * channel_floats(&s),
                            &(tap_transform){.kernel = k,
                                             .channel = c,
                                             .length = s.m,
                                             .origin = {middle_of(k->w), middle_of(k->h)},
                                             .weight = {weight[0], weight[1]}},
                            threads, e);
    mem_free(weight[0]);
    mem_free(weight[1]);
    if (ok)
        *to = s;
    else
        spectrum_free(&s);
    return ok;
}

bool spectrum_copy(spectrum *to, const spectrum *from, err *e) {
    spectrum s = {.m = {from->m[0], from->m[1]}};
    bool ok = psf_copy(&s.kernel, &from->kernel, e) &&
              (s.value = mem_raw(spectrum_floats(&s), sizeof *s.value, "kernel spectrum", e));
    if (ok) {
        memcpy(s.value, from->value, spectrum_floats(&s) * sizeof *s.value);
        *to = s;
    } else {
        spectrum_free(&s);
    }
    return ok;
}

void spectrum_free(spectrum *s) {
    psf_free(&s->kernel);
    mem_free(s->value);
    *s = (spectrum){0};
}

/* --- at lengths: the three modes --------------------------------------------------------- */

static size_t line_set_floats(const spectrum_lines *l) {
    return (size_t)l->halves * l->length * 2;
}

/* Returns the request that samples the source; its origin, the kernel's middle, moves to the
 * kernel's centre. */
static resample_request from_source(const spectrum *s, uint32_t first, const uint32_t length[2]) {
    const psf *k = &s->kernel;
    return (resample_request){
        .from = s->value,
        .channels = k->channels,
        .m = {s->m[0], s->m[1]},
        .filter = RESAMPLE_KAISER,
        .first = first,
        .length = {length[0], length[1]},
        .shift = {(int64_t)middle_of(k->w) - k->cx, (int64_t)middle_of(k->h) - k->cy}};
}

static bool at_exact(spectrum_lines *to, const spectrum *s, uint32_t first,
                     const uint32_t length[2], par *threads, err *e) {
    size_t step = line_set_floats(to) * (to->float64 ? sizeof(double) : sizeof(float));
    tap_transform f = {.kernel = &s->kernel,
                       .first = first,
                       .length = length,
                       .origin = {s->kernel.cx, s->kernel.cy},
                       .float64 = to->float64};
    for (; f.channel < to->channels; f.channel++)
        if (!transform_taps((char *)to->value + f.channel * step, &f, threads, e)) return false;
    return true;
}

/* Puts the centre tap back into a spectrum [kx][ky] of w * h frequencies whose origin is the
 * kernel's middle. */
static void add_center_tap(float *value, const psf *k, double tap) {
    uint64_t x = (k->cx + k->w - middle_of(k->w)) % k->w;
    uint64_t y = (k->cy + k->h - middle_of(k->h)) % k->h;
    for (uint64_t kx = 0; kx <= k->w / 2; kx++)
        for (uint64_t ky = 0; ky < k->h; ky++, value += 2) {
            double ax, bx, ay, by;
            fft_root(kx * x, k->w, &ax, &bx);
            fft_root(ky * y, k->h, &ay, &by);
            value[0] += (float)(tap * (ax * ay - bx * by));
            value[1] += (float)(tap * (ax * by + bx * ay));
        }
}

/* Makes the spectrum of the whole kernel at the kernel's own size, its middle at the origin, and
 * reads between its frequencies by linear interpolation. docs/math.md, "What `bilinear` is", says
 * what is wrong with that. */
static bool at_bilinear(spectrum_lines *to, const spectrum *s, uint32_t first,
                        const uint32_t length[2], par *threads, err *e) {
    const psf *k = &s->kernel;
    size_t own_floats = ((size_t)k->w / 2 + 1) * k->h * 2, floats = line_set_floats(to);
    float *small = mem_raw(own_floats * to->channels, sizeof *small, "kernel spectrum", e);
    if (!small) return false;
    resample_request own = from_source(s, 0, (uint32_t[]){k->w, k->h});
    resample_request r = from_source(s, first, length);
    own.shift[0] = own.shift[1] = 0;
    r.from = small;
    r.m[0] = k->w, r.m[1] = k->h;
    r.filter = RESAMPLE_LINEAR;
    bool ok = resample_half(small, &own, threads, e);
    for (uint32_t c = 0; ok && c < to->channels; c++)
        add_center_tap(small + c * own_floats, k, to->tap[c]);
    ok = ok && resample_half(to->value, &r, threads, e);
    for (size_t i = 0; ok && i < floats * to->channels; i += 2)
        ((float *)to->value)[i] -= (float)to->tap[i / floats];
    mem_free(small);
    return ok;
}

const char *spectrum_mode_name(spectrum_mode m) {
    static const char *const NAME[] = {"resampled", "exact", "bilinear"};
    return NAME[m];
}

bool spectrum_at(spectrum_lines *to, const spectrum *s, const spectrum_request *r, par *threads,
                 err *e) {
    const psf *k = &s->kernel;
    spectrum_mode mode = r->float64 ? SPECTRUM_EXACT : r->mode;
    /* In the order x, y. */
    const uint32_t length[2] = {r->length[r->first], r->length[1 - r->first]};
    if (length[0] == 0 || length[1] == 0)
        return err_set(e, ERR_INTERNAL, "a spectrum of %" PRIu32 " x %" PRIu32 " frequencies",
                       r->length[0], r->length[1]);
    if (mode != SPECTRUM_EXACT && !s->value)
        return err_set(e, ERR_INTERNAL, "a %s spectrum without a source", spectrum_mode_name(mode));
    spectrum_lines l = {.channels = k->channels,
                        .halves = r->length[0] / 2 + 1,
                        .length = r->length[1],
                        .float64 = r->float64};
    size_t count, floats;
    if (!mem_mul(l.halves, (size_t)l.length * 2, &floats) || !mem_mul(floats, l.channels, &count))
        return err_set(e, ERR_CONFIG, "a spectrum of %" PRIu32 " x %" PRIu32 " is too large",
                       r->length[0], r->length[1]);
    l.value = mem_raw(count, l.float64 ? sizeof(double) : sizeof(float), "spectrum", e);
    for (uint32_t c = 0; c < k->channels; c++)
        l.tap[c] = k->scale[c] * (double)k->tap[((size_t)c * k->h + k->cy) * k->w + k->cx];
    bool ok = l.value != NULL;
    const resample_request resampled = from_source(s, r->first, length);
    switch (mode) {
    case SPECTRUM_EXACT: ok = ok && at_exact(&l, s, r->first, length, threads, e); break;
    case SPECTRUM_BILINEAR: ok = ok && at_bilinear(&l, s, r->first, length, threads, e); break;
    case SPECTRUM_RESAMPLED: ok = ok && resample_half(l.value, &resampled, threads, e); break;
    }
    if (ok)
        *to = l;
    else
        spectrum_lines_free(&l);
    return ok;
}

void spectrum_lines_free(spectrum_lines *l) {
    mem_free(l->value);
    *l = (spectrum_lines){0};
}
