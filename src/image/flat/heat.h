/* heat.h - shows where two images differ, for reports: pictures and a histogram. Channels whose
 * names end in R, G or B show in that colour, others in grey; the largest difference counts. */
#pragma once

#include "image/compare.h"

/* Bins of a histogram: half decades from 1e-10 to 1e4; the outermost hold those beyond, too. */
enum { HEAT_BINS = 28, HEAT_PER_DECADE = 2, HEAT_LOWEST = -10 };

typedef struct {
    uint8_t *amplified; /* RGB: |a - b| * gain, encoded as sRGB; free with heat_free */
    uint8_t *colours;   /* RGB: the largest |a - b| of any channel, on a scale of logarithms */
    uint32_t width, height;
    double gain; /* a round number, chosen by all differences but the largest twentieth, so that
                  * a single light does not leave the rest black */
    double low, high; /* of the scale: black up to low, white from high */
    uint64_t equal;   /* values without a difference */
    uint64_t bin[HEAT_BINS];
} heat;

/* Makes both pictures, at most `widest` pixels wide, of a comparison that compare_parts has made
 * and that is not COMPARE_SIZE. Its images must still be there. */
bool heat_make(heat *h, const comparison *c, uint32_t widest, err *e);
void heat_free(heat *h);

/* Fills in the colour of the scale at 0..1, for legends. */
void heat_colour(float at, uint8_t rgb[3]);
