/* Planes of halfs, and one plane that is filled for one channel after the other, give an engine
 * what planes of the same floats give it, bit by bit; and results that are stored as halfs right
 * away are those that are floats first. */
#include "base/half.h"
#include "unit/glare.h"
#include "unit/kernels.h"

enum { W = 151, H = 83, CHANNELS = 3 };

static void keep_row(void *ctx, uint32_t channel, uint32_t y, int worker, const void *row) {
    (void)worker;
    memcpy((float *)ctx + ((size_t)channel * H + y) * W, row, W * sizeof(float));
}

enum { FLOATS, HALFS, TURNS, WAYS };

/* All channels in the plane of the first. */
typedef struct {
    const float *in;
    float *plane;
    uint32_t next, refused;
} turns;

static bool fill_turn(void *ctx, uint32_t channel, err *e) {
    turns *t = ctx;
    assert_int_equal(channel, t->next++);
    if (channel == t->refused) return err_set(e, ERR_DATA, "there is no channel %u", channel);
    memcpy(t->plane, t->in + (size_t)channel * W * H, (size_t)W * H * sizeof *t->in);
    return true;
}

/* Runs the frame by turns, and once more with a source that fails, which harms nothing. */
static void run_by_turns(engine *g, engine_frame f, const float *in) {
    turns t = {in, mem_raw((size_t)W * H, sizeof *in, "a plane", &e), 0, UINT32_MAX};
    const void *one[CHANNELS] = {t.plane, t.plane, t.plane};
    f.in = one;
    f.source = &(engine_source){fill_turn, &t};
    CHECK_OK(engine_run(g, &f, NULL, &e), e);
    assert_int_equal(t.next, CHANNELS);
    t.next = 0;
    t.refused = 1;
    assert_false(engine_run(g, &f, NULL, &e));
    assert_string_equal(e.msg, "there is no channel 1");
    t.next = 0;
    t.refused = UINT32_MAX;
    CHECK_OK(engine_run(g, &f, NULL, &e), e);
    mem_free(t.plane);
}

TEST(planes) {
    engine_device d[ENGINE_DEVICES];
    uint32_t devices = engine_devices(d, ENGINE_DEVICES), tried = 0;
    psf k = kernel_make(POWER_LAW, 31, 20, CHANNELS, 12, 9);
    spectrum s;
    CHECK_OK(spectrum_make(&s, &k, make_threads(), &e), e);
    size_t n = (size_t)W * H;
    uint16_t *half = mem_raw(n * CHANNELS, sizeof *half, "halfs", &e);
    float *in = mem_raw(n * CHANNELS, sizeof *in, "floats", &e);
    float *out[WAYS];
    for (int way = 0; way < WAYS; way++) out[way] = mem_new(n * CHANNELS, sizeof *in, "rows", &e);
    uint64_t seed = 7;
    for (size_t i = 0; i < n * CHANNELS; i++) half[i] = (uint16_t)(make_random(&seed) % 0x7c00);
    half_to_floats(in, half, n * CHANNELS);
    for (uint32_t i = 0; i < devices; i++) {
        plan p;
        spectrum_lines l;
        plan_request ask = {.size = {W, H},
                            .reach_lo = {k.cx, k.cy},
                            .reach_hi = {k.w - 1 - k.cx, k.h - 1 - k.cy},
                            .channels = CHANNELS,
                            .spectra = CHANNELS,
                            .order = AXIS_X,
                            .tapless = true,
                            .half_input = true,
                            .limits = d[i].limits};
        CHECK_OK(plan_make(&p, &ask, &e), e);
        const spectrum_request want = {
            SPECTRUM_RESAMPLED, p.first, {p.axis[0].length, p.axis[1].length}, false};
        CHECK_OK(spectrum_at(&l, &s, &want, make_threads(), &e), e);
        engine *g = engine_open(&d[i], make_threads(), NULL, &e);
        CHECK_OK(g, e);
        CHECK_OK(engine_prepare(g, &p, &l, NULL, &e), e);
        for (int way = 0; g->is.halfs && way < WAYS; way++) {
            bool halfs = way == HALFS;
            const void *from[CHANNELS];
            void *none[CHANNELS] = {NULL};
            double tap[CHANNELS] = {0}, gain[CHANNELS] = {1, 0.5, 2};
            for (int c = 0; c < CHANNELS; c++)
                from[c] = halfs ? (const void *)(half + c * n) : (const void *)(in + c * n);
            engine_frame f = {.in = from,
                              .tap = tap,
                              .gain = gain,
                              .out = none,
                              .sink = &(engine_sink){keep_row, out[way]},
                              .halfs = halfs};
            if (way != TURNS)
                CHECK_OK(engine_run(g, &f, NULL, &e), e);
            else if (g->is.sources)
                run_by_turns(g, f, in);
        }
        tried += g->is.halfs;
        assert_memory_equal(out[FLOATS], out[HALFS], n * CHANNELS * sizeof *in);
        if (g->is.sources) assert_memory_equal(out[FLOATS], out[TURNS], n * CHANNELS * sizeof *in);
        spectrum_lines_free(&l);
        engine_close(&g);
    }
    assert_true(tried > 0 && out[0][n / 2] > 0);
    for (int way = 0; way < WAYS; way++) mem_free(out[way]);
    mem_free(half);
    mem_free(in);
    spectrum_free(&s);
    psf_free(&k);
}

static void keep_doubles(void *ctx, uint32_t channel, uint32_t y, int worker, const void *row) {
    (void)worker;
    memcpy((double *)ctx + ((size_t)channel * H + y) * W, row, W * sizeof(double));
}

/* A plan of doubles takes planes of doubles, floats and halfs, and makes the same doubles of them.
 */
TEST(planes_for_doubles) {
    engine_device d;
    assert_int_equal(engine_devices_cpu(&d), 1);
    psf k = kernel_make(POWER_LAW, 31, 20, 1, 12, 9);
    spectrum s;
    CHECK_OK(spectrum_make(&s, &k, make_threads(), &e), e);
    plan p;
    plan_request ask = {.size = {W, H},
                        .reach_lo = {12, 9},
                        .reach_hi = {18, 10},
                        .channels = 1,
                        .spectra = 1,
                        .order = AXIS_X,
                        .tapless = true,
                        .precision = PRECISION_FLOAT64};
    CHECK_OK(plan_make(&p, &ask, &e), e);
    const spectrum_request want = {
        SPECTRUM_EXACT, p.first, {p.axis[0].length, p.axis[1].length}, true};
    spectrum_lines l;
    CHECK_OK(spectrum_at(&l, &s, &want, make_threads(), &e), e);
    engine *g = engine_open(&d, make_threads(), NULL, &e);
    CHECK_OK(g, e);
    CHECK_OK(engine_prepare(g, &p, &l, NULL, &e), e);
    static uint16_t half[W * H];
    static float one[W * H];
    static double two[W * H], out[WAYS][W * H];
    uint64_t seed = 8;
    for (size_t i = 0; i < (size_t)W * H; i++) {
        half[i] = (uint16_t)(make_random(&seed) % 0x7c00);
        two[i] = (double)(one[i] = half_to_float(half[i]));
    }
    const void *from[WAYS] = {two, one, half};
    void *none = NULL;
    for (int way = 0; way < WAYS; way++) {
        const engine_frame f = {.in = &from[way],
                                .tap = (double[]){0},
                                .gain = (double[]){0.7},
                                .out = &none,
                                .sink = &(engine_sink){keep_doubles, out[way]},
                                .floats = way == 1,
                                .halfs = way == 2};
        CHECK_OK(engine_run(g, &f, NULL, &e), e);
    }
    assert_true(out[0][W / 2] > 0);
    assert_memory_equal(out[0], out[1], sizeof out[0]);
    assert_memory_equal(out[0], out[2], sizeof out[0]);
    engine_close(&g);
    spectrum_lines_free(&l);
    spectrum_free(&s);
    psf_free(&k);
}

/* With --half-overflow float, which has nothing to do here, the result stays floats to the end. */
TEST(results) {
    const char *device, *kernel = glare_kernel("eye.exr", glare_eye, 41, 41,
                                               "R:float G:float "
                                               "B:float");
    for (int i = 0; (device = glare_device(i)); i++)
        for (int kind = 0; kind < 4; kind++) {
            bloom_settings s = glare_settings(device);
            image *a = glare_image("R:half G:half B:half", W, H), *b;
            bloom_report r[2];
            if (kind == 1) s.tolerance = 1e-4;                 /* needs a core */
            if (kind == 2) glare_put(a, 1, W * 40 + 70, 6e4F); /* and perhaps spots */
            if (kind == 3) s.order = AXIS_Y;                   /* the CPU hands out no rows */
            b = glare_copy(a);
            glare_bloom(a, kernel, &s, &r[0]);
            s.half_overflow = OVERFLOW_FLOAT;
            glare_bloom(b, kernel, &s, &r[1]);
            check_same_pixels(a, b);
            for (int c = 0; c < 3; c++) {
                assert_int_equal(a->head.part[0].channel[c].type, PIXEL_HALF);
                assert_true(r[0].ledger[c].out == r[1].ledger[c].out);
            }
            image_free(&a);
            image_free(&b);
        }
}

/* What is beyond halfs is clamped, counted, and refused or left to floats. */
TEST(overflow) {
    const char *device = glare_device(0);
    const char *kernel = glare_kernel("bell.exr", glare_bell, 15, 15, "R:float G:float B:float");
    if (!device) skip();
    bloom_settings s = glare_settings(device);
    s.tolerance = 1;
    s.kernel.normalize = PSF_NONE;
    image *clamped = glare_image("R:half G:half B:half", W, H), *floats = glare_copy(clamped),
          *refused = glare_copy(clamped);
    for (int c = 0; c < 3; c++) {
        glare_put(clamped, c, 5000, 6e4F);
        glare_put(floats, c, 5000, 6e4F);
        glare_put(refused, c, 5000, 6e4F);
    }
    bloom_report r[3];
    glare_bloom(clamped, kernel, &s, &r[0]);
    s.half_overflow = OVERFLOW_FLOAT;
    glare_bloom(floats, kernel, &s, &r[1]);
    s.half_overflow = OVERFLOW_ERROR;
    CHECK_REFUSED(glare_try(refused, kernel, &s, &r[2], &e), ERR_BAD_PIXELS, "");
    uint64_t over = 0;
    for (size_t i = 0; i < (size_t)W * H * 3; i++) {
        int c = (int)(i / (W * H));
        float want = glare_get(floats, c, i % (W * H)), got = glare_get(clamped, c, i % (W * H));
        over += want > HALF_MAX;
        uint16_t h = half_from_float(want > HALF_MAX ? HALF_MAX : want);
        assert_true(got == half_to_float(h));
    }
    uint64_t counted = 0;
    for (int c = 0; c < 3; c++) counted += r[0].ledger[c].overflow_pixels;
    assert_true(over > 100 && over == counted);
    assert_true(fabs(ledger_gap(&r[0].ledger[0])) < 1e-6);
    image_free(&clamped);
    image_free(&floats);
    image_free(&refused);
}

RUN_TESTS(NULL, NULL)
