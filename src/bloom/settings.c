#include "bloom/settings.h"

#include "base/text.h"
#include "kernel/cache.h"

double bloom_complement(double x) {
    char digits[32];
    snprintf(digits, sizeof digits, "%.15g", 1 - x);
    return text_number(digits, &x) ? x : NAN;
}

void bloom_defaults(bloom_settings *s) {
    *s = (bloom_settings){.pixel_aspect = NAN,
                          .clip = NAN,
                          .tolerance = 1e-3,
                          .slots = 1,
                          .cache_size = CACHE_BUDGET};
}

void bloom_tint(double to[PSF_CHANNELS], const bloom_settings *s, uint32_t channels,
                const double luminance[3]) {
    const double *tint = s->tint;
    memset(to, 0, PSF_CHANNELS * sizeof *to);
    if (tint[0] == 0 && tint[1] == 0 && tint[2] == 0) return;
    for (uint32_t c = 0; c < channels; c++) to[c] = channels < 3 ? 0 : c < 3 ? tint[c] : 1;
    for (int i = 0; i < 3 && channels < 3; i++) to[0] += luminance[i] * tint[i];
    if (channels == 2) to[1] = 1;
}

kernel_use bloom_kernel_use(const bloom_settings *s) {
    return (kernel_use){.options = s->kernel,
                        .relative = s->kernel_relative,
                        .aspect = s->pixel_aspect,
                        .border = {s->border[PLAN_X], s->border[PLAN_Y]},
                        .core = s->core,
                        .magnitudes = s->magnitudes};
}
