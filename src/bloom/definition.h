/* definition.h - what a pixel of a result should be: summed directly, in double, from rows of the
 * image that may come a few at a time, in any order; nothing of how a result is made is used:
 *
 *   want  =  rest + glare * sum over taps of tap * spread + own * spread */
#pragma once

#include "engine/join.h"
#include "image/image.h"
#include "kernel/psf.h"
#include "math/field.h"

/* Rows of a plane that are in memory. */
typedef struct {
    const void *plane; /* begins with row `first`, and so does the mask of `spread` */
    pixel_type type;
    join_spread spread;
    uint32_t w, h; /* of the whole plane */
    uint32_t first, rows;
    const float *lost; /* of the plane, as engine_frame has it; NULL: nothing */
} definition_rows;

/* A kernel that varies: each pixel's light goes out by all nodes, by these weights. */
typedef struct {
    const psf *const *node;
    const join_field *weights;
} definition_field;

/* The kernel, and how the image continues. A field has no other kernel; NULL: there is none. */
typedef struct {
    const psf *kernel;
    plan_border border[PLAN_AXES];
    const definition_field *field;
} definition_kernel;

/* A pixel, and what is known of it so far. Starts with zeros but for its place. */
typedef struct {
    uint32_t x, y;
    bool bad; /* it is not finite, and counts as 0, as others do */
    join_parts own;
    double sum, size; /* of all products, scaled; size: without their signs */
} definition_pixel;

/* Adds what the rows of a channel bring into the pixel. */
bool definition_add(definition_pixel *p, const definition_rows *r, const definition_kernel *k,
                    uint32_t channel, err *e);

/* How much of a channel's sum and of its own light a pixel gets. A tint is of what leaves a pixel
 * alone, so it takes from `own` what it gives to the middle tap within the sum. */
typedef struct {
    double glare, own;
} definition_gain;
definition_gain definition_gain_of(const definition_kernel *k, uint32_t channel, double sharpen,
                                   double tint, const definition_pixel *at);
/* Returns what the pixel should be when all rows have been added. */
double definition_value(const definition_pixel *p, const definition_gain *gain);
/* Returns by how much that may be off. */
double definition_rounding(const definition_pixel *p, const definition_kernel *k,
                           const definition_gain *gain);

/* Return a value as a type holds it, and by how much its rounding may put it off. */
double definition_within(pixel_type t, double v);
double definition_rounds(pixel_type t, double v);
