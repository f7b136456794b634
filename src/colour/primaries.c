#include "colour/primaries.h"

#include "base/err.h"

#include <strings.h>

#define D65 \
    { 0.3127, 0.3290 }
#define ACES \
    { 0.32168, 0.33767 }

/* From ITU-R BT.709 and BT.2020, SMPTE RP 431-2 (with the white D65), the Academy's TB-2014-004
 * and S-2014-004, Adobe RGB (1998), and what the makers of cameras publish. */
const primaries_row PRIMARIES_TABLE[] = {
    {"rec709", "Rec.709", {{0.64, 0.33}, {0.30, 0.60}, {0.15, 0.06}, D65}},
    {"p3d65", "P3-D65", {{0.680, 0.320}, {0.265, 0.690}, {0.150, 0.060}, D65}},
    {"rec2020", "Rec.2020", {{0.708, 0.292}, {0.170, 0.797}, {0.131, 0.046}, D65}},
    {"ap0", "ACES AP0", {{0.7347, 0.2653}, {0, 1}, {0.0001, -0.0770}, ACES}},
    {"ap1", "ACES AP1", {{0.713, 0.293}, {0.165, 0.830}, {0.128, 0.044}, ACES}},
    {"adobergb", "Adobe RGB", {{0.64, 0.33}, {0.21, 0.71}, {0.15, 0.06}, D65}},
    {"ciexyzd65", "CIE XYZ", {{1, 0}, {0, 1}, {0, 0}, {1 / 3.0, 1 / 3.0}}},
    {"awg3", "ARRI Wide Gamut 3", {{0.6840, 0.3130}, {0.2210, 0.8480}, {0.0861, -0.1020}, D65}},
    {"awg4", "ARRI Wide Gamut 4", {{0.7347, 0.2653}, {0.1424, 0.8576}, {0.0991, -0.0308}, D65}},
    {"sgamut3", "S-Gamut3", {{0.730, 0.280}, {0.140, 0.855}, {0.100, -0.050}, D65}},
    {"sgamut3cine", "S-Gamut3.Cine", {{0.766, 0.275}, {0.225, 0.800}, {0.089, -0.087}, D65}},
    {"vgamut", "V-Gamut", {{0.730, 0.280}, {0.165, 0.840}, {0.100, -0.030}, D65}},
    {"rwg",
     "REDWideGamutRGB",
     {{0.780308, 0.304253}, {0.121595, 1.493994}, {0.095612, -0.084589}, D65}},
};
const int PRIMARIES_COUNT = COUNT(PRIMARIES_TABLE);
const primaries *const PRIMARIES_REC709 = &PRIMARIES_TABLE[0].gamut;

/* Files give three or four digits. The nearest two sets above are 0.03 apart. */
static const double PRECISION = 1e-3;

const primaries_row *primaries_find(const char *name) {
    for (int i = 0; i < PRIMARIES_COUNT; i++)
        if (strcasecmp(PRIMARIES_TABLE[i].name, name) == 0 ||
            strcasecmp(PRIMARIES_TABLE[i].title, name) == 0)
            return &PRIMARIES_TABLE[i];
    return NULL;
}

static bool near(chromaticity a, chromaticity b) {
    return fabs(a.x - b.x) <= PRECISION && fabs(a.y - b.y) <= PRECISION;
}

bool primaries_same(const primaries *a, const primaries *b) {
    return near(a->red, b->red) && near(a->green, b->green) && near(a->blue, b->blue) &&
           near(a->white, b->white);
}

const primaries_row *primaries_like(const primaries *p) {
    for (int i = 0; i < PRIMARIES_COUNT; i++)
        if (primaries_same(&PRIMARIES_TABLE[i].gamut, p)) return &PRIMARIES_TABLE[i];
    return NULL;
}

primaries primaries_from_floats(const float xy[8]) {
    double v[8];
    for (int i = 0; i < 8; i++) v[i] = (double)xy[i];
    return (primaries){{v[0], v[1]}, {v[2], v[3]}, {v[4], v[5]}, {v[6], v[7]}};
}

void primaries_to_floats(float xy[8], const primaries *p) {
    const chromaticity *c[] = {&p->red, &p->green, &p->blue, &p->white};
    for (int i = 0; i < 4; i++) {
        xy[2 * i] = (float)c[i]->x;
        xy[2 * i + 1] = (float)c[i]->y;
    }
}

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

/* X Y Z of a chromaticity, with Y = 1. */
static void xyz_of(double to[3], chromaticity c) {
    to[0] = c.x / c.y;
    to[1] = 1;
    to[2] = (1.0 - c.x - c.y) / c.y;
}

/* The columns are the primaries, scaled so that R = G = B = 1 gives white (docs/inside/math.md,
 * "Rec.709 weights and chromaticities"). The scales solve a 3x3 system, here by Cramer's rule. */
bool primaries_to_xyz(matrix *to, const primaries *p) {
    const chromaticity column[3] = {p->red, p->green, p->blue};
    double white[3], scale[3], det = 0, m[3][3];
    xyz_of(white, p->white);
    for (int i = 0; i < 3; i++) {
        m[0][i] = column[i].x;
        m[1][i] = column[i].y;
        m[2][i] = 1.0 - m[0][i] - m[1][i];
    }
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        double minor[3] = {m[1][j] * m[2][k] - m[2][j] * m[1][k],
                           m[2][j] * m[0][k] - m[0][j] * m[2][k],
                           m[0][j] * m[1][k] - m[1][j] * m[0][k]};
        scale[i] = white[0] * minor[0] + white[1] * minor[1] + white[2] * minor[2];
        det = m[0][i] * minor[0] + m[1][i] * minor[1] + m[2][i] * minor[2];
    }
    for (int i = 0; i < 9; i++) {
        m[i / 3][i % 3] = m[i / 3][i % 3] * scale[i % 3] / det;
        if (!isfinite(m[i / 3][i % 3])) return false;
    }
    matrix made, back;
    for (int i = 0; i < 9; i++) made.m[i / 3][i % 3] = m[i / 3][i % 3];
    if (!matrix_invert(&back, &made)) return false;
    *to = made;
    return true;
}

matrix primaries_adapt(chromaticity from, chromaticity to) {
    static const matrix CONE = {
        {{0.8951, 0.2664, -0.1614}, {-0.7502, 1.7135, 0.0367}, {0.0389, -0.0685, 1.0296}}};
    matrix back, scaled = CONE;
    double a[3], b[3];
    xyz_of(a, from);
    xyz_of(b, to);
    matrix_apply(a, &CONE, a);
    matrix_apply(b, &CONE, b);
    for (int i = 0; i < 9; i++) scaled.m[i / 3][i % 3] *= b[i / 3] / a[i / 3];
    matrix_invert(&back, &CONE);
    return matrix_product(&back, &scaled);
}

static chromaticity white_of(const primaries *p) {
    bool xyz = near(p->red, (chromaticity){1, 0}) && near(p->green, (chromaticity){0, 1}) &&
               near(p->blue, (chromaticity){0, 0});
    return xyz ? PRIMARIES_REC709->white : p->white;
}

bool primaries_convert(matrix *to, const primaries *from, const primaries *into) {
    matrix there, back;
    chromaticity was = white_of(from), becomes = white_of(into);
    if (!primaries_to_xyz(&there, from) || !primaries_to_xyz(&back, into) ||
        !matrix_invert(&back, &back))
        return false;
    if (!near(was, becomes)) {
        matrix adapted = primaries_adapt(was, becomes);
        there = matrix_product(&adapted, &there);
    }
    *to = matrix_product(&back, &there);
    return true;
}
