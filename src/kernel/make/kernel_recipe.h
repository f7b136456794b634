/* kernel_recipe.h - what a kernel is made of: a model, or several whose light is added.
 * docs/kernels.md describes recipes as JSON. */
#ifndef KERNEL_MAKE_KERNEL_RECIPE_H
#define KERNEL_MAKE_KERNEL_RECIPE_H

#include "base/text.h"
#include "image/image.h"
#include "kernel/make/model.h"

/* KERNEL_SETTINGS: of a layer, at most: the parameters of its model, the camera, and `image`,
 * `light` and `primaries`. */
enum { KERNEL_LAYERS = 16, KERNEL_SETTINGS = MODEL_PARAMETERS + MODEL_SETUPS + 3 };

/* A parameter that was set, as a member of a JSON object. */
typedef struct {
    text name, value;
} kernel_setting;

typedef struct {
    model_request request;
    double share;                        /* of the light; those of all layers add up to 1 */
    float *mask;                         /* of an opening, for the request */
    kernel_setting set[KERNEL_SETTINGS]; /* for the file's provenance */
    int settings;
} kernel_layer;

typedef struct {
    char *about; /* a sentence; NULL: none */
    kernel_layer layer[KERNEL_LAYERS];
    int layers;
    uint32_t w, h; /* taps; 0: as many as the light needs */
    double fade;
    uint32_t bits; /* of a tap that are kept: fewer pack better */
    bool draft;    /* as of a request */
    bool fits;     /* the taps were not given, and hold what is needed */
} kernel_recipe;

/* Where a kernel begins to fade to its border unless that is said. */
#define KERNEL_FADE 0.6

/* Reads N or WxH. */
bool kernel_read_taps(uint32_t to[2], const char *from, err *e);

/* Read a recipe from its file, and from JSON; or make one of a single model, by its name. Free it
 * with kernel_recipe_free, also after a failure. */
bool kernel_recipe_file(kernel_recipe *r, const char *path, par *threads, err *e);
bool kernel_recipe_text(kernel_recipe *r, const char *json, par *threads, err *e);
bool kernel_recipe_model(kernel_recipe *r, const char *name, err *e);
/* Set a parameter of a layer, and the image of its opening: its light, from 0 to 1. */
bool kernel_layer_set(kernel_layer *l, const char *name, const char *value, err *e);
bool kernel_layer_image(kernel_layer *l, const char *path, par *threads, err *e);
/* Sets NAME=VALUE in every layer that has such a parameter. */
bool kernel_recipe_set(kernel_recipe *r, const char *assignment, err *e);
/* Sets several, with commas between them. */
bool kernel_recipe_set_all(kernel_recipe *r, const char *assignments, err *e);
/* Makes everything in a recipe that states its taps `scale` times as large. */
bool kernel_recipe_scale(kernel_recipe *r, double scale, err *e);
void kernel_recipe_free(kernel_recipe *r);

/* Makes *channels planes of w * h taps, each with the sum 1; free them with mem_free. Sets the
 * taps that were not given. */
bool kernel_recipe_make(float *plane[MODEL_CHANNELS], uint32_t *channels, kernel_recipe *r,
                        par *threads, err *e);

/* Makes an image of the taps, with the recipe as attributes. */
image *kernel_recipe_image(float *const plane[], uint32_t channels, const kernel_recipe *r, err *e);

/* Appends the recipe as JSON that makes the same kernel. */
void kernel_recipe_json(const kernel_recipe *r, text *to);

#endif
