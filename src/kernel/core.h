/* core.h - finds the core of a lamp's picture, and whether it was cut off: the light around it then
 * rises so steeply that it cannot end there. The linter warns by this rule, and `kernel clean`
 * restores by it. */
#ifndef KERNEL_CORE_H
#define KERNEL_CORE_H

#include "kernel/ring.h"

#include <stdbool.h>
#include <stddef.h>

/* The flank of a core: light ~ exp(level) * (1 + (r / width)^2)^-slope. */
typedef struct {
    double level, width, slope;
    bool cut; /* the core is cut off: the flank leads to a middle that is brighter by more than a
               * seventh */
} core_flank;

double core_flank_at(const core_flank *f, double r);

/* Marks the taps of at least `least` that hang together with tap `from`. */
bool core_mark(uint8_t *in, const double *tap, uint32_t w, uint32_t h, size_t from, double least,
               err *e);
/* Returns the part of the highest value from which taps are as bright: values of 8 bits wobble. */
static inline double core_part(bool eight_bit) {
    return eight_bit ? 0.97 : 0.998;
}

/* Marks the core of a channel, the taps around the middle of the rings that are as bright as the
 * brightest of them, and fits its flank. */
bool core_find(uint8_t *in, core_flank *f, const ring_map *m, const double *tap, bool eight_bit,
               err *e);

#endif
