/* sampler.h - some pixels of a result, recomputed by the definition: those that prove a result
 * (bloom/group.c), and those of --verify (bloom/verify.h). */
#pragma once

#include "base/par.h"
#include "bloom/definition.h"

typedef struct {
    uint32_t channel; /* as sampler_tile counts them */
    definition_pixel defined;
    double got;
    double alpha; /* by which its colour is divided before it is coded; 1: by none */
} sampler_pixel;

typedef struct {
    sampler_pixel *pixel; /* of the image */
    size_t count;
} sampler;

/* Adds what some rows of the channels bring into their pixels. */
typedef struct {
    uint32_t first, channels;
    const definition_rows *rows; /* of each */
    definition_kernel kernel;
} sampler_rows;
bool sampler_add(const sampler *s, const sampler_rows *r, par *threads, err *e);

/* Returns what a pixel should be as its type holds it, once all rows were added; and by how much
 * rounding may put it off: that of the type, and that of the sum. */
double sampler_want(double *rounding, const sampler_pixel *p, pixel_type type,
                    const definition_kernel *kernel, const definition_gain *gain);

void sampler_free(sampler *s);
