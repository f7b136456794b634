/* border.h - finds the places where a border shows a sample: the inverse of plan_place and
 * plan_source, for the energy ledger, which counts each sample at all of them. */
#pragma once

#include "math/plan.h"

typedef struct {
    plan_border border;
    uint32_t extent;
    uint32_t before, after; /* places in front of the image and behind it that count */
} border_axis;

/* Returns the axis of a run, with places as far off as its kernel reaches. */
border_axis border_of(const plan_request *ask, uint32_t axis);

/* Returns at how many places a sample is seen at most, at least 1. */
uint32_t border_most(const border_axis *a);
/* Lists the places of sample i in increasing order, and returns how many there are. */
uint32_t border_places(const border_axis *a, uint32_t i, int64_t *to);
