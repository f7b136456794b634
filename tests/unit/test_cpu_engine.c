/* test_cpu_engine.c - the CPU engine against a convolution summed directly, in double.
 *
 * The bound. Each of the four transforms of a pixel's way adds rounding errors whose energy is at
 * most (u log2 L)^2 of the energy that passes through it (u: 2^-24 or 2^-53), and the kernel's
 * spectrum is nowhere larger than S = sum |k|. The errors spread over all L1 L2 points of the
 * circle, so one of them is about u log2(L1 L2) S rms, rms that of the image as the circle holds
 * it, borders included; the largest of 10^4 points of such noise lies within 5 of these. BOUND is
 * that 5; what is seen is below 2. Scaling with tap and gain rounds twice more. */
#include "engine/cpu/cpu_passes.h"
#include "engine/engine.h"

#include "unit/check.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "math/lengths.h"

#include <unistd.h>

#define BOUND 5.0

/* --- a case ------------------------------------------------------------------------------- */

enum { MAX_CHANNELS = 4 };

typedef struct {
    uint32_t w, h, kw, kh, cx, cy; /* kernel size and centre */
    plan_border border[2];         /* x, y */
    plan_axis_order order;
    uint32_t channels, spectra;
    bool float64;
    uint32_t length[2]; /* of the first and the second axis; 0: the planner's */
    uint32_t slots, runs;
    bool in_place;
    const char *cache_dir;
} setup;

/* The sizes of image and kernel, the kernel's centre, and further members. */
#define CONV(w_, h_, kw_, kh_, cx_, cy_, ...) \
    { .w = (w_), .h = (h_), .kw = (kw_), .kh = (kh_), .cx = (cx_), .cy = (cy_), __VA_ARGS__ }

static uint64_t seed;

static double noise(void) { /* -1 .. 1 */
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(seed >> 11) / (double)((int64_t)1 << 52) - 1;
}

static double *noise_plane(size_t n, double offset) {
    double *p = mem_raw(n, sizeof *p, "plane", NULL);
    for (size_t i = 0; i < n; i++) p[i] = (double)(float)(noise() + offset);
    return p;
}

/* --- the definition ------------------------------------------------------------------------ */

/* The coordinate that is read for c on an axis of n, or -1 for zero. */
static int64_t read_at(int64_t c, int64_t n, plan_border b) {
    switch (b) {
    case BORDER_CLAMP: return c < 0 ? 0 : c >= n ? n - 1 : c;
    case BORDER_WRAP:
        while (c < 0) c += n;
        return c % n;
    case BORDER_MIRROR:
        while (c < 0 || c >= n) c = c < 0 ? -1 - c : 2 * n - 1 - c;
        return c;
    default: return c < 0 || c >= n ? -1 : c;
    }
}

/* out(p) += sum over q of k(q) in(p - (q - centre)). */
static void convolve(double *out, const double *in, const double *k, const setup *s) {
    for (int64_t y = 0; y < s->h; y++)
        for (int64_t x = 0; x < s->w; x++) {
            double sum = 0;
            for (int64_t v = 0; v < s->kh; v++) {
                int64_t iy = read_at(y - (v - s->cy), s->h, s->border[PLAN_Y]);
                for (int64_t u = 0; u < s->kw && iy >= 0; u++) {
                    int64_t ix = read_at(x - (u - s->cx), s->w, s->border[PLAN_X]);
                    if (ix >= 0) sum += k[v * s->kw + u] * in[iy * s->w + ix];
                }
            }
            out[y * s->w + x] += sum;
        }
}

/* One value of the kernel's spectrum after another, along the two axes in turn. */
static void transform_kernel(double *to, const double *k, const setup *s, const plan *p) {
    uint32_t l1 = p->axis[0].length, l2 = p->axis[1].length;
    bool x_first = p->first == PLAN_X;
    uint32_t n1 = x_first ? s->kw : s->kh, n2 = x_first ? s->kh : s->kw;
    int64_t c1 = x_first ? s->cx : s->cy, c2 = x_first ? s->cy : s->cx;
    double *row = mem_raw(2 * n2, sizeof *row, "row", NULL);
    for (uint32_t k1 = 0; k1 < p->halves; k1++) {
        for (uint32_t i2 = 0; i2 < n2; i2++) {
            double re = 0, im = 0;
            for (uint32_t i1 = 0; i1 < n1; i1++) {
                double tap = x_first ? k[i2 * s->kw + i1] : k[i1 * s->kw + i2];
                double a = -2 * M_PI * (double)k1 * (double)((int64_t)i1 - c1) / l1;
                re += tap * cos(a), im += tap * sin(a);
            }
            row[2 * i2] = re, row[2 * i2 + 1] = im;
        }
        for (uint32_t k2 = 0; k2 < l2; k2++) {
            double re = 0, im = 0;
            for (uint32_t i2 = 0; i2 < n2; i2++) {
                double a = -2 * M_PI * (double)k2 * (double)((int64_t)i2 - c2) / l2;
                re += row[2 * i2] * cos(a) - row[2 * i2 + 1] * sin(a);
                im += row[2 * i2] * sin(a) + row[2 * i2 + 1] * cos(a);
            }
            double *at = to + 2 * ((size_t)k1 * l2 + k2);
            at[0] = re, at[1] = im;
        }
    }
    mem_free(row);
}

/* Root of the mean square over the whole circle, border samples included. */
static double circle_rms(const double *in, const plan *p) {
    uint32_t at[2];
    double sum = 0;
    for (uint32_t i = 0; i < p->axis[0].length; i++)
        for (uint32_t m = 0; m < p->axis[1].length; m++) {
            int64_t c1 = plan_source(&p->axis[0], i), c2 = plan_source(&p->axis[1], m);
            if (c1 < 0 || c2 < 0) continue;
            at[p->first] = (uint32_t)c1, at[1 - p->first] = (uint32_t)c2;
            double v = in[(size_t)at[PLAN_Y] * p->ask.size[PLAN_X] + at[PLAN_X]];
            sum += v * v;
        }
    return sqrt(sum / p->axis[0].length / p->axis[1].length);
}

/* --- the comparison ------------------------------------------------------------------------ */

static plan plan_of(const setup *s) {
    plan_request ask = {
        .size = {s->w, s->h},
        .reach_lo = {s->cx, s->cy},
        .reach_hi = {s->kw - 1 - s->cx, s->kh - 1 - s->cy},
        .border = {s->border[0], s->border[1]},
        .order = s->order,
        .precision = s->float64 ? PRECISION_FLOAT64 : PRECISION_FLOAT32,
        .channels = s->channels,
        .spectra = s->spectra,
    };
    plan p;
    CHECK_OK(plan_make(&p, &ask, &e), e);
    for (int i = 0; i < 2; i++) {
        if (!s->length[i]) continue; /* forced lengths are for zero borders and exact wrap */
        p.axis[i].length = p.axis[i].split = s->length[i];
    }
    p.halves = p.axis[0].length / 2 + 1;
    return p;
}

static void store(void *plane, const double *from, size_t n, bool float64) {
    for (size_t i = 0; i < n; i++) {
        if (float64)
            ((double *)plane)[i] = from[i];
        else
            ((float *)plane)[i] = (float)from[i];
    }
}

static double load(const void *plane, size_t i, bool float64) {
    return float64 ? ((const double *)plane)[i] : (double)((const float *)plane)[i];
}

static spectrum_lines lines_of(const setup *s, const plan *p, double *const k[]) {
    size_t n = 2 * (size_t)p->halves * p->axis[1].length, bytes = s->float64 ? 8 : 4;
    spectrum_lines l = {.channels = s->spectra,
                        .halves = p->halves,
                        .length = p->axis[1].length,
                        .float64 = s->float64};
    l.value = mem_raw(n * s->spectra, bytes, "spectrum", NULL);
    double *one = mem_raw(n, sizeof *one, "spectrum", NULL);
    for (uint32_t c = 0; c < s->spectra; c++) {
        transform_kernel(one, k[c], s, p);
        store((char *)l.value + c * n * bytes, one, n, s->float64);
    }
    mem_free(one);
    return l;
}

static engine *open_cpu(par *threads, const char *cache_dir) {
    engine_device d = {.class = ENGINE_CPU};
    assert_int_equal(ENGINE_KIND_CPU.devices(&d, 1), 1);
    assert_int_equal(d.class, ENGINE_CPU);
    assert_true(d.name[0] && strstr(d.driver, "lanes"));
    engine *g = engine_open(&d, threads, cache_dir, &e);
    CHECK_OK(g, e);
    return g;
}

static hash128 made; /* of the last channel of the last frame: equal bytes, equal hashes */

/* One frame through the engine, compared; returns error / bound. */
static double frame(engine *g, const setup *s, const plan *p, double *const k[], uint32_t slot) {
    size_t n = (size_t)s->w * s->h, bytes = s->float64 ? 8 : 4;
    double *source[MAX_CHANNELS], tap[MAX_CHANNELS], gain[MAX_CHANNELS];
    void *in[MAX_CHANNELS], *out[MAX_CHANNELS];
    engine_frame f = {.in = (const void *const *)in, .tap = tap, .gain = gain, .out = out};
    for (uint32_t i = 0; i < s->channels; i++) {
        source[i] = noise_plane(n, 0.5 * i);
        in[i] = mem_raw(n, bytes, "in", NULL);
        store(in[i], source[i], n, s->float64);
    }
    for (uint32_t c = 0; c < s->channels; c++) {
        out[c] = s->in_place ? in[c] : mem_raw(n, bytes, "out", NULL);
        tap[c] = noise(), gain[c] = 1 + noise();
    }
    CHECK_OK(engine_submit(g, slot, &f, &e) && engine_wait(g, slot, NULL, &e), e);

    double *want = mem_raw(n, sizeof *want, "reference", NULL), worst = 0;
    double unit = s->float64 ? 0x1p-53 : 0x1p-24;
    made = hash_bytes(out[s->channels - 1], n * bytes);
    for (uint32_t c = 0; c < s->channels; c++) {
        double peak = 0, bound = 0, stages = log2((double)p->axis[0].length * p->axis[1].length);
        memset(want, 0, n * sizeof *want);
        const double *kernel = k[s->spectra > 1 ? c : 0];
        double l1 = 0;
        for (uint32_t i = 0; i < s->kw * s->kh; i++) l1 += fabs(kernel[i]);
        convolve(want, source[c], kernel, s);
        bound += BOUND * unit * stages * l1 * circle_rms(source[c], p) * gain[c];
        for (size_t i = 0; i < n; i++) peak = fmax(peak, fabs(source[c][i]) + fabs(want[i]));
        bound += 2 * unit * peak * (fabs(tap[c]) + gain[c]);
        for (size_t i = 0; i < n; i++) {
            double d = load(out[c], i, s->float64) - (tap[c] * source[c][i] + gain[c] * want[i]);
            if (!(fabs(d) <= bound))
                fail_msg("%u x %u, kernel %u x %u, lengths %u x %u (%c first), channel %u, "
                         "pixel %zu: off by %g, bound %g",
                         s->w, s->h, s->kw, s->kh, p->axis[0].length, p->axis[1].length,
                         "xy"[p->first], c, i, d, bound);
            worst = fmax(worst, fabs(d) / bound);
        }
        if (!s->in_place) mem_free(out[c]);
    }
    for (uint32_t i = 0; i < s->channels; i++) {
        mem_free(source[i]);
        mem_free(in[i]);
    }
    mem_free(want);
    return worst;
}

static par *threads;
static double worst_of_all;

static void check(setup s) {
    if (!s.channels) s.channels = 1;
    if (!s.spectra) s.spectra = 1;
    seed = 88172645463325252u + s.w * 1000003u + s.h;
    plan p = plan_of(&s);
    double *k[MAX_CHANNELS];
    for (uint32_t i = 0; i < s.spectra; i++) k[i] = noise_plane((size_t)s.kw * s.kh, 0.3);
    spectrum_lines l = lines_of(&s, &p, k);
    engine *g = open_cpu(threads, s.cache_dir);
    engine_options o = {.slots = s.slots};
    CHECK_OK(engine_prepare(g, &p, &l, &o, &e), e);
    spectrum_lines_free(&l); /* it has what it needs */
    for (uint32_t i = 0; i <= s.runs; i++)
        worst_of_all = fmax(worst_of_all, frame(g, &s, &p, k, s.slots ? i % s.slots : 0));
    engine_close(&g);
    assert_null(g);
    for (uint32_t i = 0; i < s.spectra; i++) mem_free(k[i]);
}

static void check_orders_and_precisions(setup s) {
    for (int i = 0; i < 4; i++) {
        s.order = i & 1 ? AXIS_Y : AXIS_X;
        s.float64 = i & 2;
        check(s);
    }
}

/* --- tests --------------------------------------------------------------------------------- */

TEST(test_tiny_odd_and_prime_sizes) {
    static const uint32_t SIZE[][2] = {{1, 1},   {2, 1},   {1, 2},   {3, 5},   {16, 1}, {1, 17},
                                       {15, 16}, {17, 31}, {33, 15}, {37, 41}, {64, 64}};
    for (size_t i = 0; i < sizeof SIZE / sizeof SIZE[0]; i++)
        check_orders_and_precisions((setup)CONV(SIZE[i][0], SIZE[i][1], 5, 4, 2, 2));
}

TEST(test_image_smaller_than_kernel) {
    check_orders_and_precisions((setup)CONV(5, 3, 19, 14, 9, 7));
    check_orders_and_precisions(
        (setup)CONV(5, 3, 19, 14, 9, 7, .border = {BORDER_MIRROR, BORDER_CLAMP}));
}

TEST(test_centre_outside_the_middle) {
    check_orders_and_precisions((setup)CONV(30, 20, 9, 8, 0, 7));
    check_orders_and_precisions((setup)CONV(30, 20, 9, 8, 8, 0, .border = {BORDER_CLAMP, 0}));
}

TEST(test_borders_of_each_axis) {
    for (plan_border x = 0; x < BORDERS; x++)
        for (plan_border y = 0; y < BORDERS; y++)
            check_orders_and_precisions((setup)CONV(23, 18, 7, 10, 3, 5, .border = {x, y}));
}

/* Wrapped lines of an odd length have no place to spare for the partner of the last one. */
TEST(test_odd_and_wrapped) {
    for (uint32_t h = 3; h <= 35; h += 2)
        if (length_is_smooth(h))
            check((setup)CONV(12, h, 4, 3, 2, 1, .border = {BORDER_WRAP, BORDER_WRAP},
                              .order = AXIS_X, .length = {12, h}, .runs = 1));
}

/* Every length up to 66, odd ones included, along the first axis and along the second; then long
 * ones of each radix. */
TEST(test_lengths_of_all_radices) {
    for (uint32_t l = 2; l <= 66; l++) {
        uint32_t other = length_next(68 - l, 1);
        if (!length_is_smooth(l)) continue;
        setup s = {.kw = 2, .kh = 2, .cx = 1, .cy = 0, .length = {l, other}};
        s.w = l - 1, s.h = other - 1;
        s.order = AXIS_X;
        check(s);
        s.float64 = true;
        s.w = other - 1, s.h = l - 1;
        s.order = AXIS_Y;
        check(s);
    }
    static const uint32_t LONG[][2] = {{1024, 27}, {729, 32}, {625, 49}, {343, 30}, {420, 20}};
    for (size_t i = 0; i < sizeof LONG / sizeof LONG[0]; i++)
        for (int turned = 0; turned < 2; turned++) {
            uint32_t a = LONG[i][turned], b = LONG[i][1 - turned];
            check((setup)CONV(a - 3, b - 4, 4, 5, 0, 4, .order = AXIS_X, .length = {a, b}));
        }
}

TEST(test_channels_share_or_have_spectra) {
    setup s = CONV(40, 27, 6, 6, 3, 3, .channels = 3);
    check_orders_and_precisions(s);
    s.spectra = 3;
    check_orders_and_precisions(s);
}

TEST(test_in_place) {
    check_orders_and_precisions((setup)CONV(51, 35, 6, 6, 3, 3, .channels = 2,
                                            .border = {BORDER_MIRROR, BORDER_WRAP},
                                            .in_place = true));
}

TEST(test_many_frames_in_many_slots) {
    check_orders_and_precisions(
        (setup)CONV(40, 50, 6, 6, 3, 3, .slots = 3, .runs = 6, .in_place = true));
}

TEST(test_a_larger_image) {
    check((setup)CONV(301, 203, 21, 24, 10, 12, .order = AXIS_X));
    check((setup)CONV(301, 203, 21, 24, 10, 12, .order = AXIS_Y));
}

/* Returns how long a pass takes whose wide pieces take 1 each, and narrow ones 2/3, as the fastest
 * processor that was measured does it: each thread takes the next piece when it is free. */
static double time_of(cpu_cut cut, size_t threads_) {
    double free_at[64] = {0}, end = 0;
    for (size_t i = 0; i < cut.wide + cut.narrow; i++) {
        size_t next = 0;
        for (size_t t = 1; t < threads_; t++)
            if (free_at[t] < free_at[next]) next = t;
        free_at[next] += i < cut.wide ? 1 : 2.0 / 3;
        end = fmax(end, free_at[next]);
    }
    return end;
}

/* The passes of a frame of 1920 x 1080 have 34 and 65 pieces of 16 lanes, and 68 of 8. All of them
 * are done once, no pass takes longer than uncut, and one whose last round has less than half of
 * the threads at work is shorter. */
TEST(test_pieces_follow_the_threads) {
    static const struct {
        size_t pieces, threads;
        double uncut, cut;
    } CASE[] = {{34, 1, 34, 34},
                {34, 2, 17, 17},
                {34, 8, 5, 4 + 2.0 / 3},
                {34, 16, 3, 2 + 2.0 / 3},
                {34, 32, 2, 1 + 2.0 / 3},
                {65, 1, 65, 65},
                {65, 2, 33, 32 + 2.0 / 3},
                {65, 8, 9, 8 + 2.0 / 3},
                {65, 16, 5, 4 + 2.0 / 3},
                {65, 32, 3, 2 + 2.0 / 3},
                {68, 16, 5, 4 + 2.0 / 3},
                {46, 16, 3, 3},
                {23, 32, 1, 1},
                {7, 16, 1, 2.0 / 3}};
    for (size_t i = 0; i < sizeof CASE / sizeof CASE[0]; i++) {
        size_t n = CASE[i].threads;
        cpu_cut cut = cpu_cut_of(CASE[i].pieces, n);
        assert_int_equal(2 * cut.wide + cut.narrow, 2 * CASE[i].pieces);
        assert_true(cut.wide % n == 0 || cut.narrow == 0);
        CHECK_LE(fabs(time_of((cpu_cut){CASE[i].pieces, 0}, n) - CASE[i].uncut), 1e-9);
        CHECK_LE(fabs(time_of(cut, n) - CASE[i].cut), 1e-9);
    }
}

/* Passes are cut into other pieces for each of these numbers. */
TEST(test_any_number_of_threads_makes_the_same_bytes) {
    par *three = threads;
    for (int i = 0; i < 4; i++) {
        setup s = CONV(150, 101, 9, 12, 4, 5, .order = i & 1 ? AXIS_Y : AXIS_X, .float64 = i & 2);
        hash128 first = {0};
        for (int n = 1; n <= 17; n += n < 5 ? 1 : 6) {
            assert_non_null(threads = par_open(n, NULL));
            check(s);
            par_close(&threads);
            if (n == 1) first = made;
            assert_memory_equal(&first, &made, sizeof first);
        }
    }
    threads = three;
}

/* A prepared engine takes another plan; what does not fit the plan is refused and said. */
TEST(test_prepare_again_and_refuse) {
    engine *g = open_cpu(threads, NULL);
    engine_options o = {0};
    for (int i = 0; i < 2; i++) {
        setup s = CONV(9 + 20 * i, 8, 3, 3, 1, 1);
        s.channels = s.spectra = 1;
        plan p = plan_of(&s);
        double *k = noise_plane(9, 0);
        spectrum_lines l = lines_of(&s, &p, &k), wrong = lines_of(&s, &p, &k);
        CHECK_OK(engine_prepare(g, &p, &l, &o, &e), e);
        frame(g, &s, &p, &k, 0);
        wrong.length--;
        CHECK_REFUSED(engine_prepare(g, &p, &wrong, &o, &e), ERR_INTERNAL, "");
        spectrum_lines_free(&l);
        spectrum_lines_free(&wrong);
        mem_free(k);
    }
    engine_frame f = {0};
    CHECK_REFUSED(engine_submit(g, 7, &f, &e), ERR_INTERNAL, "");
    engine_close(&g);
}

static int start(void **state) {
    (void)state;
    threads = par_open(3, NULL);
    return !threads;
}

static int stop(void **state) {
    (void)state;
    printf("largest error / bound: %.3f\n", worst_of_all);
    par_close(&threads);
    return 0;
}

RUN_TESTS(start, stop)
