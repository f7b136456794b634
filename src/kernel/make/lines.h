/* lines.h - lines through the centre, as grooves in glass throw them. Across, each is a bell whose
 * width grows outwards; how bright it is along itself, a model says. Lengths are in pixels. */
#pragma once

#include "base/err.h"
#include "base/vector.h"

enum { LINES = 16, LINE_KINDS = 3 };

typedef struct {
    int count;          /* lines, evenly turned; each has two arms */
    double width, grow; /* deviation across: at the centre, and more per pixel outwards */
    double uneven;      /* how much arms differ in light */
    double finest;      /* the smallest detail along a line */
    int kinds;
    /* Returns the light of one kind at a distance, summed across the line. It goes on smoothly to
     * distances a little below 0. `p` are the model's parameters. */
    double (*along)(const double *p, double far, int kind);
} line_shape;

typedef struct {
    line_shape is;
    const double *p;
    double c[LINES], s[LINES]; /* directions */
    double arm[2 * LINES];     /* light, 1 on average: before the centre, and behind it */
    double per;                /* entries of the table per pixel */
    vec4d *along;              /* of each kind, from one entry before the centre on */
} lines;

/* Turns the lines by (c, s). */
void lines_set(lines *l, const line_shape *is, const double *p, double c, double s);
/* Makes the table out to a distance, which lines_add needs. */
bool lines_table(lines *l, double far, err *e);
void lines_free(lines *l);

/* Returns the light of one kind at a place. */
double lines_at(const lines *l, double x, double y, int kind);
/* Adds the mean of each kind over the pixel around a place, by n * n samples. A line that is 0 in
 * the middle is 0 all over the pixel, where it lies so `far` from the centre. */
void lines_add(const lines *l, double x, double y, int n, bool far, double sum[LINE_KINDS]);
