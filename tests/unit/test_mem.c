/* The allocator's account, and --mem-limit. */
#include "base/machine.h"
#include "base/par.h"
#include "unit/check.h"

#include <sys/resource.h>
#include <unistd.h>

TEST(the_account) {
    uint64_t before = mem_used();
    char *a = mem_new(1000, 100, "a", &e), *b = mem_raw(20 << 20, 1, "b", &e);
    assert_true(a && b && a[99999] == 0);
    assert_in_range(mem_used() - before, 100000 + (20 << 20), 100000 + (25 << 20));
    mem_free(a);
    mem_free(b);
    mem_free(NULL);
    assert_int_equal(mem_used(), before);
    /* What others hold. */
    assert_true(mem_take(1234, "a file in memory", &e));
    assert_int_equal(mem_used(), before + 1234);
    mem_give(1234);
}

TEST(the_limit) {
    mem_set_limit(mem_used() + 100000);
    void *a = MADE(mem_new(60000, 1, "first", &e));
    CHECK_REFUSED(mem_new(60000, 1, "second", &e), ERR_MEMORY, "60.0 kB are needed for second; ");
    assert_non_null(strstr(e.msg, "--mem-limit"));
    mem_free(a);
    a = MADE(mem_new(60000, 1, "second", &e));
    mem_free(a);
    assert_non_null(strstr(e.msg, "100 kB"));
    mem_set_limit(0); /* 80 % of what is available */
    assert_in_range(mem_limit(), machine_memory() / 2, machine_memory());
    uint64_t left = mem_left();
    assert_true(left <= mem_limit() && left > 0);
    CHECK_REFUSED(mem_raw(left + 1000, 1, "too much", &e), ERR_MEMORY, "80 % of");
    /* A product that does not fit is no matter of the limit. */
    CHECK_REFUSED(mem_new(SIZE_MAX / 2, 3, "too much", &e), ERR_DATA, "");
}

/* Whatever threads allocate and free in whatever order, nothing is left in the account. */
static bool churn(void *ctx, size_t index, int worker, err *e) {
    (void)ctx, (void)worker;
    void *p[16] = {0};
    for (size_t i = 0; i < 400; i++) {
        size_t at = (index * 7 + i * 5) % 16;
        mem_free(p[at]);
        if (!(p[at] = mem_raw(1 + index * 31 + i, 1, "piece", e))) return false;
    }
    for (int i = 0; i < 16; i++) mem_free(p[i]);
    return true;
}

TEST(threads) {
    uint64_t before = mem_used();
    par *t = par_open(4, &e);
    CHECK_OK(par_for(t, 200, churn, NULL, &e));
    par_close(&t);
    assert_int_equal(mem_used(), before);
}

/* Large blocks are used again, and given up before the limit refuses anything. */
TEST(kept) {
    enum { BLOCK = 9 << 20 };
    uint64_t before = mem_used();
    mem_set_limit(before + 40 * (1 << 20));
    mem_keep(25 << 20);
    mem_keep(99 << 20); /* somebody else, who ends it before */
    mem_keep(-(99 << 20));
    char *a = MADE(mem_raw(BLOCK, 1, "a", &e));
    memset(a, 7, BLOCK);
    mem_free(a);
    assert_int_equal(mem_used(), before);
    char *b = mem_raw(BLOCK - 1000, 1, "b", &e);
    if (!WITH_SAN) assert_ptr_equal(a, b);
    mem_free(b);
    b = mem_new(BLOCK, 1, "zeros", &e);
    for (size_t i = 0; i < BLOCK; i++) assert_int_equal(b[i], 0);
    char *c = mem_raw(BLOCK, 1, "c", &e);
    assert_true(b && c && b != c);
    mem_free(b);
    mem_free(c); /* 18 MB and more are kept, and 40 allowed */
    a = MADE(mem_raw(30 << 20, 1, "more than is left beside what is kept", &e));
    mem_free(a);
    for (int i = 0; i < 400; i++) { /* more than are kept, and more bytes */
        char *some[4];
        for (int k = 0; k < 4; k++) assert_non_null(some[k] = mem_raw(4 << 20, 1, "some", &e));
        for (int k = 0; k < 4; k++) mem_free(some[(i + k) % 4]);
    }
    mem_keep(-(25 << 20));
    assert_int_equal(mem_used(), before);
    mem_set_limit(0);
}

/* What is kept is also given up before the system refuses a block. */
TEST(kept_or_refused) {
    struct rlimit all, now;
    unsigned long pages = 0;
    if (WITH_SAN) skip(); /* nothing is kept, and a sanitizer needs all the addresses */
    mem_keep(200 << 20);
    char *a = MADE(mem_raw(120 << 20, 1, "a", &e));
    mem_free(a);
    FILE *f = fopen("/proc/self/statm", "r");
    assert_true(f && fscanf(f, "%lu", &pages) == 1);
    fclose(f);
    assert_int_equal(getrlimit(RLIMIT_AS, &all), 0);
    now = all;
    now.rlim_cur = pages * (rlim_t)sysconf(_SC_PAGESIZE) + (8 << 20);
    assert_int_equal(setrlimit(RLIMIT_AS, &now), 0);
    a = mem_raw(90 << 20, 1, "more than the system has", &e);
    assert_int_equal(setrlimit(RLIMIT_AS, &all), 0);
    CHECK_OK(a);
    mem_free(a);
    mem_keep(-(200 << 20));
}

/* Wherever the system puts a large block, it counts as the large pages that it needs. */
TEST(large_blocks_count_alike) {
    enum { MANY = 40, BYTES = 4100000 };
    void *p[MANY], *between[MANY];
    if (WITH_SAN) skip();
    for (int i = 0; i < MANY; i++) {
        uint64_t before = mem_used();
        p[i] = mem_raw(BYTES, 1, "a block", &e);
        assert_int_equal(mem_used() - before, mem_rounded(BYTES));
        /* Odd numbers of pages between them move the next one. */
        between[i] = mem_raw(200000 + 4096 * (size_t)i, 1, "a block", &e);
    }
    for (int i = 0; i < MANY; i++) {
        uint64_t before = mem_used();
        mem_free(p[i]);
        assert_int_equal(before - mem_used(), mem_rounded(BYTES));
        mem_free(between[i]);
    }
}

RUN_TESTS(NULL, NULL)
