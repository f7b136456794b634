#include "bloom/promise/tail.h"

#include "base/mem.h"
#include "kernel/spectrum.h"

#include <string.h>

bool tail_make(kernel_tail *out, const tail_request *r, err *e) {
    const psf *k = r->kernel;
    const plan_request *ask = r->ask;
    kernel_tail t = {.w = ask->size[PLAN_X],
                     .h = ask->size[PLAN_Y],
                     .channels = ask->channels,
                     .axis = {border_of(ask, PLAN_X), border_of(ask, PLAN_Y)},
                     .kw = k->w,
                     .kh = k->h,
                     .cx = k->cx,
                     .cy = k->cy,
                     .kernels = k->channels};
    size_t rows = (size_t)k->h * k->channels;
    t.pitch = k->w + 2 * (size_t)TAIL_MARGIN;
    float *memory = mem_new(rows * t.pitch, sizeof *memory, "tail of the kernel", e);
    bool ok = memory;
    if (ok) t.tap = memory + TAIL_MARGIN;
    for (int a = 0; ok && r->resampled && a < PLAN_AXES; a++) {
        uint32_t n = a == PLAN_X ? k->w : k->h;
        ok = (t.alias[a] = mem_raw(n, sizeof *t.alias[a], "tail of the kernel", e));
        for (uint32_t q = 0; ok && q < n; q++) t.alias[a][q] = spectrum_alias(q, n);
    }
    if (!ok) {
        tail_free(&t);
        return false;
    }
    for (size_t i = 0; i < rows; i++)
        memcpy(t.tap + i * t.pitch, k->tap + i * k->w, k->w * sizeof *t.tap);
    for (uint32_t c = 0; c < k->channels; c++) {
        float *centre = t.tap + ((size_t)c * k->h + k->cy) * t.pitch + k->cx;
        t.scale[c] = (1 - r->sharpen) * k->scale[c];
        t.centre[c] = t.scale[c] * (double)*centre + r->sharpen;
        t.sum[c] = (1 - r->sharpen) * r->full[c] + r->sharpen;
        *centre = 0;
    }
    *out = t;
    return true;
}

void tail_free(kernel_tail *t) {
    if (t->tap) mem_free(t->tap - TAIL_MARGIN);
    for (int a = 0; a < PLAN_AXES; a++) mem_free(t->alias[a]);
    *t = (kernel_tail){0};
}

void tail_sums(noise_tail *to, const kernel_tail *t, uint32_t c, const uint32_t *core, uint32_t n) {
    const noise_taps k = {.tap = tail_taps(t, c),
                          .pitch = t->pitch,
                          .w = t->kw,
                          .h = t->kh,
                          .cx = t->cx,
                          .cy = t->cy,
                          .scale = t->scale[tail_kernel(t, c)],
                          .alias_x = t->alias[PLAN_X],
                          .alias_y = t->alias[PLAN_Y]};
    noise_tails(to, &k, core, n);
}

bool tail_is_nonnegative(const kernel_tail *t, uint32_t c) {
    bool turned = t->scale[tail_kernel(t, c)] < 0;
    for (size_t y = 0; y < t->kh; y++)
        for (size_t x = 0; x < t->kw; x++) {
            float tap = tail_taps(t, c)[y * t->pitch + x];
            if (turned ? tap > 0 : tap < 0) return false;
        }
    return t->centre[tail_kernel(t, c)] >= 0;
}
