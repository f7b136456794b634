/* tail.h - the kernel as bloom applies it to images of one size.
 *
 *   out = centre * in + in convolved with (scale * tail)
 *
 * The tail is the kernel without its centre tap; `sharpen` is in both factors already, and the tint
 * of the glare in `scale`. Nothing of an image's pixels or of transforms is known here. */
#pragma once

#include "kernel/kernel_source.h"
#include "math/noise.h"
#include "math/plan.h"

typedef struct {
    uint32_t w, h, channels; /* of the image */
    border_axis axis[PLAN_AXES];
    uint32_t kw, kh, cx, cy, kernels;                 /* kernels: 1, or one for each channel */
    float *tap;                                       /* [kernel][y][x] */
    double scale[PSF_CHANNELS], centre[PSF_CHANNELS]; /* of each kernel */
    double sum[PSF_CHANNELS]; /* of the whole kernel, also of taps that reach no pixel */
    double *alias[PLAN_AXES]; /* spectrum_alias of each column and row; NULL: an exact spectrum */
} kernel_tail;

typedef struct {
    const psf *kernel;
    const double *full;      /* the scaled sums of the kernel's channels before it was cropped */
    const kernel_need *need; /* has sharpen and tint */
    bool resampled;          /* floats get a spectrum that is resampled */
    const plan_request *ask;
    bool added; /* to the light of other kernels, which keep what stays: `sharpen` is in theirs */
} tail_request;

/* Fills *t, to be freed with tail_free. */
bool tail_make(kernel_tail *t, const tail_request *r, err *e);
void tail_free(kernel_tail *t);

/* Return the index of the kernel of image channel c, its first tap, and the sums of its tail. */
static inline uint32_t tail_kernel(const kernel_tail *t, uint32_t c) {
    return t->kernels == 1 ? 0 : c;
}
static inline const float *tail_taps(const kernel_tail *t, uint32_t c) {
    return t->tap + (size_t)tail_kernel(t, c) * t->kh * t->kw;
}
noise_tail tail_sums(const kernel_tail *t, uint32_t c);
