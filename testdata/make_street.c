/* make_street.c - ray traces a street at night for the gallery of kernels: make_street OUT.exr
 * WIDTH HEIGHT
 *
 * What bloom is for: lamps that are thousands of times as bright as the walls that they light, cars
 * towards and away from the camera, a traffic light, windows, a wet road. Lamps are small, so their
 * glare is the picture of the kernel. Nothing is random and no function of the C library is used
 * that may differ in a bit (base/steady.h). */
#include "base/mem.h"
#include "base/par.h"
#include "base/steady.h"
#include "image/format.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct {
    double x, y, z;
} vec;

static vec add(vec a, vec b, double times) {
    return (vec){a.x + times * b.x, a.y + times * b.y, a.z + times * b.z};
}
static vec scale(vec a, double s) {
    return (vec){a.x * s, a.y * s, a.z * s};
}
static double dot(vec a, vec b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

/* --- what shines ---------------------------------------------------------------------------- */

typedef struct {
    vec at;
    double radius;
    vec light; /* radiance */
    bool up;   /* shines on the walls, too */
} lamp;

enum { LAMPS_MAX = 64, SAMPLES = 4 };
typedef struct {
    lamp lamp[LAMPS_MAX];
    int lamps;
} street;

static const double WALL = 8.5; /* metres from the middle of the road to the houses */

static void put(street *s, double x, double y, double z, double radius, vec light, bool up) {
    s->lamp[s->lamps++] = (lamp){{x, y, z}, radius, light, up};
}

static void furnish(street *s) {
    static const vec SODIUM = {5200, 2500, 520}, LED = {4200, 4300, 4600},
                     HEAD = {9000, 8600, 7800}, TAIL = {520, 22, 10}, RED = {900, 40, 18},
                     GREEN = {25, 620, 330};
    for (int i = 0; i < 7; i++) {
        put(s, -5.6, 6.2, 11 + 13 * i, 0.13, SODIUM, true);
        put(s, 5.6, 6.2, 17 + 13 * i, 0.11, i % 3 == 1 ? LED : SODIUM, true);
    }
    for (int i = 0; i < 3; i++) { /* towards us on the left, away on the right */
        double z = 24 + 21 * i, x = -1.9 - 0.25 * i;
        put(s, x - 0.65, 0.68, z, 0.075, HEAD, false);
        put(s, x + 0.65, 0.68, z, 0.075, HEAD, false);
        put(s, 1.5 + 0.3 * i, 0.85, z - 9, 0.06, TAIL, false);
        put(s, 2.8 + 0.3 * i, 0.85, z - 9, 0.06, TAIL, false);
    }
    put(s, 4.4, 3.3, 15.0, 0.10, GREEN, false);
    put(s, -4.4, 3.5, 33.0, 0.11, RED, false);
}

/* --- surfaces ------------------------------------------------------------------------------- */

/* Returns numbers from 0 to 1 that look random, one for each place of a grid. */
static double chance(int a, int b, int c) {
    uint64_t z = (uint64_t)(a * 73856093) ^ ((uint64_t)(b + 4096) << 24) ^
                 ((uint64_t)(c + 64) << 44);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* What a grey surface shows of the lamps. */
static vec lit(const street *s, vec at, vec normal, double albedo) {
    vec sum = {0.003, 0.0035, 0.005};
    for (int i = 0; i < s->lamps; i++) {
        const lamp *l = &s->lamp[i];
        vec to = add(l->at, at, -1);
        double square = dot(to, to), facing = dot(to, normal) / sqrt(square);
        if (l->up && facing > 0)
            sum = add(sum, l->light, albedo * facing * l->radius * l->radius / square);
    }
    return sum;
}

/* The houses on both sides, each with a height and a row of windows per floor. */
static vec house(const street *s, vec at, int side, bool *sky) {
    int number = (int)floor(at.z / 14);
    double height = 9 + 3 * floor(5 * chance(number, side, 1));
    vec normal = {-side, 0, 0};
    *sky = at.y > height;
    if (*sky) return (vec){0, 0, 0};
    double u = at.z / 1.9, v = (at.y - 1.2) / 3, fu = u - floor(u), fv = v - floor(v);
    bool shop = at.y < 3.2;
    bool pane = shop ? fu > 0.06 && fu < 0.94 && at.y > 0.6 && at.y < 2.7
                     : fu > 0.28 && fu < 0.72 && fv > 0.25 && fv < 0.80;
    double is_on = chance((int)floor(u), (int)floor(v), side + 2);
    vec wall = lit(s, at, normal, 0.16 + 0.1 * chance(number, side, 3));
    if (!pane) return wall;
    if (shop && chance(number, side, 9) > 0.55) {
        double warm = chance(number, side, 4);
        return (vec){2.6, 1.3 + 1.2 * warm, 0.5 + 2.2 * warm};
    }
    if (is_on < 0.22) return (vec){1.5 + 4 * is_on, 0.85 + 2 * is_on, 0.30 + 2 * is_on};
    if (is_on < 0.25) return (vec){0.5, 0.9, 1.7};
    return scale(wall, 0.25);
}

/* A neon sign on a house: a ring of tube. */
static vec neon(vec at, vec wall) {
    double dz = at.z - 21.5, dy = at.y - 4.6, r = sqrt(dz * dz + dy * dy);
    double d = fabs(r - 0.85);
    return d < 0.06 ? (vec){300, 14, 95} : wall;
}

static vec look(const street *s, vec from, vec to, int depth, double wobble);

/* A wet road: a mirror under grazing light, broken by ripples. */
static vec road(const street *s, vec at, vec to, int depth, double wobble) {
    vec up = {0, 1, 0}, sum = lit(s, at, up, 0.07);
    if (depth) return sum;
    double line = fabs(at.x) < 0.07 && at.z - 6 * floor(at.z / 6) < 3 ? 0.25 : 0;
    sum = line > 0 ? lit(s, at, up, line) : sum;
    double grazing = 1 - fabs(to.y), mirror = 0.03 + 0.75 * grazing * grazing * grazing * grazing;
    double puddle = steady_sin(at.x * 0.9 + 2 * steady_sin(at.z * 0.23)) + steady_sin(at.z * 0.41);
    mirror *= puddle > 0.2 ? 0.8 : 0.35;
    for (int i = 0; i < 24; i++) { /* ripples tilt the mirror along the line of sight */
        double tilt = ((i + wobble) / 24 - 0.5) * (puddle > 0.2 ? 0.05 : 0.16);
        double sway = (chance(i, (int)(at.z * 40), (int)(at.x * 40)) - 0.5) * 0.012;
        vec back = {to.x + sway, fabs(to.y) + tilt, to.z};
        if (back.y < 0.002) back.y = 0.002;
        sum = add(sum, look(s, at, scale(back, 1 / sqrt(dot(back, back))), 1, wobble), mirror / 24);
    }
    return sum;
}

static vec look(const street *s, vec from, vec to, int depth, double wobble) {
    double near = 1e9;
    vec seen = {0.004 + 0.010 * (1 - to.y), 0.006 + 0.009 * (1 - to.y), 0.014 + 0.010 * (1 - to.y)};
    if (to.y < 0) {
        near = -from.y / to.y;
        seen = near < 220 ? road(s, add(from, to, near), to, depth, wobble) : seen;
    }
    int side = to.x > 0 ? 1 : -1;
    double t = (side * WALL - from.x) / (to.x != 0 ? to.x : 1e-9);
    if (t > 0 && t < near) {
        vec at = add(from, to, t);
        bool sky = at.z > 190;
        vec wall = sky ? seen : house(s, at, side, &sky);
        if (!sky) {
            near = t;
            seen = side > 0 ? neon(at, wall) : wall;
        }
    }
    for (int i = 0; i < s->lamps; i++) {
        vec away = add(s->lamp[i].at, from, -1);
        double along = dot(away, to), miss = dot(away, away) - along * along;
        double radius = s->lamp[i].radius;
        if (along > 0 && along < near && miss < radius * radius)
            near = along, seen = s->lamp[i].light;
    }
    return seen;
}

/* --- the picture ---------------------------------------------------------------------------- */

typedef struct {
    const street *s;
    image *img;
    uint32_t w, h;
} picture;

static bool draw_row(void *ctx, size_t y, int worker, err *e) {
    (void)worker, (void)e;
    const picture *p = ctx;
    float *plane[3];
    for (int c = 0; c < 3; c++)
        plane[c] = p->img->plane[0][image_find_channel(&p->img->head.part[0],
                                                       (const char *[]){"R", "G", "B"}[c])];
    for (uint32_t x = 0; x < p->w; x++) {
        vec sum = {0, 0, 0};
        for (int i = 0; i < SAMPLES * SAMPLES; i++) {
            double u = (x + (i % SAMPLES + 0.5) / SAMPLES) / p->w - 0.5;
            double v = ((double)y + (i / SAMPLES + 0.5) / SAMPLES - 0.5 * p->h) / p->w;
            vec to = {u * 1.15, -v * 1.15 + 0.035, 1};
            to = scale(to, 1 / sqrt(dot(to, to)));
            sum = add(sum, look(p->s, (vec){0.55, 1.75, 0}, to, 0, i / 16.0),
                      1.0 / (SAMPLES * SAMPLES));
        }
        plane[0][y * p->w + x] = (float)sum.x;
        plane[1][y * p->w + x] = (float)sum.y;
        plane[2][y * p->w + x] = (float)sum.z;
    }
    return true;
}

int main(int argc, char **argv) {
    err e = {0};
    static street s;
    picture p = {.s = &s};
    if (argc == 4) p.w = (uint32_t)atoi(argv[2]), p.h = (uint32_t)atoi(argv[3]);
    if (p.w < 1 || p.h < 1 || p.w > 16384 || p.h > 16384) {
        fprintf(stderr, "make_street OUT.exr WIDTH HEIGHT\n");
        return ERR_USAGE;
    }
    furnish(&s);
    image_part part = {.data = {0, 0, (int32_t)p.w - 1, (int32_t)p.h - 1},
                       .aspect = 1,
                       .packing = COMPRESSION_ZIP};
    part.display = part.data;
    image_header head = {"exr", &part, 1};
    par *threads = par_open(0, &e);
    bool ok = threads && image_add_channel(&part, "R", PIXEL_FLOAT, &e) &&
              image_add_channel(&part, "G", PIXEL_FLOAT, &e) &&
              image_add_channel(&part, "B", PIXEL_FLOAT, &e) && (p.img = image_new(&head, &e)) &&
              par_for(threads, p.h, draw_row, &p, &e) && image_save(argv[1], p.img, threads, &e);
    image_free(&p.img);
    par_close(&threads);
    if (!ok) fprintf(stderr, "make_street: %s\n", e.msg);
    return (int)e.code;
}
