/* lines.h - lines through the centre, as grooves in glass throw them. Across, each is a bell whose
 * width grows outwards. Lengths are in pixels. */
#pragma once

#include "base/err.h"
#include "base/vector.h"

enum { LINES = 16, LINE_KINDS = 3 };

typedef struct {
    int count;            /* lines, evenly turned; each has two arms */
    double length, slope; /* along it, light falls as (1 + distance / length)^-slope */
    double width, grow;   /* deviation across: at the centre, and more per pixel outwards */
    double uneven;        /* how much arms differ in light */
    double blur;          /* of what `share` has along a line: the smallest deviation */
    int kinds;
    /* Returns what a kind has of the light at a distance, also at one a little below 0. */
    double (*share)(const double *p, double far, int kind);
} line_shape;

typedef struct {
    line_shape shape;
    const double *p;           /* the model's parameters */
    double c[LINES], s[LINES]; /* directions */
    double arm[2 * LINES];     /* light, 1 on average: before the centre, and behind it */
    double per;                /* entries of the table per pixel */
    vec4d *along;              /* of each kind, from one entry before the centre on */
} lines;

/* Turns the lines by (c, s). */
void lines_set(lines *l, const line_shape *shape, const double *p, double c, double s);
/* Makes the table out to a distance, which lines_add needs. */
bool lines_table(lines *l, double far, err *e);
void lines_free(lines *l);

/* Returns the light of one kind at a place. */
double lines_at(const lines *l, double x, double y, int kind);
/* Returns which lines may have light within `reach` of a place: bit i for line i. */
uint32_t lines_near(const lines *l, double x, double y, double reach);

/* A pixel of which n * n samples are taken. `far` from the centre a line is even along a pixel, and
 * one that is 0 in the middle is 0 all over the pixel. */
typedef struct {
    double x, y;
    int n;
    bool far;
    uint32_t near; /* the lines that may have light there */
} line_pixel;
/* Adds the mean of each kind over a pixel. */
void lines_add(const lines *l, const line_pixel *at, double sum[LINE_KINDS]);
