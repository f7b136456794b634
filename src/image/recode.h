/* recode.h - changes the colours of all colour layers of a part from one space into another, in
 * place: decodes a curve, raises what is cut off, converts primaries, applies a curve. A colour
 * with an alpha between 0 and 1 is divided by it before, and multiplied after. The attributes are
 * left to the caller. */
#pragma once

#include "base/par.h"
#include "colour/space.h"
#include "image/image.h"

typedef struct {
    const curve *undo;   /* what a reader has decoded and should not have; NULL: nothing */
    const curve *decode; /* linear: none; so is encode */
    const curve *encode;
    double stops; /* by which lights at white are raised, in linear light; 0: they stay */
    bool converts;
    matrix convert; /* of layers with three colours, in linear light */
} recode;

/* Fills in what brings linear light of a part to a space. Linear alone keeps the primaries. */
bool recode_to(recode *how, const image_part *p, const colour_space *space, err *e);
/* Returns the primaries that this converts to; NULL: it keeps those of the part. */
const primaries_row *recode_primaries(const colour_space *space);

/* Values beyond the largest half float become it, in planes of halfs. */
bool recode_part(image *img, int part, const recode *how, par *threads, err *e);

/* Changes one colour of `count` values as recode_part does, without rounding. alpha: 1 for none. */
void recode_colour(const recode *how, double v[3], int count, double alpha);
/* Likewise for a colour that lies between two: between what it lies then. */
void recode_between(const recode *how, double low[3], double high[3], int count, double alpha);
