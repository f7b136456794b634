/* recode.h - changes the colours of a part from one space into another, in place: decodes a curve,
 * converts primaries, applies a curve.
 *
 * All layers that are colour by their names are changed, alpha and data are not. Where a colour has
 * an alpha between 0 and 1 it is divided by it before, and multiplied after: curves are for the
 * colour and not for its coverage. The attributes of the part are left to the caller. */
#ifndef IMAGE_RECODE_H
#define IMAGE_RECODE_H

#include "base/par.h"
#include "image/image.h"

typedef struct {
    const curve *undo;   /* what a reader has decoded and should not have; NULL: nothing */
    const curve *decode; /* linear: none; so is encode */
    const curve *encode;
    matrix convert; /* of layers with three colours, in linear light */
} recode;

/* Values beyond the largest half float become it, in planes of halfs. */
bool recode_part(image *img, int part, const recode *how, par *threads, err *e);

#endif
