/* stretch.h - makes a kernel wider, narrower or moved along its axes, with its light kept.
 *
 * A kernel as a function of position is every tap times a shape of area 1 around it: a box if an
 * axis shrinks or keeps its size, a tent if it grows (docs/math.md, "Scale"). A new tap is the
 * integral of that function over its own area, so each tap's light is divided among new taps and
 * none is lost but over the border. */
#ifndef KERNEL_STRETCH_H
#define KERNEL_STRETCH_H

#include "kernel/edit/edit.h"

/* One axis: new tap i is the sum of weight[at[i] + k] * tap first[i] + k, for k < count[i]. */
typedef struct {
    uint32_t from, to;
    uint32_t *first, *count;
    size_t *at;
    double *weight;
} stretch_axis;

/* Makes the weights from `from` taps to `to`, both with their centre at floor(n / 2): stretched by
 * `scale` about the centre, then moved by `move` taps. */
bool stretch_axis_make(stretch_axis *a, uint32_t from, uint32_t to, double scale, double move,
                       err *e);
void stretch_axis_free(stretch_axis *a);

/* Adds `weight[c]` times the stretched plane `from` (of the size of the axes) to the planes of
 * `to`, for each of its channels. */
bool stretch_add(edit_kernel *to, const double *from, const stretch_axis axis[2],
                 const double weight[EDIT_CHANNELS], par *threads, err *e);

/* Returns the taps that a reach of `taps` beside the centre becomes. */
uint32_t stretch_reach(uint32_t taps, double scale, double move);

#endif
