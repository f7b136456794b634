/* model.h - makes point spread functions by formula: `fftbloom kernel make`.
 *
 * A model is a function for the light at a distance and a direction from the centre, in any unit,
 * and a row with its parameters in one table; docs/kernels.md says where each comes from. To add
 * one, write the function and the row, in model_table.c.
 *
 * A tap is the mean of the function over its pixel, not its value in the middle, which would be
 * wrong where the function is steep. Taps are not negative; each channel sums to 1, so white stays
 * white. The centre is the tap floor(size / 2). The same request gives the same taps, whatever the
 * number of threads. The module knows nothing of files. */
#ifndef KERNEL_MODEL_H
#define KERNEL_MODEL_H

#include "base/par.h"

#include <stdint.h>

enum { MODEL_PARAMETERS = 6, MODEL_CHANNELS = 3, MODEL_SIDE = 8192 };

typedef struct {
    const char *name;
    double preset, min, max;
    const char *help; /* with its unit */
    bool whole;       /* only whole numbers */
} model_parameter;

/* What the light's wavelength does: nothing (one channel is made); it stretches the whole pattern
 * in proportion, as diffraction does; or the function takes it. */
typedef enum { MODEL_GREY, MODEL_DIFFRACTS, MODEL_COLORED } model_spectrum;

typedef struct model {
    const char *name;
    const char *help;                            /* one sentence */
    model_parameter parameter[MODEL_PARAMETERS]; /* unused ones at the end have no name */
    model_spectrum spectrum;
    /* r: pixels from the centre; direction: radians, in [0, pi / mirrors); wavelength: nanometres.
     * A model that diffracts is called with MODEL_GREEN nm only. */
    double (*light)(const double *p, double r, double direction, double wavelength);
    /* The pattern is the same after a turn by 2 pi / mirrors and in the mirror. NULL: it depends on
     * the distance alone. A parameter `turn`, in degrees, turns it. */
    int (*mirrors)(const double *p);
} model;

#define MODEL_GREEN 550.0

extern const model MODELS[];
extern const int MODEL_COUNT;

/* Returns the model of a name, or NULL. */
const model *model_find(const char *name);
/* Returns the number of a model's parameters. */
int model_parameters(const model *m);

typedef struct {
    const model *of;
    double value[MODEL_PARAMETERS];
    uint32_t w, h;
    /* The part of the way to the nearest border from which taps fade smoothly to zero at the
     * border, so that the kernel's square does not show around a bright light. 1: they do not. */
    double fade;
} model_request;

/* Returns a request with the presets of a model. */
model_request model_defaults(const model *m);
/* Sets one value from text such as "radius=3". Fails with ERR_USAGE; the message has the names of
 * the parameters, or the range. */
bool model_set(model_request *r, const char *assignment, err *e);

/* Returns how much of the model's light the taps keep, 0 to 1. The light that falls beyond their
 * border, or is taken by the fade, is missing. All light is what kernels of MODEL_SIDE taps could
 * hold. *side receives the smaller of the two sides; or, if that keeps less than `enough`, the side
 * that keeps it, or 0 if none does. */
double model_kept(const model_request *r, double enough, uint32_t *side);

/* Makes *channels planes of w * h taps, 1 (grey) or 3 (R G B); free them with mem_free. */
bool model_make(float *plane[MODEL_CHANNELS], uint32_t *channels, const model_request *r,
                par *threads, err *e);

/* Fills in the colour of a wavelength in nanometres: the CIE 1931 observer as sums of Gaussians
 * (Wyman, Sloan and Shirley, 2013), then Rec.709. Pure colours lie outside its primaries, so some
 * values are below zero. `exponential` is exp, or one that gives the same bits on every machine. */
void model_color(double wavelength, double (*exponential)(double), double rgb[MODEL_CHANNELS]);

#endif
