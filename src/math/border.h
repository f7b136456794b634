/* border.h - where a border shows a sample again.
 *
 * The inverse of reference_source and plan_source: those say what a place outside the image reads,
 * this says at which places one sample is seen, itself included. What adds up light pixel by pixel
 * (bright pixels pasted in space, the energy ledger) pastes each sample at all of them. */
#ifndef MATH_BORDER_H
#define MATH_BORDER_H

#include "math/plan.h"

typedef struct {
    plan_border border;
    uint32_t extent;
    uint32_t before, after; /* places looked at in front of the image and behind it */
} border_axis;

/* The axis with a kernel of these reaches: what lies farther off touches no pixel. */
border_axis border_of(const plan_request *ask, uint32_t axis);

/* How many places sample i is seen at: at least 1. */
uint32_t border_count(const border_axis *a, uint32_t i);
/* The largest count of any sample. */
uint32_t border_most(const border_axis *a);
/* Those places, in increasing order; `to` has room for all. Returns their number. */
uint32_t border_places(const border_axis *a, uint32_t i, int64_t *to);

#endif
