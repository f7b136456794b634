/* turn.h - turns a kernel about its centre, with its light kept.
 *
 * A tap is a square of even light, as for a size of 1 (stretch.h). A tap of the result is what its
 * own square, turned back, covers of those squares, exactly: light is kept to rounding and no tap
 * falls below zero. A kernel that half a turn leaves as it is stays so, to the bit. */
#pragma once

#include "base/par.h"

/* What becomes of planes; everything is in the order x, y. */
typedef struct {
    uint32_t from[2], to[2]; /* sizes */
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
