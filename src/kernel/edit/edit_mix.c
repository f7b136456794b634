/* edit_mix.c - mix, convolve and disperse: several pictures added or multiplied into one. */
#include "base/mem.h"
#include "base/number.h"
#include "base/steady.h"
#include "kernel/edit/edit.h"
#include "kernel/make/lamp.h"
#include "math/fft.h"
#include "math/lengths.h"

#include <math.h>
#include <string.h>

/* --- mix -------------------------------------------------------------------------------------- */

/* The amounts are shares of the light, so each kernel counts as if its channels summed to 1. */
bool edit_mix(edit_kernel *to, const edit_request *r, edit_account *told, err *e) {
    stretch by = {.scale = {1, 1}};
    uint32_t channels = 1;
    double all = 0;
    for (int i = 0; i < r->inputs; i++) {
        const edit_kernel *k = &r->input[i].kernel;
        memcpy(by.move, r->input[i].offset, sizeof by.move);
        by.to[0] = max_u32(by.to[0], k->w), by.to[1] = max_u32(by.to[1], k->h);
        edit_hold(&by, k);
        channels = max_u32(channels, k->channels);
    }
    if (!edit_new(to, by.to[0], by.to[1], channels, e)) return false;
    for (int i = 0; i < r->inputs; i++) {
        const edit_input *in = &r->input[i];
        const edit_kernel *k = &in->kernel;
        double share = isnan(in->amount) ? 1.0 / r->inputs : in->amount;
        double mean = edit_light(k) / k->channels;
        if (!(mean > 0))
            return err_set(e, ERR_DATA,
                           "the taps of '%s' add up to %g, so it has no light to share", in->name,
                           mean);
        memcpy(by.move, in->offset, sizeof by.move);
        edit_hold(&by, k);
        for (size_t c = 0; c < k->channels; c++) {
            double weight[EDIT_CHANNELS] = {0};
            for (uint32_t t = 0; t < channels; t++)
                if (k->channels == 1 || t == c) weight[t] = share / mean;
            if (!stretch_add(to->tap, channels, &by, k->tap + c * k->w * k->h, weight, r->threads,
                             e))
                return false;
        }
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

/* Transforms both axes, forward or back. The lines of `plane` run along x. */
static bool transform_plane(transform *t, bool back, err *e) {
    t->back = back, t->axis = back;
    if (!par_for(t->threads, t->n[1 - t->axis] / FFT_LINES, transform_group, t, e)) return false;
    for (uint32_t y = 0; y < t->n[1]; y++)
        for (uint32_t x = 0; x < t->n[0]; x++) {
            double *a = t->plane + element(t, false, x, y), *b = t->turned + element(t, true, x, y);
            double *to = back ? a : b, *from = back ? b : a;
            to[0] = from[0], to[FFT_LINES] = from[FFT_LINES];
        }
    t->axis = !back;
    return par_for(t->threads, t->n[1 - t->axis] / FFT_LINES, transform_group, t, e);
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

/* Convolves two kernels of one channel: tap (x, y) from their centres is the sum of the products of
 * taps whose places add up to it. */
static bool convolve_planes(edit_kernel *to, transform *t, const edit_kernel in[2], err *e) {
    const uint32_t *n = t->n;
    memset(t->plane, 0, (size_t)n[0] * n[1] * 2 * sizeof *t->plane);
    bool positive = true;
    for (int part = 0; part < 2; part++) {
        const edit_kernel *k = &in[part];
        for (uint32_t y = 0; y < k->h; y++)
            for (uint32_t x = 0; x < k->w; x++) {
                uint32_t px = (x + n[0] - k->w / 2) % n[0], py = (y + n[1] - k->h / 2) % n[1];
                double v = k->tap[(size_t)y * k->w + x];
                positive = positive && v >= 0;
                t->plane[element(t, false, px, py) + (part ? FFT_LINES : 0)] = v;
            }
    }
    if (!transform_plane(t, false, e)) return false;
    multiply(t);
    if (!transform_plane(t, true, e)) return false;
    double scale = 1 / ((double)n[0] * n[1]);
    for (uint32_t y = 0; y < to->h; y++)
        for (uint32_t x = 0; x < to->w; x++) {
            uint32_t px = (x + n[0] - to->w / 2) % n[0], py = (y + n[1] - to->h / 2) % n[1];
            double v = t->plane[element(t, false, px, py)] * scale;
            /* Rounding must not make light that is not there negative. */
            to->tap[(size_t)y * to->w + x] = positive ? fmax(v, 0) : v;
        }
    return true;
}

/* Returns a channel of a kernel as a kernel of its own; one channel stands for all. */
static edit_kernel channel_of(const edit_kernel *k, size_t c) {
    return (edit_kernel){k->w, k->h, 1, k->tap + (k->channels > 1 ? c * k->w * k->h : 0)};
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
    for (uint32_t c = 0; c < channels && ok; c++) {
        edit_kernel made = channel_of(to, c);
        ok = convolve_planes(&made, &t, (edit_kernel[]){channel_of(a, c), channel_of(b, c)}, e);
    }
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
    stretch by = {.scale = {last / at, last / at}, .to = {k->w, k->h}};
    edit_kernel grey;
    if (!(first <= last))
        return err_set(e, ERR_USAGE, "from=%g is above to=%g: the wavelengths must rise", first,
                       last);
    if (!edit_new(&grey, k->w, k->h, 1, e)) return false;
    for (uint32_t c = 0; c < k->channels; c++)
        for (size_t i = 0; i < n; i++) grey.tap[i] += k->tap[c * n + i] / k->channels;
    edit_hold(&by, k);
    const edit_reach reach = edit_reach_of(k);
    double x = max_u32(reach.before[0], reach.after[0]);
    double y = max_u32(reach.before[1], reach.after[1]);
    double steps = ceil(sqrt(x * x + y * y) * steady_log(last / first));
    int count = first == last ? 1 : (int)clamp_double(steps, 16, 2048);
    bool ok = edit_new(to, by.to[0], by.to[1], EDIT_CHANNELS, e);
    for (int i = 0; i < count && ok; i++) {
        double w = first * steady_pow(last / first, (i + 0.5) / count);
        double color[EDIT_CHANNELS] = {1, 1, 1};
        if (count > 1) lamp_rec709(w, steady_exp, color);
        for (int c = 0; count > 1 && c < EDIT_CHANNELS; c++) color[c] *= w; /* nm of a step */
        by.scale[0] = by.scale[1] = w / at;
        ok = stretch_add(to->tap, EDIT_CHANNELS, &by, grey.tap, color, r->threads, e);
    }
    if (ok) {
        double before = 0;
        for (size_t i = 0; i < 3 * (size_t)to->w * to->h; i++) before += fabs(to->tap[i]);
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
