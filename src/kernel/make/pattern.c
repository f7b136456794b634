/* A transform at places that lie on no grid, by the method of Barnett, Magland and af Klinteberg
 * (2019): divide the opening by the transform of a short bump, transform it on a grid twice as fine
 * as its width needs, and interpolate with the bump. */
#include "kernel/make/pattern.h"

#include "base/mem.h"
#include "base/number.h"
#include "base/steady.h"
#include "math/fft.h"

#include <math.h>
#include <string.h>

enum {
    SMALLEST = 1024, /* samples across the opening */
    LARGE = 2048,    /* beyond which memory counts: 4096 take a gigabyte */
    LARGEST = 4096,
    PAD = 2,
    WIDTH = 8,    /* of the bump, in steps of the grid */
    TABLE = 2048, /* entries of its table per step */
};

struct pattern {
    uint32_t side; /* of the grid */
    double reach;
    double *grid; /* [kx][ky] complex, kx = 0 .. side / 2 */
    pupil of;
    double bump[WIDTH * TABLE + 2];
};

/* --- the bump ------------------------------------------------------------------------------- */

/* "Exponential of a semicircle", at a distance in steps. */
static double bump(double at) {
    double t = 2 * at / WIDTH;
    return t * t >= 1 ? 0 : steady_exp(2.30 * WIDTH * (sqrt(1 - t * t) - 1));
}

/* Its transform at a frequency in turns per step. */
static double bump_transform(double turns) {
    enum { STEPS = 400 };
    double sum = 0;
    for (int i = 0; i < STEPS; i++) {
        double at = (i + 0.5) / STEPS * WIDTH / 2;
        sum += 2 * bump(at) * steady_cos(2 * STEADY_PI * turns * at);
    }
    return sum * WIDTH / 2 / STEPS;
}

/* --- the transform -------------------------------------------------------------------------- */

/* Sample i of the opening is half a step off the middle; the phase that this gives to the whole
 * transform does not show in its magnitude. */
typedef struct {
    const double *raster, *over; /* the opening; 1 / the bump's transform by sample */
    uint32_t samples, side;
} filler;

static void fill(const void *ctx, uint32_t row, double *to) {
    const filler *f = ctx;
    for (uint32_t i = 0; i < f->samples; i++) {
        uint32_t at = (i + f->side - f->samples / 2) % f->side;
        to[at] = f->raster[(size_t)row * f->samples + i] * f->over[row] * f->over[i];
    }
}

static bool transform(pattern *p, uint32_t across, par *threads, err *e) {
    uint32_t samples = across + 2 * PUPIL_MARGIN;
    double *raster = mem_raw((size_t)samples * samples, sizeof *raster, "the opening", e);
    double *over = mem_raw(samples, sizeof *over, "the opening", e);
    bool ok = raster && over && pupil_draw(raster, across, &p->of, threads, e);
    /* The transform of the bump is taken where the samples count from: the grid's origin, which
     * lies at sample samples / 2, not in the middle between two. */
    for (uint32_t i = 0; ok && i < samples; i++)
        over[i] = 1 / bump_transform(((double)i - samples / 2) / p->side);
    filler f = {raster, over, samples, p->side};
    const fft_plane plane = {p->side, p->side, samples, p->side - samples / 2, fill, &f, true};
    p->grid =
        ok ? mem_raw((p->side / 2 + 1) * (size_t)p->side, 2 * sizeof(double), "the pattern", e)
           : NULL;
    ok = p->grid && fft_half_spectrum(p->grid, &plane, threads, e);
    mem_free(raster);
    mem_free(over);
    return ok;
}

/* The grid's own copies of the pattern are 2 pi / (2 / samples) away. At a quarter of that, and for
 * large grids at a third, the blur of the edges has made them faint. */
pattern *pattern_new(const pupil *of, double reach, par *threads, err *e) {
    pattern *p = mem_new(1, sizeof *p, "the pattern", e);
    if (!p) return NULL;
    uint32_t samples = SMALLEST;
    while (samples < LARGEST && STEADY_PI / (samples < LARGE ? 4 : 3) * samples < reach)
        samples *= 2;
    p->of = *of;
    p->side = PAD * samples;
    /* The grid ends at pi / 2 * samples; the last octave is used at most to 0.8 of that. */
    p->reach = fmin(fmax(reach, 64), 0.4 * STEADY_PI * samples);
    for (size_t i = 0; i < sizeof p->bump / sizeof p->bump[0]; i++)
        p->bump[i] = bump((double)i / TABLE - WIDTH / 2);
    if (!transform(p, samples, threads, e)) pattern_free(&p);
    return p;
}

void pattern_free(pattern **p) {
    if (!*p) return;
    mem_free((*p)->grid);
    mem_free(*p);
    *p = NULL;
}

/* --- one place ------------------------------------------------------------------------------ */

/* Fills in the bump's values at the steps around a place, and returns the first of these. */
static int around(const pattern *p, double at, double weight[WIDTH]) {
    int first = (int)floor(at) - WIDTH / 2 + 1;
    double t = (first - at + WIDTH / 2) * TABLE;
    int i = (int)t;
    double f = t - i;
    for (int k = 0; k < WIDTH; k++, i += TABLE)
        weight[k] = p->bump[i] + f * (p->bump[i + 1] - p->bump[i]);
    return first;
}

double pattern_at(const pattern *p, double kx, double ky) {
    double k = sqrt(kx * kx + ky * ky), fold = 1, wx[WIDTH], wy[WIDTH], sum[2] = {0, 0};
    for (; k * fold > p->reach; fold /= 2) {
    }
    /* Of a real opening F(-k) is the conjugate of F(k). */
    double side = kx < 0 ? -fold : fold, steps = PAD / STEADY_PI;
    int x = around(p, kx * side * steps, wx), y = around(p, ky * side * steps, wy);
    int n = (int)p->side;
    for (int i = 0; i < WIDTH; i++) {
        bool mirrored = x + i < 0;
        const double *row = p->grid + (size_t)(mirrored ? -(x + i) : x + i) * 2 * p->side;
        double re = 0, im = 0;
        for (int j = 0; j < WIDTH; j++) {
            int at = (mirrored ? -(y + j) : y + j) & (n - 1);
            re += wy[j] * row[2 * at], im += wy[j] * row[2 * at + 1];
        }
        sum[0] += wx[i] * re, sum[1] += wx[i] * (mirrored ? -im : im);
    }
    double samples = p->side / PAD, whole = STEADY_PI / 4 * samples * samples;
    double blur = pupil_blur(&p->of, k * fold / (STEADY_PI * samples)) * whole;
    return (sum[0] * sum[0] + sum[1] * sum[1]) / (blur * blur) * fold * fold * fold;
}
