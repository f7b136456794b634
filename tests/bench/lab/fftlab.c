/* fftlab.c - the program of the lab: `fftlab fft`, `fftlab ocean` and `fftlab article`
 * (lab_bench.h). It reads its own few options, prints the tables, and exits as fftbloom does.
 * docs/inside/fft.md is its manual. */
#include "lab/lab_bench.h"

#include "base/host.h"
#include "device/device_choice.h"
#include "kernel/cache.h"
#include "kernel/kernel_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char USAGE[] =
    "usage: fftlab fft     [--size N,N..M] [--algorithm NAMES] [--plot OUT.svg]\n"
    "       fftlab ocean   [--size N,N..M] [--algorithm NAMES] [--plot OUT.svg] [-o PICTURE]\n"
    "       fftlab article [--size WxH,...] [--kernel N,...|FILE] [--queue N] [--plot OUT.svg]\n"
    "       each with [--device DEVICE] [--rounds N] [--warm-up SECONDS] [--jobs N] [--json]\n"
    "docs/inside/fft.md explains what they show\n";

typedef struct {
    lab_bench_request bench;
    const char *device, *kernel, *size;
    double jobs, rounds, queue;
} lab_asked;

/* --- options --------------------------------------------------------------------------------- */

static bool lab_number(double *to, const char *flag, const char *value, double least, err *e) {
    char *end;
    double v = strtod(value, &end);
    if (end == value || *end || !(v >= least && v <= 1000))
        return err_set(e, ERR_USAGE, "%s %s: give a number from %g to 1000", flag, value, least);
    *to = v;
    return true;
}

/* Takes one option with its value, where the action has it. */
static bool lab_option(lab_asked *a, const char *flag, const char *value, err *e) {
    lab_bench_request *r = &a->bench;
    const struct {
        const char *flag;
        int kinds; /* of lab_kind, that take it */
        const char **word;
        double *number;
        double least;
    } OPTION[] = {{"--size", LAB_ALL, &a->size, NULL, 0},
                  {"--algorithm", LAB_FFT | LAB_SEA, &r->algorithms, NULL, 0},
                  {"--plot", LAB_ALL, &r->plot, NULL, 0},
                  {"-o", LAB_SEA, &r->picture, NULL, 0},
                  {"--kernel", LAB_BLOOM, &a->kernel, NULL, 0},
                  {"--device", LAB_ALL, &a->device, NULL, 0},
                  {"--queue", LAB_BLOOM, NULL, &a->queue, 1},
                  {"--rounds", LAB_ALL, NULL, &a->rounds, 1},
                  {"--warm-up", LAB_ALL, NULL, &r->warm_up, 0},
                  {"--jobs", LAB_ALL, NULL, &a->jobs, 0}};
    for (size_t i = 0; i < sizeof OPTION / sizeof OPTION[0]; i++) {
        if (strcmp(OPTION[i].flag, flag) != 0) continue;
        if (!(OPTION[i].kinds & (int)r->kind))
            return err_set(e, ERR_USAGE, "%s has no effect in this action\n%s", flag, USAGE);
        if (!value) return err_set(e, ERR_USAGE, "%s needs a value", flag);
        if (OPTION[i].number) return lab_number(OPTION[i].number, flag, value, OPTION[i].least, e);
        *OPTION[i].word = value;
        return true;
    }
    return err_set(e, ERR_USAGE, "unknown option '%s'\n%s", flag, USAGE);
}

static bool lab_read(lab_asked *a, int argc, char **argv, err *e) {
    static const char *const ACTION[] = {
        [LAB_FFT] = "fft", [LAB_SEA] = "ocean", [LAB_BLOOM] = "article"};
    for (int kind = 1; argc > 1 && kind <= LAB_BLOOM; kind *= 2)
        if (strcmp(argv[1], ACTION[kind]) == 0) a->bench.kind = (lab_kind)kind;
    if (!a->bench.kind)
        return err_set(e, ERR_USAGE, "give an action: fft, ocean or article\n%s", USAGE);
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0)
            a->bench.json = true;
        else if (!lab_option(a, argv[i], argv[i + 1], e))
            return false;
        else
            i++;
    }
    a->bench.sizes = a->size;
    a->bench.rounds = (uint32_t)a->rounds;
    a->bench.queue = (uint32_t)a->queue;
    return true;
}

/* --- devices and kernels --------------------------------------------------------------------- */

/* Sets *gpu to the Vulkan device that `want` names, or the first one; to NULL where only the CPU
 * is wanted, or there is no other. */
static bool lab_find_gpu(const engine_device **gpu, device_list *devices, const char *want,
                         err *e) {
    bool some = false;
    *gpu = NULL;
    device_list_fill(devices, want);
    for (uint32_t i = 0; i < devices->count; i++) {
        const engine_device *d = &devices->device[i];
        if (!device_is_wanted(want, d, i)) continue;
        some = true;
        if (d->class == ENGINE_GPU || (d->class == ENGINE_SOFTWARE && !*gpu)) *gpu = d;
        if (d->class == ENGINE_GPU) break;
    }
    return some || err_set(e, ERR_NO_DEVICE,
                           "unknown device '%s'; 'fftbloom devices' lists the devices", want);
}

/* Makes a kernel of a size, or reads a file. */
static bool lab_kernel(psf *k, const char *word, const uint32_t size[PLAN_AXES], par *threads,
                       err *e) {
    enum { CHANNELS = 3, MOST_TAPS = 16384 };
    int used = 0;
    unsigned taps = 0;
    if (sscanf(word, "%5u%n", &taps, &used) == 1 && !word[used] && taps && taps <= MOST_TAPS)
        return measure_kernel(k, taps, CHANNELS, e);
    kernel_source in = {0};
    const kernel_use use = {.options = {.size = 1}};
    const kernel_need need = {
        .channels = CHANNELS, .w = size[PLAN_X], .h = size[PLAN_Y], .height = size[PLAN_Y]};
    bool ok = kernel_source_load(&in, word, threads, e) &&
              kernel_source_psf(k, &in, &use, &need, NULL, e);
    kernel_source_free(&in);
    return ok;
}

/* --- the article's bloom, at each size with each kernel --------------------------------------- */

/* Copies what a list with commas has at *at, and goes on behind it; false: it has no more. */
static bool lab_next(char word[256], const char **at) {
    if (!*at) return false;
    size_t length = strcspn(*at, ",");
    snprintf(word, 256, "%.*s", (int)length, *at);
    *at = (*at)[length] ? *at + length + 1 : NULL;
    return true;
}

static bool lab_article(lab_bench *b, const lab_asked *a, err *e) {
    char one[256], kernel[256];
    bool ok = true;
    for (const char *at = a->size ? a->size : "1920x1080"; ok && lab_next(one, &at);) {
        uint32_t size[PLAN_AXES];
        int used = 0;
        if (sscanf(one, "%5ux%5u%n", &size[0], &size[1], &used) != 2 || one[used] || !size[0] ||
            !size[1])
            return err_set(e, ERR_USAGE, "--size %s: give sizes such as 1920x1080", one);
        for (const char *k = a->kernel; ok && lab_next(kernel, &k);) {
            psf p = {0};
            ok = lab_kernel(&p, kernel, size, b->r->threads, e) &&
                 lab_bench_article(b, size, &p, e);
            psf_free(&p);
        }
    }
    return ok;
}

/* --- main ------------------------------------------------------------------------------------ */

static bool lab_do_all(lab_asked *a, text *out, err *e) {
    lab_bench_request *r = &a->bench;
    char folder[CACHE_PATH];
    if (!(r->threads = par_open((int)a->jobs, e))) return false;
    device_list devices = {.count = 0};
    lab_bench b;
    r->cache_dir = cache_path(folder, NULL) ? folder : NULL;
    bool ok = lab_find_gpu(&r->gpu, &devices, a->device, e);
    if (ok) {
        ok = lab_bench_open(&b, out, r, e) &&
             (r->kind == LAB_BLOOM ? lab_article(&b, a, e) : lab_bench_transforms(&b, e));
        ok = lab_bench_close(&b, ok, e);
    }
    par_close(&r->threads);
    return ok;
}

static const char *lab_variable(const char *name) {
    return getenv(name);
}

int main(int argc, char **argv) {
    lab_asked a = {.bench = {.algorithms = "all", .warm_up = 0.1},
                   .device = "auto",
                   .kernel = "256",
                   .rounds = 21,
                   .queue = 1};
    err e = {0};
    text out = {0};
    host_set_variables(lab_variable);
    bool ok = lab_read(&a, argc, argv, &e) && lab_do_all(&a, &out, &e);
    engine_rest();
    if (ok && out.s) fputs(out.s, stdout);
    if (!ok) fprintf(stderr, "fftlab: error: %s\n", e.msg);
    text_free(&out);
    return ok ? 0 : err_status(e.code);
}
