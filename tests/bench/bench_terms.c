/* bench_terms.c - what terms cost beside one term and beside doubles: bench_terms DEVICE [ROUNDS]
 *
 * DEVICE is cpu, gpu or software. For some sizes it prints milliseconds of a frame: on the CPU of
 * its time on all cores together, on others of their own. Medians of rounds that take turns. */
#include "engine/engine.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CHANNELS = 3, WAYS = 4, MOST_ROUNDS = 99, AT_ONCE = 50 };
static const struct {
    const char *name;
    uint32_t terms;
    plan_precision precision;
} WAY[WAYS] = {{"one term", 1, PRECISION_FLOAT32},
               {"two terms", 2, PRECISION_FLOAT32},
               {"four terms", 4, PRECISION_FLOAT32},
               {"doubles", 1, PRECISION_FLOAT64}};

static void must(bool ok, const err *e) {
    if (ok) return;
    fprintf(stderr, "bench_terms: %s\n", e->msg);
    exit(1);
}

/* Noise without a mean, in floats or doubles. */
static void *noise(size_t n, bool float64) {
    static uint64_t seed = 1;
    void *to = mem_raw(n, float64 ? sizeof(double) : sizeof(float), "noise", NULL);
    for (size_t i = 0; to && i < n; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        double v = (double)(seed >> 11) * 0x1p-52 - 1;
        if (float64)
            ((double *)to)[i] = v;
        else
            ((float *)to)[i] = (float)v;
    }
    return to;
}

/* An engine that is prepared for one way, and its frame. */
typedef struct {
    engine *g;
    void *plane[PLAN_TERMS + 1][CHANNELS];
    engine_frame f;
    double ms[MOST_ROUNDS];
} bench;

static void open_bench(bench *b, int way, plan_request ask, const engine_device *d, par *threads) {
    static const double TAP[CHANNELS] = {0}, GAIN[CHANNELS] = {1, 1, 1};
    err e = {0};
    plan p;
    spectrum_lines k[PLAN_TERMS] = {{0}};
    bool float64 = WAY[way].precision == PRECISION_FLOAT64;
    ask.terms = WAY[way].terms;
    ask.precision = WAY[way].precision;
    must(plan_make(&p, &ask, &e), &e);
    for (uint32_t t = 0; t < p.terms; t++) {
        k[t] = (spectrum_lines){CHANNELS, p.halves, p.axis[1].length, float64, NULL, {0}, NULL};
        k[t].value = noise(2ull * CHANNELS * p.halves * p.axis[1].length, float64);
    }
    for (uint32_t t = 0; t <= p.terms; t++)
        for (int c = 0; c < CHANNELS; c++)
            b->plane[t][c] = noise((size_t)ask.size[0] * ask.size[1], float64);
    b->f = (engine_frame){.tap = TAP, .gain = GAIN, .out = b->plane[p.terms]};
    for (uint32_t t = 0; t < p.terms; t++) b->f.in[t] = (const void *const *)b->plane[t];
    must((b->g = engine_open(d, threads, NULL, &e)) != NULL, &e);
    must(engine_prepare(b->g, &p, k, &(engine_options){.slots = 1}, &e), &e);
    for (uint32_t t = 0; t < p.terms; t++) spectrum_lines_free(&k[t]);
}

static void close_bench(bench *b) {
    engine_close(&b->g);
    for (int t = 0; t <= PLAN_TERMS; t++)
        for (int c = 0; c < CHANNELS; c++) mem_free(b->plane[t][c]);
}

static double cpu_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double round_ms(bench *b, bool cpu) {
    err e = {0};
    engine_repeat r = {.count = AT_ONCE};
    double start = cpu_now();
    must(cpu ? engine_run(b->g, &b->f, NULL, &e) : engine_time(b->g, &b->f, &r, &e), &e);
    return 1e3 * (cpu ? cpu_now() - start : r.frame);
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void run(const uint32_t size[3], const engine_device *d, par *threads, int rounds) {
    static bench b[WAYS];
    bool cpu = d->class == ENGINE_CPU;
    uint32_t half = size[2] / 2;
    plan_request ask = {.size = {size[0], size[1]},
                        .reach_lo = {half, half},
                        .reach_hi = {half - 1, half - 1},
                        .channels = CHANNELS,
                        .spectra = CHANNELS,
                        .tapless = true,
                        .limits = d->limits};
    memset(b, 0, sizeof b);
    printf("%u x %u, kernel of %u:", size[0], size[1], size[2]);
    for (int i = 0; i < WAYS; i++) open_bench(&b[i], i, ask, d, threads);
    for (int r = -1; r < rounds; r++) /* the first does not count */
        for (int i = 0; i < WAYS; i++) b[i].ms[r < 0 ? 0 : r] = round_ms(&b[i], cpu);
    for (int i = 0; i < WAYS; i++) {
        qsort(b[i].ms, (size_t)rounds, sizeof b[i].ms[0], by_size);
        double ms = b[i].ms[rounds / 2], one = b[0].ms[rounds / 2];
        printf("  %s %.4g ms (%.2f)", WAY[i].name, ms, ms / one);
        close_bench(&b[i]);
    }
    printf("\n");
}

int main(int argc, char **argv) {
    static const uint32_t SIZE[][3] = {{1280, 720, 256}, {1920, 1080, 256}, {3840, 2160, 512}};
    static const char *const CLASS[] = {
        [ENGINE_CPU] = "cpu", [ENGINE_GPU] = "gpu", [ENGINE_SOFTWARE] = "software"};
    engine_device device[ENGINE_DEVICES];
    int rounds = argc > 2 ? atoi(argv[2]) : 9;
    if (argc < 2 || rounds < 1 || rounds > MOST_ROUNDS) {
        fprintf(stderr, "bench_terms DEVICE [ROUNDS]\n");
        return 64;
    }
    err e = {0};
    par *threads = par_open(0, &e);
    must(threads != NULL, &e);
    uint32_t devices = engine_devices(device, ENGINE_DEVICES), i = 0;
    while (i < devices && strcmp(CLASS[device[i].class], argv[1]) != 0) i++;
    if (i == devices) {
        fprintf(stderr, "bench_terms: there is no device '%s'\n", argv[1]);
        return 69;
    }
    printf("%s\n", device[i].name);
    for (size_t s = 0; s < sizeof SIZE / sizeof SIZE[0]; s++)
        run(SIZE[s], &device[i], threads, rounds);
    par_close(&threads);
    return 0;
}
