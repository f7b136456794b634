/* cmd_bench.c - `fftbloom bench`: what each pass takes on a device; or measures the devices for
 * the predictions of `--device auto`. */
#include "app/cli/cli.h"
#include "app/run/describe.h"
#include "app/tools/bench_report.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "kernel/cache.h"
#include "kernel/kernel_source.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHANNELS = 3, BENCH_LIST = 32 };

typedef struct {
    const settings *s;
    par *threads;
    char folder[CACHE_PATH];
    device_list devices;
    text out;
    json_out json; /* into out, where --json is given */
    uint32_t rows;
} bench;

/* What is timed: a size of image, and the size or the file of a kernel. */
typedef struct {
    uint32_t w, h;
    const char *kernel;
} bench_case;

static const char *folder(const bench *b) {
    return b->folder[0] ? b->folder : NULL;
}

/* --- what is measured --------------------------------------------------------------------------
 */

/* A number is the size of a kernel made here; anything else is a file. */
static bool kernel_for(psf *k, const bench *b, const bench_case *c, err *e) {
    if (c->kernel[strspn(c->kernel, "0123456789")] == 0) {
        unsigned long size = strtoul(c->kernel, NULL, 10);
        if (size < 1 || size > 16384)
            return err_set(e, ERR_USAGE, "--kernel %s: a size from 1 to 16384, or a file",
                           c->kernel);
        return measure_kernel(k, (uint32_t)size, CHANNELS, e);
    }
    kernel_source in = {0};
    kernel_use use = bloom_kernel_use(&b->s->bloom);
    kernel_need need = {CHANNELS, c->w, c->h, c->h};
    bool ok = kernel_source_load(&in, c->kernel, b->threads, e) &&
              kernel_source_psf(k, &in, &use, &need, NULL, e);
    kernel_source_free(&in);
    return ok;
}

static bool spectrum_for(spectrum_lines *l, const bench *b, const psf *k, const plan *p, err *e) {
    bool float64 = p->sample_bytes == 8;
    spectrum source = {0};
    bool exact = float64 || b->s->bloom.spectrum == SPECTRUM_EXACT;
    bool ok = (exact ? psf_copy(&source.kernel, k, e) : spectrum_make(&source, k, b->threads, e)) &&
              spectrum_at(l, &source, b->s->bloom.spectrum, p->first, p->axis[0].length,
                          p->axis[1].length, float64, b->threads, e);
    spectrum_free(&source);
    return ok;
}

/* As many frames as were asked for, or as there is room for; a CPU needs none. */
static uint32_t in_flight(const bench *b, const engine_device *d, const plan *p) {
    uint32_t asked = b->s->in_flight;
    if (d->class == ENGINE_CPU || p->frames == asked) return asked;
    log_note("%s: %" PRIu64 " bytes have room for %u frame in flight, not for %u", d->name,
             p->ask.limits.memory, p->frames, asked);
    return p->frames;
}

static bool bench_on(bench *b, const engine_device *d, const plan *p, const psf *k, err *e) {
    const settings *s = b->s;
    bench_row r = {.device = d,
                   .kernel = {k->w, k->h},
                   .rounds = s->rounds,
                   .queue = s->queue,
                   .in_flight = in_flight(b, d, p),
                   .plan = *p};
    spectrum_lines lines = {0};
    double start = clock_now();
    bool ok = spectrum_for(&lines, b, k, &r.plan, e);
    r.spectrum = clock_now() - start;
    measure_request q = {.device = r.device,
                         .plan = &r.plan,
                         .kernel = &lines,
                         .cache_dir = folder(b),
                         .rounds = s->rounds,
                         .queue = s->queue,
                         .in_flight = r.in_flight,
                         .warm_up = s->warm_up,
                         .patience = s->bloom.plans == PLANS_MEASURED ? ENGINE_PATIENCE : 0};
    ok = ok && measure_device(&r.m, &q, b->threads, e);
    spectrum_lines_free(&lines);
    if (!ok) return false;
    if (s->json)
        bench_report_json(&r, &b->json);
    else
        bench_report_row(&r, s->csv, b->rows, &b->out);
    b->rows++;
    return true;
}

static plan_request request(const bench *b, const bench_case *c, const psf *k) {
    const bloom_settings *s = &b->s->bloom;
    return (plan_request){.size = {c->w, c->h},
                          .reach_lo = {k->cx, k->cy},
                          .reach_hi = {k->w - 1 - k->cx, k->h - 1 - k->cy},
                          .border = {s->border[PLAN_X], s->border[PLAN_Y]},
                          .order = s->order,
                          .precision = s->precision,
                          .channels = CHANNELS,
                          .spectra = k->channels,
                          .tapless = true,
                          .half_input = b->s->pixels == PIXELS_HALF,
                          .frames = b->s->in_flight};
}

/* On the device that a long sequence would take. */
static bool bench_chosen(bench *b, const device_request *r, const psf *k, err *e) {
    device_decision d;
    device_decide(&d, &b->devices, r);
    const device_choice *c = &d.way[device_way_of(&r->ask)];
    if (c->possible) return bench_on(b, &c->device, &c->plan, k, e);
    *e = c->why;
    return false;
}

/* On every device that can; one that fails is a warning, as long as another does not. */
static bool bench_all(bench *b, const device_request *r, const psf *k, err *e) {
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

static bool bench_one(bench *b, const bench_case *c, err *e) {
    psf k = {0};
    if (!kernel_for(&k, b, c, e)) return false;
    device_request r = {.want = b->s->bloom.device,
                        .images = UINT32_MAX,
                        .vram_limit = b->s->bloom.vram_limit,
                        .ask = request(b, c, &k)};
    bool ok = strcmp(r.want, "all") == 0 ? bench_all(b, &r, &k, e) : bench_chosen(b, &r, &k, e);
    psf_free(&k);
    return ok;
}

/* --- cases -------------------------------------------------------------------------------------
 */

/* "1920x1080" at the start of `at`; the characters it takes, or 0. */
static int read_size(const char *at, uint32_t *w, uint32_t *h) {
    int used = 0;
    if (strspn(at, "0123456789x") > 11) return 0;
    if (at[strspn(at, "0123456789x")] == '-' || sscanf(at, "%ux%u%n", w, h, &used) != 2) return 0;
    return (at[used] && at[used] != ',') || !*w || !*h ? 0 : used;
}

/* One size, or several with commas. */
static bool read_sizes(uint32_t size[BENCH_LIST][2], int *count, const char *list, err *e) {
    int n = 0;
    for (const char *at = list;; at++) {
        int used = n < BENCH_LIST ? read_size(at, &size[n][0], &size[n][1]) : 0;
        if (!used)
            return err_set(e, ERR_USAGE,
                           "--size %s: sizes such as 1920x1080 are wanted, with commas between, "
                           "%d at most",
                           list, BENCH_LIST);
        n++;
        at += used;
        if (!*at) break;
    }
    *count = n;
    return true;
}

/* One kernel, or several sizes of such as are made here, with commas; cuts `list` to pieces. */
static bool read_kernels(const char *kernel[BENCH_LIST], int *count, char *list, err *e) {
    int n = 0;
    bool sizes = list[strspn(list, "0123456789,")] == 0;
    for (char *at = list; at; n++) {
        if (n == BENCH_LIST) return err_set(e, ERR_USAGE, "--kernel: %d sizes at most", BENCH_LIST);
        kernel[n] = at;
        at = sizes ? strchr(at, ',') : NULL;
        if (at) *at++ = 0;
    }
    *count = n;
    return true;
}

/* Times every size with every kernel. All are read before the first is timed. */
static bool bench_sizes(bench *b, err *e) {
    uint32_t size[BENCH_LIST][2];
    const char *kernel[BENCH_LIST];
    int sizes = 0, kernels = 0;
    char *list = mem_str(b->s->kernel ? b->s->kernel : "256", e);
    bool ok = list && read_sizes(size, &sizes, b->s->size, e) &&
              read_kernels(kernel, &kernels, list, e);
    for (int i = 0; ok && i < sizes; i++)
        for (int k = 0; ok && k < kernels; k++)
            ok = bench_one(b, &(bench_case){size[i][0], size[i][1], kernel[k]}, e);
    mem_free(list);
    return ok;
}

/* --- calibration -------------------------------------------------------------------------------
 */

static void speed_words(bench *b, const engine_device *d, const device_speed *s) {
    if (b->s->json) {
        json_object(&b->json, NULL);
        describe_device_json(d, d->number, json_here(&b->json, "device"));
        json_line_at(&b->json, 5);
        json_real(&b->json, "start", 6, s->start);
        json_real(&b->json, "frame", 6, s->frame);
        json_real(&b->json, "transfer", 6, s->transfer);
        json_real(&b->json, "work", 6, s->work);
        json_close(&b->json);
    } else {
        text_add(&b->out, "%s: start %.3f s, frame %.3f ms, transfer %.2f GB/s, %.3f Gsteps/s\n",
                 d->name, s->start, s->frame * 1e3, s->transfer > 0 ? 1e-9 / s->transfer : 0,
                 s->work > 0 ? 1e-9 / s->work : 0);
    }
    b->rows++;
}

/* Every device that is wanted; one that fails is a warning, as long as another does not. */
static bool calibrate(bench *b, err *e) {
    uint32_t wanted = 0, done = 0;
    device_list_fill(&b->devices, b->s->bloom.device);
    for (uint32_t i = 0; i < b->devices.count; i++) {
        const engine_device *d = &b->devices.device[i];
        if (!device_is_wanted(b->s->bloom.device, d, i)) continue;
        wanted++;
        device_speed s;
        err one = {0};
        if (measure_speed(&s, d, folder(b), b->threads, &one) &&
            device_speed_save(d, b->devices.threads, &s, folder(b), &one)) {
            speed_words(b, d, &s);
            done++;
        } else {
            log_warn("%s", one.msg);
            *e = one;
        }
    }
    if (done) *e = (err){0};
    if (!wanted) err_set(e, ERR_NO_DEVICE, "no device is '%s'", b->s->bloom.device);
    return done > 0;
}

/* --- the command -------------------------------------------------------------------------------
 */

static bool run(bench *b, err *e) {
    if (!cache_path(b->folder, b->s->bloom.cache_dir)) b->folder[0] = 0;
    b->devices = (device_list){.threads = par_threads(b->threads), .cache_dir = folder(b)};
    bool speeds = b->s->calibrate;
    if (speeds && !folder(b))
        return err_set(e, ERR_CANT_CREATE,
                       "there is no cache folder to keep the result in; name one with --cache-dir");
    if (b->s->json) {
        b->json = json_begin(&b->out);
        json_list(&b->json, speeds ? "speeds" : "results");
    }
    bool ok = (speeds ? calibrate : bench_sizes)(b, e);
    if (b->s->json) {
        json_close(&b->json);
        json_end(&b->json);
    }
    return ok;
}

int cmd_bench(int argc, char **argv, err *e) {
    cli c;
    bench b = {.s = &c.s};
    if (cli_open(&c, argc, argv, e)) {
        b.threads = par_open((int)c.s.jobs, e);
        if (b.threads && run(&b, e)) fputs(b.out.s, stdout);
        par_close(&b.threads);
    }
    text_free(&b.out);
    cli_close(&c);
    return (int)e->code;
}
