/* test_plan.c - the planner, exhaustively: no plan wraps light around, breaks a limit of its
 * device, or overflows; and every request is met or refused with a sentence. */
#include "math/lengths.h"
#include "unit/check.h"
#include "unit/make_image.h"
#include "unit/reference.h"

/* The limits that Vulkan guarantees for every device, those of two real ones, and the CPU
 * engine. */
static const plan_limits LIMITS[] = {
    {.invocations = 128,
     .shared_bytes = 16384,
     .groups = {65535, 65535, 65535},
     .buffer_range = 1u << 27},
    {.invocations = 1024,
     .shared_bytes = 32768,
     .groups = {65535, 65535, 65535},
     .buffer_range = 1u << 27},
    {.invocations = 1024,
     .shared_bytes = 49152,
     .groups = {0x7fffffff, 65535, 65535},
     .buffer_range = 0xffffffffu,
     .float64 = true},
    {.invocations = 1024,
     .shared_bytes = 65536,
     .groups = {0x7fffffff, 65535, 65535},
     .buffer_range = 0xffffffffu},
    {0},
};
enum { KINDS_OF_LIMITS = COUNT(LIMITS) };

static uint64_t seed = 1;

static void check_fft(const plan_fft *f, uint32_t length) {
    uint64_t product = 1;
    assert_in_range(f->stages, 1, PLAN_STAGES);
    for (uint32_t s = 0; s < f->stages; s++) {
        assert_in_range(f->radix[s], 2, PLAN_MAX_RADIX);
        product *= f->radix[s];
    }
    assert_int_equal(product, length);
    assert_int_equal(f->length, length);
}

/* Light that leaves the image at one end of the circle must not come back at the other: for each
 * pixel, each tap reads what the border says, by the definition. */
static void check_axis(const plan_axis *a) {
    assert_true(length_is_smooth(a->length));
    assert_true(a->length >= 2);
    int64_t n = a->extent, l = a->length;
    if (a->border == BORDER_ZERO) {
        assert_true(l >= n + a->before && l >= n + a->after);
    } else if (!(a->border == BORDER_WRAP && l == n)) {
        assert_true(l >= n + a->before + a->after);
        assert_true(a->split >= n + a->after && l - a->split >= a->before);
    }
}

/* What no tap needs is zero: light there would only add to the transform's rounding. */
static void check_rest(const plan_axis *a) {
    if (a->border == BORDER_ZERO || a->length == a->extent) return;
    for (uint32_t i = a->split; i < a->length - a->before; i++)
        assert_int_equal(plan_source(a, i), -1);
}

/* The same by brute force, on small axes. */
static void check_circle(const plan_axis *a) {
    int64_t n = a->extent, l = a->length;
    for (int64_t p = 0; p < n; p++)
        for (int64_t d = -(int64_t)a->after; d <= a->before; d++) {
            int64_t c = p - d, want = reference_source(c, a->extent, a->border);
            int64_t got = plan_source(a, (uint32_t)(((c % l) + l) % l));
            if (got != want)
                fail_msg("%s: pixel %d tap %d of %u, length %u: reads %d, not %d",
                         plan_border_name(a->border), (int)p, (int)d, a->extent, a->length,
                         (int)got, (int)want);
        }
}

static void check_pass(const plan *p, const plan_pass *s) {
    const plan_limits *l = &p->ask.limits;
    assert_in_range(s->threads, 1, l->invocations);
    assert_true(s->shared_bytes <= l->shared_bytes);
    for (int d = 0; d < 3; d++) assert_in_range(s->groups[d], 1, l->groups[d]);
    if (!s->fft.length) return;
    check_fft(&s->fft, s->fft.length);
    assert_true(s->lines >= 1);
    if (s->kind == PASS_FORWARD || s->kind == PASS_INVERSE)
        assert_int_equal(s->fft.radix[s->fft.stages - 1] % 2, 0);
    for (uint32_t i = 0; i < s->fft.stages; i++) {
        /* All butterflies are done, and a thread's numbers fit its registers. */
        assert_true((uint64_t)s->butterflies[i] * s->threads >=
                    (uint64_t)s->fft.length / s->fft.radix[i] * s->lines);
        assert_true(s->butterflies[i] * s->fft.radix[i] <= PLAN_MOST_HELD);
    }
}

static void check_plan(const plan *p) {
    assert_int_equal(p->axis[0].length % 2, 0);
    assert_int_equal(p->halves, p->axis[0].length / 2 + 1);
    assert_int_equal(p->axis[0].extent, p->ask.size[p->first]);
    assert_int_equal(p->axis[1].extent, p->ask.size[1 - p->first]);
    assert_true(p->pitch >= p->axis[1].extent && p->pitch % 2 == 0);
    assert_in_range(p->channels_per_bind, 1, p->ask.channels);
    for (int i = 0; i < 2; i++) {
        check_axis(&p->axis[i]);
        if (!p->ask.limits.invocations) continue;
        check_fft(&p->axis[i].fft, p->axis[i].length / (p->axis[i].alone ? 2 : 1));
        assert_true(p->axis[i].length <= plan_longest(&p->ask, (uint32_t)i ^ p->first) ||
                    p->first == PLAN_Y);
    }
    uint64_t bound = p->ask.limits.buffer_range, c = p->ask.channels, n = p->channels_per_bind;
    if (p->ask.limits.invocations) {
        assert_true(p->image_bytes / c * n <= bound && p->scratch_bytes / c * n <= bound);
        assert_true(p->spectrum_bytes / p->ask.spectra <= bound);
        assert_int_equal(p->passes, 3);
    }
    for (uint32_t i = 0; p->ask.limits.invocations && i < p->passes; i++)
        check_pass(p, &p->pass[i]);
}

static void check_request(const plan_request *ask, bool must) {
    plan p;
    memset(&p, 0x5a, sizeof p);
    plan untouched = p;
    if (plan_make(&p, ask, &e)) {
        check_plan(&p);
    } else {
        assert_true((e.code == ERR_CONFIG || e.code == ERR_LINES) && strlen(e.msg) > 20);
        assert_memory_equal(&p, &untouched, sizeof p);
        if (must) fail_msg("%s", e.msg);
    }
}

TEST(small_requests) {
    for (uint32_t n = 1; n <= 24; n += 1 + n / 6)
        for (uint32_t lo = 0; lo <= 26; lo += 1 + lo / 3)
            for (uint32_t hi = 0; hi <= 26; hi += 1 + hi)
                for (int b = 0; b < BORDERS; b++)
                    for (int order = AXIS_AUTO; order <= AXIS_Y; order++) {
                        plan p;
                        plan_request ask = {.size = {n, 7},
                                            .reach_lo = {lo, 2},
                                            .reach_hi = {hi, 1},
                                            .border = {b, BORDER_ZERO},
                                            .order = order,
                                            .channels = 3,
                                            .spectra = 1};
                        CHECK_OK(plan_make(&p, &ask, &e));
                        check_plan(&p);
                        check_rest(&p.axis[0]);
                        check_rest(&p.axis[1]);
                        check_circle(&p.axis[0]);
                        check_circle(&p.axis[1]);
                    }
}

TEST(random_requests) {
    for (int i = 0; i < 3000; i++) {
        uint32_t top = 1u << (1 + make_below(&seed, 15)), reach = 1u << make_below(&seed, 12);
        plan_request ask = {.size = {1 + make_below(&seed, top), 1 + make_below(&seed, top)},
                            .reach_lo = {make_below(&seed, reach), make_below(&seed, reach)},
                            .reach_hi = {make_below(&seed, reach), make_below(&seed, reach)},
                            .border = {make_below(&seed, BORDERS), make_below(&seed, BORDERS)},
                            .order = make_below(&seed, 3),
                            .channels = 1 + make_below(&seed, 4),
                            .limits = LIMITS[make_below(&seed, KINDS_OF_LIMITS)]};
        ask.spectra = make_below(&seed, 2) ? 1 : ask.channels;
        if (ask.limits.float64 && make_below(&seed, 3) == 0) ask.precision = PRECISION_FLOAT64;
        check_request(&ask, !ask.limits.invocations);
    }
}

/* A real spectrum takes half the memory on a device; the CPU engine keeps complex ones. */
TEST(symmetric_kernels) {
    for (int l = 0; l < KINDS_OF_LIMITS; l++) {
        plan_request ask = {.size = {640, 360},
                            .reach_lo = {32, 32},
                            .reach_hi = {32, 32},
                            .channels = 3,
                            .spectra = 3,
                            .limits = LIMITS[l]};
        plan plain, real;
        CHECK_OK(plan_make(&plain, &ask, &e));
        ask.symmetric = true;
        CHECK_OK(plan_make(&real, &ask, &e));
        assert_int_equal(real.spectrum_bytes * (LIMITS[l].invocations ? 2 : 1),
                         plain.spectrum_bytes);
        assert_int_equal(real.axis[1].length, plain.axis[1].length);
    }
}

/* Up to 8K with a 512 kernel must work on real devices, and up to 4K on the smallest. */
TEST(known_sizes) {
    static const uint32_t SIZE[][3] = {{1280, 720, 256},  {1280, 720, 512},   {1366, 768, 256},
                                       {1920, 1080, 256}, {1920, 1080, 512},  {3840, 2160, 512},
                                       {7680, 4320, 512}, {16384, 16384, 512}};
    for (size_t i = 0; i < COUNT(SIZE); i++)
        for (int l = 0; l < KINDS_OF_LIMITS; l++) {
            uint32_t k = SIZE[i][2];
            plan_request ask = {.size = {SIZE[i][0], SIZE[i][1]},
                                .reach_lo = {k / 2, k / 2},
                                .reach_hi = {k / 2 - 1, k / 2 - 1},
                                .channels = 3,
                                .spectra = 3,
                                .limits = LIMITS[l]};
            check_request(&ask, !LIMITS[l].invocations ||
                                    SIZE[i][0] <= (LIMITS[l].shared_bytes > 32768 ? 7680u : 3840u));
        }
}

/* The longest line is held, no longer one is, and a line beyond it is refused with both lengths. */
TEST(longest_lines) {
    for (int l = 0; l < KINDS_OF_LIMITS - 1; l++)
        for (int i = 0; i < 2 * PLAN_AXES; i++) {
            const uint32_t axis = (uint32_t)i % PLAN_AXES;
            plan_request ask = {.size = {64, 64},
                                .border = {BORDER_WRAP, BORDER_WRAP},
                                .precision = i / PLAN_AXES && LIMITS[l].float64 ? PRECISION_FLOAT64
                                                                                : PRECISION_FLOAT32,
                                .channels = 1,
                                .spectra = 1,
                                .limits = LIMITS[l]};
            uint32_t longest = plan_longest(&ask, axis), real = LIMITS[l].shared_bytes / 8;
            assert_true(longest >= real / 2 && longest <= 4 * real);
            for (uint32_t n = length_next(longest + 1, 1); n < 3 * longest;
                 n = length_next(n + 1, 1))
                assert_false(plan_holds(&ask, axis, n));
            plan p;
            ask.size[axis] = longest;
            CHECK_OK(plan_make(&p, &ask, &e));
            ask.size[axis] = 4 * longest + 100;
            char words[80];
            snprintf(words, sizeof words,
                     "need a line of %u, and the longest that the device holds is %u",
                     ask.size[axis], longest);
            CHECK_REFUSED(plan_make(&p, &ask, &e), ERR_LINES, words);
        }
    plan_request any = {.size = {64, 64}};
    assert_true(plan_holds(&any, PLAN_Y, LENGTH_MAX));
}

TEST(extremes) {
    static const uint32_t ODD[] = {
        0,          1,          2,         65535, 65536, LENGTH_MAX / 4, LENGTH_MAX / 4 + 1,
        LENGTH_MAX, 0x7fffffff, 0xffffffff};
    enum { N = COUNT(ODD) };
    for (int a = 0; a < N; a++)
        for (int b = 0; b < N; b++)
            for (int border = 0; border < BORDERS; border++)
                for (int l = 0; l < KINDS_OF_LIMITS; l++) {
                    plan_request ask = {.size = {ODD[a], 100},
                                        .reach_lo = {ODD[b], 3},
                                        .reach_hi = {1, ODD[b]},
                                        .border = {border, border},
                                        .channels = 3,
                                        .spectra = 3,
                                        .limits = LIMITS[l]};
                    check_request(&ask, false);
                }
}

TEST(frequencies_are_a_permutation) {
    for (uint32_t n = 2; n <= 2048; n++) {
        plan_fft f;
        if (!length_radices(&f, n, 1024, n % 2 ? LENGTH_COMPLEX : LENGTH_REAL_ROWS)) continue;
        OWN_HEAP uint8_t *seen = calloc(n, 1);
        for (uint32_t p = 0; p < n; p++) {
            uint32_t k = plan_frequency(&f, p);
            assert_true(k < n && !seen[k]);
            seen[k] = 1;
        }
    }
}

/* A device that has no room for two frames in flight gets one. */
TEST(little_memory) {
    plan p;
    plan_request ask = {.size = {5, 3},
                        .reach_lo = {1, 1},
                        .reach_hi = {1, 1},
                        .channels = 1,
                        .spectra = 1,
                        .planes = {.in = PLAN_HALFS},
                        .limits = LIMITS[1]};
    CHECK_OK(plan_make(&p, &ask, &e));
    uint64_t frame = p.image_bytes + p.input_bytes + p.total_bytes;
    uint64_t all = frame + p.scratch_bytes + p.spectrum_bytes + p.twiddle_bytes;
    assert_int_equal(p.input_bytes * 2, p.image_bytes);
    assert_int_equal(p.pass[0].bytes, p.input_bytes + p.scratch_bytes);
    assert_int_equal(p.pass[2].bytes, p.input_bytes + p.image_bytes + p.scratch_bytes);
    assert_int_equal(plan_bytes_up(&p), p.input_bytes);
    assert_int_equal(plan_bytes_down(&p), p.image_bytes + p.total_bytes);
    for (int k = 0; k < 3; k++) {
        ask.frames = 2;
        ask.limits.memory = all + (k == 0 ? frame : k == 1 ? frame - 1 : 0);
        CHECK_OK(plan_make(&p, &ask, &e));
        assert_int_equal(p.frames, k ? 1 : 2);
    }
    ask.limits.memory = all - 1;
    assert_false(plan_make(&p, &ask, &e));
}

TEST(smooth_lengths) {
    for (uint32_t n = 1; n < 5000; n++) {
        uint32_t l = length_next(n, 1), even = length_next(n, 2);
        assert_true(l >= n && length_is_smooth(l) && even >= l && even % 2 == 0 &&
                    length_is_smooth(even));
        for (uint32_t m = n; m < l; m++) assert_false(length_is_smooth(m));
    }
    assert_int_equal(length_next(LENGTH_MAX, 1), LENGTH_MAX);
    assert_int_equal(length_next(LENGTH_MAX + 1u, 1), 0);
    assert_false(length_is_smooth(0));
    assert_false(length_is_smooth(11));
}

/* A square takes two lines of the second axis into shared memory, and all of it if that is enough.
 */
TEST(squares_may_fill_shared_memory) {
    plan_limits l = LIMITS[3];
    plan_request ask = {.size = {1920, 1080},
                        .reach_lo = {128, 128},
                        .reach_hi = {127, 127},
                        .channels = 3,
                        .spectra = 3,
                        .frames = 1};
    plan p;
    uint32_t least = 0;
    for (l.shared_bytes = 65536; l.shared_bytes >= 4096; l.shared_bytes -= 4) {
        ask.limits = l;
        if (!plan_make(&p, &ask, &e) || !p.square) break;
        least = 0;
        for (uint32_t i = 0; i < p.passes; i++) least = max_u32(least, p.pass[i].shared_bytes);
    }
    assert_int_equal(l.shared_bytes + 4, least);
}

RUN_TESTS(NULL, NULL)
