#include "bloom/promise/spread.h"

#include "base/mem.h"

#include <string.h>

bool spread_make(spread *out, const psf *k, const double full[PSF_CHANNELS], double sharpen,
                 const plan_request *ask, err *e) {
    spread s = {.w = ask->size[PLAN_X],
                .h = ask->size[PLAN_Y],
                .channels = ask->channels,
                .axis = {border_of(ask, PLAN_X), border_of(ask, PLAN_Y)},
                .kw = k->w,
                .kh = k->h,
                .cx = k->cx,
                .cy = k->cy,
                .kernels = k->channels};
    size_t taps = (size_t)k->w * k->h, centre = (size_t)k->cy * k->w + k->cx;
    s.tap = mem_raw(taps * k->channels, sizeof *s.tap, "tail of the kernel", e);
    if (!s.tap) return false;
    memcpy(s.tap, k->tap, taps * k->channels * sizeof *s.tap);
    for (uint32_t c = 0; c < k->channels; c++) {
        s.scale[c] = (1 - sharpen) * k->scale[c];
        s.centre[c] = s.scale[c] * (double)s.tap[c * taps + centre] + sharpen;
        s.sum[c] = (1 - sharpen) * full[c] + sharpen;
        s.tap[c * taps + centre] = 0;
    }
    *out = s;
    return true;
}

void spread_free(spread *s) {
    mem_free(s->tap);
    *s = (spread){0};
}

noise_tail spread_tail(const spread *s, uint32_t c, uint32_t core) {
    return noise_tail_of(spread_taps(s, c), s->kw, s->kh, s->cx, s->cy,
                         s->scale[spread_kernel(s, c)], core);
}

bool spread_is_positive(const spread *s, uint32_t c) {
    const float *tap = spread_taps(s, c);
    bool turned = s->scale[spread_kernel(s, c)] < 0;
    for (size_t i = 0; i < (size_t)s->kw * s->kh; i++)
        if (turned ? tap[i] > 0 : tap[i] < 0) return false;
    return s->centre[spread_kernel(s, c)] >= 0;
}
