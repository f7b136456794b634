/* light.h - what the planes of a group hold: sums and extremes of what is spread.
 *
 * It is found before anything is transformed, and the choice of a precision rests on it. There are
 * no bad pixels any more. It knows nothing of engines. */
#ifndef BLOOM_LIGHT_H
#define BLOOM_LIGHT_H

#include "bloom/view.h"

typedef struct {
    const scan *scanned;             /* of the light that is spread */
    const double *dark;              /* accuracy_dark of the image, of each channel */
    bool nonnegative[VIEW_CHANNELS]; /* neither what is spread nor the kernel is below zero */
    bool signs[VIEW_CHANNELS];       /* the image or the kernel is, somewhere */
    scan own;
} light;

/* Looks at the image's planes. whole: what is known of these; NULL: they are a piece of an image.
 */
bool light_find(light *l, const view *v, const scan *whole, err *e);

void light_free(light *l);

#endif
