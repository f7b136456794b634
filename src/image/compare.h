/* compare.h - how two images differ, in idiff's terms.
 *
 * A pixel is over a threshold when any of its channels is; a value is over when the difference is
 * greater than max(absolute, relative * the larger of the two magnitudes). Two NaN are equal, and
 * so are two infinities of one sign; a finite and a non-finite value differ without bound.
 * Channels are matched by name. */
#ifndef IMAGE_COMPARE_H
#define IMAGE_COMPARE_H

#include "base/err.h"

#include <stdint.h>

/* What is tolerated. idiff's defaults: fail and warn 1e-6, hard limits infinite, the rest zero. */
typedef struct {
    double fail, fail_relative, fail_percent, hard_fail;
    double warn, warn_relative, warn_percent, hard_warn;
    uint32_t allow_failures;
} compare_limits;

#endif
