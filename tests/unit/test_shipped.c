/* The shipped recipes, by what a person sees in them: each kernel blooms a white lamp of 4 x 4
 * pixels whose light is 32000 times white. A step is the first of 8 bits in sRGB, 3e-4 of white.
 * They are made at half of their size; SHIPPED_SCALE=1 takes another, which takes longer. */
#include "base/mem.h"
#include "kernel/lint.h"
#include "kernel/make/kernel_recipe.h"
#include "unit/check.h"

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIRECTIONS = 360, LAMP = 4, RADII = 120 };
static const double STEP = 3e-4;

typedef struct {
    const char *path;
    kernel_recipe r;
    float *plane[MODEL_CHANNELS];
    double *lit[MODEL_CHANNELS]; /* what the lamp becomes */
    uint32_t channels;
    double light; /* of the lamp: of 32000 in a picture of full size */
    bool ring;    /* the recipe says that it has one */
} look;

static double tap(const look *k, uint32_t c, int64_t x, int64_t y) {
    bool in = x >= 0 && y >= 0 && x < k->r.w && y < k->r.h;
    return in ? (double)k->plane[c][(size_t)y * k->r.w + (size_t)x] : 0;
}

static look make(const char *path, double scale, par *threads) {
    look k = {.path = path, .light = 32000 * scale * scale};
    err e = {0};
    CHECK_OK(kernel_recipe_file(&k.r, path, threads, &e), e);
    CHECK_OK(kernel_recipe_scale(&k.r, scale, &e), e);
    CHECK_OK(kernel_recipe_make(k.plane, &k.channels, &k.r, threads, &e), e);
    char words[4096] = "";
    FILE *f = fopen(path, "r");
    assert_true(f && fread(words, 1, sizeof words - 1, f) > 0);
    fclose(f);
    k.ring = strstr(words, "\"is\": \"ring\"") != NULL;
    for (uint32_t c = 0; c < k.channels; c++) {
        k.lit[c] = calloc((size_t)k.r.w * k.r.h, sizeof(double));
        for (int64_t y = 0; y < k.r.h; y++)
            for (int64_t x = 0; x < k.r.w; x++)
                for (int i = 0; i < LAMP * LAMP; i++)
                    k.lit[c][y * k.r.w + x] += k.light / (LAMP * LAMP) *
                                               tap(&k, c, x - i % LAMP + 2, y - i / LAMP + 2);
    }
    return k;
}

static void drop(look *k) {
    for (int c = 0; c < MODEL_CHANNELS; c++) {
        mem_free(k->plane[c]);
        free(k->lit[c]);
    }
    kernel_recipe_free(&k->r);
}

static int rising(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns the median of a ring of the lamp's picture; the middle of the lamp is half a pixel before
 * the middle tap. */
static double median(const look *k, uint32_t c, double r) {
    double v[DIRECTIONS];
    for (int d = 0; d < DIRECTIONS; d++) {
        double a = 2 * M_PI * d / DIRECTIONS, x = k->r.w / 2 - 0.5 + r * cos(a),
               y = k->r.h / 2 - 0.5 + r * sin(a), fx = x - floor(x), fy = y - floor(y);
        const double *at = k->lit[c] + (size_t)y * k->r.w + (size_t)x;
        v[d] = (1 - fy) * ((1 - fx) * at[0] + fx * at[1]) +
               fy * ((1 - fx) * at[k->r.w] + fx * at[k->r.w + 1]);
    }
    qsort(v, DIRECTIONS, sizeof *v, rising);
    return v[DIRECTIONS / 2];
}

/* A single pixel does not stay a square: its neighbours have a ninth of its light or more. */
static void check_core(const look *k) {
    int64_t x = k->r.w / 2, y = k->r.h / 2;
    for (uint32_t c = 0; c < k->channels; c++) {
        double beside = tap(k, c, x - 1, y) + tap(k, c, x + 1, y) + tap(k, c, x, y - 1) +
                        tap(k, c, x, y + 1);
        if (!(beside / 4 >= 0.11 * tap(k, c, x, y)))
            fail_msg("%s: channel %u: the neighbours have only %.3f of the middle", k->path, c,
                     beside / 4 / tap(k, c, x, y));
    }
}

/* No dark gap: rings get darker outwards. No visible end: none falls faster than r^-8. */
static void check_rings(const look *k, double scale) {
    double most = 0.96 * (k->r.w < k->r.h ? k->r.w : k->r.h) / 2 - 2,
           ratio = pow(most / 4, 1.0 / RADII);
    for (uint32_t c = 0; c < k->channels; c++) {
        double lowest = INFINITY;
        for (int i = 0; i < RADII; i++) {
            double r = 4 * pow(ratio, i), now = median(k, c, r), far = 1.2 * r;
            if (now < STEP) break;
            if (!k->ring && now > 1.05 * lowest)
                fail_msg("%s: channel %u is brighter at %.1f than within", k->path, c, r);
            lowest = fmin(lowest, now);
            double fall = far < most ? log(now / median(k, c, far)) / log(1.2) : 0;
            if (fall > 8 && r > 10 * scale)
                fail_msg("%s: channel %u ends at %.1f: r^-%.1f", k->path, c, r, fall);
        }
    }
}

/* The square does not show: no outermost tap makes half a step of a lamp of 1e5. */
static void check_border(const look *k) {
    for (uint32_t c = 0; c < k->channels; c++)
        for (int64_t i = 0; i < (int64_t)k->r.w * k->r.h; i++) {
            int64_t x = i % k->r.w, y = i / k->r.w;
            if (x > 0 && y > 0 && x < k->r.w - 1 && y < k->r.h - 1) continue;
            if (tap(k, c, x, y) * 1e5 > STEP / 2)
                fail_msg("%s: the border shows at %d, %d", k->path, (int)x, (int)y);
        }
}

TEST(looks) {
    const char *size = getenv("SHIPPED_SCALE");
    double scale = size ? atof(size) : 0.5;
    glob_t all;
    err e = {0};
    par *threads = par_open(0, &e);
    assert_int_equal(glob("kernels/*.json", 0, NULL, &all), 0);
    assert_true(all.gl_pathc >= 12 && all.gl_pathc <= 16);
    for (size_t i = 0; i < all.gl_pathc; i++) {
        look k = make(all.gl_pathv[i], scale, threads);
        const psf_planes taps = {k.r.w, k.r.h, k.channels, (const float *const *)k.plane};
        char faults[LINT_WORDS];
        CHECK_OK(lint_glance(faults, &taps, false, &e), e);
        if (*faults) fail_msg("%s: %s", k.path, faults);
        if (scale >= 1) check_core(&k);
        check_rings(&k, scale);
        check_border(&k);
        drop(&k);
    }
    globfree(&all);
    par_close(&threads);
}

int main(void) {
    return check_run(NULL, NULL);
}
