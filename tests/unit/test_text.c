/* Text that people or other programs read: JSON, and names that may hold anything. */
#include "app/cli/terminal.h"
#include "base/json_out.h"
#include "base/log.h"
#include "base/number.h"
#include "base/text.h"
#include "unit/check.h"

#include <unistd.h>

/* Checks what the text holds, and frees it. */
static void is(text *t, const char *want) {
    assert_string_equal(t->s ? t->s : "", want);
    text_free(t);
}

static int failures;

static void count_failure(void) {
    failures++;
}

/* A text that is too long for any memory stays empty until it is freed, and says so. */
TEST(failed_text) {
    text t = {0};
    text_on_failure(count_failure);
    text_add(&t, "some");
    assert_true(text_check(&t, &e));
    text_add_bytes(&t, "", SIZE_MAX / 2);
    text_add(&t, "more");
    assert_int_equal(failures, 1);
    assert_int_equal(t.n, 0);
    assert_string_equal(t.s, "");
    CHECK_REFUSED(text_check(&t, &e), ERR_MEMORY, "");
    text_free(&t);
    text_add(&t, "again");
    is(&t, "again");
    text_on_failure(NULL);
}

/* The same members for people: keys of lines, cells of rows, headings of blocks, units of bytes. */
TEST(told_in_words) {
    text t = {0};
    json_out j = told_begin(&t, false);
    json_list(&j, "entries"); /* at the top: neither key nor indent */
    for (uint64_t i = 0; i < 2; i++) {
        json_object(&j, NULL);
        json_string(&j, "name", i ? "a name of twenty let" : "b\n");
        json_size(&j, "bytes", 2500 * i);
        json_moment(&j, "used", 981173106);
        json_string(&j, "none", NULL);
        json_bool(&j, "ok", i > 0);
        json_close(&j);
    }
    json_close(&j);
    json_size(&j, "kept_bytes", 3000);
    json_list(&j, "models");
    json_block(&j, NULL);
    json_string(&j, "name", "star");
    json_real(&j, "sum", 17, 1. / 3);
    json_uints(&j, "size", (uint32_t[]){3, 4}, 2);
    json_close(&j);
    json_close(&j);
    json_list(&j, "empty");
    json_close(&j);
    json_end(&j);
    is(&t, "b\\x0a             0 B  2001-02-03 04:05:06  ok no\n"
           "a name of twenty let  2.5 kB  2001-02-03 04:05:06  ok yes\n"
           "kept bytes  3.0 kB\n"
           "models      \n"
           "  star\n"
           "    sum         0.333333\n"
           "    size        3 4\n"
           "empty       none\n");
    j = told_begin(&t, true);
    json_moment(&j, "used", 981173106);
    json_end(&j);
    is(&t, "{\n  \"version\": 1,\n  \"used\": 981173106\n}\n");
}

TEST(json_layout) {
    text t = {0};
    json_out j = json_begin(&t);
    json_string(&j, "name", "a\"\\\n\x7f\xff\xc3\xa9");
    json_string(&j, "none", NULL);
    json_list(&j, "frames");
    for (int i = 0; i < 2; i++) {
        json_object(&j, NULL);
        json_bool(&j, "ok", i == 1);
        json_line(&j);
        json_uints(&j, "size", (uint32_t[]){1, 2, 3}, 3);
        json_int(&j, "more", -1);
        json_line(&j);
        json_close(&j);
    }
    json_close(&j);
    json_list(&j, "empty");
    json_close(&j);
    json_block(&j, "also_empty");
    json_close(&j);
    json_array(&j, "lines");
    json_lines(&j, NULL);
    json_lines(&j, "a\n\"b\"\n\nc");
    json_close(&j);
    json_raw(&j, "raw", "[1]");
    text_add(json_here(&j, "here"), "{}");
    json_end(&j);
    assert_int_equal(j.depth, 0);
    is(&t, "{\n"
           "  \"version\": 1,\n"
           "  \"name\": \"a\\\"\\\\\\u000a\x7f\\ufffd\xc3\xa9\",\n"
           "  \"none\": null,\n"
           "  \"frames\": [\n"
           "    {\"ok\": false,\n"
           "      \"size\": [1, 2, 3], \"more\": -1\n"
           "    },\n"
           "    {\"ok\": true,\n"
           "      \"size\": [1, 2, 3], \"more\": -1\n"
           "    }\n"
           "  ],\n"
           "  \"empty\": [],\n"
           "  \"also_empty\": {},\n"
           "  \"lines\": [\"a\", \"\\\"b\\\"\", \"\", \"c\"],\n"
           "  \"raw\": [1],\n"
           "  \"here\": {}\n"
           "}\n");
}

/* A part of a document whose rest is written elsewhere. */
TEST(json_part) {
    text t = {0};
    json_out j = {.to = &t, .depth = 2};
    json_block(&j, NULL);
    json_uint(&j, "most", UINT64_MAX);
    json_int(&j, "least", INT64_MIN);
    json_close(&j);
    is(&t, "{\n      \"most\": 18446744073709551615,\n"
           "      \"least\": -9223372036854775808\n    }");
}

TEST(json_numbers) {
    text t = {0};
    json_out j = {.to = &t};
    json_array(&j, NULL);
    json_real(&j, NULL, 17, 0.1);
    json_real(&j, NULL, 6, (double)INFINITY);
    json_real(&j, NULL, 6, (double)NAN);
    json_fixed(&j, NULL, 3, 1.5);
    json_fixed(&j, NULL, 3, -(double)INFINITY);
    json_real_or_word(&j, NULL, 9, 2);
    json_real_or_word(&j, NULL, 9, (double)INFINITY);
    json_real_or_word(&j, NULL, 9, -(double)INFINITY);
    json_real_or_word(&j, NULL, 9, (double)NAN);
    json_close(&j);
    is(&t, "[0.10000000000000001, null, null, 1.500, null, 2, \"inf\", \"-inf\", \"nan\"]");
}

/* Nothing that steers a terminal, ends a line or turns the direction of writing goes through. */
TEST(clean_names) {
    static const char *const CASE[][2] = {
        {"plain - \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
         "plain - \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"no\033[31m\xff", "no\\x1b[31m\\xff"},
        {"a\n::error::x\r\t\x7f", "a\\x0a::error::x\\x0d\\x09\\x7f"},
        {"##[error]x ###[y # ##", "\\x23#[error]x #\\x23#[y # ##"},
        {"\xc2\x9b"
         "31m\xc2\x85",
         "\\u009b31m\\u0085"},
        {"\xe2\x80\xae"
         "gnp.exe\xe2\x80\xa8",
         "\\u202egnp.exe\\u2028"},
        {"\xc0\x8a\xed\xa0\x80\xf4\x90\x80\x80\xe2\x82",
         "\\xc0\\x8a\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80\\xe2\\x82"},
    };
    for (size_t i = 0; i < COUNT(CASE); i++) {
        text t = {0};
        text_add_clean(&t, CASE[i][0]);
        is(&t, CASE[i][1]);
    }
    char small[6];
    assert_int_equal(text_clean(small, sizeof small, "ab\033c"), 2);
    assert_string_equal(small, "ab");
    assert_int_equal(text_clean(small, sizeof small, "a\033c"), 5);
    assert_string_equal(small, "a\\x1b");
}

TEST(log_lines_are_clean) {
    char got[200] = "";
    int ends[2], old = dup(STDERR_FILENO);
    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    terminal_open();
    log_note("channel '%s'", "R\n\033[2J\xff");
    dup2(old, STDERR_FILENO);
    close(ends[1]);
    log_set_writer(NULL);
    ssize_t n = read(ends[0], got, sizeof got - 1);
    assert_true(n > 0);
    assert_string_equal(got, "fftbloom: channel 'R\\x0a\\x1b[2J\\xff'\n");
    close(ends[0]);
    close(old);
}

/* What people write: lists, numbers, sides. */
TEST(lists_that_people_write) {
    static const char *const WANT[] = {"a", "", "b\\,c d", "e:f=1"};
    const char *list = " a ,, b\\,c d,e:f=1,";
    text_piece p, left, right;
    for (size_t i = 0; i < COUNT(WANT); i++) {
        assert_true(text_item(&list, &p));
        assert_int_equal(p.n, strlen(WANT[i]));
        assert_memory_equal(p.s, WANT[i], p.n);
    }
    assert_true(text_part(p, ':', &left, &right) && left.n == 1 && right.n == 3);
    assert_false(text_part(left, '=', &left, &right));
    assert_int_equal(left.n, 1);
    assert_int_equal(right.n, 0);
    assert_false(text_item(&list, &p));
    text t = {0};
    text_add_item(&t, "b,c:d", ",:");
    assert_string_equal(t.s, "b\\,c\\:d");
    assert_true(text_glob(t.s, "b,c:d") && text_glob_any(t.s, "b,c:d"));
    assert_false(text_glob_any(t.s, "b"));
    p = (text_piece){t.s, t.n};
    assert_false(text_part(p, ':', &left, &right));
    text_free(&t);
    text_add_piece(&t, (text_piece){"a\\,b\\*", 6});
    is(&t, "a,b\\*");
}

TEST(numbers_that_people_write) {
    static const char *const GOOD[] = {"0", "-1.5", "+.5", "1e3", "007"},
                             *const BAD[] = {"",   "0x10",  "-0X1p3", "nan", "inf", " 1",
                                             "1 ", "1e999", "e3",     "1,5", "-",   "."};
    double x;
    uint32_t sides[2];
    for (size_t i = 0; i < COUNT(GOOD); i++)
        if (!text_number(GOOD[i], &x) || x != strtod(GOOD[i], NULL)) fail_msg("%s", GOOD[i]);
    for (size_t i = 0; i < COUNT(BAD); i++)
        if (text_number(BAD[i], &x)) fail_msg("%s", BAD[i]);
    assert_true(text_fraction("30%", &x) && x == 0.3);
    assert_true(text_fraction("0.3", &x) && x == 0.3);
    assert_false(text_fraction("30%%", &x) || text_fraction("%", &x));
    assert_string_equal(text_leading("20um", &x), "um");
    assert_true(text_sides("300x200", sides) && sides[0] == 300 && sides[1] == 200);
    assert_true(text_sides("64", sides) && sides[0] == 64 && sides[1] == 64);
    static const char *const NONE[] = {"",     "x",     "3x", "x3",        "3x4x5",
                                       "-3x4", "3 x 4", "0x", "1234567890"};
    for (size_t i = 0; i < COUNT(NONE); i++)
        if (text_sides(NONE[i], sides)) fail_msg("%s", NONE[i]);
}

RUN_TESTS(NULL, NULL)
