/* test_tiling.c - the choice of tiles: those of any request cover the image, each pixel's kept has
 * all that the kernel brings into it, a transform of the tile's length has a plan of that length,
 * and what is chosen fits and is not dearer than simple choices of the test's own. */
#include "math/lengths.h"
#include "math/tiling.h"
#include "unit/check.h"
#include "unit/make_image.h"
#include "unit/reference.h"

static uint64_t seed = 7;

/* A tile with its transform, and the rows that are held and made. */
static uint64_t bytes_of(void *ctx, const tiling *t) {
    uint64_t rows = 2ull * t->kept[PLAN_Y] + t->before[PLAN_Y] + t->after[PLAN_Y];
    (void)ctx;
    return 100000 + 40ull * t->tile[PLAN_X] * t->tile[PLAN_Y] + 12 * rows * t->size[PLAN_X];
}

static tiling_request any_request(void) {
    static const uint32_t ROWS[] = {1, 16, 32, 256};
    tiling_request r = {.rows = ROWS[make_below(&seed, 4)], .bytes = bytes_of};
    r.ask.channels = 1 + make_below(&seed, 4);
    r.ask.spectra = make_below(&seed, 2) ? 1 : r.ask.channels;
    r.planes = r.ask.channels * (make_below(&seed, 3) ? 1 : 1 + make_below(&seed, 20));
    for (int a = 0; a < PLAN_AXES; a++) {
        r.ask.size[a] = 1 + make_below(&seed, make_below(&seed, 2) ? 300 : 40000);
        r.ask.reach_lo[a] = make_below(&seed, make_below(&seed, 2) ? 10 : 1500);
        r.ask.reach_hi[a] = make_below(&seed, make_below(&seed, 2) ? 10 : 1500);
        r.ask.border[a] = (plan_border)make_below(&seed, BORDERS);
    }
    r.memory = (uint64_t)1 << (20 + make_below(&seed, 14));
    return r;
}

static void check_tiling(const tiling *t, const tiling_request *r) {
    plan p;
    plan_request ask = tiling_ask(t, &r->ask);
    assert_true(t->bytes <= r->memory);
    assert_int_equal(t->channels, r->ask.channels);
    CHECK_OK(plan_make(&p, &ask, &e));
    for (int a = 0; a < PLAN_AXES; a++) {
        const plan_axis *axis = &p.axis[(uint32_t)a == p.first ? 0 : 1];
        assert_true((uint64_t)t->kept[a] * t->count[a] >= t->size[a]);
        assert_true((uint64_t)t->kept[a] * (t->count[a] - 1) < t->size[a]);
        if (!t->cut[a]) {
            assert_true(t->tile[a] == t->size[a] && t->count[a] == 1);
            assert_true(t->before[a] == 0 && t->after[a] == 0);
            assert_true(ask.border[a] == r->ask.border[a]);
            continue;
        }
        /* The transform wraps exactly, and what wraps falls into the margins. */
        assert_int_equal(axis->length, t->tile[a]);
        assert_int_equal(t->before[a], r->ask.reach_hi[a]);
        assert_int_equal(t->after[a], r->ask.reach_lo[a]);
        assert_true(t->kept[a] + t->before[a] + t->after[a] <= t->tile[a]);
        if (a == PLAN_Y && t->count[a] > 1) assert_int_equal(t->kept[a] % r->rows, 0);
    }
}

TEST(tiles_cover_the_image_and_fit) {
    int chosen = 0, refused = 0;
    for (int i = 0; i < 400; i++) {
        tiling t;
        tiling_request r = any_request();
        r.limit = 64000000000u;
        if (tiling_choose(&t, &r, &e)) {
            check_tiling(&t, &r);
            chosen++;
        } else {
            assert_int_equal(e.code, ERR_MEMORY);
            assert_non_null(strstr(e.msg, "nor do the smallest tiles"));
            assert_non_null(strstr(e.msg, " of the limit of 64.0 GB"));
            refused++;
        }
    }
    assert_true(chosen > 100 && refused > 10);
}

/* 32768 x 16384 pixels of three floats, a kernel of 1024. */
static tiling_request large(void) {
    tiling_request r = {.rows = 16, .planes = 3, .bytes = bytes_of};
    r.ask = (plan_request){.size = {32768, 16384},
                           .reach_lo = {512, 512},
                           .reach_hi = {511, 511},
                           .channels = 3,
                           .spectra = 1};
    return r;
}

TEST(more_memory_is_never_dearer) {
    tiling_request r = large();
    double before = INFINITY;
    for (r.memory = 500u << 20; r.memory < (uint64_t)1 << 36; r.memory = r.memory * 5 / 4) {
        tiling t;
        CHECK_OK(tiling_choose(&t, &r, &e));
        check_tiling(&t, &r);
        CHECK_LE(t.price, before);
        before = t.price;
    }
}

static bool narrow(void *ctx, const tiling *t, const plan_request *tile) {
    (void)t;
    int *asked = ctx;
    ++*asked;
    return tile->size[PLAN_X] < 8192;
}
/* No tile of more than 1.5 million pixels, as a small device has it. */
static bool small(void *ctx, const tiling *t, const plan_request *tile) {
    (void)t;
    int *asked = ctx;
    ++*asked;
    return (uint64_t)tile->size[PLAN_X] * tile->size[PLAN_Y] < 1500000u * 3u;
}
static bool never(void *ctx, const tiling *t, const plan_request *tile) {
    (void)ctx, (void)t, (void)tile;
    return false;
}

TEST(a_device_may_refuse_tiles) {
    tiling t;
    int asked = 0;
    tiling_request r = large();
    r.memory = (uint64_t)2 << 30;
    r.ctx = &asked;
    r.fits = narrow;
    CHECK_OK(tiling_choose(&t, &r, &e));
    assert_true(asked >= 1 && t.tile[PLAN_X] < 8192);
    check_tiling(&t, &r);
    asked = 0;
    r.fits = small;
    CHECK_OK(tiling_choose(&t, &r, &e));
    check_tiling(&t, &r);
    CHECK_LE(asked, 100);
    r.fits = never;
    CHECK_REFUSED(tiling_choose(&t, &r, &e), ERR_CONFIG, "no device can do the tiles");
}

/* Tiles of a device have lines that it holds, and so a plan; a kernel that is too long is refused
 * with the length it had and the longest. */
TEST(tiles_have_lines_that_a_device_holds) {
    tiling_request r = large();
    int cut = 0;
    r.memory = (uint64_t)64 << 30;
    for (uint32_t shared = 16384; shared <= 65536; shared += 16384)
        for (int doubles = 0; doubles < 2; doubles++)
            for (int order = AXIS_AUTO; order <= AXIS_Y; order++) {
                tiling t;
                r.ask.precision = doubles ? PRECISION_FLOAT64 : PRECISION_FLOAT32;
                r.ask.order = (plan_axis_order)order;
                r.ask.limits = (plan_limits){.invocations = 1024,
                                             .shared_bytes = shared,
                                             .groups = {0x7fffffff, 65535, 65535},
                                             .buffer_range = (uint64_t)1 << 34,
                                             .float64 = true};
                CHECK_OK(tiling_choose(&t, &r, &e));
                check_tiling(&t, &r);
                cut += t.cut[PLAN_X] && t.cut[PLAN_Y];
            }
    assert_true(cut > 12);
    r.ask.order = AXIS_AUTO;
    r.ask.limits.shared_bytes = 4096;
    tiling t;
    CHECK_REFUSED(tiling_choose(&t, &r, &e), ERR_LINES,
                  "needs a line of 1024, and the longest that the device holds is 900");
}

/* Each place shows what the definition of borders says. */
TEST(places_are_those_of_the_definition) {
    for (plan_border b = 0; b < BORDERS; b++)
        for (uint32_t n = 1; n < 20; n++)
            for (int64_t c = -50; c < 70; c++)
                assert_int_equal(plan_place(b, n, c), reference_source(c, n, b));
}

RUN_TESTS(NULL, NULL)
