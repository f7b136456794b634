/* spread.h - the kernel as bloom applies it to one size of image.
 *
 *   out = centre * in + in convolved with (scale * tail)
 *
 * `sharpen` is in both factors already. The tail is the kernel without its centre tap. Everything
 * that adds up light in space works from here: bright pixels, the core, the sketch, the ledger. */
#ifndef BLOOM_SPREAD_H
#define BLOOM_SPREAD_H

#include "kernel/psf.h"
#include "math/border.h"
#include "math/noise.h"

enum { SPREAD_MARGIN = 32 };

typedef struct {
    uint32_t w, h, channels; /* of the image */
    border_axis axis[PLAN_AXES];
    uint32_t kw, kh, cx, cy, kernels; /* kernels: 1, or `channels` */
    /* The tail: tap [kernel][y][x] at tap[(kernel * kh + y) * pitch + x], with SPREAD_MARGIN zeros
     * before each row of it and after. */
    float *tap;
    size_t pitch;
    double scale[PSF_CHANNELS], centre[PSF_CHANNELS]; /* of each kernel */
    double sum[PSF_CHANNELS]; /* of the whole kernel, also of taps that reach no pixel */
    double *alias[PLAN_AXES]; /* spectrum_alias of each column and row; NULL: an exact spectrum */
} spread;

typedef struct {
    const psf *kernel;
    const double *full; /* the scaled sums of the kernel's channels before it was cropped */
    double sharpen;
    bool resampled; /* floats get a spectrum that is resampled */
    const plan_request *ask;
} spread_request;

bool spread_make(spread *s, const spread_request *r, err *e);
void spread_free(spread *s);

/* Of image channel c. */
static inline uint32_t spread_kernel(const spread *s, uint32_t c) {
    return s->kernels == 1 ? 0 : c;
}
static inline const float *spread_taps(const spread *s, uint32_t c) {
    return s->tap + (size_t)spread_kernel(s, c) * s->kh * s->pitch;
}

/* What is left for a transform when the taps within `core` of the centre are done in space. */
noise_tail spread_tail(const spread *s, uint32_t c, uint32_t core);

/* No tap is below zero: light stays light. */
bool spread_is_positive(const spread *s, uint32_t c);

#endif
