/* model_maker.h - what makes a model's taps, for model.c and model_fit.c. */
#pragma once

#include "base/steady.h"
#include "base/vector.h"
#include "kernel/make/model.h"

static const double NEAREST = 0.01; /* pixels: the innermost distance of the table */
enum { PARTS = 2 };

/* The part of the table from one radius to another. */
typedef struct {
    size_t first, radii, directions;
    size_t place; /* the first of the places where its directions are sampled */
    double per;   /* its directions per direction of the outer part */
    /* [direction][radius]: light times the square of the distance, which falls off less and so is
     * nearer to a line between two steps. */
    vec4f *grid;
} table;

typedef struct {
    const model_request *r;
    const model *of;
    double p[MODEL_PARAMETERS];
    pattern *opening; /* NULL: the model's own formula has the pattern */
    int patterns;     /* of the opening, each for its part of the wavelengths */
    lines lines;      /* none where their count is 0 */
    int turns;        /* the pattern is the same after a turn by 2 pi / turns, 0: by any angle, */
    bool mirrored;    /* and in the mirror */
    bool even;        /* after half a turn, in any case */
    double turn_c, turn_s;
    double reference; /* nanometres: the wavelength of shift 0 */
    double widest;    /* what the pattern of `reference` is stretched by, against that of green */
    double step;      /* of log(distance) in what is added up */
    size_t each;      /* of the steps that the table holds: every one, or every second */
    /* Where a direction is sampled, the same in all of them: samples[i] places for step i. */
    size_t steps, places;
    double *place;
    int *samples;
    float *square;            /* of each radius */
    size_t radii, directions; /* of the whole table, and of its outer part */
    size_t phase;             /* every each-th step of one direction, with room behind them */
    int before, after;        /* wavelengths as steps from the reference: red below, violet above */
    float (*tint)[MODEL_CHANNELS];
    table table[PARTS]; /* inner, outer; without a grid no table is needed */
    uint32_t channels;
    const double *share; /* of a tinted model: what each channel gets of the shape */
    const model_taps *to;
} maker;

/* Prepares what does not depend on the taps. `far` in pixels is where the pattern of an opening may
 * end. Free it with maker_free, also after a failure. */
bool maker_open(maker *m, const model_request *r, double far, par *threads, err *e);
void maker_free(maker *m);
/* Returns the angle that the directions of the table cover. */
double maker_sector(const maker *m);
/* Fills in the light of one wavelength at distances in the direction (c, s); `which` is one of the
 * opening's patterns. */
void maker_light(const maker *m, int which, double c, double s, const double *r, size_t n,
                 double colour, double *to);

static inline double border_of(uint32_t side) {
    return side > 2 ? (side - 1) / 2 : 1;
}

/* Returns the factor of the fade; `at` is the distance as a share of the way to the border. */
static inline double fade_at(double fade, double at) {
    return fade >= 1 ? 1 : 1 - steady_ramp(fade, 1, at);
}
