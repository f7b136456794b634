/* cmd_bench.c - `fftbloom bench`: what each pass takes on a device; or measures the devices for
 * the predictions of `--device auto`. */
#include "app/cli.h"
#include "app/describe.h"
#include "base/log.h"
#include "base/mem.h"
#include "bloom/cache.h"
#include "bloom/device_measure.h"
#include "bloom/kernel_input.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CHANNELS = 3, BENCH_SIZES = 16 };

/* FFT plans that are measured here are the best that can be had, and are kept for all later runs.
 */
static const double PATIENCE = 20; /* s */

typedef struct {
    const settings *s;
    par *threads;
    char folder[CACHE_PATH];
    engine_device device[ENGINE_DEVICES];
    device_speed speed[ENGINE_DEVICES];
    uint32_t devices;
    text out;
    uint32_t rows;
} bench;

/* One line of the result. */
typedef struct {
    const engine_device *device;
    int index;
    uint32_t kernel[2];
    plan plan;
    double spectrum; /* s: the kernel's spectrum, at the plan's lengths */
    measure_result m;
} row;

static const char *folder(const bench *b) {
    return b->folder[0] ? b->folder : NULL;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- results --------------------------------------------------------------------------------- */

static void row_words(bench *b, const row *r) {
    const plan *p = &r->plan;
    text_add(&b->out, "%s, kernel %u x %u: ", r->device->name, r->kernel[0], r->kernel[1]);
    describe_plan_line(p, &b->out);
    text_add(&b->out, "\n  frame   %9.3f ms (least %.3f)\n  upload  %9.3f ms\n", r->m.frame * 1e3,
             r->m.least * 1e3, r->m.times.upload * 1e3);
    for (uint32_t i = 0; i < p->passes; i++)
        text_add(&b->out, "  %-10s %6.3f ms, %.1f GB/s\n", plan_pass_name(p->pass[i].kind),
                 r->m.times.pass[i] * 1e3,
                 (double)p->pass[i].bytes / fmax(r->m.times.pass[i], 1e-9) * 1e-9);
    text_add(&b->out,
             "  download%9.3f ms\n  once: spectrum %.1f ms, open %.1f ms, prepare %.1f ms\n",
             r->m.times.download * 1e3, r->spectrum * 1e3, r->m.open * 1e3, r->m.prepare * 1e3);
}

static void row_json(bench *b, const row *r) {
    text *to = &b->out;
    text_add(to, "%s\n    {\n      \"device\": ", b->rows ? "," : "");
    describe_device_json(r->device, r->index, to);
    text_add(to, ",\n      \"kernel\": [%u, %u],\n      \"plan\": ", r->kernel[0], r->kernel[1]);
    describe_plan_json(&r->plan, 3, to);
    text_add(to,
             ",\n      \"rounds\": %u, \"spectrum\": %.6f, \"open\": %.6f, \"prepare\": %.6f, "
             "\"frame\": %.6f, \"least\": %.6f,\n      \"times\": ",
             b->s->rounds, r->spectrum, r->m.open, r->m.prepare, r->m.frame, r->m.least);
    describe_times_json(&r->m.times, &r->plan, to);
    text_add(to, "\n    }");
}

/* Seconds; a plan of more passes than three has its inner ones in between. */
static void row_csv(bench *b, const row *r) {
    const plan *p = &r->plan;
    if (!b->rows)
        text_add(&b->out, "device,class,width,height,kernel_width,kernel_height,first,length_1,"
                          "length_2,rounds,spectrum,open,prepare,frame,least,upload,passes,"
                          "download\n");
    text_add(&b->out, "\"%s\",%s,%u,%u,%u,%u,%c,%u,%u,%u,", r->device->name,
             describe_class(r->device->class), p->ask.size[0], p->ask.size[1], r->kernel[0],
             r->kernel[1], "xy"[p->first], p -> axis[0].length, p->axis[1].length, b->s->rounds);
    text_add(&b->out, "%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,", r->spectrum, r->m.open, r->m.prepare,
             r->m.frame, r->m.least, r->m.times.upload);
    for (uint32_t i = 0; i < p->passes; i++)
        text_add(&b->out, "%s%.6f", i ? " " : "", r->m.times.pass[i]);
    text_add(&b->out, ",%.6f\n", r->m.times.download);
}

/* --- what is measured --------------------------------------------------------------------------
 */

/* A number is the size of a kernel made here; anything else is a file. */
static bool kernel_for(psf *k, const bench *b, uint32_t w, uint32_t h, err *e) {
    const char *name = b->s->kernel ? b->s->kernel : "256";
    if (name[strspn(name, "0123456789")] == 0) {
        unsigned long size = strtoul(name, NULL, 10);
        if (size < 1 || size > 16384)
            return err_set(e, ERR_USAGE, "--kernel %s: a size from 1 to 16384, or a file", name);
        return measure_kernel(k, (uint32_t)size, CHANNELS, e);
    }
    kernel_input in = {0};
    kernel_need need = {CHANNELS, w, h, h};
    bool ok = kernel_input_load(&in, name, b->threads, e) &&
              kernel_input_psf(k, &in, &b->s->bloom, &need, NULL, e);
    kernel_input_free(&in);
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

static bool bench_on(bench *b, int index, const device_forecast *f, const psf *k, err *e) {
    row r = {.device = &b->device[index], .index = index, .kernel = {k->w, k->h}, .plan = f->plan};
    spectrum_lines lines = {0};
    double start = now();
    bool ok = spectrum_for(&lines, b, k, &r.plan, e);
    r.spectrum = now() - start;
    measure_request q = {r.device, &r.plan, &lines, folder(b), b->s->rounds, PATIENCE};
    ok = ok && measure_device(&r.m, &q, b->threads, e);
    spectrum_lines_free(&lines);
    if (!ok) return false;
    (b->s->json ? row_json : b->s->csv ? row_csv : row_words)(b, &r);
    b->rows++;
    return true;
}

/* On the device that would be chosen, or with --device all on every one that can. */
static bool bench_size(bench *b, uint32_t w, uint32_t h, err *e) {
    psf k = {0};
    if (!kernel_for(&k, b, w, h, e)) return false;
    const bloom_settings *s = &b->s->bloom;
    plan_request ask = {.size = {w, h},
                        .reach_lo = {k.cx, k.cy},
                        .reach_hi = {k.w - 1 - k.cx, k.h - 1 - k.cy},
                        .border = {s->border[PLAN_X], s->border[PLAN_Y]},
                        .order = s->order,
                        .precision = s->precision,
                        .channels = CHANNELS,
                        .spectra = k.channels};
    device_forecast f[ENGINE_DEVICES];
    device_wish wish = {s->device, UINT32_MAX, s->vram_limit};
    int best = device_choose(f, &wish, b->device, b->speed, b->devices, &ask, e);
    bool ok = best >= 0, all = ok && s->device && strcmp(s->device, "all") == 0;
    for (int i = 0; ok && i < (int)b->devices; i++)
        if (i == best || (all && f[i].possible)) ok = bench_on(b, i, &f[i], &k, e);
    psf_free(&k);
    return ok;
}

/* "1920x1080" at the start of `at`; the characters it takes, or 0. */
static int read_size(const char *at, uint32_t *w, uint32_t *h) {
    int used = 0;
    if (strspn(at, "0123456789x") > 11) return 0;
    if (at[strspn(at, "0123456789x")] == '-' || sscanf(at, "%ux%u%n", w, h, &used) != 2) return 0;
    return (at[used] && at[used] != ',') || !*w || !*h ? 0 : used;
}

/* One size, or several with commas. All are read before the first is timed. */
static bool bench_sizes(bench *b, err *e) {
    uint32_t size[BENCH_SIZES][2];
    int n = 0;
    for (const char *at = b->s->size;; at++) {
        int used = n < BENCH_SIZES ? read_size(at, &size[n][0], &size[n][1]) : 0;
        if (!used)
            return err_set(e, ERR_USAGE,
                           "--size %s: sizes such as 1920x1080 are wanted, with commas between, "
                           "%d at most",
                           b->s->size, BENCH_SIZES);
        n++;
        at += used;
        if (!*at) break;
    }
    bool ok = true;
    for (int i = 0; ok && i < n; i++) ok = bench_size(b, size[i][0], size[i][1], e);
    return ok;
}

/* --- calibration -------------------------------------------------------------------------------
 */

static void speed_words(bench *b, int i, const device_speed *s) {
    const engine_device *d = &b->device[i];
    if (b->s->json) {
        text_add(&b->out, "%s\n    {\"device\": ", b->rows ? "," : "");
        describe_device_json(d, i, &b->out);
        text_add(&b->out,
                 ",\n     \"start\": %.6g, \"frame\": %.6g, \"transfer\": %.6g, \"work\": %.6g}",
                 s->start, s->frame, s->transfer, s->work);
    } else {
        text_add(&b->out, "%s: start %.3f s, frame %.3f ms, transfer %.2f GB/s, %.3f Gsteps/s\n",
                 d->name, s->start, s->frame * 1e3, s->transfer > 0 ? 1e-9 / s->transfer : 0,
                 s->work > 0 ? 1e-9 / s->work : 0);
    }
    b->rows++;
}

/* Every device that is wanted; one that fails is a warning, as long as another does not. */
static bool calibrate(bench *b, err *e) {
    if (!folder(b))
        return err_set(e, ERR_CANT_CREATE,
                       "there is no cache folder to keep the result in; name one with --cache-dir");
    uint32_t wanted = 0, done = 0;
    for (uint32_t i = 0; i < b->devices; i++) {
        if (!device_is_wanted(b->s->bloom.device, &b->device[i], i)) continue;
        wanted++;
        device_speed s;
        err one = {0};
        if (measure_speed(&s, &b->device[i], folder(b), b->threads, &one) &&
            device_speed_save(&b->device[i], par_threads(b->threads), &s, folder(b), &one)) {
            speed_words(b, (int)i, &s);
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
    if (strcmp(b->s->bloom.device, "cpu") == 0) b->devices = engine_devices_cpu(b->device);
    if (!b->devices) b->devices = engine_devices(b->device, ENGINE_DEVICES);
    for (uint32_t i = 0; i < b->devices; i++)
        b->speed[i] = device_speed_load(&b->device[i], par_threads(b->threads), folder(b));
    if (b->s->json)
        text_add(&b->out, "{\n  \"version\": 1,\n  \"%s\": [",
                 b->s->calibrate ? "speeds" : "results");
    bool ok = b->s->calibrate ? calibrate(b, e) : bench_sizes(b, e);
    if (b->s->json) text_add(&b->out, "\n  ]\n}\n");
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
