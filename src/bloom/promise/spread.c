#include "bloom/promise/spread.h"

#include "base/mem.h"
#include "kernel/spectrum.h"

#include <string.h>

bool spread_make(spread *out, const spread_request *r, err *e) {
    const psf *k = r->kernel;
    const plan_request *ask = r->ask;
    spread s = {.w = ask->size[PLAN_X],
                .h = ask->size[PLAN_Y],
                .channels = ask->channels,
                .axis = {border_of(ask, PLAN_X), border_of(ask, PLAN_Y)},
                .kw = k->w,
                .kh = k->h,
                .cx = k->cx,
                .cy = k->cy,
                .kernels = k->channels};
    size_t rows = (size_t)k->h * k->channels;
    s.pitch = k->w + 2 * (size_t)SPREAD_MARGIN;
    float *memory = mem_new(rows * s.pitch, sizeof *memory, "tail of the kernel", e);
    bool ok = memory;
    if (ok) s.tap = memory + SPREAD_MARGIN;
    for (int a = 0; ok && r->resampled && a < PLAN_AXES; a++) {
        uint32_t n = a == PLAN_X ? k->w : k->h;
        ok = (s.alias[a] = mem_raw(n, sizeof *s.alias[a], "tail of the kernel", e));
        for (uint32_t q = 0; ok && q < n; q++) s.alias[a][q] = spectrum_alias(q, n);
    }
    if (!ok) {
        spread_free(&s);
        return false;
    }
    for (size_t i = 0; i < rows; i++)
        memcpy(s.tap + i * s.pitch, k->tap + i * k->w, k->w * sizeof *s.tap);
    for (uint32_t c = 0; c < k->channels; c++) {
        float *centre = s.tap + ((size_t)c * k->h + k->cy) * s.pitch + k->cx;
        s.scale[c] = (1 - r->sharpen) * k->scale[c];
        s.centre[c] = s.scale[c] * (double)*centre + r->sharpen;
        s.sum[c] = (1 - r->sharpen) * r->full[c] + r->sharpen;
        *centre = 0;
    }
    *out = s;
    return true;
}

void spread_free(spread *s) {
    if (s->tap) mem_free(s->tap - SPREAD_MARGIN);
    for (int a = 0; a < PLAN_AXES; a++) mem_free(s->alias[a]);
    *s = (spread){0};
}

noise_tail spread_tail(const spread *s, uint32_t c, uint32_t core) {
    const noise_taps k = {.tap = spread_taps(s, c),
                          .pitch = s->pitch,
                          .w = s->kw,
                          .h = s->kh,
                          .cx = s->cx,
                          .cy = s->cy,
                          .scale = s->scale[spread_kernel(s, c)],
                          .alias_x = s->alias[PLAN_X],
                          .alias_y = s->alias[PLAN_Y]};
    return noise_tail_of(&k, core);
}

bool spread_is_positive(const spread *s, uint32_t c) {
    bool turned = s->scale[spread_kernel(s, c)] < 0;
    for (size_t y = 0; y < s->kh; y++)
        for (size_t x = 0; x < s->kw; x++) {
            float tap = spread_taps(s, c)[y * s->pitch + x];
            if (turned ? tap > 0 : tap < 0) return false;
        }
    return s->centre[spread_kernel(s, c)] >= 0;
}
