/* The index algebra of `nabla` against a simulation of its transform: all lengths to 65536, each
 * with every number of threads. The simulation moves labels (lanes) between registers as the
 * threads do, and checks that each butterfly meets the two lanes that the textbook's diagram joins.
 * What comes of numbers, test_fftlab.c compares. */
#include "lab/nabla.h"
#include "unit/check.h"

enum { LONGEST = 65536 };

/* --- the simulation --------------------------------------------------------------------------- */

typedef struct {
    nabla_line l;
    uint32_t *lane; /* [index] */
} machine;

static uint32_t at(const machine *m, uint32_t thread, uint32_t reg) {
    return reg * m->l.threads + thread;
}

/* A butterfly of two registers of a thread, whose lanes must differ by `span`. */
static void butterfly(const machine *m, uint32_t thread, uint32_t first, uint32_t span_regs,
                      uint32_t span) {
    uint32_t a = m->lane[at(m, thread, first)], b = m->lane[at(m, thread, first + span_regs)];
    if (b != a + span || a & span)
        fail_msg("%u numbers, %u threads, span %u: thread %u has lanes %u and %u", m->l.length,
                 m->l.threads, span, thread, a, b);
}

/* Threads that differ by `span` trade: the upper one gives its first register of the pair and the
 * lower one its second. */
static void trade(machine *m, uint32_t pair, uint32_t span) {
    for (uint32_t t = 0; t < m->l.threads; t++) {
        if (t & span) continue;
        uint32_t a = at(m, t, 2 * pair + 1), b = at(m, t + span, 2 * pair), lane = m->lane[a];
        m->lane[a] = m->lane[b];
        m->lane[b] = lane;
    }
}

static void within_threads(machine *m, uint32_t regs) {
    for (uint32_t t = 0; t < m->l.threads; t++)
        for (uint32_t r = 0; r < nabla_each(m->l); r++)
            if (!(r & regs)) butterfly(m, t, r, regs, regs * m->l.threads);
}

static void all_pairs(machine *m, uint32_t span, bool trades, bool forward) {
    for (uint32_t p = 0; p < nabla_each(m->l) / 2; p++) {
        if (forward && trades) trade(m, p, span);
        for (uint32_t t = 0; t < m->l.threads; t++) butterfly(m, t, 2 * p, 1, span);
        if (!forward && trades) trade(m, p, span);
    }
}

static void run_forward(machine *m) {
    for (uint32_t r = nabla_each(m->l) / 2; r > 1; r /= 2) within_threads(m, r);
    all_pairs(m, m->l.threads, false, true);
    for (uint32_t s = m->l.threads / 2; s; s /= 2) all_pairs(m, s, true, true);
}

static void run_inverse(machine *m) {
    for (uint32_t s = 1; s < m->l.threads; s *= 2) all_pairs(m, s, true, false);
    all_pairs(m, m->l.threads, false, false);
    for (uint32_t r = 2; r < nabla_each(m->l); r *= 2) within_threads(m, r);
}

/* Frequencies against the lanes that the simulation fills; and the inverse brings all back. */
static void check_indices(uint32_t n, uint32_t threads) {
    OWN_MEM uint32_t *lane = mem_new(n, sizeof *lane, "lanes", NULL);
    machine m = {{n, threads, 1}, lane};
    for (uint32_t i = 0; i < n; i++) lane[i] = i;
    run_forward(&m);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t f = 0;
        for (uint32_t bit = 1; bit < n; bit *= 2)
            if (lane[i] & bit) f += n / bit / 2;
        assert_int_equal(nabla_frequency(m.l, i), f);
    }
    run_inverse(&m);
    for (uint32_t i = 0; i < n; i++) assert_int_equal(lane[i], i);
}

TEST(indices) {
    for (uint32_t n = 2; n <= LONGEST; n *= 2)
        for (uint32_t t = 1; t <= n / 2; t *= 2) check_indices(n, t);
}

/* --- sizes ------------------------------------------------------------------------------------ */

static lab_ask ask(uint32_t invocations, uint32_t shared_bytes, uint32_t subgroup) {
    return (lab_ask){.limits = {.invocations = invocations, .shared_bytes = shared_bytes},
                     .subgroup = subgroup};
}

TEST(test_choice) {
    static const uint32_t GROUP[] = {1, 2, 16, 100, 128, 1024}, SHARED[] = {8, 1000, 16384, 49152},
                          SUBGROUP[] = {0, 1, 4, 8, 12, 32, 64, 128};
    for (uint32_t n = 2; n <= LONGEST; n *= 2)
        for (size_t g = 0; g < 6; g++)
            for (size_t m = 0; m < 4; m++)
                for (size_t s = 0; s < 8; s++) {
                    lab_ask limits = ask(GROUP[g], SHARED[m], SUBGROUP[s]);
                    nabla_line l = {0, 0, 0};
                    /* The largest power of two that all limits allow. */
                    uint32_t threads = n / 2;
                    while (threads > GROUP[g] || threads * 8 > SHARED[m] || threads > NABLA_THREADS)
                        threads /= 2;
                    bool fits = n / threads <= NABLA_EACH;
                    assert_int_equal(nabla_choose(&l, n, &limits, &e), fits);
                    if (!fits) {
                        assert_int_equal(e.code, ERR_NO_DEVICE);
                        assert_int_equal(l.length, 0);
                        continue;
                    }
                    bool shuffles = SUBGROUP[s] > 1 && threads % SUBGROUP[s] == 0;
                    assert_int_equal(l.length, n);
                    assert_int_equal(l.threads, threads);
                    assert_int_equal(l.subgroup, shuffles ? SUBGROUP[s] : 1);
                    uint32_t trades = 0;
                    for (uint32_t d = threads / 2; d >= l.subgroup; d /= 2)
                        trades += n / threads / 2;
                    assert_int_equal(nabla_barriers(l), 2 * trades);
                }
}

RUN_TESTS(NULL, NULL)
