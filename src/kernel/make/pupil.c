#include "kernel/make/pupil.h"

#include "base/mem.h"
#include "base/steady.h"

typedef struct {
    double x, y;
} spot;

/* Returns how much of a half plane is covered at a distance from its edge, in samples: the step,
 * blurred by a triangle two samples wide. Inside is below zero. */
static double cover(double d) {
    if (d <= -1) return 1;
    if (d >= 1) return 0;
    return d < 0 ? 1 - (1 + d) * (1 + d) / 2 : (1 - d) * (1 - d) / 2;
}

/* The same of a strip, which may be thinner than a sample. */
static double cover_strip(double d, double half) {
    return cover(d - half) - cover(d + half);
}

/* The transform of a triangle is sinc squared. */
double pupil_blur(const pupil *p, double turns) {
    double x = STEADY_PI * turns, s = x < 1e-6 ? 1 : steady_sin(x) / x;
    return p->shape == PUPIL_MASK ? 1 : s * s;
}

double pupil_wave(const pupil *p, double x, double y, double *slope) {
    const double u = x * p->toward_x + y * p->toward_y, v = y * p->toward_x - x * p->toward_y,
                 square = u * u + v * v,
                 du = p->coma * (2 * u * u + square) + 2 * (p->astigmatism + p->focus) * u,
                 dv = 2 * (p->coma * u + p->focus) * v,
                 dx = du * p->toward_x - dv * p->toward_y - p->tilt_x,
                 dy = du * p->toward_y + dv * p->toward_x - p->tilt_y;
    *slope = sqrt(dx * dx + dy * dy);
    return p->coma * square * u + p->astigmatism * u * u + p->focus * square - p->tilt_x * x -
           p->tilt_y * y;
}

double pupil_waves(const pupil *p) {
    return fabs(p->coma) + fabs(p->astigmatism) + fabs(p->focus);
}

static double chance(uint64_t *state) {
    return (double)(random_next(state) >> 11) * 0x1p-53;
}

static double between(uint64_t *state, double low, double high) {
    return low + (high - low) * chance(state);
}

static spot in_disc(uint64_t *state) {
    double r = sqrt(chance(state)), a = between(state, 0, 2 * STEADY_PI);
    return (spot){r * steady_cos(a), r * steady_sin(a)};
}

/* A line that gets thinner towards its end, as links. */
enum { LINKS = 24 };
typedef struct {
    spot at[LINKS + 1];
    double width, taper; /* the width at its end is width * (1 - taper) */
    double stops;        /* share of the light that it takes */
    spot low, high;      /* a box around it */
} hair;

/* A patch of grease. Wiped, it has fine parallel ridges, which throw a streak across themselves. */
enum { RIDGES = 12, RIDGE_TABLE = 8192, SMUDGE_END = 9 };
typedef struct {
    spot at, along;
    double length, width, stops;
    double blocks[RIDGE_TABLE + 2]; /* what ridges stop, across the patch to three widths */
} smudge;

typedef struct {
    spot at;
    double radius, stops;
} speck;

typedef struct {
    speck *speck;
    hair *hair;
    smudge *smudge;
    int specks, hairs, smudges;
    double fall[RIDGE_TABLE + 2]; /* exp(-x), of a smudge from its middle to SMUDGE_END */
} dirt;

/* Most specks are small: radii are even in their logarithm. */
static speck make_speck(uint64_t *s) {
    spot at = in_disc(s);
    double radius = 0.004 * steady_exp(chance(s) * 2.2);
    return (speck){at, radius, between(s, 0.5, 1)};
}

/* A curve from `from` that starts in a direction and turns as it goes. */
static void bend(hair *h, spot from, double direction, double length, double turn, double more) {
    h->at[0] = h->low = h->high = from;
    for (int i = 0; i < LINKS; i++) {
        double t = (i + 0.5) / LINKS;
        double a = direction + turn * t + more * t * t;
        h->at[i + 1].x = h->at[i].x + length / LINKS * steady_cos(a);
        h->at[i + 1].y = h->at[i].y + length / LINKS * steady_sin(a);
        h->low.x = min_double(h->low.x, h->at[i + 1].x),
        h->low.y = min_double(h->low.y, h->at[i + 1].y);
        h->high.x = max_double(h->high.x, h->at[i + 1].x),
        h->high.y = max_double(h->high.y, h->at[i + 1].y);
    }
}

static hair make_scratch(uint64_t *s) {
    hair h = {.width = between(s, 0.002, 0.006), .taper = 0.7, .stops = between(s, 0.4, 0.9)};
    double direction = between(s, 0, 2 * STEADY_PI), length = between(s, 0.15, 0.9);
    spot from = in_disc(s);
    bend(&h, from, direction, length, between(s, -0.15, 0.15), 0);
    return h;
}

static hair make_fibre(uint64_t *s) {
    hair h = {.width = between(s, 0.005, 0.010), .stops = between(s, 0.7, 1)};
    double direction = between(s, 0, 2 * STEADY_PI), length = between(s, 0.4, 1.3);
    spot from = in_disc(s);
    double turn = between(s, -3, 3);
    bend(&h, from, direction, length, turn, between(s, -4, 4));
    return h;
}

/* Lashes hang into the opening from above, and spread to the sides. */
static hair make_lash(uint64_t *s, int i, int count) {
    double side = (i + between(s, 0.2, 0.8)) / count * 2 - 1;
    hair h = {.width = between(s, 0.018, 0.030), .taper = 0.9, .stops = 1};
    double reach = between(s, 0.35, 0.75), turn = between(s, 0.1, 0.5);
    bend(&h, (spot){side * 0.95, -1.02}, STEADY_PI / 2 - 0.6 * side, reach, side < 0 ? turn : -turn,
         0);
    return h;
}

static void make_smudge(smudge *m, uint64_t *s) {
    double a = between(s, -0.5, 0.5), r = between(s, 0, 0.6), b = between(s, 0, 2 * STEADY_PI);
    double wave[RIDGES], phase[RIDGES];
    m->at = (spot){r * steady_cos(b), r * steady_sin(b)};
    m->along = (spot){steady_cos(a), steady_sin(a)};
    m->length = between(s, 0.4, 0.9), m->width = between(s, 0.15, 0.4);
    m->stops = between(s, 0.3, 0.6);
    for (int i = 0; i < RIDGES; i++)
        wave[i] = 10 * steady_exp(2.6 * chance(s)), phase[i] = between(s, 0, 2 * STEADY_PI);
    for (int t = 0; t < RIDGE_TABLE + 2; t++) {
        double v = 3 * m->width * (2.0 * t / RIDGE_TABLE - 1), sum = 0;
        for (int i = 0; i < RIDGES; i++) sum += steady_sin(wave[i] * v + phase[i]) / RIDGES;
        m->blocks[t] = clamp_double(0.5 + 1.5 * sum, 0, 1);
    }
}

/* Each kind has numbers of its own, so that more dust does not move the scratches. */
static bool make_dirt(dirt *d, const pupil *p, err *e) {
    int hairs = p->scratches + p->fibres + p->lashes;
    d->speck = mem_raw((size_t)p->dust + 1, sizeof *d->speck, "dust", e);
    d->hair = mem_raw((size_t)hairs + 1, sizeof *d->hair, "hairs", e);
    d->smudge = mem_raw((size_t)p->smudges + 1, sizeof *d->smudge, "smudges", e);
    if (!d->speck || !d->hair || !d->smudge) return false;
    uint64_t state[5];
    for (int i = 0; i < 5; i++) state[i] = ((uint64_t)p->seed * 5 + (uint64_t)i) << 20;
    for (int i = 0; i < p->dust; i++) d->speck[d->specks++] = make_speck(&state[0]);
    for (int i = 0; i < p->scratches; i++) d->hair[d->hairs++] = make_scratch(&state[1]);
    for (int i = 0; i < p->fibres; i++) d->hair[d->hairs++] = make_fibre(&state[2]);
    for (int i = 0; i < p->lashes; i++) d->hair[d->hairs++] = make_lash(&state[3], i, p->lashes);
    for (int t = 0; p->smudges && t < RIDGE_TABLE + 2; t++)
        d->fall[t] = steady_exp(-(double)SMUDGE_END * t / RIDGE_TABLE);
    for (int i = 0; i < p->smudges; i++) make_smudge(&d->smudge[d->smudges++], &state[4]);
    return true;
}

struct pupil_drawing {
    const pupil *p;
    dirt dirt;
    uint32_t side;
    double fine;        /* samples per radius */
    double clear;       /* the radius of a disc that lies in the iris, squared */
    double reach, edge; /* of the blades' arcs: centre and radius */
    double blade_x[32], blade_y[32], vane_x[8], vane_y[8]; /* directions */
    double blade[32]; /* how much farther in a blade stands than the others */
};
typedef struct pupil_drawing drawing;

/* Blades open an iris as what discs of a larger radius share; straight ones are half planes. */
static double iris_distance(const drawing *d, double x, double y) {
    double away = -INFINITY;
    if (!d->p->blades) return sqrt(x * x + y * y) - 1;
    for (int i = 0; i < d->p->blades; i++) {
        double u = x * d->blade_x[i] + y * d->blade_y[i];
        double v = y * d->blade_x[i] - x * d->blade_y[i];
        double at = d->p->curvature > 0 ? sqrt((u - d->reach) * (u - d->reach) + v * v) - d->edge
                                        : u - d->edge;
        away = max_double(away, at + d->blade[i]);
    }
    return away;
}

/* Between samples the image's pixels are joined by lines; beyond its border it is dark. */
static double mask_at(const pupil *p, double x, double y) {
    double half = max_u32(p->mask_w, p->mask_h) / 2.0;
    double u = x * half + p->mask_w / 2.0 - 0.5, v = y * half + p->mask_h / 2.0 - 0.5;
    double fu = u - floor(u), fv = v - floor(v), sum = 0;
    for (int i = 0; i < 4; i++) {
        double px = floor(u) + i % 2, py = floor(v) + i / 2;
        if (px < 0 || py < 0 || px >= p->mask_w || py >= p->mask_h) continue;
        double weight = (i % 2 ? fu : 1 - fu) * (i / 2 ? fv : 1 - fv);
        sum += weight * (double)p->mask[(size_t)py * p->mask_w + (size_t)px];
    }
    return sum;
}

static double link_cover(const drawing *d, const hair *h, int i, double x, double y) {
    double ax = h->at[i].x, ay = h->at[i].y;
    double ux = h->at[i + 1].x - ax, uy = h->at[i + 1].y - ay;
    double t = ((x - ax) * ux + (y - ay) * uy) / (ux * ux + uy * uy);
    t = clamp_double(t, 0, 1);
    double dx = x - ax - t * ux, dy = y - ay - t * uy;
    double half = h->width / 2 * (1 - h->taper * (i + t) / LINKS);
    double far = sqrt(dx * dx + dy * dy) - half;
    return far * d->fine >= 1 ? 0 : cover_strip((far + half) * d->fine, half * d->fine);
}

/* Returns what a table has between two entries; `at` counts them. */
static double between_entries(const double *table, double at) {
    const double part = at - floor(at);
    table += (int)at;
    return (1 - part) * table[0] + part * table[1];
}

static double smudge_passes(const dirt *d, const smudge *m, double x, double y) {
    double u = ((x - m->at.x) * m->along.x + (y - m->at.y) * m->along.y) / m->length;
    double v = (y - m->at.y) * m->along.x - (x - m->at.x) * m->along.y, w = v / m->width;
    double patch = u * u + w * w;
    if (patch >= SMUDGE_END) return 1;
    return 1 - m->stops * between_entries(d->fall, patch / SMUDGE_END * RIDGE_TABLE) *
                   between_entries(m->blocks, (w / 3 + 1) / 2 * RIDGE_TABLE);
}

/* Returns what passes at a place where the glass is clean. */
static double opening(const drawing *d, double x, double y) {
    const pupil *p = d->p;
    double open = p->shape == PUPIL_MASK     ? mask_at(p, x, y)
                  : x * x + y * y < d->clear ? 1
                                             : cover(d->fine * iris_distance(d, x, y));
    if (open <= 0) return 0;
    if (p->obstruction > 0) open *= 1 - cover(d->fine * (sqrt(x * x + y * y) - p->obstruction));
    if (p->clip > 0) {
        const double u = x - p->clip * p->toward_x, v = y - p->clip * p->toward_y;
        open *= cover(d->fine * (sqrt(u * u + v * v) - 1));
    }
    for (int i = 0; i < p->vanes; i++)
        if (x * d->vane_x[i] + y * d->vane_y[i] > 0)
            open *= 1 - cover_strip(d->fine * (y * d->vane_x[i] - x * d->vane_y[i]),
                                    d->fine * p->vane_width / 2);
    for (int i = 0; i < d->dirt.smudges; i++)
        open *= smudge_passes(&d->dirt, &d->dirt.smudge[i], x, y);
    return open;
}

static double place_of(const drawing *d, size_t sample) {
    return ((double)sample + 0.5 - PUPIL_MARGIN) / d->fine - 1;
}

/* Returns the sample at a place, or the nearest that there is. */
static uint32_t sample_at(const drawing *d, double place) {
    return (uint32_t)clamp_double((place + 1) * d->fine + PUPIL_MARGIN, 0, d->side);
}

static void take_speck(const drawing *d, const speck *k, double y, double *row) {
    double dy = y - k->at.y, far = k->radius + 2 / d->fine, half = far * far - dy * dy;
    if (half <= 0) return;
    half = sqrt(half);
    uint32_t end = sample_at(d, k->at.x + half + 1 / d->fine);
    for (uint32_t i = sample_at(d, k->at.x - half); i < end; i++) {
        double dx = place_of(d, i) - k->at.x;
        row[i] *= 1 - k->stops * cover(d->fine * (sqrt(dx * dx + dy * dy) - k->radius));
    }
}

/* Of the links that cover a sample the one that covers most counts; `most` has 0 everywhere. */
static void take_hair(const drawing *d, const hair *h, double y, double *row, double *most) {
    const double more = h->width + 2 / d->fine;
    if (y < h->low.y - more || y > h->high.y + more) return;
    for (int i = 0; i < LINKS; i++) {
        const spot *a = &h->at[i], *b = &h->at[i + 1];
        if (y < min_double(a->y, b->y) - more || y > max_double(a->y, b->y) + more) continue;
        const uint32_t end = sample_at(d, max_double(a->x, b->x) + more);
        for (uint32_t k = sample_at(d, min_double(a->x, b->x) - more); k < end; k++)
            if (row[k] > 0) most[k] = max_double(most[k], link_cover(d, h, i, place_of(d, k), y));
    }
    const uint32_t end = sample_at(d, h->high.x + more);
    for (uint32_t k = sample_at(d, h->low.x - more); k < end; k++) {
        row[k] *= 1 - h->stops * most[k];
        most[k] = 0;
    }
}

void pupil_drawing_row(const pupil_drawing *d, uint32_t at, double *row) {
    const double y = place_of(d, at);
    double most[PUPIL_SIDE];
    memset(most, 0, d->side * sizeof *most);
    for (uint32_t i = 0; i < d->side; i++) row[i] = opening(d, place_of(d, i), y);
    for (int i = 0; i < d->dirt.specks; i++) take_speck(d, &d->dirt.speck[i], y, row);
    for (int i = 0; i < d->dirt.hairs; i++) take_hair(d, &d->dirt.hair[i], y, row, most);
}

pupil_drawing *pupil_drawing_open(const pupil *p, uint32_t across, err *e) {
    OPEN(pupil_drawing) *d = mem_new(1, sizeof *d, "the opening", e);
    if (!d) return NULL;
    d->p = p, d->side = across + 2 * PUPIL_MARGIN, d->fine = across / 2.0;
    uint64_t state = ((uint64_t)p->seed * 5 + 5) << 20;
    for (int i = 0; i < p->blades; i++) {
        double turn = 2 * STEADY_PI * i / p->blades + p->uneven * between(&state, -1, 1);
        d->blade_x[i] = steady_cos(turn), d->blade_y[i] = steady_sin(turn);
        d->blade[i] = p->uneven * between(&state, 0, 2);
    }
    for (int i = 0; i < p->vanes; i++) {
        d->vane_x[i] = steady_cos(2 * STEADY_PI * (i + 0.5) / p->vanes);
        d->vane_y[i] = steady_sin(2 * STEADY_PI * (i + 0.5) / p->vanes);
    }
    if (p->blades) {
        double half = steady_sin(STEADY_PI / p->blades),
               apothem = steady_cos(STEADY_PI / p->blades);
        d->edge = p->curvature > 0 ? 1 / p->curvature : apothem;
        d->reach = p->curvature > 0 ? apothem - sqrt(d->edge * d->edge - half * half) : 0;
    }
    double clear = (p->blades ? d->edge + d->reach - 2 * p->uneven : 1) - 2 / d->fine;
    d->clear = clear > 0 ? clear * clear : 0;
    return make_dirt(&d->dirt, p, e) ? GIVE(d) : NULL;
}

/* Fits a plane to what passes, and again to what lies near the plane: the brightest spot is made
 * where the wave is flat. */
bool pupil_level(pupil *p, err *e) {
    enum { ACROSS = 64, SIDE = ACROSS + 2 * PUPIL_MARGIN, PASSES = 12 };
    static const double NEAR = 0.2; /* waves */
    OPEN(pupil_drawing) *d = pupil_drawing_open(p, ACROSS, e);
    double row[SIDE], mean = 0, slope;
    for (int pass = 0; d && pass < PASSES; pass++) {
        double n = 0, x = 0, y = 0, w = 0, xx = 0, xy = 0, yy = 0, xw = 0, yw = 0;
        for (uint32_t i = 0; i < SIDE; i++) {
            pupil_drawing_row(d, i, row);
            for (uint32_t k = 0; k < SIDE; k++) {
                const double u = place_of(d, k), v = place_of(d, i),
                             wave = pupil_wave(p, u, v, &slope), off = (wave - mean) / NEAR,
                             near = 1 + off * off, part = row[k] / (near * near);
                n += part, x += part * u, y += part * v, w += part * wave;
                xx += part * u * u, xy += part * u * v, yy += part * v * v;
                xw += part * u * wave, yw += part * v * wave;
            }
        }
        xx -= x * x / n, xy -= x * y / n, yy -= y * y / n, xw -= x * w / n, yw -= y * w / n;
        const double whole = xx * yy - xy * xy, tilt_x = (xw * yy - yw * xy) / whole,
                     tilt_y = (yw * xx - xw * xy) / whole;
        if (!isfinite(tilt_x) || !isfinite(tilt_y)) break; /* too little passes */
        p->tilt_x += tilt_x, p->tilt_y += tilt_y;
        mean = (w - tilt_x * x - tilt_y * y) / n;
    }
    return d != NULL;
}

void pupil_drawing_close(pupil_drawing **d) {
    if (!*d) return;
    mem_free((*d)->dirt.speck);
    mem_free((*d)->dirt.hair);
    mem_free((*d)->dirt.smudge);
    mem_free(*d);
    *d = NULL;
}
