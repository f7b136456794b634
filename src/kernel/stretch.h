/* stretch.h - makes a kernel wider, narrower, moved along its axes or turned, with its light kept.
 *
 * A kernel as a function of position is every tap times a shape of area 1 around it: a box if an
 * axis shrinks or keeps its size, a tent if it grows, a cubic spline if it grows to more than twice
 * its size (docs/inside/math.md, "Scale"). A new tap is the integral of that function over its own
 * area.
 */
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

/* A turn about the centre. A tap is a square of even light, as for a size of 1. A tap of the result
 * is what its own square, turned back, covers of those squares, exactly: light is kept to rounding
 * and no tap falls below zero. A kernel that half a turn leaves as it is stays so, to the bit. */
typedef struct {
    uint32_t from[2], to[2]; /* sizes; everything is in the order x, y */
    double middle[2];        /* the centre, in `from`; it may lie between taps */
    uint32_t at[2];          /* the centre's tap, in `to` */
    double cosine, sine;
    uint32_t channels;
} turn;

/* Sets the angle, in degrees and clockwise; the cosine and the sine of right angles are whole. */
void turn_by(turn *t, double degrees);
/* Finds how far the taps that are not zero reach from the centre once they are turned: to the left
 * and the right, and up and down. */
void turn_reach(uint32_t reach[4], const turn *t, const double *tap);
/* Adds the turned planes `from` to `to`, [channel][y][x]. threads may be NULL. */
bool turn_add(double *to, const turn *t, const double *from, par *threads, err *e);
