/* kernels.h - kernels of the kinds that people use, for tests. */
#ifndef UNIT_KERNELS_H
#define UNIT_KERNELS_H

#include "kernel/psf.h"
#include "unit/check.h"

typedef enum { POWER_LAW, DISC, STAR, RANDOM, KERNEL_KINDS } kernel_kind;

static inline float kernel_tap(kernel_kind kind, double x, double y, double reach, uint64_t *seed) {
    double r = sqrt(x * x + y * y);
    switch (kind) {
    case POWER_LAW: return (float)pow(1 + r * r, -1.3);
    case DISC: return r <= reach * 0.95 ? 1 : 0;
    case STAR: /* six rays */
        return (float)((r < 1 ? 1 : 0) + pow(fabs(cos(3 * atan2(y, x))), 60) / (1 + r));
    case RANDOM:
    default:
        *seed = *seed * 6364136223846793005u + 1442695040888963407u;
        return (float)(*seed >> 40) * 0x1p-24f;
    }
}

/* w * h taps with the centre anywhere; channels differ in seed and size. */
static inline psf kernel_make(kernel_kind kind, uint32_t w, uint32_t h, uint32_t channels,
                              uint32_t cx, uint32_t cy) {
    uint64_t seed = w * 65537 + h;
    float *tap = mem_raw((size_t)w * h * channels, sizeof *tap, "kernel", &e);
    const float *plane[PSF_CHANNELS];
    for (uint32_t c = 0; c < channels; c++) {
        plane[c] = tap + (size_t)c * w * h;
        for (uint32_t i = 0; i < w * h; i++)
            tap[c * w * h + i] = kernel_tap(kind, (1 + 0.2 * c) * ((double)(i % w) - cx),
                                            (1 + 0.2 * c) * ((double)(i / w) - cy),
                                            fmax(w, h) / 2.0, &seed);
    }
    psf k;
    psf_options o = {.center = PSF_AT, .at = {cx, cy}};
    CHECK_OK(psf_make(&k, &(psf_planes){w, h, channels, plane, NULL}, &o, &e));
    mem_free(tap);
    return k;
}

#endif
