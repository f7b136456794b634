/* check.h - what every unit test starts with: cmocka, tests that enter themselves into the list of
 * their file, and comparisons that NaN fails.
 *
 *     TEST(one_and_one_are_two) {
 *         assert_int_equal(1 + 1, 2);
 *     }
 *     RUN_TESTS(NULL, NULL) */
#ifndef UNIT_CHECK_H
#define UNIT_CHECK_H

#include "base/err.h"
#include "base/mem.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What is set up before tests, or torn down after them: FIXTURE(open_folder) { ... return 0; } */
#define FIXTURE(name) __attribute__((unused)) static int name(void **state __attribute__((unused)))

/* Why the last call failed; each test begins without. */
static _Thread_local err e __attribute__((unused));

FIXTURE(check_begin) {
    e = (err){0};
    return 0;
}

/* Returns whether this file runs whole: make test LONG=1, and tests/long.txt. */
__attribute__((unused)) static bool check_long(void) {
    return getenv("LONG");
}

/* The rows of a list. */
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* For OWN and OPEN (base/mem.h). */
#define edit_kernel_free   edit_kernel_free
#define json_document_free json_document_free

/* And a block of malloc: OWN_HEAP float *v = malloc(n). */
#define OWN_HEAP __attribute__((cleanup(check_free)))
__attribute__((unused)) static void check_free(void *v) {
    free(*(void **)v);
}

/* Returns a copy with " for each ', to write JSON in C: OWN_HEAP char *json = quoted("{'a': 1}");
 */
__attribute__((unused)) static char *quoted(const char *s) {
    char *to = strdup(s);
    for (char *c = to; *c; c++)
        if (*c == '\'') *c = '"';
    return to;
}

/* The tests of this file, in the order of its lines. */
enum { CHECK_TESTS = 64 };
static struct {
    struct CMUnitTest test[CHECK_TESTS];
    int line[CHECK_TESTS];
    size_t count;
} check_list __attribute__((unused));

__attribute__((unused)) static void check_add(const char *name, CMUnitTestFunction f, int line) {
    size_t i = check_list.count++;
    if (i >= CHECK_TESTS) abort();
    for (; i > 0 && check_list.line[i - 1] > line; i--) {
        check_list.test[i] = check_list.test[i - 1];
        check_list.line[i] = check_list.line[i - 1];
    }
    check_list.test[i] = (struct CMUnitTest){name, f, check_begin, NULL, NULL};
    check_list.line[i] = line;
}

#define TEST(name)                                                  \
    static void name(void **state);                                 \
    __attribute__((constructor)) static void name##_is_test(void) { \
        check_add(#name, name, __LINE__);                           \
    }                                                               \
    static void name(void **state __attribute__((unused)))

/* Runs the tests between the set-up and the tear-down of the file, which may be NULL. */
__attribute__((unused)) static int check_run(CMFixtureFunction begin, CMFixtureFunction end) {
    return _cmocka_run_group_tests("tests", check_list.test, check_list.count, begin, end);
}

#define RUN_TESTS(begin, end)         \
    int main(void) {                  \
        return check_run(begin, end); \
    }

/* a <= b, said with both numbers when it is not so. */
#define CHECK_LE(a, b)                                                           \
    do {                                                                         \
        double check_a = (double)(a), check_b = (double)(b);                     \
        if (!(check_a <= check_b))                                               \
            fail_msg("%s = %.9g is not <= %s = %.9g", #a, check_a, #b, check_b); \
    } while (0)

/* A fallible call that must work: CHECK_OK(call), or CHECK_OK(call, x) where x is not `e` that says
 * why it does not. */
#define CHECK_OK(...) CHECK_OK_IN(__VA_ARGS__, e, )
#define CHECK_OK_IN(call, e, ...)                        \
    do {                                                 \
        if (!(call)) fail_msg("%s: %s", #call, (e).msg); \
    } while (0)

/* What a fallible call returns, which must not be NULL: par *p = MADE(par_open(3, &e)); */
#define MADE(call)                                   \
    ({                                               \
        __typeof__(call) made = (call);              \
        if (!made) fail_msg("%s: %s", #call, e.msg); \
        made;                                        \
    })

/* A fallible call that must fail with this code and a sentence with these words. */
#define CHECK_REFUSED(call, is, words)                                       \
    do {                                                                     \
        e = (err){0};                                                        \
        if (call) fail_msg("taken: %s", #call);                              \
        if (e.code != (is) || !strstr(e.msg, words))                         \
            fail_msg("%s: %d, '%s', not '%s'", #call, e.code, e.msg, words); \
    } while (0)

#endif
