/* test_pipeline.c - the pipeline against the direct sum, the same cases on every device here:
 * sizes, borders, centres, axis orders, precisions, small devices, samples that travel as halfs.
 * Validation and synchronisation validation are on; a message fails the case. At the end it prints
 * how near to the bound the cases came: the table of docs/inside/math.md, "The error of a
 * transform". */
#include "gpu/pipeline.h"

/* The largest errors of a device with one kind of input and precision, in units of u = 2^-24 or
 * 2^-53. */
typedef struct {
    uint32_t cases;
    double l2, worst, part; /* of the bound */
    char nearest[512];
} seen;
enum { LIGHT, NOISE, INPUTS };
/* Runs on devices; those whose rows went by themselves; with tiles of squares. */
static uint32_t runs, alone, squares;
static seen largest[ENGINE_DEVICES][INPUTS][2];

static void note(const pipe_case *c, const pipe_result *r, uint32_t index) {
    bool f64 = c->precision == PRECISION_FLOAT64;
    double u = f64 ? 0x1p-53 : 0x1p-24;
    seen *s = &largest[index][c->zero_mean ? NOISE : LIGHT][f64];
    s->cases++;
    s->l2 = fmax(s->l2, r->relative_l2 / u);
    s->worst = fmax(s->worst, r->worst / u);
    if (r->relative_l2 <= s->part * r->bound) return;
    s->part = r->relative_l2 / r->bound;
    pipe_text(c, r, s->nearest);
}

static void print_largest(void) {
    for (uint32_t i = 0; i < devices; i++)
        for (int k = 0; k < 2 * INPUTS; k++) {
            const seen *s = &largest[i][k / 2][k % 2];
            if (s->cases)
                printf("%s, float%d, %s: %u cases; largest relative L2 error %.2f u, %.2f of its "
                       "bound; largest of a pixel %.2f u of the peak\n    nearest: %s\n",
                       device[i].name, k % 2 ? 64 : 32, k / 2 == LIGHT ? "light" : "zero mean",
                       s->cases, s->l2, s->part, s->worst, s->nearest);
        }
}

/* Samples that are halfs make the same bits when they travel as floats, and go as halfs to a
 * device. */
static void check_floats(const pipe_case *c, const pipe_result *halfs, const engine_device *d,
                         engine *g) {
    pipe_case as_floats = *c;
    pipe_result r;
    as_floats.samples = PIPE_HALFS;
    CHECK_OK(pipe_run(&r, &as_floats, g, d, &e));
    const plan *p = &halfs->p;
    assert_int_equal(p->input_bytes,
                     d->class == ENGINE_CPU ? 0 : 2 * p->image_bytes / p->sample_bytes);
    assert_memory_equal(&r.bits, &halfs->bits, sizeof r.bits);
}

static void run_on(const pipe_case *c, const engine_device *d, engine *g) {
    pipe_result r;
    char what[512];
    if (!pipe_run(&r, c, g, d, &e))
        fail_msg("%s: %ux%u kernel %ux%u: %s", d->name, c->w, c->h, c->kw, c->kh, e.msg);
    if (!(r.relative_l2 <= r.bound) || !(r.worst <= 10 * r.bound))
        fail_msg("%s: %s", d->name, pipe_text(c, &r, what));
    if (c->samples == PIPE_HALFS_TOLD) check_floats(c, &r, d, g);
    note(c, &r, (uint32_t)(d - device));
    runs += d->class != ENGINE_CPU;
    alone += r.p.axis[0].alone;
    squares += r.p.square > 0;
}

static void run_list(const pipe_case *c, size_t count, uint32_t some) {
    if (!devices) skip();
    runs = alone = squares = 0;
    for (uint32_t i = 0; i < devices; i++)
        if (!pipe_on(&device[i], threads, c, count, some, run_on, &e))
            fail_msg("%s: %s", device[i].name, e.msg);
}

/* A software driver has every seventh of a list, and the second behind each: some of halfs, too. */
static pipe_samples samples_of(uint32_t i) {
    return i % 7 == 2 ? PIPE_HALFS_TOLD : PIPE_ANY;
}

#define RUN(list)      run_list(list, COUNT(list), 1)
#define RUN_SOME(list) run_list(list, COUNT(list), 7)

TEST(sizes) {
    static const uint32_t SIZE[][2] = {{1, 1},   {2, 1},   {1, 7},   {3, 2},  {5, 5},
                                       {16, 16}, {31, 17}, {66, 10}, {97, 61}};
    pipe_case c[18];
    for (uint32_t i = 0; i < 18; i++) {
        const uint32_t *s = SIZE[i / 2];
        c[i] = (pipe_case)PIPE(s[0], s[1], 7, 4, 3, 2, .order = i % 2 ? AXIS_Y : AXIS_X,
                               .channels = 1 + i % 3, .spectra = 1, .gain = 1, .staged = i % 4 == 1,
                               .samples = i ? samples_of(i) : PIPE_HALFS_TOLD);
    }
    RUN_SOME(c);
}

TEST(borders) {
    pipe_case c[BORDERS * BORDERS];
    for (uint32_t i = 0; i < BORDERS * BORDERS; i++)
        c[i] = (pipe_case)PIPE(23, 30, 11, 8, 2, 7, .border = {i / BORDERS, i % BORDERS},
                               .order = i % 2 ? AXIS_X : AXIS_Y, .channels = 3,
                               .spectra = i % 2 ? 3 : 1, .gain = 0.7, .samples = samples_of(i));
    RUN_SOME(c);
}

/* Kernels larger than the image, and much larger: mirrored and wrapped many times. */
TEST(kernels) {
    const pipe_case c[] = {
        PIPE(5, 3, 40, 1, 11, 0, .border = {BORDER_MIRROR, BORDER_ZERO}, .order = AXIS_X,
             .channels = 1, .spectra = 1, .gain = 1),
        PIPE(5, 3, 1, 40, 0, 39, .border = {BORDER_CLAMP, BORDER_MIRROR}, .order = AXIS_Y,
             .channels = 1, .spectra = 1, .gain = 1),
        PIPE(6, 10, 31, 33, 15, 16, .border = {BORDER_WRAP, BORDER_WRAP}, .order = AXIS_Y,
             .channels = 3, .spectra = 1, .gain = 1),
        PIPE(11, 13, 31, 33, 0, 32, .border = {BORDER_WRAP, BORDER_WRAP}, .order = AXIS_X,
             .channels = 3, .spectra = 3, .gain = 1),
        PIPE(40, 40, 1, 1, 0, 0, .border = {BORDER_ZERO, BORDER_ZERO}, .order = AXIS_X,
             .channels = 1, .spectra = 1, .gain = 0.5),
        PIPE(64, 48, 31, 17, 0, 0, .border = {BORDER_ZERO, BORDER_ZERO}, .order = AXIS_X,
             .channels = 2, .spectra = 2, .gain = 1),
        PIPE(64, 48, 31, 17, 30, 16, .border = {BORDER_ZERO, BORDER_ZERO}, .order = AXIS_Y,
             .channels = 2, .spectra = 2),
    };
    RUN_SOME(c);
}

TEST(doubles) {
    const pipe_case c[] = {
        PIPE(33, 21, 9, 5, 4, 2, .border = {BORDER_ZERO, BORDER_ZERO}, .order = AXIS_X,
             .precision = PRECISION_FLOAT64, .channels = 3, .spectra = 1, .gain = 1),
        PIPE(33, 21, 9, 5, 4, 2, .border = {BORDER_MIRROR, BORDER_CLAMP}, .order = AXIS_Y,
             .precision = PRECISION_FLOAT64, .channels = 3, .spectra = 3, .gain = 0.3,
             .samples = PIPE_HALFS_TOLD),
    };
    RUN(c);
}

/* Small workgroups and little shared memory; a small buffer range makes channels go one by one. */
TEST(small_devices) {
    const pipe_case c[] = {
        PIPE(97, 61, 17, 13, 3, 12, .border = {BORDER_WRAP, BORDER_MIRROR}, .order = AXIS_X,
             .channels = 3, .spectra = 1, .gain = 0.7, .samples = PIPE_HALFS_TOLD,
             .shrink = {.invocations = 32, .shared_bytes = 1024}),
        PIPE(97, 61, 17, 13, 3, 12, .border = {BORDER_CLAMP, BORDER_MIRROR}, .order = AXIS_Y,
             .channels = 3, .spectra = 3, .gain = 0.7,
             .shrink = {.invocations = 32, .shared_bytes = 1024}),
        PIPE(131, 127, 17, 13, 8, 6, .border = {BORDER_ZERO, BORDER_ZERO}, .order = AXIS_AUTO,
             .channels = 3, .spectra = 3, .gain = 1,
             .shrink = {.invocations = 32, .shared_bytes = 1024}),
        PIPE(97, 61, 17, 13, 3, 12, .border = {BORDER_CLAMP, BORDER_MIRROR}, .order = AXIS_Y,
             .channels = 3, .spectra = 3, .gain = 0.7, .shrink = {.buffer_range = 80000},
             .samples = PIPE_HALFS_TOLD, .staged = true),
        PIPE(97, 61, 17, 13, 8, 6, .border = {BORDER_ZERO, BORDER_ZERO}, .order = AXIS_X,
             .precision = PRECISION_FLOAT64, .channels = 2, .spectra = 1, .gain = 1,
             .shrink = {.invocations = 32, .shared_bytes = 2048}),
        PIPE(120, 90, 17, 13, 8, 6, .border = {BORDER_ZERO, BORDER_ZERO}, .order = AXIS_X,
             .channels = 2, .spectra = 1, .gain = 1, .shrink = {.invocations = 12}),
    };
    RUN(c);
}

/* Tiles of all widths on both sides, also those that only large frames have, and no centre tap. */
TEST(shapes) {
    pipe_case c[24];
    for (uint32_t i = 0; i < 24; i++)
        c[i] = (pipe_case)PIPE(
            61 + i, 50 + i / 2, 9, 8, 3, 5, .border = {i % BORDERS, i / BORDERS % BORDERS},
            .order = i % 2 ? AXIS_X : AXIS_Y,
            .precision = i % 7 ? PRECISION_FLOAT32 : PRECISION_FLOAT64, .channels = 3, .spectra = 1,
            .gain = 1, .tapless = i % 3 == 0, .samples = samples_of(i),
            .tune = {.length = {96, 80},
                     .tile_in = i % 5 < 2 ? 0 : 2u << i % 3,
                     .tile = i % 4 < 2 ? 0 : 4 * (i % 4 - 1)});
    RUN_SOME(c);
}

/* Rows of which no two pairs fit a workgroup go by themselves, in lines of half their length. */
TEST(rows_alone) {
    pipe_case c[12];
    for (uint32_t i = 0; i < 12; i++)
        c[i] = (pipe_case)PIPE(
            129 + 7 * i, 20 + i, 9, 6, i % 9, 4, .border = {i % BORDERS, i / BORDERS},
            .order = AXIS_X, .precision = i % 5 == 4 ? PRECISION_FLOAT64 : PRECISION_FLOAT32,
            .channels = 1 + i % 2, .spectra = 1, .gain = i % 3 ? 0.5 : 1, .tapless = i % 3 == 0,
            .samples = samples_of(i), .shrink = {.shared_bytes = i % 5 == 4 ? 2048 : 1024},
            .tune = {.tile_in = i % 4 < 2 ? 0 : 4, .tile = i % 3 ? 8 : 0});
    RUN_SOME(c);
    assert_true(4 * alone >= 3 * runs);
}

/* Halfs that are all subnormal, and up to the largest. */
TEST(extremes) {
    pipe_case c[2];
    for (int i = 0; i < 2; i++)
        c[i] = (pipe_case)PIPE(31, 17, 7, 4, 3, 2, .order = i % 2 ? AXIS_X : AXIS_Y, .channels = 1,
                               .spectra = 1, .gain = 1, .tapless = true, .zero_mean = true,
                               .samples = PIPE_HALFS_TOLD, .scale = i ? 0x1p-14 : 2 * 65504);
    RUN(c);
}

/* Columns so long that pass 2 takes two of their lines at a time, with one spectrum or several,
 * real or not. Some lengths leave an odd number of butterflies in the first stage, and every second
 * case an odd number of lines. */
TEST(two_lines) {
    const uint32_t length[] = {1024, 1280, 1125};
    pipe_case c[9];
    for (uint32_t i = 0; i < 9; i++)
        c[i] = (pipe_case)PIPE(
            17 + i, 990 + i, 5, 3, 2, 1,
            .border = {i % BORDERS, i % 2 ? BORDER_ZERO : BORDER_MIRROR}, .order = AXIS_X,
            .precision = i == 7 ? PRECISION_FLOAT64 : PRECISION_FLOAT32, .channels = 1 + i % 2,
            .spectra = i % 4 == 1 ? 2 : 1, .gain = 1, .tapless = i % 3 == 0, .symmetric = i % 3 > 0,
            .tune = {.length = {32, length[i % 3]}});
    RUN_SOME(c);
    assert_true(squares + devices > runs);
}

/* Frames as wide as a film's, 2 mod 4, with few taps, so that the direct sum stays short and
 * next to nothing of the result is out of the frame. Noise without a mean is what the bound is
 * argued for; light stays farther below it. */
TEST(frames) {
    pipe_case c[4];
    for (int i = 0; i < 4; i++)
        c[i] = (pipe_case)PIPE(i < 2 ? 1366 : 226, 192, 4, 3, 1, 2,
                               .border = {i % 2 ? BORDER_ZERO : BORDER_MIRROR, BORDER_ZERO},
                               .order = i % 2 ? AXIS_X : AXIS_Y,
                               .precision = i < 2 ? PRECISION_FLOAT32 : PRECISION_FLOAT64,
                               .channels = 1, .spectra = 1, .gain = 1, .zero_mean = i % 2 == 1);
    RUN(c);
}

/* Every length that the planner can choose up to 256, and a fifth of those up to 4096, once along
 * each axis: wrapped lines of that length, so that none is passed over. Beside a short line is a
 * long one. A software driver has 11 of 111 cases. */
TEST(every_length) {
    enum { MOST = 200 };
    pipe_case c[MOST];
    uint32_t length[MOST], n = 0, beyond = 0;
    for (uint32_t l = 2; l <= 4096; l++) {
        uint32_t m = l, prime[] = {2, 3, 5, 7};
        for (int i = 0; i < 4; i++)
            while (m % prime[i] == 0) m /= prime[i];
        if (m == 1 && (l <= 256 || beyond++ % 5 == 0)) length[n++] = l;
        assert_true(n < MOST);
    }
    for (uint32_t i = 0; i < n; i++)
        c[i] = (pipe_case)PIPE(
            length[i], length[(n + 4 - i) % n], 3, 2, 1, 1, .border = {BORDER_WRAP, BORDER_WRAP},
            .order = i % 4 < 2 ? AXIS_X : AXIS_Y, .channels = 1, .spectra = 1, .gain = 1);
    run_list(c, n, 22);
}

static int end(void **state) {
    print_largest();
    return pipe_end(state);
}

RUN_TESTS(pipe_begin, end)
