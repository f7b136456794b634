/* test_join.c - what becomes of a pixel: both engines beside the formula of engine/join.h in
 * doubles, and what they measure beside the planes that they made. Every border, type, threshold,
 * knee and mask, glare of its own, kernels with numbers below zero, floats and doubles; the CPU
 * engine in all combinations, devices in some, since drivers take a second to compile each. */
#include "gpu/pipeline.h"
#include "unit/check.h"

#include "base/par.h"

#include <float.h>

enum { W = 45, H = 38, N = W * H, CHANNELS = 2, KW = 9, KH = 6, CX = 3, CY = 4 };

typedef struct {
    plan_planes planes;
    plan_precision precision;
    plan_axis_order order;
    plan_border border;
    double threshold, knee;
    bool additive, below, cut, window, lone;
} combination;

/* All that a combination needs, and what comes of it. */
typedef struct {
    const combination *c;
    plan p;
    join how;
    float mask[N], lost[N];
    spill table;
    double in[CHANNELS][N], kernel[KW * KH], glare[CHANNELS][N]; /* glare: by the definition */
    union {
        uint16_t half[N];
        float one[N];
        double two[N];
    } given[CHANNELS], got[CHANNELS];
    float alone[CHANNELS][N];
    join_stats st[CHANNELS];
} bench;

static double stored(const void *plane, uint8_t type, size_t i) {
    return type == PLAN_HALFS    ? (double)half_to_float(((const uint16_t *)plane)[i])
           : type == PLAN_FLOATS ? (double)((const float *)plane)[i]
                                 : ((const double *)plane)[i];
}

/* Written a second time: what is spread of a pixel. */
static double spread_of(const bench *b, size_t i, double v) {
    const combination *c = b->c;
    double x = c->planes.masked ? v * (double)b->mask[i] : v, over = x - c->threshold,
           knee = c->knee;
    if (!(c->threshold > 0)) return x;
    if (x <= 0 || over <= -knee) return 0;
    if (over >= knee) return over;
    return fmin(x, (over + knee) * (over + knee) / (4 * knee));
}

/* Pixels from 0 to 4 with some lights beyond halfs; or of both signs. The kernel has a centre. */
static void fill(bench *b) {
    uint64_t seed = 7;
    for (int c = 0; c < CHANNELS; c++)
        for (int i = 0; i < N; i++) {
            double v = 4 * pipe_random(&seed) - (b->c->below ? 1 : 0);
            if (i % 331 == 5) v = 60000 + 5000 * c;
            uint16_t half = half_from_float((float)v);
            bool halfs = b->c->planes.in == PLAN_HALFS;
            b->in[c][i] = halfs ? (double)half_to_float(half) : (double)(float)v;
            if (halfs)
                b->given[c].half[i] = half;
            else
                b->given[c].one[i] = (float)v;
        }
    for (int i = 0; i < N; i++) b->mask[i] = i % 5 ? (float)pipe_random(&seed) : (float)(i % 2);
    for (int i = 0; i < N; i++) b->lost[i] = (float)(pipe_random(&seed) - 0.25);
    for (int i = 0; i < KW * KH; i++)
        b->kernel[i] = (pipe_random(&seed) - (b->c->below ? 0.4 : 0)) / (KW * KH / 2);
    b->table =
        (spill){.w = W, .kernels = 1, .middle = {{W, W}, {H, H}}, .rows = H + 1, .columns = W + 1};
}

/* The tables of light that leaves have a row and a column more, which is not read here. */
static float table[(H + 1) * (W + 1)];

static void make_join(bench *b) {
    const combination *c = b->c;
    for (int y = 0; y < H; y++) memcpy(table + y * (W + 1), b->lost + y * W, W * sizeof *table);
    b->table.lost = table;
    b->how = (join){.spread = {c->threshold, c->knee, c->planes.masked ? b->mask : NULL},
                    .additive = c->additive,
                    .spill = &b->table};
    if (c->window) b->how.kept = (join_box){7, 5, 30, 21};
    for (int i = 0; i < CHANNELS; i++)
        b->how.channel[i] = (join_channel){.centre = 1.25 + 0.01 * i,
                                           .gain = 0.5,
                                           .nonnegative = c->cut,
                                           .dark = 0.9,
                                           .most = 1e5};
}

static bool is_kept(const bench *b, int i) {
    const join_box *k = &b->how.kept;
    uint32_t x = (uint32_t)i % W, y = (uint32_t)i / W;
    return !k->w || (x - k->x < k->w && y - k->y < k->h);
}

static void run(bench *b, engine *g, const engine_device *d) {
    const combination *c = b->c;
    const pipe_case like = PIPE(W, H, KW, KH, CX, CY, .border = {c->border, c->border},
                                .order = c->order, .precision = c->precision, .channels = CHANNELS,
                                .spectra = 1);
    plan_request ask = pipe_request(&like, d);
    ask.planes = c->planes;
    CHECK_OK(plan_make(&b->p, &ask, &e));
    bool f64 = b->p.sample_bytes == 8;
    size_t n = 2 * (size_t)b->p.halves * b->p.axis[1].length;
    OWN_HEAP double *line = calloc(n, sizeof *line);
    OWN(spectrum_lines) l = pipe_lines(&b->p, 1);
    pipe_spectrum(line, b->kernel, &like, &b->p);
    pipe_store(l.value, line, n, f64);
    const void *in[CHANNELS];
    void *out[CHANNELS];
    float *alone[CHANNELS];
    for (int i = 0; i < CHANNELS; i++) {
        double spread[N];
        in[i] = &b->given[i], out[i] = &b->got[i], alone[i] = b->alone[i];
        memset(b->glare[i], 0, sizeof b->glare[i]);
        for (int k = 0; k < N; k++) spread[k] = spread_of(b, (size_t)k, b->in[i][k]);
        double centre = b->kernel[CY * KW + CX];
        b->kernel[CY * KW + CX] = 0;
        pipe_direct(b->glare[i], spread, b->kernel, &like);
        b->kernel[CY * KW + CX] = centre;
        for (int k = 0; k < N; k++) b->glare[i][k] *= 0.5;
    }
    const engine_frame f = {.in = in, .out = out, .glare = alone, .join = &b->how};
    CHECK_OK(engine_prepare(g, &b->p, &l, &(engine_options){.lone = c->lone}, &e));
    CHECK_OK(engine_submit(g, 0, &f, &e) && engine_wait(g, 0, b->st, NULL, &e));
}

/* What the transform may add to a pixel: docs/inside/math.md, "The error of a transform". */
static double noise_of(const bench *b, int c) {
    double points = (double)b->p.axis[0].length * b->p.axis[1].length, l1 = 0, rms = 0;
    for (int i = 0; i < KW * KH; i++) l1 += fabs(b->kernel[i]);
    for (int i = 0; i < N; i++) rms += b->in[c][i] * b->in[c][i] / N;
    double unit = b->p.sample_bytes == 8 ? 0x1p-52 : 0x1p-24;
    return 5 * unit * log2(points) * l1 * sqrt(rms) +
           (b->c->planes.above || b->c->planes.masked ? 0x1p-24 * 65000 : 0);
}

static void check_pixels(const bench *b, const char *what) {
    const combination *c = b->c;
    for (int ch = 0; ch < CHANNELS; ch++) {
        const join_channel *is = &b->how.channel[ch];
        double noise = noise_of(b, ch);
        for (int i = 0; i < N; i++) {
            double v = b->in[ch][i], x = spread_of(b, (size_t)i, v), glare = b->glare[ch][i];
            if (!is_kept(b, i)) continue;
            if (c->cut && glare < 0) glare = 0;
            double want = v - x + is->centre * x + glare, rounding = 0x1p-23 * fabs(want);
            double alone = c->additive ? want - v : glare;
            if (c->planes.out == PLAN_HALFS) {
                want = fmax(-65504, fmin(65504, want));
                rounding += 0x1p-11 * fabs(want) + 0x1p-25;
            }
            double got = stored(&b->got[ch], c->planes.out, (size_t)i);
            if (!(fabs(got - want) <= noise + rounding))
                fail_msg("%s: pixel %d of channel %d is %.9g, should be %.9g", what, i, ch, got,
                         want);
            if (c->planes.glare && !(fabs((double)b->alone[ch][i] - alone) <=
                                     noise + 0x1p-23 * (fabs(v) + fabs(want))))
                fail_msg("%s: the glare of pixel %d is %.9g, should be %.9g", what, i,
                         (double)b->alone[ch][i], alone);
        }
    }
}

static uint64_t all_cuts; /* pixels that were cut, in all combinations */

static bool is_in(const join_box *k, int i) {
    return (uint32_t)i % W - k->x < k->w && (uint32_t)i / W - k->y < k->h;
}

/* Sums and extremes of what was made, where planes tell them; else by the formula. */
static void check_stats(const bench *b, const char *what) {
    const combination *c = b->c;
    for (int ch = 0; ch < CHANNELS; ch++) {
        const join_stats *st = &b->st[ch];
        double noise = noise_of(b, ch), sum = 0, all = 0, norm = 0, cut = 0, over = 0, spilled = 0;
        double largest = 0, darkest = HUGE_VAL, peak = 0, lost = 0;
        uint64_t overs = 0, cuts = 0, doubtful = 0; /* doubtful: below zero or not */
        bool darker = false;
        int at_dark = 0;
        for (int i = 0; i < N; i++) {
            double v = b->in[ch][i], x = spread_of(b, (size_t)i, v), g = b->glare[ch][i];
            norm += g * g, peak = fmax(peak, fabs(g));
            bool row = !b->how.kept.w || (uint32_t)i / W - b->how.kept.y < b->how.kept.h;
            if (row) spilled += x * (double)b->lost[i], lost += fabs(x * (double)b->lost[i]);
            if (!is_kept(b, i)) continue;
            if (c->cut && g < -noise) cuts++, cut += g;
            doubtful += fabs(g) <= noise;
            double out = c->planes.out == PLAN_HALFS
                             ? v - x + b->how.channel[ch].centre * x + (c->cut ? fmax(0, g) : g)
                             : stored(&b->got[ch], c->planes.out, (size_t)i);
            double size = fabs(out);
            sum += out, all += size;
            largest = fmax(largest, size);
            if (size > 65504) overs++, over += out - copysign(65504, out);
            if (size < 0.9) darker = true;
            if (size >= 0.9 && size < darkest) darkest = size, at_dark = i;
        }
        double rounded = 0x1p-23 * all + N * noise;
        if (c->planes.out == PLAN_FLOATS) rounded = 3e-7 * all;
        CHECK_LE(fabs(st->sum - sum), rounded);
        CHECK_LE(fabs(st->norm - sqrt(norm)), 1e-5 * sqrt(norm) + sqrt(N) * noise);
        CHECK_LE(fabs(st->peak - peak), 1e-6 * peak + noise);
        CHECK_LE(fabs((double)st->largest - largest), 0x1p-23 * largest + noise);
        CHECK_LE(fabs(st->over_sum - over), 0x1p-20 * fabs(over) + (double)overs * (0.01 + noise));
        CHECK_LE(fabs(st->spilled - spilled), 1e-6 * lost);
        if (!c->window) assert_true(overs > 0);
        assert_int_equal(st->over, overs);
        all_cuts += c->cut ? cuts : 0;
        if (c->cut) CHECK_LE(fabs(st->negative_sum - cut), 1e-5 * fabs(cut) + N * noise);
        CHECK_LE((double)cuts, (double)st->negative);
        CHECK_LE((double)st->negative, (double)cuts + (c->cut ? (double)doubtful : 0));
        if (c->planes.out != PLAN_FLOATS) continue;
        assert_true(st->darker == darker);
        if (!(st->darkest == (darker ? 0.9 : darkest)))
            fail_msg("%s: the darkest is %.9g, not %.9g", what, darkest, st->darkest);
        if (!darker) assert_true(is_in(&st->dark_at, at_dark));
    }
}

static void check(const combination *c, engine *g, const engine_device *d) {
    static bench b;
    char what[256];
    snprintf(what, sizeof what,
             "%s: in %u, out %u, %s, %s first, %s, threshold %g, knee %g%s%s%s%s%s", d->name,
             c->planes.in, c->planes.out, c->precision == PRECISION_FLOAT64 ? "doubles" : "floats",
             c->order == AXIS_X ? "x" : "y", plan_border_name(c->border), c->threshold, c->knee,
             c->planes.masked ? ", mask" : "", c->planes.glare ? ", glare" : "",
             c->additive ? ", additive" : "", c->below ? ", below zero" : "",
             c->cut ? ", cut" : "");
    memset(&b, 0, sizeof b);
    b.c = c;
    fill(&b);
    make_join(&b);
    run(&b, g, d);
    check_pixels(&b, what);
    check_stats(&b, what);
}

/* Combination number n of all. */
enum { ALL = 2 * 3 * 2 * 2 * 4 * 3 * 2 * 3 * 3 * 2 };
static combination number(uint32_t n) {
    combination c = {0};
    c.planes.in = n % 2 ? PLAN_HALFS : PLAN_FLOATS, n /= 2;
    c.planes.out = (uint8_t)(n % 3), n /= 3;
    c.precision = n % 2 ? PRECISION_FLOAT64 : PRECISION_FLOAT32, n /= 2;
    c.order = n % 2 ? AXIS_Y : AXIS_X, n /= 2;
    c.border = (plan_border)(n % 4), n /= 4;
    c.threshold = n % 3 ? 1 : 0, c.knee = n % 3 == 2 ? 0.5 : 0, n /= 3;
    c.planes.masked = n % 2, n /= 2;
    c.planes.glare = n % 3 > 0, c.additive = n % 3 == 2, n /= 3;
    c.below = n % 3 > 0, c.cut = n % 3 != 1, n /= 3; /* cut: as if there were nothing below zero */
    c.window = n % 2, n /= 2;
    c.planes.above = c.threshold > 0;
    c.planes.margins = c.window;
    return c;
}

static void run_all(uint32_t i, uint32_t some) {
    OPEN(engine) *g = MADE(engine_open(&device[i], threads, NULL, &e));
    for (uint32_t k = 0; k < some; k++) {
        /* Of some, each value of everything comes as often: a number that has no factor in common
         * with theirs. */
        combination c = number(some == ALL ? k : (uint32_t)((uint64_t)k * 1949 % ALL));
        c.lone = k % 3 == 2;
        if (c.precision == PRECISION_FLOAT64 && !device[i].limits.float64) continue;
        check(&c, g, &device[i]);
    }
    assert_true(all_cuts > 200);
    all_cuts = 0;
}

/* Rows have vectors, and single pixels have none: the numbers are the same, also where a pixel is
 * no number, at a threshold's ends, and behind the last whole vector. */
TEST(rows_of_what_is_spread) {
    static const float CASE[] = {0,     -0.0F,  1,   -1,       0.5F,      1.5F,  1.25F,     2,
                                 3e38F, 1e-45F, NAN, INFINITY, -INFINITY, 0.75F, 1.0000001F};
    enum { COUNT = COUNT(CASE) };
    float mask[COUNT], floats[COUNT];
    double doubles[COUNT], own[COUNT];
    for (int i = 0; i < COUNT; i++) mask[i] = (float)(i % 4) / 3;
    for (int k = 0; k < 8; k++) {
        const join_spread x = {.threshold = k % 4 ? 1 : 0,
                               .knee = (double[]){0, 0, 0.5, 2}[k % 4],
                               .mask = k & 4 ? mask : NULL};
        for (size_t n = COUNT - 4; n <= COUNT; n++) {
            memcpy(floats, CASE, sizeof floats);
            join_spread_row(&x, 0, floats, floats, n);
            for (int i = 0; i < COUNT; i++) doubles[i] = own[i] = (double)CASE[i];
            join_spread_doubles(&x, 0, doubles, n);
            join_own_row(&x, 0.25, 0, own, n);
            for (size_t i = 0; i < n; i++) {
                join_parts of = join_parts_of(&x, i, (double)CASE[i]);
                double spread = of.spread, itself = of.rest + 0.25 * spread;
                float rounded = (float)spread;
                if (isnan(spread))
                    spread = doubles[i], rounded = floats[i], assert_true(isnan(spread));
                if (isnan(itself)) itself = own[i], assert_true(isnan(itself));
                assert_memory_equal(&doubles[i], &spread, sizeof spread);
                assert_memory_equal(&floats[i], &rounded, sizeof rounded);
                assert_memory_equal(&own[i], &itself, sizeof itself);
            }
        }
    }
}

TEST(on_the_cpu) {
    for (uint32_t i = 0; i < devices; i++)
        if (device[i].class == ENGINE_CPU) run_all(i, 1200);
}

TEST(on_devices) {
    enum { SOME = 32, FEW = 6 }; /* few where a software driver compiles for 2 s for each */
    bool any = false;
    for (uint32_t i = 0; i < devices; i++)
        if (device[i].class != ENGINE_CPU) {
            bool few = device[i].class == ENGINE_SOFTWARE && !check_long();
            run_all(i, few ? FEW : SOME), any = true;
        }
    if (!any) skip();
}

RUN_TESTS(pipe_begin, pipe_end)
