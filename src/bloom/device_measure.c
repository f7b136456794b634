#include "bloom/device_measure.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v, uint32_t n) {
    qsort(v, n, sizeof *v, by_value);
    return n % 2 ? v[n / 2] : 0.5 * (v[n / 2 - 1] + v[n / 2]);
}

/* --- one device, one plan -------------------------------------------------------------------- */

/* Planes of the plan's precision, with noise between 0 and 1: no zeros, no numbers too small. */
static bool make_planes(void *plane[], const plan *p, err *e) {
    size_t n = (size_t)p->ask.size[PLAN_X] * p->ask.size[PLAN_Y];
    uint32_t seed = 1;
    for (uint32_t c = 0; c < p->ask.channels; c++) {
        if (!(plane[c] = mem_raw(n, p->sample_bytes, "a plane of noise", e))) return false;
        for (size_t i = 0; i < n; i++) {
            seed = seed * 1664525u + 1013904223u;
            double v = ((double)(seed >> 8) + 1) * 0x1p-24;
            if (p->sample_bytes == 8)
                ((double *)plane[c])[i] = v;
            else
                ((float *)plane[c])[i] = (float)v;
        }
    }
    return true;
}

enum { TIMES = sizeof(engine_times) / sizeof(double) };

/* Every member of engine_times is a double, and gets its own median. */
static void medians(engine_times *to, const engine_times *t, uint32_t rounds) {
    double v[MEASURE_ROUNDS];
    for (int m = 0; m < TIMES; m++) {
        for (uint32_t i = 0; i < rounds; i++) v[i] = ((const double *)(const void *)&t[i])[m];
        ((double *)(void *)to)[m] = median(v, rounds);
    }
}

static bool run_rounds(measure_result *to, engine *g, const measure_request *r, err *e) {
    void *plane[ENGINE_CHANNELS] = {0};
    double tap[ENGINE_CHANNELS], gain[ENGINE_CHANNELS], wall[MEASURE_ROUNDS];
    engine_times *t = mem_new(r->rounds, sizeof *t, "times", e);
    bool ok = t && make_planes(plane, r->plan, e);
    for (uint32_t c = 0; c < r->plan->ask.channels; c++) {
        tap[c] = r->kernel->tap[r->kernel->channels == 1 ? 0 : c];
        gain[c] = 1;
    }
    /* In place, as bloom works: a normalised kernel keeps the noise within bounds. */
    engine_frame f = {(const void *const *)plane, plane, tap, gain};
    for (uint32_t i = 0; ok && i <= r->rounds; i++) {
        engine_times one;
        double start = now();
        ok = engine_run(g, &f, &one, e);
        if (i == 0) continue; /* caches, and memory that is touched for the first time */
        wall[i - 1] = now() - start;
        t[i - 1] = one;
    }
    if (ok) {
        medians(&to->times, t, r->rounds);
        to->frame = median(wall, r->rounds);
        to->least = wall[0]; /* the median sorts */
    }
    for (int c = 0; c < ENGINE_CHANNELS; c++) mem_free(plane[c]);
    mem_free(t);
    return ok;
}

bool measure_device(measure_result *to, const measure_request *r, par *threads, err *e) {
    if (r->rounds < 1 || r->rounds > MEASURE_ROUNDS)
        return err_set(e, ERR_CONFIG, "%u rounds; 1 to %d are possible", r->rounds, MEASURE_ROUNDS);
    measure_result m = {0};
    double start = now();
    engine *g = engine_open(r->device, threads, r->cache_dir, e);
    if (!g) return false;
    m.open = now() - start;
    start = now();
    engine_options o = {.slots = 1, .timestamps = true, .patience = r->patience};
    bool ok = engine_prepare(g, r->plan, r->kernel, &o, e);
    m.prepare = now() - start;
    ok = ok && run_rounds(&m, g, r, e);
    engine_close(&g);
    if (ok) *to = m;
    return ok ? true : err_in(e, "%s", r->device->name);
}

bool measure_kernel(psf *to, uint32_t size, uint32_t channels, err *e) {
    float *plane[PSF_CHANNELS] = {0};
    bool ok = channels <= PSF_CHANNELS ||
              err_set(e, ERR_INTERNAL, "a kernel of %u channels", channels);
    for (uint32_t c = 0; ok && c < channels; c++) {
        ok = (plane[c] = mem_raw((size_t)size * size, sizeof *plane[c], "a kernel", e)) != NULL;
        for (size_t i = 0; ok && i < (size_t)size * size; i++) {
            double x = (double)(i % size) - size / 2, y = (double)(i / size) - size / 2;
            plane[c][i] = (float)pow(x * x + y * y + 1 + c, -1.5);
        }
    }
    psf_options o = {0};
    ok = ok && psf_make(to, size, size, channels, (const float *const *)plane, &o, e);
    for (int c = 0; c < PSF_CHANNELS; c++) mem_free(plane[c]);
    return ok;
}

/* --- the constants of a device ---------------------------------------------------------------- */

typedef struct {
    uint32_t w, h, kernel, rounds;
} trial;

typedef struct {
    measure_result m;
    double bytes, steps;
} trial_result;

static bool run_trial(trial_result *to, const trial *t, const engine_device *d,
                      const char *cache_dir, par *threads, err *e) {
    plan_request ask = {.size = {t->w, t->h},
                        .reach_lo = {t->kernel / 2, t->kernel / 2},
                        .reach_hi = {t->kernel / 2 - 1, t->kernel / 2 - 1},
                        .channels = 3,
                        .spectra = 3,
                        .limits = d->limits};
    plan p;
    spectrum source = {0};
    spectrum_lines lines = {0};
    bool ok = plan_make(&p, &ask, e) && measure_kernel(&source.kernel, t->kernel, 3, e) &&
              spectrum_at(&lines, &source, SPECTRUM_EXACT, p.first, p.axis[0].length,
                          p.axis[1].length, false, threads, e);
    measure_request r = {d, &p, &lines, cache_dir, t->rounds, 0};
    ok = ok && measure_device(&to->m, &r, threads, e);
    to->bytes = device_image_bytes(&p);
    to->steps = device_steps(&p);
    spectrum_lines_free(&lines);
    spectrum_free(&source);
    return ok;
}

/* `frame` from a frame so small that little else counts, `transfer` and `work` from a large one;
 * the start is that of the large one, whose programs and tables are those of real work. The least
 * times, not the medians: what else the machine does now is not a property of the device. */
bool measure_speed(device_speed *to, const engine_device *d, const char *cache_dir, par *threads,
                   err *e) {
    static const trial SMALL = {64, 48, 8, 15};
    static const trial LARGE[] = {[ENGINE_CPU] = {1920, 1080, 256, 9},
                                  [ENGINE_GPU] = {3840, 2160, 512, 9},
                                  [ENGINE_SOFTWARE] = {480, 270, 64, 3}};
    trial_result small, large;
    if (!run_trial(&small, &SMALL, d, cache_dir, threads, e) ||
        !run_trial(&large, &LARGE[d->class], d, cache_dir, threads, e))
        return false;
    device_speed s = {.start = large.m.open + large.m.prepare,
                      .frame = small.m.least,
                      .transfer = (large.m.times.upload + large.m.times.download) / large.bytes,
                      .measured = true};
    double work = large.m.least - s.frame - s.transfer * large.bytes;
    s.work = work > 0 ? work / large.steps : 0;
    *to = s;
    return true;
}
