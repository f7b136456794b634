/* sampler.h - recomputes pixels of a result by the definition, in double, from rows of the image
 * that may come a few at a time, in any order; nothing of how a result is made is used:
 *
 *   want  =  rest + glare * sum over taps of tap * spread + own * spread
 *
 * That is for the proof (bloom/group.c), and for --verify, which is here.
 *
 * Of a finished result, half of the pixels are taken by chance (always the same ones), and half
 * where errors are likeliest: the darkest pixels all over a tile, the neighbours of the brightest,
 * their ghosts half a transform away, and the tile's borders. Each is summed directly
 * and compared with the pixel as it is stored; the rounding of its type is
 * allowed on top of the tolerance. Where the file codes its colours, a stored value must lie
 * between the codes of the least and the most light that the tolerance allows. */
#pragma once

#include "base/par.h"
#include "engine/join.h"
#include "image/recode.h"
#include "math/plan.h"

/* --- the definition: single pixels, summed directly --- */

/* Rows of a plane that are in memory. */
typedef struct {
    const void *plane; /* begins with row `first`, and so does the mask of `spread` */
    pixel_type type;
    join_spread spread;
    uint32_t w, h; /* of the whole plane */
    uint32_t first, rows;
    const float *lost; /* of the plane, as engine_frame has it; NULL: nothing */
} definition_rows;

/* The kernel, and how the image continues. */
typedef struct {
    const psf *kernel;
    plan_border border[PLAN_AXES];
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
definition_gain definition_gain_of(const psf *k, uint32_t channel, double sharpen, double tint);
/* Returns what the pixel should be when all rows have been added. */
double definition_value(const definition_pixel *p, const definition_gain *gain);
/* Returns by how much that may be off. */
double definition_rounding(const definition_pixel *p, const psf *k, const definition_gain *gain);

/* --- pixels of a result --- */

typedef struct {
    uint32_t channel; /* as sampler_tile counts them */
    definition_pixel is;
    double got;
    double alpha; /* by which its colour is divided before it is coded; 1: by none */
} sampler_pixel;

typedef struct {
    sampler_pixel *pixel; /* of the image */
    size_t count;
} sampler;

/* A tile's result in rows of the image. */
typedef struct {
    uint32_t first, channels; /* the number of the first channel, and how many there are */
    const void *const *plane; /* of each, from row y on */
    const pixel_type *type;
    uint32_t w;                  /* of the image */
    uint32_t x, y, across, down; /* the tile's pixels */
    const double *dark;          /* of each: below this, errors are relative to it */
    uint32_t length[PLAN_AXES];  /* of the transforms: where ghosts are */
    bool together;               /* all channels of a pixel are taken, one after the other */
    uint32_t count;              /* to take by chance; as many again where it is hardest */
} sampler_tile;

/* Chooses pixels of a tile. */
bool sampler_look(sampler *s, const sampler_tile *t, err *e);

/* Adds what some rows of the channels bring into their pixels. */
typedef struct {
    uint32_t first, channels;
    const definition_rows *rows; /* of each */
    definition_kernel kernel;
} sampler_rows;
bool sampler_add(const sampler *s, const sampler_rows *r, par *threads, err *e);

/* Returns what a pixel should be as its type holds it, once all rows were added; and by how much
 * rounding may put it off: that of the type, and that of the sum. */
double sampler_want(double *rounding, const sampler_pixel *p, pixel_type type, const psf *kernel,
                    const definition_gain *gain);

typedef struct {
    uint32_t channel, x, y;
    double got, want; /* as they are stored */
    double error;     /* of the light, relative to the larger of what it should be and dark */
} verify_pixel;

typedef struct {
    uint64_t pixels, broken; /* looked at; off by more than the tolerance */
    verify_pixel worst;      /* the largest error; of broken pixels where there are any */
} verify_result;

/* Returns whether a pixel, or the worst of some, is to be shown in place of what was found: a
 * broken one rather than one that is not. */
bool verify_is_worse(const verify_result *than, double error, bool broken);

/* How the pixels of a channel are judged. */
typedef struct {
    const psf *kernel;
    definition_gain gain;
    double dark, tolerance;
    pixel_type type;
} sampler_promise;

/* Adds the `count` colours of a pixel, all of whose rows have been added: one, or those that are
 * coded together. p and by: of each. how: the file codes them, beside this alpha; NULL: not. */
void sampler_judge(verify_result *to, const sampler_pixel *p, const sampler_promise *by, int count,
                   const recode *how, double alpha);

void sampler_free(sampler *s);
