/* bench_gpu.c - times the passes on a device, and searches for better shapes.
 *
 *   bench_gpu default  W H K [W H K ...]     the planner's own shapes
 *   bench_gpu search   W H K [W H K ...]     other radices and lines per workgroup, one axis at a
 * time
 *
 * Prints one line per measurement: microseconds per frame and per pass. */
#include "base/log.h"
#include "engine/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS = 50, ROUNDS = 7, CHANNELS = 3 };

static engine *g;
static engine_device device;
static par *threads;
static void *planes[CHANNELS];
static float *spectrum_room;
static size_t spectrum_have;

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static double median(double *v, int n) {
    qsort(v, (size_t)n, sizeof *v, by_size);
    return v[n / 2];
}

static void die(const err *e) {
    fprintf(stderr, "%s\n", e->msg);
    exit(1);
}

static uint32_t env(const char *name) {
    const char *v = getenv(name);
    return v ? (uint32_t)atoi(v) : 0;
}

static plan_request request(uint32_t w, uint32_t h, uint32_t k) {
    return (plan_request){.size = {w, h},
                          .reach_lo = {k / 2, k / 2},
                          .reach_hi = {(k - 1) / 2, (k - 1) / 2},
                          .channels = CHANNELS,
                          .spectra = CHANNELS,
                          .tapless = getenv("TAPLESS") != NULL,
                          .tune = {.tile = env("TILE"),
                                   .whole = env("WHOLE"),
                                   .lines = {env("LINES_1"), env("LINES_2"), env("LINES_3")}},
                          .limits = device.limits};
}

/* A spectrum of ones times 1 - 1e-3: the frames stay finite, nothing is trivial. */
static spectrum_lines lines_of(const plan *p) {
    size_t n = (size_t)p->halves * p->axis[1].length * 2 * CHANNELS;
    if (n > spectrum_have) {
        free(spectrum_room);
        spectrum_room = malloc(n * sizeof(float));
        spectrum_have = n;
    }
    for (size_t i = 0; i < n; i++) spectrum_room[i] = i % 2 ? 0.001f : 0.999f;
    return (spectrum_lines){.channels = CHANNELS,
                            .halves = p->halves,
                            .length = p->axis[1].length,
                            .value = spectrum_room};
}

typedef struct {
    double frame, pass[PLAN_PASSES];
} timing;

static bool measure(timing *t, const plan_request *ask, plan *p, err *e) {
    if (!plan_make(p, ask, e)) return false;
    spectrum_lines k = lines_of(p);
    double one[CHANNELS] = {0, 0, 0}, gain[CHANNELS] = {1, 1, 1};
    engine_frame f = {(const void *const *)planes, planes, one, gain};
    if (!engine_prepare(g, p, &k, NULL, e)) return false;
    double frame[ROUNDS], pass[PLAN_PASSES][ROUNDS];
    for (double spent = 0; spent < 0.05;) { /* until the clocks are up */
        engine_repeat r = {.count = REPEATS};
        if (!engine_time(g, &f, &r, e)) return false;
        spent += 2 * r.frame * REPEATS;
    }
    for (int i = 0; i < ROUNDS; i++) {
        engine_repeat r = {.count = REPEATS};
        if (!engine_time(g, &f, &r, e)) return false;
        frame[i] = r.frame * 1e6;
        for (uint32_t j = 0; j < p->passes; j++) pass[j][i] = r.pass[j] * 1e6;
    }
    t->frame = median(frame, ROUNDS);
    for (uint32_t j = 0; j < p->passes; j++) t->pass[j] = median(pass[j], ROUNDS);
    return true;
}

static void print_fft(const plan_pass *s) {
    printf(" %u=", s->fft.length);
    for (uint32_t i = 0; i < s->fft.stages; i++) printf(i ? ".%u" : "%u", s->fft.radix[i]);
    printf("x%u(%u%s%s)", s->lines, s->threads, s->paired ? ",paired" : "",
           s->whole ? ",whole" : "");
}

static void print_timing(const char *what, const plan *p, const timing *t) {
    uint64_t bytes = 0;
    printf("%-8s %ux%u %c", what, p->ask.size[0], p->ask.size[1], p->first == PLAN_X ? 'x' : 'y');
    for (uint32_t j = 0; j < p->passes; j++) {
        if (p->pass[j].fft.length) print_fft(&p->pass[j]);
        bytes += p->pass[j].bytes;
    }
    printf(" | %.1f us |", t->frame);
    for (uint32_t j = 0; j < p->passes; j++) printf(" %.1f", t->pass[j]);
    printf(" | %.0f MB %.2f TB/s\n", (double)bytes * 1e-6, (double)bytes / t->frame * 1e-6);
    fflush(stdout);
}

/* All orders of radices whose product is the length, with few stages and no small radices. */
static const uint32_t RADIX[] = {16, 12, 10, 9, 8, 7, 6, 5, 4};
static uint32_t found[400][PLAN_STAGES], found_count;

static void orders(uint32_t rest, uint32_t *r, uint32_t n, uint32_t most) {
    if (rest == 1 && found_count < 400) {
        memset(found[found_count], 0, sizeof found[0]);
        memcpy(found[found_count++], r, n * sizeof *r);
    }
    if (n == most) return;
    for (size_t i = 0; i < sizeof RADIX / sizeof RADIX[0]; i++)
        if (rest % RADIX[i] == 0) {
            r[n] = RADIX[i];
            orders(rest / RADIX[i], r, n + 1, most);
        }
}

static void search_axis(plan_request ask, int axis, uint32_t length, uint32_t stages) {
    uint32_t r[PLAN_STAGES];
    found_count = 0;
    orders(length, r, 0, stages);
    for (uint32_t i = 0; i < found_count; i++)
        for (uint32_t lines = 1; lines <= (axis ? 1 : 4); lines *= 2)
            for (uint32_t one_each = 0; one_each < (axis ? 4 : 2); one_each++) {
                uint32_t smallest = 16;
                for (uint32_t s = 0; s < PLAN_STAGES && found[i][s]; s++)
                    if (found[i][s] < smallest) smallest = found[i][s];
                plan p;
                timing t;
                err e = {0};
                plan_request a = ask;
                memcpy(a.tune.radix[axis], found[i], sizeof found[i]);
                a.tune.lines[axis ? 1 : 0] = lines;
                if (!axis) a.tune.lines[2] = lines;
                a.tune.threads[axis] = one_each % 2 ? length / smallest : 0;
                a.tune.whole = one_each / 2 ? SWITCH_ON : SWITCH_OFF;
                if (measure(&t, &a, &p, &e) && p.axis[axis].one_pass &&
                    memcmp(p.axis[axis].fft.radix, found[i], sizeof found[i]) == 0)
                    print_timing(axis ? "second" : "first", &p, &t);
            }
}

int main(int argc, char **argv) {
    err e = {0};
    engine_device all[ENGINE_DEVICES];
    uint32_t n = ENGINE_KIND_GPU.devices(all, ENGINE_DEVICES);
    if (argc < 5 || !n) {
        fprintf(stderr, n ? "usage: bench_gpu default|search W H K ...\n" : "no Vulkan device\n");
        return 1;
    }
    device = all[0];
    for (uint32_t i = 0; i < n; i++)
        if (all[i].class == ENGINE_GPU) device = all[i];
    printf("%s, %s\n", device.name, device.driver);
    if (getenv("VERBOSE")) log_set_level(LOG_DEBUG);
    threads = par_open(0, &e);
    if (!threads || !(g = engine_open(&device, threads, NULL, &e))) die(&e);
    for (int i = 2; i + 2 < argc; i += 3) {
        uint32_t w = (uint32_t)atoi(argv[i]), h = (uint32_t)atoi(argv[i + 1]),
                 k = (uint32_t)atoi(argv[i + 2]);
        for (int c = 0; c < CHANNELS; c++) {
            planes[c] = realloc(planes[c], (size_t)w * h * 4);
            for (size_t j = 0; j < (size_t)w * h; j++)
                ((float *)planes[c])[j] = (float)(j * 2654435761u % 1000) * 1e-3f;
        }
        for (int order = AXIS_X; order <= AXIS_Y; order++) {
            if (env("ONLY") && env("ONLY") != (uint32_t)order) continue;
            plan p;
            timing t;
            plan_request ask = request(w, h, k);
            ask.order = (plan_axis_order)order;
            if (!measure(&t, &ask, &p, &e)) {
                printf("%ux%u: %s\n", w, h, e.msg);
                continue;
            }
            print_timing("default", &p, &t);
            if (strcmp(argv[1], "search") != 0) continue;
            ask.tune.length[0] = p.axis[0].length;
            ask.tune.length[1] = p.axis[1].length;
            search_axis(ask, 0, p.axis[0].length, p.axis[0].fft.stages);
            search_axis(ask, 1, p.axis[1].length, p.axis[1].fft.stages);
        }
    }
    engine_close(&g);
    par_close(&threads);
    for (int c = 0; c < CHANNELS; c++) free(planes[c]);
    free(spectrum_room);
    return 0;
}
