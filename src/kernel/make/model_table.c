#include "base/steady.h"
#include "kernel/make/model.h"

static const double ROOT = 2.50662827463100050242; /* of 2 pi */

static double distance(double x, double y) {
    return sqrt(x * x + y * y);
}

static double gaussian(const double *p, double x, double y, double colour) {
    return steady_exp(-0.5 * (x * x + y * y) / (p[0] * p[0]));
}

static double moffat(const double *p, double x, double y, double colour) {
    return steady_pow(1 + (x * x + y * y) / (p[0] * p[0]), -p[1]);
}

static double disc(const double *p, double x, double y, double colour) {
    double in = (p[0] - distance(x, y)) / p[1] + 0.5; /* 0 to 1 across the edge */
    return in >= 1 ? 1 : in <= 0 ? 0 : in;
}

static double ring(const double *p, double x, double y, double colour) {
    double off = (distance(x, y) - p[0]) / p[1];
    return steady_exp(-0.5 * off * off);
}

/* Each of these sums to 1 over the plane. */
static double bell(double x, double y, double sigma) {
    if (x * x + y * y > 80 * sigma * sigma) return 0;
    return steady_exp(-0.5 * (x * x + y * y) / (sigma * sigma)) / (2 * STEADY_PI * sigma * sigma);
}

/* Light that the film's base throws back makes a ring around every light, at the angle of total
 * reflection; it falls off to both sides, as exp(-distance / fall) does but without an edge at the
 * ring itself. The red layer lies nearest to the base. */
static double halo(double off, double fall) {
    double t = off / fall;
    return steady_exp(1 - sqrt(1 + t * t));
}

/* The sum of the halo over the plane, by Simpson's rule. */
static double whole_halo(double radius, double fall) {
    enum { STEPS = 400 };
    double end = radius + 40 * fall, sum = 0;
    for (int i = 0; i <= STEPS; i++) {
        double r = end * i / STEPS, weight = i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2;
        sum += weight * r * halo(r - radius, fall);
    }
    return 2 * STEADY_PI * sum * end / STEPS / 3;
}

static double film(const double *p, double x, double y, double thrown) {
    return thrown == 0 ? bell(x, y, p[5]) : halo(distance(x, y) - p[0], p[1]) / p[6];
}

static void prepare_film(double *p) {
    p[6] = whole_halo(p[0], p[1]);
}

static double streak(const double *p, double x, double y, double colour) {
    return (1 - p[1]) * bell(x, y, p[5]);
}

static double streak_share(const double *p, double far, int kind) {
    return p[1] / p[0];
}

static line_shape streak_lines(const double *p) {
    return (line_shape){(int)p[0], p[2], p[3], p[4], p[7], p[8], INFINITY, 1, streak_share};
}

static int streak_mirrors(const double *p) {
    return 2 * (int)p[0];
}

/* The orders of a grating: its m-th image of a lamp lies at m * spacing for 550 nm, and farther out
 * for longer waves. A channel sees a band of them, so each order is a short spectrum, longer
 * outwards. Returns the light at a distance, 1 on average. */
static double orders(double far, double spacing, double width, int channel) {
    static const double MIDDLE[] = {605 / MODEL_GREEN, 545 / MODEL_GREEN, 455 / MODEL_GREEN},
                        BAND[] = {24 / MODEL_GREEN, 22 / MODEL_GREEN, 18 / MODEL_GREEN};
    enum { ORDERS = 14 };
    double step = spacing * MIDDLE[channel], sum = 0;
    int nearest = (int)(far / step + 0.5);
    if (nearest >= ORDERS) return 1; /* they have run together */
    for (int m = nearest > 3 ? nearest - 3 : 0; m <= nearest + 3; m++) {
        double band = m * spacing * BAND[channel], wide = sqrt(width * width + band * band);
        double off = (far - m * step) / wide;
        sum += step / (ROOT * wide) * steady_exp(-0.5 * off * off);
        off = (far + m * step) / wide;
        if (m > 0 && nearest < 3) sum += step / (ROOT * wide) * steady_exp(-0.5 * off * off);
    }
    return sum;
}

static double grating_share(const double *p, double far, int channel) {
    return orders(far, p[7], p[8], channel);
}

static line_shape grating_lines(const double *p) {
    return (line_shape){(int)p[0], p[1], p[2],           p[3],         p[5],
                        p[6],      p[8], MODEL_CHANNELS, grating_share};
}

static double blue_core(const double *p, double x, double y, double thrown) {
    return thrown == 0 ? bell(x, y, p[6]) : 0;
}

static double blue_share(const double *p, double far, int thrown) {
    return thrown;
}

static line_shape blue_lines(const double *p) {
    return (line_shape){1, p[0], p[1], p[2], p[8], 0, INFINITY, 2, blue_share};
}

static int line_mirrors(const double *p) {
    return 2;
}

/* Spencer et al. 1995: the pupil's own spread, two slopes of scattered light, and the ring that
 * the lens's fibres make, with its radius in proportion to the wavelength. Adaptation 0, 1, 2:
 * photopic, mesopic, scotopic; weights between them are blended. */
static double spencer(const double *p, double x, double y, double wavelength) {
    static const double WEIGHT[3][4] = {
        {0.384, 0.478, 0.138, 0}, {0.368, 0.478, 0.138, 0.016}, {0.282, 0.478, 0.207, 0.033}};
    double t = distance(x, y) * p[0], off = t - 3 * wavelength / 568, near = t + 0.02;
    double term[4] = {2.61e6 * steady_exp(-(t / 0.02) * (t / 0.02)), 20.91 / (near * near * near),
                      72.37 / (near * near), 436.9 * 568 / wavelength * steady_exp(-off * off)};
    int i = p[1] < 1 ? 0 : 1;
    double blend = p[1] - i, sum = 0;
    for (int k = 0; k < 4; k++)
        sum += term[k] * ((1 - blend) * WEIGHT[i][k] + blend * WEIGHT[i + 1][k]);
    return sum;
}

/* The CIE's total glare function (CIE 135/1, Vos and van den Berg 1999), with the observer's age
 * and the pigmentation of the eyes. */
static double cie(const double *p, double x, double y, double wavelength) {
    double t = distance(x, y) * p[0], share = p[1] / 70, pigment = p[2];
    double old = share * share * share * share;
    double a = 1 + (t / 0.0046) * (t / 0.0046), b = 1 + (t / 0.045) * (t / 0.045),
           c = 1 + (t / 0.1) * (t / 0.1);
    return (1 - 0.08 * old) * (9.2e6 / (a * sqrt(a)) + 1.5e5 / (b * sqrt(b))) +
           (1 + 1.6 * old) *
               (400 / c + 3e-8 * t * t + pigment * (1300 / (c * sqrt(c)) + 0.8 / sqrt(c))) +
           2.5e-3 * pigment;
}

static double disc_transform(double a, double k) {
    return k * a < 1e-6 ? STEADY_PI * a * a : 2 * STEADY_PI * a * steady_j1(k * a) / k;
}

static double airy(const double *p, double x, double y, double wavelength) {
    double k = MODEL_FIRST_DARK * distance(x, y) / p[0];
    double f = disc_transform(1, k) - disc_transform(p[1], k);
    return f * f;
}

/* Straight blades have a closed form, by the divergence theorem over a regular polygon with its
 * corners on the unit circle: i / k^2 times the sum over the edges of (k . normal) length exp(-i k
 * . middle) sinc(k . edge / 2). Curved ones are drawn. */
static double star(const double *p, double x, double y, double wavelength) {
    int n = (int)p[1];
    double fine = MODEL_FIRST_DARK / p[0], kx = fine * x, ky = fine * y, square = kx * kx + ky * ky;
    double half = steady_sin(STEADY_PI / n), apothem = steady_cos(STEADY_PI / n), f[2] = {0, 0};
    if (square < 1e-8) return n * half * apothem * n * half * apothem;
    double step_c = 2 * apothem * apothem - 1, step_s = 2 * apothem * half, c = 1, s = 0;
    for (int i = 0; i < n; i++) {
        double across = kx * c + ky * s, along = (ky * c - kx * s) * half, turned = c;
        double size = 2 * half * across / square *
                      (fabs(along) < 1e-9 ? 1 : steady_sin(along) / along);
        f[0] += size * steady_sin(across * apothem);
        f[1] += size * steady_cos(across * apothem);
        c = c * step_c - s * step_s, s = s * step_c + turned * step_s;
    }
    return f[0] * f[0] + f[1] * f[1];
}

static bool star_opening(pupil *to, const double *p) {
    to->blades = (int)p[1];
    to->curvature = p[2];
    return p[2] > 0;
}

/* The square of the transform is the same on both sides of the centre, so an odd number of edges
 * makes twice as many spikes. */
static int star_mirrors(const double *p) {
    int n = (int)p[1];
    return n % 2 ? 2 * n : n;
}

static bool aperture_opening(pupil *to, const double *p) {
    to->blades = p[1] < 3 ? 0 : (int)p[1];
    to->curvature = p[2];
    to->uneven = p[4];
    to->obstruction = p[5];
    to->vanes = (int)p[6];
    to->vane_width = p[7];
    to->dust = (int)p[8];
    to->scratches = (int)p[9];
    to->fibres = (int)p[10];
    to->lashes = (int)p[11];
    to->smudges = (int)p[12];
    to->seed = (uint32_t)p[13];
    const double away = (p[15] - p[3]) * STEADY_PI / 180; /* in the opening, which is turned */
    to->toward_x = steady_cos(away), to->toward_y = steady_sin(away);
    to->clip = p[14], to->coma = p[16], to->astigmatism = p[17], to->focus = p[18];
    return true;
}

#define PARAMETERS(...) .parameter = {__VA_ARGS__}
#define ALWAYS \
    { 0, -1 }
#define CORE \
    { "core", 0.35, 0.05, 1000, "deviation of the light that stays, in pixels", MODEL_LENGTH }

const model MODELS[] = {
    {"gaussian", gaussian, MODEL_GREY, "A bell: soft focus, or a lens's residual blur.",
     PARAMETERS({"sigma", 3, 0.1, 2000, "standard deviation, in pixels", MODEL_LENGTH}),
     .smooth = ALWAYS},
    {"moffat", moffat, MODEL_GREY,
     "A core with a power-law tail, as scattering makes it: (1 + (r / core)^2)^-slope.",
     PARAMETERS({"core", 2, 0.05, 1000, "radius of the core, in pixels", MODEL_LENGTH},
                {"slope", 1.5, 1.01, 20,
                 "the tail falls as the distance to the power of minus twice this; 1.5 is a veil "
                 "of dust",
                 MODEL_NUMBER}),
     .smooth = ALWAYS},
    {"disc", disc, MODEL_GREY, "A flat disc: a round aperture out of focus.",
     PARAMETERS({"radius", 16, 0.5, 4000, "in pixels", MODEL_LENGTH},
                {"edge", 1, 0.01, 1000, "its width, in pixels", MODEL_LENGTH})},
    {"ring", ring, MODEL_GREY, "A ring: mist, frost.",
     PARAMETERS({"radius", 40, 0, 4000, "in pixels", MODEL_LENGTH},
                {"width", 4, 0.1, 1000, "deviation, in pixels", MODEL_LENGTH}),
     .smooth = {1, 6}},
    {"film", film, MODEL_TINTED,
     "Halation in film: a red-orange ring of light that the base throws back.",
     PARAMETERS(
         {"radius", 110, 0, 1e5, "of the ring, in micrometres of film", MODEL_FILM},
         {"fall", 80, 0.1, 1e5, "light falls to 1/e in this distance, in micrometres", MODEL_FILM},
         {"red", 0.12, 0, 1, "share of red light that is thrown back", MODEL_NUMBER},
         {"green", 0.03, 0, 1, "of green", MODEL_NUMBER},
         {"blue", 0.003, 0, 1, "of blue", MODEL_NUMBER}, CORE),
     .smooth = {1, 3}, .prepare = prepare_film},
    {"streak", streak, MODEL_GREY,
     "A star filter: lines through every light, from grooves in glass.",
     PARAMETERS(
         {"lines", 2, 1, 16, "through the centre; each makes two points", MODEL_WHOLE},
         {"part", 0.2, 0, 1, "of the light that the lines get", MODEL_NUMBER},
         {"length", 20, 0.1, 4000, "where a line begins to fall off, in pixels", MODEL_LENGTH},
         {"slope", 2, 1.05, 20, "it falls as the distance to the power of minus this",
          MODEL_NUMBER},
         {"width", 0.5, 0.1, 1000, "deviation across a line, in pixels", MODEL_LENGTH}, CORE,
         {"turn", 45, -360, 360, "of the lines, in degrees", MODEL_NUMBER},
         {"grow", 0, 0, 0.2, "of the width with the distance", MODEL_NUMBER},
         {"uneven", 0, 0, 1, "how much the points differ in light", MODEL_NUMBER}),
     .mirrors = streak_mirrors, .lines = streak_lines, .smooth = {4, 1.2}},
    {"grating", NULL, MODEL_CHANNELLED,
     "A star filter's rays in colour: fine grooves draw each lamp again and again along a line.",
     PARAMETERS(
         {"lines", 2, 1, 16, "through the centre; each makes two points", MODEL_WHOLE},
         {"length", 20, 0.1, 4000, "where a line begins to fall off, in pixels", MODEL_LENGTH},
         {"slope", 2, 1.05, 20, "it falls as the distance to the power of minus this",
          MODEL_NUMBER},
         {"width", 0.7, 0.1, 1000, "deviation across a line, in pixels", MODEL_LENGTH},
         {"turn", 45, -360, 360, "of the lines, in degrees", MODEL_NUMBER},
         {"grow", 0, 0, 0.2, "of the width with the distance", MODEL_NUMBER},
         {"uneven", 0, 0, 1, "how much the points differ in light", MODEL_NUMBER},
         {"spacing", 8, 0.5, 4000, "from one image of a lamp to the next, in green, in pixels",
          MODEL_LENGTH},
         {"blur", 1, 0.1, 1000, "deviation of each image along the line, in pixels", MODEL_LENGTH}),
     .mirrors = streak_mirrors, .lines = grating_lines},
    {"line", blue_core, MODEL_TINTED,
     "The blue line that the cylinders of an anamorphic lens draw through every light.",
     PARAMETERS(
         {"length", 60, 0.1, 4000, "where the line begins to fall off, in pixels", MODEL_LENGTH},
         {"slope", 2, 1.05, 20, "it falls as the distance to the power of minus this",
          MODEL_NUMBER},
         {"width", 0.6, 0.1, 1000, "deviation across the line, in pixels", MODEL_LENGTH},
         {"red", 0.02, 0, 1, "share of red light that the line gets", MODEL_NUMBER},
         {"green", 0.06, 0, 1, "of green", MODEL_NUMBER},
         {"blue", 0.18, 0, 1, "of blue", MODEL_NUMBER}, CORE,
         {"turn", 0, -360, 360, "of the line, in degrees", MODEL_NUMBER},
         {"grow", 0, 0, 0.2, "of the width with the distance", MODEL_NUMBER}),
     .mirrors = line_mirrors, .lines = blue_lines, .smooth = {2, 1.2}},
    {"spencer", spencer, MODEL_COLORED,
     "Glare in the human eye, the four terms of Spencer et al.; dark-adapted with a coloured ring.",
     PARAMETERS({"pixel", 0.02, 1e-4, 1, "degrees of view that a pixel covers", MODEL_VIEW},
                {"adaptation", 0, 0, 2, "0 daylight, 1 dusk, 2 night", MODEL_NUMBER})},
    {"cie", cie, MODEL_GREY, "Glare in the human eye, the CIE's total glare function.",
     PARAMETERS(
         {"pixel", 0.02, 1e-4, 1, "degrees of view that a pixel covers", MODEL_VIEW},
         {"age", 35, 1, 110, "of the observer, in years", MODEL_NUMBER},
         {"pigment", 0.5, 0, 1.2, "0 dark eyes, 0.5 brown, 1 blue, 1.2 very light", MODEL_NUMBER}),
     .smooth = ALWAYS},
    {"airy", airy, MODEL_DIFFRACTS,
     "Diffraction at a round aperture, in colour; with a round obstruction, a mirror telescope.",
     PARAMETERS(
         {"radius", 3, 0.3, 1000, "of the first dark ring in green light, in pixels", MODEL_RING},
         {"obstruction", 0, 0, 0.95,
          "radius of the disc that covers the middle, in radii of the aperture", MODEL_NUMBER})},
    {"star", star, MODEL_DIFFRACTS,
     "Diffraction at an aperture of blades, in colour: a spike from each edge to both sides.",
     PARAMETERS({"radius", 1.5, 0.3, 1000,
                 "of the first dark ring if the aperture were round, in pixels", MODEL_RING},
                {"blades", 6, 3, 32, "edges of the aperture", MODEL_WHOLE},
                {"round", 0, 0, 1, "curvature of the blades: 0 straight, 1 a round aperture",
                 MODEL_NUMBER},
                {"turn", 10, -360, 360, "of the spikes, in degrees", MODEL_NUMBER}),
     .mirrors = star_mirrors, .opening = star_opening},
    {"aperture", NULL, MODEL_DIFFRACTS,
     "Diffraction at any opening, in colour: an iris, a telescope, dirty glass, an image.",
     PARAMETERS(
         {"radius", 1.5, 0.3, 1000, "of the first dark ring if the opening were round, in pixels",
          MODEL_RING},
         {"blades", 0, 0, 32, "edges of the opening; 0 is round", MODEL_WHOLE},
         {"round", 0, 0, 1, "curvature of the blades: 0 straight, 1 a round opening", MODEL_NUMBER},
         {"turn", 10, -360, 360, "of the pattern, in degrees; 0 for an image", MODEL_NUMBER},
         {"uneven", 0, 0, 0.1, "how far blades stand off their places, in radii", MODEL_NUMBER},
         {"obstruction", 0, 0, 0.95, "radius of the disc that covers the middle", MODEL_NUMBER},
         {"vanes", 0, 0, 8, "arms that hold it", MODEL_WHOLE},
         {"vane", 0.02, 0.001, 0.5, "width of an arm", MODEL_NUMBER},
         {"dust", 0, 0, 2000, "specks on the glass", MODEL_WHOLE},
         {"scratches", 0, 0, 200, "on the glass", MODEL_WHOLE},
         {"fibres", 0, 0, 50, "on the glass", MODEL_WHOLE},
         {"lashes", 0, 0, 50, "of an eye, from above", MODEL_WHOLE},
         {"smudges", 0, 0, 20, "of grease, wiped", MODEL_WHOLE},
         {"seed", 1, 0, 1e9, "decides where they are", MODEL_WHOLE},
         {"clip", 0, 0, 1.8, "how far off the lens's rim stands, which clips the opening, in radii",
          MODEL_NUMBER},
         {"toward", 0, -360, 360,
          "where it stands, and coma and astigmatism point, in degrees; 90 is below", MODEL_NUMBER},
         {"coma", 0, -10, 10, "a tail, in waves of 550 nm at the opening's edge", MODEL_NUMBER},
         {"astigmatism", 0, -10, 10, "a line, in waves", MODEL_NUMBER},
         {"focus", 0, -10, 10, "how far off it is, in waves", MODEL_NUMBER}),
     .opening = aperture_opening},
};
const int MODEL_COUNT = COUNT(MODELS);

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
