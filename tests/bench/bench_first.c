/* bench_first.c - making each shipped kernel at full size, beside a transform by FFTW.
 *
 *     bench_first KERNEL.json..      (make bench-first)
 *
 * Prints a name and a ratio a line: the processor's seconds that one thread takes, divided by the
 * median of those of a real transform of 2048 x 2048 floats, by FFTW's estimated plan, one before
 * each kernel. Interruptions do not count. */
#include "base/mem.h"
#include "base/path.h"
#include "device/device_measure.h"
#include "kernel/make/kernel_recipe.h"

#include <fftw3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SIDE = 2048, MOST = 64 };

static void need(bool ok, const err *e) {
    if (ok) return;
    fprintf(stderr, "bench_first: %s\n", e->msg);
    exit(1);
}

static double processor_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double make_kernel(const char *path, par *threads) {
    err e = {0};
    OWN(kernel_recipe) r = {0};
    const double start = processor_now();
    need(kernel_recipe_file(&r, path, &e), &e);
    OWN(image) *img = kernel_recipe_make(&r, threads, &e);
    need(img, &e);
    return processor_now() - start;
}

int main(int argc, char **argv) {
    err e = {0};
    double made[MOST], yardstick[MOST];
    const int n = argc - 1 < MOST ? argc - 1 : MOST;
    par *threads = par_open(1, &e);
    float *in = mem_new((size_t)SIDE * SIDE, sizeof *in, "bench", &e),
          *out = mem_new((size_t)SIDE * (SIDE + 2), sizeof *out, "bench", &e);
    need(threads && in && out, &e);
    fftwf_plan transform =
        fftwf_plan_dft_r2c_2d(SIDE, SIDE, in, (fftwf_complex *)(void *)out, FFTW_ESTIMATE);
    fftwf_execute(transform); /* touches the pages */
    for (int i = 0; i < n; i++) {
        const double start = processor_now();
        fftwf_execute(transform);
        yardstick[i] = processor_now() - start;
        made[i] = make_kernel(argv[i + 1], threads);
    }
    const double by = n ? measure_spread_of(yardstick, (uint32_t)n).median : 1;
    for (int i = 0; i < n; i++) {
        const char *name = path_name(argv[i + 1]);
        printf("%.*s/fftw-2048 %.1f\n", (int)path_stem(name), name, made[i] / by);
    }
    fftwf_destroy_plan(transform);
    mem_free(in);
    mem_free(out);
    par_close(&threads);
    return 0;
}
