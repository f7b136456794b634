/* make_psf.c - makes testdata/star.exr and testdata/kernel.exr: make_psf star|small OUT.exr
 *
 * The light of a point behind a hexagonal aperture with three thin vanes across it, as a lens or
 * a telescope spreads it, with a veil as of fine dust, and `small` with a faint ring:
 *
 *     fringes(k)  =  |transform of the aperture|^2        in closed form; k ~ radius / wavelength
 *     point(r)    =  sum over wavelengths w of  colour(w) * fringes(r / w)
 *
 * A change of wavelength stretches the pattern. On a grid of log(radius) a stretch is a shift, so
 * the sum over all wavelengths is a convolution along the radius with a row of 120 colours. The
 * pattern is the same after a turn by 60 degrees and in the mirror: a twelfth of the circle will
 * do. The taps are means over SUB * SUB samples of each pixel.
 *
 * The centre is exactly at pixel (size / 2, size / 2). No tap is negative. Every channel sums to
 * 1, so white stays white. The taps fade out before the border, so that the kernel's square does
 * not show. `small` also has a ghost on one side, by which its orientation can be seen. */
#include "base/mem.h"
#include "base/par.h"
#include "base/steady.h"
#include "image/format.h"
#include "kernel/make/model.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    const char *name, *about; /* about: the file says this of itself */
    int size;
    double turn; /* of the star, in radians */
    double fine; /* radians per pixel at 550 nm between the aperture's middle and its corners */
    double vane; /* width, where the corners lie at 1 */
    double veil, veil_core;           /* share of the light; where it begins to fall */
    double ring, ring_at, ring_width; /* share; radius and width in pixels at 550 nm */
    double ghost, ghost_x, ghost_y, ghost_radius;
} recipe;

static const recipe RECIPES[] = {
    {"star", "Star: six spikes with colours and a long veil", 256, 0.14, 3.2, 0.030, 0.12, 1.6, 0,
     62, 6, 0, 0, 0, 0},
    {"small", "made by testdata/make_psf.c of fftbloom", 64, 0.14, 3.2, 0.110, 0.10, 0.8, 0.015, 16,
     2, 0.04, 13, -8, 4},
};

enum { CHANNELS = 3, SUB = 8, DIRECTIONS = 480, AVERAGE = 4 };
static const double NEAREST = 0.02; /* pixels: the innermost radius of the grid */
static const double STEP = 0.005;   /* of log(radius) */
static const double VIOLET = 390, MIDDLE = 550, RED = 710; /* nanometres */
#define TAN_30 0.57735026918962576
#define COS_30 0.86602540378443865

/* --- the pattern of one wavelength --------------------------------------------------------- */

static double sinc(double x) {
    return x * x < 1e-12 ? 1 : steady_sin(x) / x;
}

/* The normals of three of the hexagon's edges; the vanes run along these edges, from corner to
 * corner, so that they feed the same six spikes. */
static const double NORMAL[3][2] = {{COS_30, 0.5}, {0, 1}, {-COS_30, 0.5}};

/* The hexagon by Green's theorem, a sum over its edges of which opposite ones give a sine; less
 * three bars. */
static double aperture(const recipe *r, double kx, double ky) {
    double k2 = kx * kx + ky * ky, edges = 0, vanes = 0;
    for (int i = 0; i < 3; i++) {
        double across = kx * NORMAL[i][0] + ky * NORMAL[i][1];
        double along = ky * NORMAL[i][0] - kx * NORMAL[i][1];
        edges += 2 * across * steady_sin(across * COS_30) * sinc(along / 2);
        vanes += 2 * r->vane * sinc(along) * sinc(across * r->vane / 2);
    }
    return (k2 < 1e-8 ? 3 * COS_30 : edges / k2) - vanes;
}

/* Light per square pixel at a point of the sector; over the plane, 1 but for what the vanes take.
 */
static double fringes(const recipe *r, double radius, double cosine, double sine) {
    double k = r->fine * radius, a = aperture(r, k * cosine, k * sine);
    double whole = 4 * STEADY_PI * STEADY_PI * 3 * COS_30 / (r->fine * r->fine);
    double u = radius / r->veil_core, off = (radius - r->ring_at) / r->ring_width;
    /* The veil is (1 + u^2)^(-5/4), whose integral is 4 pi core^2. */
    double fall = sqrt(sqrt(1 + u * u));
    double veil = 1 / (4 * STEADY_PI * r->veil_core * r->veil_core * (1 + u * u) * fall);
    double ring = steady_exp(-0.5 * off * off) /
                  (2 * STEADY_PI * r->ring_at * r->ring_width * sqrt(2 * STEADY_PI));
    return (1 - r->veil - r->ring) * a * a / whole + r->veil * veil + r->ring * ring;
}

/* --- all wavelengths: a grid of log(radius) and direction ---------------------------------- */

typedef struct {
    const recipe *r;
    int radii, before, after; /* shifts from -before (red) to +after (violet) */
    double (*tint)[CHANNELS]; /* for each shift */
    double (*grid)[CHANNELS]; /* [direction][radius] */
} star;

/* Directions are even in their tangent, from 0 to that of 30 degrees. */
static bool fill_direction(void *ctx, size_t d, int worker, err *e) {
    (void)worker;
    star *s = ctx;
    int shifts = s->before + s->after + 1, count = s->radii + shifts;
    double *plain = mem_new((size_t)count, sizeof *plain, "one direction", e);
    if (!plain) return false;
    double tangent = TAN_30 * (double)d / (DIRECTIONS - 1);
    double cosine = 1 / sqrt(1 + tangent * tangent), sine = tangent * cosine;
    for (int i = 0; i < count; i++)
        for (int f = 0; f < AVERAGE; f++) {
            double step = i - s->before + (f + 0.5) / AVERAGE - 0.5;
            plain[i] += fringes(s->r, NEAREST * steady_exp(step * STEP), cosine, sine) / AVERAGE;
        }
    for (int i = 0; i < s->radii; i++)
        for (int t = 0; t < shifts; t++)
            for (int c = 0; c < CHANNELS; c++)
                s->grid[d * (size_t)s->radii + (size_t)i][c] += s->tint[t][c] * plain[i + t];
    mem_free(plain);
    return true;
}

/* Fills in the observer's response in Rec.709. Pure colours lie outside its primaries, so some
 * values are below zero. */
static void lamp_rec709(double w, double rgb[3]) {
    double v[3];
    lamp_xyz(w, steady_exp, v);
    rgb[0] = 3.2404542 * v[0] - 1.5371385 * v[1] - 0.4985314 * v[2];
    rgb[1] = -0.9692660 * v[0] + 1.8760108 * v[1] + 0.0415560 * v[2];
    rgb[2] = 0.0556434 * v[0] - 0.2040259 * v[1] + 1.0572252 * v[2];
}

static bool make_star(star *s, const recipe *r, par *threads, err *e) {
    s->r = r;
    s->radii = (int)(steady_log(r->size / NEAREST) / STEP) + 2;
    s->before = (int)(steady_log(RED / MIDDLE) / STEP);
    s->after = (int)(steady_log(MIDDLE / VIOLET) / STEP);
    size_t shifts = (size_t)(s->before + s->after + 1);
    s->tint = mem_new(shifts, sizeof *s->tint, "colours", e);
    s->grid = mem_new((size_t)s->radii * DIRECTIONS, sizeof *s->grid, "the grid", e);
    if (!s->tint || !s->grid) return false;
    for (size_t t = 0; t < shifts; t++) {
        /* A pattern that is wider by a factor is fainter by its square; steps of the logarithm
         * are wavelength * STEP nanometres long. */
        double wavelength = MIDDLE * steady_exp(-((double)t - s->before) * STEP);
        lamp_rec709(wavelength, s->tint[t]);
        for (int c = 0; c < CHANNELS; c++) s->tint[t][c] *= MIDDLE / wavelength;
    }
    return par_for(threads, DIRECTIONS, fill_direction, s, e);
}

/* The light at a point, taken into the sector by mirrors at 0, 90, 30 and again 0 degrees. */
static void look(const star *s, double x, double y, double rgb[CHANNELS]) {
    double c = steady_cos(s->r->turn), n = steady_sin(s->r->turn);
    double u = fabs(c * x + n * y), w = fabs(c * y - n * x);
    for (int turn = 0; turn < 2; turn++) {
        double beyond = w * COS_30 - u * 0.5; /* over the line at 30 degrees */
        if (beyond <= 0) break;
        u += 2 * beyond * 0.5, w -= 2 * beyond * COS_30;
        w = fabs(w);
    }
    double radius = sqrt(u * u + w * w);
    double at = radius > NEAREST ? steady_log(radius / NEAREST) / STEP : 0;
    double direction = u > 0 ? w / u / TAN_30 * (DIRECTIONS - 1) : 0;
    int i = (int)at, d = (int)direction;
    d = d > DIRECTIONS - 2 ? DIRECTIONS - 2 : d;
    double fi = at - i, fd = direction - d;
    const double(*a)[CHANNELS] = s->grid + (size_t)d * (size_t)s->radii + i;
    const double(*b)[CHANNELS] = a + s->radii;
    for (int k = 0; k < CHANNELS; k++)
        rgb[k] += (1 - fd) * ((1 - fi) * a[0][k] + fi * a[1][k]) +
                  fd * ((1 - fi) * b[0][k] + fi * b[1][k]);
}

/* --- taps ---------------------------------------------------------------------------------- */

typedef struct {
    const star *s;
    double *tap[CHANNELS];
} taps;

static bool fill_row(void *ctx, size_t y, int worker, err *e) {
    (void)worker, (void)e;
    const taps *t = ctx;
    const recipe *r = t->s->r;
    for (int x = 0; x < r->size; x++) {
        double rgb[CHANNELS] = {0}, px = x - r->size / 2, py = (double)y - r->size / 2;
        for (int i = 0; i < SUB * SUB; i++)
            look(t->s, px + (i % SUB + 0.5) / SUB - 0.5, py + (i / SUB + 0.5) / SUB - 0.5, rgb);
        double fade = 1 - steady_ramp(0.30 * r->size, 0.495 * r->size, sqrt(px * px + py * py));
        for (int c = 0; c < CHANNELS; c++)
            t->tap[c][y * (size_t)r->size + (size_t)x] = rgb[c] > 0 ? rgb[c] * fade : 0;
    }
    return true;
}

/* Sums added in one order, whatever the number of threads. */
static double total(const double *tap, int size) {
    double sum = 0;
    for (int i = 0; i < size * size; i++) sum += tap[i];
    return sum;
}

static void add_ghost(const recipe *r, double *tap, double share) {
    double area = STEADY_PI * r->ghost_radius * r->ghost_radius;
    for (int i = 0; i < r->size * r->size; i++) {
        double x = i % r->size - r->size / 2 - r->ghost_x;
        double y = i / r->size - r->size / 2 - r->ghost_y;
        double away = sqrt(x * x + y * y);
        tap[i] += share / area *
                  (1 - steady_ramp(r->ghost_radius - 0.7, r->ghost_radius + 0.7, away));
    }
}

static image *to_image(const taps *t, err *e) {
    static const char *const NAMES[CHANNELS] = {"R", "G", "B"};
    const recipe *r = t->s->r;
    image_part part = {
        .data = {0, 0, r->size - 1, r->size - 1}, .aspect = 1, .packing = COMPRESSION_ZIP};
    image_header head = {.format = "exr", .part = &part, .parts = 1};
    part.display = part.data;
    uint32_t about = (uint32_t)strlen(r->about);
    bool ok = image_set_attr(&part, "comments", "string", r->about, about, e);
    for (int c = 0; c < CHANNELS && ok; c++)
        ok = image_add_channel(&part, NAMES[c], PIXEL_FLOAT, e);
    image *img = ok ? image_new(&head, e) : NULL;
    for (int c = 0; c < CHANNELS && img; c++) {
        float *to = img->plane[0][image_find_channel(&img->head.part[0], NAMES[c])];
        double scale = 1 / total(t->tap[c], r->size);
        for (int i = 0; i < r->size * r->size; i++) to[i] = (float)(scale * t->tap[c][i]);
    }
    return img;
}

static bool make(const recipe *r, const char *path, par *threads, err *e) {
    star s = {0};
    taps t = {.s = &s};
    bool ok = make_star(&s, r, threads, e);
    for (int c = 0; c < CHANNELS && ok; c++)
        ok = (t.tap[c] = mem_new((size_t)(r->size * r->size), sizeof(double), "taps", e));
    ok = ok && par_for(threads, (size_t)r->size, fill_row, &t, e);
    for (int c = 0; c < CHANNELS && ok && r->ghost > 0; c++)
        add_ghost(r, t.tap[c], r->ghost * total(t.tap[c], r->size));
    image *img = ok ? to_image(&t, e) : NULL;
    ok = img && image_save(path, img, threads, e);
    image_free(&img);
    for (int c = 0; c < CHANNELS; c++) mem_free(t.tap[c]);
    mem_free(s.tint);
    mem_free(s.grid);
    return ok;
}

int main(int argc, char **argv) {
    err e = {0};
    const recipe *r = NULL;
    for (size_t i = 0; i < sizeof RECIPES / sizeof RECIPES[0]; i++)
        if (argc == 3 && strcmp(argv[1], RECIPES[i].name) == 0) r = &RECIPES[i];
    if (!r) {
        fprintf(stderr, "make_psf star|small OUT.exr\n");
        return ERR_USAGE;
    }
    par *threads = par_open(0, &e);
    if (threads) make(r, argv[2], threads, &e);
    par_close(&threads);
    if (e.code) fprintf(stderr, "make_psf: %s\n", e.msg);
    return (int)e.code;
}
