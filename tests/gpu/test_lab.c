/* Every transform of the lab, at every size it takes, forward and inverse, on the CPU and on a
 * Vulkan device under the validation layers: against a transform in double, which is compared with
 * the definition first. LAB_TEST_MOST=4096 goes on to larger sizes. */
#include "gpu/pipeline.h"
#include "unit/check.h"

#include "base/mem.h"
#include "engine/engine.h"
#include "lab/lab_run.h"
#include "lab/ocean.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static par *threads;
static engine_device device;
static bool has_device;

/* The definition, one axis after the other. */
static void define(double *image, uint32_t n) {
    double *line = calloc(n, 2 * sizeof *line);
    for (int columns = 0; columns < 2; columns++)
        for (uint32_t l = 0; l < n; l++) {
            double *first = image + 2 * (size_t)l * (columns ? 1 : n);
            size_t step = 2 * (size_t)(columns ? n : 1);
            for (uint32_t k = 0; k < n; k++) {
                double re = 0, im = 0;
                for (uint32_t i = 0; i < n; i++) {
                    double angle = -2 * M_PI * (double)(k * i % n) / n, c = cos(angle),
                           s = sin(angle);
                    re += first[i * step] * c - first[i * step + 1] * s;
                    im += first[i * step] * s + first[i * step + 1] * c;
                }
                line[2 * k] = re, line[2 * k + 1] = im;
            }
            for (uint32_t k = 0; k < n; k++)
                first[k * step] = line[2 * k], first[k * step + 1] = line[2 * k + 1];
        }
    free(line);
}

TEST(the_reference_is_the_definition) {
    static const uint32_t SIZE[] = {16, 18, 35, 60, 63, 64};
    for (size_t s = 0; s < sizeof SIZE / sizeof SIZE[0]; s++) {
        uint32_t n = SIZE[s];
        lab_truth t = {0};
        err e = {0};
        CHECK_OK(lab_truth_make(&t, n, threads, &e), e);
        double *want = calloc((size_t)n * n, 2 * sizeof *want);
        memcpy(want, t.value[LAB_BACKWARD], 2 * sizeof *want * n * n);
        define(want, n);
        for (size_t i = 0; i < 2 * (size_t)n * n; i++)
            CHECK_LE(fabs(want[i] - t.value[LAB_FORWARD][i]), 1e-12 * n);
        free(want);
        lab_truth_free(&t);
    }
}

/* docs/math.md, "The error of a transform"; a sum of n terms in a row has n levels. */
static double bound(const lab_transform *t, uint32_t n) {
    double levels = strcmp(t->name, "dft") == 0 ? 2.0 * n : 2 * log2(n);
    return 0x1p-24 * (3 + 0.7 * sqrt(levels));
}

static void check_all(uint32_t n, const lab_gpu *gpu) {
    lab_truth truth = {0};
    err e = {0};
    CHECK_OK(lab_truth_make(&truth, n, threads, &e), e);
    for (int i = 0; i < LAB_TRANSFORM_COUNT; i++) {
        const lab_transform *t = &LAB_TRANSFORMS[i];
        lab_row r;
        if (!t->takes(n) || (t->program && !gpu) || (t->length && t->length(n) != n)) continue;
        CHECK_OK(lab_run(&r, &(lab_request){.t = t, .truth = &truth, .gpu = gpu}, &e), e);
        for (int way = 0; way < LAB_WAYS; way++)
            if (!(r.part[way].rms <= bound(t, n)) || !(r.part[way].worst <= 8 * bound(t, n)))
                fail_msg("%s of %u, way %d: rms %g, worst %g, bound %g", t->name, n, way,
                         r.part[way].rms, r.part[way].worst, bound(t, n));
        assert_true(r.all.bytes >= 16.0 * n * n);
    }
    lab_truth_free(&truth);
}

TEST(every_transform_at_every_size) {
    static const uint32_t SIZE[] = {16,  20,  32,  60,  64,   98,   128,
                                    135, 256, 360, 512, 1024, 2048, 4096};
    const char *most = getenv("LAB_TEST_MOST");
    uint32_t end = most ? (uint32_t)atoi(most) : 128;
    lab_gpu gpu = {0};
    err e = {0};
    if (has_device) CHECK_OK(lab_gpu_open(&gpu, &device, &e), e);
    for (size_t s = 0; s < sizeof SIZE / sizeof SIZE[0] && SIZE[s] <= end; s++)
        check_all(SIZE[s], has_device ? &gpu : NULL);
    if (has_device) lab_gpu_close(&gpu);
}

/* The height of the sea, or with `potential` the field whose gradient the displacements are, at any
 * place: a sum over its waves. */
static double sum_of_waves(const ocean *o, uint32_t frame, bool potential, double x, double y) {
    double sum = 0, n = o->n, step = 2 * M_PI / OCEAN_PATCH;
    for (uint32_t i = 0; i < o->n * o->n; i++) {
        int fx = (int)(i % o->n), fy = (int)(i / o->n);
        double kx = step * (2 * fx < (int)o->n ? fx : fx - (int)o->n);
        double ky = step * (2 * fy < (int)o->n ? fy : fy - (int)o->n), k = hypot(kx, ky);
        double turn = 2 * M_PI * (double)((uint64_t)o->turns[i] * frame % OCEAN_LOOP) / OCEAN_LOOP;
        const float *w = o->wave[i];
        double here = kx * x + ky * y;
        /* Real parts of h0(k) exp(i (here + turn)) and of conj(h0(-k)) exp(i (here - turn)). */
        double part = w[0] * cos(here + turn) - w[1] * sin(here + turn) + w[2] * cos(here - turn) -
                      w[3] * sin(here - turn);
        if (k > 0) sum += potential ? part / k : part;
    }
    return sum / (n * n);
}

TEST(the_sea_is_the_sum_of_its_waves) {
    enum { N = 64, FRAME = 1234 };
    const double e = 1e-3 * OCEAN_PATCH / N;
    ocean o = {0};
    err error = {0};
    double *image[OCEAN_IMAGES];
    for (int i = 0; i < OCEAN_IMAGES; i++)
        image[i] = mem_raw(N * N, 2 * sizeof(double), "image", NULL);
    CHECK_OK(ocean_make(&o, N, &error) && ocean_fields(image, &o, FRAME, threads, &error), error);
#define H(p, q) sum_of_waves(&o, FRAME, false, (p), (q))
#define P(p, q) sum_of_waves(&o, FRAME, true, (p), (q))
    for (uint32_t i = 5; i < N * N; i += 977) {
        double x = i % N * (double)OCEAN_PATCH / N, y = i / N * (double)OCEAN_PATCH / N;
        const double want[OCEAN_IMAGES][2] = {
            {H(x, y),
             (P(x + e, y - e) - P(x + e, y + e) + P(x - e, y + e) - P(x - e, y - e)) / (4 * e * e)},
            {(P(x - e, y) - P(x + e, y)) / (2 * e), (P(x, y - e) - P(x, y + e)) / (2 * e)},
            {(H(x + e, y) - H(x - e, y)) / (2 * e), (H(x, y + e) - H(x, y - e)) / (2 * e)},
            {(2 * P(x, y) - P(x - e, y) - P(x + e, y)) / (e * e),
             (2 * P(x, y) - P(x, y - e) - P(x, y + e)) / (e * e)}};
        for (int f = 0; f < OCEAN_IMAGES; f++)
            for (int part = 0; part < 2; part++)
                CHECK_LE(fabs(image[f][2 * i + part] - want[f][part]), 1e-5);
    }
    for (int i = 0; i < OCEAN_IMAGES; i++) mem_free(image[i]);
    ocean_free(&o);
}

/* A finer grid has the waves of a coarser one, so it shows the same sea. */
TEST(a_finer_sea_has_the_same_waves) {
    ocean coarse = {0}, fine = {0};
    err e = {0};
    CHECK_OK(ocean_make(&coarse, 64, &e) && ocean_make(&fine, 128, &e), e);
    for (int y = -31; y < 32; y++)
        for (int x = -31; x < 32; x++) {
            size_t c = (size_t)((y + 64) % 64) * 64 + (size_t)((x + 64) % 64);
            size_t f = (size_t)((y + 128) % 128) * 128 + (size_t)((x + 128) % 128);
            assert_int_equal(coarse.turns[c], fine.turns[f]);
            for (int i = 0; i < 4; i++) /* both times n^2 */
                CHECK_LE(fabs(4 * (double)coarse.wave[c][i] - (double)fine.wave[f][i]),
                         1e-6 * fabs((double)fine.wave[f][i]));
        }
    ocean_free(&coarse);
    ocean_free(&fine);
}

int main(void) {
    engine_device all[ENGINE_DEVICES];
    uint32_t n = pipe_devices(all);
    for (uint32_t i = 0; i < n && !has_device; i++)
        if (all[i].class != ENGINE_CPU) device = all[i], has_device = true;
    threads = par_open(2, NULL);
    int failed = check_run(NULL, NULL);
    par_close(&threads);
    return failed;
}
