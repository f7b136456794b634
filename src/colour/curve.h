/* curve.h - the curves by which files code light: sRGB, gammas, and the logarithms of cameras and
 * film. For curves of the scene 0.18 is a grey card, for those of a display 1 is white. Values
 * below 0 and above 1 follow the same formulas; a gamma is mirrored at 0. */
#pragma once

/* Coded: scale log(gain light + offset) + base, of a base whose natural logarithm is ln; for light
 * below `cut`, slope light + foot. */
typedef struct {
    double ln, gain, offset, scale, base, slope, foot, cut;
} curve_log;

typedef struct curve {
    const char *name;      /* "srgb", as in names of colour spaces (space.h) */
    const char *title;     /* "sRGB", for people */
    const char *primaries; /* those that go with it, where a file names none: primaries.h */
    double (*decode)(const struct curve *c, double v); /* NULL: known, but not supported */
    double (*encode)(const struct curve *c, double v);
    double gamma;         /* of a pure gamma */
    const curve_log *log; /* of a logarithm */
} curve;

extern const curve CURVES[];
extern const int CURVE_COUNT;
/* CURVES[0]: linear light, which is not changed. */
extern const curve *const CURVE_LINEAR;

/* Returns the curve of a name, or NULL. Letters may be small or capital. */
const curve *curve_find(const char *name);
