/* attempt.h - one transform of a group by one method, joined with what is done in space. It runs
 * what a method says (bloom/promise/accuracy.h), and does not judge the result. */
#ifndef BLOOM_ATTEMPT_H
#define BLOOM_ATTEMPT_H

#include "bloom/light.h"

/* The outcome of an attempt. */
typedef struct {
    /* The result: planes of the view's buffers, of floats; or of halfs, where values beyond halfs
     * have become the largest. */
    float *out[VIEW_CHANNELS];
    uint16_t *half[VIEW_CHANNELS]; /* NULL: in floats */
    join_stats stats[VIEW_CHANNELS];
    engine_times times;
    session_lease lease; /* given back; it tells device, plan and the spectrum's seconds */
} outcome;

/* Runs the method, and fills v->glare where that is wanted. The image stays as it is. loaded: set 0
 * of the buffers holds what light_find has left there. */
bool attempt_run(outcome *to, const view *v, const light *l, const accuracy *method, bool loaded,
                 err *e);

/* Returns the bytes of the planes that an attempt takes beside the image's own, with such an
 * engine. wide: the transform is of doubles. */
uint64_t attempt_bytes(const view *v, const engine_expected *g, bool wide);

/* Returns which of a size's choices a method takes: halfs travel as such unless they are scaled. */
device_way attempt_way(const view *v, const accuracy *method);

#endif
