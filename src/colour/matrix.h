/* matrix.h - matrices of three rows and columns, in double, which change one set of three colours
 * into another. It does not know what the three numbers mean. */
#ifndef COLOUR_MATRIX_H
#define COLOUR_MATRIX_H

#include <stdbool.h>

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

#endif
