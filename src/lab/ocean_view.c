#include "lab/ocean.h"

#include "base/mem.h"
#include "base/number.h"
#include "image/format.h"

#include <math.h>

enum { WIDTH = 960, HEIGHT = 540, SAMPLES = 2 }; /* a pixel has SAMPLES^2 rays */

typedef struct {
    float x, y, z; /* z is up; metres */
} vec;

static vec view_add(vec a, vec b) {
    return (vec){a.x + b.x, a.y + b.y, a.z + b.z};
}
static vec scale(vec a, float s) {
    return (vec){a.x * s, a.y * s, a.z * s};
}
static float dot(vec a, vec b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static vec unit(vec a) {
    return scale(a, 1 / sqrtf(dot(a, a)));
}
static vec mix(vec a, vec b, float t) {
    return view_add(scale(a, 1 - t), scale(b, t));
}

/* --- the surface ----------------------------------------------------------------------------- */

/* Crests are sharp where the points of the surface are pulled towards them. */
static const float CHOPPY = -1.15f;

/* The surface at a place of the grid. */
typedef struct {
    float height, slope_x, slope_y;
    float area; /* of the surface, relative to calm water: small where it folds into foam */
} water;

typedef struct {
    double *const *field;
    uint32_t n;
    water *at;
    float highest;
} surface;

/* Returns field `part` (0: a, 1: b) of an image, between the points of the grid. */
static float sample(const surface *s, int which, int part, float x, float y) {
    float fx = floorf(x), fy = floorf(y), u = x - fx, v = y - fy;
    uint32_t n = s->n, x0 = (uint32_t)((int)fx + 1024 * (int)n) % n, x1 = (x0 + 1) % n;
    uint32_t y0 = (uint32_t)((int)fy + 1024 * (int)n) % n, y1 = (y0 + 1) % n;
    const double *a = s->field[which] + part;
    float top = (float)a[2 * ((size_t)y0 * n + x0)] * (1 - u) +
                (float)a[2 * ((size_t)y0 * n + x1)] * u;
    float low = (float)a[2 * ((size_t)y1 * n + x0)] * (1 - u) +
                (float)a[2 * ((size_t)y1 * n + x1)] * u;
    return top * (1 - v) + low * v;
}

/* Fills a row of the surface. The fields belong to points that move to x + CHOPPY D(x); so the
 * point that has moved to x is looked for first. */
static bool make_row(void *ctx, size_t index, int worker, err *e) {
    (void)worker, (void)e;
    surface *s = ctx;
    float points = (float)s->n / OCEAN_PATCH; /* of the grid, a metre */
    for (uint32_t i = 0; i < s->n; i++) {
        float x = (float)i, y = (float)index;
        for (int k = 0; k < 6; k++) {
            float dx = sample(s, 1, 0, x, y), dy = sample(s, 1, 1, x, y);
            x = (float)i - CHOPPY * dx * points;
            y = (float)index - CHOPPY * dy * points;
        }
        float jx = 1 + CHOPPY * sample(s, 3, 0, x, y), jy = 1 + CHOPPY * sample(s, 3, 1, x, y);
        float jxy = CHOPPY * sample(s, 0, 1, x, y);
        s->at[index * s->n + i] = (water){.height = sample(s, 0, 0, x, y),
                                          .slope_x = sample(s, 2, 0, x, y) / max_float(jx, 0.3f),
                                          .slope_y = sample(s, 2, 1, x, y) / max_float(jy, 0.3f),
                                          .area = jx * jy - jxy * jxy};
    }
    return true;
}

/* Returns the surface at a place in metres. */
static water water_at(const surface *s, float x, float y) {
    float points = (float)s->n / OCEAN_PATCH;
    x *= points, y *= points;
    float fx = floorf(x), fy = floorf(y), u = x - fx, v = y - fy;
    uint32_t n = s->n, x0 = (uint32_t)((int)fx + 1024 * (int)n) % n, x1 = (x0 + 1) % n;
    uint32_t y0 = (uint32_t)((int)fy + 1024 * (int)n) % n, y1 = (y0 + 1) % n;
    const water *p[4] = {&s->at[y0 * n + x0], &s->at[y0 * n + x1], &s->at[y1 * n + x0],
                         &s->at[y1 * n + x1]};
    const float w[4] = {(1 - u) * (1 - v), u * (1 - v), (1 - u) * v, u * v};
    water sum = {0, 0, 0, 0};
    for (int i = 0; i < 4; i++) {
        sum.height += w[i] * p[i]->height;
        sum.slope_x += w[i] * p[i]->slope_x;
        sum.slope_y += w[i] * p[i]->slope_y;
        sum.area += w[i] * p[i]->area;
    }
    return sum;
}

/* --- light ----------------------------------------------------------------------------------- */

static const vec EYE = {40, 30, 6.5f};
static const vec SUN = {0.7660f, 0.6320f, 0.1175f}; /* about seven degrees high */

static vec sky(vec d) {
    static const vec ZENITH = {0.06f, 0.14f, 0.32f}, HORIZON = {0.62f, 0.55f, 0.52f},
                     GLOW = {1.5f, 0.75f, 0.3f}, DISC = {900, 560, 260};
    float up = max_float(d.z, 0), cosine = min_float(dot(d, SUN), 1), angle = acosf(cosine);
    vec c = mix(ZENITH, HORIZON, powf(1 - up, 5));
    c = view_add(c, scale(GLOW, expf(-5 * angle)));
    return view_add(c, scale(DISC, expf(-powf(angle / 0.0075f, 4))));
}

/* What the water sends to the eye: it mirrors the sky by Fresnel's law, shows its own colour where
 * one looks into a wave, and foam where it folds. */
static vec shade(const water *w, vec p, vec d, float distance) {
    static const vec DEEP = {0.003f, 0.012f, 0.018f}, CREST = {0.012f, 0.10f, 0.085f};
    float calm = expf(-distance / 700); /* far waves are smaller than a pixel */
    vec normal = unit((vec){-w->slope_x * calm, -w->slope_y * calm, 1});
    float facing = max_float(-dot(d, normal), 0.02f), f = 0.02f + 0.98f * powf(1 - facing, 5);
    vec mirrored = view_add(d, scale(normal, 2 * facing));
    mirrored.z = fabsf(mirrored.z);
    float thin = clamp_float((p.z + 0.6f) / 3.5f, 0, 1) * max_float(dot(d, SUN), 0);
    vec c = mix(mix(DEEP, CREST, thin * thin), sky(unit(mirrored)), f);
    float foam = clamp_float((0.45f - w->area) / 0.55f, 0, 1) * expf(-distance / 250);
    return mix(c, (vec){0.62f, 0.60f, 0.58f}, 0.75f * foam);
}

static vec trace(const surface *s, vec d) {
    if (d.z > -1e-4f) return sky(d);
    float t = max_float((EYE.z - s->highest) / -d.z, 1), step = 0;
    for (;; t += step) {
        vec p = view_add(EYE, scale(d, t));
        water w = water_at(s, p.x, p.y);
        if (p.z <= w.height || t > 6000) {
            for (int i = 0; i < 8 && t <= 6000; i++) { /* bisect the last step */
                step /= 2;
                t += p.z <= w.height ? -step : step;
                p = view_add(EYE, scale(d, t));
                w = water_at(s, p.x, p.y);
            }
            vec haze = sky(unit((vec){d.x, d.y, 0.01f}));
            return mix(haze, shade(&w, p, d, t), expf(-t / 4000));
        }
        step = max_float(0.1f, 0.35f * (p.z - w.height)) + 0.002f * t;
    }
}

typedef struct {
    const surface *s;
    image *picture;
    int channel[3];
} view;

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
            vec d = view_add(
                ahead, view_add(scale(right, wide * u), scale(up, -wide * w * HEIGHT / WIDTH)));
            sum = view_add(sum, trace(v->s, unit(d)));
        }
        const float rgb[3] = {sum.x, sum.y, sum.z};
        for (int c = 0; c < 3; c++) {
            float value = rgb[c] / (SAMPLES * SAMPLES);
            image_from_float(v->picture->plane[0][v->channel[c]], PIXEL_HALF, index * WIDTH + x,
                             &value, 1);
        }
    }
    return true;
}

/* --- the picture ----------------------------------------------------------------------------- */

static image *new_picture(err *e) {
    static const char *const NAME[] = {"R", "G", "B"};
    const image_box box = {0, 0, WIDTH - 1, HEIGHT - 1};
    image_header h = {"exr", mem_new(1, sizeof *h.part, "part", e), 1};
    image *img = NULL;
    bool ok = h.part != NULL;
    if (ok)
        *h.part =
            (image_part){.data = box, .display = box, .aspect = 1, .packing = COMPRESSION_ZIP};
    for (int c = 0; c < 3 && ok; c++) ok = image_add_channel(h.part, NAME[c], PIXEL_HALF, e);
    if (ok) img = image_new(&h, e);
    image_header_free(&h);
    return img;
}

bool ocean_view(const char *path, double *const fields[OCEAN_IMAGES], uint32_t n, par *threads,
                err *e) {
    surface s = {.field = fields, .n = n};
    view v = {&s, new_picture(e), {0, 0, 0}};
    s.at = mem_raw((size_t)n * n, sizeof *s.at, "surface", e);
    bool ok = v.picture && s.at && par_for(threads, n, make_row, &s, e);
    for (size_t i = 0; ok && i < (size_t)n * n; i++)
        s.highest = max_float(s.highest, s.at[i].height);
    for (int c = 0; ok && c < 3; c++)
        v.channel[c] =
            image_find_channel(&v.picture->head.part[0], (const char *[]){"R", "G", "B"}[c]);
    ok = ok && par_for(threads, HEIGHT, render_row, &v, e) &&
         image_save(path, v.picture, threads, e);
    mem_free(s.at);
    image_free(&v.picture);
    return ok;
}
