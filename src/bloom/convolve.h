/* convolve.h - from what look.h found to a result that keeps its promise: the method is chosen, the
 * engine runs, what is done in space is joined in, and the result is checked; if it cannot be kept,
 * again with what was learnt, and at last in float64. */
#ifndef BLOOM_CONVOLVE_H
#define BLOOM_CONVOLVE_H

#include "bloom/run.h"

/* Leaves the result in g->out and its statistics in g->stats; the image is as it was. */
bool convolve_group(run *g, err *e);

/* Does the same to an image like the last one, of which the plain transform kept the promise,
 * without a look before: it is looked at while the engine reads it, row by row in the cache. Where
 * the image turns out to need more, be it that pixels are bad, `done` is false, all is as it was,
 * and what it has cost is a part of one convolution, or all of one where only the result tells. */
bool convolve_straight(run *g, bool *done, err *e);

/* Its steps: g->facts and g->method; the report's promise after so many attempts. */
bool convolve_choose(run *g, err *e);
void convolve_note(run *g, uint32_t attempts);

#endif
