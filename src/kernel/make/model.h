/* model.h - makes point spread functions by formula: `fftbloom kernel make`.
 *
 * A model is a function for the light at a place, counted from the centre in pixels, and a row with
 * its parameters in model_table.c; docs/kernels.md says where each comes from. Models of an opening
 * draw it instead (pupil.h), and its diffraction is computed. A tap is the mean of the function
 * over its pixel. The centre is the tap floor(size / 2). The same request
 * gives the same taps on every machine (base/steady.h). */
#pragma once

#include "base/par.h"
#include "colour/primaries.h"
#include "kernel/make/lines.h"
#include "kernel/make/pupil.h"

#define LAMP_VIOLET 390.0 /* nanometres: the ends of what is summed */
#define LAMP_RED    710.0

/* A light that a kernel can be made for. Its spectrum decides how a pattern that depends on the
 * wavelength is blended in a channel, which always sums to 1. */
typedef struct lamp {
    const char *name;
    const char *help;
    double (*power)(double wavelength); /* per nanometre, in any unit; NULL: a line */
    double line;                        /* its wavelength; 0: the caller gives one */
} lamp;

extern const lamp LAMPS[];
extern const int LAMP_COUNT;

/* Fills in the CIE 1931 observer's response to a wavelength in nanometres, as sums of Gaussians
 * (Wyman, Sloan and Shirley, 2013). `exponential` is exp, or steady_exp. */
void lamp_xyz(double wavelength, double (*exponential)(double), double xyz[3]);

enum { MODEL_PARAMETERS = 20, MODEL_CHANNELS = 3, MODEL_SIDE = 8192 };

/* Wavelengths, each `step` of the logarithm from the next: some longer ones before `reference`, and
 * shorter ones after it. */
typedef struct {
    const primaries_row *colours;
    bool spreads; /* the pattern of a longer wave is wider, and fainter by the square of that */
    double reference, step;
    int before, after;
} lamp_steps;
/* Fills in what each wavelength adds to each channel. A channel that gets next to nothing of a
 * light (blue, of sodium) is given what the eye sees of it: its kernel has to sum to 1, too. */
bool lamp_tints(float (*tint)[MODEL_CHANNELS], const lamp *l, const lamp_steps *s, err *e);

typedef enum {
    MODEL_NUMBER,
    MODEL_WHOLE,  /* only whole numbers */
    MODEL_LENGTH, /* pixels; 24um, 0.05deg or 0.002w (widths of the image) are turned into them */
    MODEL_FILM,   /* the same, but a number alone counts micrometres */
    MODEL_RING,   /* a length, which follows from fnumber where that is given */
    MODEL_VIEW    /* degrees per pixel, which follow from the camera where that is given */
} model_kind;

typedef struct {
    const char *name;
    double preset, min, max; /* of a length: in its plain unit */
    const char *help;        /* with its unit */
    model_kind kind;
} model_parameter;

/* What the wavelength does: nothing (one channel is made); it stretches the pattern in proportion;
 * the function takes it; each channel has a share of a shape, as the parameters red, green and blue
 * say; or each channel has a shape of its own. */
typedef enum {
    MODEL_GREY,
    MODEL_DIFFRACTS,
    MODEL_COLORED,
    MODEL_TINTED,
    MODEL_CHANNELLED
} model_spectrum;

typedef struct model {
    const char *name;
    /* `colour` is the wavelength in nanometres; a model that diffracts is called with MODEL_GREEN
     * only. A tinted model is called with 0 for the light that stays, and 1 for the shape; one
     * with shapes by channel with the channel. */
    double (*light)(const double *p, double x, double y, double colour);
    model_spectrum spectrum;
    const char *help;                            /* one sentence */
    model_parameter parameter[MODEL_PARAMETERS]; /* unused ones at the end have no name */
    /* The pattern is the same after a turn by 2 pi / mirrors, and in the mirror. NULL: it depends
     * on the distance alone, or it is that of an opening. A parameter `turn`, in degrees, turns it.
     */
    int (*mirrors)(const double *p);
    /* Fills in the opening whose diffraction is the pattern; the first parameter is then the radius
     * of a round opening's first dark ring. Returns false where `light` has the pattern. */
    bool (*opening)(pupil *to, const double *p);
    /* Returns the lines that are added to `light`, which is NULL where there is nothing else. Their
     * kinds are what `colour` is to `light`. */
    line_shape (*lines)(const double *p);
    /* Where this parameter is `from` or more, a pixel's middle is as good as its mean far from the
     * centre. 0: never. */
    struct {
        int parameter;
        double from;
    } smooth;
    /* Computes what `light` needs of all its parameters, behind them. NULL: nothing. */
    void (*prepare)(double *p);
} model;

#define MODEL_GREEN 550.0
/* Where the first dark ring of a round opening of radius 1 lies. */
#define MODEL_FIRST_DARK 3.8317059702075125

extern const model MODELS[];
extern const int MODEL_COUNT;

const model *model_find(const char *name);
int model_parameters(const model *m);

/* What every model may be told beside its parameters; 0 is not given. */
enum {
    SETUP_FNUMBER,
    SETUP_PITCH,  /* micrometres per pixel */
    SETUP_HFOV,   /* degrees */
    SETUP_FOCAL,  /* millimetres */
    SETUP_SENSOR, /* its width in millimetres */
    SETUP_WIDTH,  /* of the image, in pixels */
    SETUP_WAVELENGTH,
    MODEL_SETUPS
};
extern const model_parameter MODEL_SETUP[MODEL_SETUPS];

typedef enum { UNIT_PLAIN, UNIT_UM, UNIT_DEG, UNIT_WIDTH } model_unit;

typedef struct {
    const model *of;
    double value[MODEL_PARAMETERS];
    model_unit unit[MODEL_PARAMETERS];
    bool given[MODEL_PARAMETERS];
    double setup[MODEL_SETUPS];
    const lamp *light;
    const primaries_row *colours; /* what R G B mean */
    /* An opening as an image, as pupil.h has it; the caller's. NULL: the model's own. */
    const float *mask;
    uint32_t mask_w, mask_h;
    uint32_t w, h;
    /* The part of the way to the nearest border from which taps fade smoothly to zero at the
     * border, so that the kernel's square does not show around a bright light. 1: they do not. */
    double fade;
    bool draft; /* for pictures of it: the finest needles may be others */
} model_request;

/* Sets ERR_USAGE: "NO 'NAME'", and the name that was probably meant, or all of them. Returns false.
 */
enum { MODEL_NAMES = MODEL_PARAMETERS + MODEL_SETUPS + 2 };
bool model_no_such(const char *no, const char *name, const char *are, const char *const *names,
                   int count, err *e);

/* Returns a request with the presets of a model. */
model_request model_defaults(const model *m);
/* Sets one value: radius to "3", pitch to "4um" or light to "sodium"; NULL: none was given. Fails
 * with ERR_USAGE; the message has the names of the parameters, or the range. */
bool model_set(model_request *r, const char *name, const char *value, err *e);
/* Makes the pattern `scale` times as large: lengths in pixels, and what the camera says of them. */
void model_scale(model_request *r, double scale);
/* Returns whether model_set takes this name for the model: its own parameters, and what is common
 * to all models as far as it has an effect on this one. */
bool model_takes(const model *m, const char *name);
/* Turns every unit into that of the parameter's formula. ERR_USAGE: the camera is not known. */
bool model_resolve(double p[MODEL_PARAMETERS], const model_request *r, err *e);

/* Finds how much of the model's light the taps keep, of what MODEL_SIDE taps could hold. *side
 * receives the smaller side; or, if that keeps less than `enough`, the side that keeps it, or 0. */
bool model_kept(double *kept, uint32_t *side, const model_request *r, double enough, par *threads,
                err *e);
/* Sets w and h to the smallest usual size, up to MODEL_AUTO, that keeps `enough` of the light. */
enum { MODEL_AUTO = 1024 };
bool model_fit(model_request *r, double enough, par *threads, err *e);

static inline uint32_t model_channels(const model *m) {
    return m->spectrum == MODEL_GREY ? 1 : MODEL_CHANNELS;
}
/* Taps of 1 channel (grey) or 3 (R G B), and their sums; all memory is the caller's. */
typedef struct {
    float *plane[MODEL_CHANNELS];
    double *rows[MODEL_CHANNELS]; /* of each row */
    double sum[MODEL_CHANNELS];   /* of a channel: a tap divided by it is its share of the light */
} model_taps;
/* Fills in w * h taps in as many channels as the model has. */
bool model_make(model_taps *to, const model_request *r, par *threads, err *e);
