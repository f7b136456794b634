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

void edit_free(edit_kernel *k) {
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
    double all = 0;
    for (uint32_t c = 0; c < k->channels; c++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++) sum += k->tap[c * n + i];
        all += sum;
    }
    return all;
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
    double all = 0;
    for (size_t i = 0; i < n * k->channels; i++) {
        const int64_t x = (int64_t)(i % k->w) - k->w / 2 + w / 2,
                      y = (int64_t)(i % n / k->w) - k->h / 2 + h / 2;
        all += fabs(k->tap[i]);
        if (x < 0 || y < 0 || x >= w || y >= h)
            *lost += fabs(k->tap[i]);
        else
            to.tap[(i / n * h + (size_t)y) * w + (size_t)x] = k->tap[i];
    }
    if (all > 0) *lost /= all;
    edit_free(k);
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
