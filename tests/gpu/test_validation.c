/* test_validation.c - a message of the validation layer fails a run; the other GPU tests rely on
 * that. And one pipeline runs under GPU-assisted validation, which checks every access of the
 * shaders to their buffers, where the driver supports it. */
#include "gpu/pipeline.h"
#include "unit/check.h"

#include "base/log.h"
#include "base/par.h"

#include <unistd.h>

static uint32_t vulkan_devices(const char *validation) {
    engine_device all[ENGINE_DEVICES];
    setenv("FFTBLOOM_VALIDATION", validation, 1);
    uint32_t n = engine_devices(all, ENGINE_DEVICES);
    devices = 0;
    for (uint32_t i = 0; i < n; i++)
        if (all[i].class != ENGINE_CPU) device[devices++] = all[i];
    return devices;
}

/* Short lines: an instrumented shader takes a software device long to compile. */
static const pipe_case SMALL = PIPE(8, 6, 5, 4, 2, 1, .border = {BORDER_WRAP, BORDER_WRAP},
                                    .order = AXIS_X, .channels = 1, .spectra = 1, .gain = 0.5);

/* A frame of zeros; with `groups`, through a plan with that many workgroups in its first pass.
 * Those too many find nothing to do, so all that is wrong is what the device's limit says of them.
 */
static bool run_with_groups(uint32_t groups, err *e) {
    plan p;
    plan_request ask = pipe_request(&SMALL, &device[0]);
    CHECK_OK(plan_make(&p, &ask, e), *e);
    if (groups) p.pass[0].groups[0] = groups;
    OWN_HEAP float *plane = calloc((size_t)SMALL.w * SMALL.h, sizeof *plane);
    OWN(spectrum_lines) lines = pipe_lines(&p, 1);
    void *out[] = {plane};
    const double one[] = {1};
    const join how = join_plain(1, one, one);
    engine_frame f = {.in = (const void *const *)out, .out = out, .join = &how};
    engine_options o = {.slots = 1};
    OPEN(engine) *g = engine_open(&device[0], threads, NULL, e);
    return g && engine_prepare(g, &p, &lines, &o, e) && engine_run(g, &f, NULL, e);
}

/* The same with what it says on stderr in `said`: the message is wanted here. */
static bool run_quietly(uint32_t groups, char *said, size_t room, err *e) {
    FILE *file = tmpfile();
    assert_non_null(file);
    int old = dup(STDERR_FILENO);
    fflush(stderr);
    dup2(fileno(file), STDERR_FILENO);
    bool ok = run_with_groups(groups, e);
    fflush(stderr);
    dup2(old, STDERR_FILENO);
    close(old);
    rewind(file);
    said[fread(said, 1, room - 1, file)] = 0;
    fclose(file);
    return ok;
}

TEST(a_message_fails_the_run) {
    if (!vulkan_devices("1")) skip();
    char said[4096];
    CHECK_OK(run_with_groups(0, &e));
    bool ok = run_quietly(device[0].limits.groups[0] + 1, said, sizeof said, &e);
    assert_false(ok);
    assert_non_null(strstr(said, "vkCmdDispatch-groupCountX-00386"));
    assert_int_equal(e.code, ERR_INTERNAL);
    assert_non_null(strstr(e.msg, "from the Vulkan validation layer"));
}

TEST(gpu_assisted) {
    if (!vulkan_devices("gpu")) skip();
    for (uint32_t i = 0; i < devices; i++) {
        pipe_result r;
        OPEN(engine) *g = engine_open(&device[i], threads, NULL, &e);
        if (!g) fail_msg("%s: %s", device[i].name, e.msg);
        CHECK_OK(pipe_run(&r, &SMALL, g, &device[i], &e));
        CHECK_LE(r.relative_l2, r.bound);
    }
}

TEST(the_layer_is_missing) {
    engine_device all[ENGINE_DEVICES];
    const char *path = getenv("VK_LAYER_PATH");
    if (!vulkan_devices("0")) skip();
    setenv("VK_LAYER_PATH", "/nowhere", 1);
    assert_int_equal(vulkan_devices("1"), 0);
    uint32_t n = pipe_devices(all), found = 0;
    for (uint32_t i = 0; i < n; i++) found += all[i].class != ENGINE_CPU;
    assert_string_equal(getenv("FFTBLOOM_VALIDATION"), "0");
    assert_int_equal(found, vulkan_devices("0"));
    if (path)
        setenv("VK_LAYER_PATH", path, 1);
    else
        unsetenv("VK_LAYER_PATH");
}

/* A spectrum that the plan does not fit is refused before the device reads beyond its end. */
TEST(a_spectrum_of_another_size) {
    engine_device all[ENGINE_DEVICES];
    uint32_t n = engine_devices(all, ENGINE_DEVICES);
    for (uint32_t i = 0; i < n; i++) {
        plan p;
        plan_request ask = pipe_request(&SMALL, &all[i]);
        CHECK_OK(plan_make(&p, &ask, &e));
        OWN(spectrum_lines) right = pipe_lines(&p, 1);
        spectrum_lines wrong[4] = {right, right, right, right};
        wrong[0].halves--;
        wrong[1].length--;
        wrong[2].channels++;
        wrong[3].float64 = true;
        OPEN(engine) *g = engine_open(&all[i], threads, NULL, &e);
        if (!g) fail_msg("%s: %s", all[i].name, e.msg);
        for (int k = 0; k < 4; k++) {
            CHECK_REFUSED(engine_prepare(g, &p, &wrong[k], NULL, &e), ERR_INTERNAL,
                          "the kernel's spectrum is");
            e = (err){0};
        }
    }
}

static void to_stderr(log_level level, const char *said) {
    fprintf(stderr, "%d: %s\n", (int)level, said);
}

int main(void) {
    log_set_writer(to_stderr);
    threads = par_open(2, NULL);
    int failed = check_run(NULL, NULL);
    par_close(&threads);
    return failed;
}
