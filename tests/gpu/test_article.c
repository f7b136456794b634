/* The article's bloom and its transform on a Vulkan device, under the validation layers: with
 * shuffles and without, with few threads and many, and so with 2 to 16 numbers a thread.
 *
 * The bloom is compared with a direct sum in double. Sampling a spectrum linearly, from the length
 * K of the kernel to the length L of the transform, repeats the kernel every K pixels and
 * multiplies it by (sin(pi d / K) / (L / K sin(pi d / L)))^2 at distance d, on each axis. So the
 * sum needs no spectrum, and shares nothing with what it checks. */
#include "gpu/pipeline.h"
#include "unit/check.h"

#include "base/mem.h"
#include "lab/article_bench.h"
#include "lab/lab_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHANNELS = 3 };

static par *threads;
static engine_device device;
static bool has_device;

static double noise(uint64_t *seed) { /* 0 to 1 */
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) * 0x1p-53;
}

/* docs/math.md, "The error of a transform". */
static double bound(double levels) {
    return 0x1p-24 * (3 + 0.7 * sqrt(levels));
}

/* --- the transform ---------------------------------------------------------------------------- */

/* 2 to 16 numbers a thread, which only long lines have on a whole device. */
TEST(lines_of_every_shape) {
    if (!has_device) skip();
    const uint32_t n = 32;
    lab_truth truth = {0};
    lab_gpu whole = {0};
    err e = {0};
    int checked = 0;
    CHECK_OK(lab_gpu_open(&whole, &device, &e), e);
    CHECK_OK(lab_truth_make(&truth, n, threads, &e), e);
    for (uint32_t each = 2; each <= NABLA_EACH; each *= 2)
        for (int i = 0; i < LAB_TRANSFORM_COUNT; i++) {
            const lab_transform *t = &LAB_TRANSFORMS[i];
            lab_gpu gpu = whole;
            lab_row r;
            if (strncmp(t->name, "nabla", 5) != 0) continue;
            if (each == NABLA_EACH && strcmp(t->name, "nabla") == 0) continue; /* slow to compile */
            gpu.limits.invocations = n / each;
            CHECK_OK(lab_run(&r, &(lab_request){.t = t, .truth = &truth, .gpu = &gpu}, &e), e);
            for (int way = 0; way < LAB_WAYS; way++) {
                CHECK_LE(r.part[way].rms, bound(2 * log2(n)));
                CHECK_LE(r.part[way].worst, 8 * bound(2 * log2(n)));
            }
            assert_int_equal((int)r.shared, 8 * n / each);
            checked++;
        }
    assert_int_equal(checked, 2 * 3 + 1);
    lab_truth_free(&truth);
    lab_gpu_close(&whole);
}

/* --- the bloom -------------------------------------------------------------------------------- */

typedef struct {
    uint32_t w, h, kernel, cx, cy, channels; /* the last three of the kernel */
    uint32_t threads;                        /* maximum of a workgroup */
    bool shuffles;
    uint32_t first;
    bool fetch; /* see article_ask */
} bloom_case;

static const bloom_case CASE[] = {
    {62, 50, 16, 8, 8, 3, 1024, true, PLAN_X, false}, /* 128 x 128 */
    {13, 10, 8, 4, 4, 3, 1024, false, PLAN_Y, false}, /* through shared memory */
    {9, 25, 8, 3, 6, 3, 16, true, PLAN_X, false},     /* odd sizes, another centre */
    {24, 9, 8, 3, 6, 3, 8, true, PLAN_Y, true},       /* 4 numbers a thread, no texture units */
    {9, 24, 8, 4, 4, 3, 4, false, PLAN_Y, false},     /* 8 numbers a thread */
    {7, 6, 16, 8, 8, 1, 1024, true, PLAN_X, true},    /* a grey kernel, larger than the image */
    {1, 1, 4, 2, 2, 3, 1024, true, PLAN_Y, false},    /* a line that is alone */
};

/* The factor of a tap at distance d: see above. */
static double ghost(int64_t d, uint32_t k, uint32_t l) {
    if (d == 0) return 1;
    double s = sin(M_PI * (double)d / k) / ((double)l / k * sin(M_PI * (double)d / l));
    return s * s;
}

/* Pixel x, y, from the image on a circle of lx * ly. */
static double direct(const bloom_case *c, const float *in, const float *tap, double scale,
                     uint32_t lx, uint32_t ly, int64_t x, int64_t y) {
    int64_t k = c->kernel;
    double sum = 0;
    for (int64_t v = 0; v < c->h; v++)
        for (int64_t u = 0; u < c->w; u++) {
            int64_t dx = x - u, dy = y - v;
            int64_t tx = ((dx + c->cx) % k + k) % k, ty = ((dy + c->cy) % k + k) % k;
            sum += (double)in[v * c->w + u] * (double)tap[ty * k + tx] * ghost(dx, c->kernel, lx) *
                   ghost(dy, c->kernel, ly);
        }
    return scale * sum;
}

static void check_bloom(const bloom_case *c, const lab_gpu *whole) {
    lab_gpu gpu = *whole;
    size_t pixels = (size_t)c->w * c->h, taps = (size_t)c->kernel * c->kernel;
    float *in[CHANNELS], *out[CHANNELS], *plane[CHANNELS];
    uint64_t seed = 7 + c->w;
    psf kernel = {0};
    article_plan p;
    err e = {0};
    for (int i = 0; i < CHANNELS; i++) {
        in[i] = calloc(pixels, sizeof(float));
        out[i] = calloc(pixels, sizeof(float));
        plane[i] = calloc(taps, sizeof(float));
        for (size_t n = 0; n < pixels; n++) in[i][n] = (float)noise(&seed);
        for (size_t n = 0; n < taps; n++) plane[i][n] = (float)noise(&seed);
    }
    const psf_planes planes = {c->kernel, c->kernel, c->channels, (const float *const *)plane};
    const psf_options centre = {.center = PSF_AT, .at = {c->cx, c->cy}};
    CHECK_OK(psf_make(&kernel, &planes, &centre, &e), e);
    if (!c->shuffles) gpu.subgroup = 0;
    gpu.limits.invocations = c->threads;
    const lab_ask limits = {0, gpu.limits, gpu.subgroup};
    const article_ask ask = {{c->w, c->h}, c->kernel, c->first, c->fetch};
    CHECK_OK(article_plan_make(&p, &ask, &limits, &e), e);
    article a = {0};
    CHECK_OK(article_open(&a, &gpu, &p, &kernel, threads, &e), e);
    CHECK_OK(article_run(&a, (const float *const *)in, out, &e), e);
    uint32_t lx = p.line[c->first != PLAN_X].length, ly = p.line[c->first == PLAN_X].length;
    double limit = bound(2 * log2((double)lx * ly)), difference = 0, all = 0, worst = 0;
    for (int i = 0; i < CHANNELS; i++)
        for (size_t n = 0; n < pixels; n++) {
            uint32_t from = c->channels == 1 ? 0 : (uint32_t)i;
            double want = direct(c, in[i], kernel.tap + from * taps, kernel.scale[from], lx, ly,
                                 (int64_t)(n % c->w), (int64_t)(n / c->w));
            double d = fabs((double)out[i][n] - want);
            difference += d * d;
            all += want * want;
            worst = fmax(worst, isnan(d) ? INFINITY : d);
        }
    double rms = sqrt(all / (double)(CHANNELS * pixels));
    if (!(sqrt(difference / all) <= limit) || !(worst / rms <= 8 * limit))
        fail_msg("%u x %u, kernel %u, %u threads, %s first: rms %g, worst %g, bound %g", c->w, c->h,
                 c->kernel, c->threads, c->first == PLAN_X ? "x" : "y", sqrt(difference / all),
                 worst / rms, limit);
    article_close(&a, &gpu);
    psf_free(&kernel);
    for (int i = 0; i < CHANNELS; i++) free(in[i]), free(out[i]), free(plane[i]);
}

TEST(bloom_is_the_sum) {
    if (!has_device) skip();
    lab_gpu gpu = {0};
    err e = {0};
    CHECK_OK(lab_gpu_open(&gpu, &device, &e), e);
    for (size_t i = 0; i < sizeof CASE / sizeof CASE[0]; i++) check_bloom(&CASE[i], &gpu);
    lab_gpu_close(&gpu);
}

/* Lengths hold image and kernel side by side, and buffers what the passes write. */
TEST(plans) {
    const lab_ask limits = {.limits = {.invocations = 1024, .shared_bytes = 49152}, .subgroup = 32};
    err e = {0};
    article_plan p;
    CHECK_OK(article_plan_make(&p, &(article_ask){{1920, 1080}, 256, PLAN_Y, false}, &limits, &e),
             e);
    assert_int_equal(p.line[0].length, 2048);
    assert_int_equal(p.line[1].length, 4096);
    assert_int_equal(p.line[1].threads, 512);
    assert_int_equal(p.extent[0], 1080);
    assert_int_equal(p.pair_bytes, 3ull * 960 * 2048 * 8);
    assert_int_equal(p.half_bytes, 3ull * 1025 * 1920 * 8);
    assert_int_equal(p.spectrum_bytes, 3ull * 129 * 256 * 8);
    assert_int_equal(p.bytes[ARTICLE_CONVOLVE], p.pair_bytes + p.half_bytes + p.spectrum_bytes);
    CHECK_OK(article_plan_make(&p, &(article_ask){{769, 768}, 256, PLAN_X, false}, &limits, &e), e);
    assert_int_equal(p.line[0].length, 1024); /* 769 + 255 */
    assert_false(article_plan_make(&p, &(article_ask){{64, 64}, 48, PLAN_X, false}, &limits, &e));
    assert_int_equal(e.code, ERR_USAGE);
    assert_false(
        article_plan_make(&p, &(article_ask){{9000, 64}, 256, PLAN_X, false}, &limits, &e));
    assert_int_equal(e.code, ERR_NO_DEVICE);
}

/* A kernel of which the article's bloom loses much, ours nothing: the table says so. */
TEST(the_table) {
    if (!has_device) skip();
    psf k = {0};
    err e = {0};
    lab_row row[ARTICLE_ROWS];
    CHECK_OK(measure_kernel(&k, 16, CHANNELS, &e), e);
    const article_request r = {.device = &device,
                               .kernel = &k,
                               .size = {61, 37},
                               .rounds = 2,
                               .queue = 2,
                               .threads = threads};
    CHECK_OK(article_compare(row, &r, &e), e);
    for (int i = 0; i < ARTICLE_ROWS; i++) {
        assert_true(row[i].all.seconds.least > 0 && row[i].all.copy > 0);
        for (int p = 0; p < ARTICLE_PASSES; p++) {
            assert_true(row[i].part[p].seconds.least > 0 && row[i].part[p].copy > 0);
            assert_true(row[i].part[p].bytes > 61 * 37 * 12);
        }
    }
    assert_string_equal(row[ARTICLE_X].first, "x");
    assert_string_equal(row[ARTICLE_Y].first, "y");
    CHECK_LE(fabs(row[ARTICLE_X].length[0] - 128) + fabs(row[ARTICLE_Y].length[0] - 64), 0);
    /* Which axis is first changes nothing but rounding. */
    CHECK_LE(fabs(row[ARTICLE_X].all.rms - row[ARTICLE_Y].all.rms), 1e-5);
    assert_true(row[ARTICLE_X].all.worst > 1e-3);
    CHECK_LE(row[ARTICLE_OURS].all.worst, 1e-4);
    CHECK_LE(row[ARTICLE_OURS].all.rms, 2e-6);
    psf_free(&k);
}

int main(void) {
    engine_device all[ENGINE_DEVICES];
    uint32_t n = pipe_devices(all);
    for (uint32_t i = 0; i < n && !has_device; i++)
        if (all[i].class != ENGINE_CPU) device = all[i], has_device = true;
    threads = par_open(2, NULL);
    int failed = check_run(NULL, NULL);
    par_close(&threads);
    return failed;
}
