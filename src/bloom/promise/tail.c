#include "bloom/promise/tail.h"

#include "base/mem.h"
#include "kernel/spectrum.h"

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
                     .kernels = kernel_need_tints(r->need) ? ask->channels : k->channels};
    const size_t each = (size_t)k->w * k->h, taps = each * t.kernels;
    t.tap = mem_raw(taps, sizeof *t.tap, "tail of the kernel", e);
    bool ok = t.tap;
    for (int a = 0; ok && r->resampled && a < PLAN_AXES; a++) {
        uint32_t n = a == PLAN_X ? k->w : k->h;
        ok = (t.alias[a] = mem_raw(n, sizeof *t.alias[a], "tail of the kernel", e));
        for (uint32_t q = 0; ok && q < n; q++) t.alias[a][q] = spectrum_alias(q, n);
    }
    if (!ok) {
        tail_free(&t);
        return false;
    }
    for (uint32_t c = 0; c < t.kernels; c++) {
        const uint32_t from = k->channels == 1 ? 0 : c;
        const size_t centre = (size_t)k->cy * k->w + k->cx;
        const double sharpen = r->need->sharpen, stays = r->added ? 0 : sharpen,
                     tint = kernel_need_tint(r->need, c);
        memcpy(t.tap + c * each, k->tap + from * each, each * sizeof *t.tap);
        t.tap[c * each + centre] = 0;
        t.scale[c] = (1 - sharpen) * k->scale[from];
        t.centre[c] = t.scale[c] * psf_tap(k, from * each + centre) + stays;
        t.sum[c] = (1 - sharpen) * r->full[from] + stays;
        if (tint == 1) continue;
        t.scale[c] *= tint;
        t.sum[c] = t.centre[c] + tint * (t.sum[c] - t.centre[c]);
    }
    *out = t;
    return true;
}

void tail_free(kernel_tail *t) {
    mem_free(t->tap);
    for (int a = 0; a < PLAN_AXES; a++) mem_free(t->alias[a]);
    *t = (kernel_tail){0};
}

noise_tail tail_sums(const kernel_tail *t, uint32_t c) {
    const noise_taps k = {.tap = tail_taps(t, c),
                          .pitch = t->kw,
                          .w = t->kw,
                          .h = t->kh,
                          .cx = t->cx,
                          .cy = t->cy,
                          .scale = t->scale[tail_kernel(t, c)],
                          .alias_x = t->alias[PLAN_X],
                          .alias_y = t->alias[PLAN_Y]};
    noise_tail sums = noise_tail_of(&k);
    sums.centre = fabs(t->centre[tail_kernel(t, c)]);
    sums.signs |= !(t->centre[tail_kernel(t, c)] >= 0); /* else light stays light */
    return sums;
}
