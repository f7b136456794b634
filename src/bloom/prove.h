/* prove.h - compares some pixels of a result with the definition before the result is believed.
 *
 * The promise rests on a prediction of what a transform rounds. Here a few pixels are summed
 * directly in double: the darkest of each channel, and those where errors are likely to gather.
 * That is evidence and no bound: it shows a damaged spectrum or a mistake of this program, whose
 * errors are everywhere. It takes a small part of the transform's time. */
#ifndef BLOOM_PROVE_H
#define BLOOM_PROVE_H

#include "bloom/attempt.h"

typedef struct {
    uint32_t pixels; /* looked at */
    double worst;    /* the largest error, in parts of what is predicted for its pixel */
    uint32_t channel, x, y;
    double got, want; /* of that pixel */
} proof;

/* Looks at the result of an attempt by this method. dark: of each channel. */
bool prove(proof *to, const view *v, const outcome *o, const accuracy *method, const double *dark,
           err *e);

#endif
