/* light.h - what the planes of a group hold: sums and extremes, bad pixels and how they were
 * repaired.
 *
 * It is found before anything is transformed, and the choice of a precision rests on it. It knows
 * nothing of engines. */
#ifndef BLOOM_LIGHT_H
#define BLOOM_LIGHT_H

#include "bloom/view.h"

typedef struct {
    scan scanned;                    /* of the light that is spread */
    double dark[VIEW_CHANNELS];      /* accuracy_dark of the image */
    double sum[VIEW_CHANNELS];       /* of the finite pixels as they came */
    bool nonnegative[VIEW_CHANNELS]; /* neither what is spread nor the kernel is below zero */
    bool signs[VIEW_CHANNELS];       /* the image or the kernel is, somewhere */

    uint64_t bad[VIEW_CHANNELS], bad_pixels; /* as they came; the first of them: */
    scan_bad first_bad[SCAN_BAD];
    double bad_light[VIEW_CHANNELS]; /* taken out with them; below zero where light was put */
} light;

/* Looks at the image's planes. Repairs bad pixels in the image; where they are an error, it only
 * counts them and stops, or ahead: counts them as 0. */
bool light_find(light *l, const view *v, bool ahead, err *e);

void light_free(light *l);

#endif
