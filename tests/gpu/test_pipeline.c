/* test_pipeline.c - the pipeline against the direct sum, the same cases on every device here:
 * sizes, borders, centres, axis orders, precisions, splits. Validation and synchronisation
 * validation are on; a message fails the case. */
#include "gpu/pipeline.h"
#include "unit/check.h"

#include "base/par.h"

static engine_device device[ENGINE_DEVICES];
static uint32_t devices;
static par *threads;

static void run_on(const pipe_case *c, const engine_device *d, engine *g) {
    pipe_result r;
    err e = {0};
    char what[512];
    if (!pipe_run(&r, c, g, d, &e))
        fail_msg("%s: %ux%u kernel %ux%u: %s", d->name, c->w, c->h, c->kw, c->kh, e.msg);
    if (!(r.relative_l2 <= r.bound) || !(r.worst <= 10 * r.bound))
        fail_msg("%s: %s", d->name, pipe_text(c, &r, what));
}

static void run_all(const pipe_case *c, size_t count) {
    if (!devices) skip();
    for (uint32_t i = 0; i < devices; i++) {
        err e = {0};
        engine *g = engine_open(&device[i], threads, NULL, &e);
        if (!g) fail_msg("%s: %s", device[i].name, e.msg);
        for (size_t k = 0; k < count; k++)
            if (c[k].precision != PRECISION_FLOAT64 || device[i].class == ENGINE_CPU ||
                device[i].limits.float64)
                run_on(&c[k], &device[i], g);
        engine_close(&g);
    }
}

#define RUN(list) run_all(list, sizeof(list) / sizeof((list)[0]))

static void sizes(void **state) {
    (void)state;
    static const uint32_t SIZE[][2] = {{1, 1},   {2, 1},   {1, 7},   {3, 2},  {5, 5},
                                       {16, 16}, {31, 17}, {66, 10}, {97, 61}};
    pipe_case c[18];
    for (int i = 0; i < 18; i++) {
        const uint32_t *s = SIZE[i / 2];
        c[i] = (pipe_case){.w = s[0],
                           .h = s[1],
                           .kw = 7,
                           .kh = 4,
                           .cx = 3,
                           .cy = 2,
                           .order = i % 2 ? AXIS_Y : AXIS_X,
                           .channels = 1 + i % 3,
                           .spectra = 1,
                           .gain = 1};
    }
    RUN(c);
}

static void borders(void **state) {
    (void)state;
    pipe_case c[BORDERS * BORDERS];
    for (int i = 0; i < BORDERS * BORDERS; i++)
        c[i] = (pipe_case){.w = 22,
                           .h = 30,
                           .kw = 11,
                           .kh = 8,
                           .cx = 2,
                           .cy = 7,
                           .border = {i / BORDERS, i % BORDERS},
                           .order = i % 2 ? AXIS_X : AXIS_Y,
                           .channels = 3,
                           .spectra = i % 2 ? 3 : 1,
                           .gain = 0.7};
    RUN(c);
}

/* Kernels larger than the image, and much larger: mirrored and wrapped many times. */
static void kernels(void **state) {
    (void)state;
    const pipe_case c[] = {
        {5, 3, 40, 1, 11, 0, {BORDER_MIRROR, BORDER_ZERO}, AXIS_X, 0, 1, 1, 1, {0}},
        {5, 3, 1, 40, 0, 39, {BORDER_CLAMP, BORDER_MIRROR}, AXIS_Y, 0, 1, 1, 1, {0}},
        {6, 10, 31, 33, 15, 16, {BORDER_WRAP, BORDER_WRAP}, AXIS_Y, 0, 3, 1, 1, {0}},
        {11, 13, 31, 33, 0, 32, {BORDER_WRAP, BORDER_WRAP}, AXIS_X, 0, 3, 3, 1, {0}},
        {40, 40, 1, 1, 0, 0, {BORDER_ZERO, BORDER_ZERO}, AXIS_X, 0, 1, 1, 0.5, {0}},
        {64, 48, 31, 17, 0, 0, {BORDER_ZERO, BORDER_ZERO}, AXIS_X, 0, 2, 2, 1, {0}},
        {64, 48, 31, 17, 30, 16, {BORDER_ZERO, BORDER_ZERO}, AXIS_Y, 0, 2, 2, 0, {0}},
    };
    RUN(c);
}

static void doubles(void **state) {
    (void)state;
    const pipe_case c[] = {
        {33, 21, 9, 5, 4, 2, {BORDER_ZERO, BORDER_ZERO}, AXIS_X, PRECISION_FLOAT64, 3, 1, 1, {0}},
        {33,
         21,
         9,
         5,
         4,
         2,
         {BORDER_MIRROR, BORDER_CLAMP},
         AXIS_Y,
         PRECISION_FLOAT64,
         3,
         3,
         0.3,
         {0}},
    };
    RUN(c);
}

/* Small workgroups and little shared memory make long lines split; a small buffer range makes
 * channels go one by one. */
static void splits(void **state) {
    (void)state;
    const pipe_case c[] = {
        {97,
         61,
         17,
         13,
         3,
         12,
         {BORDER_WRAP, BORDER_MIRROR},
         AXIS_X,
         0,
         3,
         1,
         0.7,
         {.invocations = 16, .shared_bytes = 512}},
        {97,
         61,
         17,
         13,
         3,
         12,
         {BORDER_CLAMP, BORDER_MIRROR},
         AXIS_Y,
         0,
         3,
         3,
         0.7,
         {.invocations = 8, .shared_bytes = 512}},
        {131,
         127,
         17,
         13,
         8,
         6,
         {BORDER_ZERO, BORDER_ZERO},
         AXIS_AUTO,
         0,
         3,
         3,
         1,
         {.invocations = 8, .shared_bytes = 512}},
        {97,
         61,
         17,
         13,
         3,
         12,
         {BORDER_CLAMP, BORDER_MIRROR},
         AXIS_Y,
         0,
         3,
         3,
         0.7,
         {.buffer_range = 80000}},
        {97,
         61,
         17,
         13,
         8,
         6,
         {BORDER_ZERO, BORDER_ZERO},
         AXIS_X,
         PRECISION_FLOAT64,
         2,
         1,
         1,
         {.invocations = 16, .shared_bytes = 1024}},
        {120,
         90,
         17,
         13,
         8,
         6,
         {BORDER_ZERO, BORDER_ZERO},
         AXIS_X,
         0,
         2,
         1,
         1,
         {.invocations = 12}},
    };
    RUN(c);
}

/* Every length the planner can choose up to 256, and a sample beyond: wrapped lines of that length,
 * so that none is passed over, 2 lines of it and 2 kernel taps. */
static void every_length(void **state) {
    (void)state;
    pipe_case c[200];
    size_t n = 0;
    for (uint32_t l = 2; l <= 4096 && n < 200; l += l < 32 ? 1 : l < 256 ? l / 8 : l / 3) {
        uint32_t m = l, prime[] = {2, 3, 5, 7};
        for (int i = 0; i < 4; i++)
            while (m % prime[i] == 0) m /= prime[i];
        if (m != 1) continue;
        c[n++] = (pipe_case){.w = n % 2 ? l : 4,
                             .h = n % 2 ? 4 : l,
                             .kw = 3,
                             .kh = 2,
                             .cx = 1,
                             .cy = 1,
                             .border = {BORDER_WRAP, BORDER_WRAP},
                             .order = n % 4 < 2 ? AXIS_X : AXIS_Y,
                             .channels = 1,
                             .spectra = 1,
                             .gain = 1};
    }
    run_all(c, n);
}

int main(void) {
    setenv("FFTBLOOM_VALIDATION", "1", 0);
    devices = engine_devices(device, ENGINE_DEVICES);
    threads = par_open(0, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),   cmocka_unit_test(borders), cmocka_unit_test(kernels),
        cmocka_unit_test(doubles), cmocka_unit_test(splits),  cmocka_unit_test(every_length),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    par_close(&threads);
    return failed;
}
