/* test_halfs.c - images whose samples are halfs, and travel to the device as such: as close to the
 * direct sum as other images, and the same bits as when they travel as floats. */
#include "gpu/pipeline.h"

static void run_on(const pipe_case *c, const engine_device *d, engine *g) {
    pipe_result r[2];
    for (int told = 0; told < 2; told++) {
        pipe_case one = *c;
        char what[512];
        one.samples = told ? PIPE_HALFS_TOLD : PIPE_HALFS;
        if (!pipe_run(&r[told], &one, g, d, &e)) fail_msg("%s: %s", d->name, e.msg);
        if (!(r[told].relative_l2 <= r[told].bound) || !(r[told].worst <= 10 * r[told].bound))
            fail_msg("%s: halfs, scale %g: %s", d->name, c->scale, pipe_text(&one, &r[told], what));
    }
    const plan *p = &r[1].p;
    uint32_t times = p->sample_bytes / 2; /* as many bytes as an image of halfs has the result */
    assert_int_equal(p->input_bytes, d->class != ENGINE_CPU ? p->image_bytes / times : 0);
    assert_true(r[0].p.input_bytes == 0 || p->sample_bytes == 8);
    if (memcmp(&r[0].bits, &r[1].bits, sizeof r[0].bits) != 0)
        fail_msg("%s: %ux%u: halfs make other bits than floats", d->name, c->w, c->h);
}

static void run_all(const pipe_case *c, size_t count, uint32_t some) {
    if (!devices) skip();
    for (uint32_t i = 0; i < devices; i++)
        if (!pipe_on(&device[i], threads, c, count, some, run_on, &e))
            fail_msg("%s: %s", device[i].name, e.msg);
}

/* Long rows, which go by themselves. */
TEST(rows_alone) {
    pipe_case c[BORDERS];
    for (uint32_t i = 0; i < BORDERS; i++)
        c[i] = (pipe_case)PIPE(130 + 3 * i, 15, 9, 8, 2, 7, .border = {i, BORDERS - 1 - i},
                               .order = AXIS_X, .channels = 1, .spectra = 1, .gain = 1,
                               .tapless = true, .shrink = {.shared_bytes = 1024});
    run_all(c, COUNT(c), 7);
}

/* Chunks of channels; small workgroups; the smallest image; float64, where
 * doubles travel back; copies by the device. */
TEST(shapes) {
    const pipe_case like = PIPE(97, 61, 17, 13, 3, 12, .border = {BORDER_WRAP, BORDER_MIRROR},
                                .order = AXIS_X, .channels = 3, .spectra = 1, .gain = 1,
                                .tapless = true);
    pipe_case c[] = {like, like, like, like, like, like};
    c[0].shrink = (plan_limits){.buffer_range = 80000};
    c[1].shrink = (plan_limits){.invocations = 32, .shared_bytes = 1024};
    c[2].shrink = (plan_limits){.invocations = 16, .shared_bytes = 1024};
    c[2].order = AXIS_Y;
    c[3].w = c[3].h = 1;
    c[4].precision = PRECISION_FLOAT64;
    c[5].shrink = (plan_limits){.buffer_range = 80000};
    c[5].staged = true;
    run_all(c, COUNT(c), 1);
}

/* All samples subnormal, and up to the largest. */
TEST(extremes) {
    pipe_case c[2];
    for (int i = 0; i < 2; i++)
        c[i] = (pipe_case)PIPE(31, 17, 7, 4, 3, 2, .order = i % 2 ? AXIS_X : AXIS_Y, .channels = 1,
                               .spectra = 1, .gain = 1, .tapless = true, .zero_mean = true,
                               .scale = i ? 0x1p-14 : 2 * 65504);
    run_all(c, COUNT(c), 1);
}

static plan_request small(const engine_device *d) {
    const pipe_case c = PIPE(5, 3, 3, 3, 1, 1, .channels = 1, .spectra = 1, .tapless = true,
                             .samples = PIPE_HALFS_TOLD);
    return pipe_request(&c, d);
}

/* A device that has no room for two frames in flight gets one. */
TEST(little_memory) {
    plan p;
    engine_device d = {.class = ENGINE_GPU,
                       .limits = {.invocations = 1024,
                                  .shared_bytes = 32768,
                                  .groups = {65535, 65535, 65535},
                                  .buffer_range = UINT64_C(1) << 30}};
    plan_request ask = small(&d);
    CHECK_OK(plan_make(&p, &ask, &e));
    uint64_t frame = p.image_bytes + p.input_bytes + p.total_bytes;
    uint64_t all = frame + p.scratch_bytes + p.spectrum_bytes + p.twiddle_bytes;
    assert_int_equal(p.input_bytes * 2, p.image_bytes);
    assert_int_equal(p.pass[0].bytes, p.input_bytes + p.scratch_bytes);
    assert_int_equal(p.pass[2].bytes, p.input_bytes + p.image_bytes + p.scratch_bytes);
    assert_int_equal(plan_bytes_up(&p), p.input_bytes);
    assert_int_equal(plan_bytes_down(&p), p.image_bytes + p.total_bytes);
    assert_int_equal(p.frames, 1);
    ask.frames = 2;
    ask.limits.memory = all + frame;
    CHECK_OK(plan_make(&p, &ask, &e));
    assert_int_equal(p.frames, 2);
    ask.limits.memory--;
    CHECK_OK(plan_make(&p, &ask, &e));
    assert_int_equal(p.frames, 1);
    ask.limits.memory = all;
    CHECK_OK(plan_make(&p, &ask, &e));
    ask.limits.memory = all - 1;
    assert_false(plan_make(&p, &ask, &e));
}

RUN_TESTS(pipe_begin, pipe_end)
