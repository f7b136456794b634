#include "app/cli/recipe_options.h"

#include "app/cli/kernel_option.h"
#include "app/cli/options.h"
#include "image/format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Attributes of the OpenEXR standard, and what they are here. */
static const struct {
    const char *attribute;
    int setup;
} CAMERA[] = {{"aperture", SETUP_FNUMBER},           {"sensorPhotositePitch", SETUP_PITCH},
              {"effectiveFocalLength", SETUP_FOCAL}, {"pinholeFocalLength", SETUP_FOCAL},
              {"nominalFocalLength", SETUP_FOCAL},   {"sensorOverallDimensions", SETUP_SENSOR}};

/* Sets what the plate's header says of its camera, where nothing else was said. A pixel of the
 * image need not be a photosite: where the sensor's width is known, it decides. */
static bool set_plate(kernel_recipe *r, const char *path, par *threads, err *e) {
    image_reader *in = image_open(path, NULL, threads, e);
    if (!in) return false;
    const image_part *p = &image_reader_header(in)->part[0];
    double found[MODEL_SETUPS] = {0};
    found[SETUP_WIDTH] = (double)p->display.x1 - p->display.x0 + 1;
    for (size_t i = 0; i < sizeof CAMERA / sizeof CAMERA[0]; i++) {
        const image_attr *a = image_find_attr(p, CAMERA[i].attribute);
        float v;
        if (!a || a->bytes < sizeof v || found[CAMERA[i].setup] > 0) continue;
        memcpy(&v, a->data, sizeof v);
        if (isfinite(v) && v > 0) found[CAMERA[i].setup] = (double)v;
    }
    if (found[SETUP_SENSOR] > 0) found[SETUP_PITCH] = 0;
    bool ok = true;
    for (int k = 0; k < MODEL_SETUPS; k++)
        for (int i = 0; ok && found[k] > 0 && i < r->layers; i++) {
            kernel_layer *l = &r->layer[i];
            char value[32];
            bool ring = k == SETUP_FNUMBER && l->request.given[0];
            if (l->request.setup[k] > 0 || ring || !model_takes(l->request.of, MODEL_SETUP[k].name))
                continue;
            snprintf(value, sizeof value, "%.9g", found[k]);
            ok = kernel_layer_set(l, MODEL_SETUP[k].name, value, e);
        }
    image_close(&in);
    return ok || err_in(e, "'%s'", path);
}

/* Reads the recipe that a word means: a file, a model, or a recipe that is shipped. */
static bool read_word(kernel_recipe *r, const char *word, const settings *s, err *e) {
    kernel_word k;
    if (strpbrk(word, "./") || (!model_find(word) && access(word, F_OK) == 0))
        return kernel_recipe_file(r, word, e);
    if (!model_find(word) && kernel_option_find(&k, word, s, NULL) && k.recipe)
        return kernel_recipe_file(r, k.path, e);
    return kernel_recipe_model(r, word, e);
}

bool recipe_options_read(kernel_recipe *r, const settings *s, par *threads, const char *word,
                         err *e) {
    uint32_t taps[2];
    if (!read_word(r, word, s, e)) return false;
    if (settings_given(s, "fade", FOR_KERNEL)) r->fade = s->fade;
    if (s->image && !kernel_layer_image(&r->layer[0], s->image, e)) return false;
    if (!kernel_recipe_set(r, s->param ? s->param : "", e) ||
        (s->plate && !set_plate(r, s->plate, threads, e)))
        return false;
    if (s->taps && strcmp(s->taps, "auto") == 0) {
        r->w = r->h = 0;
    } else if (s->taps) {
        if (!kernel_read_taps(taps, s->taps, e)) return false;
        r->w = taps[0], r->h = taps[1];
    }
    return true;
}
