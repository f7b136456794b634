/* bench_cpu.c - the CPU engine beside the program anyone would write with FFTW.
 *
 *     bench_cpu [ROUNDS]      (make bench-cpu)
 *
 * The peer: per channel, copy into a padded frame, one real-to-complex 2-D transform of the whole
 * frame, times the kernel's spectrum, back, crop; the lengths of our own plan, measured plans, as
 * many FFTW threads as the engine has. Copies and products run on the same threads. Both see the
 * same image and spectrum and their results are compared. Rounds alternate between the two, so
 * that whatever else the machine does meets both; medians, and the ratio of the medians. There
 * are rows for one thread, two, and all. FFTW's wisdom is kept in the folder
 * $BENCH_CACHE, or not at all.
 */
#include "base/mem.h"
#include "base/par.h"
#include "engine/engine.h"

#include <fftw3.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CHANNELS = 3, MAX_ROUNDS = 201 };

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *need(void *p, const err *e) {
    if (p) return p;
    fprintf(stderr, "bench_cpu: %s\n", e->msg);
    exit(1);
}

static float *floats(size_t n) {
    err e = {0};
    return need(mem_new(n, sizeof(float), "bench", &e), &e);
}

/* A Gaussian's spectrum: real and even, so that both layouts come from one formula. */
static float spectrum_value(uint32_t kx, uint32_t lx, uint32_t ky, uint32_t ly) {
    double fx = (double)(kx < lx - kx ? kx : lx - kx) / lx;
    double fy = (double)(ky < ly - ky ? ky : ly - ky) / ly;
    return (float)exp(-40 * (fx * fx + fy * fy));
}

/* --- the plain program ---------------------------------------------------------------------- */

typedef struct {
    uint32_t w, h, lx, ly;
    fftwf_plan forward, inverse;
    float *frame; /* lx + 2 floats a row: in place */
    float *spectrum[CHANNELS];
    const float *in, *kernel;
    float *out;
    par *threads;
} plain;

static void plain_open(plain *q, uint32_t w, uint32_t h, uint32_t lx, uint32_t ly, par *threads) {
    *q = (plain){.w = w, .h = h, .lx = lx, .ly = ly, .threads = threads};
    size_t halves = lx / 2 + 1;
    q->frame = floats(2 * halves * ly);
    fftwf_plan_with_nthreads(par_threads(threads));
    fftwf_complex *half = (fftwf_complex *)(void *)q->frame;
    q->forward = fftwf_plan_dft_r2c_2d((int)ly, (int)lx, q->frame, half, FFTW_MEASURE);
    q->inverse = fftwf_plan_dft_c2r_2d((int)ly, (int)lx, half, q->frame, FFTW_MEASURE);
    for (int c = 0; c < CHANNELS; c++) {
        q->spectrum[c] = floats(2 * halves * ly);
        for (uint32_t y = 0; y < ly; y++)
            for (uint32_t x = 0; x < halves; x++)
                q->spectrum[c][2 * (y * halves + x)] = spectrum_value(x, lx, y, ly) /
                                                       ((float)lx * (float)ly);
    }
}

static void plain_close(plain *q) {
    fftwf_destroy_plan(q->forward);
    fftwf_destroy_plan(q->inverse);
    mem_free(q->frame);
    for (int c = 0; c < CHANNELS; c++) mem_free(q->spectrum[c]);
}

static bool pad_row(void *ctx, size_t y, int worker, err *e) {
    plain *q = ctx;
    size_t pitch = 2 * (q->lx / 2 + 1), used = y < q->h ? q->w : 0;
    (void)worker, (void)e;
    float *row = q->frame + y * pitch;
    memcpy(row, q->in + (used ? y * q->w : 0), used * sizeof *row);
    memset(row + used, 0, (pitch - used) * sizeof *row);
    return true;
}

static bool multiply_row(void *ctx, size_t y, int worker, err *e) {
    plain *q = ctx;
    size_t n = q->lx / 2 + 1;
    (void)worker, (void)e;
    float *a = q->frame + 2 * y * n;
    const float *b = q->kernel + 2 * y * n;
    for (size_t i = 0; i < 2 * n; i += 2) {
        float re = a[i] * b[i] - a[i + 1] * b[i + 1];
        a[i + 1] = a[i] * b[i + 1] + a[i + 1] * b[i];
        a[i] = re;
    }
    return true;
}

static bool crop_row(void *ctx, size_t y, int worker, err *e) {
    plain *q = ctx;
    const float *row = q->frame + y * 2 * (q->lx / 2 + 1), *in = q->in + y * q->w;
    (void)worker, (void)e;
    for (size_t x = 0; x < q->w; x++) q->out[y * q->w + x] = 0.25f * in[x] + 0.75f * row[x];
    return true;
}

static double plain_run(plain *q, float *const in[], float *const out[]) {
    double start = seconds();
    for (int c = 0; c < CHANNELS; c++) {
        q->in = in[c];
        q->out = out[c];
        q->kernel = q->spectrum[c];
        par_for(q->threads, q->ly, pad_row, q, NULL);
        fftwf_execute(q->forward);
        par_for(q->threads, q->ly, multiply_row, q, NULL);
        fftwf_execute(q->inverse);
        par_for(q->threads, q->h, crop_row, q, NULL);
    }
    return seconds() - start;
}

/* --- the engine ----------------------------------------------------------------------------- */

static engine *engine_ready(const plan *p, par *threads) {
    size_t line = p->axis[1].length, count = CHANNELS * (size_t)p->halves * line;
    err e = {0};
    spectrum_lines k = {.channels = CHANNELS,
                        .halves = p->halves,
                        .length = p->axis[1].length,
                        .value = floats(2 * count)};
    for (size_t i = 0; i < count; i++) {
        uint32_t k1 = (uint32_t)(i / line % p->halves), k2 = (uint32_t)(i % line);
        ((float *)k.value)[2 * i] = spectrum_value(k1, p->axis[0].length, k2, p->axis[1].length);
    }
    engine_device d = {.class = ENGINE_CPU};
    engine *g = need(engine_open(&d, threads, NULL, &e), &e);
    if (!engine_prepare(g, p, &k, &(engine_options){0}, &e)) need(NULL, &e);
    spectrum_lines_free(&k);
    return g;
}

/* --- both ----------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts. */
static double median(double *v, int n) {
    qsort(v, (size_t)n, sizeof *v, by_value);
    return n % 2 ? v[n / 2] : 0.5 * (v[n / 2 - 1] + v[n / 2]);
}

static void bench(uint32_t w, uint32_t h, uint32_t kernel, int rounds, par *threads) {
    const char *cache = getenv("BENCH_CACHE");
    plan_request ask = {.size = {w, h},
                        .reach_lo = {kernel / 2, kernel / 2},
                        .reach_hi = {kernel / 2 - 1, kernel / 2 - 1},
                        .channels = CHANNELS,
                        .spectra = CHANNELS};
    plan p;
    err e = {0};
    if (!plan_make(&p, &ask, &e)) need(NULL, &e);
    engine *g = engine_ready(&p, threads);
    plain q;
    char wisdom[1024];
    snprintf(wisdom, sizeof wisdom, "%s/plain-wisdom", cache ? cache : "");
    if (cache) fftwf_import_wisdom_from_filename(wisdom);
    plain_open(&q, w, h, p.axis[p.first].length, p.axis[1 - p.first].length, threads);
    if (cache) fftwf_export_wisdom_to_filename(wisdom);

    float *in[CHANNELS], *ours[CHANNELS], *theirs[CHANNELS];
    unsigned seed = 1;
    for (int c = 0; c < CHANNELS; c++) {
        in[c] = floats((size_t)w * h);
        ours[c] = floats((size_t)w * h);
        theirs[c] = floats((size_t)w * h);
        for (size_t i = 0; i < (size_t)w * h; i++) {
            seed = seed * 1664525u + 1013904223u;
            in[c][i] = (float)(seed >> 8) * 0x1p-24f;
        }
    }
    const double tap[CHANNELS] = {0.25, 0.25, 0.25}, gain[CHANNELS] = {0.75, 0.75, 0.75};
    const join how = join_plain(CHANNELS, tap, gain);
    engine_frame f = {.in = (const void *const *)in, .out = (void *const *)ours, .join = &how};

    double t[2][MAX_ROUNDS], pass[3][MAX_ROUNDS];
    for (int r = -1; r < rounds; r++) { /* one round to warm up */
        engine_times et = {0};
        if (!engine_run(g, &f, &et, &e)) need(NULL, &e);
        double other = plain_run(&q, in, theirs);
        if (r < 0) continue;
        t[0][r] = et.total;
        t[1][r] = other;
        for (int i = 0; i < 3; i++) pass[i][r] = et.pass[i];
    }
    double worst = 0; /* of the difference between the two */
    for (int c = 0; c < CHANNELS; c++)
        for (size_t i = 0; i < (size_t)w * h; i++)
            worst = fmax(worst, fabs((double)ours[c][i] - (double)theirs[c][i]));

    double a = median(t[0], rounds), b = median(t[1], rounds);
    printf("%d threads, %ux%u kernel %u, %u x %u, %c first: fftbloom %.2f ms (least %.2f; passes "
           "%.2f %.2f %.2f), plain FFTW %.2f ms (least %.2f), ratio %.2f, apart by %.1e\n",
           par_threads(threads), w, h, kernel, q.lx, q.ly, "xy"[p.first], a * 1e3, t[0][0] * 1e3,
           median(pass[0], rounds) * 1e3, median(pass[1], rounds) * 1e3,
           median(pass[2], rounds) * 1e3, b * 1e3, t[1][0] * 1e3, a / b, worst);
    fflush(stdout);
    engine_close(&g);
    plain_close(&q);
    for (int i = 0; i < CHANNELS; i++) {
        mem_free(in[i]);
        mem_free(ours[i]);
        mem_free(theirs[i]);
    }
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 21, before = 0;
    if (rounds < 1 || rounds > MAX_ROUNDS) rounds = 21;
    fftwf_init_threads();
    printf("%d rounds, %s\n", rounds, fftwf_version);
    for (int many = 1; many >= 0; many = many == 1 ? 2 : many == 2 ? 0 : -1) {
        err e = {0};
        par *threads = need(par_open(many, &e), &e);
        if (par_threads(threads) > before) {
            bench(1280, 720, 256, rounds, threads);
            bench(1920, 1080, 256, rounds, threads);
            bench(3840, 2160, 512, rounds, threads);
        }
        before = par_threads(threads);
        par_close(&threads);
    }
    fftwf_cleanup_threads();
    return 0;
}
