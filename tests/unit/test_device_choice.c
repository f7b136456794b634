/* test_device_choice.c - which device is taken, from tables of devices and speeds: no device is
 * touched. */
#include "device/device_choice.h"

#include "unit/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- a machine ------------------------------------------------------------------------------ */

enum { BIG, SMALL, CPU, SOFTWARE, DEVICES };

static const plan_limits GPU_LIMITS = {.invocations = 1024,
                                       .shared_bytes = 49152,
                                       .groups = {65535, 65535, 65535},
                                       .buffer_range = UINT64_C(4) << 30,
                                       .memory = UINT64_C(8) << 30,
                                       .float64 = true};

static void machine(engine_device d[DEVICES], device_speed s[DEVICES]) {
    memset(d, 0, DEVICES * sizeof *d);
    d[BIG] = (engine_device){.class = ENGINE_GPU,
                             .name = "Acme Titan 9000",
                             .driver = "acme 1",
                             .uuid = {0xde, 0xad, 0xbe, 0xef, [15] = 0x01},
                             .limits = GPU_LIMITS};
    d[SMALL] = d[BIG];
    snprintf(d[SMALL].name, ENGINE_NAME, "Acme Mini");
    d[SMALL].uuid[0] = 0x11;
    d[SMALL].limits.memory = 64 << 20;
    d[CPU] = (engine_device){.class = ENGINE_CPU, .name = "Some CPU", .driver = "fftw"};
    d[SOFTWARE] = (engine_device){
        .class = ENGINE_SOFTWARE, .name = "llvmpipe", .uuid = {9}, .limits = GPU_LIMITS};
    for (int i = 0; i < DEVICES; i++) s[i] = device_speed_default(d[i].class, 2);
    s[BIG].work /= 10;
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
    engine_device d[DEVICES];
    device_speed s[DEVICES];
    machine(d, s);
    device_wish wish = {.want = want, .images = images};
    plan_request ask = request(w, h, 256);
    return device_choose(f, &wish, d, s, DEVICES, &ask, e);
}

/* --- what is wanted ------------------------------------------------------------------------- */

static void test_exact_wishes(void **state) {
    (void)state;
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
    for (size_t i = 0; i < sizeof CASE / sizeof CASE[0]; i++) {
        err e = {0};
        int took = choose(CASE[i].want, 1, 200, 200, f, &e);
        if (took != CASE[i].takes)
            fail_msg("'%s' took %d, not %d: %s", CASE[i].want, took, CASE[i].takes, e.msg);
        assert_int_equal(f[took].wanted && f[took].possible, true);
    }
}

static void test_unknown_wishes_say_what_there_is(void **state) {
    (void)state;
    static const char *const WANT[] = {"4", "nothing", "ti", "deadbeef", "00000000", "-1", "1x"};
    device_forecast f[DEVICES];
    for (size_t i = 0; i < sizeof WANT / sizeof WANT[0]; i++) {
        err e = {0};
        assert_int_equal(choose(WANT[i], 1, 200, 200, f, &e), -1);
        assert_int_equal(e.code, ERR_NO_DEVICE);
        assert_non_null(strstr(e.msg, WANT[i]));
        assert_non_null(strstr(e.msg, "1 'Acme Mini' (gpu)"));
    }
}

static void test_no_device_at_all(void **state) {
    (void)state;
    err e = {0};
    plan_request ask = request(100, 100, 16);
    device_wish wish = {0};
    assert_int_equal(device_choose(NULL, &wish, NULL, NULL, 0, &ask, &e), -1);
    assert_int_equal(e.code, ERR_NO_DEVICE);
    assert_non_null(strstr(e.msg, "mesa-vulkan-drivers"));
}

/* --- the least time ------------------------------------------------------------------------- */

static void test_one_image_is_for_the_cpu_and_a_sequence_for_the_gpu(void **state) {
    (void)state;
    device_forecast f[DEVICES];
    err e = {0};
    assert_int_equal(choose("auto", 1, 1280, 720, f, &e), CPU);
    assert_int_equal(choose(NULL, 0, 1280, 720, f, &e), CPU);
    assert_int_equal(choose("auto", 500, 1280, 720, f, &e), BIG);
    assert_int_equal(choose("auto", 1, 10000, 6000, f, &e), BIG); /* too large for the small one */
    assert_int_equal(e.code, ERR_NONE);
    assert_false(f[SMALL].possible);
    assert_non_null(strstr(f[SMALL].why, "--vram-limit"));
}

/* Whatever is taken, nothing that is possible is predicted to be faster; and more images never
 * take less time. */
static void test_least_predicted_time(void **state) {
    (void)state;
    device_forecast f[DEVICES];
    for (uint32_t w = 16; w < 6000; w = w * 5 / 3) {
        double before[DEVICES] = {0};
        for (uint32_t images = 1; images < 2000; images *= 7) {
            err e = {0};
            int took = choose("auto", images, w, w / 2, f, &e);
            assert_true(took >= 0);
            for (int i = 0; i < DEVICES; i++) {
                if (!f[i].possible) continue;
                CHECK_LE(f[took].time.all, f[i].time.all);
                CHECK_LE(before[i], f[i].time.all);
                CHECK_LE(f[i].time.start + f[i].time.image, f[i].time.all);
                before[i] = f[i].time.all;
            }
        }
    }
}

static void test_memory_limit_and_reasons(void **state) {
    (void)state;
    engine_device d[DEVICES];
    device_speed s[DEVICES];
    device_forecast f[DEVICES];
    machine(d, s);
    plan_request ask = request(4000, 2000, 512);
    device_wish wish = {.want = "gpu", .vram_limit = 1 << 20};
    err e = {0};
    assert_int_equal(device_choose(f, &wish, d, s, DEVICES, &ask, &e), -1);
    assert_true(e.code != ERR_NONE);
    assert_non_null(strstr(e.msg, "Acme Titan 9000"));
    assert_non_null(strstr(e.msg, "Acme Mini"));
    assert_null(strstr(e.msg, "Some CPU"));
    wish.want = "auto"; /* the limit is for devices: the CPU has no plan on a device */
    e = (err){0};
    assert_int_equal(device_choose(f, &wish, d, s, DEVICES, &ask, &e), CPU);
}

/* --- speeds that were measured ---------------------------------------------------------------- */

static void write_at(const char *dir, const char *content) {
    char command[512];
    snprintf(command, sizeof command, "for f in %s/device-speed-*; do printf '%s' > $f; done", dir,
             content);
    assert_int_equal(system(command), 0);
}

static void test_speeds_are_kept_per_device(void **state) {
    (void)state;
    engine_device d[DEVICES];
    device_speed s[DEVICES], mine = {0.125, 0.25, 1e-9, 2e-10, false};
    machine(d, s);
    char dir[] = "/tmp/fftbloom-speed-XXXXXX", command[64];
    assert_non_null(mkdtemp(dir));
    err e = {0};
    CHECK_OK(device_speed_save(&d[CPU], 2, &mine, dir, &e), e);
    device_speed got = device_speed_load(&d[CPU], 2, dir);
    assert_true(got.measured);
    assert_true(got.start == 0.125 && got.frame == 0.25 && got.transfer == 1e-9 &&
                got.work == 2e-10);
    assert_false(device_speed_load(&d[CPU], 3, dir).measured); /* another number of cores */
    assert_false(device_speed_load(&d[BIG], 2, dir).measured);
    assert_false(device_speed_load(&d[CPU], 2, NULL).measured);

    static const char *const BROKEN[] = {
        "",
        "fftbloom device speed 2\\n",
        "fftbloom device speed 1\\nstart 1\\nframe 1\\ntransfer 1\\n",
        "fftbloom device speed 1\\nstart 1\\nframe 1\\ntransfer 1\\nwork -1\\n",
        "fftbloom device speed 1\\nstart 1\\nframe nan\\ntransfer 1\\nwork 1\\n",
        "fftbloom device speed 1\\nstart 1\\nframe 1e300\\ntransfer 1\\nwork 1\\n",
        "fftbloom device speed 1\\nstart 1\\nframe 1\\ntransfer 1\\nwork 1x\\n",
    };
    device_speed preset = device_speed_default(ENGINE_CPU, 2);
    for (size_t i = 0; i < sizeof BROKEN / sizeof BROKEN[0]; i++) {
        write_at(dir, BROKEN[i]);
        got = device_speed_load(&d[CPU], 2, dir);
        assert_false(got.measured);
        assert_true(got.work == preset.work && got.start == preset.start);
    }
    snprintf(command, sizeof command, "rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_wishes),
        cmocka_unit_test(test_unknown_wishes_say_what_there_is),
        cmocka_unit_test(test_no_device_at_all),
        cmocka_unit_test(test_one_image_is_for_the_cpu_and_a_sequence_for_the_gpu),
        cmocka_unit_test(test_least_predicted_time),
        cmocka_unit_test(test_memory_limit_and_reasons),
        cmocka_unit_test(test_speeds_are_kept_per_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
