/* Rounds of a benchmark, on an engine that computes nothing and counts: slots are taken in turn,
 * each is waited for before it is taken again, and at the end nothing is in flight. */
#include "device/device_measure.h"
#include "unit/check.h"

typedef struct {
    engine base;
    uint32_t slots, submitted, waited, repeated;
    bool busy[ENGINE_SLOTS];
} counter;

static bool submit(engine *base, uint32_t slot, const engine_frame *f, err *e) {
    counter *g = (counter *)base;
    assert_true(f && e);
    assert_int_equal(slot, g->submitted++ % g->slots);
    assert_false(g->busy[slot]);
    return g->busy[slot] = true;
}

static bool wait_for(engine *base, uint32_t slot, join_stats *st, engine_times *t, err *e) {
    counter *g = (counter *)base;
    assert_true(!st && e);
    assert_int_equal(slot, g->waited++ % g->slots); /* the oldest */
    assert_true(g->busy[slot]);
    g->busy[slot] = false;
    if (t) *t = (engine_times){1, {2, 3, 4}, 5, g->waited};
    return true;
}

static bool repeat(engine *base, const engine_frame *f, engine_repeat *r, err *e) {
    counter *g = (counter *)base;
    assert_true(f && e);
    for (uint32_t i = 0; i < g->slots; i++) assert_false(g->busy[i]);
    *r = (engine_repeat){.count = r->count, .frame = ++g->repeated, .pass = {6, 7, 8}, .copy = 9};
    return true;
}

static const engine_calls CALLS = {.submit = submit, .wait = wait_for, .repeat = repeat};

/* Returns what measuring `rounds` rounds gives, after one frame that warms up. */
static measure_result measure(counter *g, uint32_t rounds, uint32_t queue, uint32_t in_flight) {
    double tap = 0.5;
    uint32_t pixels[PLAN_AXES] = {4, 3};
    plan p = {.ask.channels = 1};
    memcpy(p.ask.size, pixels, sizeof pixels);
    spectrum_lines k = {.channels = 1};
    memcpy(k.tap, &tap, sizeof tap);
    const measure_request r = {
        .plan = &p, .kernel = &k, .rounds = rounds, .queue = queue, .in_flight = in_flight};
    measure_result made = {0};
    *g = (counter){.base.call = &CALLS, .slots = in_flight};
    CHECK_OK(measure_rounds(&made, &g->base, &r, &e));
    return made;
}

TEST(frames_in_flight) {
    counter g;
    for (uint32_t slots = 1; slots <= 5; slots++)
        for (uint32_t rounds = 1; rounds <= 7; rounds++) {
            const measure_result m = measure(&g, rounds, 1, slots);
            assert_int_equal(g.submitted, slots + rounds); /* those of the first turn warm up */
            assert_int_equal(g.waited, g.submitted);
            assert_int_equal(g.repeated, 1); /* beside copies */
            assert_true(m.times.upload.median == 1 && m.times.pass[1].most == 3 && m.copy == 9);
            /* A round tells the times of the frame that made room for it. */
            assert_true(m.times.total.least == 1 && m.times.total.most == rounds);
            assert_true(m.frame.least >= 0 && m.frame.least <= m.frame.most);
        }
}

TEST(a_queue) {
    counter g;
    const measure_result m = measure(&g, 3, 10, 1);
    assert_int_equal(g.submitted + g.waited, 0);
    assert_int_equal(g.repeated, 4);
    assert_true(m.frame.least == 2 && m.frame.most == 4 && m.times.total.median == 3);
    assert_true(m.times.pass[2].median == 8 && m.times.upload.most == 0 && m.copy == 9);
}

TEST(spreads) {
    double v[] = {5, 1, 3, 2, 4}, w[] = {1, 2};
    const measure_spread s = measure_spread_of(v, 5), t = measure_spread_of(w, 2);
    assert_true(s.least == 1 && s.low == 2 && s.median == 3 && s.high == 4 && s.most == 5);
    assert_true(t.low == 1.25 && t.median == 1.5 && t.high == 1.75);
}

RUN_TESTS(NULL, NULL)
