/* mask.h - a mask says how much of a pixel's light is spread: 1 all of it, 0 none.
 *
 * The light that is not spread is set aside before a layer is bloomed and added afterwards, so that
 * no light is lost. The blooming itself sees an image that has only the other light. */
#ifndef BLOOM_MASK_H
#define BLOOM_MASK_H

#include "bloom/layer_light.h"
#include "image/image.h"

/* A mask in its image; const once it is made. */
typedef struct {
    float *value; /* 0 to 1 */
    image_box box;
} mask;

/* Finds the channel of a name: its full name, or a layer that has one channel. It is searched in
 * the part first, then in the others. Fails, with the name, where there is none. */
bool mask_make(mask *m, const image *img, int part, const char *name, err *e);
void mask_free(mask *m);
/* Fills `to` with the values of a mask for n pixels, limited to 0 to 1; NaN becomes 0. */
void mask_values(float *to, const void *plane, pixel_type t, size_t n);
/* Returns the channel that mask_make takes, or -1; *part is where it is found. */
int mask_find(const image_header *h, int *part, const char *name);
/* Fails, and says that there is no mask of that name. */
bool mask_missing(const char *name, err *e);

/* The light of a layer that is set aside. */
typedef struct {
    float *plane[LAYER_MAX_CHANNELS];
} mask_rest;

/* Leaves in the layer's planes what is spread, and sets the rest aside. Pixels beyond the mask's
 * window are not spread. */
bool mask_take(mask_rest *rest, const mask *m, image *img, int part, const layer_group *g,
               bool alpha, err *e);
/* Adds the rest again. Returns the number of finite values beyond half floats that were clamped. */
uint64_t mask_give(const mask_rest *rest, image *img, int part, const layer_group *g);
/* Fails if there are values that were clamped and --half-overflow does not allow that. */
bool mask_may_clamp(const bloom_settings *s, uint64_t values, err *e);
void mask_rest_free(mask_rest *rest);

#endif
