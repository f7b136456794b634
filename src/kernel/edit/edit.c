/* edit.c - kernels in double, their light and their size, for all edits. */
#include "kernel/edit/edit.h"

#include "base/mem.h"
#include "kernel/psf.h"

/* --- kernels -------------------------------------------------------------------------------- */

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

/* --- light ---------------------------------------------------------------------------------- */

double edit_channel_light(const edit_kernel *k, uint32_t c) {
    size_t n = (size_t)k->w * k->h;
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += k->tap[c * n + i];
    return sum;
}

double edit_light(const edit_kernel *k) {
    double sum = 0;
    for (uint32_t c = 0; c < k->channels; c++) sum += edit_channel_light(k, c);
    return sum;
}

void edit_normalize(edit_kernel *k) {
    size_t n = (size_t)k->w * k->h * k->channels;
    double mean = edit_light(k) / k->channels;
    for (size_t i = 0; mean > 0 && i < n; i++) k->tap[i] /= mean;
}

/* --- what an edit says ------------------------------------------------------------------------ */

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

/* --- size ------------------------------------------------------------------------------------- */

edit_reach edit_reach_of(const edit_kernel *k) {
    edit_reach r = {0};
    uint32_t cx = k->w / 2, cy = k->h / 2;
    for (uint32_t c = 0; c < k->channels; c++)
        for (uint32_t y = 0; y < k->h; y++)
            for (uint32_t x = 0; x < k->w; x++) {
                if (k->tap[((size_t)c * k->h + y) * k->w + x] == 0) continue;
                if (x < cx) r.before[0] = max_u32(r.before[0], cx - x);
                if (x > cx) r.after[0] = max_u32(r.after[0], x - cx);
                if (y < cy) r.before[1] = max_u32(r.before[1], cy - y);
                if (y > cy) r.after[1] = max_u32(r.after[1], y - cy);
            }
    return r;
}

uint32_t edit_side(uint32_t before, uint32_t after, uint32_t least) {
    return max_u32(least, before > after ? 2 * before : 2 * after + 1);
}

void edit_hold(stretch *s, const edit_kernel *k) {
    const edit_reach r = edit_reach_of(k);
    s->from[0] = k->w, s->from[1] = k->h;
    for (int a = 0; a < 2; a++) {
        double before = stretch_reach(r.before[a], s->scale[a], -s->move[a]);
        double after = stretch_reach(r.after[a], s->scale[a], s->move[a]);
        s->to[a] = edit_side((uint32_t)before, (uint32_t)after, s->to[a]);
        s->middle[a] = s->from[a] / 2, s->at[a] = s->to[a] / 2;
    }
}

bool edit_fit(edit_kernel *k, uint32_t w, uint32_t h, double *lost, err *e) {
    edit_kernel to;
    *lost = 0;
    if (w == k->w && h == k->h) return true;
    if (!edit_new(&to, w, h, k->channels, e)) return false;
    double all = 0;
    for (uint32_t c = 0; c < k->channels; c++)
        for (uint32_t y = 0; y < k->h; y++)
            for (uint32_t x = 0; x < k->w; x++) {
                double v = k->tap[((size_t)c * k->h + y) * k->w + x];
                int64_t tx = (int64_t)x - k->w / 2 + w / 2, ty = (int64_t)y - k->h / 2 + h / 2;
                all += fabs(v);
                if (tx < 0 || ty < 0 || tx >= w || ty >= h)
                    *lost += fabs(v);
                else
                    to.tap[((size_t)c * h + (size_t)ty) * w + (size_t)tx] = v;
            }
    if (all > 0) *lost /= all;
    edit_free(k);
    *k = to;
    return true;
}

double edit_fade(edit_kernel *k, double fade) {
    double before = edit_light(k), border = (min_u32(k->w, k->h) - 1) / 2;
    if (fade >= 1 || border < 1) return 0;
    for (uint32_t c = 0; c < k->channels; c++)
        for (uint32_t y = 0; y < k->h; y++)
            for (uint32_t x = 0; x < k->w; x++) {
                double dx = (double)x - k->w / 2, dy = (double)y - k->h / 2;
                double t =
                    clamp_double((sqrt(dx * dx + dy * dy) / border - fade) / (1 - fade), 0, 1);
                k->tap[((size_t)c * k->h + y) * k->w + x] *= 1 - t * t * (3 - 2 * t);
            }
    return before > 0 ? 1 - edit_light(k) / before : 0;
}
