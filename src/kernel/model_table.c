#include "kernel/model.h"

#include <math.h>
#include <string.h>

/* --- by distance --------------------------------------------------------------------------- */

static double gaussian(const double *p, double r, double direction, double wavelength) {
    (void)direction, (void)wavelength;
    return exp(-0.5 * (r / p[0]) * (r / p[0]));
}

static double moffat(const double *p, double r, double direction, double wavelength) {
    (void)direction, (void)wavelength;
    return pow(1 + (r / p[0]) * (r / p[0]), -p[1]);
}

static double disc(const double *p, double r, double direction, double wavelength) {
    (void)direction, (void)wavelength;
    double in = (p[0] - r) / p[1] + 0.5; /* 0 to 1 across the edge */
    return in >= 1 ? 1 : in <= 0 ? 0 : in;
}

static double ring(const double *p, double r, double direction, double wavelength) {
    (void)direction, (void)wavelength;
    double off = (r - p[0]) / p[1];
    return exp(-0.5 * off * off);
}

/* --- the eye ------------------------------------------------------------------------------- */

/* Spencer et al. 1995: the pupil's own spread, two slopes of scattered light, and the ring that
 * the lens's fibres make, with its radius in proportion to the wavelength. Adaptation 0, 1, 2:
 * photopic, mesopic, scotopic; weights between them are blended. */
static double spencer(const double *p, double r, double direction, double wavelength) {
    static const double WEIGHT[3][4] = {
        {0.384, 0.478, 0.138, 0}, {0.368, 0.478, 0.138, 0.016}, {0.282, 0.478, 0.207, 0.033}};
    (void)direction;
    double t = r * p[0], off = t - 3 * wavelength / 568;
    double term[4] = {2.61e6 * exp(-(t / 0.02) * (t / 0.02)), 20.91 / pow(t + 0.02, 3),
                      72.37 / ((t + 0.02) * (t + 0.02)),
                      436.9 * 568 / wavelength * exp(-off * off)};
    int i = p[1] < 1 ? 0 : 1;
    double blend = p[1] - i, sum = 0;
    for (int k = 0; k < 4; k++)
        sum += term[k] * ((1 - blend) * WEIGHT[i][k] + blend * WEIGHT[i + 1][k]);
    return sum;
}

/* The CIE's total glare function (CIE 135/1, Vos and van den Berg 1999), with the observer's age
 * and the pigmentation of the eyes. */
static double cie(const double *p, double r, double direction, double wavelength) {
    (void)direction, (void)wavelength;
    double t = r * p[0], old = pow(p[1] / 70, 4), pigment = p[2];
    double a = 1 + (t / 0.0046) * (t / 0.0046), b = 1 + (t / 0.045) * (t / 0.045),
           c = 1 + (t / 0.1) * (t / 0.1);
    return (1 - 0.08 * old) * (9.2e6 * pow(a, -1.5) + 1.5e5 * pow(b, -1.5)) +
           (1 + 1.6 * old) *
               (400 / c + 3e-8 * t * t + pigment * (1300 * pow(c, -1.5) + 0.8 / sqrt(c))) +
           2.5e-3 * pigment;
}

/* --- diffraction: |transform of the aperture|^2 ---------------------------------------------- */

/* Where the first dark ring of a round aperture of radius 1 lies. */
#define FIRST_DARK 3.8317059702075125

/* Returns the transform of a disc of radius a, at k. */
static double disc_transform(double a, double k) {
    return k * a < 1e-6 ? M_PI * a * a : 2 * M_PI * a * j1(k * a) / k;
}

static double airy(const double *p, double r, double direction, double wavelength) {
    (void)direction, (void)wavelength;
    double k = FIRST_DARK * r / p[0];
    double f = disc_transform(1, k) - disc_transform(p[1], k);
    return f * f;
}

/* Computes the transform of a regular polygon with its corners on the unit circle, by the
 * divergence theorem: i / k^2 times the sum over the edges of (k . normal) length exp(-i k .
 * middle) sinc(k . edge / 2). */
static void polygon_transform(int n, double k, double direction, double f[2]) {
    double half = sin(M_PI / n), apothem = cos(M_PI / n);
    f[0] = f[1] = 0;
    if (k < 1e-4) {
        f[0] = n * half * apothem;
        return;
    }
    for (int i = 0; i < n; i++) {
        double away = direction - 2 * M_PI * i / n;
        double across = k * cos(away), along = k * sin(away) * half;
        double size = 2 * half * across / (k * k) * (fabs(along) < 1e-9 ? 1 : sin(along) / along);
        f[0] += size * sin(across * apothem);
        f[1] += size * cos(across * apothem);
    }
}

static double star(const double *p, double r, double direction, double wavelength) {
    (void)wavelength;
    double k = FIRST_DARK * r / p[0], f[2];
    polygon_transform((int)p[1], k, direction, f);
    double re = (1 - p[2]) * f[0] + p[2] * disc_transform(1, k), im = (1 - p[2]) * f[1];
    return re * re + im * im;
}

/* The square of the transform is the same on both sides of the centre, so an odd number of edges
 * makes twice as many spikes. */
static int star_mirrors(const double *p) {
    int n = (int)p[1];
    return n % 2 ? 2 * n : n;
}

/* --- the table ----------------------------------------------------------------------------- */

const model MODELS[] = {
    {"gaussian",
     "A bell: soft focus, or a lens's residual blur.",
     {{"sigma", 3, 0.1, 2000, "standard deviation, in pixels", false}},
     MODEL_GREY,
     gaussian,
     NULL},
    {"moffat",
     "A core with a power-law tail, as scattering makes it: (1 + (r / core)^2)^-slope.",
     {{"core", 2, 0.05, 1000, "radius of the core, in pixels", false},
      {"slope", 1.5, 1.01, 20,
       "the tail falls as the distance to the power of minus twice this; 1.5 is a veil of dust",
       false}},
     MODEL_GREY,
     moffat,
     NULL},
    {"disc",
     "A flat disc: a round aperture out of focus.",
     {{"radius", 16, 0.5, 4000, "in pixels", false},
      {"edge", 1, 0.01, 1000, "its width, in pixels", false}},
     MODEL_GREY,
     disc,
     NULL},
    {"ring",
     "A ring: halo film base, mist, frost.",
     {{"radius", 40, 0, 4000, "in pixels", false},
      {"width", 4, 0.1, 1000, "deviation, in pixels", false}},
     MODEL_GREY,
     ring,
     NULL},
    {"spencer",
     "Glare in the human eye, the four terms of Spencer et al.; dark-adapted with a coloured ring.",
     {{"pixel", 0.02, 1e-4, 1, "degrees of view that a pixel covers", false},
      {"adaptation", 0, 0, 2, "0 daylight, 1 dusk, 2 night", false}},
     MODEL_COLORED,
     spencer,
     NULL},
    {"cie",
     "Glare in the human eye, the CIE's total glare function.",
     {{"pixel", 0.02, 1e-4, 1, "degrees of view that a pixel covers", false},
      {"age", 35, 1, 110, "of the observer, in years", false},
      {"pigment", 0.5, 0, 1.2, "0 dark eyes, 0.5 brown, 1 blue, 1.2 very light", false}},
     MODEL_GREY,
     cie,
     NULL},
    {"airy",
     "Diffraction at a round aperture, in colour; with a round obstruction, a mirror telescope.",
     {{"radius", 3, 0.3, 1000, "of the first dark ring in green light, in pixels", false},
      {"obstruction", 0, 0, 0.95,
       "radius of the disc that covers the middle, in radii of the aperture", false}},
     MODEL_DIFFRACTS,
     airy,
     NULL},
    {"star",
     "Diffraction at an aperture of straight blades, in colour: a spike from each edge to both "
     "sides.",
     {{"radius", 1.5, 0.3, 1000, "of the first dark ring if the aperture were round, in pixels",
       false},
      {"blades", 6, 3, 32, "edges of the aperture", true},
      {"round", 0, 0, 1, "share of a round aperture mixed in: faint blades", false},
      {"turn", 10, -360, 360, "of the spikes, in degrees", false}},
     MODEL_DIFFRACTS,
     star,
     star_mirrors},
};
const int MODEL_COUNT = (int)(sizeof MODELS / sizeof MODELS[0]);

const model *model_find(const char *name) {
    for (int i = 0; i < MODEL_COUNT; i++)
        if (strcmp(MODELS[i].name, name) == 0) return &MODELS[i];
    return NULL;
}

int model_parameters(const model *m) {
    int n = 0;
    while (n < MODEL_PARAMETERS && m->parameter[n].name) n++;
    return n;
}
