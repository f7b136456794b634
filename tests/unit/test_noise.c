/* test_noise.c - the error model against measured errors of plain transforms, on every device of
 * the machine. The truth is the CPU engine in doubles. Each pixel has a prediction, floor +
 * relative
 * * |pixel|, and none may be off by more. That predictions are near, test_promise.c checks. */
#include "math/noise.h"

#include "gpu/pipeline.h"
#include "kernel/psf.h"
#include "math/plan.h"
#include "unit/make_image.h"

enum { W = 192, H = 128, MOST_TAPS = 64 };

static uint64_t seed;

static double ramp(uint32_t x) { /* 1e-3 .. 1 */
    return 1e-3 * pow(1e3, (double)x / (W - 1));
}
static double dark(uint32_t x) {
    (void)x;
    return 1e-3 + 9e-3 * make_chance(&seed);
}
static double octaves(uint32_t x) {
    (void)x;
    return exp2(-6 + 8 * make_chance(&seed));
}
static double black(uint32_t x) {
    (void)x;
    return 0;
}
static double stripes(uint32_t x) {
    return x & 1 ? 1 : 0.1;
}

/* A square of light on something: its side, its place and its value. */
static const struct {
    const char *name;
    double (*ground)(uint32_t x);
    uint32_t side, x, y;
    float light;
} SCENE[] = {
    {"hot 1e2", ramp, 1, W / 3, H / 2, 1e2f},
    {"hot 1e6", ramp, 1, W / 3, H / 2, 1e6f},
    {"hot corner", dark, 1, W - 1, H - 1, 1e6f},
    {"hot edge", dark, 1, 40, 0, 65504},
    {"lone pixel", black, 1, W / 3, H / 2, 1e6f},
    {"patch", dark, 10, W / 2, H / 4, 6e4f},
    {"corner patch", dark, 20, W - 20, 0, 3e3f},
    {"ramp", ramp, 0, 0, 0, 0},
    {"octaves", octaves, 0, 0, 0, 0},
    {"stripes", stripes, 0, 0, 0, 0},
};

static void make_scene(float *v, size_t i) {
    seed = 1;
    for (uint32_t k = 0; k < W * H; k++) v[k] = (float)SCENE[i].ground(k % W);
    uint32_t side = SCENE[i].side;
    for (uint32_t k = 0; k < side * side; k++)
        v[(SCENE[i].y + k / side) * W + SCENE[i].x + k % side] = SCENE[i].light;
}

static double sharp(double x, double y) {
    double r2 = x * x + y * y;
    return (r2 == 0 ? 90 : 0) + 0.4 * exp(-r2 / 8);
}
static double power_law(double x, double y) {
    return pow(1 + x * x + y * y, -1.3);
}
static double star(double x, double y) {
    double r = sqrt(x * x + y * y);
    return (r < 1 ? 1 : 0) + pow(fabs(cos(3 * atan2(y, x))), 60) / (1 + r);
}
static double disc(double x, double y) {
    return x * x + y * y < 900 ? 1 : 0;
}

static const struct {
    const char *name;
    double (*tap)(double x, double y);
    uint32_t size;
} KERNEL[] = {
    {"sharp", sharp, 33}, {"power law", power_law, 64}, {"star", star, 64}, {"disc", disc, 64}};

static psf make_kernel(size_t i) {
    static float tap[MOST_TAPS * MOST_TAPS];
    uint32_t n = KERNEL[i].size;
    for (uint32_t q = 0; q < n * n; q++)
        tap[q] = (float)KERNEL[i].tap((double)(q % n) - n / 2, (double)(q / n) - n / 2);
    psf k;
    const float *plane = tap;
    CHECK_OK(psf_make(&k, &(psf_planes){n, n, 1, &plane, NULL}, &(psf_options){0}, &e));
    return k;
}

static noise_tail tail_of(const psf *k, bool resampled) {
    static double x[MOST_TAPS], y[MOST_TAPS];
    for (uint32_t i = 0; i < k->w; i++) x[i] = spectrum_alias(i, k->w);
    for (uint32_t i = 0; i < k->h; i++) y[i] = spectrum_alias(i, k->h);
    return noise_tail_of(&(noise_taps){.tap = k->tap,
                                       .pitch = k->w,
                                       .w = k->w,
                                       .h = k->h,
                                       .cx = k->cx,
                                       .cy = k->cy,
                                       .scale = k->scale[0],
                                       .alias_x = resampled ? x : NULL,
                                       .alias_y = resampled ? y : NULL});
}

typedef struct {
    plan_border border;
    plan_axis_order order;
    spectrum_mode mode;
    const char *name;
} variant;
static const variant VARIANT[] = {
    {BORDER_ZERO, AXIS_X, SPECTRUM_EXACT, "zero, x, exact"},
    {BORDER_ZERO, AXIS_Y, SPECTRUM_RESAMPLED, "zero, y, resampled"},
    {BORDER_MIRROR, AXIS_X, SPECTRUM_RESAMPLED, "mirror"},
    {BORDER_CLAMP, AXIS_Y, SPECTRUM_RESAMPLED, "clamp"},
    {BORDER_WRAP, AXIS_X, SPECTRUM_EXACT, "wrap"},
};

static engine *prepare(plan *p, const engine_device *d, const spectrum *s, const variant *v,
                       bool float64) {
    const psf *k = &s->kernel;
    const pipe_case c = PIPE(
        W, H, k->w, k->h, k->cx, k->cy, .border = {v->border, v->border}, .order = v->order,
        .precision = float64 ? PRECISION_FLOAT64 : PRECISION_FLOAT32, .channels = 1, .spectra = 1);
    plan_request ask = pipe_request(&c, d);
    engine *g = engine_open(d, threads, NULL, &e);
    CHECK_OK(g && plan_make(p, &ask, &e));
    const spectrum_request want = {.mode = float64 ? SPECTRUM_EXACT : v->mode,
                                   .first = p->first,
                                   .length = {p->axis[0].length, p->axis[1].length},
                                   .float64 = float64};
    OWN(spectrum_lines) l;
    CHECK_OK(spectrum_at(&l, s, &want, threads, &e));
    CHECK_OK(engine_prepare(g, p, &l, NULL, &e));
    return g;
}

/* The tail alone: no centre tap. */
static void run(engine *g, const float *from, void *to) {
    const double tap = 0, gain = 1;
    const void *in = from;
    const join how = join_plain(1, &tap, &gain);
    CHECK_OK(engine_run(g, &(engine_frame){.in = &in, .out = &to, .join = &how}, NULL, &e));
}

static double floor_of(const float *scene, const double *truth, const plan *p,
                       const noise_tail *tail) {
    const void *list = scene;
    const pixel_type type = PIXEL_FLOAT;
    OWN(scan) s;
    CHECK_OK(
        scan_make(&s, &(scan_request){.w = W, .h = H, .channels = 1, .plane = &list, .type = &type},
                  threads, &e));
    double points = (double)p->axis[0].length * p->axis[1].length, squares = 0;
    const border_axis axis[] = {border_of(&p->ask, 0), border_of(&p->ask, 1)};
    const noise_load bound = noise_load_bound(&s.channel[0], tail, axis, points);
    for (uint32_t j = 0; j < W * H; j++) squares += truth[j] * truth[j];
    const noise_load load = noise_load_known(&bound, sqrt(squares));
    return noise_floor(&(noise_transform){PRECISION_FLOAT32, points}, &load);
}

TEST(no_error_is_above_its_prediction) {
    static float scene[W * H], got[W * H];
    static double truth[W * H];
    const double relative = noise_relative(PRECISION_FLOAT32);
    const engine_device *cpu = device;
    while (cpu->class != ENGINE_CPU) cpu++;
    for (size_t i = 0; i < COUNT(KERNEL) * COUNT(VARIANT); i += 2) {
        const variant *v = &VARIANT[i % COUNT(VARIANT)];
        OWN(psf) k = make_kernel(i / COUNT(VARIANT));
        OWN(spectrum) s;
        CHECK_OK(spectrum_make(&s, &k, threads, &e));
        const noise_tail tail = tail_of(&k, v->mode == SPECTRUM_RESAMPLED);
        plan p;
        OPEN(engine) *exact = prepare(&p, cpu, &s, v, true);
        for (uint32_t d = 0; d < devices; d++) {
            /* A software driver compiles for each: all variants, and some kernels. */
            if (device[d].class == ENGINE_SOFTWARE && i % 4 != 0) continue;
            OPEN(engine) *g = prepare(&p, &device[d], &s, v, false);
            for (size_t n = 0; n < COUNT(SCENE); n++) {
                make_scene(scene, n);
                run(exact, scene, truth);
                run(g, scene, got);
                double floor = floor_of(scene, truth, &p, &tail);
                for (uint32_t j = 0; j < W * H; j++) {
                    double off = fabs((double)got[j] - truth[j]);
                    if (!(off <= floor + relative * fabs(truth[j])))
                        fail_msg("%s, %s, %s, %s: pixel %u is off by %g, the floor is %g",
                                 device[d].name, SCENE[n].name, KERNEL[i / COUNT(VARIANT)].name,
                                 v->name, j, off, floor);
                }
            }
        }
    }
}

/* What a transform carries is bounded for any circle, also where a kernel goes round a small circle
 * many times: sums over every place, of the image as the plan lays it out and of the kernel as it
 * falls onto the circle. */
enum { SMALL = 8, WIDE = 25, CIRCLE = 64 };

static void check_circle(plan_border border, uint32_t w, uint32_t h, uint32_t n, int kind) {
    static float tap[WIDE * WIDE], in[SMALL * SMALL];
    static double shown[CIRCLE][CIRCLE], folded[CIRCLE][CIRCLE];
    for (uint32_t i = 0; i < n * n; i++)
        tap[i] = i == n / 2 * n + n / 2
                     ? 0
                     : (float)(kind & 1 ? 1 : make_chance(&seed) - (kind & 2) / 4.0);
    for (uint32_t i = 0; i < w * h; i++)
        in[i] = kind & 4 ? i == w * h / 2 : (float)(100 + make_chance(&seed));
    const noise_tail tail = noise_tail_of(&(noise_taps){
        .tap = tap, .pitch = n, .w = n, .h = n, .cx = n / 2, .cy = n / 2, .scale = 1});
    const pipe_case c = PIPE(w, h, n, n, n / 2, n / 2, .border = {border, border}, .channels = 1,
                             .precision = PRECISION_FLOAT32, .spectra = 1);
    const plan_request ask = pipe_request(&c, &device[0]);
    plan p;
    CHECK_OK(plan_make(&p, &ask, &e));
    const plan_axis *x = &p.axis[p.first != PLAN_X], *y = &p.axis[p.first == PLAN_X];
    assert_true(x->length <= CIRCLE && y->length <= CIRCLE);
    double input = 0, norm = 0, peak = 0, taps = 0;
    memset(folded, 0, sizeof folded);
    for (uint32_t i = 0; i < n * n; i++)
        folded[i / n % y->length][i % n % x->length] += (double)tap[i];
    for (uint32_t i = 0; i < x->length * y->length; i++) {
        const uint32_t u = i % x->length, v = i / x->length;
        const int64_t from_x = plan_source(x, u), from_y = plan_source(y, v);
        shown[v][u] = from_x < 0 || from_y < 0 ? 0 : (double)in[from_y * w + from_x];
        input += shown[v][u] * shown[v][u];
        taps += folded[v][u] * folded[v][u];
    }
    for (uint32_t i = 0; i < x->length * y->length; i++) {
        double sum = 0;
        for (uint32_t j = 0; j < x->length * y->length; j++)
            sum += folded[j / x->length][j % x->length] *
                   shown[(i / x->length + y->length - j / x->length) % y->length]
                        [(i % x->length + x->length - j % x->length) % x->length];
        norm += sum * sum;
        peak = fmax(peak, fabs(sum));
    }
    const void *plane = in;
    const pixel_type type = PIXEL_FLOAT;
    OWN(scan) s;
    CHECK_OK(scan_make(
        &s, &(scan_request){.w = w, .h = h, .channels = 1, .plane = &plane, .type = &type}, threads,
        &e));
    const border_axis axis[] = {border_of(&ask, PLAN_X), border_of(&ask, PLAN_Y)};
    const noise_load bound =
        noise_load_bound(&s.channel[0], &tail, axis, (double)x->length * y->length);
    CHECK_LE(sqrt(input), bound.input * (1 + 1e-6));
    CHECK_LE(sqrt(norm), bound.norm * (1 + 1e-6));
    CHECK_LE(peak, bound.peak * (1 + 1e-6));
    CHECK_LE(sqrt(input * taps), bound.own * (1 + 1e-6));
}

TEST(loads_hold_on_any_circle) {
    static const plan_border BORDER[] = {BORDER_ZERO, BORDER_MIRROR, BORDER_CLAMP, BORDER_WRAP};
    seed = 7;
    for (int i = 0; i < 400; i++) {
        const uint32_t w = 1 + make_below(&seed, SMALL), h = 1 + make_below(&seed, SMALL);
        /* Taps beyond the image are cut off where its border is zero. */
        const uint32_t most = i % 4 ? WIDE : 2 * (w < h ? w : h) - 1;
        check_circle(BORDER[i % 4], w, h, 1 + make_below(&seed, most), i / 4 % 8);
    }
}

TEST(tails_by_hand) {
    static const float TAP[15] = {0, 1, 0, 0, 0, /**/ 2, 3, 100, -4, 8, /**/ 0, 0, 2, 0, 0};
    static const double ALIAS[5] = {0.1, 0, 0, 0, 0.2};
    noise_taps k = {
        .tap = TAP, .pitch = 5, .w = 5, .h = 3, .cx = 2, .cy = 1, .scale = 0.5, .alias_x = ALIAS};
    k.alias_y = ALIAS + 1; /* zeros */
    noise_tail t = noise_tail_of(&k);
    CHECK_LE(fabs(t.sum - 10), 1e-12);
    CHECK_LE(fabs(t.norm - 0.5 * sqrt(98)), 1e-12);
    CHECK_LE(fabs(t.peak - 4), 1e-12);
    CHECK_LE(fabs(t.alias_sum - 0.5 * (0.1 * 2 + 0.2 * 8)), 1e-12);
    CHECK_LE(fabs(t.alias_peak - 0.5 * 0.2 * 8), 1e-12);
    k.alias_x = NULL;
    t = noise_tail_of(&k);
    CHECK_LE(fabs(t.sum - 10), 1e-12);
    assert_true(t.alias_sum == 0 && t.alias_peak == 0);
}

static const noise_transform FLOATS = {PRECISION_FLOAT32, 1e6}, DOUBLES = {PRECISION_FLOAT64, 1e6};

/* Sums beyond the largest float cannot be done in float32, and what is lost below the smallest is
 * in the floor. */
TEST(what_overflows_has_no_floor) {
    noise_load huge = {.norm = 1, .peak = 1, .total = 3e38, .gain = 1};
    assert_true(isinf(noise_floor(&FLOATS, &huge)));
    CHECK_LE(noise_floor(&DOUBLES, &huge), 1e-12);
    noise_load tiny = {.norm = 1e-30, .peak = 1e-30, .total = 1e-28, .gain = 1};
    CHECK_LE(1e-33, noise_floor(&FLOATS, &tiny));
    CHECK_LE(noise_floor(&DOUBLES, &tiny), 1e-40);
    noise_load one = {.norm = 1e3, .peak = 1, .total = 1e6, .gain = 1};
    CHECK_LE(noise_floor(&FLOATS, &one), 1e-5);
}

/* A kernel of denormals has a spectrum of them, which floats do not hold. */
TEST(tiny_kernels_have_a_floor) {
    noise_load dark = {.norm = 1e-34, .peak = 1e-37, .input = 1e3, .gain = 1};
    CHECK_LE(1e-36, noise_floor(&FLOATS, &dark));
}

RUN_TESTS(pipe_begin, pipe_end)
