/* trace.h - what the programs that trace the hero pictures share: vectors, noise, solids, lamps and
 * a camera with a lens.
 *
 * A pixel takes `samples` rays, through as many places of the pixel and of the lens. Lamps are not
 * among what rays meet: each is drawn as the disc that a lens makes of it, sharp or not, as far as
 * rays from the lens can see it. So a lamp a pixel wide, thousands of times as bright as its wall,
 * is even and without noise. Surfaces ask for the light of each lamp in the same way. Nothing
 * depends on the machine: no function of the C library is used that may differ in a bit
 * (base/steady.h), and chance is a hash of a pixel and a sample. */
#ifndef TESTDATA_TRACE_H
#define TESTDATA_TRACE_H

#include "base/half.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/steady.h"
#include "image/format.h"
#include "testdata/vec.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline double length(vec a) {
    return sqrt(dot(a, a));
}
static inline vec unit(vec a) {
    return scale(a, 1 / length(a));
}
static inline vec cross(vec a, vec b) {
    return v(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
static inline double most(double a, double b) {
    return a > b ? a : b;
}
static inline double least(double a, double b) {
    return a < b ? a : b;
}
static inline double clamp(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}

typedef struct {
    vec from, to; /* `to` has length 1 */
} ray;

static inline vec along(ray r, double t) {
    return add(r.from, scale(r.to, t));
}

/* --- chance ---------------------------------------------------------------------------------- */

static inline uint64_t hashed(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Returns a number from 0 to 1 for each place of a grid. */
static inline double chance(int64_t a, int64_t b, int64_t c) {
    uint64_t z = (uint64_t)a * 0x9e3779b97f4a7c15u ^ (uint64_t)b * 0xc2b2ae3d27d4eb4fu ^
                 (uint64_t)c * 0x165667b19e3779f9u;
    return (double)(hashed(z) >> 11) * 0x1p-53;
}

/* Returns noise from 0 to 1 that is smooth over a length of 1. */
static inline double noise(double x, double y, int64_t kind) {
    double fx = floor(x), fy = floor(y), u = x - fx, w = y - fy;
    int64_t i = (int64_t)fx, j = (int64_t)fy;
    u = u * u * (3 - 2 * u), w = w * w * (3 - 2 * w);
    double low = chance(i, j, kind) * (1 - u) + chance(i + 1, j, kind) * u;
    double high = chance(i, j + 1, kind) * (1 - u) + chance(i + 1, j + 1, kind) * u;
    return low * (1 - w) + high * w;
}

/* Adds octaves, each twice as fine and half as strong. */
static inline double rough_noise(double x, double y, int octaves, int64_t kind) {
    double sum = 0, all = 0, part = 1;
    for (int i = 0; i < octaves; i++, part /= 2, x = 2 * x + 17.3, y = 2 * y - 9.1) {
        sum += part * noise(x, y, kind + i);
        all += part;
    }
    return sum / all;
}

/* The places of a sample: in the pixel, on the lens, and two for what surfaces do. */
enum { PLACES = 6 };

/* Fills in the i-th point of a sequence that fills six dimensions evenly, moved for each pixel. */
static inline void places(double u[PLACES], uint32_t x, uint32_t y, uint32_t i) {
    static const double STEP[PLACES] = {0.8986537126286993, 0.8075784952213448, 0.7257311128,
                                        0.6521782253741,    0.586081825,        0.5266846};
    for (int k = 0; k < PLACES; k++) {
        double at = chance(x, y, k + 1) + STEP[k] * (i + 1);
        u[k] = at - floor(at);
    }
}

/* Spreads two places over a disc. */
static inline void on_disc(double to[2], double a, double b) {
    double r = sqrt(a), turn = 2 * STEADY_PI * b;
    to[0] = r * steady_cos(turn), to[1] = r * steady_sin(turn);
}

/* --- solids ---------------------------------------------------------------------------------- */

static const double FAR = 1e9;

/* Returns whether a ray meets a box, and from where to where. */
static inline bool in_box(ray r, vec low, vec high, double *from, double *to) {
    const double o[3] = {r.from.x, r.from.y, r.from.z}, d[3] = {r.to.x, r.to.y, r.to.z},
                 a[3] = {low.x, low.y, low.z}, b[3] = {high.x, high.y, high.z};
    *from = 1e-4, *to = FAR;
    for (int k = 0; k < 3; k++) {
        double over = 1 / (d[k] != 0 ? d[k] : 1e-12), p = (a[k] - o[k]) * over,
               q = (b[k] - o[k]) * over;
        *from = most(*from, least(p, q)), *to = least(*to, most(p, q));
    }
    return *from < *to;
}

/* Where the ray comes as near as `thick` to the piece a-b, whose roundness does not show. */
static inline double to_rod(ray r, vec a, vec b, double thick) {
    vec rod = sub(b, a), from = sub(a, r.from);
    double ll = dot(rod, rod), lr = dot(rod, r.to), fl = dot(from, rod), fr = dot(from, r.to);
    double den = ll - lr * lr, s = clamp(den > 1e-12 ? (lr * fr - fl) / den : 0, 0, 1);
    double t = fr + s * lr;
    vec gap = sub(add(from, scale(rod, s)), scale(r.to, t));
    return t > 1e-3 && dot(gap, gap) < thick * thick ? t : FAR;
}

/* The distance to a box with round edges, half as large as `half`. */
static inline double round_box(vec p, vec half, double edge) {
    vec q = v(fabs(p.x) - half.x + edge, fabs(p.y) - half.y + edge, fabs(p.z) - half.z + edge);
    vec out = v(most(q.x, 0), most(q.y, 0), most(q.z, 0));
    return length(out) + least(most(q.x, most(q.y, q.z)), 0) - edge;
}

static inline double capsule(vec p, vec a, vec b, double thick) {
    vec pa = sub(p, a), ba = sub(b, a);
    double h = clamp(dot(pa, ba) / dot(ba, ba), 0, 1);
    return length(sub(pa, scale(ba, h))) - thick;
}

/* The smaller of two distances, with a round seam. */
static inline double joined(double a, double b, double seam) {
    double h = most(seam - fabs(a - b), 0) / seam;
    return least(a, b) - h * h * seam / 4;
}

/* --- lamps ----------------------------------------------------------------------------------- */

typedef struct {
    vec at;
    double radius;
    vec light;     /* radiance */
    vec towards;   /* where it shines, of length 1; 0: everywhere */
    double wide;   /* the cosine at which it ends; below -1: nowhere */
    double hidden; /* the part that shade and glass keep from the camera; at 1 it only lights */
} lamp;

/* Returns the part of its light that a lamp sends into a direction from it. */
static inline double beam(const lamp *l, vec direction) {
    if (l->wide <= -1) return 1;
    return steady_ramp(l->wide, l->wide + 0.35 * (1 - l->wide), dot(l->towards, direction));
}

/* The light of a lamp that a glossy surface throws towards `back`: the lobe of Trowbridge and
 * Reitz, made wider by the lamp's own size. */
static inline double gleam(vec normal, vec back, vec to, double alpha, double angle) {
    vec h = unit(add(back, to));
    double nh = dot(normal, h), nl = dot(normal, to), nv = most(dot(normal, back), 1e-3);
    if (nl <= 0) return 0;
    double wide = least(alpha + angle / 2, 1), a2 = wide * wide, k = nh * nh * (a2 - 1) + 1;
    double d = a2 / (STEADY_PI * k * k), hv = dot(h, back), m = 1 - hv;
    double fresnel = 0.02 + 0.98 * m * m * m * m * m;
    double k2 = (alpha + 1) * (alpha + 1) / 8,
           g = 1 / ((nl * (1 - k2) + k2) * (nv * (1 - k2) + k2));
    return d * fresnel * g / 4 * nl;
}

/* --- the camera ------------------------------------------------------------------------------ */

typedef struct {
    vec eye, forward, right, up;
    double tangent;        /* of half the width */
    double opening, focus; /* radius of the lens; distance that is sharp */
} camera;

static inline camera look_at(vec eye, vec aim, double tangent, double opening, double focus) {
    camera c = {.eye = eye, .tangent = tangent, .opening = opening, .focus = focus};
    c.forward = unit(sub(aim, eye));
    c.right = unit(cross(v(0, 1, 0), c.forward));
    c.up = cross(c.forward, c.right);
    return c;
}

typedef struct scene scene;
struct scene {
    camera eye;
    lamp lamp[256];
    int lamps;
    /* What a ray sees beside lamps. */
    vec (*seen)(const scene *s, ray r, const double u[PLACES]);
    /* How far a ray gets. */
    double (*reach)(const scene *s, ray r);
};

static inline void put_lamp(scene *s, vec at, double radius, vec light, vec towards, double wide) {
    s->lamp[s->lamps++] = (lamp){at, radius, light, towards, wide, 0};
}

/* A lamp's disc in the picture, in pixels. */
typedef struct {
    double x, y, radius, blur, z;
    const lamp *of;
} disc;

typedef struct {
    const scene *s;
    uint16_t *plane[3];
    uint32_t w, h, samples;
    disc disc[256];
    int discs;
} picture;

static inline ray through(const picture *p, double x, double y, const double lens[2]) {
    const camera *c = &p->s->eye;
    double px = (2 * x - p->w) / p->w * c->tangent, py = (p->h - 2 * y) / p->w * c->tangent;
    vec to = add(c->forward, add(scale(c->right, px), scale(c->up, py)));
    vec from =
        add(c->eye, add(scale(c->right, lens[0] * c->opening), scale(c->up, lens[1] * c->opening)));
    return (ray){from, unit(sub(add(c->eye, scale(to, c->focus)), from))};
}

static inline void place_discs(picture *p) {
    const camera *c = &p->s->eye;
    double pixels = p->w / 2.0 / c->tangent;
    for (int i = 0; i < p->s->lamps; i++) {
        const lamp *l = &p->s->lamp[i];
        vec to = sub(l->at, c->eye);
        double z = dot(to, c->forward);
        if (l->hidden >= 1 || z < 0.2 || beam(l, scale(to, -1 / length(to))) <= 0) continue;
        p->disc[p->discs++] = (disc){p->w / 2.0 + pixels * dot(to, c->right) / z,
                                     p->h / 2.0 - pixels * dot(to, c->up) / z,
                                     most(pixels * l->radius / z, 1e-3),
                                     pixels * c->opening * fabs(1 / z - 1 / c->focus),
                                     z,
                                     l};
    }
}

/* Adds a lamp's light to a pixel: the disc of the lens at the lamp, as wide as both. */
static inline vec add_disc(const picture *p, const disc *d, uint32_t x, uint32_t y) {
    enum { GRID = 4 };
    double full = d->radius + d->blur, soft = most(2 * least(d->radius, d->blur), 1.0) / 2;
    vec sum = {0, 0, 0};
    for (int i = 0; i < GRID * GRID; i++) {
        double at[2] = {x + (i % GRID + 0.5) / GRID, y + (i / GRID + 0.5) / GRID};
        double dx = at[0] - d->x, dy = at[1] - d->y, r = sqrt(dx * dx + dy * dy);
        if (r > full + soft) continue;
        double lens[2] = {0, 0};
        if (d->blur > 0.25) lens[0] = clamp(dx / full, -1, 1), lens[1] = -clamp(dy / full, -1, 1);
        if (d->z < p->s->eye.focus) lens[0] = -lens[0], lens[1] = -lens[1];
        const camera *c = &p->s->eye;
        vec from = add(
            c->eye, add(scale(c->right, lens[0] * c->opening), scale(c->up, lens[1] * c->opening)));
        vec to = sub(d->of->at, from);
        double far = length(to);
        if (p->s->reach(p->s, (ray){from, scale(to, 1 / far)}) < far - 0.25) continue;
        double wide = most(full, 0.5), part = d->radius / wide;
        part *= part * (1 - d->of->hidden);
        double edge = 1 - steady_ramp(full - soft, full + soft, r);
        part = part * edge * beam(d->of, scale(to, -1 / far)) / (GRID * GRID);
        sum = add(sum, scale(d->of->light, part));
    }
    return sum;
}

/* Returns what a pixel sees beside lamps: the mean of all its rays. */
static inline vec average(const picture *p, uint32_t x, uint32_t y) {
    vec sum = {0, 0, 0};
    for (uint32_t i = 0; i < p->samples; i++) {
        double u[PLACES], lens[2];
        places(u, x, y, i);
        on_disc(lens, u[2], u[3]);
        ray r = through(p, x + u[0], y + u[1], lens);
        sum = add(sum, p->s->seen(p->s, r, u));
    }
    return scale(sum, 1.0 / p->samples);
}

/* Keeps seven bits of the ten, which is finer than the noise and packs better. */
static inline uint16_t packed(double v) {
    return (uint16_t)((half_from_float((float)v) + 4u) & ~7u);
}

static inline bool trace_row(void *ctx, size_t y, int worker, err *e) {
    (void)worker, (void)e;
    const picture *p = ctx;
    for (uint32_t x = 0; x < p->w; x++) {
        vec sum = average(p, x, (uint32_t)y);
        for (int i = 0; i < p->discs; i++) {
            const disc *d = &p->disc[i];
            double reach = d->radius + d->blur + 2;
            if (fabs(x + 0.5 - d->x) < reach && fabs((double)y + 0.5 - d->y) < reach)
                sum = add(sum, add_disc(p, d, x, (uint32_t)y));
        }
        const double c[3] = {sum.x, sum.y, sum.z};
        for (int k = 0; k < 3; k++) p->plane[k][y * p->w + x] = packed(c[k]);
    }
    return true;
}

/* Traces every `every`-th row again and compares. */
static inline bool check_rows(picture *p, uint32_t every, err *e) {
    uint16_t *row[3], *shipped[3];
    size_t n = (size_t)p->w * p->h;
    bool same = true;
    for (int k = 0; k < 3; k++) {
        shipped[k] = p->plane[k];
        if (!(row[k] = p->plane[k] = mem_new(n, sizeof *row[k], "rows", e))) return false;
    }
    for (uint32_t y = every / 2; y < p->h; y += every) {
        trace_row(p, y, 0, e);
        for (int k = 0; k < 3; k++)
            same = same && memcmp(row[k] + (size_t)y * p->w, shipped[k] + (size_t)y * p->w,
                                  p->w * sizeof *row[k]) == 0;
    }
    for (int k = 0; k < 3; k++) mem_free(row[k]);
    return same || err_set(e, ERR_DATA, "the shipped image is not what this program makes");
}

static inline bool find_planes(picture *p, image *img, err *e) {
    static const char *const CHANNEL[3] = {"R", "G", "B"};
    for (int c = 0; c < 3; c++) {
        int at = image_find_channel(&img->head.part[0], CHANNEL[c]);
        if (at < 0 || img->head.part[0].channel[at].type != PIXEL_HALF)
            return err_set(e, ERR_DATA, "it has no half channel %s", CHANNEL[c]);
        p->plane[c] = img->plane[0][at];
    }
    return true;
}

static inline image *new_image(const picture *p, err *e) {
    static const char *const CHANNEL[3] = {"R", "G", "B"};
    image_part part = {.data = {0, 0, (int32_t)p->w - 1, (int32_t)p->h - 1},
                       .aspect = 1,
                       .packing = COMPRESSION_ZIP};
    part.display = part.data;
    for (int c = 0; c < 3; c++)
        if (!image_add_channel(&part, CHANNEL[c], PIXEL_HALF, e)) return NULL;
    return image_new(&(image_header){"exr", &part, 1}, e);
}

/* NAME OUT.exr WIDTH HEIGHT SAMPLES traces a scene; NAME check FILE.exr EVERY SAMPLES compares. */
static inline int trace_main(int argc, char **argv, const char *name, const scene *s) {
    err e = {0};
    static picture p;
    bool check = argc == 5 && strcmp(argv[1], "check") == 0;
    p.s = s;
    p.w = argc == 5 && !check ? (uint32_t)atoi(argv[2]) : 1;
    uint32_t every = p.h = argc == 5 ? (uint32_t)atoi(argv[3]) : 0;
    p.samples = argc == 5 ? (uint32_t)atoi(argv[4]) : 0;
    if (p.w < 1 || p.h < 1 || p.samples < 1 || p.w > 16384 || p.h > 16384 || p.samples > 65536) {
        fprintf(stderr, "%s OUT.exr WIDTH HEIGHT SAMPLES, or check FILE.exr EVERY SAMPLES\n", name);
        return ERR_USAGE;
    }
    par *threads = par_open(0, &e);
    image *img = !threads ? NULL
                 : check  ? image_load(argv[2], NULL, threads, &e)
                          : new_image(&p, &e);
    bool ok = img && find_planes(&p, img, &e);
    if (ok) p.w = image_width(&img->head.part[0]), p.h = image_height(&img->head.part[0]);
    if (ok) place_discs(&p);
    if (ok && check)
        ok = check_rows(&p, every, &e);
    else if (ok)
        ok = par_for(threads, p.h, trace_row, &p, &e) && image_save(argv[1], img, threads, &e);
    image_free(&img);
    par_close(&threads);
    if (!ok) fprintf(stderr, "%s: %s\n", name, e.msg);
    return (int)e.code;
}

#endif
