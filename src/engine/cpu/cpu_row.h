/* cpu_row.h - one row of a result: what it is made of, how, and what is measured of it. An ordinary
 * row is made at once, and so is one of both signs, whose products and sums are doubles that no
 * memory holds. Any other is made in doubles, in two steps, and its pixels are the same. */
#pragma once

#include "engine/join.h"

/* A row of a result, and what it is made of. */
typedef struct {
    float *out;
    uint16_t *half_out;      /* not NULL: the result goes there, */
    const uint16_t *half_in; /* and the row is this, instead of `in` */
    uint32_t n;
    double centre;
    bool nonnegative;
    const float *in;       /* the row as it came */
    const float *floats;   /* what the transform made, or */
    const double *doubles; /* this */
    double *own, *glare;   /* what the pixels give themselves; all else */
} row;

typedef struct {
    double norm, sum;
    uint32_t negative;
    double negative_sum, lowest; /* lowest: of the glare */
    double peak;                 /* of what the transform made */
    float least, largest;        /* of |out| */
} row_totals;

/* Makes an ordinary row, in the precision of what the transform made: nothing below zero, all
 * spread, and of a size whose squares are floats, as are the sums of its result; from halfs to
 * halfs that hold it, where the row has half_out. Returns false where the row is not ordinary and
 * must be made again. Terms of one sign cannot cancel: accuracy_relative has room for roundings. */
bool row_make_ordinary(const row *r, row_totals *t);

/* Makes a row in which anything may be below zero, where all light is spread: in doubles, rounded
 * to a float once, so that terms of both signs may cancel (docs/inside/math.md, "Terms that
 * cancel"). Glare below zero is cut off where there can be none. Sizes and answer: as above. */
bool row_make_signs(const row *r, row_totals *t);

/* Starts the totals of a row. Fills r->glare with what the transform made, and notes
 * its norm and peak; fills r->own with what the pixels give where all of them is spread. */
void row_begin(const row *r, row_totals *t);
/* Makes `out` of any row from r->own and r->glare, as row_make_signs does. */
void row_finish(const row *r, row_totals *t);

/* Returns the part of a row whose result counts. */
row row_kept(const row *r, const join_box *kept);
/* Adds to the totals what the transform made of the rest of a row. */
void row_add_margins(const row *r, row_totals *t, const join_box *kept);
