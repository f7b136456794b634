/* kernel_recipe.h - what a kernel is made of: a model, or several whose light is added, as JSON by
 * docs/kernels.md. The images that its layers name are opened when the kernel is made, so a caller
 * can refuse them first. */
#pragma once

#include "base/text.h"
#include "image/image.h"
#include "kernel/make/model.h"

/* KERNEL_SETTINGS: of a layer: a model's parameters, the camera, `image`, `light`, `primaries`. */
enum { KERNEL_LAYERS = 16, KERNEL_SETTINGS = MODEL_PARAMETERS + MODEL_SETUPS + 3 };

/* A parameter that was set, as a member of a JSON object. */
typedef struct {
    text name, value;
} kernel_setting;

typedef struct {
    model_request request;
    double share;                /* of the light; those of all layers add up to 1 */
    double tint[MODEL_CHANNELS]; /* of the share, for R, G and B: what a colour gets of the layer */
    char *image; /* the path of a picture of the opening; NULL: the model's own opening */
    float *mask; /* the picture's light, for the request: NULL until the kernel is made */
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

/* Attributes that say how a kernel was made begin like this: the recipe, and of a single model its
 * parameters. What a run says of an image begins with "fftbloom:" (app/run/record.h). */
#define KERNEL_ATTR "fftbloom."

/* Where a kernel begins to fade to its border unless that is said. */
#define KERNEL_FADE 0.6

bool kernel_read_taps(uint32_t to[2], const char *from, err *e);

/* Read a recipe from its file, and from JSON; or make one of a single model, by its name. Free it
 * with kernel_recipe_free, also after a failure. */
bool kernel_recipe_file(kernel_recipe *r, const char *path, err *e);
bool kernel_recipe_text(kernel_recipe *r, const char *json, err *e);
bool kernel_recipe_model(kernel_recipe *r, const char *name, err *e);
/* Reads the one that stands in a field as its common kernel. */
bool kernel_recipe_everywhere(kernel_recipe *r, const char *path, err *e);
void kernel_recipe_free(kernel_recipe *r);

/* Set a parameter of a layer, and the picture of its opening, whose light is from 0 to 1. */
bool kernel_layer_set(kernel_layer *l, const char *name, const char *value, err *e);
bool kernel_layer_image(kernel_layer *l, const char *path, err *e);
/* Sets NAME=VALUE,NAME=VALUE, each in every layer that has such a parameter. */
bool kernel_recipe_set(kernel_recipe *r, const char *assignments, err *e);
/* Makes everything in a recipe that states its taps `scale` times as large. */
bool kernel_recipe_scale(kernel_recipe *r, double scale, err *e);
/* Returns the first image that a layer names, or NULL: the recipe stands alone. */
const char *kernel_recipe_names_image(const kernel_recipe *r);
/* Appends the recipe as JSON that makes the same kernel. */
void kernel_recipe_json(const kernel_recipe *r, text *to);

/* Makes the kernel: taps in one channel or three, each with the sum 1, with the recipe as
 * attributes. Sets the number of taps where it was not given. */
image *kernel_recipe_make(kernel_recipe *r, par *threads, err *e);
