/* solve.h - takes the glare of a lens away: finds the image x whose bloom is the plate y.
 *
 * The bloom is y = C x + A x: C is what stays of a pixel, the folded core included, and A the tail,
 * whose sum is t. The series x(n+1) = (y - A x(n)) / C converges where r = t / C < 1. A step is one
 * frame of the engine that is joined with y: the centre is 1 / C, and the gain of what the
 * transform makes of x(n) is -1 / C. Where floats round too much, x goes on in doubles: a step
 * takes the residual's float to x, and blooms that alone.
 *
 * The certificate u is the sum over k of (|A| / C)^k v, made by steps as well (joined with v:
 * centre 1, gain 1 / C), and bounds how far each pixel of x(n) is from the image. v is |x(n+1) -
 * x(n)| and what rounding may have added: a bound on the residual of x(n) over C.
 * docs/inside/math.md, "Taking glare away", proves it. A group is a whole image here: nothing can
 * be solved in tiles. */
#pragma once

#include "bloom/group.h"

/* Solves the group for v->size: fills in the outcome, whose planes are floats, and what is told.
 * v->doubles and v->bounds, where wanted, receive it in doubles and the bound of each pixel. */
bool solve_run(group_made *to, outcome *o, const view *v, const light *l, err *e);
/* Finds the amount with which the region of the setting `black` becomes zero in the mean, and gives
 * the view that amount and the size that goes with it. */
bool solve_black(group_made *to, view *v, const light *l, err *e);
/* Returns the bytes of the planes that solving takes beside an attempt's. */
uint64_t solve_bytes(const view *v);
/* Fills in what is known before: core, tail and ratio, how noise grows, and the most steps for the
 * plate's range of light. Refuses a kernel that cannot be taken away, with what would do. */
bool solve_foresee(bloom_solved *to, const view *v, err *e);
