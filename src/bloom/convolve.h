/* convolve.h - from what look.h found to a result that keeps its promise: the method is chosen, the
 * engine runs, what is done in space is joined in, and the result is checked; if it cannot be kept,
 * again with what was learnt, and at last in float64. */
#ifndef BLOOM_CONVOLVE_H
#define BLOOM_CONVOLVE_H

#include "bloom/run.h"

/* Leaves the result in g->out and its statistics in g->stats; the image is as it was. */
bool convolve_group(run *g, err *e);

/* Its steps: g->facts and g->method; the report's promise after so many attempts. */
bool convolve_choose(run *g, err *e);
void convolve_note(run *g, uint32_t attempts);

#endif
