#include "device/device_measure.h"

#include "base/clock.h"
#include "base/half.h"
#include "base/log.h"
#include "base/mem.h"
#include "device/device_choice.h"

const char *const MEASURE_NAME[] = {"ordinary", "black", "signed", "masked", "margins"};

static int measure_by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns the value at a share of the way from the minimum to the maximum, interpolated. */
static double quantile(const double *sorted, uint32_t n, double share) {
    double at = share * (n - 1);
    uint32_t i = (uint32_t)at;
    return i + 1 < n ? sorted[i] + (at - i) * (sorted[i + 1] - sorted[i]) : sorted[i];
}

measure_spread measure_spread_of(double *value, uint32_t n) {
    qsort(value, n, sizeof *value, measure_by_value);
    return (measure_spread){value[0], quantile(value, n, 0.25), quantile(value, n, 0.5),
                            quantile(value, n, 0.75), value[n - 1]};
}

engine_times measure_medians(const measure_times *t) {
    engine_times m = {t->upload.median, {0}, t->download.median, t->total.median};
    for (int i = 0; i < PLAN_PASSES; i++) m.pass[i] = t->pass[i].median;
    return m;
}

/* Returns a pixel by chance: above 0 and up to 1, without numbers so small that they are slow. Of
 * BLACK, the left two thirds are 0, and one pixel in 4096 is a light. */
static float noise_of(measure_kind kind, uint32_t seed, uint32_t x, uint32_t w) {
    float v = (float)((seed >> 22) + 1) * 0x1p-10F;
    if (kind == MEASURE_SIGNED) return v - 0.5F;
    if (kind != MEASURE_BLACK) return v;
    return x < w / 3 * 2 ? 0 : seed >> 20 == 7 ? 65504.0F : v;
}

static void fill_planes(void *const plane[], const plan *p, measure_kind kind) {
    uint32_t w = p->ask.size[PLAN_X], seed = 1;
    size_t n = (size_t)w * p->ask.size[PLAN_Y];
    for (uint32_t c = 0; c < p->ask.channels; c++)
        for (size_t i = 0; i < n; i++) {
            seed = seed * 1664525u + 1013904223u;
            float v = noise_of(kind, seed, (uint32_t)(i % w), w);
            if (p->ask.planes.in == PLAN_HALFS)
                ((uint16_t *)plane[c])[i] = half_from_float(v);
            else
                ((float *)plane[c])[i] = v;
        }
}

typedef struct {
    const measure_request *r;
    engine *g;
    void *in[ENGINE_CHANNELS], *made[ENGINE_CHANNELS];
    float *mask;
    join how;
    engine_frame frame;
    engine_repeat repeat; /* the last one */
    /* Per round: */
    double *seconds;
    engine_times *times;
    uint32_t turn; /* without a queue: frames submitted, */
    double last;   /* and when the last of them left */
} rounds;

/* Makes planes. A frame becomes a little brighter each time, so that it stays what it is when the
 * device does many of them in turn. */
static bool rounds_make(rounds *m, err *e) {
    const plan *p = m->r->plan;
    const measure_kind kind = m->r->kind;
    const uint32_t *size = p->ask.size;
    size_t n = (size_t)size[PLAN_X] * size[PLAN_Y];
    if (kind == MEASURE_MARGINS)
        m->how.kept = (join_box){size[PLAN_X] / 16, size[PLAN_Y] / 16, size[PLAN_X] / 8 * 7,
                                 size[PLAN_Y] / 8 * 7};
    if (kind == MEASURE_MASKED) {
        if (!(m->mask = mem_raw(n, sizeof *m->mask, "a mask", e))) return false;
        for (size_t i = 0; i < n; i++) m->mask[i] = (float)(i % 7) / 6;
        m->how.spread.mask = m->mask;
    }
    for (uint32_t c = 0; c < p->ask.channels; c++) {
        double tap = m->r->kernel->tap[m->r->kernel->channels == 1 ? 0 : c];
        m->how.channel[c] = (join_channel){.centre = 1,
                                           .gain = 0x1p-10 / (tap < 0.99 ? 1 - tap : 1),
                                           .nonnegative = kind != MEASURE_SIGNED,
                                           .dark = 1e-4,
                                           .most = 1};
        if (!(m->in[c] = mem_raw(n, plan_sample_bytes(p->ask.planes.in), "a plane of noise", e)) ||
            !(m->made[c] = mem_raw(n, plan_sample_bytes(p->ask.planes.out), "a plane", e)))
            return false;
    }
    fill_planes(m->in, p, kind);
    m->frame = (engine_frame){.in = (const void *const *)m->in, .out = m->made, .join = &m->how};
    m->seconds = mem_new(m->r->rounds, sizeof *m->seconds, "times", e);
    m->times = mem_new(m->r->rounds, sizeof *m->times, "times", e);
    return m->seconds && m->times;
}

/* Times one round: the time from one frame to the next; of a queue, the device's own times. */
static bool round_one(rounds *m, uint32_t i, err *e) {
    engine_repeat *r = &m->repeat;
    uint32_t slots = m->r->in_flight, slot = m->turn % slots;
    if (m->r->queue > 1) {
        *r = (engine_repeat){.count = m->r->queue};
        if (!engine_time(m->g, &m->frame, r, e)) return false;
        m->seconds[i] = m->times[i].total = r->frame;
        memcpy(m->times[i].pass, r->pass, sizeof r->pass);
        return true;
    }
    /* The oldest frame in flight comes back, and another one leaves. */
    if (m->turn++ >= slots && !engine_wait(m->g, slot, NULL, &m->times[i], e)) return false;
    bool ok = engine_submit(m->g, slot, &m->frame, e);
    double then = m->last;
    m->last = clock_now();
    m->seconds[i] = m->last - then;
    return ok;
}

enum { TIMES = sizeof(engine_times) / sizeof(double), CEILING_FRAMES = 3 };
_Static_assert(sizeof(measure_times) == TIMES * sizeof(measure_spread), "one spread per time");

static void rounds_free(rounds *m) {
    for (int c = 0; c < ENGINE_CHANNELS; c++) mem_free(m->in[c]), mem_free(m->made[c]);
    mem_free(m->mask);
    mem_free(m->seconds);
    mem_free(m->times);
}

bool measure_rounds(measure_result *to, engine *g, const measure_request *r, err *e) {
    OWN(rounds) m = {.r = r, .g = g};
    if (!rounds_make(&m, e)) return false;
    double start = clock_now();
    /* Warm up: caches, memory that is touched for the first time, clocks that have to rise. */
    do
        if (!round_one(&m, 0, e)) return false;
    while (clock_now() - start < r->warm_up || (r->in_flight > 1 && m.turn < r->in_flight));
    for (uint32_t i = 0; i < r->rounds; i++)
        if (!round_one(&m, i, e)) return false;
    /* Wait until nothing is in flight. */
    for (uint32_t t = m.turn - min_u32(m.turn, r->in_flight); t < m.turn; t++)
        if (!engine_wait(g, t % r->in_flight, NULL, NULL, e)) return false;
    for (int t = 0; t < TIMES; t++) {
        double v[MEASURE_ROUNDS];
        for (uint32_t i = 0; i < r->rounds; i++)
            v[i] = ((const double *)(const void *)&m.times[i])[t];
        ((measure_spread *)(void *)&to->times)[t] = measure_spread_of(v, r->rounds);
    }
    to->frame = measure_spread_of(m.seconds, r->rounds);
    /* Without a queue nothing has been timed beside copies yet. */
    if (r->queue == 1) m.repeat.count = CEILING_FRAMES;
    if (r->queue == 1 && !engine_time(g, &m.frame, &m.repeat, e)) return false;
    to->copy = m.repeat.copy;
    memcpy(to->copy_pass, m.repeat.copy_pass, sizeof to->copy_pass);
    return true;
}

bool measure_device(measure_result *to, const measure_request *r, par *threads, err *e) {
    if (r->rounds < 1 || r->rounds > MEASURE_ROUNDS || r->queue < 1 || r->queue > MEASURE_QUEUE)
        return err_set(e, ERR_CONFIG, "%u rounds of %u; 1 to %d of 1 to %d are possible", r->rounds,
                       r->queue, MEASURE_ROUNDS, MEASURE_QUEUE);
    if (r->in_flight < 1 || r->in_flight > ENGINE_SLOTS || (r->in_flight > 1 && r->queue > 1))
        return err_set(
            e, ERR_CONFIG,
            "%u frames in flight and %u in a queue: 1 to %d of a queue of 1 are possible",
            r->in_flight, r->queue, ENGINE_SLOTS);
    measure_result m = {0};
    double start = clock_now();
    OPEN(engine) *g = engine_open(r->device, threads, r->cache_dir, e);
    if (!g) return false;
    m.open = clock_now() - start;
    start = clock_now();
    const engine_options o = {.slots = r->in_flight};
    bool ok = engine_prepare(g, r->plan, r->kernel, &o, e);
    m.prepare = clock_now() - start;
    if (!ok || !measure_rounds(&m, g, r, e)) return err_in(e, "%s", r->device->name);
    *to = m;
    return true;
}

bool measure_kernel(psf *to, uint32_t size, uint32_t channels, err *e) {
    float *plane[PSF_CHANNELS] = {0};
    bool ok = channels <= PSF_CHANNELS ||
              err_set(e, ERR_INTERNAL, "a kernel of %u channels", channels);
    for (uint32_t c = 0; ok && c < channels; c++) {
        ok = (plane[c] = mem_raw((size_t)size * size, sizeof *plane[c], "a kernel", e)) != NULL;
        for (size_t i = 0; ok && i < (size_t)size * size; i++) {
            double x = (double)(i % size) - size / 2, y = (double)(i / size) - size / 2;
            const double square = x * x + y * y + 1 + c;
            plane[c][i] = (float)(1 / (square * sqrt(square)));
        }
    }
    const psf_planes planes = {size, size, channels, (const float *const *)plane, NULL};
    ok = ok && psf_make(to, &planes, &(psf_options){0}, e);
    for (int c = 0; c < PSF_CHANNELS; c++) mem_free(plane[c]);
    return ok;
}

enum { SIDE = 64, TAPS = 15 };

static bool start(const engine_device *d, const plan *p, const psf *k, const char *cache_dir,
                  err *e) {
    OWN(spectrum) source = {0};
    OWN(spectrum_lines) lines = {0};
    measure_result ignored;
    const spectrum_request want = {.mode = SPECTRUM_EXACT,
                                   .first = p->first,
                                   .length = {p->axis[0].length, p->axis[1].length}};
    measure_request once = {.device = d,
                            .plan = p,
                            .kernel = &lines,
                            .cache_dir = cache_dir,
                            .rounds = 1,
                            .queue = 1,
                            .in_flight = 1};
    OPEN(par) *one = par_open(1, e);
    return one && engine_open_ahead(d, e) && psf_copy(&source.kernel, k, e) &&
           spectrum_at(&lines, &source, &want, one, e) && measure_device(&ignored, &once, one, e);
}

void device_ahead(const char *want, const char *cache_dir) {
    device_list list = {.count = 0};
    device_forecast f[ENGINE_DEVICES];
    OWN(psf) k = {0};
    err e = {0};
    const device_request r = {.want = want,
                              .ask = {.size = {SIDE, SIDE},
                                      .reach_lo = {TAPS / 2, TAPS / 2},
                                      .reach_hi = {TAPS / 2, TAPS / 2},
                                      .channels = 1,
                                      .spectra = 1}};
    device_list_fill(&list, want);
    if (measure_kernel(&k, TAPS, 1, &e) && device_choose(f, &list, &r, &e) >= 0)
        for (uint32_t i = 0; i < list.count; i++) {
            const engine_device *d = &list.device[i];
            if (!f[i].possible || d->class == ENGINE_CPU) continue;
            err why = {0};
            if (start(d, &f[i].plan, &k, cache_dir, &why))
                log_info("opened before the sandbox: %s", d->name);
            else
                log_info("cannot be opened before the sandbox: %s", why.msg);
        }
    if (e.code) log_info("no device is opened before the sandbox: %s", e.msg);
}
