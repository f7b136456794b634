/* edit_mix.c - mix, convolve and disperse: several pictures added or multiplied into one. */
#include "base/mem.h"
#include "base/number.h"
#include "base/steady.h"
#include "kernel/edit/edit.h"
#include "kernel/edit/stretch.h"
#include "kernel/make/lamp.h"
#include "math/fft.h"
#include "math/lengths.h"

#include <math.h>
#include <string.h>

static const double WHITE[EDIT_CHANNELS] = {1, 1, 1};

static uint32_t most_channels(const edit_request *r) {
    uint32_t channels = 1;
    for (int i = 0; i < r->inputs; i++) channels = max_u32(channels, r->input[i].kernel.channels);
    return channels;
}

/* --- mix -------------------------------------------------------------------------------------- */

static bool add_input(edit_kernel *to, const edit_input *in, double share, par *threads, err *e) {
    const edit_kernel *k = &in->kernel;
    const uint32_t from[2] = {k->w, k->h}, side[2] = {to->w, to->h};
    const size_t plane = (size_t)k->w * k->h;
    double mean = edit_light(k) / k->channels;
    stretch_axis axis[2] = {0};
    if (!(mean > 0))
        return err_set(e, ERR_DATA, "the taps of '%s' add up to %g, so it has no light to share",
                       in->name, mean);
    bool ok = true;
    for (int a = 0; a < 2 && ok; a++)
        ok = stretch_axis_make(&axis[a], from[a], side[a], 1, in->offset[a], e);
    for (uint32_t c = 0; c < k->channels && ok; c++) {
        double weight[EDIT_CHANNELS] = {0};
        for (uint32_t i = 0; i < to->channels; i++)
            if (k->channels == 1 || i == c) weight[i] = share / mean;
        ok = stretch_add(to, k->tap + c * plane, axis, weight, threads, e);
    }
    for (int a = 0; a < 2; a++) stretch_axis_free(&axis[a]);
    return ok;
}

/* The amounts are shares of the light, so each kernel counts as if its channels summed to 1. */
bool edit_mix(edit_kernel *to, const edit_request *r, edit_account *told, err *e) {
    uint32_t side[2] = {1, 1};
    double all = 0;
    for (int i = 0; i < r->inputs; i++) {
        const edit_input *in = &r->input[i];
        edit_reach reach = edit_reach_of(&in->kernel);
        const uint32_t least[2] = {in->kernel.w, in->kernel.h};
        for (int a = 0; a < 2; a++)
            side[a] = edit_side(stretch_reach(reach.before[a], 1, -in->offset[a]),
                                stretch_reach(reach.after[a], 1, in->offset[a]),
                                max_u32(side[a], least[a]));
    }
    if (!edit_new(to, side[0], side[1], most_channels(r), e)) return false;
    for (int i = 0; i < r->inputs; i++) {
        const edit_input *in = &r->input[i];
        double share = isnan(in->amount) ? 1.0 / r->inputs : in->amount;
        if (!add_input(to, in, share, r->threads, e)) return false;
        all += share;
        edit_say(told, "share", share, "%s gives %.4g of the light", in->name, share);
    }
    if (fabs(all - 1) > 1e-9)
        edit_say(told, "shares", all, "the shares add up to %.9g, and a run scales them to 1", all);
    return true;
}

/* --- convolve --------------------------------------------------------------------------------- */

/* Complex planes of n[0] * n[1], as n[0] / FFT_LINES groups of lines of length n[1] (fft.h). */
typedef struct {
    uint32_t n[2];
    fft *f[2];
    double *plane, *turned;
    par *threads;
    bool back;
    uint32_t axis;
} transform;

/* Transforms one group of lines in place. */
static bool transform_group(void *ctx, size_t group, int worker, err *e) {
    (void)worker;
    const transform *t = ctx;
    size_t room = (size_t)t->n[t->axis] * FFT_STEP;
    double *line = (t->axis ? t->turned : t->plane) + group * room;
    double *scratch = mem_raw(room, sizeof *scratch, "a line", e);
    if (!scratch) return false;
    double *done = (t->back ? fft_backward : fft_forward)(t->f[t->axis], line, scratch);
    if (done != line) memcpy(line, done, room * sizeof *line);
    mem_free(scratch);
    return true;
}

/* Returns where part `im` of element (x, y) is: in lines along x, or turned, in lines along y. */
static size_t element(const transform *t, bool turned, uint32_t x, uint32_t y) {
    uint32_t along = turned ? y : x, across = turned ? x : y;
    return ((size_t)(across / FFT_LINES) * t->n[turned] + along) * FFT_STEP + across % FFT_LINES;
}

static void turn_lines(transform *t, bool back) {
    for (uint32_t y = 0; y < t->n[1]; y++)
        for (uint32_t x = 0; x < t->n[0]; x++) {
            double *a = t->plane + element(t, false, x, y), *b = t->turned + element(t, true, x, y);
            if (back)
                a[0] = b[0], a[FFT_LINES] = b[FFT_LINES];
            else
                b[0] = a[0], b[FFT_LINES] = a[FFT_LINES];
        }
}

/* Transforms both axes, forward or back. The lines of `plane` run along x. */
static bool transform_plane(transform *t, bool back, err *e) {
    t->back = back;
    for (int step = 0; step < 2; step++) {
        t->axis = back ? 1 - step : step;
        uint32_t lines = t->n[1 - t->axis];
        if (!par_for(t->threads, lines / FFT_LINES, transform_group, t, e)) return false;
        if (step == 0) turn_lines(t, back);
    }
    return true;
}

/* Multiplies the spectra of two real planes that were transformed as the real and the imaginary
 * part of one: of the sum z, A = (z(k) + conj z(-k)) / 2 and B = (z(k) - conj z(-k)) / 2i. */
static void multiply(transform *t) {
    for (uint32_t y = 0; y < t->n[1]; y++)
        for (uint32_t x = 0; x < t->n[0]; x++) {
            uint32_t ox = (t->n[0] - x) % t->n[0], oy = (t->n[1] - y) % t->n[1];
            if ((uint64_t)oy * t->n[0] + ox < (uint64_t)y * t->n[0] + x) continue;
            double *z = t->turned + element(t, true, x, y),
                   *o = t->turned + element(t, true, ox, oy);
            double ar = (z[0] + o[0]) / 2, ai = (z[FFT_LINES] - o[FFT_LINES]) / 2;
            double br = (z[FFT_LINES] + o[FFT_LINES]) / 2, bi = (o[0] - z[0]) / 2;
            double re = ar * br - ai * bi, im = ar * bi + ai * br;
            z[0] = o[0] = re;
            z[FFT_LINES] = im, o[FFT_LINES] = -im;
        }
}

/* Convolves plane `a` with plane `b`: tap (x, y) from their centres is the sum of the products of
 * taps whose places add up to it. */
static bool convolve_planes(double *to, transform *t, const edit_kernel *size, const edit_kernel *a,
                            uint32_t ca, const edit_kernel *b, uint32_t cb, err *e) {
    memset(t->plane, 0, (size_t)t->n[0] * t->n[1] * 2 * sizeof *t->plane);
    bool positive = true;
    for (int part = 0; part < 2; part++) {
        const edit_kernel *k = part ? b : a;
        const double *tap = k->tap + (part ? cb : ca) * (size_t)k->w * k->h;
        for (uint32_t y = 0; y < k->h; y++)
            for (uint32_t x = 0; x < k->w; x++) {
                uint32_t px = (x + t->n[0] - k->w / 2) % t->n[0];
                uint32_t py = (y + t->n[1] - k->h / 2) % t->n[1];
                double v = tap[(size_t)y * k->w + x];
                positive = positive && v >= 0;
                t->plane[element(t, false, px, py) + (part ? FFT_LINES : 0)] = v;
            }
    }
    if (!transform_plane(t, false, e)) return false;
    multiply(t);
    if (!transform_plane(t, true, e)) return false;
    double scale = 1 / ((double)t->n[0] * t->n[1]);
    for (uint32_t y = 0; y < size->h; y++)
        for (uint32_t x = 0; x < size->w; x++) {
            uint32_t px = (x + t->n[0] - size->w / 2) % t->n[0];
            uint32_t py = (y + t->n[1] - size->h / 2) % t->n[1];
            double v = t->plane[element(t, false, px, py)] * scale;
            /* Rounding must not make light that is not there negative. */
            to[(size_t)y * size->w + x] = positive ? fmax(v, 0) : v;
        }
    return true;
}

static bool convolve_two(edit_kernel *to, const edit_kernel *a, const edit_kernel *b, par *threads,
                         err *e) {
    edit_reach ra = edit_reach_of(a), rb = edit_reach_of(b);
    transform t = {.threads = threads};
    uint32_t side[2], channels = max_u32(a->channels, b->channels);
    bool ok = true;
    for (int i = 0; i < 2; i++) {
        side[i] = edit_side(ra.before[i] + rb.before[i], ra.after[i] + rb.after[i],
                            i ? max_u32(a->h, b->h) : max_u32(a->w, b->w));
        /* Groups of lines must be whole, and nothing may wrap around. */
        t.n[i] = length_next(max_u32(FFT_LINES, side[i] + 1), 2);
        while (t.n[i] % FFT_LINES) t.n[i] = length_next(t.n[i] + 1, 2);
        ok = ok && (t.f[i] = fft_new(t.n[i], e));
    }
    size_t room = (size_t)t.n[0] * t.n[1] * 2;
    ok = ok && (t.plane = mem_raw(room, sizeof *t.plane, "spectrum", e)) &&
         (t.turned = mem_raw(room, sizeof *t.turned, "spectrum", e)) &&
         edit_new(to, side[0], side[1], channels, e);
    for (uint32_t c = 0; c < channels && ok; c++)
        ok = convolve_planes(to->tap + c * (size_t)to->w * to->h, &t, to, a,
                             a->channels > 1 ? c : 0, b, b->channels > 1 ? c : 0, e);
    mem_free(t.plane);
    mem_free(t.turned);
    for (int i = 0; i < 2; i++) fft_free(&t.f[i]);
    return ok;
}

bool edit_convolve(edit_kernel *to, const edit_request *r, edit_account *told, err *e) {
    if (!edit_copy(to, &r->input[0].kernel, e)) return false;
    for (int i = 1; i < r->inputs; i++) {
        edit_kernel made = {0};
        bool ok = convolve_two(&made, to, &r->input[i].kernel, r->threads, e);
        edit_free(to);
        *to = made;
        if (!ok) return false;
    }
    edit_say(told, "convolved", r->inputs, "%d kernels, one after the other", r->inputs);
    return true;
}

/* --- disperse ---------------------------------------------------------------------------------
 *
 * Diffraction is as wide as its light's wavelength is long. The kernel is stretched for each of
 * many wavelengths and added in the colour of each; so close are they that the farthest tap moves
 * by no more than one from each to the next, or fringes would show as separate rings. */

static bool add_wavelength(edit_kernel *to, const edit_kernel *grey, double scale,
                           const double color[EDIT_CHANNELS], par *threads, err *e) {
    stretch_axis axis[2] = {0};
    bool ok = stretch_axis_make(&axis[0], grey->w, to->w, scale, 0, e) &&
              stretch_axis_make(&axis[1], grey->h, to->h, scale, 0, e) &&
              stretch_add(to, grey->tap, axis, color, threads, e);
    for (int a = 0; a < 2; a++) stretch_axis_free(&axis[a]);
    return ok;
}

/* Returns how many wavelengths are needed from `first` to `last`. */
static int wavelengths(const edit_reach *r, double first, double last) {
    double x = max_u32(r->before[0], r->after[0]), y = max_u32(r->before[1], r->after[1]);
    double far = sqrt(x * x + y * y);
    return first == last ? 1 : (int)clamp_double(ceil(far * steady_log(last / first)), 16, 2048);
}

/* Clips what lies outside the primaries, and gives each channel the light of the grey kernel. */
static double clip_colours(edit_kernel *to, double light) {
    const size_t n = (size_t)to->w * to->h;
    double clipped = 0;
    for (uint32_t c = 0; c < to->channels; c++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++) {
            double *v = &to->tap[c * n + i];
            clipped += fmax(-*v, 0);
            *v = fmax(*v, 0);
            sum += *v;
        }
        for (size_t i = 0; sum > 0 && i < n; i++) to->tap[c * n + i] *= light / sum;
    }
    return clipped;
}

bool edit_disperse(edit_kernel *to, const edit_request *r, edit_account *told, err *e) {
    const edit_kernel *k = &r->input[0].kernel;
    const double at = r->value[0], first = r->value[1], last = r->value[2];
    const size_t n = (size_t)k->w * k->h;
    edit_reach reach = edit_reach_of(k);
    edit_kernel grey;
    if (!(first <= last))
        return err_set(e, ERR_USAGE, "from=%g is above to=%g: the wavelengths must rise", first,
                       last);
    if (!edit_new(&grey, k->w, k->h, 1, e)) return false;
    for (uint32_t c = 0; c < k->channels; c++)
        for (size_t i = 0; i < n; i++) grey.tap[i] += k->tap[c * n + i] / k->channels;
    const uint32_t least[2] = {k->w, k->h};
    uint32_t side[2];
    for (int a = 0; a < 2; a++)
        side[a] = edit_side(stretch_reach(reach.before[a], last / at, 0),
                            stretch_reach(reach.after[a], last / at, 0), least[a]);
    int count = wavelengths(&reach, first, last);
    bool ok = edit_new(to, side[0], side[1], EDIT_CHANNELS, e);
    for (int i = 0; i < count && ok; i++) {
        double w = first * steady_pow(last / first, (i + 0.5) / count), color[EDIT_CHANNELS];
        lamp_rec709(w, steady_exp, color);
        for (int c = 0; c < EDIT_CHANNELS; c++) color[c] *= w; /* nanometres of a step */
        ok = add_wavelength(to, &grey, w / at, count > 1 ? color : WHITE, r->threads, e);
    }
    double before = 0;
    for (size_t i = 0; ok && i < 3 * (size_t)to->w * to->h; i++) before += fabs(to->tap[i]);
    if (ok) {
        double clipped = clip_colours(to, edit_light(&grey)) / before;
        if (k->channels > 1)
            edit_say(told, "grey", k->channels, "the mean of the %u channels was taken as grey",
                     k->channels);
        edit_say(told, "wavelengths", count,
                 "%d wavelengths from %g to %g nm; %g nm keeps its size", count, first, last, at);
        if (count > 1)
            edit_say(told, "clipped", clipped,
                     "%.3g %% of the light had colours outside the primaries of Rec.709, and was "
                     "clipped",
                     100 * clipped);
    }
    edit_free(&grey);
    return ok;
}
