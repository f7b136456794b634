/* make_scene.c - ray traces the shipped scene: make_scene OUT.exr WIDTH HEIGHT
 *
 * Spheres on a wet stone floor at dusk: what a bloom has to cope with, in one frame. The sun is
 * four orders of magnitude brighter than the shadows, neon wires and far lamps are a pixel wide,
 * and two layers beside RGBA are data that must come through untouched: Z (float, the distance
 * along the view axis, 1e10 where there is nothing) and id (uint, 0 sky, 1 floor, 2... the rest).
 *
 * Nothing is random and no function of the C library is used that may differ in a bit
 * (base/steady.h), so the file is the same wherever it is made. Every pixel takes 4 rays, and
 * 16 where these differ. Light comes from the sun, the sky and the wires; shadows and occlusion
 * by spheres are closed formulas with soft edges, so there is no noise, which also packs well. */
#include "base/half.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/steady.h"
#include "image/format.h"

#include <stdio.h>
#include <stdlib.h>

/* --- vectors ------------------------------------------------------------------------------- */

typedef struct {
    double x, y, z;
} vec;

static inline vec v(double x, double y, double z) {
    return (vec){x, y, z};
}
static inline vec add(vec a, vec b) {
    return v(a.x + b.x, a.y + b.y, a.z + b.z);
}
static inline vec sub(vec a, vec b) {
    return v(a.x - b.x, a.y - b.y, a.z - b.z);
}
static inline vec mul(vec a, vec b) {
    return v(a.x * b.x, a.y * b.y, a.z * b.z);
}
static inline vec scale(vec a, double s) {
    return v(a.x * s, a.y * s, a.z * s);
}
static inline vec mix(vec a, vec b, double t) {
    return add(scale(a, 1 - t), scale(b, t));
}
static inline double dot(vec a, vec b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline vec unit(vec a) {
    return scale(a, 1 / sqrt(dot(a, a)));
}
static inline vec cross(vec a, vec b) {
    return v(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

/* --- what stands in the scene: y is up, z away from the camera ----------------------------- */

typedef struct {
    vec center;
    double radius;
    vec diffuse;
    vec shine; /* what a mirror of it reflects straight on; at grazing angles all do */
    bool glass;
} sphere;

static const sphere SPHERES[] = {
    {{-0.35, 1.00, 0.3}, 1.00, {0.01, 0.01, 0.01}, {0.90, 0.91, 0.93}, false},    /* chrome */
    {{-2.55, 0.78, 1.0}, 0.78, {0.45, 0.020, 0.018}, {0.05, 0.05, 0.05}, false},  /* red lacquer */
    {{1.55, 0.62, -1.1}, 0.62, {0.0, 0.0, 0.0}, {0.04, 0.04, 0.04}, true},        /* glass */
    {{2.95, 1.05, 1.9}, 1.05, {0.03, 0.015, 0.003}, {0.95, 0.64, 0.26}, false},   /* gold */
    {{-4.65, 1.25, 3.6}, 1.25, {0.62, 0.60, 0.57}, {0.03, 0.03, 0.03}, false},    /* porcelain */
    {{0.62, 0.27, -2.3}, 0.27, {0.012, 0.012, 0.016}, {0.06, 0.06, 0.06}, false}, /* obsidian */
    {{-1.55, 0.33, -1.5}, 0.33, {0.02, 0.26, 0.30}, {0.05, 0.05, 0.05}, false},   /* turquoise */
    {{4.35, 0.42, -0.1}, 0.42, {0.55, 0.53, 0.50}, {0.04, 0.04, 0.04}, false},    /* pearl */
};
enum { SPHERE_COUNT = sizeof SPHERES / sizeof SPHERES[0] };

/* A wire is a curve of short capsules in groups of LINKS, each group in a ball of its own. */
enum { LINKS = 16, LINKS_MAX = 320, WIRES = 4, LAMPS_MAX = 16 };
typedef struct {
    vec light; /* radiance */
    double thick;
    int links, lamps; /* lamps: at how many points it lights the scene */
    vec point[LINKS_MAX + 1];
    vec ball[LINKS_MAX / LINKS];
    double ball_radius[LINKS_MAX / LINKS];
    vec lamp[LAMPS_MAX];
    double lamp_power; /* of one of them, for a radiance of 1 */
} wire;

typedef struct {
    wire wires[WIRES];
    vec sun; /* towards it */
} world;

enum { ID_SKY, ID_FLOOR, ID_SPHERES, ID_WIRES = ID_SPHERES + SPHERE_COUNT };

static const vec SUN_LIGHT = {2.6, 1.65, 0.85};    /* what it gives to a surface that faces it */
static const vec SUN_DISC = {620.0, 430.0, 235.0}; /* what is seen of it */
static const double SUN_RADIUS = 0.0072;           /* as an angle */
static const double SPILL = 2.5;                   /* wires light the floor a little more */
static const double FAR = 1e10;

typedef struct {
    vec from, to; /* `to` has length 1 */
} ray;

typedef struct {
    double distance;
    int id;
} hit;

static vec along(ray r, double t) {
    return add(r.from, scale(r.to, t));
}

/* --- the wires' shapes --------------------------------------------------------------------- */

static vec on_hoop(double t) { /* behind the spheres, sunk a little into the floor */
    double a = -0.62 + t * (STEADY_PI + 1.24);
    return v(-0.35 + 3.05 * steady_cos(a), 1.55 + 3.05 * steady_sin(a), 4.2);
}

static vec on_small_hoop(double t) {
    double a = -0.66 + t * (STEADY_PI + 1.32);
    return v(-0.35 + 2.72 * steady_cos(a), 1.45 + 2.72 * steady_sin(a), 4.3);
}

static vec on_spiral(double t) { /* around the gold sphere */
    double a = t * 7.0 * STEADY_PI + 0.6, r = 1.30 - 0.45 * t * t;
    return v(2.95 + r * steady_cos(a), 0.06 + 2.75 * t, 1.9 + r * steady_sin(a));
}

static vec on_line(double t) { /* a cable across the sky, hanging through */
    double s = 2 * t - 1;
    return v(9.5 * s, 4.75 + 0.55 * s * s + 0.35 * s, 6.5);
}

static void make_wire(wire *w, vec (*shape)(double), int links, double thick, vec light,
                      int lamps) {
    double length = 0;
    w->light = light, w->thick = thick, w->links = links, w->lamps = lamps;
    for (int i = 0; i <= links; i++) {
        w->point[i] = shape((double)i / links);
        if (i > 0) {
            vec step = sub(w->point[i], w->point[i - 1]);
            length += sqrt(dot(step, step));
        }
    }
    for (int g = 0; g < links / LINKS; g++) {
        vec a = w->point[g * LINKS], b = w->point[(g + 1) * LINKS];
        double far = 0;
        w->ball[g] = mix(a, b, 0.5);
        for (int i = 0; i <= LINKS; i++) {
            vec d = sub(w->point[g * LINKS + i], w->ball[g]);
            far = fmax(far, dot(d, d));
        }
        w->ball_radius[g] = sqrt(far) + thick;
    }
    for (int i = 0; i < lamps; i++) w->lamp[i] = shape((i + 0.5) / lamps);
    w->lamp_power = SPILL * 2 * thick * length / lamps;
}

static void make_world(world *s) {
    s->sun = unit(v(0.080, 0.112, 1.0));
    make_wire(&s->wires[0], on_hoop, 160, 0.014, v(16.0, 0.55, 5.0), 12);
    make_wire(&s->wires[1], on_small_hoop, 160, 0.010, v(0.35, 5.0, 15.0), 12);
    make_wire(&s->wires[2], on_spiral, 320, 0.0095, v(16.0, 5.2, 0.45), 16);
    make_wire(&s->wires[3], on_line, 64, 0.008, v(3.0, 5.0, 9.0), 0);
}

/* --- where a ray ends ---------------------------------------------------------------------- */

static double hit_sphere(ray r, vec center, double radius) {
    vec to = sub(r.from, center);
    double b = dot(to, r.to), c = dot(to, to) - radius * radius, d = b * b - c;
    if (d < 0) return FAR;
    double root = sqrt(d), near = -b - root;
    if (near > 1e-6) return near;
    return -b + root > 1e-6 ? -b + root : FAR;
}

/* Where the ray comes nearest to the piece a-b; a wire is too thin for its roundness to show. */
static double hit_link(ray r, vec a, vec b, double thick) {
    vec along_link = sub(b, a), from = sub(a, r.from);
    double ll = dot(along_link, along_link), lr = dot(along_link, r.to);
    double fl = dot(from, along_link), fr = dot(from, r.to), den = ll - lr * lr;
    double s = den > 1e-12 ? (lr * fr - fl) / den : 0;
    s = s < 0 ? 0 : s > 1 ? 1 : s;
    double t = fr + s * lr;
    vec gap = sub(add(from, scale(along_link, s)), scale(r.to, t));
    return t > 1e-4 && dot(gap, gap) < thick * thick ? t : FAR;
}

static double hit_wire(const wire *w, ray r) {
    double best = FAR;
    for (int g = 0; g < w->links / LINKS; g++) {
        vec to = sub(w->ball[g], r.from);
        double t = dot(to, r.to), radius = w->ball_radius[g];
        if (dot(to, to) - t * t > radius * radius || t < -radius) continue;
        for (int i = g * LINKS; i < (g + 1) * LINKS; i++)
            best = fmin(best, hit_link(r, w->point[i], w->point[i + 1], w->thick));
    }
    return best;
}

/* The floor's normal: still water over stone, waves that fade with the distance. */
static vec floor_normal(vec p) {
    double calm = 0.011 * (1 - steady_ramp(2, 34, p.z + 9));
    double x = calm * (steady_sin(2.1 * p.x + 1.7 * steady_sin(0.9 * p.z)) +
                       0.6 * steady_sin(5.3 * p.x - 3.1 * p.z));
    double z = calm * (steady_sin(3.7 * p.z + 1.1 * steady_sin(1.3 * p.x)) +
                       0.6 * steady_sin(4.1 * p.z + 6.7 * p.x));
    return unit(v(x, 1, z));
}

static hit find(const world *s, ray r) {
    hit h = {FAR, ID_SKY};
    if (r.to.y < -1e-9 && r.from.y > 1e-6) h.distance = -r.from.y / r.to.y, h.id = ID_FLOOR;
    for (int i = 0; i < SPHERE_COUNT; i++) {
        double t = hit_sphere(r, SPHERES[i].center, SPHERES[i].radius);
        if (t < h.distance) h.distance = t, h.id = ID_SPHERES + i;
    }
    for (int i = 0; i < WIRES; i++) {
        double t = hit_wire(&s->wires[i], r);
        if (t < h.distance) h.distance = t, h.id = ID_WIRES + i;
    }
    return h;
}

/* --- light --------------------------------------------------------------------------------- */

/* Lamps of a far shore, just above the horizon: direction (x / z), height, brightness, warmth. */
static const double SHORE[][4] = {
    {-.665, .0060, 26, .9}, {-.601, .0085, 40, .3}, {-.552, .0050, 18, 1.}, {-.518, .0112, 55, .8},
    {-.470, .0047, 22, .2}, {-.431, .0070, 34, 1.}, {-.402, .0052, 16, .6}, {-.347, .0125, 70, .1},
    {-.318, .0055, 24, .9}, {-.283, .0066, 30, .7}, {-.236, .0046, 18, 1.}, {-.205, .0090, 44, .5},
    {-.158, .0050, 20, .8}, {-.117, .0062, 28, .2}, {-.081, .0105, 52, 1.}, {-.034, .0048, 18, .7},
    {.012, .0070, 32, .9},  {.051, .0054, 20, .4},  {.094, .0084, 38, .8},  {.141, .0047, 16, 1.},
    {.352, .0058, 22, .6},  {.398, .0096, 46, .9},  {.446, .0049, 18, .3},  {.489, .0074, 34, 1.},
    {.541, .0052, 22, .8},  {.588, .0110, 58, .2},  {.632, .0060, 26, .9},  {.681, .0050, 20, .7},
};

static vec shore(vec d) {
    static const double RADIUS = 0.00095;
    for (size_t i = 0; i < sizeof SHORE / sizeof SHORE[0]; i++) {
        double x = d.x / d.z - SHORE[i][0], y = d.y / d.z - SHORE[i][1];
        if (x * x + y * y > RADIUS * RADIUS) continue;
        vec warm = v(1.0, 0.55, 0.20), cold = v(0.55, 0.85, 1.0);
        return scale(mix(cold, warm, SHORE[i][3]), SHORE[i][2]);
    }
    return v(0, 0, 0);
}

/* The hills' outline: how high they stand in this direction. */
static double hills(double x) {
    return 0.016 + 0.008 * steady_sin(3.1 * x + 0.5) + 0.005 * steady_sin(8.3 * x + 2.0) +
           0.0022 * steady_sin(19.0 * x) + 0.0010 * steady_sin(47.0 * x + 1.0);
}

static vec sky(const world *s, vec d) {
    double high = d.y > 0 ? d.y : 0;
    vec off = sub(d, s->sun);
    double away = sqrt(dot(off, off)); /* nearly the angle */
    if (d.z > 0 && d.y < 0.04 * d.z && d.y / d.z < hills(d.x / d.z))
        return add(scale(v(0.030, 0.022, 0.030), 0.4 + 0.6 * steady_exp(-2.5 * away)), shore(d));
    vec c = mix(v(0.105, 0.062, 0.085), v(0.020, 0.032, 0.080), steady_ramp(0, 0.22, high));
    c = mix(c, v(0.006, 0.010, 0.030), steady_ramp(0.12, 0.8, high));
    c = add(c, scale(v(1.00, 0.36, 0.10), 0.42 * steady_exp(-6.5 * away - 4 * high)));
    c = add(c, scale(v(1.60, 0.90, 0.40), 0.55 * steady_exp(-30.0 * away)));
    if (away < SUN_RADIUS) { /* darker towards its limb */
        double mu = sqrt(1 - away * away / (SUN_RADIUS * SUN_RADIUS));
        c = add(c, scale(SUN_DISC, 0.45 + 0.55 * mu));
    }
    return c;
}

/* How much of a light in direction d gets past the spheres; a soft shadow as wide as `soft` for
 * each unit of distance. */
static double lit(vec p, vec d, double reach, double soft, int self) {
    double light = 1;
    for (int i = 0; i < SPHERE_COUNT; i++) {
        vec to = sub(SPHERES[i].center, p);
        double t = dot(to, d), r = SPHERES[i].radius, edge = soft * t;
        double gap = dot(to, to) - t * t;
        if (i == self || t <= 0 || t - r > reach || gap > (r + edge) * (r + edge)) continue;
        double dark = 1 - steady_ramp(r - edge, r + edge, sqrt(fmax(0, gap)));
        light *= 1 - (SPHERES[i].glass ? 0.55 : 1.0) * dark;
    }
    return light;
}

/* The share of the sky that the spheres leave open above a surface. */
static double open_sky(vec p, vec n, int self) {
    double open = 1;
    for (int i = 0; i < SPHERE_COUNT; i++) {
        if (i == self) continue;
        vec to = sub(SPHERES[i].center, p);
        double dd = dot(to, to), d = sqrt(dd), r = SPHERES[i].radius;
        double facing = 0.5 + 0.5 * dot(n, to) / d;
        open *= 1 - fmin(1, facing * r * r / dd);
    }
    return open;
}

static vec lighting(const world *s, vec p, vec n, int self) {
    double open = open_sky(p, n, self), up = 0.5 + 0.5 * n.y;
    vec sum = scale(mix(v(0.030, 0.024, 0.028), v(0.055, 0.062, 0.115), up), open);
    double face = dot(n, s->sun);
    if (face > 0) sum = add(sum, scale(SUN_LIGHT, face * lit(p, s->sun, FAR, 0.035, self)));
    for (int i = 0; i < WIRES; i++) {
        const wire *w = &s->wires[i];
        for (int l = 0; l < w->lamps; l++) {
            vec to = sub(w->lamp[l], p);
            double dd = dot(to, to) + 0.02, d = sqrt(dd), cosine = dot(n, to) / d;
            if (cosine <= 0) continue;
            double power = w->lamp_power * cosine / dd;
            if (power > 1e-5) power *= lit(p, scale(to, 1 / d), d, 0.18, self);
            sum = add(sum, scale(w->light, power / STEADY_PI));
        }
    }
    return sum;
}

/* Large slabs of two shades with dark joints, which blend into one with the distance. */
static vec floor_color(vec p) {
    double u = p.x / 1.5 + 0.35, w = p.z / 1.5 + 0.2;
    double iu = floor(u), iw = floor(w), fade = steady_ramp(4, 40, p.z + 9);
    double odd = iu + iw - 2 * floor((iu + iw) / 2);
    double edge = fmin(fmin(u - iu, 1 - (u - iu)), fmin(w - iw, 1 - (w - iw)));
    double joint = 1 - steady_ramp(0.006, 0.016, edge);
    double shade = 0.085 + 0.075 * (odd - 0.5) * (1 - fade) - 0.05 * joint * (1 - fade);
    return scale(v(0.95, 1.0, 1.10), shade);
}

static vec shine(vec straight, double cosine) {
    double c = 1 - cosine, c5 = c * c * c * c * c;
    return mix(straight, v(1, 1, 1), c5);
}

static vec trace(const world *s, ray r, vec weight, int depth);

/* Through the ball and out of it; what is reflected inside is left out. */
static vec through_glass(const world *s, const sphere *ball, vec p, vec n, vec d, vec weight,
                         int depth) {
    static const double INDEX = 1.48;
    double c = -dot(n, d), k = 1 - (1 - c * c) / (INDEX * INDEX);
    vec in = unit(add(scale(d, 1 / INDEX), scale(n, c / INDEX - sqrt(k))));
    vec exit = add(p, scale(in, -2 * dot(in, n) * ball->radius));
    vec out_normal = scale(sub(exit, ball->center), 1 / ball->radius);
    double ci = dot(in, out_normal), ko = 1 - INDEX * INDEX * (1 - ci * ci);
    if (ko < 0) return v(0, 0, 0);
    vec out = unit(add(scale(in, INDEX), scale(out_normal, sqrt(ko) - INDEX * ci)));
    vec tint = v(0.93, 0.97, 0.96);
    return mul(tint, trace(s, (ray){add(exit, scale(out_normal, 1e-4)), out}, mul(weight, tint),
                           depth + 1));
}

static vec surface(const world *s, ray r, hit h, vec weight, int depth) {
    const sphere *ball = h.id == ID_FLOOR ? NULL : &SPHERES[h.id - ID_SPHERES];
    vec p = along(r, h.distance);
    vec n = ball ? scale(sub(p, ball->center), 1 / ball->radius) : floor_normal(p);
    double cosine = fmax(0, -dot(n, r.to));
    vec mirror = shine(ball ? ball->shine : v(0.055, 0.055, 0.055), cosine);
    if (!ball) mirror = scale(mirror, 0.6); /* stone under water is no clean mirror */
    vec diffuse = ball ? ball->diffuse : floor_color(p);
    vec out = v(0, 0, 0);
    if (diffuse.x > 0) out = mul(diffuse, lighting(s, p, n, h.id - ID_SPHERES));
    if (depth >= 4) return out;
    vec d = unit(sub(r.to, scale(n, 2 * dot(n, r.to)))), on = add(p, scale(n, 1e-4));
    if (!ball && d.y < 1e-3) d = unit(v(d.x, 1e-3, d.z)); /* a wave's back mirrors the horizon */
    out = add(out, mul(mirror, trace(s, (ray){on, d}, mul(weight, mirror), depth + 1)));
    if (ball && ball->glass) {
        vec passes = sub(v(1, 1, 1), mirror);
        vec seen = through_glass(s, ball, p, n, r.to, mul(weight, passes), depth);
        out = add(out, mul(passes, seen));
    }
    return out;
}

/* `weight` is the part of this ray's light that reaches the eye: what carries less than a few
 * thousandths is let go. */
static vec trace(const world *s, ray r, vec weight, int depth) {
    if (weight.x + weight.y + weight.z < 0.012) return v(0, 0, 0);
    hit h = find(s, r);
    if (h.id == ID_SKY) return sky(s, r.to);
    if (h.id >= ID_WIRES) return s->wires[h.id - ID_WIRES].light;
    return surface(s, r, h, weight, depth);
}

/* --- the camera and the file --------------------------------------------------------------- */

typedef struct {
    world world;
    uint32_t width, height;
    uint16_t *rgba[4];
    float *z;
    uint32_t *id;
    vec *color;
    bool *rough;
} picture;

static ray camera(const picture *p, double px, double py) {
    static const vec EYE = {0.15, 1.62, -9.0}, AIM = {0.15, 1.42, 0.0};
    static const double TANGENT = 0.325; /* of half the height */
    vec forward = unit(sub(AIM, EYE)), right = unit(cross(v(0, 1, 0), forward));
    vec up = cross(forward, right);
    double x = (2 * px - p->width) / p->height * TANGENT, y = (1 - 2 * py / p->height) * TANGENT;
    return (ray){EYE, unit(add(forward, add(scale(right, x), scale(up, y))))};
}

/* Seen through a tone curve, so that what the eye would not see counts for nothing. */
static double seen(double light) {
    return light / (1 + light);
}

static bool differ(const vec c[4]) {
    double low[3] = {2, 2, 2}, high[3] = {0, 0, 0};
    for (int i = 0; i < 4; i++) {
        double value[3] = {seen(c[i].x), seen(c[i].y), seen(c[i].z)};
        for (int k = 0; k < 3; k++)
            low[k] = fmin(low[k], value[k]), high[k] = fmax(high[k], value[k]);
    }
    return high[0] - low[0] > 0.02 || high[1] - low[1] > 0.02 || high[2] - low[2] > 0.02;
}

static vec shoot(const picture *p, double x, double y) {
    return trace(&p->world, camera(p, x, y), v(1, 1, 1), 0);
}

/* First pass: four rays a pixel, and whether they agree. */
static bool sketch_row(void *ctx, size_t y, int worker, err *e) {
    (void)worker, (void)e;
    picture *p = ctx;
    for (uint32_t x = 0; x < p->width; x++) {
        vec quarter[4], sum = v(0, 0, 0);
        for (int i = 0; i < 4; i++) {
            quarter[i] = shoot(p, x + 0.25 + 0.5 * (i & 1), (double)y + 0.25 + 0.5 * (i >> 1));
            sum = add(sum, scale(quarter[i], 0.25));
        }
        p->color[y * p->width + x] = sum;
        p->rough[y * p->width + x] = differ(quarter);
    }
    return true;
}

/* A thin line may slip between four rays, but hardly past those of all the neighbours, too. */
static bool rough_around(const picture *p, uint32_t x, uint32_t y) {
    for (uint32_t j = y ? y - 1 : 0; j <= y + 1 && j < p->height; j++)
        for (uint32_t i = x ? x - 1 : 0; i <= x + 1 && i < p->width; i++)
            if (p->rough[(size_t)j * p->width + i]) return true;
    return false;
}

static void store(picture *p, uint32_t x, uint32_t y, vec c) {
    size_t at = (size_t)y * p->width + x;
    p->rgba[0][at] = half_from_float((float)c.x);
    p->rgba[1][at] = half_from_float((float)c.y);
    p->rgba[2][at] = half_from_float((float)c.z);
    p->rgba[3][at] = half_from_float(1.0f);
    ray r = camera(p, x + 0.5, y + 0.5), axis = camera(p, p->width / 2.0, p->height / 2.0);
    hit h = find(&p->world, r);
    /* Steps of 2^-10 are finer than anybody needs, and pack in half the bytes. */
    double depth = floor(h.distance * dot(r.to, axis.to) * 1024 + 0.5) / 1024;
    p->id[at] = (uint32_t)h.id;
    p->z[at] = (float)(h.id == ID_SKY ? FAR : depth);
}

/* Second pass: GRID * GRID rays where there is more to see. */
static bool finish_row(void *ctx, size_t y, int worker, err *e) {
    (void)worker, (void)e;
    enum { GRID = 4 };
    picture *p = ctx;
    for (uint32_t x = 0; x < p->width; x++) {
        vec c = p->color[y * p->width + x], sum = v(0, 0, 0);
        if (rough_around(p, x, (uint32_t)y)) {
            for (int i = 0; i < GRID * GRID; i++)
                sum = add(sum, shoot(p, x + (i % GRID + 0.5) / GRID,
                                     (double)y + (i / GRID + 0.5) / GRID));
            c = scale(sum, 1.0 / (GRID * GRID));
        }
        store(p, x, (uint32_t)y, c);
    }
    return true;
}

static image *new_picture(picture *p, err *e) {
    static const char *const NAMES[] = {"R", "G", "B", "A"};
    image_part part = {.data = {0, 0, (int32_t)p->width - 1, (int32_t)p->height - 1},
                       .aspect = 1,
                       .packing = COMPRESSION_ZIP};
    static const char MADE[] = "made by testdata/make_scene.c of fftbloom";
    part.display = part.data;
    bool ok = image_set_attr(&part, "comments", "string", MADE, sizeof MADE - 1, e);
    for (int c = 0; c < 4 && ok; c++) ok = image_add_channel(&part, NAMES[c], PIXEL_HALF, e);
    ok = ok && image_add_channel(&part, "Z", PIXEL_FLOAT, e) &&
         image_add_channel(&part, "id", PIXEL_UINT, e);
    image *img = ok ? image_new(&(image_header){.format = "exr", .part = &part, .parts = 1}, e)
                    : NULL;
    for (int c = 0; c < 4 && img; c++)
        p->rgba[c] = img->plane[0][image_find_channel(&img->head.part[0], NAMES[c])];
    if (img) p->z = img->plane[0][image_find_channel(&img->head.part[0], "Z")];
    if (img) p->id = img->plane[0][image_find_channel(&img->head.part[0], "id")];
    return img;
}

int main(int argc, char **argv) {
    err e = {0};
    static picture p;
    if (argc != 4) {
        fprintf(stderr, "make_scene OUT.exr WIDTH HEIGHT\n");
        return ERR_USAGE;
    }
    p.width = (uint32_t)atoi(argv[2]), p.height = (uint32_t)atoi(argv[3]);
    par *threads = par_open(0, &e);
    image *img = threads ? new_picture(&p, &e) : NULL;
    make_world(&p.world);
    p.color = mem_new((size_t)p.width * p.height, sizeof *p.color, "colours", &e);
    p.rough = mem_new((size_t)p.width * p.height, sizeof *p.rough, "marks", &e);
    if (img && p.color && p.rough && par_for(threads, p.height, sketch_row, &p, &e) &&
        par_for(threads, p.height, finish_row, &p, &e))
        image_save(argv[1], img, threads, &e);
    if (e.code) fprintf(stderr, "make_scene: %s\n", e.msg);
    mem_free(p.color);
    mem_free(p.rough);
    image_free(&img);
    par_close(&threads);
    return (int)e.code;
}
