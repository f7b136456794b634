/* pupil.h - draws the opening that light passes: an iris of blades, what stands before it, and the
 * dirt on the glass. Lengths count radii of the opening. Edges are blurred over two pixels in a way
 * that pattern.c knows and takes back. Dirt is placed by numbers from a seed. */
#pragma once

#include "base/par.h"

typedef enum { PUPIL_IRIS, PUPIL_MASK } pupil_shape;

typedef struct {
    pupil_shape shape;
    int blades;         /* of the iris; 0: it is round */
    double curvature;   /* of the blades' edges: 0 straight, 1 a circle */
    double uneven;      /* how far blades stand off their places */
    double obstruction; /* radius of a disc that covers the middle */
    int vanes;          /* that hold it, from the middle outwards */
    double vane_width;
    /* Off the axis things happen in a direction. The rim of the lens clips the opening: `clip` is
     * how far away its disc of radius 1 stands. The wave is bent: Seidel's terms, in waves at the
     * edge of a round opening. */
    double toward_x, toward_y, clip, coma, astigmatism, focus;
    double tilt_x, tilt_y; /* that pupil_level takes out */
    /* How many there are on the glass. */
    int dust, scratches, fibres, lashes, smudges;
    uint32_t seed;
    /* What an image lets through: 0 to 1, rows from the top. The longer side has length 2. */
    const float *mask;
    uint32_t mask_w, mask_h;
} pupil;

/* A square around the opening: the share of the light's amplitude that passes, in `across` samples
 * in a width of 2, and PUPIL_MARGIN more on each side, PUPIL_SIDE at most. */
enum { PUPIL_MARGIN = 2, PUPIL_SIDE = 2048 + 2 * PUPIL_MARGIN };
typedef struct pupil_drawing pupil_drawing;
pupil_drawing *pupil_drawing_open(const pupil *p, uint32_t across, err *e);
void pupil_drawing_close(pupil_drawing **d);
/* Draws a row. Several threads may call it at the same time. */
void pupil_drawing_row(const pupil_drawing *d, uint32_t at, double *row);

/* Takes out the tilt of the plane that fits the wave best, so that a lamp stays at its place. */
bool pupil_level(pupil *p, err *e);
/* Returns how far the wave is ahead at a place, in waves; *slope is its gradient's length. */
double pupil_wave(const pupil *p, double x, double y, double *slope);
/* Returns the most that its terms can add up to; 0: the wave is not bent. */
double pupil_waves(const pupil *p);

/* Returns by what the blur of edges has lowered the transform, at `turns` periods per sample. */
double pupil_blur(const pupil *p, double turns);

/* The light behind an opening: Fraunhofer diffraction of one wavelength, at any place. Around the
 * focus of a perfect lens light makes |F(k)|^2, with F the Fourier transform of the opening and k =
 * pi times the place in units of wavelength times f-number. F is computed once on a grid and
 * interpolated to some 1e-7 of its peak. A bent wave is another one in each wavelength: there is a
 * pattern for each of some. */
typedef struct pattern pattern;
enum { PATTERNS = 22 };

/* Computes patterns out to |k| = reach, 2573 at most; beyond, the last octave is repeated, each
 * time 8 times fainter: sharp edges fall off as k^-3. In pattern i of `count` the wave has times[i]
 * times the waves of the opening. */
pattern *pattern_new(const pupil *p, const double *times, int count, double reach, bool draft,
                     par *threads, err *e);
void pattern_free(pattern **p);

/* Fills in |F(k)|^2 of a pattern at k = r[i] * (x, y), as a share of that of a full disc of radius
 * 1 at k = 0. */
void pattern_along(const pattern *p, int which, double x, double y, const double *r, size_t n,
                   double *to);
