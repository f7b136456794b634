/* bench_accuracy.c - what the promise costs: a bloom beside the bare convolution of its engine.
 *
 *     bench_accuracy [ROUNDS]      (make bench-accuracy)
 *
 * The bare run takes the same pixels through the same engine with the same plan: half floats to
 * floats before and back after, the centre tap added by the engine; nothing is scanned, predicted,
 * judged or entered into a ledger. The frame is ordinary: every pixel lit, over three decades, with
 * a few hundred highlights up to 50, so that the plain transform keeps the promise. Rounds
 * alternate; the program prints medians of the differences within a round, and these relative to
 * the convolution alone. Times are of the processor, all threads together, so that other work on
 * the machine matters less.
 *
 */
#include "bloom/bloom.h"
#include "kernel/kernel_source.h"
#include "unit/glare.h"

#include <time.h>

enum { CHANNELS = 3, MAX_ROUNDS = 201 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static image *ordinary_frame(const char *channels, uint32_t w, uint32_t h) {
    image *img = glare_image(channels, w, h);
    uint64_t seed = 1;
    for (int c = 0; c < CHANNELS; c++)
        for (uint32_t i = 0; i < w * h; i++) {
            double x = (double)(i % w) / w, y = (double)(i / w) / h;
            double grain = make_chance(&seed);
            double v = 0.02 * exp2(6 * x * y) * (0.8 + 0.4 * grain) + 0.1 * c * y;
            if (make_random(&seed) % 10000 == 0) v += 50 * grain;
            glare_put(img, c, i, (float)v);
        }
    return img;
}

/* --- the bare run ------------------------------------------------------------------------------
 */

typedef struct {
    engine *engine;
    plan plan;
    double tap[CHANNELS], gain[CHANNELS];
    par *threads;
    const image *from;
    image *to;
    float *plane[CHANNELS];
    pixel_type type;
    size_t pixels;
} bare;

static void bare_open(bare *b, const psf *k, const plan *p, const engine_device *d,
                      const image *from, par *threads) {
    err e = {0};
    spectrum s = {0};
    spectrum_lines l = {0};
    engine_options o = {.slots = 1};
    *b = (bare){.plan = *p, .threads = threads, .from = from, .to = glare_copy(from)};
    b->type = from->head.part[0].channel[0].type;
    b->pixels = (size_t)p->ask.size[0] * p->ask.size[1];
    for (int c = 0; c < CHANNELS; c++) {
        const float *tap = k->tap + (size_t)c * k->w * k->h;
        b->tap[c] = k->scale[c] * (double)tap[(size_t)k->cy * k->w + k->cx];
        b->gain[c] = 1;
        CHECK_OK((b->plane[c] = mem_raw(b->pixels, sizeof(float), "plane", &e)));
    }
    CHECK_OK(spectrum_make(&s, k, threads, &e));
    const spectrum_request want = {
        SPECTRUM_RESAMPLED, p->first, {p->axis[0].length, p->axis[1].length}, false};
    CHECK_OK(spectrum_at(&l, &s, &want, threads, &e));
    CHECK_OK((b->engine = engine_open(d, threads, getenv("BENCH_CACHE"), &e)));
    CHECK_OK(engine_prepare(b->engine, p, &l, &o, &e));
    spectrum_lines_free(&l);
    spectrum_free(&s);
}

static void bare_close(bare *b) {
    for (int c = 0; c < CHANNELS; c++) mem_free(b->plane[c]);
    image_free(&b->to);
    engine_close(&b->engine);
}

enum { BLOCK = 1 << 15 };
static bool load(void *ctx, size_t i, int worker, err *e) {
    const bare *b = ctx;
    (void)worker, (void)e;
    size_t first = i / CHANNELS * BLOCK, n = b->pixels - first < BLOCK ? b->pixels - first : BLOCK;
    size_t c = i % CHANNELS;
    image_to_float(b->plane[c] + first, b->from->plane[0][c], b->type, first, n);
    return true;
}
static bool store(void *ctx, size_t i, int worker, err *e) {
    const bare *b = ctx;
    (void)worker, (void)e;
    size_t first = i / CHANNELS * BLOCK, n = b->pixels - first < BLOCK ? b->pixels - first : BLOCK;
    size_t c = i % CHANNELS;
    image_from_float(b->to->plane[0][c], b->type, first, b->plane[c] + first, n);
    return true;
}

/* Returns the convolution's seconds. */
static double bare_run(bare *b) {
    err e = {0};
    bool half = b->type == PIXEL_HALF;
    size_t blocks = (b->pixels + BLOCK - 1) / BLOCK * CHANNELS;
    if (half) CHECK_OK(par_for(b->threads, blocks, load, b, &e));
    const void *in[CHANNELS];
    void *out[CHANNELS];
    for (int c = 0; c < CHANNELS; c++) {
        in[c] = half ? b->plane[c] : b->from->plane[0][c];
        out[c] = b->plane[c];
    }
    const join how = join_plain(CHANNELS, b->tap, b->gain);
    engine_frame f = {.in = in, .out = out, .join = &how};
    double start = now();
    CHECK_OK(engine_run(b->engine, &f, NULL, &e));
    double took = now() - start;
    if (half) CHECK_OK(par_for(b->threads, blocks, store, b, &e));
    return took;
}

/* --- a comparison ------------------------------------------------------------------------------
 */

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static double median(double *v, int n) {
    qsort(v, (size_t)n, sizeof *v, by_size);
    return v[n / 2];
}

static double veil(double x, double y, int channel) {
    double r = sqrt(x * x + y * y);
    return (r == 0 ? 40 : 0) + pow(1 + r, -2.5 - 0.1 * channel);
}

/* Seconds of one image. */
static double time_run(bloom *b, const image *from, image *img, bloom_report *r) {
    err e = {0};
    const image_part *p = &from->head.part[0];
    for (int c = 0; c < CHANNELS; c++)
        memcpy(img->plane[0][c], from->plane[0][c],
               (size_t)image_width(p) * image_height(p) * pixel_bytes(p->channel[c].type));
    double start = now();
    CHECK_OK(bloom_image(b, img, r, &e));
    return now() - start;
}

static void compare(const char *channels, uint32_t w, uint32_t h, uint32_t taps, int rounds) {
    static double more[MAX_ROUNDS], plain[MAX_ROUNDS], convolved[MAX_ROUNDS];
    err e = {0};
    OPEN(par) *threads = par_open(0, &e);
    CHECK_OK(threads);
    const char *path = glare_kernel("veil.exr", veil, taps, taps, "B:float G:float R:float");
    OWN(image) *from = ordinary_frame(channels, w, h), *img = glare_copy(from);
    bloom_settings s = glare_settings("cpu");
    s.cache_dir = getenv("BENCH_CACHE");
    OPEN(bloom) *b = bloom_open(&s, path, threads, &e);
    CHECK_OK(b);
    OWN_HEAP bloom_report *r = malloc(sizeof *r);
    bare base = {0};
    time_run(b, from, img, r);
    kernel_source in = {0};
    kernel_use use = bloom_kernel_use(&s);
    kernel_need need = {.channels = CHANNELS, .w = w, .h = h, .height = h};
    psf k = {0};
    CHECK_OK(kernel_source_load(&in, path, threads, &e) &&
             kernel_source_psf(&k, &in, &use, &need, NULL, &e));
    bare_open(&base, &k, &r->sum.plan, &r->sum.device, from, threads);
    psf_free(&k);
    kernel_source_free(&in);
    bare_run(&base);
    for (int i = 0; i < rounds; i++) {
        double took[2] = {0};
        for (int turn = 0; turn < 2; turn++) { /* in turns: the run before decides what is cached */
            double start = now();
            bool bare_one = (i + turn) % 2;
            if (bare_one) {
                convolved[i] = bare_run(&base);
                took[1] = now() - start;
            } else {
                took[0] = time_run(b, from, img, r);
            }
        }
        plain[i] = took[1];
        more[i] = took[0] - took[1];
    }
    const accuracy *a = &r->sum.promise.method;
    if (a->precision != PRECISION_FLOAT32 || !a->kept)
        printf("not an ordinary frame: a method had to be chosen\n");
    double conv = median(convolved, rounds), cost = median(more, rounds);
    printf("%4u x %-4u %3u %-5s bare %6.1f ms, of it the convolution %6.1f ms: the promise costs "
           "%4.1f ms, %4.1f %% of it\n",
           w, h, taps, pixel_name(base.type), median(plain, rounds) * 1e3, conv * 1e3, cost * 1e3,
           cost / conv * 100);
    fflush(stdout);
    bare_close(&base);
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 21;
    if (rounds < 1 || rounds > MAX_ROUNDS) rounds = 21;
    static const char *const TYPE[] = {"B:half G:half R:half", "B:float G:float R:float"};
    for (int t = 0; t < 2; t++) {
        compare(TYPE[t], 1920, 1080, 256, rounds);
        compare(TYPE[t], 3840, 2160, 512, rounds);
    }
    return 0;
}
