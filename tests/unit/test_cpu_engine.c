/* test_cpu_engine.c - what the CPU engine has of its own: planes that are worked on in place,
 * frames in several slots, passes cut into pieces for any number of threads.
 * test_pipeline has it among its devices, too. */
#include "engine/cpu/cpu_passes.h"
#include "gpu/pipeline.h"

static engine *open_cpu(engine_device *d) {
    *d = (engine_device){.class = ENGINE_CPU};
    assert_int_equal(ENGINE_KIND_CPU.devices(d, 1), 1);
    assert_int_equal(d->class, ENGINE_CPU);
    assert_true(d->name[0] && strstr(d->driver, "lanes"));
    engine *g = MADE(engine_open(d, threads, NULL, &e));
    return g;
}

static hash128 check_on(engine *g, const engine_device *d, pipe_case c) {
    pipe_result r;
    char what[512];
    if (!c.channels) c.channels = 1;
    if (!c.spectra) c.spectra = 1;
    c.gain = 0.7;
    CHECK_OK(pipe_run(&r, &c, g, d, &e));
    if (!(r.relative_l2 <= r.bound) || !(r.worst <= 10 * r.bound))
        fail_msg("%s", pipe_text(&c, &r, what));
    return r.bits;
}

static hash128 check(pipe_case c) {
    engine_device d;
    engine *g = open_cpu(&d);
    hash128 bits = check_on(g, &d, c);
    engine_close(&g);
    assert_null(g);
    return bits;
}

TEST(in_place_in_slots_and_in_pieces) {
    static const pipe_case CASE[] = {
        PIPE(51, 35, 6, 6, 3, 3, .channels = 2, .border = {BORDER_MIRROR, BORDER_WRAP},
             .in_place = true),
        PIPE(40, 50, 6, 6, 3, 3, .slots = 3, .in_place = true),
        PIPE(301, 203, 11, 14, 5, 7),
    };
    for (size_t i = 0; i < COUNT(CASE); i++)
        for (int k = 0; k < 4; k++) {
            pipe_case c = CASE[i];
            c.order = k & 1 ? AXIS_Y : AXIS_X;
            c.precision = k & 2 ? PRECISION_FLOAT64 : PRECISION_FLOAT32;
            check(c);
        }
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
TEST(pieces_follow_the_threads) {
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
    for (size_t i = 0; i < COUNT(CASE); i++) {
        size_t n = CASE[i].threads;
        cpu_cut cut = cpu_cut_of(CASE[i].pieces, n);
        assert_int_equal(2 * cut.wide + cut.narrow, 2 * CASE[i].pieces);
        assert_true(cut.wide % n == 0 || cut.narrow == 0);
        CHECK_LE(fabs(time_of((cpu_cut){CASE[i].pieces, 0}, n) - CASE[i].uncut), 1e-9);
        CHECK_LE(fabs(time_of(cut, n) - CASE[i].cut), 1e-9);
    }
}

/* Passes are cut into other pieces for each of these numbers. */
TEST(any_number_of_threads_makes_the_same_bytes) {
    par *three = threads;
    for (int i = 0; i < 4; i++) {
        const pipe_case c = PIPE(150, 101, 9, 12, 4, 5, .order = i & 1 ? AXIS_Y : AXIS_X,
                                 .precision = i & 2 ? PRECISION_FLOAT64 : PRECISION_FLOAT32);
        hash128 first = {0};
        for (int n = 1; n <= 17; n += n < 5 ? 1 : 6) {
            assert_non_null(threads = par_open(n, NULL));
            hash128 made = check(c);
            par_close(&threads);
            if (n == 1) first = made;
            assert_memory_equal(&first, &made, sizeof first);
        }
    }
    threads = three;
}

/* A prepared engine takes another plan; a slot that is not there is refused. */
TEST(prepared_again_and_refused) {
    engine_device d;
    OPEN(engine) *g = open_cpu(&d);
    engine_frame f = {0};
    for (uint32_t i = 0; i < 2; i++) check_on(g, &d, (pipe_case)PIPE(9 + 20 * i, 8, 3, 3, 1, 1));
    CHECK_REFUSED(engine_submit(g, 7, &f, &e), ERR_INTERNAL, "");
}

FIXTURE(start) {
    threads = par_open(3, NULL);
    return !threads;
}

FIXTURE(stop) {
    par_close(&threads);
    return 0;
}

RUN_TESTS(start, stop)
