/* attempt.h - one transform of a group by one method, on whatever device has the work. It runs what
 * a method says (bloom/promise/accuracy.h), and does not judge the result. */
#ifndef BLOOM_ATTEMPT_H
#define BLOOM_ATTEMPT_H

#include "bloom/view.h"

/* What the planes of a group hold: what the choice of a precision rests on, and the join. */
typedef struct {
    const scan *scanned;             /* of the light that is spread */
    bool nonnegative[VIEW_CHANNELS]; /* neither what is spread nor the kernel is below zero */
    bool signs[VIEW_CHANNELS];       /* the image or the kernel is, somewhere */
} light;

/* The outcome of an attempt. */
typedef struct {
    /* The result, in the view's buffers: floats; or halfs, where the largest stands for more. */
    void *out[VIEW_CHANNELS];
    pixel_type type; /* of all channels */
    join_stats stats[VIEW_CHANNELS];
    engine_times times;
    session_lease lease; /* given back; it tells device, plan and the spectrum's seconds */
} outcome;

/* Runs the method, and fills v->glare and v->doubles where they are wanted. */
bool attempt_run(outcome *to, const view *v, const light *l, const accuracy *method, err *e);

/* Returns the bytes of the planes that an attempt takes beside the image's own. */
uint64_t attempt_bytes(const view *v);

/* The planes that an engine reads: the image's own, or floats of these where the channels of a
 * group are stored differently. Free them also after a failure. */
typedef struct {
    const void *in[VIEW_CHANNELS];
    float *widened[VIEW_CHANNELS];
} attempt_sources;
bool attempt_sources_find(attempt_sources *s, const view *v, err *e);
void attempt_sources_free(attempt_sources *s, const view *v);

/* Returns which of a size's choices a method takes. */
device_way attempt_way(const accuracy *method);

#endif
