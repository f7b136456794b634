/* test_properties.c - the program without its command line, from an image and a kernel's file to
 * an image, on the CPU engine and on every Vulkan device: the properties of a convolution, and
 * src/math/reference.c over all borders and modes, at widths where other programs fail. */
#include "base/mem.h"
#include "bloom/bloom.h"
#include "gpu/pipeline.h"
#include "math/reference.h"
#include "unit/check.h"
#include "unit/make_image.h"

enum { COLOURS = 3 };

/* --- a kernel as a file, and its taps as numbers -------------------------------------------- */

typedef struct {
    uint32_t w, h, cx, cy;
    float *tap;            /* [channel][y][x], planes in the file's order: B G R */
    double scale[COLOURS]; /* of the default normalisation */
    const char *path;
} lens;

/* A peak, a skirt and some dirt: not symmetric, all positive, coloured. */
static lens make_lens(uint32_t w, uint32_t h, uint32_t cx, uint32_t cy, const char *name,
                      bool turned) {
    /* The weights of Rec.709's primaries and D65, in the order B G R. */
    static const double WEIGHT[COLOURS] = {0.0721923, 0.7151687, 0.2126390};
    const make_part part = PART("B:float G:float R:float", 0, 0, w, h, .packing = COMPRESSION_NONE);
    image *img = make_image(&part, 1);
    lens l = {.w = w, .h = h, .cx = cx, .cy = cy, .path = make_path(name)};
    size_t n = (size_t)w * h;
    uint64_t seed = 7 * w + h;
    double y_sum = 0;
    l.tap = mem_new(n * COLOURS, sizeof *l.tap, "taps", &e);
    for (uint32_t c = 0; c < COLOURS; c++)
        for (size_t i = 0; i < n; i++) {
            double x = (double)(i % w) - cx, y = (double)(i / w) - cy;
            l.tap[c * n + i] =
                (float)((1 + 0.2 * c) / (1 + 0.4 * (x * x + y * y)) + 0.05 * pipe_random(&seed));
            y_sum += WEIGHT[c] * (double)l.tap[c * n + i];
        }
    for (uint32_t c = 0; c < COLOURS; c++) {
        l.scale[c] = 1 / y_sum;
        for (size_t i = 0; i < n; i++)
            ((float *)img->plane[0][c])[i] = l.tap[c * n + (turned ? n - 1 - i : i)];
    }
    CHECK_OK(image_save(l.path, img, threads, &e), e);
    image_free(&img);
    return l;
}

/* --- runs ----------------------------------------------------------------------------------- */

static bloom_settings settings_of(const lens *l, uint32_t index) {
    static char number[16];
    bloom_settings s;
    bloom_defaults(&s);
    snprintf(number, sizeof number, "%u", index);
    s.device = device[index].class == ENGINE_CPU ? "cpu" : number;
    s.cache_dir = make_path("cache");
    s.cache_size = 0;
    s.kernel.center = PSF_AT;
    s.kernel.at[0] = l->cx;
    s.kernel.at[1] = l->cy;
    return s;
}

/* Planes [channel][y][x] through a bloom; what comes back belongs to the caller. */
static float *through(bloom *b, const float *in, uint32_t w, uint32_t h, bloom_report *r) {
    const make_part part = PART("B:float G:float R:float", 5, -3, w, h);
    image *img = make_image(&part, 1);
    size_t n = (size_t)w * h;
    float *out = mem_new(n * COLOURS, sizeof *out, "out", &e);
    for (uint32_t c = 0; c < COLOURS; c++) memcpy(img->plane[0][c], in + c * n, n * sizeof *in);
    CHECK_OK(bloom_image(b, img, r, &e), e);
    for (uint32_t c = 0; c < COLOURS; c++) memcpy(out + c * n, img->plane[0][c], n * sizeof *in);
    image_free(&img);
    return out;
}

static bloom *open_bloom(const bloom_settings *s, const char *kernel) {
    bloom *b = bloom_open(s, kernel, threads, &e);
    if (!b) fail_msg("%s: %s", kernel, e.msg);
    return b;
}

static float *run_once(const bloom_settings *s, const lens *l, const float *in, uint32_t w,
                       uint32_t h, bloom_report *r) {
    bloom *b = open_bloom(s, l->path);
    float *out = through(b, in, w, h, r);
    bloom_close(&b);
    return out;
}

static float *noise(size_t n, uint64_t seed) {
    float *to = mem_new(n, sizeof *to, "noise", NULL);
    for (size_t i = 0; i < n; i++) to[i] = (float)pipe_random(&seed);
    return to;
}

/* The largest difference, relative to the largest of `want`. */
static double differ(const float *is, const float *want, size_t n) {
    double worst = 0, peak = 0;
    for (size_t i = 0; i < n; i++) {
        double d = fabs((double)is[i] - (double)want[i]);
        if (!(d <= worst)) worst = d;
        if (fabs((double)want[i]) > peak) peak = fabs((double)want[i]);
    }
    return worst / peak;
}

/* --- what a convolution is known by --------------------------------------------------------- */

enum { W = 66, H = 50, KW = 21, KH = 13 };

static float *impulse(uint32_t x, uint32_t y) {
    float *in = mem_new((size_t)W * H * COLOURS, sizeof *in, "impulse", NULL);
    for (uint32_t c = 0; c < COLOURS; c++) in[(c * H + y) * W + x] = 1;
    return in;
}

/* One bloom for all, so that nothing may depend on the frame before. */
static void properties_on(uint32_t index) {
    lens l = make_lens(KW, KH, 8, 9, "k.exr", false);
    bloom_settings s = settings_of(&l, index);
    bloom *b = open_bloom(&s, l.path);
    bloom_report r;
    size_t n = (size_t)W * H, all = n * COLOURS;
    float *point = impulse(30, 20), *there = impulse(35, 17), *noisy = noise(all, 1),
          *mix = mem_new(all, sizeof *mix, "mix", NULL);

    /* An impulse gives the kernel, the way up it is in its file, its centre on the impulse. */
    float *kernel = through(b, point, W, H, &r);
    float *want = mem_new(all, sizeof *want, "want", NULL);
    for (uint32_t c = 0; c < COLOURS; c++)
        for (uint32_t y = 0; y < KH; y++)
            for (uint32_t x = 0; x < KW; x++)
                want[(c * H + y + 20 - 9) * W + x + 30 - 8] =
                    (float)(l.scale[c] * (double)l.tap[(c * KH + y) * KW + x]);
    CHECK_LE(differ(kernel, want, all), 1e-6);

    /* A shifted impulse gives the shifted kernel. */
    float *shifted = through(b, there, W, H, &r), worst = 0;
    for (uint32_t c = 0; c < COLOURS; c++)
        for (uint32_t y = 3; y < H; y++)
            for (uint32_t x = 0; x + 5 < W; x++)
                worst = fmaxf(worst, fabsf(shifted[(c * H + y - 3) * W + x + 5] -
                                           kernel[(c * H + y) * W + x]));
    CHECK_LE(worst, 1e-6 * (double)want[2 * n + 20 * W + 30]);

    /* A sum gives the sum. */
    for (size_t i = 0; i < all; i++) mix[i] = 2 * noisy[i] + 30 * point[i];
    float *a = through(b, noisy, W, H, &r), *sum = through(b, mix, W, H, &r);
    for (size_t i = 0; i < all; i++) want[i] = 2 * a[i] + 30 * kernel[i];
    CHECK_LE(differ(sum, want, all), 1e-6);

    /* Light that stays inside keeps its energy: each channel is multiplied by the kernel's sum. */
    for (uint32_t c = 0; c < COLOURS; c++) {
        double energy = 0, gain = 0;
        for (size_t i = 0; i < n; i++) energy += (double)kernel[c * n + i];
        for (size_t i = 0; i < (size_t)KW * KH; i++)
            gain += l.scale[c] * (double)l.tap[c * KW * KH + i];
        CHECK_LE(fabs(energy / gain - 1), 1e-6);
    }

    /* The same frame again gives the same bits. */
    float *again = through(b, noisy, W, H, &r);
    assert_memory_equal(again, a, all * sizeof *a);

    mem_free(point), mem_free(there), mem_free(noisy), mem_free(mix), mem_free(kernel);
    mem_free(want), mem_free(shifted), mem_free(a), mem_free(sum), mem_free(again);
    mem_free(l.tap);
    bloom_close(&b);
}

TEST(properties) {
    if (!devices) skip();
    for (uint32_t i = 0; i < devices; i++) properties_on(i);
}

/* Correlating with the turned kernel is convolving with the kernel: the same bits. */
TEST(correlation) {
    if (!devices) skip();
    lens l = make_lens(KW, KH, 8, 9, "k.exr", false), t = make_lens(KW, KH, 8, 9, "t.exr", true);
    float *in = noise((size_t)W * H * COLOURS, 2);
    bloom_report r;
    for (uint32_t i = 0; i < devices; i++) {
        bloom_settings s = settings_of(&l, i);
        float *a = run_once(&s, &l, in, W, H, &r);
        s.kernel.at[0] = KW - 1 - l.cx;
        s.kernel.at[1] = KH - 1 - l.cy;
        s.kernel.correlate = true;
        float *b = run_once(&s, &t, in, W, H, &r);
        assert_memory_equal(a, b, (size_t)W * H * COLOURS * sizeof *a);
        mem_free(a), mem_free(b);
    }
    mem_free(in), mem_free(l.tap), mem_free(t.tap);
}

/* sharpen 1 gives every bit back: zeros with a sign, denormals, halves that no float32 transform
 * would return. */
TEST(all_sharpened) {
    if (!devices) skip();
    lens l = make_lens(KW, KH, 8, 9, "k.exr", false);
    size_t all = (size_t)W * H * COLOURS;
    float *in = noise(all, 3);
    in[0] = -0.0f, in[1] = 1e-42f, in[2] = 3e38f, in[3] = -7;
    for (uint32_t i = 0; i < devices; i++) {
        bloom_settings s = settings_of(&l, i);
        bloom_report r;
        s.sharpen = 1;
        float *out = run_once(&s, &l, in, W, H, &r);
        assert_memory_equal(out, in, all * sizeof *in);
        mem_free(out);
    }
    mem_free(in), mem_free(l.tap);
}

/* --- against the definition ----------------------------------------------------------------- */

typedef struct {
    uint32_t w, h, kw, kh, cx, cy;
    plan_border border[PLAN_AXES];
    plan_axis_order order;
    double sharpen;
    plan_precision precision;
} scene;

/* The error that a spectrum of 8 taps may have, as a part of the kernel's sum: docs/math.md, "As it
 * is done". The exact one is float's rounding of each number. */
static double spectrum_error(spectrum_mode m) {
    return m == SPECTRUM_RESAMPLED ? 3e-7 : 0;
}

/* Relative to the definition's own size; `bound` with what the engine's transforms may add. */
static void check_definition(const scene *c, const lens *l, const float *in, const float *out,
                             const bloom_report *r, double error, const char *what) {
    size_t n = (size_t)c->w * c->h;
    double *want = mem_new(n, sizeof *want, "want", NULL), diff = 0, norm = 0, source = 0;
    for (uint32_t ch = 0; ch < COLOURS; ch++) {
        reference ref = {.in = in + ch * n,
                         .w = c->w,
                         .h = c->h,
                         .border = {c->border[0], c->border[1]},
                         .tap = l->tap + (size_t)ch * l->w * l->h,
                         .kernel_w = l->w,
                         .kernel_h = l->h,
                         .cx = l->cx,
                         .cy = l->cy,
                         .scale = l->scale[ch]};
        reference_plane(&ref, want);
        for (size_t i = 0; i < n; i++) {
            double old = (double)in[ch * n + i];
            double w = (1 - c->sharpen) * want[i] + c->sharpen * old;
            double d = (double)out[ch * n + i] - w;
            diff += d * d, norm += w * w, source += old * old;
        }
    }
    mem_free(want);
    /* float64 is stored as float here. */
    double bound = fmax(pipe_bound(&r->plan), 0x1p-24) + error * fmax(1, sqrt(source / norm));
    if (!(sqrt(diff / norm) <= bound))
        fail_msg("%s, %s: %ux%u, kernel %ux%u at %u,%u, border %s,%s, sharpen %g: L2 %.3g, bound "
                 "%.3g",
                 r->device.name, what, c->w, c->h, c->kw, c->kh, c->cx, c->cy,
                 plan_border_name(c->border[0]), plan_border_name(c->border[1]), c->sharpen,
                 sqrt(diff / norm), bound);
}

static void scene_on(const scene *c, uint32_t index) {
    size_t all = (size_t)c->w * c->h * COLOURS;
    lens l = make_lens(c->kw, c->kh, c->cx, c->cy, "k.exr", false);
    float *in = noise(all, c->w + 131 * c->h), *exact = NULL, *out;
    for (int pass = 0; pass < 2; pass++) {
        spectrum_mode mode = pass ? SPECTRUM_RESAMPLED : SPECTRUM_EXACT;
        bloom_settings s = settings_of(&l, index);
        bloom_report r;
        s.border[0] = c->border[0], s.border[1] = c->border[1];
        s.order = c->order, s.sharpen = c->sharpen, s.precision = c->precision;
        s.spectrum = mode;
        out = run_once(&s, &l, in, c->w, c->h, &r);
        check_definition(c, &l, in, out, &r, spectrum_error(mode), spectrum_mode_name(mode));
        if (exact) {
            CHECK_LE(differ(out, exact, all), 1e-6);
            mem_free(out);
        } else {
            exact = out;
        }
    }
    mem_free(exact), mem_free(in), mem_free(l.tap);
}

/* Every pair of borders; the rest of what matters takes turns. */
static scene scene_of(int i) {
    static const uint32_t SIZE[][6] = {
        {66, 20, 9, 7, 4, 3},   {97, 13, 10, 5, 5, 2}, {1, 1, 3, 3, 1, 1},
        {7, 5, 20, 31, 3, 17},  {46, 3, 17, 1, 16, 0}, {31, 29, 12, 8, 0, 7},
        {5, 61, 2, 24, 1, 0},   {58, 10, 1, 1, 0, 0},  {1366, 3, 41, 2, 20, 1},
        {33, 34, 40, 3, 39, 2}, {2, 7, 64, 5, 32, 2},
    };
    static const double SHARPEN[] = {0, 0.3, 0.9};
    const uint32_t *s = SIZE[i % 11];
    return (scene){s[0],
                   s[1],
                   s[2],
                   s[3],
                   s[4],
                   s[5],
                   {(plan_border)(i % BORDERS), (plan_border)(i / BORDERS % BORDERS)},
                   (plan_axis_order)(i % 3),
                   SHARPEN[i % 7 % 3],
                   i % 5 == 4 ? PRECISION_FLOAT64 : PRECISION_AUTO};
}

/* A bloom lists all devices when it is opened, which takes Vulkan a twentieth of a second. */
static void hide_vulkan(bool hide) {
    if (hide) {
        setenv("VK_DRIVER_FILES", "/nonexistent", 1);
        setenv("VK_ICD_FILENAMES", "/nonexistent", 1);
    } else {
        unsetenv("VK_DRIVER_FILES");
        unsetenv("VK_ICD_FILENAMES");
    }
}

TEST(definition) {
    if (!devices) skip();
    for (uint32_t d = 0; d < devices; d++) {
        hide_vulkan(device[d].class == ENGINE_CPU);
        /* A driver compiles again for every size, so there are few of them where that takes a
         * second. These two are sharpened by 0.3 and in float64. */
        bool cpu = device[d].class == ENGINE_CPU;
        for (int i = cpu ? 0 : 1; i < 176; i += cpu ? 1 : 118) {
            scene c = scene_of(i);
            if (c.precision == PRECISION_FLOAT64 && device[d].class != ENGINE_CPU &&
                !device[d].limits.float64)
                continue;
            scene_on(&c, d);
        }
        hide_vulkan(false);
    }
}

RUN_TESTS(pipe_begin, pipe_end)
