/* lint.h - what is to be known about a kernel before it is used: `fftbloom kernel check`.
 *
 * Numbers only; which of them deserve a warning, and the sentences, are kernel_words.c's. All
 * sums are in double, over all channels unless they are per channel. */
#ifndef KERNEL_LINT_H
#define KERNEL_LINT_H

#include "base/err.h"
#include "kernel/psf.h"

enum { LINT_CHANNELS = 4 };

typedef struct {
    uint32_t w, h, channels;
    /* Taps that are no numbers; the figures below take them for zero. */
    uint64_t bad;
    uint32_t first_bad[3]; /* channel, x, y */
    double sum[LINT_CHANNELS], low[LINT_CHANNELS], high[LINT_CHANNELS];
    uint64_t negative;
    double negative_share; /* of the sum of |tap| */
    uint32_t peak[2];
    double centroid[2];  /* not set where the sum is not above 0 */
    double centre_tap;   /* share of the light in the middle tap */
    double asymmetry;    /* |k - k turned about the middle| / |k|, half of it: 0 to 1 */
    double inner_radius; /* that holds half of the light, around the peak */
    double border;       /* share of the light in the outermost ring of taps */
    double background;   /* the level that the darkest corner of the rim does not fall below */
    double background_share;
    /* The tail as light ~ distance^-slope in the outer third; what it holds beyond the kernel's
     * border, as a share of all, and how large a kernel holds 99.9 %. */
    double slope, beyond; /* slope 0: no tail to speak of */
    double enough;        /* taps a side; 0: the kernel is; INFINITY: no size */
    double noise;         /* of neighbours in the outer third, relative to their mean */
    double half_lost;     /* share of the light that rounding to half floats changes */
    uint64_t half_zero;   /* taps above zero that become zero as half floats */
} lint;

/* `at` is the centre that is meant, for the symmetry. */
bool lint_kernel(lint *l, const float *const plane[], uint32_t w, uint32_t h, uint32_t channels,
                 err *e);

#endif
