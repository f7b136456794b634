/* sums.c - prints sums of the bytes that the CPU engine makes, for processors to be compared:
 * tests/cli/arm.bats compiles it for this one and for aarch64. It shares nothing with the tests
 * that say whether these bytes are right. */
#include "base/mem.h"
#include "engine/engine.h"
#include "image/scan.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed = 1;
static par *threads;

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

enum { MOST = 1280 * 93, KW = 34, KH = 27 };

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
static void fill(float *plane, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        float v = (float)noise() * 0x1p-31f;
        if (i % 61 == 0) v *= 0x1p-120f;
        if (i == n / 2) v = 60000;
        plane[i] = v;
    }
}

static void image_of(const spectrum *s, const uint32_t size[2], plan_border border,
                     plan_axis_order order, bool float64, spectrum_mode mode) {
    static float plane[MOST];
    static double result[MOST];
    const uint32_t n = size[0] * size[1];
    const psf *k = &s->kernel;
    const plan_request ask = {.size = {size[0], size[1]},
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
    fill(plane, n);
    const void *from = plane;
    void *to = result;
    const double tap = 0.25, gain = 0.75;
    const join how = join_plain(1, &tap, &gain);
    engine_frame f = {.in = &from, .out = &to, .join = &how};
    need(engine_run(g, &f, NULL, &e), &e);
    engine_close(&g);
    printf("%u x %u, %s, %s first, %s, %s: %016" PRIx64 "\n", size[0], size[1],
           plan_border_name(border), order == AXIS_X ? "x" : "y", float64 ? "doubles" : "floats",
           spectrum_mode_name(mode),
           sum_of(result, n * (float64 ? sizeof(double) : sizeof(float))));
}

int main(void) {
    /* Wrapped, the others have lines of their own lengths, of all radices. */
    static const uint32_t SIZE[][2] = {{150, 93}, {216, 125}, {98, 49}, {1280, 81}};
    err e = {0};
    spectrum s;
    threads = par_open(2, &e);
    need(threads, &e);
    psf k = make_kernel();
    printf("kernel: %016" PRIx64 "\n", sum_of(k.tap, (size_t)k.w * k.h * sizeof *k.tap));
    need(spectrum_make(&s, &k, threads, &e), &e);
    printf("spectrum: %016" PRIx64 "\n", sum_of(s.value, spectrum_floats(&s) * sizeof *s.value));
    for (int b = 0; b < BORDERS; b++)
        for (int i = 0; i < 6; i++)
            image_of(&s, SIZE[0], (plan_border)b, i % 2 ? AXIS_Y : AXIS_X, i > 3,
                     i / 2 == 0 ? SPECTRUM_RESAMPLED : SPECTRUM_EXACT);
    for (int i = 0; i < 6; i++)
        image_of(&s, SIZE[1 + i / 2], BORDER_WRAP, AXIS_X, i % 2, SPECTRUM_EXACT);
    spectrum_free(&s);
    psf_free(&k);
    par_close(&threads);
    return 0;
}
