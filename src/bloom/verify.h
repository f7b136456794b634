/* verify.h - compares pixels of a finished result with the definition: the setting `verify`.
 *
 * Half of the pixels are taken by chance (always the same ones), and half where errors are
 * likeliest: the darkest pixels all over a tile, the neighbours of the brightest, their ghosts half
 * a transform away, and the tile's borders. Each is summed directly and compared with the pixel as
 * it is stored; the rounding of its type is allowed on top of the tolerance. Where the file codes
 * its colours, a stored value must lie between the codes of the least and the most light that the
 * tolerance allows. */
#pragma once

#include "bloom/sampler.h"
#include "image/recode.h"

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
} verify_tile;

/* Chooses pixels of a tile. */
bool verify_look(sampler *s, const verify_tile *t, err *e);

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
    const definition_kernel *kernel;
    definition_gain gain;
    double dark, tolerance;
    pixel_type type;
} verify_promise;

/* Adds the `count` colours of a pixel, all of whose rows have been added: one, or those that are
 * coded together. p and by: of each. how: the file codes them, beside this alpha; NULL: not. */
void verify_judge(verify_result *to, const sampler_pixel *p, const verify_promise *by, int count,
                  const recode *how, double alpha);
