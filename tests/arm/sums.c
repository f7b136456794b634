/* sums.c - prints sums of the bytes that the CPU engine makes, for processors to be compared:
 * tests/cli/arm.bats compiles it for this one and for aarch64. It shares nothing with the tests
 * that say whether these bytes are right. */
#include "base/mem.h"
#include "engine/engine.h"
#include "image/scan.h"
#include "math/lanes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed = 1;

static uint64_t noise(void) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed >> 33;
}

static uint64_t sum_of(const void *bytes, size_t n) { /* FNV-1a */
    const unsigned char *at = bytes;
    uint64_t sum = 14695981039346656037u;
    for (size_t i = 0; i < n; i++) sum = (sum ^ at[i]) * 1099511628211u;
    return sum;
}

static void need(bool ok, const err *e) {
    if (ok) return;
    fprintf(stderr, "sums: %s\n", e->msg);
    exit(1);
}

enum { LINES = 4 }; /* every form has as many lanes */

/* Transforms the columns of a matrix, then its rows. */
static void transform(const lanes *f, const lanes_code *code, bool float64, char *plane,
                      char *scratch) {
    size_t part = float64 ? sizeof(double) : sizeof(float), number = 2 * code->lanes * part;
    for (int pass = 0; pass < 2; pass++) {
        uint32_t lines = pass ? f->a : f->b, each = pass ? f->b : f->a;
        for (uint32_t i = 0; i < lines; i++) {
            char *at = plane + (pass ? (size_t)i * f->pitch : i) * number;
            const char *turns = (const char *)f->turns + (size_t)2 * i * each * part;
            code->line(&(lanes_line){.level = pass ? &f->row : &f->column,
                                     .from = at,
                                     .at = pass ? f->along : f->down,
                                     .turns = pass ? turns : NULL,
                                     .to = at,
                                     .step = pass ? 1 : f->pitch,
                                     .count = UINT32_MAX,
                                     .scratch = {scratch, scratch + (f->a + f->b) * number}});
        }
    }
}

static void lines(uint32_t n, bool float64) {
    err e = {0};
    const lanes_code *code = lanes_code_of(lanes_form(), float64);
    size_t part = float64 ? sizeof(double) : sizeof(float), number = 2 * code->lanes * part;
    lanes *f = lanes_new(n, float64, &e);
    need(f, &e);
    size_t room = (size_t)f->a * f->pitch;
    char *plane = mem_new(room, number, "matrix", &e);
    char *scratch = mem_new(2 * (size_t)(f->a + f->b), number, "scratch", &e);
    char *got = mem_new(n, 2 * LINES * part, "result", &e);
    need(plane && scratch && got, &e);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t v = 0; v < 2 * LINES; v++) {
            double x = (double)noise() - 0x1p30;
            x = ldexp(x, (int)(noise() % 40) - 60);
            size_t at = (size_t)f->seat[i] * 2 * code->lanes + v / LINES * code->lanes + v % LINES;
            if (float64)
                ((double *)plane)[at] = x;
            else
                ((float *)plane)[at] = (float)x;
        }
    transform(f, code, float64, plane, scratch);
    for (uint32_t k = 0; k < n; k++)
        for (int i = 0; i < 2; i++)
            memcpy(got + ((size_t)2 * k + (size_t)i) * LINES * part,
                   plane + f->place[k] * number + (size_t)i * code->lanes * part, LINES * part);
    printf("%u numbers in %s: %016" PRIx64 "\n", n, float64 ? "doubles" : "floats",
           sum_of(got, (size_t)n * 2 * LINES * part));
    lanes_free(&f);
    mem_free(plane);
    mem_free(scratch);
    mem_free(got);
}

enum { W = 150, H = 93, KW = 34, KH = 27 };

static psf make_kernel(void) {
    static float tap[KW * KH];
    const float *plane = tap;
    psf k;
    err e = {0};
    const psf_options o = {.center = PSF_AT, .at = {16.25, 13}}; /* moved by a transform */
    for (int i = 0; i < KW * KH; i++) {
        int x = i % KW - KW / 2, y = i / KW - KH / 2;
        tap[i] = 1 / (float)(1 + x * x + 2 * y * y + (x > 0));
    }
    need(psf_make(&k, &(psf_planes){KW, KH, 1, &plane, NULL}, &o, &e), &e);
    return k;
}

/* An image: noise, a light, and numbers that are too small for ordinary floats. */
static void fill(float *plane) {
    for (int i = 0; i < W * H; i++) {
        float v = (float)noise() * 0x1p-31f;
        if (i % 61 == 0) v *= 0x1p-120f;
        if (i == 40 * W + 70) v = 60000;
        plane[i] = v;
    }
}

static void image_of(const spectrum *s, plan_border border, plan_axis_order order, bool float64,
                     spectrum_mode mode, par *threads) {
    static float plane[W * H];
    static double result[W * H];
    const psf *k = &s->kernel;
    const plan_request ask = {.size = {W, H},
                              .reach_lo = {k->cx, k->cy},
                              .reach_hi = {k->w - 1 - k->cx, k->h - 1 - k->cy},
                              .border = {border, border},
                              .order = order,
                              .precision = float64 ? PRECISION_FLOAT64 : PRECISION_FLOAT32,
                              .channels = 1,
                              .spectra = 1,
                              .planes.out = float64 ? PLAN_DOUBLES : PLAN_FLOATS};
    plan p;
    err e = {0};
    spectrum_lines l;
    engine_device d;
    need(plan_make(&p, &ask, &e) && ENGINE_KIND_CPU.devices(&d, 1), &e);
    const spectrum_request want = {.mode = mode,
                                   .first = p.first,
                                   .length = {p.axis[0].length, p.axis[1].length},
                                   .float64 = float64};
    need(spectrum_at(&l, s, &want, threads, &e), &e);
    engine *g = ENGINE_KIND_CPU.open(&d, threads, NULL, &e);
    need(g && engine_prepare(g, &p, &l, &(engine_options){.slots = 1}, &e), &e);
    spectrum_lines_free(&l);
    fill(plane);
    const void *from = plane;
    void *to = result;
    const double tap = 0.25, gain = 0.75;
    const join how = join_plain(1, &tap, &gain);
    engine_frame f = {.in = &from, .out = &to, .join = &how};
    need(engine_run(g, &f, NULL, &e), &e);
    engine_close(&g);
    printf("%s, %s first, %s, %s: %016" PRIx64 "\n", plan_border_name(border),
           order == AXIS_X ? "x" : "y", float64 ? "doubles" : "floats", spectrum_mode_name(mode),
           sum_of(result, W * H * (float64 ? sizeof(double) : sizeof(float))));
}

int main(void) {
    static const uint32_t LENGTH[] = {1, 2, 30, 49, 125, 216, 864, 1215, 1280, 2048};
    err e = {0};
    spectrum s;
    par *threads = par_open(2, &e);
    need(threads, &e);
    for (size_t i = 0; i < sizeof LENGTH / sizeof *LENGTH; i++) {
        lines(LENGTH[i], false);
        lines(LENGTH[i], true);
    }
    psf k = make_kernel();
    printf("kernel: %016" PRIx64 "\n", sum_of(k.tap, (size_t)k.w * k.h * sizeof *k.tap));
    need(spectrum_make(&s, &k, threads, &e), &e);
    printf("spectrum: %016" PRIx64 "\n", sum_of(s.value, spectrum_floats(&s) * sizeof *s.value));
    for (int b = 0; b < BORDERS; b++)
        for (int i = 0; i < 6; i++)
            image_of(&s, (plan_border)b, i % 2 ? AXIS_Y : AXIS_X, i > 3,
                     i / 2 == 0 ? SPECTRUM_RESAMPLED : SPECTRUM_EXACT, threads);
    spectrum_free(&s);
    psf_free(&k);
    par_close(&threads);
    return 0;
}
