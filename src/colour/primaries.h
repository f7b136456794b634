/* primaries.h - which colours R, G, B and white are: sets that have names, and the matrices between
 * any two sets. A set is the CIE 1931 x and y of the three primaries and of white, as in the EXR
 * attribute `chromaticities`. */
#pragma once

#include <stdbool.h>

typedef struct {
    double x, y;
} chromaticity;

typedef struct {
    chromaticity red, green, blue, white;
} primaries;

typedef struct {
    const char *name;  /* "rec709", as in names of colour spaces (space.h) */
    const char *title; /* "Rec.709", for people */
    primaries gamut;
} primaries_row;

extern const primaries_row PRIMARIES_TABLE[];
extern const int PRIMARIES_COUNT;
/* PRIMARIES_TABLE[0]: what images have that say nothing else. */
extern const primaries *const PRIMARIES_REC709;

/* Returns the row of a name, or NULL. Letters may be small or capital. */
const primaries_row *primaries_find(const char *name);
/* Returns the row with these primaries, to the precision to which files give them, or NULL. */
const primaries_row *primaries_like(const primaries *p);
/* Returns whether two sets are the same, to that precision. */
bool primaries_same(const primaries *a, const primaries *b);

/* Convert from and to the eight numbers of the attribute. */
primaries primaries_from_floats(const float xy[8]);
void primaries_to_floats(float xy[8], const primaries *p);

/* Changes one set of three colours into another. */
typedef struct {
    double m[3][3]; /* row, column */
} matrix;

extern const matrix MATRIX_IDENTITY;

/* Returns a * b: what b does first, and then a. */
matrix matrix_product(const matrix *a, const matrix *b);
/* Fills in the inverse. Returns false, and leaves *to alone, where there is none. */
bool matrix_invert(matrix *to, const matrix *a);
/* Multiplies a vector; `to` and `v` may be the same. */
void matrix_apply(double to[3], const matrix *a, const double v[3]);

/* Fills the matrix from R G B to X Y Z, with which R = G = B = 1 has the chromaticity of white and
 * Y = 1; its second row are the weights of luminance. Returns false where it has no inverse. */
bool primaries_to_xyz(matrix *to, const primaries *p);
/* Returns the matrix that changes X Y Z so that one white becomes another (Bradford). */
matrix primaries_adapt(chromaticity from, chromaticity to);
/* Fills the matrix from the R G B of one set to that of another. White stays white: where the two
 * whites differ, colours are adapted (Bradford), but X Y Z as primaries counts D65 as white.
 * Returns false as primaries_to_xyz does. */
bool primaries_convert(matrix *to, const primaries *from, const primaries *into);
