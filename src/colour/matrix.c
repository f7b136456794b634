#include "colour/matrix.h"

#include <math.h>
#include <string.h>

const matrix MATRIX_IDENTITY = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

matrix matrix_product(const matrix *a, const matrix *b) {
    matrix made = {{{0}}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++) made.m[i][j] += a->m[i][k] * b->m[k][j];
    return made;
}

/* Cramer's rule. With indices that go round, each cofactor has its sign. */
bool matrix_invert(matrix *to, const matrix *a) {
    matrix made;
    double det = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int p = (j + 1) % 3, q = (j + 2) % 3, r = (i + 1) % 3, s = (i + 2) % 3;
            made.m[i][j] = a->m[p][r] * a->m[q][s] - a->m[p][s] * a->m[q][r];
        }
    for (int k = 0; k < 3; k++) det += a->m[0][k] * made.m[k][0];
    for (int i = 0; i < 9; i++) {
        made.m[i / 3][i % 3] /= det;
        if (!isfinite(made.m[i / 3][i % 3])) return false;
    }
    *to = made;
    return true;
}

void matrix_apply(double to[3], const matrix *a, const double v[3]) {
    double made[3];
    for (int i = 0; i < 3; i++) made[i] = a->m[i][0] * v[0] + a->m[i][1] * v[1] + a->m[i][2] * v[2];
    memcpy(to, made, sizeof made);
}
