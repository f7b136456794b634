/* edit_kernel.c - kernels in double: their light and their size, for all edits. */
#include "base/mem.h"
#include "base/steady.h"
#include "kernel/edit/edit.h"
#include "kernel/psf.h"

bool edit_new(edit_kernel *k, uint32_t w, uint32_t h, uint32_t channels, err *e) {
    if (w < 1 || h < 1 || w > PSF_SIDE || h > PSF_SIDE)
        return err_set(e, ERR_CONFIG, "the result would have %u x %u taps; a side has 1 to %d", w,
                       h, PSF_SIDE);
    *k = (edit_kernel){w, h, channels, NULL};
    k->tap = mem_new((size_t)w * h, channels * sizeof *k->tap, "kernel", e);
    return k->tap != NULL;
}

void edit_kernel_free(edit_kernel *k) {
    mem_free(k->tap);
    *k = (edit_kernel){0};
}

bool edit_copy(edit_kernel *to, const edit_kernel *from, err *e) {
    if (!edit_new(to, from->w, from->h, from->channels, e)) return false;
    memcpy(to->tap, from->tap, (size_t)to->w * to->h * to->channels * sizeof *to->tap);
    return true;
}

double edit_light(const edit_kernel *k) {
    const size_t n = (size_t)k->w * k->h;
    double total = 0;
    for (uint32_t c = 0; c < k->channels; c++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++) sum += k->tap[c * n + i];
        total += sum;
    }
    return total;
}

void edit_normalize(edit_kernel *k) {
    size_t n = (size_t)k->w * k->h * k->channels;
    double mean = edit_light(k) / k->channels;
    for (size_t i = 0; mean > 0 && i < n; i++) k->tap[i] /= mean;
}

void edit_say(edit_account *a, const char *key, double value, const char *fmt, ...) {
    if (a->sayings == EDIT_SAYINGS) return;
    edit_saying *s = &a->saying[a->sayings++];
    va_list ap;
    s->key = key;
    s->value = value;
    va_start(ap, fmt);
    vsnprintf(s->words, sizeof s->words, fmt, ap);
    va_end(ap);
}

bool edit_fit(edit_kernel *k, uint32_t w, uint32_t h, double *lost, err *e) {
    edit_kernel to;
    *lost = 0;
    if (w == k->w && h == k->h) return true;
    if (!edit_new(&to, w, h, k->channels, e)) return false;
    const size_t n = (size_t)k->w * k->h;
    double total = 0;
    for (size_t i = 0; i < n * k->channels; i++) {
        const int64_t x = (int64_t)(i % k->w) - k->w / 2 + w / 2,
                      y = (int64_t)(i % n / k->w) - k->h / 2 + h / 2;
        total += fabs(k->tap[i]);
        if (x < 0 || y < 0 || x >= w || y >= h)
            *lost += fabs(k->tap[i]);
        else
            to.tap[(i / n * h + (size_t)y) * w + (size_t)x] = k->tap[i];
    }
    if (total > 0) *lost /= total;
    edit_kernel_free(k);
    *k = to;
    return true;
}

double edit_fade(edit_kernel *k, double fade) {
    double before = edit_light(k), border = (min_u32(k->w, k->h) - 1) / 2;
    if (fade >= 1 || border < 1) return 0;
    for (size_t i = 0, n = (size_t)k->w * k->h; i < n * k->channels; i++) {
        double x = (double)(i % k->w) - k->w / 2, y = (double)(i % n / k->w) - k->h / 2;
        k->tap[i] *= 1 - steady_ramp(fade, 1, length_of(x, y) / border);
    }
    return before > 0 ? 1 - edit_light(k) / before : 0;
}

/* --- kernels that are read and written -------------------------------------------------------- */

static bool match_colour(edit_input *in, const kernel_source *from, edit_colour *colour,
                         edit_account *told, err *e) {
    edit_kernel *k = &in->kernel;
    const size_t n = (size_t)k->w * k->h;
    matrix m;
    if (k->channels == 3 && from->known && !colour->known)
        *colour = (edit_colour){from->gamut, true};
    if (k->channels != 3 || !colour->known || primaries_same(&from->gamut, &colour->gamut))
        return true;
    if (!primaries_convert(&m, &from->gamut, &colour->gamut))
        return err_set(e, ERR_DATA, "the primaries of '%s' cannot be converted", in->name);
    for (size_t i = 0; i < n; i++) {
        double rgb[3] = {k->tap[i], k->tap[n + i], k->tap[2 * n + i]};
        matrix_apply(rgb, &m, rgb);
        for (size_t c = 0; c < 3; c++) k->tap[c * n + i] = rgb[c];
    }
    edit_say(told, "primaries", 1, "%s was converted to the primaries of the first kernel",
             in->name);
    return true;
}

bool edit_take(edit_input *in, const kernel_source *k, edit_colour *colour, bool photo,
               edit_account *told, err *e) {
    const size_t n = (size_t)k->w * k->h;
    size_t bad = 0;
    if (k->channels > EDIT_CHANNELS)
        return err_set(e, ERR_DATA, "'%s' has %u channels", in->name, k->channels);
    if (!edit_new(&in->kernel, k->w, k->h, k->channels, e)) return false;
    for (uint32_t c = 0; c < k->channels; c++)
        for (size_t t = 0; t < n; t++) {
            double v = (double)k->plane[c][t];
            bad += !isfinite(v);
            in->kernel.tap[c * n + t] = isfinite(v) ? v : 0;
        }
    if (bad && !photo)
        return err_set(e, ERR_DATA,
                       "%zu taps of '%s' are not finite numbers; 'kernel clean' makes them zero",
                       bad, in->name);
    if (bad)
        edit_say(told, "not_finite", (double)bad, "%zu taps that were NaN or infinite are zero",
                 bad);
    return match_colour(in, k, colour, told, e);
}

image *edit_image(const edit_kernel *k, const edit_colour *colour, err *e) {
    const size_t n = (size_t)k->w * k->h;
    image *img = image_plain(k->w, k->h, (int)k->channels, PIXEL_FLOAT, e);
    if (img && k->channels == 3 && colour->known &&
        !image_set_primaries(&img->head.part[0], &colour->gamut, e))
        image_free(&img);
    for (uint32_t i = 0; i < k->channels && img; i++) {
        float *to = img->plane[0][k->channels - 1 - i];
        for (size_t t = 0; t < n; t++) to[t] = (float)k->tap[i * n + t];
    }
    return img;
}
