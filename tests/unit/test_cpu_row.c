/* test_cpu_row.c - rows of both signs are those that are made in doubles, in two steps; extremes of
 * other rows. */
#include "base/half.h"
#include "engine/cpu/cpu_row.h"
#include "unit/check.h"
#include "unit/make_image.h"

enum { MOST = 700 };

/* A row, in floats or halfs, of what a transform made in floats or doubles. */
typedef struct {
    float in[MOST], floats[MOST], out[MOST], want[MOST];
    double doubles[MOST], own[MOST], glare[MOST];
    uint16_t half_in[MOST], half_out[MOST];
} pixels;

/* Numbers of both signs in many sizes, some that cancel to the last digit, some zero. */
static void fill(pixels *p, uint32_t n, uint64_t *seed, double centre) {
    for (uint32_t i = 0; i < n; i++) {
        double v = (make_chance(seed) - 0.5) * exp2(16 * make_chance(seed) - 10);
        p->half_in[i] = half_from_float(make_random(seed) % 9 ? (float)v : 0);
        p->in[i] = half_to_float(p->half_in[i]);
        double e = make_random(seed) % 3
                       ? (make_chance(seed) - 0.5) * 4
                       : -centre * (double)p->in[i] * (1 + 1e-7 * make_chance(seed));
        p->floats[i] = make_random(seed) % 11 ? (float)e : 0;
        p->doubles[i] = (double)p->floats[i] + 1e-9 * make_chance(seed);
    }
}

static void check_totals(const row_totals *is, const row_totals *want, const row *r) {
    double size = 0, below = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        double e = r->floats ? (double)r->floats[i] : r->doubles[i];
        size += fabs((double)r->out[i]);
        below += fabs(fmin(e, 0));
    }
    CHECK_LE(fabs(is->norm - want->norm), 1e-6 * want->norm);
    CHECK_LE(fabs(is->sum - want->sum), 1e-6 * size);
    CHECK_LE(fabs(is->negative_sum - want->negative_sum), 1e-6 * below);
    CHECK_LE(fabs(is->lowest - fmin(0, r->nonnegative ? want->lowest : 0)), 1e-7 * -want->lowest);
    CHECK_LE(fabs(is->peak - want->peak), 1e-7 * want->peak);
    assert_int_equal(is->negative, want->negative);
    assert_true(is->largest == want->largest && is->least == want->least);
}

static void check_row(pixels *p, const row *like, bool halfs) {
    row r = *like, two = *like;
    row_totals is, want;
    r.out = p->out, two.out = p->want;
    row_begin(&two, &want);
    row_finish(&two, &want);
    if (halfs) r.half_in = p->half_in, r.half_out = p->half_out;
    assert_true(row_make_signs(&r, &is));
    for (uint32_t i = 0; halfs && i < r.n; i++) {
        assert_int_equal(p->half_out[i], half_from_float(p->want[i]));
        p->out[i] = p->want[i];
    }
    assert_memory_equal(p->out, p->want, r.n * sizeof *p->want);
    check_totals(&is, &want, &r);
}

TEST(both_ways_make_the_same_pixels) {
    static pixels p;
    static const uint32_t N[] = {1, 7, 8, 16, 17, 128, 144, 333, MOST};
    uint64_t seed = 5;
    for (int trial = 0; trial < 40; trial++)
        for (int how = 0; how < 8; how++) {
            const double centre = trial % 3 ? make_chance(&seed) : 1;
            row r = {.n = N[(uint32_t)trial % COUNT(N)],
                     .centre = centre,
                     .nonnegative = how & 1,
                     .in = p.in,
                     .own = p.own,
                     .glare = p.glare};
            fill(&p, r.n, &seed, centre);
            p.floats[0] = 1, p.doubles[0] = 1; /* not all may be zero */
            if (how & 2)
                r.doubles = p.doubles;
            else
                r.floats = p.floats;
            check_row(&p, &r, how & 4);
        }
}

/* The sizes that a row without signs tells are those of its pixels, wherever the extremes are: in
 * vectors or behind them. */
TEST(ordinary_rows_tell_their_extremes) {
    enum { LONG = 37 };
    static pixels p;
    uint64_t seed = 9;
    for (uint32_t i = 0; i < LONG * LONG; i++) {
        const uint32_t low = i % LONG, high = i / LONG;
        row r = {.n = LONG, .centre = 0.5, .in = p.in, .floats = p.floats, .out = p.out};
        row_totals t;
        float least = HUGE_VALF, largest = 0;
        for (uint32_t k = 0; k < LONG; k++) {
            p.in[k] = (float)(k == high ? 90 : k == low ? 1 : 5 + make_chance(&seed));
            p.floats[k] = (float)(1 + make_chance(&seed));
        }
        assert_true(row_make_ordinary(&r, &t));
        for (uint32_t k = 0; k < LONG; k++) {
            assert_true(p.out[k] == 0.5F * p.in[k] + p.floats[k]);
            least = fminf(least, p.out[k]), largest = fmaxf(largest, p.out[k]);
        }
        assert_true(t.least == least && t.largest == largest);
    }
}

/* Squares that no floats hold, and halfs that do not hold the result. */
TEST(other_rows_are_left_to_doubles) {
    static pixels p;
    row_totals t;
    row r = {.n = 32, .centre = 1, .in = p.in, .floats = p.floats, .out = p.out};
    assert_false(row_make_signs(&r, &t));
    p.floats[9] = -1e16F;
    assert_false(row_make_signs(&r, &t));
    p.floats[9] = -1e5F;
    assert_true(row_make_signs(&r, &t));
    r.half_in = p.half_in, r.half_out = p.half_out;
    assert_false(row_make_signs(&r, &t));
}

RUN_TESTS(NULL, NULL)
