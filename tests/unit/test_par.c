/* The parallel for: each piece once, the lowest failure, and no more workers than pieces. */
#include "base/par.h"
#include "unit/check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 64, THREADS = 4 };

typedef struct {
    atomic_int done[MOST], at_once[THREADS];
    int fail_from; /* pieces from here on fail */
} job;

static bool piece(void *ctx, size_t index, int worker, err *e) {
    job *j = ctx;
    if (atomic_fetch_add(&j->at_once[worker], 1)) return err_set(e, ERR_INTERNAL, "shared worker");
    atomic_fetch_add(&j->done[index], 1);
    atomic_fetch_sub(&j->at_once[worker], 1);
    return (int)index < j->fail_from || err_set(e, ERR_DATA, "piece %zu", index);
}

static void every_piece_once(void **state) {
    (void)state;
    err e = {0};
    par *p = par_open(THREADS, &e);
    assert_int_equal(par_threads(p), THREADS);
    for (size_t round = 0; round < 20000; round++) {
        job j = {.fail_from = MOST};
        size_t count = round % (round % 10 ? 6 : MOST);
        CHECK_OK(par_for(p, count, piece, &j, &e), e);
        for (size_t i = 0; i < MOST; i++) assert_int_equal(j.done[i], i < count);
    }
    par_close(&p);
    assert_null(p);
}

static void failures(void **state) {
    (void)state;
    par *p = par_open(THREADS, NULL);
    for (int round = 0; round < 2000; round++) {
        err e = {0};
        job j = {.fail_from = round % MOST};
        assert_false(par_for(p, MOST, piece, &j, &e));
        assert_int_equal(e.code, ERR_DATA);
        char want[20];
        snprintf(want, sizeof want, "piece %d", j.fail_from);
        assert_string_equal(e.msg, want);
    }
    par_close(&p);
}

/* Two threads that share the pool take turns. */
static void *another(void *arg) {
    for (int round = 0; round < 2000; round++) {
        job j = {.fail_from = MOST};
        if (!par_for(arg, 3, piece, &j, NULL)) return arg;
        for (size_t i = 0; i < 3; i++)
            if (j.done[i] != 1) return arg;
    }
    return NULL;
}

static void shared(void **state) {
    (void)state;
    par *p = par_open(THREADS, NULL);
    pthread_t t;
    void *wrong;
    assert_int_equal(pthread_create(&t, NULL, another, p), 0);
    assert_null(another(p));
    pthread_join(t, &wrong);
    assert_null(wrong);
    par_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_piece_once),
                                       cmocka_unit_test(failures), cmocka_unit_test(shared)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
