/* look.h - what a group's planes hold: bad pixels and what becomes of them, statistics, sketch. */
#ifndef BLOOM_LOOK_H
#define BLOOM_LOOK_H

#include "bloom/run.h"

/* Fills g->scanned, sum, bad, bad_light and sketched. Repairs bad pixels in the image, or refuses
 * them. Where possible the floats that the engine will read are made on the way. */
bool look_at(run *g, err *e);

/* The same for who only wants to know: bad pixels that would be refused count as 0. */
bool look_ahead(run *g, err *e);

/* Whether a first look tells enough of an ordinary image. */
bool look_is_enough(const run *g);

/* What a first look spares an ordinary image: histograms, and with them the median and what stands
 * out. Done where the border brings light in, where only the excess over a threshold is spread,
 * where --verify needs the median, or when the plain transform does not keep the promise. */
bool look_closely(run *g, err *e);

#endif
