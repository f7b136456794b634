/* kernel_recipe.h - what `fftbloom kernel make` is asked for: a model, or several whose light is
 * added, from the command line or from a JSON file. docs/kernels.md describes the file. */
#ifndef APP_KERNEL_RECIPE_H
#define APP_KERNEL_RECIPE_H

#include "app/cli/settings.h"
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
    bool fits;     /* the taps were not given, and hold what is needed */
} kernel_recipe;

/* Where a kernel begins to fade to its border unless that is said. */
#define KERNEL_FADE 0.6

/* Reads N or WxH. */
bool kernel_read_taps(uint32_t to[2], const char *from, err *e);

/* Reads a recipe from its file. Free it with kernel_recipe_free, also after a failure. */
bool kernel_recipe_file(kernel_recipe *r, const char *path, par *threads, err *e);
/* Reads a recipe: a file, or the name of a model or of a shipped recipe. Options of the command
 * line win over the file. */
bool kernel_recipe_read(kernel_recipe *r, const settings *s, par *threads, const char *word,
                        err *e);
/* Makes everything in a recipe that states its taps `scale` times as large. */
bool kernel_recipe_scale(kernel_recipe *r, double scale, err *e);
void kernel_recipe_free(kernel_recipe *r);

/* Makes *channels planes of w * h taps, each with the sum 1; free them with mem_free. Sets the
 * taps that were not given. */
bool kernel_recipe_make(float *plane[MODEL_CHANNELS], uint32_t *channels, kernel_recipe *r,
                        par *threads, err *e);

/* Makes an image of the taps, with the recipe as attributes. */
image *kernel_recipe_image(float *const plane[], uint32_t channels, const kernel_recipe *r, err *e);

/* Appends the recipe as JSON that kernel_recipe_read makes the same kernel of. */
void kernel_recipe_json(const kernel_recipe *r, text *to);

#endif
