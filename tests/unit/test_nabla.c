/* The index algebra of `nabla` against a simulation of its transform: all lengths to 65536, each
 * with every number of threads. The simulation moves labels (lanes) between registers as the
 * threads do, and checks that each butterfly meets the two lanes that the textbook's diagram joins.
 * On short lines it moves numbers, too, and compares with the definition. */
#include "lab/nabla.h"
#include "unit/check.h"

#include <complex.h>
#include <float.h>

enum { LONGEST = 65536, LONGEST_OF_NUMBERS = 128 };

/* --- the simulation --------------------------------------------------------------------------- */

typedef struct {
    nabla_line l;
    uint32_t *lane;        /* [index] */
    double complex *value; /* [index]; NULL: only lanes */
} machine;

static uint32_t at(const machine *m, uint32_t thread, uint32_t reg) {
    return reg * m->l.threads + thread;
}

static double complex root(double k, double n) {
    return cexp(-2 * M_PI * I * k / n);
}

/* A butterfly of two registers of a thread. Their lanes must differ by `span`, and the factor
 * follows from the bits below it. */
static void butterfly(machine *m, uint32_t thread, uint32_t first, uint32_t span_regs,
                      uint32_t span, bool forward) {
    uint32_t a = at(m, thread, first), b = at(m, thread, first + span_regs);
    if (m->lane[b] != m->lane[a] + span || m->lane[a] & span)
        fail_msg("%u numbers, %u threads, span %u: thread %u has lanes %u and %u", m->l.length,
                 m->l.threads, span, thread, m->lane[a], m->lane[b]);
    if (!m->value) return;
    double complex w = root(m->lane[a] % span, 2.0 * span), p = m->value[a], q = m->value[b];
    m->value[a] = forward ? p + q : p + conj(w) * q;
    m->value[b] = forward ? w * (p - q) : p - conj(w) * q;
}

/* Threads that differ by `span` trade: the upper one gives its first register of the pair and the
 * lower one its second. */
static void trade(machine *m, uint32_t pair, uint32_t span) {
    for (uint32_t t = 0; t < m->l.threads; t++) {
        if (t & span) continue;
        uint32_t a = at(m, t, 2 * pair + 1), b = at(m, t + span, 2 * pair), lane = m->lane[a];
        m->lane[a] = m->lane[b];
        m->lane[b] = lane;
        if (!m->value) continue;
        double complex v = m->value[a];
        m->value[a] = m->value[b];
        m->value[b] = v;
    }
}

static void within_threads(machine *m, uint32_t regs, bool forward) {
    for (uint32_t t = 0; t < m->l.threads; t++)
        for (uint32_t r = 0; r < nabla_each(m->l); r++)
            if (!(r & regs)) butterfly(m, t, r, regs, regs * m->l.threads, forward);
}

static void all_pairs(machine *m, uint32_t span, bool trades, bool forward) {
    for (uint32_t p = 0; p < nabla_each(m->l) / 2; p++) {
        if (forward && trades) trade(m, p, span);
        for (uint32_t t = 0; t < m->l.threads; t++) butterfly(m, t, 2 * p, 1, span, forward);
        if (!forward && trades) trade(m, p, span);
    }
}

static void run_forward(machine *m) {
    for (uint32_t r = nabla_each(m->l) / 2; r > 1; r /= 2) within_threads(m, r, true);
    all_pairs(m, m->l.threads, false, true);
    for (uint32_t s = m->l.threads / 2; s; s /= 2) all_pairs(m, s, true, true);
}

static void run_inverse(machine *m) {
    for (uint32_t s = 1; s < m->l.threads; s *= 2) all_pairs(m, s, true, false);
    all_pairs(m, m->l.threads, false, false);
    for (uint32_t r = 2; r < nabla_each(m->l); r *= 2) within_threads(m, r, false);
}

static machine machine_new(uint32_t length, uint32_t threads, bool numbers) {
    machine m = {{length, threads, 1}, mem_new(length, sizeof *m.lane, "lanes", NULL), NULL};
    if (numbers) m.value = mem_new(length, sizeof *m.value, "numbers", NULL);
    for (uint32_t i = 0; i < length; i++) m.lane[i] = i;
    for (uint32_t i = 0; numbers && i < length; i++)
        m.value[i] = sin(1 + 3.7 * i * i) + I * cos(2 + 1.9 * i * i);
    return m;
}

static void machine_free(machine *m) {
    mem_free(m->lane);
    mem_free(m->value);
}

static void every_line(void (*check)(uint32_t length, uint32_t threads), uint32_t longest) {
    for (uint32_t n = 2; n <= longest; n *= 2)
        for (uint32_t t = 1; t <= n / 2; t *= 2) check(n, t);
}

/* --- what is checked -------------------------------------------------------------------------- */

/* Frequencies against the lanes that the simulation fills; and the inverse brings all back. */
static void check_indices(uint32_t n, uint32_t threads) {
    machine m = machine_new(n, threads, false);
    run_forward(&m);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t f = 0;
        for (uint32_t bit = 1; bit < n; bit *= 2)
            if (m.lane[i] & bit) f += n / bit / 2;
        assert_int_equal(nabla_frequency(m.l, i), f);
    }
    run_inverse(&m);
    for (uint32_t i = 0; i < n; i++) assert_int_equal(m.lane[i], i);
    machine_free(&m);
}

/* The simulation itself: it is the transform by definition, and its inverse brings n times the
 * numbers back. */
static void check_numbers(uint32_t n, uint32_t threads) {
    machine m = machine_new(n, threads, true), in = machine_new(n, threads, true);
    /* Each of log2(n) levels rounds numbers of at most n. */
    double bound = 8 * DBL_EPSILON * n * log2(n);
    run_forward(&m);
    for (uint32_t i = 0; i < n; i++) {
        double complex sum = 0;
        for (uint32_t j = 0; j < n; j++)
            sum += in.value[j] * root(j * nabla_frequency(m.l, i) % n, n);
        CHECK_LE(cabs(sum - m.value[i]), bound);
    }
    run_inverse(&m);
    for (uint32_t i = 0; i < n; i++) CHECK_LE(cabs(m.value[i] - n * in.value[i]), n * bound);
    machine_free(&m);
    machine_free(&in);
}

TEST(test_indices) {
    every_line(check_indices, LONGEST);
}

TEST(test_numbers) {
    every_line(check_numbers, LONGEST_OF_NUMBERS);
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
