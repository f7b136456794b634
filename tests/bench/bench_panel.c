/* bench_panel.c - writes a picture for the panel of `make bench-promise`:
 *
 *     bench_panel KIND OUT.exr WIDTH HEIGHT
 *
 * Kinds: grain (a plate with grain, nothing brighter than 4), negative (the same, and its blacks go
 * below zero), night (a dark plate), stars (a starfield with noise of both signs), street (5000
 * lights of 2 x 2 pixels), crowd (20,000 lights), fireflies (a smooth render with bright single
 * pixels), sun (a disc of 65504 over a dusk), lamps (40 lamps on true black). */
#include "unit/street.h"

static double gauss(uint64_t *seed) { /* twelve chances are nearly Gaussian */
    double g = -6;
    for (int k = 0; k < 12; k++) g += make_chance(seed);
    return g;
}

/* What a pixel has without lights; u and v run from 0 to 1 over the image. */
static double plate(const char *kind, double u, double v, uint64_t *seed) {
    double wave = 0.5 + 0.25 * sin(9 * u + 4 * v) + 0.25 * sin(13 * v - 5 * u);
    if (strcmp(kind, "grain") == 0) return 0.18 * exp(2 * wave - 1) * (1 + 0.05 * gauss(seed));
    if (strcmp(kind, "negative") == 0) return 0.3 * wave * wave * wave + 0.004 * gauss(seed);
    if (strcmp(kind, "night") == 0) return 0.002 * exp(wave + 0.3 * gauss(seed));
    if (strcmp(kind, "stars") == 0) return 0.01 + 0.002 * gauss(seed);
    if (strcmp(kind, "fireflies") == 0) return 0.02 + 0.4 * wave * wave;
    if (strcmp(kind, "sun") == 0) return 0.01 + 0.8 * exp(-6 * fabs(v - 0.5));
    if (strcmp(kind, "lamps") == 0) return 0;
    return 0.01 * exp(gauss(seed)); /* street, crowd */
}

/* Lights: how many, their side in pixels, and the decades of their strength. */
typedef struct {
    const char *kind;
    uint32_t lights, side;
    double from, decades;
} bench_lights;
static const bench_lights LIGHTS[] = {
    {"stars", 4000, 1, -1, 4},     {"street", 5000, 2, 1, 3}, {"crowd", 20000, 2, 0, 4},
    {"fireflies", 300, 1, 2, 2.5}, {"sun", 1, 40, 4.8, 0},    {"lamps", 40, 4, 2, 2},
};

static void add_lights(image *img, const bench_lights *l, uint64_t *seed) {
    uint32_t w = image_width(&img->head.part[0]), h = image_height(&img->head.part[0]);
    for (uint32_t n = 0; n < l->lights; n++) {
        uint32_t x = (uint32_t)(make_chance(seed) * (w - l->side)),
                 y = (uint32_t)(make_chance(seed) * (h - l->side));
        double v = pow(10, l->from + l->decades * make_chance(seed));
        for (int c = 0; c < img->head.part[0].channels; c++) {
            float tint = (float)fmin(65504, v * (0.4 + 0.6 * make_chance(seed)));
            for (uint32_t i = 0; i < l->side * l->side; i++)
                glare_put(img, c, (size_t)(y + i / l->side) * w + x + i % l->side, tint);
        }
    }
}

int main(int argc, char **argv) {
    err e = {0};
    if (argc != 5) {
        fprintf(stderr, "bench_panel KIND OUT.exr WIDTH HEIGHT\n");
        return 64;
    }
    const char *kind = argv[1];
    uint32_t w = (uint32_t)atoi(argv[3]), h = (uint32_t)atoi(argv[4]);
    uint64_t seed = 1;
    OWN(image) *img = glare_image("B:half G:half R:half", w, h);
    for (uint32_t i = 0; i < w * h; i++)
        for (int c = 0; c < 3; c++)
            glare_put(img, c, i,
                      (float)plate(kind, (double)(i % w) / w, (double)(i / w) / h, &seed));
    for (size_t k = 0; k < sizeof LIGHTS / sizeof *LIGHTS; k++)
        if (strcmp(LIGHTS[k].kind, kind) == 0) add_lights(img, &LIGHTS[k], &seed);
    bool ok = image_save(argv[2], img, make_threads(), &e);
    if (!ok) fprintf(stderr, "bench_panel: %s\n", e.msg);
    return ok ? 0 : 1;
}
