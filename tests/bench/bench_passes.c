/* bench_passes.c - the passes of the CPU engine beside the first one, and that beside FFTW's rows.
 *
 *     bench_passes [ROUNDS]      (make bench-passes)
 *
 * Prints a name and a ratio of medians a line. One thread, one channel of 1280 x 720, so that a
 * pass takes a millisecond, and other work on the machine interrupts few of them. The yardstick is
 * a program that is not ours: real transforms of as many rows, by FFTW's estimated plan. All take
 * turns. The clock is that of the processor's time, so that interruptions do not count. */
#include "bench/bench_engine.h"

#include "base/clock.h"
#include "base/par.h"
#include "math/lanes.h"

#include <fftw3.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { W = 1280, H = 720, TAPS = 256, MOST = 501 };

typedef struct {
    fftwf_plan plan;
    float *in, *out;
} yardstick;

static yardstick yardstick_open(uint32_t length) {
    const int n = (int)length, halves = n / 2 + 1;
    yardstick y = {.in = bench_floats((size_t)length * H),
                   .out = bench_floats((size_t)2 * (uint32_t)halves * H)};
    y.plan = fftwf_plan_many_dft_r2c(1, &n, H, y.in, NULL, 1, n, (fftwf_complex *)(void *)y.out,
                                     NULL, 1, halves, FFTW_ESTIMATE);
    return y;
}

static void yardstick_close(yardstick *y) {
    fftwf_destroy_plan(y->plan);
    mem_free(y->in);
    mem_free(y->out);
}

/* Takes the place of the C library's, for the engine as well. */
int clock_gettime(clockid_t id, struct timespec *t) {
    (void)id;
    return (int)syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, t);
}

/* Prints a median, divided by another. */
static double ratio(const char *precision, const char *name, double *v, int n, double by) {
    double is = measure_spread_of(v, (uint32_t)n).median;
    static const int LANES[] = {4, 8, 16};
    printf("cpu-%d-lanes %s %s %.3f\n", LANES[lanes_form()], precision, name, is / by);
    return is;
}

static void measure(bool doubles, int rounds, par *threads) {
    static double pass[BENCH_KINDS][3][MOST], rows[MOST];
    const char *precision = doubles ? "float64" : "float32";
    bench_engine g = bench_open(W, H, TAPS, 1, doubles, threads);
    yardstick y = yardstick_open(g.p.axis[0].length);
    for (int i = -3; i < rounds; i++)
        for (int kind = 0; kind < BENCH_KINDS; kind++) {
            double start = clock_now();
            if (kind == 0) fftwf_execute(y.plan);
            if (kind == 0 && i >= 0) rows[i] = clock_now() - start;
            engine_times t = bench_run(&g, (bench_kind)kind);
            for (int k = 0; i >= 0 && k < 3; k++) pass[kind][k][i] = t.pass[k];
        }
    double by = measure_spread_of(rows, (uint32_t)rounds).median;
    by = ratio(precision, "forward/fftw-rows", pass[0][0], rounds, by);
    ratio(precision, "convolve/forward", pass[0][1], rounds, by);
    for (int kind = 0; kind < BENCH_KINDS; kind++) {
        char name[64];
        snprintf(name, sizeof name, "inverse-%s/forward", BENCH_KIND[kind]);
        ratio(precision, name, pass[kind][2], rounds, by);
    }
    yardstick_close(&y);
    bench_close(&g);
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 101;
    if (rounds < 1 || rounds > MOST) rounds = 101;
    err e = {0};
    par *threads = bench_need(par_open(1, &e), &e);
    measure(false, rounds, threads);
    measure(true, rounds / 2 + 1, threads);
    par_close(&threads);
    return 0;
}
