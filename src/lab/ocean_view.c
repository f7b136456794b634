/* ocean_view.c - a view of the sea: rays from a camera to the water, which mirrors the sky. */
#include "base/number.h"
#include "image/format.h"
#include "lab/ocean.h"

#include <math.h>

enum { WIDTH = 960, HEIGHT = 540, SAMPLES = 2 }; /* a pixel has SAMPLES^2 rays */

typedef struct {
    float x, y, z; /* z is up; metres */
} vec;

/* Returns a + t b. */
static vec along(vec a, vec b, float t) {
    return (vec){a.x + t * b.x, a.y + t * b.y, a.z + t * b.z};
}
static float dot(vec a, vec b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static vec unit(vec a) {
    return along((vec){0, 0, 0}, a, 1 / sqrtf(dot(a, a)));
}
static vec mix(vec a, vec b, float t) {
    return along(along((vec){0, 0, 0}, a, 1 - t), b, t);
}

/* --- the surface ----------------------------------------------------------------------------- */

typedef struct {
    double *const *field;
    uint32_t n;
    image *picture;
} view;

/* The surface at a place in metres: its height and its slopes. */
typedef struct {
    float height, slope_x, slope_y;
} water;

/* Interpolates between four points of the grid, which goes round on all sides. */
static water water_at(const view *s, vec at) {
    float points = (float)s->n / OCEAN_PATCH, x = at.x * points, y = at.y * points;
    float fx = floorf(x), fy = floorf(y), u = x - fx, v = y - fy;
    size_t x0 = (uint32_t)((int)fx + 1024 * (int)s->n) % s->n, x1 = (x0 + 1) % s->n;
    size_t y0 = (uint32_t)((int)fy + 1024 * (int)s->n) % s->n, y1 = (y0 + 1) % s->n;
    const size_t place[4] = {y0 * s->n + x0, y0 * s->n + x1, y1 * s->n + x0, y1 * s->n + x1};
    const float weight[4] = {(1 - u) * (1 - v), u * (1 - v), (1 - u) * v, u * v};
    water sum = {0, 0, 0};
    for (int i = 0; i < 4; i++) {
        sum.height += weight[i] * (float)s->field[0][2 * place[i]];
        sum.slope_x += weight[i] * (float)s->field[2][2 * place[i]];
        sum.slope_y += weight[i] * (float)s->field[2][2 * place[i] + 1];
    }
    return sum;
}

/* --- light ----------------------------------------------------------------------------------- */

static const vec EYE = {40, 30, 6.5f};
static const float HIGHEST = 6;                     /* m: no wave is as high */
static const vec SUN = {0.7660f, 0.6320f, 0.1175f}; /* about seven degrees high */

static vec sky(vec d) {
    static const vec ZENITH = {0.06f, 0.14f, 0.32f}, HORIZON = {0.62f, 0.55f, 0.52f},
                     GLOW = {1.5f, 0.75f, 0.3f}, DISC = {900, 560, 260};
    float angle = acosf(min_float(dot(d, SUN), 1));
    vec c = mix(ZENITH, HORIZON, powf(1 - max_float(d.z, 0), 5));
    return along(along(c, GLOW, expf(-5 * angle)), DISC, expf(-powf(angle / 0.0075f, 4)));
}

/* What the water sends to the eye: it mirrors the sky by Fresnel's law, and shows its own colour
 * where one looks into a wave. */
static vec shade(const water *w, vec p, vec d, float distance) {
    static const vec DEEP = {0.003f, 0.012f, 0.018f}, CREST = {0.012f, 0.10f, 0.085f};
    float calm = expf(-distance / 700); /* far waves are smaller than a pixel */
    vec normal = unit((vec){-w->slope_x * calm, -w->slope_y * calm, 1});
    float facing = max_float(-dot(d, normal), 0.02f), f = 0.02f + 0.98f * powf(1 - facing, 5);
    vec mirrored = along(d, normal, 2 * facing);
    mirrored.z = fabsf(mirrored.z);
    float thin = clamp_float((p.z + 0.6f) / 3.5f, 0, 1) * max_float(dot(d, SUN), 0);
    return mix(mix(DEEP, CREST, thin * thin), sky(unit(mirrored)), f);
}

static vec trace(const view *s, vec d) {
    if (d.z > -1e-4f) return sky(d);
    float t = max_float((EYE.z - HIGHEST) / -d.z, 1), step = 0;
    for (;; t += step) {
        vec p = along(EYE, d, t);
        water w = water_at(s, p);
        if (p.z <= w.height || t > 6000) {
            for (int i = 0; i < 8 && t <= 6000; i++) { /* bisect the last step */
                step /= 2;
                t += p.z <= w.height ? -step : step;
                p = along(EYE, d, t);
                w = water_at(s, p);
            }
            vec haze = sky(unit((vec){d.x, d.y, 0.01f}));
            return mix(haze, shade(&w, p, d, t), expf(-t / 4000));
        }
        step = max_float(0.1f, 0.35f * (p.z - w.height)) + 0.002f * t;
    }
}

/* Renders a row of pixels. */
static bool render_row(void *ctx, size_t index, int worker, err *e) {
    (void)worker, (void)e;
    const view *v = ctx;
    const vec ahead = unit((vec){SUN.x - 0.13f, SUN.y + 0.13f, -0.065f});
    const vec right = unit((vec){ahead.y, -ahead.x, 0});
    const vec up = {right.y * ahead.z, -right.x * ahead.z, right.x * ahead.y - right.y * ahead.x};
    const float wide = 0.58f; /* the tangent of half the angle of view */
    for (size_t x = 0; x < WIDTH; x++) {
        vec sum = {0, 0, 0};
        for (int i = 0; i < SAMPLES * SAMPLES; i++) {
            float u = ((float)x + ((float)(i % SAMPLES) + 0.5f) / SAMPLES) * 2 / WIDTH - 1;
            float w = ((float)index + ((float)(i / SAMPLES) + 0.5f) / SAMPLES) * 2 / HEIGHT - 1;
            vec d = along(along(ahead, right, wide * u), up, -wide * w * HEIGHT / WIDTH);
            sum = along(sum, trace(v, unit(d)), 1.0f / (SAMPLES * SAMPLES));
        }
        const float rgb[3] = {sum.x, sum.y, sum.z};
        for (int c = 0; c < 3; c++)
            image_from_float(v->picture->plane[0][2 - c], PIXEL_HALF, index * WIDTH + x, &rgb[c],
                             1);
    }
    return true;
}

bool ocean_view(const char *path, double *const fields[OCEAN_IMAGES], uint32_t n, par *threads,
                err *e) {
    view v = {fields, n, image_plain(WIDTH, HEIGHT, 3, PIXEL_HALF, e)};
    bool ok = v.picture && par_for(threads, HEIGHT, render_row, &v, e) &&
              image_save(path, v.picture, threads, e);
    image_free(&v.picture);
    return ok;
}
