/* bench_cpu.c - the CPU engine beside the program anyone would write with FFTW, or with ducc0.
 *
 *     bench_cpu [ROUNDS]      (make bench-cpu)
 *
 * The peer: per channel, copy into a padded frame, one real-to-complex 2-D transform of the whole
 * frame, times the kernel's spectrum, back, crop; the lengths of our own plan, measured plans, as
 * many FFTW threads as the engine has. Copies and products run on the same threads. Both see the
 * same image and kernel and their results are compared. Rounds alternate between the two, so
 * that whatever else the machine does meets both; medians, and the ratio of the medians. There
 * are rows for one thread, two, and all. FFTW's wisdom is kept in the folder
 * $BENCH_CACHE, or not at all. Where the Makefile was given a library of ducc0 (DUCC=FILE), the
 * same program with its transforms is a third one. It measures nothing and plans nothing.
 */
#include "bench/bench_engine.h"

#include "base/clock.h"
#include "base/par.h"

#include <fftw3.h>
#include <math.h>

enum { CHANNELS = BENCH_CHANNELS, MAX_ROUNDS = 201 };

/* Of peers/ducc.cc, where that is linked. */
void ducc_forward(float *frame, unsigned lx, unsigned ly, int threads) __attribute__((weak));
void ducc_inverse(float *frame, unsigned lx, unsigned ly, int threads) __attribute__((weak));

typedef struct {
    uint32_t w, h, lx, ly;
    fftwf_plan forward, inverse;
    bool ducc;    /* else FFTW */
    float *frame; /* lx + 2 floats a row: in place */
    float *spectrum[CHANNELS];
    const float *in, *kernel;
    float *out;
    par *threads;
} plain;

static void forward(const plain *q) {
    if (q->ducc)
        ducc_forward(q->frame, q->lx, q->ly, par_threads(q->threads));
    else
        fftwf_execute(q->forward);
}

static void inverse(const plain *q) {
    if (q->ducc)
        ducc_inverse(q->frame, q->lx, q->ly, par_threads(q->threads));
    else
        fftwf_execute(q->inverse);
}

/* Transforms the kernel, whose centre goes to the first pixel. */
static void plain_spectrum(plain *q, int c, const psf *k) {
    const size_t pitch = 2 * (q->lx / 2 + 1), n = pitch * q->ly;
    const double scale = k->scale[c] / ((double)q->lx * q->ly);
    memset(q->frame, 0, n * sizeof *q->frame);
    for (uint32_t y = 0; y < k->h; y++)
        for (uint32_t x = 0; x < k->w; x++)
            q->frame[(y + q->ly - k->cy) % q->ly * pitch + (x + q->lx - k->cx) % q->lx] =
                (float)(scale * (double)k->tap[((size_t)c * k->h + y) * k->w + x]);
    forward(q);
    q->spectrum[c] = bench_floats(n);
    memcpy(q->spectrum[c], q->frame, n * sizeof *q->frame);
}

static plain plain_open(const bench_engine *of, bool ducc, par *threads) {
    const plan *p = &of->p;
    const uint32_t *size = p->ask.size, lx = p->axis[p->first].length,
                   ly = p->axis[1 - p->first].length;
    plain q = {.w = size[0], .h = size[1], .lx = lx, .ly = ly, .ducc = ducc, .threads = threads};
    q.frame = bench_floats(2 * (size_t)(lx / 2 + 1) * ly);
    fftwf_complex *half = (fftwf_complex *)(void *)q.frame;
    if (!ducc) {
        fftwf_plan_with_nthreads(par_threads(threads));
        q.forward = fftwf_plan_dft_r2c_2d((int)ly, (int)lx, q.frame, half, FFTW_MEASURE);
        q.inverse = fftwf_plan_dft_c2r_2d((int)ly, (int)lx, half, q.frame, FFTW_MEASURE);
    }
    for (int c = 0; c < CHANNELS; c++) plain_spectrum(&q, c, &of->kernel);
    return q;
}

static void plain_close(plain *q) {
    if (!q->ducc) {
        fftwf_destroy_plan(q->forward);
        fftwf_destroy_plan(q->inverse);
    }
    mem_free(q->frame);
    for (int c = 0; c < CHANNELS; c++) mem_free(q->spectrum[c]);
}

static bool pad_row(void *ctx, size_t y, int worker, err *e) {
    plain *q = ctx;
    size_t pitch = 2 * (q->lx / 2 + 1), used = y < q->h ? q->w : 0;
    (void)worker, (void)e;
    float *row = q->frame + y * pitch;
    memcpy(row, q->in + (used ? y * q->w : 0), used * sizeof *row);
    memset(row + used, 0, (pitch - used) * sizeof *row);
    return true;
}

static bool multiply_row(void *ctx, size_t y, int worker, err *e) {
    plain *q = ctx;
    size_t n = q->lx / 2 + 1;
    (void)worker, (void)e;
    float *a = q->frame + 2 * y * n;
    const float *b = q->kernel + 2 * y * n;
    for (size_t i = 0; i < 2 * n; i += 2) {
        float re = a[i] * b[i] - a[i + 1] * b[i + 1];
        a[i + 1] = a[i] * b[i + 1] + a[i + 1] * b[i];
        a[i] = re;
    }
    return true;
}

static bool crop_row(void *ctx, size_t y, int worker, err *e) {
    plain *q = ctx;
    (void)worker, (void)e;
    memcpy(q->out + y * q->w, q->frame + y * 2 * (q->lx / 2 + 1), q->w * sizeof(float));
    return true;
}

static double plain_run(plain *q, float *const in[], float *const out[]) {
    double start = clock_now();
    for (int c = 0; c < CHANNELS; c++) {
        q->in = in[c];
        q->out = out[c];
        q->kernel = q->spectrum[c];
        par_for(q->threads, q->ly, pad_row, q, NULL);
        forward(q);
        par_for(q->threads, q->ly, multiply_row, q, NULL);
        inverse(q);
        par_for(q->threads, q->h, crop_row, q, NULL);
    }
    return clock_now() - start;
}

/* Sorts. */
static double median(double *v, int n) {
    return measure_spread_of(v, (uint32_t)n).median;
}

enum { FFTW, DUCC, PEERS };

/* The times of a case: of ours for each kind of frame, and of the peers for ordinary ones. */
typedef struct {
    double ours[BENCH_KINDS][MAX_ROUNDS], pass[BENCH_KINDS][3][MAX_ROUNDS];
    double peer[PEERS][MAX_ROUNDS];
} times;

static void one_round(times *t, int i, bench_engine *g, plain *q, int peers,
                      float *const theirs[]) {
    for (int kind = BENCH_KINDS - 1; kind >= 0; kind--) { /* the ordinary frame's result stays */
        engine_times et = bench_run(g, (bench_kind)kind);
        if (i < 0) continue;
        t->ours[kind][i] = et.total;
        for (int k = 0; k < 3; k++) t->pass[kind][k][i] = et.pass[k];
    }
    for (int k = 0; k < peers; k++) {
        double other = plain_run(&q[k], g->in[BENCH_ORDINARY], theirs);
        if (i >= 0) t->peer[k][i] = other;
    }
}

static void bench(uint32_t w, uint32_t h, uint32_t kernel, int rounds, par *threads) {
    static times t;
    const char *cache = getenv("BENCH_CACHE");
    const int peers = ducc_forward ? 2 : 1;
    const size_t n = (size_t)w * h;
    bench_engine g = bench_open(w, h, kernel, CHANNELS, false, threads);
    plain q[PEERS];
    char wisdom[1024];
    snprintf(wisdom, sizeof wisdom, "%s/plain-wisdom", cache ? cache : "");
    if (cache) fftwf_import_wisdom_from_filename(wisdom);
    for (int i = 0; i < peers; i++) q[i] = plain_open(&g, i == DUCC, threads);
    if (cache) fftwf_export_wisdom_to_filename(wisdom);
    float *theirs[CHANNELS];
    for (int c = 0; c < CHANNELS; c++) theirs[c] = bench_floats(n);
    for (int i = -1; i < rounds; i++) one_round(&t, i, &g, q, peers, theirs); /* one to warm up */
    double worst = 0; /* of the difference between ours and the last peer's */
    for (int c = 0; c < CHANNELS; c++)
        for (size_t i = 0; i < n; i++)
            worst = fmax(worst, fabs((double)g.out[c][i] - (double)theirs[c][i]));

    double ours = median(t.ours[0], rounds);
    printf("%d threads, %ux%u kernel %u, %u x %u, %c first\n", par_threads(threads), w, h, kernel,
           q->lx, q->ly, "xy"[g.p.first]);
    for (int i = 0; i < BENCH_KINDS; i++) {
        double all = i ? median(t.ours[i], rounds) : ours;
        printf("  %-12s %8.2f ms (least %.2f; passes %.2f %.2f %.2f), %.2f of an ordinary one\n",
               BENCH_KIND[i], all * 1e3, t.ours[i][0] * 1e3, median(t.pass[i][0], rounds) * 1e3,
               median(t.pass[i][1], rounds) * 1e3, median(t.pass[i][2], rounds) * 1e3, all / ours);
    }
    for (int i = 0; i < peers; i++) {
        double all = median(t.peer[i], rounds);
        printf("  %-12s %8.2f ms (least %.2f), ours is %.2f of it\n",
               i == DUCC ? "ducc0" : "plain FFTW", all * 1e3, t.peer[i][0] * 1e3, ours / all);
    }
    printf("  ours and theirs are apart by %.1e\n", worst);
    fflush(stdout);
    bench_close(&g);
    for (int i = 0; i < peers; i++) plain_close(&q[i]);
    for (int c = 0; c < CHANNELS; c++) mem_free(theirs[c]);
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 21, before = 0;
    if (rounds < 1 || rounds > MAX_ROUNDS) rounds = 21;
    fftwf_init_threads();
    printf("%d rounds, %s\n", rounds, fftwf_version);
    for (int many = 1; many >= 0; many = many == 1 ? 2 : many == 2 ? 0 : -1) {
        err e = {0};
        par *threads = bench_need(par_open(many, &e), &e);
        if (par_threads(threads) > before) {
            bench(1280, 720, 256, rounds, threads);
            bench(1920, 1080, 256, rounds, threads);
            bench(3840, 2160, 512, rounds, threads);
        }
        before = par_threads(threads);
        par_close(&threads);
    }
    fftwf_cleanup_threads();
    return 0;
}
