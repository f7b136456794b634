/* Models without colour are evaluated where they are needed. The others first become a table over
 * log(distance) and direction, which holds the sum over all wavelengths. A wavelength stretches a
 * diffraction pattern, and on a grid of log(distance) a stretch is a shift, so every step of the
 * grid can have its wavelength. So fringes far out blend as they do in white light; a sum over a
 * few wavelengths would leave false rings. */
#include "kernel/model.h"

#include "base/mem.h"
#include "base/number.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double NEAREST = 0.01; /* pixels: the innermost distance of the table */
static const double STEP = 0.005;   /* of log(distance), and of log(wavelength) */
static const double VIOLET = 390, RED = 710;
enum { AVERAGE = 4, FINE = 48, COARSE = 8, NEAR = 2 }; /* samples per step, and per pixel's side */

/* --- requests ------------------------------------------------------------------------------ */

model_request model_defaults(const model *m) {
    model_request r = {.of = m, .w = 256, .h = 256, .fade = 1};
    for (int i = 0; i < model_parameters(m); i++) r.value[i] = m->parameter[i].preset;
    return r;
}

static bool no_such(const model *m, const char *assignment, err *e) {
    const char *names[MODEL_PARAMETERS];
    char name[64];
    text known = {0};
    int count = model_parameters(m);
    for (int i = 0; i < count; i++) {
        names[i] = m->parameter[i].name;
        text_add(&known, "%s%s", i ? ", " : "", names[i]);
    }
    snprintf(name, sizeof name, "%.*s", (int)strcspn(assignment, "="), assignment);
    int near = text_nearest(name, names, count);
    if (!strchr(assignment, '='))
        err_set(e, ERR_USAGE, "--param '%s' has no value; write NAME=VALUE, for example %s=%g",
                assignment, names[0], m->parameter[0].preset);
    else if (near >= 0)
        err_set(e, ERR_USAGE, "model %s has no parameter '%s'; did you mean '%s'?", m->name, name,
                names[near]);
    else
        err_set(e, ERR_USAGE, "model %s has no parameter '%s'; it has %s", m->name, name, known.s);
    text_free(&known);
    return false;
}

bool model_set(model_request *r, const char *assignment, err *e) {
    size_t n = strcspn(assignment, "=");
    int i = 0, count = model_parameters(r->of);
    const model_parameter *p = r->of->parameter;
    while (i < count && (strlen(p[i].name) != n || strncmp(p[i].name, assignment, n) != 0)) i++;
    if (i == count || !assignment[n]) return no_such(r->of, assignment, e);
    char *end;
    double v = strtod(assignment + n + 1, &end);
    if (*end || end == assignment + n + 1 || !(v >= p[i].min && v <= p[i].max) ||
        (p[i].whole && v != floor(v)))
        return err_set(e, ERR_USAGE, "%s of the model %s must be a %s from %g to %g, not '%s'",
                       p[i].name, r->of->name, p[i].whole ? "whole number" : "number", p[i].min,
                       p[i].max, assignment + n + 1);
    r->value[i] = v;
    return true;
}

/* --- the colour of a wavelength ------------------------------------------------------------ */

static double bell(double (*exponential)(double), double x, double middle, double below,
                   double above) {
    double t = (x - middle) / (x < middle ? below : above);
    return exponential(-0.5 * t * t);
}

void model_color(double w, double (*e)(double), double rgb[MODEL_CHANNELS]) {
    double x = 1.056 * bell(e, w, 599.8, 37.9, 31.0) + 0.362 * bell(e, w, 442.0, 16.0, 26.7) -
               0.065 * bell(e, w, 501.1, 20.4, 26.2);
    double y = 0.821 * bell(e, w, 568.8, 46.9, 40.5) + 0.286 * bell(e, w, 530.9, 16.3, 31.1);
    double z = 1.217 * bell(e, w, 437.0, 11.8, 36.0) + 0.681 * bell(e, w, 459.0, 26.0, 13.8);
    rgb[0] = 3.2404542 * x - 1.5371385 * y - 0.4985314 * z;
    rgb[1] = -0.9692660 * x + 1.8760108 * y + 0.0415560 * z;
    rgb[2] = 0.0556434 * x - 0.2040259 * y + 1.0572252 * z;
}

/* --- the table ------------------------------------------------------------------------------ */

typedef struct {
    const model_request *r;
    int mirrors;
    double turn; /* radians */
    size_t radii, directions;
    int before, after; /* wavelengths as steps from green: red below, violet above */
    double (*tint)[MODEL_CHANNELS];
    double (*grid)[MODEL_CHANNELS]; /* [direction][radius]; NULL: no table is needed */
    uint32_t channels;
    float **plane;
} maker;

static double at_step(double step) {
    return NEAREST * exp(step * STEP);
}

static double step_wavelength(int step) {
    return MODEL_GREEN * exp(-step * STEP);
}

/* Adds the patterns of all wavelengths. One that is wider by a factor is fainter by its square. */
static void diffract(const maker *m, double angle, double *plain, double (*to)[MODEL_CHANNELS]) {
    size_t shifts = (size_t)(m->before + m->after + 1);
    for (size_t i = 0; i < m->radii + shifts; i++) {
        plain[i] = 0;
        for (int f = 0; f < AVERAGE; f++) {
            double step = (double)i - m->before + (f + 0.5) / AVERAGE - 0.5;
            plain[i] += m->r->of->light(m->r->value, at_step(step), angle, MODEL_GREEN) / AVERAGE;
        }
    }
    for (size_t i = 0; i < m->radii; i++)
        for (size_t t = 0; t < shifts; t++)
            for (int c = 0; c < MODEL_CHANNELS; c++) to[i][c] += m->tint[t][c] * plain[i + t];
}

static bool fill_direction(void *ctx, size_t d, int worker, err *e) {
    (void)worker;
    maker *m = ctx;
    double angle = m->directions > 1 ? M_PI / m->mirrors * (double)d / (double)(m->directions - 1)
                                     : 0;
    double(*to)[MODEL_CHANNELS] = m->grid + d * m->radii;
    for (size_t i = 0; m->r->of->spectrum == MODEL_COLORED && i < m->radii; i++)
        for (int t = -m->before; t <= m->after; t++) {
            double light =
                m->r->of->light(m->r->value, at_step((double)i), angle, step_wavelength(t));
            for (int c = 0; c < MODEL_CHANNELS; c++) to[i][c] += m->tint[t + m->before][c] * light;
        }
    if (m->r->of->spectrum == MODEL_COLORED) return true;
    size_t count = m->radii + (size_t)(m->before + m->after + 1);
    double *plain = mem_raw(count, sizeof *plain, "one direction", e);
    if (plain) diffract(m, angle, plain, to);
    mem_free(plain);
    return plain != NULL;
}

static bool make_table(maker *m, par *threads, err *e) {
    double far = hypot(m->r->w, m->r->h) / 2 + 2;
    bool stretches = m->r->of->spectrum == MODEL_DIFFRACTS;
    m->radii = (size_t)(log(far / NEAREST) / STEP) + 3;
    /* Half a pixel apart at the far end. */
    m->directions = m->mirrors ? (size_t)(2 * far * M_PI / m->mirrors) + 64 : 1;
    m->before = (int)(log(RED / MODEL_GREEN) / STEP);
    m->after = (int)(log(MODEL_GREEN / VIOLET) / STEP);
    m->tint = mem_new((size_t)(m->before + m->after + 1), sizeof *m->tint, "colours", e);
    m->grid = mem_new(m->radii * m->directions, sizeof *m->grid, "the pattern", e);
    if (!m->tint || !m->grid) return false;
    for (int t = -m->before; t <= m->after; t++) {
        double *tint = m->tint[t + m->before], w = step_wavelength(t);
        model_color(w, exp, tint);
        /* Steps of the logarithm are wavelength * STEP nanometres long. */
        for (int c = 0; c < MODEL_CHANNELS; c++)
            tint[c] *= stretches ? MODEL_GREEN / w : w / MODEL_GREEN;
    }
    return par_for(threads, m->directions, fill_direction, m, e);
}

/* --- taps ----------------------------------------------------------------------------------- */

static void add_from_table(const maker *m, double r, double angle, double sum[MODEL_CHANNELS]) {
    double i = r > NEAREST ? log(r / NEAREST) / STEP : 0;
    double d = m->directions > 1 ? angle / (M_PI / m->mirrors) * (double)(m->directions - 1) : 0;
    size_t ri = (size_t)i, di = (size_t)d;
    if (ri > m->radii - 2) ri = m->radii - 2;
    if (m->directions > 1 && di > m->directions - 2) di = m->directions - 2;
    double fi = i - (double)ri, fd = d - (double)di;
    const double(*a)[MODEL_CHANNELS] = (const void *)(m->grid + di * m->radii + ri);
    const double(*b)[MODEL_CHANNELS] = m->directions > 1 ? a + m->radii : a;
    for (int c = 0; c < MODEL_CHANNELS; c++)
        sum[c] += (1 - fd) * ((1 - fi) * a[0][c] + fi * a[1][c]) +
                  fd * ((1 - fi) * b[0][c] + fi * b[1][c]);
}

/* Returns the direction of a place, folded into the first of the pattern's equal parts. */
static double folded(const maker *m, double x, double y) {
    if (!m->mirrors) return 0;
    double part = 2 * M_PI / m->mirrors, a = fmod(atan2(y, x) - m->turn, part);
    if (a < 0) a += part;
    return a > part / 2 ? part - a : a;
}

/* Sums up the mean over the pixel around (x, y), counted from the centre. */
static void mean_of(const maker *m, double x, double y, double sum[MODEL_CHANNELS]) {
    int n = fabs(x) <= NEAR && fabs(y) <= NEAR ? FINE : COARSE;
    for (int i = 0; i < n * n; i++) {
        double px = x + (i % n + 0.5) / n - 0.5, py = y + (i / n + 0.5) / n - 0.5;
        double r = sqrt(px * px + py * py);
        if (m->grid) {
            add_from_table(m, r, folded(m, px, py), sum);
        } else {
            sum[0] += m->r->of->light(m->r->value, r, folded(m, px, py), MODEL_GREEN);
        }
    }
    for (int c = 0; c < MODEL_CHANNELS; c++) sum[c] /= n * n;
}

/* Returns the factor of the fade; `at` is the distance as a share of the way to the border. */
static double fade_at(double fade, double at) {
    if (fade >= 1 || at <= fade) return 1;
    double t = (at - fade) / (1 - fade);
    return t >= 1 ? 0 : 1 - t * t * (3 - 2 * t);
}

static double border_of(uint32_t side) {
    return side > 2 ? (side - 1) / 2 : 1;
}

/* Colours that lie outside Rec.709 are clipped. */
static bool fill_row(void *ctx, size_t row, int worker, err *e) {
    (void)worker, (void)e;
    maker *m = ctx;
    double y = (double)row - m->r->h / 2;
    for (uint32_t i = 0; i < m->r->w; i++) {
        double x = (double)i - m->r->w / 2, sum[MODEL_CHANNELS] = {0};
        mean_of(m, x, y, sum);
        double fade =
            fade_at(m->r->fade, sqrt(x * x + y * y) / border_of(min_u32(m->r->w, m->r->h)));
        for (uint32_t c = 0; c < m->channels; c++)
            m->plane[c][row * m->r->w + i] = (float)(sum[c] > 0 ? sum[c] * fade : 0);
    }
    return true;
}

static bool normalize(float *plane, size_t n, err *e) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)plane[i];
    if (!(sum > 0) || !isfinite(sum))
        return err_set(e, ERR_CONFIG,
                       "no light falls on these taps: their sum is %g; make the kernel larger, or "
                       "the pattern smaller",
                       sum);
    for (size_t i = 0; i < n; i++) plane[i] = (float)((double)plane[i] / sum);
    return true;
}

/* Adds up the light of green by rings, each a hundredth wider than the one before, and over the
 * directions if the model depends on them. */
double model_kept(const model_request *r, double enough, uint32_t *side) {
    enum { RINGS = 1320, DIRECTIONS = 48 };
    const double first = NEAREST, last = MODEL_SIDE / 2, step = log(last / first) / RINGS;
    double light[RINGS], all = 0, kept = 0;
    int mirrors = r->of->mirrors ? r->of->mirrors(r->value) : 0;
    for (int i = 0; i < RINGS; i++) {
        double at = first * exp((i + 0.5) * step), sum = 0;
        int n = mirrors ? DIRECTIONS : 1;
        for (int d = 0; d < n; d++)
            sum += r->of->light(r->value, at, mirrors ? M_PI / mirrors * (d + 0.5) / n : 0,
                                MODEL_GREEN) /
                   n;
        all += light[i] = sum * at * at; /* of a ring of width at * step */
    }
    for (*side = min_u32(r->w, r->h); *side <= MODEL_SIDE; *side += *side / 8 + 1) {
        /* Without a fade the corners hold light, too: as a disc of the square's area. */
        double border = border_of(*side), now = 0, reach = r->fade < 1 ? 1 : 1.13;
        for (int i = 0; i < RINGS; i++) {
            double at = first * exp((i + 0.5) * step) / border;
            if (at < reach) now += light[i] * fade_at(r->fade, at);
        }
        if (*side == min_u32(r->w, r->h)) kept = all > 0 ? now / all : 1;
        if (now >= enough * all) return kept;
    }
    *side = 0;
    return kept;
}

bool model_make(float *plane[MODEL_CHANNELS], uint32_t *channels, const model_request *r,
                par *threads, err *e) {
    float *made[MODEL_CHANNELS] = {0};
    maker m = {.r = r, .plane = made};
    for (int i = 0; i < model_parameters(r->of); i++)
        if (strcmp(r->of->parameter[i].name, "turn") == 0) m.turn = r->value[i] * M_PI / 180;
    m.mirrors = r->of->mirrors ? r->of->mirrors(r->value) : 0;
    if (r->w < 1 || r->h < 1 || r->w > MODEL_SIDE || r->h > MODEL_SIDE)
        return err_set(e, ERR_USAGE, "a kernel of %u x %u taps: 1 to %d a side can be made", r->w,
                       r->h, MODEL_SIDE);
    m.channels = r->of->spectrum == MODEL_GREY ? 1 : MODEL_CHANNELS;
    size_t n = (size_t)r->w * r->h;
    bool ok = m.channels == 1 || make_table(&m, threads, e);
    for (uint32_t c = 0; ok && c < m.channels; c++)
        ok = (made[c] = mem_raw(n, sizeof(float), "taps", e)) != NULL;
    ok = ok && par_for(threads, r->h, fill_row, &m, e);
    for (uint32_t c = 0; ok && c < m.channels; c++) ok = normalize(made[c], n, e);
    mem_free(m.tint);
    mem_free(m.grid);
    for (int c = 0; c < MODEL_CHANNELS; c++) {
        if (ok)
            plane[c] = made[c];
        else
            mem_free(made[c]);
    }
    if (ok) *channels = m.channels;
    return ok;
}
