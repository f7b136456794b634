/* Every transform of the lab, at every size it takes, forward and inverse, on the CPU and on a
 * Vulkan device under the validation layers: against a transform in double, which is compared with
 * the definition first. A software driver has a few, and with LONG=1 the sizes of each radix, every
 * shape and all blooms; LAB_TEST_MOST=4096 has all sizes up to there.
 *
 * The article's transform and bloom, with shuffles and without, with few threads and many, and so
 * with 2 to 16 numbers a thread. The bloom is compared with a direct sum in double. Sampling a
 * spectrum linearly, from the length K of the kernel to the length L of the transform, repeats the
 * kernel every K pixels and multiplies it by (sin(pi d / K) / (L / K sin(pi d / L)))^2 at distance
 * d, on each axis. So the sum needs no spectrum, and shares nothing with what it checks. */
#include "gpu/pipeline.h"
#include "unit/check.h"

#include "engine/engine.h"
#include "lab/article.h"
#include "lab/lab_bench.h"
#include "lab/ocean.h"

static engine_device chosen;
static bool has_device;

/* Returns whether the device has a part only: it compiles for a second for each line. */
static bool in_short(void) {
    return has_device && chosen.class == ENGINE_SOFTWARE && !check_long();
}

/* The definition, one axis after the other. */
static void define(double *image, uint32_t n) {
    OWN_HEAP double *line = calloc(n, 2 * sizeof *line);
    for (int columns = 0; columns < 2; columns++)
        for (uint32_t l = 0; l < n; l++) {
            double *first = image + 2 * (size_t)l * (columns ? 1 : n);
            size_t step = 2 * (size_t)(columns ? n : 1);
            for (uint32_t k = 0; k < n; k++) {
                double re = 0, im = 0;
                for (uint32_t i = 0; i < n; i++) {
                    double angle = -2 * M_PI * (double)(k * i % n) / n, c = cos(angle),
                           s = sin(angle);
                    re += first[i * step] * c - first[i * step + 1] * s;
                    im += first[i * step] * s + first[i * step + 1] * c;
                }
                line[2 * k] = re, line[2 * k + 1] = im;
            }
            for (uint32_t k = 0; k < n; k++)
                first[k * step] = line[2 * k], first[k * step + 1] = line[2 * k + 1];
        }
}

TEST(the_reference_is_the_definition) {
    static const uint32_t SIZE[] = {16, 18, 35, 60, 63, 64};
    for (size_t s = 0; s < COUNT(SIZE); s++) {
        uint32_t n = SIZE[s];
        OWN(lab_truth) t = {0};
        CHECK_OK(lab_truth_make(&t, n, &e));
        OWN_HEAP double *want = calloc((size_t)n * n, 2 * sizeof *want);
        memcpy(want, t.value[LAB_BACKWARD], 2 * sizeof *want * n * n);
        define(want, n);
        for (size_t i = 0; i < 2 * (size_t)n * n; i++)
            CHECK_LE(fabs(want[i] - t.value[LAB_FORWARD][i]), 1e-12 * n);
    }
}

/* docs/inside/math.md, "The error of a transform"; a sum of n terms in a row has n levels. */
static double bound_of(double levels) {
    return 0x1p-24 * (3 + 0.7 * sqrt(levels));
}

static double bound(const lab_transform *t, uint32_t n) {
    return bound_of(strcmp(t->name, "dft") == 0 ? 2.0 * n : 2 * log2(n));
}

static void check_all(uint32_t n, const lab_gpu *gpu) {
    OWN(lab_truth) truth = {0};
    CHECK_OK(lab_truth_make(&truth, n, &e));
    for (int i = 0; i < LAB_TRANSFORM_COUNT; i++) {
        const lab_transform *t = &LAB_TRANSFORMS[i];
        lab_row r;
        if (!lab_takes(t, n) || (t->program && !gpu)) continue;
        CHECK_OK(lab_run(&r, &(lab_request){.t = t, .n = n, .truth = &truth, .gpu = gpu}, &e));
        if (!(r.rms <= bound(t, n)) || !(r.worst <= 12 * bound(t, n)))
            fail_msg("%s of %u: rms %g, worst %g, bound %g", t->name, n, r.rms, r.worst,
                     bound(t, n));
        assert_true(r.bytes >= 16.0 * n * n);
    }
}

TEST(every_transform_at_every_size) {
    static const uint32_t SIZE[] = {16,  20,  32,  60,  64,   98,   128,
                                    135, 256, 360, 512, 1024, 2048, 4096};
    const char *most = getenv("LAB_TEST_MOST");
    bool few = !most && has_device && chosen.class == ENGINE_SOFTWARE;
    uint32_t end = most ? (uint32_t)atoi(most) : 128;
    lab_gpu gpu = {.threads = threads};
    if (has_device) CHECK_OK(lab_gpu_open(&gpu, &chosen, &e));
    for (size_t s = 0; s < COUNT(SIZE) && SIZE[s] <= end; s++)
        if (!few || SIZE[s] == 16 || SIZE[s] == 60 || (SIZE[s] % 4 != 0 && !in_short()))
            check_all(SIZE[s], has_device ? &gpu : NULL);
    if (has_device) lab_gpu_close(&gpu);
}

/* The height of the sea, or with `potential` the field whose gradient the displacements are, at any
 * place: a sum over its waves. */
static double sum_of_waves(const ocean *o, bool potential, double x, double y) {
    double sum = 0, n = o->n, step = 2 * M_PI / OCEAN_PATCH;
    for (uint32_t i = 0; i < o->n * o->n; i++) {
        int fx = (int)(i % o->n), fy = (int)(i / o->n);
        double kx = step * (2 * fx < (int)o->n ? fx : fx - (int)o->n);
        double ky = step * (2 * fy < (int)o->n ? fy : fy - (int)o->n), k = hypot(kx, ky);
        double turn = 2 * M_PI * (double)((uint64_t)o->turns[i] * o->frame % OCEAN_LOOP) /
                      OCEAN_LOOP;
        const float *w = o->wave[i];
        double here = kx * x + ky * y;
        /* Real parts of h0(k) exp(i (here + turn)) and of conj(h0(-k)) exp(i (here - turn)). */
        double part = w[0] * cos(here + turn) - w[1] * sin(here + turn) + w[2] * cos(here - turn) -
                      w[3] * sin(here - turn);
        if (k > 0) sum += potential ? part / k : part;
    }
    return sum / (n * n);
}

TEST(the_sea_is_the_sum_of_its_waves) {
    enum { N = 64, FRAME = 1234 };
    const double e = 1e-3 * OCEAN_PATCH / N;
    OWN(ocean) o = {0};
    err error = {0};
    CHECK_OK(ocean_make(&o, N, FRAME, &error), error);
#define H(p, q) sum_of_waves(&o, false, (p), (q))
#define P(p, q) sum_of_waves(&o, true, (p), (q))
    for (uint32_t i = 5; i < N * N; i += 977) {
        double x = i % N * (double)OCEAN_PATCH / N, y = i / N * (double)OCEAN_PATCH / N;
        const double want[OCEAN_IMAGES][2] = {
            {H(x, y),
             (P(x + e, y - e) - P(x + e, y + e) + P(x - e, y + e) - P(x - e, y - e)) / (4 * e * e)},
            {(P(x - e, y) - P(x + e, y)) / (2 * e), (P(x, y - e) - P(x, y + e)) / (2 * e)},
            {(H(x + e, y) - H(x - e, y)) / (2 * e), (H(x, y + e) - H(x, y - e)) / (2 * e)},
            {(2 * P(x, y) - P(x - e, y) - P(x + e, y)) / (e * e),
             (2 * P(x, y) - P(x, y - e) - P(x, y + e)) / (e * e)}};
        for (int f = 0; f < OCEAN_IMAGES; f++)
            for (int part = 0; part < 2; part++)
                CHECK_LE(fabs(o.image[f][2 * i + part] - want[f][part]), 1e-5);
    }
}

/* A finer grid has the waves of a coarser one, so it shows the same sea. */
TEST(a_finer_sea_has_the_same_waves) {
    OWN(ocean) coarse = {0}, fine = {0};
    CHECK_OK(ocean_make(&coarse, 64, 0, &e) && ocean_make(&fine, 128, 0, &e));
    for (int y = -31; y < 32; y++)
        for (int x = -31; x < 32; x++) {
            size_t c = (size_t)((y + 64) % 64) * 64 + (size_t)((x + 64) % 64);
            size_t f = (size_t)((y + 128) % 128) * 128 + (size_t)((x + 128) % 128);
            assert_int_equal(coarse.turns[c], fine.turns[f]);
            for (int i = 0; i < 4; i++) /* both times n^2 */
                CHECK_LE(fabs(4 * (double)coarse.wave[c][i] - (double)fine.wave[f][i]),
                         1e-6 * fabs((double)fine.wave[f][i]));
        }
}

/* --- the article's transform -------------------------------------------------------------------
 */

enum { CHANNELS = 3 };

/* 2 to 16 numbers a thread, which only long lines have on a whole device. */
TEST(lines_of_every_shape) {
    if (!has_device) skip();
    const uint32_t n = 32;
    OWN(lab_truth) truth = {0};
    OPEN(lab_gpu) whole = {.threads = threads};
    int checked = 0;
    CHECK_OK(lab_gpu_open(&whole, &chosen, &e));
    CHECK_OK(lab_truth_make(&truth, n, &e));
    const uint32_t most = in_short() ? 2 : NABLA_EACH;
    for (uint32_t each = 2; each <= most; each *= 2)
        for (int i = 0; i < LAB_TRANSFORM_COUNT; i++) {
            const lab_transform *t = &LAB_TRANSFORMS[i];
            lab_gpu gpu = whole;
            lab_row r;
            if (strncmp(t->name, "nabla", 5) != 0) continue;
            if (each == NABLA_EACH && strcmp(t->name, "nabla") == 0) continue; /* slow to compile */
            gpu.limits.invocations = n / each;
            CHECK_OK(lab_run(&r, &(lab_request){.t = t, .n = n, .truth = &truth, .gpu = &gpu}, &e));
            CHECK_LE(r.rms, bound_of(2 * log2(n)));
            CHECK_LE(r.worst, 12 * bound_of(2 * log2(n)));
            assert_int_equal((int)r.shared, 8 * n / each);
            checked++;
        }
    assert_int_equal(checked, most == 2 ? 2 : 2 * 3 + 1);
}

/* --- the bloom -------------------------------------------------------------------------------- */

typedef struct {
    uint32_t w, h, kernel, cx, cy, channels; /* the last three of the kernel */
    uint32_t threads;                        /* maximum of a workgroup */
    bool shuffles;
    uint32_t first;
} bloom_case;

static const bloom_case CASE[] = {
    {62, 50, 16, 8, 8, 3, 1024, true, PLAN_X}, /* 128 x 128 */
    {13, 10, 8, 4, 4, 3, 1024, false, PLAN_Y}, /* through shared memory */
    {9, 25, 8, 3, 6, 3, 16, true, PLAN_X},     /* odd sizes, another centre */
    {24, 9, 8, 3, 6, 3, 8, true, PLAN_Y},      /* 4 numbers a thread */
    {9, 24, 8, 4, 4, 3, 4, false, PLAN_Y},     /* 8 numbers a thread */
    {7, 6, 16, 8, 8, 1, 1024, true, PLAN_X},   /* a grey kernel, larger than the image */
    {1, 1, 4, 2, 2, 3, 1024, true, PLAN_Y},    /* a line that is alone */
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
    for (int i = 0; i < CHANNELS; i++) {
        in[i] = calloc(pixels, sizeof(float));
        out[i] = calloc(pixels, sizeof(float));
        plane[i] = calloc(taps, sizeof(float));
        for (size_t n = 0; n < pixels; n++) in[i][n] = (float)pipe_random(&seed);
        for (size_t n = 0; n < taps; n++) plane[i][n] = (float)pipe_random(&seed);
    }
    const psf_planes planes = {c->kernel, c->kernel, c->channels, (const float *const *)plane,
                               NULL};
    const psf_options centre = {.center = PSF_AT, .at = {c->cx, c->cy}};
    CHECK_OK(psf_make(&kernel, &planes, &centre, &e));
    if (!c->shuffles) gpu.subgroup = 0;
    gpu.limits.invocations = c->threads;
    const lab_ask limits = {0, gpu.limits, gpu.subgroup};
    const uint32_t size[] = {c->w, c->h};
    CHECK_OK(article_plan_make(&p, size, c->kernel, c->first, &limits, &e));
    article a = {0};
    CHECK_OK(article_open(&a, &gpu, &p, &kernel, threads, &e));
    CHECK_OK(article_run(&a, (const float *const *)in, out, &e));
    uint32_t lx = p.line[c->first != PLAN_X].length, ly = p.line[c->first == PLAN_X].length;
    double limit = bound_of(2 * log2((double)lx * ly)), difference = 0, all = 0, worst = 0;
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
    OPEN(lab_gpu) gpu = {.threads = threads};
    CHECK_OK(lab_gpu_open(&gpu, &chosen, &e));
    for (size_t i = 0; i < (in_short() ? 3 : COUNT(CASE)); i++) check_bloom(&CASE[i], &gpu);
}

/* Lengths hold image and kernel side by side, and buffers what the passes write. */
TEST(plans) {
    const lab_ask limits = {.limits = {.invocations = 1024, .shared_bytes = 49152}, .subgroup = 32};
    article_plan p;
    CHECK_OK(article_plan_make(&p, (uint32_t[]){1920, 1080}, 256, PLAN_Y, &limits, &e));
    assert_int_equal(p.line[0].length, 2048);
    assert_int_equal(p.line[1].length, 4096);
    assert_int_equal(p.line[1].threads, 512);
    assert_int_equal(p.extent[0], 1080);
    assert_int_equal(p.pair_bytes, 3ull * 960 * 2048 * 8);
    assert_int_equal(p.half_bytes, 3ull * 1025 * 1920 * 8);
    assert_int_equal(p.spectrum_bytes, 3ull * 129 * 256 * 8);
    assert_int_equal(p.bytes[ARTICLE_CONVOLVE], p.pair_bytes + p.half_bytes + p.spectrum_bytes);
    CHECK_OK(article_plan_make(&p, (uint32_t[]){769, 768}, 256, PLAN_X, &limits, &e));
    assert_int_equal(p.line[0].length, 1024); /* 769 + 255 */
    CHECK_REFUSED(article_plan_make(&p, (uint32_t[]){64, 64}, 48, PLAN_X, &limits, &e), ERR_USAGE,
                  "");
    CHECK_REFUSED(article_plan_make(&p, (uint32_t[]){9000, 64}, 256, PLAN_X, &limits, &e),
                  ERR_NO_DEVICE, "");
}

int main(void) {
    engine_device all[ENGINE_DEVICES];
    uint32_t n = pipe_devices(all);
    for (uint32_t i = 0; i < n && !has_device; i++)
        if (all[i].class != ENGINE_CPU) chosen = all[i], has_device = true;
    threads = par_open(2, NULL);
    int failed = check_run(NULL, NULL);
    par_close(&threads);
    return failed;
}
