/* sampler.h - recomputes pixels of a result by the definition, from whatever rows of the image come
 * along: the proof (bloom/prove.h), and --verify, which is here.
 *
 * Of a finished result, half of the pixels are taken by chance (always the same ones), and half
 * where errors are likeliest: the darkest pixels all over a tile, the neighbours of the brightest,
 * their ghosts half a transform away, and the tile's borders. Each is summed directly
 * (bloom/definition.h), and compared with the pixel as it is stored; the rounding of its type is
 * allowed on top of the tolerance. Where the file codes its colours, a stored value must lie
 * between the codes of the least and the most light that the tolerance allows. */
#ifndef BLOOM_SAMPLER_H
#define BLOOM_SAMPLER_H

#include "base/par.h"
#include "bloom/definition.h"
#include "image/recode.h"

typedef struct {
    uint32_t channel; /* as sampler_tile counts them */
    definition_pixel is;
    double got;
    double alpha; /* by which its colour is divided before it is coded: 1, if the caller has no
                     other */
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

#endif
