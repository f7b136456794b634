/* field.h - a kernel that varies over the frame: how much of a pixel's light goes out by each node
 * of a grid, and the window of places in which a node spreads it. docs/inside/math.md, "Kernels
 * that vary over the frame". Pure arithmetic, like plan.h. */
#pragma once

#include "math/plan.h"

/* Nodes along an axis, and those that have light of one pixel, at most. */
enum { FIELD_SIDE = 32, FIELD_MIXED = 5 };

/* Where the nodes are: a column (row) of them at each place of x (y), in shares of the display
 * window. The places increase. */
typedef struct {
    uint32_t nodes[PLAN_AXES];
    double at[PLAN_AXES][FIELD_SIDE];
    double common; /* the share of the light that one more node spreads, that of all pixels; what it
                      leaves is the others'. 0: there is none */
} field_grid;

static inline uint32_t field_nodes(const field_grid *g) {
    return g->nodes[PLAN_X] * g->nodes[PLAN_Y] + (g->common > 0);
}
/* Returns the column (row) of a node, by [row][column] of nodes. The common one is behind them, and
 * in one more column and row, where all weights are 1. */
static inline uint32_t field_line(const uint32_t nodes[PLAN_AXES], uint32_t node, uint32_t axis) {
    if (node == nodes[PLAN_X] * nodes[PLAN_Y]) return nodes[axis];
    return axis == PLAN_X ? node % nodes[PLAN_X] : node / nodes[PLAN_X];
}
/* Returns the share of the light that a node spreads where its weight is 1. */
static inline double field_share(const field_grid *g, uint32_t node) {
    return node == g->nodes[PLAN_X] * g->nodes[PLAN_Y] ? g->common : 1 - g->common;
}

/* Where an image lies in its display window, whose sizes these are. Zeros: there is no field. */
typedef struct {
    int64_t from[PLAN_AXES];
    uint32_t size[PLAN_AXES];
    /* Along an axis that is cut the samples are those of a tile: the first one's place in the
     * image, the image's size and its border; and of the samples those whose result counts. An
     * extent of 0: nothing is cut. */
    int64_t first[PLAN_AXES];
    uint32_t extent[PLAN_AXES];
    plan_border border[PLAN_AXES];
    uint32_t kept[PLAN_AXES][2];
} field_frame;

/* Returns the weight of column (row) n for a sample of an image: 1 at its node, and less in
 * proportion to the distance, down to 0 at its neighbours. Beyond the outer nodes all light is
 * theirs. All weights of a sample add up to 1. What a border shows in a tile has the weights of the
 * pixel that it shows; where it shows none they are 0. */
double field_weight(const field_grid *g, const field_frame *f, uint32_t axis, uint32_t n,
                    int64_t sample);

/* The places of an axis in which a column (row) of nodes spreads light: a circle on which nothing
 * that is wanted meets light that goes round. */
typedef struct {
    int64_t first;       /* the place of sample 0, counted from the image's first pixel */
    uint32_t length;     /* samples, and of the circle; 0: no pixel has light for the node */
    uint32_t from, to;   /* samples that have light: the image's, or what its border shows */
    uint32_t begin, end; /* samples whose result reaches pixels */
    uint32_t light[2];   /* pixels of the image with light for the node: from .. to - 1 */
    uint32_t extent;     /* of the image */
    plan_border border;  /* of the image; of a tile, along an axis that is cut, none */
} field_stretch;

/* ask: the image's size, the reach of the node's kernel, and the borders. */
typedef struct {
    field_stretch axis[PLAN_AXES];
} field_window;
field_window field_window_of(const field_grid *g, const field_frame *f, uint32_t node,
                             const plan_request *ask);
static inline bool field_window_empty(const field_window *w) {
    return !w->axis[PLAN_X].length || !w->axis[PLAN_Y].length;
}
/* Returns the request for the plan of a window: planes of floats on a circle of its own size. */
plan_request field_window_ask(const field_window *w, const plan_request *ask);

/* Return the pixel whose light stands at a sample (the border may show it there), -1: none; and
 * the pixel that receives the result of a sample of begin .. end - 1. */
int64_t field_source(const field_stretch *a, uint32_t sample);
uint32_t field_target(const field_stretch *a, uint32_t sample);
