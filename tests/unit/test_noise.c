/* test_noise.c - the error model against measured errors, on every device of the machine.
 *
 * Scenes, kernels, borders and axis orders on a grid; the truth is the same engine's interface in
 * float64 on the CPU (its own error is 2^-29 of what is looked at; that it computes the definition
 * is test_cpu_engine's business). Each pixel has a prediction, floor + relative * |pixel|. None may
 * be off by more. And the prediction must be near, as one that is far from the truth would make
 * users pay for nothing: of each scene, in the median over kernels, borders and devices, it is at
 * most that many times the 99.9th percentile of the errors. */
#include "math/border.h"
#include "math/noise.h"

#include "engine/engine.h"
#include "kernel/psf.h"
#include "unit/check.h"
#include "unit/make_image.h"

#include "base/mem.h"

enum { W = 192, H = 128, MOST_TAPS = 64 };

/* --- scenes and kernels ---------------------------------------------------------------------- */

static uint64_t seed;
static double chance(void) {
    return (double)(make_random(&seed) >> 11) * 0x1p-53;
}

static double dark_ramp(uint32_t x) { /* 1e-3 .. 1 */
    return 1e-3 * pow(1e3, (double)x / (W - 1));
}
static double dark_noise(void) {
    return 1e-3 + 9e-3 * chance();
}

static void fill(float *v, double (*f)(uint32_t x)) {
    for (uint32_t i = 0; i < W * H; i++) v[i] = (float)f(i % W);
}
static double any_dark(uint32_t x) {
    (void)x;
    return dark_noise();
}
static double any(uint32_t x) {
    (void)x;
    return chance();
}
static double some_octaves(uint32_t x) {
    (void)x;
    return exp2(-6 + 8 * chance());
}
static double one_value(uint32_t x) {
    (void)x;
    return 0.7;
}
static double nothing(uint32_t x) {
    (void)x;
    return 0;
}
static double checks(uint32_t x) {
    return x & 1 ? 1 : 0.1;
}

enum { MIDDLE = (H / 2 + 3) * W + W / 3 };
static void hot_1e2(float *v) {
    fill(v, dark_ramp), v[MIDDLE] = 1e2f;
}
static void hot_1e4(float *v) {
    fill(v, dark_ramp), v[MIDDLE] = 1e4f;
}
static void hot_1e6(float *v) {
    fill(v, dark_ramp), v[MIDDLE] = 1e6f;
}
static void hot_corner(float *v) {
    fill(v, any_dark), v[W * H - 1] = 1e6f;
}
static void hot_edge(float *v) {
    fill(v, any_dark), v[40] = 65504;
}
static void lone(float *v) {
    fill(v, nothing), v[MIDDLE] = 1e6f;
}
static void patch(float *v) {
    fill(v, any_dark);
    for (int i = 0; i < 100; i++) v[(H / 4 + i / 10) * W + W / 2 + i % 10] = 6e4f;
    v[MIDDLE] = 1e5f;
}
static void corner_patch(float *v) {
    fill(v, any_dark);
    for (int i = 0; i < 400; i++) v[(i / 20) * W + W - 1 - i % 20] = 3e3f;
}
static void stars(float *v) {
    fill(v, any_dark);
    for (int i = 0; i < 200; i++) v[make_random(&seed) % (W * H)] = (float)exp2(17 * chance());
}
static void ramp(float *v) {
    fill(v, dark_ramp);
}
static void noise(float *v) {
    fill(v, any);
}
static void wide_noise(float *v) {
    fill(v, some_octaves);
}
static void flat(float *v) {
    fill(v, one_value);
}
static void stripes(float *v) {
    fill(v, checks);
}

/* times: how many times the 99.9th percentile of the errors a prediction may be, in the median.
 * Sums and extremes do not tell whether bright pixels lie together or far apart, and what is one
 * frequency a transform does without any error. always: in no case is it more. */
static const struct {
    const char *name;
    void (*make)(float *v);
    double times;
    bool always;
} SCENE[] = {
    {"hot 1e2", hot_1e2, 180, false},  {"hot 1e4", hot_1e4, 50, false},
    {"hot 1e6", hot_1e6, 50, false},   {"hot corner", hot_corner, 50, false},
    {"hot edge", hot_edge, 50, false}, {"lone pixel", lone, 50, false},
    {"patch", patch, 20, false},       {"corner patch", corner_patch, 20, true},
    {"stars", stars, 90, false},       {"ramp", ramp, 20, true},
    {"noise", noise, 20, true},        {"wide noise", wide_noise, 20, true},
    {"flat", flat, 20, false},         {"stripes", stripes, 20, false},
};
enum { SCENES = sizeof SCENE / sizeof SCENE[0] };

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
static double eye(double x, double y) { /* a core and a wide veil, as Spencer's */
    double r2 = x * x + y * y;
    return (r2 == 0 ? 10 : 0) + exp(-r2 / 2) + 0.02 * pow(1 + sqrt(r2), -3);
}

static const struct {
    const char *name;
    double (*tap)(double x, double y);
    uint32_t size;
} KERNEL[] = {
    {"sharp", sharp, 33}, {"power law", power_law, 64}, {"star", star, 64}, {"disc", disc, 64},
    {"eye", eye, 64},
};
enum { KERNELS = sizeof KERNEL / sizeof KERNEL[0] };

static psf make_kernel(int i) {
    static float tap[MOST_TAPS * MOST_TAPS];
    uint32_t n = KERNEL[i].size;
    for (uint32_t q = 0; q < n * n; q++)
        tap[q] = (float)KERNEL[i].tap((double)(q % n) - n / 2, (double)(q / n) - n / 2);
    psf k;
    psf_options o = {0};
    const float *plane = tap;
    CHECK_OK(psf_make(&k, &(psf_planes){n, n, 1, &plane}, &o, &e), e);
    return k;
}

static noise_tail tail_of(const psf *k, bool resampled) {
    static double x[MOST_TAPS], y[MOST_TAPS];
    for (uint32_t i = 0; i < k->w; i++) x[i] = spectrum_alias(i, k->w);
    for (uint32_t i = 0; i < k->h; i++) y[i] = spectrum_alias(i, k->h);
    const noise_taps t = {.tap = k->tap,
                          .pitch = k->w,
                          .w = k->w,
                          .h = k->h,
                          .cx = k->cx,
                          .cy = k->cy,
                          .scale = k->scale[0],
                          .alias_x = resampled ? x : NULL,
                          .alias_y = resampled ? y : NULL};
    return noise_tail_of(&t);
}

/* --- engines --------------------------------------------------------------------------------- */

static plan_request request_of(const psf *k, plan_border b, plan_axis_order o, plan_precision p,
                               const plan_limits *limits) {
    return (plan_request){.size = {W, H},
                          .reach_lo = {k->cx, k->cy},
                          .reach_hi = {k->w - 1 - k->cx, k->h - 1 - k->cy},
                          .border = {b, b},
                          .order = o,
                          .precision = p,
                          .channels = 1,
                          .spectra = 1,
                          .planes.out = p == PRECISION_FLOAT64 ? PLAN_DOUBLES : PLAN_FLOATS,
                          .limits = *limits};
}

static engine *open_engine(const engine_device *d) {
    engine *g = engine_open(d, make_threads(), NULL, &e);
    CHECK_OK(g, e);
    return g;
}

static void prepare(engine *g, const plan_request *ask, const spectrum *s, spectrum_mode mode,
                    plan *p) {
    spectrum_lines l;
    engine_options o = {.slots = 1};
    CHECK_OK(plan_make(p, ask, &e), e);
    const spectrum_request want = {.mode = mode,
                                   .first = p->first,
                                   .length = {p->axis[0].length, p->axis[1].length},
                                   .float64 = ask->precision == PRECISION_FLOAT64};
    CHECK_OK(spectrum_at(&l, s, &want, make_threads(), &e), e);
    CHECK_OK(engine_prepare(g, p, &l, &o, &e), e);
    spectrum_lines_free(&l);
}

/* The tail alone: no centre tap. */
static void run(engine *g, const float *from, void *to) {
    const double tap = 0, gain = 1;
    const void *in = from;
    const join how = join_plain(1, &tap, &gain);
    engine_frame f = {.in = &in, .out = &to, .join = &how};
    CHECK_OK(engine_run(g, &f, NULL, &e), e);
}

/* --- one comparison ---------------------------------------------------------------------------
 */

static scan scan_of(const float *v) {
    const void *list = v;
    pixel_type type = PIXEL_FLOAT;
    scan_request r = {W, H, 1, &list, &type, true};
    scan s;
    CHECK_OK(scan_make(&s, &r, make_threads(), &e), e);
    return s;
}

static double tightest; /* largest error / prediction */

static int larger_first(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Returns how many times the 99.9th percentile of the errors the prediction is: 24 of 24576 pixels
 * are off by more. */
static double compare(const char *what, const float *got, const double *truth, double floor) {
    static double part[W * H];
    double relative = noise_relative(PRECISION_FLOAT32);
    for (uint32_t i = 0; i < W * H; i++) {
        part[i] = fabs((double)got[i] - truth[i]) / (floor + relative * fabs(truth[i]));
        if (!(part[i] <= 1)) fail_msg("%s: an error is %g of its prediction", what, part[i]);
    }
    qsort(part, W * H, sizeof *part, larger_first);
    if (getenv("NOISE_TABLE"))
        printf("%-60s floor %.2e  largest %.2f  99.9 %% %.2g\n", what, floor, part[0],
               part[W * H / 1000]);
    tightest = fmax(tightest, part[0]);
    return 1 / part[W * H / 1000];
}

/* How many times the errors the predictions of each scene were. */
enum { MOST_CASES = 1000 };
static double times[SCENES][MOST_CASES];
static uint32_t cases;

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
enum { VARIANTS = sizeof VARIANT / sizeof VARIANT[0] };

static engine_device device[ENGINE_DEVICES];
static engine *opened[ENGINE_DEVICES];
static uint32_t devices;
static engine *exact; /* the CPU engine, for float64 */

/* A kernel and a variant on one device. */
typedef struct {
    const engine_device *d;
    engine *engine;
    plan p;
} runner;

static void run_scene(int i, const char *where, const runner *r, uint32_t runners,
                      const noise_tail *tail) {
    static float scene[W * H], got[W * H];
    static double truth[W * H];
    seed = 1;
    SCENE[i].make(scene);
    run(exact, scene, truth);
    scan s = scan_of(scene);
    double points = (double)r->p.axis[0].length * r->p.axis[1].length;
    const border_axis axis[] = {border_of(&r->p.ask, 0), border_of(&r->p.ask, 1)};
    noise_load bound = noise_load_bound(&s.channel[0], tail, axis, points);
    double squares = 0;
    for (uint32_t j = 0; j < W * H; j++) squares += truth[j] * truth[j];
    noise_load load = noise_load_known(&bound, sqrt(squares));
    scan_free(&s);
    for (uint32_t k = 0; k < runners; k++) {
        run(r[k].engine, scene, got);
        char what[128];
        snprintf(what, sizeof what, "%.8s: %s, %s", r[k].d->name, SCENE[i].name, where);
        double floor = noise_floor(&(noise_transform){PRECISION_FLOAT32, points}, &load);
        times[i][cases + k] = compare(what, got, truth, floor);
        if (SCENE[i].always && !(times[i][cases + k] <= SCENE[i].times))
            fail_msg("%s: the prediction is %g times the 99.9th percentile", what,
                     times[i][cases + k]);
    }
}

static void run_scenes(int kernel, const variant *v) {
    psf k = make_kernel(kernel);
    spectrum s;
    CHECK_OK(spectrum_make(&s, &k, make_threads(), &e), e);
    plan_limits none = {0};
    plan p;
    plan_request ask = request_of(&k, v->border, v->order, PRECISION_FLOAT64, &none);
    prepare(exact, &ask, &s, SPECTRUM_EXACT, &p);
    runner r[ENGINE_DEVICES];
    for (uint32_t i = 0; i < devices; i++) {
        r[i] = (runner){.d = &device[i], .engine = opened[i]};
        ask = request_of(&k, v->border, v->order, PRECISION_FLOAT32, &device[i].limits);
        prepare(opened[i], &ask, &s, v->mode, &r[i].p);
    }
    noise_tail tail = tail_of(&k, v->mode == SPECTRUM_RESAMPLED);
    char where[64];
    snprintf(where, sizeof where, "%s, %s", KERNEL[kernel].name, v->name);
    assert_true(cases + devices <= MOST_CASES);
    for (int i = 0; i < SCENES; i++) run_scene(i, where, r, devices, &tail);
    cases += devices;
    spectrum_free(&s);
    psf_free(&k);
}

/* --- tests ----------------------------------------------------------------------------------- */

TEST(no_error_is_above_its_prediction) {
    devices = engine_devices(device, ENGINE_DEVICES);
    for (uint32_t i = 0; i < devices; i++) {
        opened[i] = open_engine(&device[i]);
        if (device[i].class == ENGINE_CPU) exact = open_engine(&device[i]);
    }
    assert_non_null(exact);
    for (int k = 0; k < KERNELS; k++)
        for (int v = k % 2; v < VARIANTS; v += 2) run_scenes(k, &VARIANT[v]);
    for (uint32_t i = 0; i < devices; i++) engine_close(&opened[i]);
    engine_close(&exact);
    print_message("largest error / prediction: %.2f\n", tightest);
    for (int i = 0; i < SCENES; i++) {
        qsort(times[i], cases, sizeof *times[i], larger_first);
        if (!(times[i][cases / 2] <= SCENE[i].times))
            fail_msg("%s: in the median, predictions are %g times the 99.9th percentile",
                     SCENE[i].name, times[i][cases / 2]);
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

RUN_TESTS(NULL, NULL)
