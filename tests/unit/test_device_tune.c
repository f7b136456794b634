/* test_device_tune.c - measured shapes: their files, which plans take them, and the search that
 * finds them, against timers that are formulas; then the shapes of such searches on real devices,
 * whose results are held to the bound of the pipeline. */
#include "device/device_search.h"

#include "gpu/pipeline.h"
#include "unit/check.h"

#include <unistd.h>

static engine_device titan(void) {
    return (engine_device){.class = ENGINE_GPU,
                           .name = "Acme Titan 9000",
                           .driver = "acme 1",
                           .uuid = {0xde, 0xad, [15] = 0x01},
                           .limits = {.invocations = 1024,
                                      .shared_bytes = 49152,
                                      .groups = {65535, 65535, 65535},
                                      .buffer_range = UINT64_C(4) << 30,
                                      .float64 = true}};
}

static plan_request request(uint32_t w, uint32_t h, uint32_t kernel) {
    return (plan_request){.size = {w, h},
                          .reach_lo = {kernel / 2, kernel / 2},
                          .reach_hi = {kernel / 2 - 1, kernel / 2 - 1},
                          .channels = 3,
                          .spectra = 3,
                          .tapless = true,
                          .limits = titan().limits};
}

/* A shape for the plan of 1280 x 720 with a kernel of 256. */
static device_shape shape_for(plan *own) {
    plan_request ask = request(1280, 720, 256);
    err e = {0};
    CHECK_OK(plan_make(own, &ask, &e), e);
    device_shape s = {.order = own->first == PLAN_X ? AXIS_X : AXIS_Y,
                      .tune = {.lines = {3, 1, 1}, .whole = SWITCH_OFF, .tile = 2},
                      .before = 4.8e-5,
                      .after = 4.1e-5};
    device_tune_name(&s, own);
    for (int i = 0; i < 2; i++) s.tune.length[i] = own->axis[i].length;
    return s;
}

/* --- files ---------------------------------------------------------------------------------- */

static char folder[] = "/tmp/fftbloom-tune-XXXXXX";

static void shell(const char *command) {
    char line[512];
    snprintf(line, sizeof line, "cd %s && { %s; }", folder, command);
    assert_int_equal(system(line), 0);
}

static void test_round_trip(void **state) {
    (void)state;
    static const uint32_t RADIX[2][PLAN_STAGES] = {{16, 9, 10}, {12, 12, 6}};
    engine_device d = titan(), other = titan();
    device_tune t = {0}, got;
    plan own;
    err e = {0};
    device_shape s = shape_for(&own);
    memcpy(s.tune.radix, RADIX, sizeof RADIX);
    s.tune.threads[1] = 144;
    device_tune_put(&t, &s);
    s.precision = PRECISION_FLOAT64;
    s.order = AXIS_Y;
    memset(s.tune.radix[0], 0, sizeof s.tune.radix[0]);
    device_tune_put(&t, &s);
    CHECK_OK(device_tune_save(&t, &d, folder, &e), e);
    device_tune_load(&got, &d, folder);
    assert_int_equal(got.count, 2);
    for (int i = 0; i < 2; i++) {
        text was = {0}, is = {0};
        device_tune_text(&t.shape[i], &was);
        device_tune_text(&got.shape[i], &is);
        assert_string_equal(is.s, was.s);
        assert_memory_equal(&got.shape[i].tune, &t.shape[i].tune, sizeof s.tune);
        text_free(&was);
        text_free(&is);
    }
    /* Another driver, another chip of the same kind, no folder, and a CPU know nothing. */
    snprintf(other.driver, sizeof other.driver, "acme 2");
    device_tune_load(&got, &other, folder);
    assert_int_equal(got.count, 0);
    other = d;
    other.uuid[3] = 7;
    device_tune_load(&got, &other, folder);
    assert_int_equal(got.count, 0);
    device_tune_load(&got, &d, NULL);
    assert_int_equal(got.count, 0);
    /* The first device's file in the place of the other's. */
    CHECK_OK(device_tune_save(&got, &other, folder, &e), e);
    shell("first=$(grep -l ': y' device-tune-*); for f in device-tune-*; do "
          "[ $f = $first ] || cp $first $f; done");
    device_tune_load(&got, &other, folder);
    assert_int_equal(got.count, 0);
}

/* Whatever is wrong with a file, nothing of it is used. */
static void test_broken_files(void **state) {
    (void)state;
    static const char *const EDIT[] = {
        ": > $f",
        "sed -i '1s/1$/2/' $f",
        "sed -i 2d $f",
        "truncate -s -1 $f",
        "echo nonsense >> $f",
        "sed -i 's/^x/z/' $f",
        "sed -i 's/float32/float16/' $f",
        "sed -i 's/radices - -/radices 16.11 -/' $f",
        "sed -i 's/radices - -/radices 15.96 -/' $f",
        "sed -i 's/radices - -/radices 2.2.2.2.2 -/' $f",
        "sed -i 's/radices - -/radices -1.2 -/' $f",
        "sed -i 's/radices - -/radices 16. -/' $f",
        "sed -i 's/lines 3/lines 17/' $f",
        "sed -i 's/tiles 0 2/tiles 0 3/' $f",
        "sed -i 's/whole off/whole maybe/' $f",
        "sed -i 's/threads 0/threads 4000/' $f",
        "sed -i 's/seconds 0/seconds nan /' $f",
        "sed -i '3s/$/ more/' $f",
        "head -c 70000 /dev/zero | tr '\\\\0' x >> $f",
    };
    engine_device d = titan();
    device_tune t = {0}, got;
    plan own;
    err e = {0};
    device_shape s = shape_for(&own);
    device_tune_put(&t, &s);
    shell("rm -f device-tune-*");
    for (size_t i = 0; i < sizeof EDIT / sizeof EDIT[0]; i++) {
        char command[256];
        CHECK_OK(device_tune_save(&t, &d, folder, &e), e);
        device_tune_load(&got, &d, folder);
        assert_int_equal(got.count, 1);
        snprintf(command, sizeof command,
                 "f=$(echo device-tune-*); was=$(cksum $f); %s; "
                 "[ \"$(cksum $f)\" != \"$was\" ]",
                 EDIT[i]);
        shell(command);
        device_tune_load(&got, &d, folder);
        if (got.count) fail_msg("%s: still %u shapes", EDIT[i], got.count);
    }
}

static void test_room(void **state) {
    (void)state;
    device_tune t = {0};
    plan own;
    device_shape s = shape_for(&own);
    for (uint32_t i = 0; i < 3 * DEVICE_SHAPES; i++) {
        s.length[0] = 100 + i;
        device_tune_put(&t, &s);
        device_tune_put(&t, &s); /* the same again takes no room */
    }
    assert_int_equal(t.count, DEVICE_SHAPES);
    for (uint32_t i = 0; i < t.count; i++)
        assert_int_equal(t.shape[i].length[0], 100 + 2 * DEVICE_SHAPES + i);
    device_tune_drop(&t, &s);
    device_tune_drop(&t, &s);
    assert_int_equal(t.count, DEVICE_SHAPES - 1);
}

/* --- which plans take a shape ----------------------------------------------------------------- */

static void test_only_its_own_plan(void **state) {
    (void)state;
    device_tune t = {0};
    plan own, p;
    err e = {0};
    device_shape s = shape_for(&own);
    device_tune_put(&t, &s);
    plan_request ask = request(1280, 720, 256);
    CHECK_OK(device_tune_plan(&p, &t, &ask, &e), e);
    assert_true(device_tune_is_in(&p));
    assert_int_equal(p.pass[0].lines, 3);
    assert_int_equal(p.tile, 2);
    assert_int_equal(p.axis[0].length, own.axis[0].length);
    static const plan_request OTHER[] = {{.size = {1920, 1080}},
                                         {.size = {1280, 720}, .precision = PRECISION_FLOAT64}};
    for (int i = 0; i < 4; i++) {
        plan plain;
        plan_request miss = ask;
        if (i < 2) {
            memcpy(miss.size, OTHER[i].size, sizeof miss.size);
            miss.precision = OTHER[i].precision;
        }
        if (i == 2) miss.order = own.first == PLAN_X ? AXIS_Y : AXIS_X;
        if (i == 3) memset(&miss.limits, 0, sizeof miss.limits);
        CHECK_OK(plan_make(&plain, &miss, &e), e);
        CHECK_OK(device_tune_plan(&p, &t, &miss, &e), e);
        assert_false(device_tune_is_in(&p));
        assert_memory_equal(p.pass, plain.pass, sizeof p.pass);
    }
    /* An order that is asked for is kept, though the other one was found to be faster. */
    t.shape[0].order = own.first == PLAN_X ? AXIS_Y : AXIS_X;
    ask.order = own.first == PLAN_X ? AXIS_X : AXIS_Y;
    CHECK_OK(device_tune_plan(&p, &t, &ask, &e), e);
    assert_false(device_tune_is_in(&p));
    ask.order = AXIS_AUTO;
    t.shape[0].tune = (plan_tune){.length = {1024, 1536}};
    CHECK_OK(device_tune_plan(&p, &t, &ask, &e), e);
    assert_int_equal(p.first, 1 - own.first);
}

/* --- the search ------------------------------------------------------------------------------- */

/* A price that each choice adds to for itself, with one best value each. */
static bool separable(void *ctx, const plan *p, double *seconds, err *e) {
    (void)ctx, (void)e;
    double cost = 100 + (p->first == PLAN_Y ? 0 : 40);
    cost += 10 * (fabs((double)p->pass[0].lines - 3) + fabs((double)p->pass[2].lines - 1));
    cost += 5.0 * p->axis[0].fft.radix[0] + 3.0 * p->axis[1].fft.radix[0];
    cost += p->pass[1].whole ? 7 : 0;
    cost += 10 * (fabs((double)p->tile - 2) + fabs((double)p->tile_in - 4));
    *seconds = cost * 1e-6;
    return true;
}

static void test_finds_the_best_of_each_choice(void **state) {
    (void)state;
    search_result r;
    plan_request ask = request(1280, 720, 256);
    err e = {0};
    CHECK_OK(device_search(&r, &ask, 60, separable, NULL, &e), e);
    double own, best;
    separable(NULL, &r.own, &own, NULL);
    separable(NULL, &r.best, &best, NULL);
    assert_true(r.better);
    assert_true(r.shape.before == own && r.shape.after == best);
    assert_int_equal(r.best.first, PLAN_Y);
    assert_int_equal(r.best.tile, 2);
    assert_int_equal(r.best.tile_in, 4);
    assert_int_equal(r.best.pass[2].lines, 1);
    assert_false(r.best.pass[1].whole);
    assert_int_equal(r.best.pass[0].lines, 3);
    CHECK_LE(r.best.axis[0].fft.radix[0], 9);
    assert_true(r.tried > 20 && r.steps > 5 && r.steps <= SEARCH_STEPS);
    for (uint32_t i = 1; i < r.steps; i++)
        if (strstr(r.step[i].name, "order") == NULL && strstr(r.step[i - 1].name, "order") == NULL)
            CHECK_LE(r.step[i].seconds, r.step[i - 1].seconds);
    /* What it found makes the same plan again, by the way that runs go. */
    device_tune t = {0};
    plan p;
    device_tune_put(&t, &r.shape);
    CHECK_OK(device_tune_plan(&p, &t, &ask, &e), e);
    assert_memory_equal(&p.pass[0].fft, &r.best.pass[0].fft, sizeof p.pass[0].fft);
    double again;
    separable(NULL, &p, &again, NULL);
    assert_true(again == best);
}

static bool always_the_same(void *ctx, const plan *p, double *seconds, err *e) {
    (void)p, (void)e;
    ++*(int *)ctx;
    *seconds = 1e-3;
    return true;
}

static bool only_the_first(void *ctx, const plan *p, double *seconds, err *e) {
    (void)p;
    *seconds = 1;
    return ++*(int *)ctx == 1 || err_set(e, ERR_RETRY, "no memory for trial %d", *(int *)ctx);
}

static bool never(void *ctx, const plan *p, double *seconds, err *e) {
    (void)ctx, (void)p, (void)seconds;
    return err_set(e, ERR_RETRY, "device lost");
}

static void test_nothing_is_better(void **state) {
    (void)state;
    search_result r;
    plan_request ask = request(1920, 1080, 256);
    err e = {0};
    int calls = 0;
    CHECK_OK(device_search(&r, &ask, 60, always_the_same, &calls, &e), e);
    assert_false(r.better);
    assert_memory_equal(r.best.pass, r.own.pass, sizeof r.own.pass);
    calls = 0;
    CHECK_OK(device_search(&r, &ask, 60, only_the_first, &calls, &e), e);
    assert_false(r.better);
    assert_false(device_search(&r, &ask, 60, never, NULL, &e));
    assert_int_equal(e.code, ERR_RETRY);
    /* No time: the planner's own is timed, and that is all. */
    e = (err){0};
    calls = 0;
    CHECK_OK(device_search(&r, &ask, 0, always_the_same, &calls, &e), e);
    assert_false(r.better);
    CHECK_LE(calls, 3);
}

/* --- on devices ------------------------------------------------------------------------------- */

/* A timer that likes every plan by chance, so that searches end at all kinds of shapes. */
static bool by_chance(void *ctx, const plan *p, double *seconds, err *e) {
    (void)p, (void)e;
    *seconds = 1 + pipe_random(ctx);
    return true;
}

static void test_tuned_plans_are_right(void **state) {
    (void)state;
    engine_device device[ENGINE_DEVICES];
    uint32_t devices = engine_devices(device, ENGINE_DEVICES), runs = 0;
    err e = {0};
    par *threads = par_open(0, &e);
    for (uint32_t i = 0; i < devices; i++) {
        if (!device[i].limits.invocations) continue;
        engine *g = engine_open(&device[i], threads, NULL, &e);
        if (!g) fail_msg("%s: %s", device[i].name, e.msg);
        for (uint64_t seed = 1; seed <= 4; seed++, runs++) {
            pipe_case c = {.w = 70 + 13 * (uint32_t)seed,
                           .h = 61,
                           .kw = 9,
                           .kh = 8,
                           .cx = 3,
                           .cy = 5,
                           .border = {seed % BORDERS, BORDER_ZERO},
                           .channels = 3,
                           .spectra = 3,
                           .gain = 1,
                           .tapless = true};
            plan_request ask = pipe_request(&c, &device[i]);
            search_result found;
            pipe_result r;
            char what[512];
            uint64_t chance = seed;
            CHECK_OK(device_search(&found, &ask, 60, by_chance, &chance, &e), e);
            c.tune = found.shape.tune;
            c.order = found.shape.order;
            CHECK_OK(pipe_run(&r, &c, g, &device[i], &e), e);
            if (!(r.relative_l2 <= r.bound))
                fail_msg("%s: %s", device[i].name, pipe_text(&c, &r, what));
        }
        engine_close(&g);
    }
    par_close(&threads);
    if (!runs) skip();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_broken_files),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_only_its_own_plan),
        cmocka_unit_test(test_finds_the_best_of_each_choice),
        cmocka_unit_test(test_nothing_is_better),
        cmocka_unit_test(test_tuned_plans_are_right),
    };
    if (!mkdtemp(folder)) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    shell("rm -f device-tune-*");
    rmdir(folder);
    return failed;
}
