/* stretch.h - makes a kernel wider, narrower or moved along its axes, with its light kept.
 *
 * A kernel as a function of position is every tap times a shape of area 1 around it: a box if an
 * axis shrinks or keeps its size, a tent if it grows, a cubic spline if it grows to more than twice
 * its size (docs/math.md, "Scale"). A new tap is the integral of that function over its own area,
 * so each tap's light is divided among new taps and none is lost but over the border. Taps that are
 * not negative stay so. */
#pragma once

#include "base/par.h"

/* What becomes of a plane; everything is in the order x, y. */
typedef struct {
    uint32_t from[2], to[2]; /* sizes */
    double middle[2], at[2]; /* the centre, in `from` and in `to` */
    double scale[2];         /* about the centre */
    double move[2];          /* afterwards, in taps of `to` */
} stretch;

/* Returns the taps that a reach of `taps` beside the centre becomes. */
double stretch_reach(double taps, double scale, double move);

/* Adds `weight[c]` times the stretched plane `from` to plane c of `to`. threads may be NULL. */
bool stretch_add(double *to, uint32_t channels, const stretch *s, const double *from,
                 const double *weight, par *threads, err *e);
