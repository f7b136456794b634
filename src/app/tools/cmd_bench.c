/* cmd_bench.c - `fftbloom bench`: times each pass on a device. The JSON is an interface:
 * docs/performance.md names its keys; keys are added, never changed. */
#include "app/run/report.h"
#include "app/run/stages.h"
#include "app/tools/tools.h"
#include "base/clock.h"
#include "base/log.h"
#include "kernel/cache.h"

enum { CHANNELS = 3, BENCH_LIST = 32, NANO = 9 };

typedef struct {
    const settings *s;
    par *threads;
    const char *folder; /* of the cache; NULL: there is none */
    device_list devices;
    json_out json;
    uint32_t rows;
} frames_bench;

static void spread_json(const measure_spread *s, json_out *j) {
    json_object(j, "spread");
    JSON_EACH(j, json_fixed, NANO, {"least", s->least}, {"low", s->low}, {"median", s->median},
              {"high", s->high}, {"most", s->most});
    json_close(j);
}

/* Adds one plan on one device; made: the seconds that the kernel's took, at its lengths. */
static void bench_add_json(const measure_request *r, const psf *k, double made,
                           const measure_result *m, json_out *j) {
    const plan *p = r->plan;
    engine_times medians = measure_medians(&m->times);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < p->passes; i++) bytes += p->pass[i].bytes;
    json_block(j, NULL);
    describe_device(j, "device", r->device, r->device->number);
    json_uints(j, "kernel", (uint32_t[]){k->w, k->h}, 2);
    describe_plan_json(j, "plan", p);
    JSON_UINTS(j, {"rounds", r->rounds}, {"queue", r->queue});
    json_string(j, "scene", MEASURE_NAME[r->kind]);
    json_uint(j, "in_flight", r->in_flight);
    JSON_EACH(j, json_fixed, NANO, {"spectrum", made}, {"open", m->open}, {"prepare", m->prepare},
              {"frame", m->frame.median}, {"least", m->frame.least});
    describe_times_json(j, "times", &medians, p);
    spread_json(&m->frame, j);
    json_size(j, "bytes", bytes);
    json_fixed(j, "copy", NANO, m->copy);
    json_list(j, "passes");
    for (uint32_t i = 0; i < p->passes; i++) {
        json_object(j, NULL);
        json_string(j, "pass", plan_pass_name(p->pass[i].kind));
        json_size(j, "bytes", p->pass[i].bytes);
        if (j->words)
            json_real(j, "GB/s", 3,
                      (double)p->pass[i].bytes / fmax(m->times.pass[i].median, 1e-9) * 1e-9);
        json_fixed(j, "copy", NANO, m->copy_pass[i]);
        spread_json(&m->times.pass[i], j);
        json_close(j);
    }
    json_close(j);
    json_close(j);
}

/* --- what is measured ------------------------------------------------------------------------- */

static bool bench_spectrum_for(spectrum_lines *l, const frames_bench *b, const psf *k,
                               const plan *p, engine_class on, err *e) {
    OWN(spectrum) source = {0};
    const spectrum_request want = {.mode = p->sample_bytes == 8 ? SPECTRUM_EXACT
                                                                : SPECTRUM_RESAMPLED,
                                   .first = p->first,
                                   .length = {p->axis[0].length, p->axis[1].length},
                                   .float64 = p->sample_bytes == 8,
                                   .at_once = on == ENGINE_CPU};
    return (want.float64 ? psf_copy(&source.kernel, k, e)
                         : spectrum_make(&source, k, b->threads, e)) &&
           spectrum_at(l, &source, &want, b->threads, e);
}

static bool bench_on(frames_bench *b, const engine_device *d, const plan *p, const psf *k, err *e) {
    const settings *s = b->s;
    OWN(spectrum_lines) lines = {0};
    measure_result made;
    /* The plan has as many frames as were asked for, or as the device has room for. */
    const bool fewer = d->class != ENGINE_CPU && p->frames != s->in_flight;
    measure_request r = {d,         p,         &lines,   b->folder,
                         s->scene,  s->rounds, s->queue, fewer ? p->frames : s->in_flight,
                         s->warm_up};
    if (fewer)
        log_note("%s: %" PRIu64 " bytes have room for %u frame in flight, not for %u", d->name,
                 p->ask.limits.memory, p->frames, s->in_flight);
    const double start = clock_now();
    if (!bench_spectrum_for(&lines, b, k, p, d->class, e)) return false;
    const double spent = clock_now() - start;
    if (!measure_device(&made, &r, b->threads, e)) return false;
    bench_add_json(&r, k, spent, &made, &b->json);
    b->rows++;
    return true;
}

/* Times a case on every device that can; a failure is a warning, as long as one can. */
static bool bench_all(frames_bench *b, const device_request *r, const psf *k, err *e) {
    device_forecast f[ENGINE_DEVICES];
    uint32_t before = b->rows;
    device_list_fill(&b->devices, r->want);
    if (device_choose(f, &b->devices, r, e) < 0) return false;
    for (uint32_t i = 0; i < b->devices.count; i++) {
        err one = {0};
        if (!f[i].possible || bench_on(b, &b->devices.device[i], &f[i].plan, k, &one)) continue;
        log_warn("%s", one.msg);
        *e = one;
    }
    if (b->rows > before) *e = (err){0};
    return b->rows > before;
}

/* Times a frame on all devices, or on the one that a long sequence would take. */
static bool bench_one(frames_bench *b, const uint32_t size[PLAN_AXES], const psf *k, err *e) {
    const bloom_settings *s = &b->s->bloom;
    const uint8_t half = b->s->pixels == PIXELS_HALF ? PLAN_HALFS : PLAN_FLOATS;
    device_request r = {.want = s->device,
                        .images = UINT32_MAX,
                        .vram_limit = s->vram_limit,
                        .ask = {.size = {size[PLAN_X], size[PLAN_Y]},
                                .reach_lo = {k->cx, k->cy},
                                .reach_hi = {k->w - 1 - k->cx, k->h - 1 - k->cy},
                                .border = {s->border[PLAN_X], s->border[PLAN_Y]},
                                .order = s->order,
                                .precision = s->precision,
                                .channels = CHANNELS,
                                .spectra = k->channels,
                                .symmetric = psf_is_symmetric(k),
                                .planes = {.in = half,
                                           .out = half,
                                           .masked = b->s->scene == MEASURE_MASKED,
                                           .margins = b->s->scene == MEASURE_MARGINS},
                                .frames = b->s->in_flight}};
    if (strcmp(s->device, "all") == 0) return bench_all(b, &r, k, e);
    device_decision d;
    device_decide(&d, &b->devices, &r);
    const device_choice *way =
        &d.way[s->precision == PRECISION_FLOAT64 ? WAY_FLOAT64 : WAY_FLOAT32];
    if (!way->possible) *e = way->why;
    return way->possible && bench_on(b, &way->device, &way->plan, k, e);
}

/* --- sizes and kernels ------------------------------------------------------------------------ */

/* Makes or reads a kernel: a number is the size of one that is made, anything else a file. */
static bool kernel_for(psf *k, const cli *c, const char *kernel, const uint32_t size[PLAN_AXES],
                       err *e) {
    if (kernel[strspn(kernel, "0123456789")] == 0) {
        unsigned long taps = strtoul(kernel, NULL, 10);
        if (taps < 1 || taps > 16384)
            return err_set(e, ERR_USAGE, "--kernel %s: give a size from 1 to 16384, or a file",
                           kernel);
        return measure_kernel(k, (uint32_t)taps, CHANNELS, e);
    }
    OWN(kernel_source) in = {0};
    const run_choice run = run_choice_of(c);
    const bloom_settings s = stages_bloom(&run);
    kernel_use use = bloom_kernel_use(&s);
    kernel_need need = {
        .channels = CHANNELS, .w = size[PLAN_X], .h = size[PLAN_Y], .height = size[PLAN_Y]};
    return kernel_source_load(&in, kernel, c->threads, e) &&
           kernel_source_psf(k, &in, &use, &need, NULL, e);
}

/* Reads "1920x1080", or several sizes with commas. */
static bool bench_read_sizes(uint32_t size[BENCH_LIST][2], int *count, const char *list, err *e) {
    int n = 0;
    const char *at = list;
    for (text_piece item; text_item(&at, &item); n++) {
        char one[16];
        bool fits = snprintf(one, sizeof one, "%.*s", (int)item.n, item.s) < (int)sizeof one;
        if (n == BENCH_LIST || !fits || !strchr(one, 'x') || !text_sides(one, size[n]) ||
            !size[n][0] || !size[n][1])
            return err_set(e, ERR_USAGE,
                           "--size %s: give sizes such as 1920x1080, with commas between, %d at "
                           "most",
                           list, BENCH_LIST);
    }
    if (!n || at[-1] == ',')
        return err_set(e, ERR_USAGE, "--size %s: a size is missing behind the last comma", list);
    *count = n;
    return true;
}

/* Times every --size with every --kernel. All are read before the first one is timed. */
static bool bench_each(const cli *c, frames_bench *b, err *e) {
    uint32_t size[BENCH_LIST][2];
    const char *kernel[BENCH_LIST];
    int sizes = 0, kernels = 0;
    OWN_MEM char *list = mem_str(c->kernel.file ? c->kernel.file
                                 : c->s.kernel  ? c->s.kernel
                                                : "256",
                                 e);
    bool ok = list && bench_read_sizes(size, &sizes, c->s.size, e);
    /* One file, or sizes with commas; the list is cut to pieces. */
    bool many = ok && list[strspn(list, "0123456789,")] == 0;
    for (char *at = ok ? list : NULL; ok && at; kernels++) {
        if (kernels == BENCH_LIST) {
            ok = err_set(e, ERR_USAGE, "--kernel: give %d sizes at most", BENCH_LIST);
            break;
        }
        kernel[kernels] = at;
        at = many ? strchr(at, ',') : NULL;
        if (at) *at++ = 0;
    }
    for (int i = 0; ok && i < sizes; i++)
        for (int j = 0; ok && j < kernels; j++) {
            OWN(psf) k = {0};
            ok = kernel_for(&k, c, kernel[j], size[i], e) && bench_one(b, size[i], &k, e);
        }
    return ok;
}

int cmd_bench(const cli *c, text *out, err *e) {
    frames_bench b = {.s = &c->s,
                      .folder = c->kernels.in.cache,
                      .threads = c->threads,
                      .json = told_begin(out, c->s.json)};
    json_list(&b.json, "results");
    bench_each(c, &b, e);
    json_end(&b.json);
    return 0;
}
