/* test_device_choice.c - the choice of a device, from tables of devices; it opens none. */
#include "device/device_choice.h"

#include "unit/check.h"

#include <math.h>

enum { BIG, SMALL, CPU, SOFTWARE, DEVICES };

static const plan_limits GPU_LIMITS = {.invocations = 1024,
                                       .shared_bytes = 49152,
                                       .groups = {65535, 65535, 65535},
                                       .buffer_range = UINT64_C(4) << 30,
                                       .memory = UINT64_C(8) << 30,
                                       .float64 = true};

static void machine(device_list *l) {
    *l = (device_list){.count = DEVICES, .listed = DEVICES_ALL};
    engine_device *d = l->device;
    d[BIG] = (engine_device){.class = ENGINE_GPU,
                             .name = "Acme Titan 9000",
                             .driver = "acme 1",
                             .uuid = {0xde, 0xad, 0xbe, 0xef, [15] = 0x01},
                             .discrete = true,
                             .limits = GPU_LIMITS};
    d[SMALL] = d[BIG];
    snprintf(d[SMALL].name, ENGINE_NAME, "Acme Mini");
    d[SMALL].uuid[0] = 0x11;
    d[SMALL].limits.memory = 64 << 20;
    d[CPU] = (engine_device){.class = ENGINE_CPU, .name = "Some CPU", .driver = "lanes of 4"};
    d[SOFTWARE] = (engine_device){
        .class = ENGINE_SOFTWARE, .name = "llvmpipe", .uuid = {9}, .limits = GPU_LIMITS};
    for (int i = 0; i < DEVICES; i++) d[i].number = i;
}

static plan_request request(uint32_t w, uint32_t h, uint32_t kernel) {
    return (plan_request){.size = {w, h},
                          .reach_lo = {kernel / 2, kernel / 2},
                          .reach_hi = {kernel / 2 - 1, kernel / 2 - 1},
                          .channels = 3,
                          .spectra = 3};
}

static int choose(const char *want, uint32_t images, uint32_t w, uint32_t h, device_forecast *f,
                  err *e) {
    device_list l;
    machine(&l);
    device_request r = {.want = want, .images = images, .ask = request(w, h, 256)};
    return device_choose(f, &l, &r, e);
}

TEST(test_exact_wishes) {
    static const struct {
        const char *want;
        int takes;
    } CASE[] = {
        {"cpu", CPU},
        {"software", SOFTWARE},
        {"gpu", BIG},
        {"0", BIG},
        {"1", SMALL},
        {"3", SOFTWARE},
        {"mini", SMALL},
        {"TITAN", BIG},
        {"llvm", SOFTWARE},
        {"11adbeef-0000-0000-0000-000000000001", SMALL},
        {"DEADBEEF000000000000000000000001", BIG},
    };
    device_forecast f[DEVICES];
    for (size_t i = 0; i < COUNT(CASE); i++) {
        int took = choose(CASE[i].want, 1, 200, 200, f, &e);
        if (took != CASE[i].takes)
            fail_msg("'%s' took %d, not %d: %s", CASE[i].want, took, CASE[i].takes, e.msg);
        assert_int_equal(f[took].wanted && f[took].possible, true);
    }
}

/* Several devices: by a list, or all GPUs. A word that names none is an error; a name may have
 * commas.
 */
TEST(test_lists) {
    static const struct {
        const char *want;
        bool several, wanted[DEVICES];
    } CASE[] = {{"gpus", true, {true, true}},
                {"all", true, {true, true, true, true}},
                {"0,2", true, {true, false, true}},
                {"mini,software", true, {false, true, false, true}},
                {"gpu,cpu", true, {true, true, true}},
                {"0", false, {true}},
                {"auto", false, {true, true, true, true}}};
    device_forecast f[ENGINE_DEVICES];
    for (size_t k = 0; k < COUNT(CASE); k++) {
        int best = choose(CASE[k].want, 100, 640, 360, f, &e);
        CHECK_OK(best >= 0);
        assert_true(CASE[k].wanted[best]);
        assert_int_equal(device_are_several(CASE[k].want), CASE[k].several);
        for (int i = 0; i < DEVICES; i++) assert_int_equal(f[i].wanted, CASE[k].wanted[i]);
    }
    assert_false(device_are_several(NULL));
    CHECK_REFUSED(choose("0,7", 100, 640, 360, f, &e) >= 0, ERR_NO_DEVICE, "no device is '7'");
    assert_int_equal(choose("0,,1", 100, 640, 360, f, &e), -1);
    const engine_device comma = {.class = ENGINE_SOFTWARE, .name = "pipe (1, 256 bits)"};
    assert_true(device_is_wanted(comma.name, &comma, 3));
}

TEST(test_unknown_wishes_say_what_there_is) {
    static const char *const WANT[] = {"4", "nothing", "ti", "deadbeef", "00000000", "-1", "1x"};
    device_forecast f[DEVICES];
    for (size_t i = 0; i < COUNT(WANT); i++) {
        CHECK_REFUSED(choose(WANT[i], 1, 200, 200, f, &e) >= 0, ERR_NO_DEVICE, WANT[i]);
        assert_non_null(strstr(e.msg, "1 'Acme Mini' (gpu)"));
    }
}

TEST(test_no_device_at_all) {
    device_list none = {.listed = DEVICES_ALL};
    device_request r = {.ask = request(100, 100, 16)};
    CHECK_REFUSED(device_choose(NULL, &none, &r, &e) >= 0, ERR_NO_DEVICE, "mesa-vulkan-drivers");
}

TEST(test_one_image_is_for_the_cpu_and_a_sequence_for_the_gpu) {
    static const struct {
        uint32_t images, w, h;
        int takes;
    } CASE[] = {{1, 1280, 720, CPU},      {0, 1280, 720, CPU},   {63, 1920, 1080, CPU},
                {64, 1920, 1080, BIG},    {143, 1280, 720, CPU}, {144, 1280, 720, BIG},
                {15, 3840, 2160, CPU},    {16, 3840, 2160, BIG}, {500, 64, 64, CPU},
                {9, 10000, 6000, BIG}, /* too large for the small one */
                {UINT32_MAX, 16, 16, BIG}};
    device_forecast f[DEVICES];
    for (size_t i = 0; i < COUNT(CASE); i++) {
        int took = choose("auto", CASE[i].images, CASE[i].w, CASE[i].h, f, &e);
        if (took != CASE[i].takes)
            fail_msg("%u images of %u x %u: %d", CASE[i].images, CASE[i].w, CASE[i].h, took);
    }
    assert_int_equal(choose(NULL, 9, 10000, 6000, f, &e), BIG);
    assert_int_equal(e.code, ERR_NONE);
    assert_false(f[SMALL].possible);
    assert_non_null(strstr(f[SMALL].why, "--vram-limit"));
}

/* Without a card the CPU does all, and where a list leaves it out, a GPU of the host's memory comes
 * before software. The work of a tile is that of its image. */
TEST(test_other_machines) {
    device_list l;
    device_forecast f[DEVICES];
    machine(&l);
    l.device[BIG].discrete = l.device[SMALL].discrete = false;
    device_request r = {.want = "auto", .images = 1000, .ask = request(1920, 1080, 256)};
    assert_int_equal(device_choose(f, &l, &r, &e), CPU);
    r.want = "software,gpu";
    assert_int_equal(device_choose(f, &l, &r, &e), BIG);
    machine(&l);
    r.want = "auto";
    r.images = 1;
    assert_int_equal(device_choose(f, &l, &r, &e), CPU);
    r.pixels = 64.0 * 1920 * 1080;
    assert_int_equal(device_choose(f, &l, &r, &e), BIG);
}

TEST(test_memory_limit_and_reasons) {
    device_list l;
    device_forecast f[DEVICES];
    machine(&l);
    device_request r = {.want = "gpu", .vram_limit = 1 << 20, .ask = request(4000, 2000, 512)};
    assert_int_equal(device_choose(f, &l, &r, &e), -1);
    assert_true(e.code != ERR_NONE);
    assert_non_null(strstr(e.msg, "Acme Titan 9000"));
    assert_non_null(strstr(e.msg, "Acme Mini"));
    assert_null(strstr(e.msg, "Some CPU"));
    r.want = "auto"; /* the limit is for devices: the CPU has no plan on a device */
    e = (err){0};
    assert_int_equal(device_choose(f, &l, &r, &e), CPU);
}

/* The decision is the one that was forecast, for every way. */
TEST(test_decision_is_the_forecast) {
    static const char *const WANT[] = {"auto", "all", "cpu", "gpu", "software", "mini"};
    device_forecast f[DEVICES];
    for (size_t i = 0; i < 2 * COUNT(WANT); i++) {
        device_list l;
        device_decision d;
        machine(&l);
        device_request r = {
            .want = WANT[i / 2], .images = i % 2 ? 1 : 1000, .ask = request(320, 200, 16)};
        device_decide(&d, &l, &r);
        for (device_way way = 0; way < DEVICE_WAYS; way++) {
            r.ask.precision = way == WAY_FLOAT64 ? PRECISION_FLOAT64 : PRECISION_FLOAT32;
            int best = device_choose(f, &l, &r, &e);
            const device_choice *c = &d.way[way];
            assert_true(c->possible && c->device.number == best);
            assert_memory_equal(&c->plan, &f[best].plan, sizeof c->plan);
            assert_int_equal(c->plan.sample_bytes, way == WAY_FLOAT64 ? 8 : 4);
        }
    }
}

/* A device without doubles leaves them to another one, or says so. */
TEST(test_decision_without_doubles) {
    device_list l;
    device_decision d;
    machine(&l);
    l.device[BIG].limits.float64 = l.device[SMALL].limits.float64 = false;
    device_request r = {.want = "gpu", .images = 1000, .ask = request(1280, 720, 256)};
    device_decide(&d, &l, &r);
    assert_true(d.way[WAY_FLOAT32].possible && !d.way[WAY_FLOAT64].possible);
    assert_non_null(strstr(d.way[WAY_FLOAT64].why.msg, "64-bit floats"));
    r.want = "auto";
    device_decide(&d, &l, &r);
    assert_int_equal(d.way[WAY_FLOAT32].device.number, BIG);
    assert_int_equal(d.way[WAY_FLOAT64].device.number, CPU);
}

/* A run that is too short for a GPU needs no list of GPUs, and gets none. */
TEST(test_drivers_are_not_loaded_in_vain) {
    device_list l = {.count = 0};
    device_decision d;
    device_request r = {.want = "auto", .images = 63, .ask = request(1920, 1080, 16)};
    device_decide(&d, &l, &r);
    assert_int_equal(l.listed, DEVICES_CPU);
    assert_int_equal(d.way[WAY_FLOAT32].device.class, ENGINE_CPU);
    r.want = "cpu";
    r.images = 100000;
    device_decide(&d, &l, &r);
    assert_int_equal(l.listed, DEVICES_CPU);
    r.want = "auto";
    device_decide(&d, &l, &r);
    assert_int_equal(l.listed, DEVICES_ALL);
}

RUN_TESTS(NULL, NULL)
