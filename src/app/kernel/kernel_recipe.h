/* kernel_recipe.h - what `fftbloom kernel make` is asked for: a model, or several whose light is
 * added, from the command line or from a JSON file. docs/kernels.md describes the file. */
#ifndef APP_KERNEL_RECIPE_H
#define APP_KERNEL_RECIPE_H

#include "app/cli/cli.h"
#include "kernel/make/model.h"

/* KERNEL_SETTINGS: of a layer, at most: the parameters of its model, the camera, and `image`,
 * `light` and `primaries`. */
enum { KERNEL_LAYERS = 8, KERNEL_SETTINGS = MODEL_PARAMETERS + MODEL_SETUPS + 3 };

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
    bool fits;     /* the taps were not given, and hold what is needed */
} kernel_recipe;

/* Reads a recipe: a file, or the name of a model or of a shipped recipe. Options of the command
 * line win over the file. Free it with kernel_recipe_free, also after a failure. */
bool kernel_recipe_read(kernel_recipe *r, const cli *c, const char *word, err *e);
void kernel_recipe_free(kernel_recipe *r);

/* Makes *channels planes of w * h taps, each with the sum 1; free them with mem_free. Sets the
 * taps that were not given. */
bool kernel_recipe_make(float *plane[MODEL_CHANNELS], uint32_t *channels, kernel_recipe *r,
                        par *threads, err *e);

/* Appends the recipe as JSON that kernel_recipe_read makes the same kernel of. */
void kernel_recipe_json(const kernel_recipe *r, text *to);

#endif
