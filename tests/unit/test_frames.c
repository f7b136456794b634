/* Frame patterns, ranges and the search of a folder. */
#include "app/farm/farm.h"
#include "app/run/fits.h"
#include "app/run/job.h"
#include "app/run/output.h"
#include "app/run/sequence.h"
#include "unit/check.h"
#include "unit/make_image.h"

static void path_is(const char *pattern, int number, const char *want) {
    OWN(frame_pattern) p;
    CHECK_OK(frame_pattern_parse(&p, pattern, &e));
    OWN_MEM char *got = frame_path(&p, number, &e);
    assert_string_equal(got, want);
}

TEST(patterns) {
    path_is("a.#.exr", 7, "a.0007.exr");
    path_is("a.##.exr", 7, "a.07.exr");
    path_is("a.####.exr", 1001, "a.1001.exr");
    path_is("a.####.exr", 12345, "a.12345.exr");
    path_is("a.######.exr", 7, "a.000007.exr");
    path_is("a.%04d.exr", 7, "a.0007.exr");
    path_is("a.%d.exr", 7, "a.7.exr");
    path_is("a.$F4.exr", 7, "a.0007.exr");
    path_is("a$F.exr", 7, "a7.exr");
    path_is("d/####/a.exr", 7, "d/0007/a.exr");
    path_is("sh%ot/a.####.exr", 7, "sh%ot/a.0007.exr");
    path_is("a.####.exr", -3, "a.-003.exr");
    path_is("d##/a.####.exr", 1, "d##/a.0001.exr");
    path_is("%s.#.exr", 1, "%s.0001.exr");
    path_is("a.@@@@.exr", 7, "a.0007.exr");
    path_is("a.@.exr", 12, "a.12.exr");
}

TEST(views) {
    static const struct {
        const char *path, *view, *want;
    } CASE[] = {{"%V/a_%v.####.exr", "left", "left/a_l.####.exr"},
                {"a.exr", "left", "a.exr"},
                {"a%V", "r", "ar"},
                {"%V%v%%V", "xy", "xyx%xy"},
                {"%V", NULL, "%V"}};
    for (size_t i = 0; i < COUNT(CASE); i++) {
        OWN_MEM char *got = frame_view_path(CASE[i].path, CASE[i].view, &e);
        assert_string_equal(got, CASE[i].want);
        assert_int_equal(frame_views_in(CASE[i].path), strchr(CASE[i].path, '%') != NULL);
    }
}

TEST(no_patterns) {
    static const char *const NONE[] = {"a.exr",   "",          "100%.exr",     "%x.exr",
                                       "$G.exr",  "a%04f.exr", "img@2x_b.exr", "comp@v1/a.exr",
                                       "@/a.exr", "k@0.5"};
    for (size_t i = 0; i < COUNT(NONE); i++) {
        frame_pattern p;
        assert_false(frame_pattern_is(NONE[i]));
        CHECK_REFUSED(frame_pattern_parse(&p, NONE[i], &e), ERR_USAGE, "");
    }
    frame_pattern p;
    CHECK_REFUSED(frame_pattern_parse(&p, "a.##.##.exr", &e), ERR_USAGE, "2 frame fields");
    CHECK_REFUSED(frame_pattern_parse(&p, "a.############.exr", &e), ERR_USAGE, "12 digits");
}

/* The list as "1 2 5", against a slow, obvious membership test. */
static void list_is(const char *ranges, const char *want) {
    OWN(frame_list) l;
    char got[256] = "";
    CHECK_OK(frame_list_parse(&l, ranges, &e));
    for (size_t i = 0; i < l.count; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%d", i ? " " : "", l.number[i]);
    assert_string_equal(got, want);
}

TEST(ranges) {
    list_is("7", "7");
    list_is("1-4", "1 2 3 4");
    list_is("1-10x3", "1 4 7 10");
    list_is("1-10x4", "1 5 9");
    list_is("3,1,2,3,2-3", "1 2 3");
    list_is("1-2, 5 ,8-9", "1 2 5 8 9");
    list_is("-2-1", "-2 -1 0 1");
    list_is("-5--3", "-5 -4 -3");
    list_is("1-1000000x999999", "1 1000000");
}

TEST(bad_ranges) {
    static const char *const BAD[] = {
        "",      "a",   "1-",  "1-2x",   "1-2x0", "2-1", "1,",    ",1",         "1--",        "1 2",
        "1-2-3", "1x2", "1.5", "1-2x-1", "0x10,", "1;2", "1-2y3", "9999999999", "1-999999999"};
    for (size_t i = 0; i < COUNT(BAD); i++) {
        frame_list l = {0};
        if (frame_list_parse(&l, BAD[i], &e)) fail_msg("taken: '%s'", BAD[i]);
        assert_int_equal(e.code, ERR_USAGE);
        assert_null(l.number);
    }
}

static void scan_is(const char *pattern, const char *want) {
    char got[256] = "";
    OWN(frame_pattern) p;
    OWN(frame_list) l;
    CHECK_OK(frame_pattern_parse(&p, make_path(pattern), &e));
    CHECK_OK(frame_list_scan(&l, &p, &e));
    for (size_t i = 0; i < l.count; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%d", i ? " " : "", l.number[i]);
    assert_string_equal(got, want);
}

static void scan_fails(const char *pattern, err_code code) {
    OWN(frame_pattern) p;
    frame_list l;
    CHECK_OK(frame_pattern_parse(&p, pattern, &e));
    CHECK_REFUSED(frame_list_scan(&l, &p, &e), code, "");
}

TEST(scanning) {
    static const char *const FILES[] = {
        "a.0001.exr",     "a.0010.exr", "a.2.exr",    "a.12345.exr", "a.00007.exr",
        "a.0003.exr.tmp", "b.0001.exr", "a.-001.exr", "a..exr",      "a.x.exr"};
    for (size_t i = 0; i < COUNT(FILES); i++) make_text(FILES[i], "");
    scan_is("a.####.exr", "-1 1 10 12345");
    scan_is("a.%d.exr", "2 12345");
    scan_is("b.#.exr", "1");
    scan_fails(make_path("c.####.exr"), ERR_NO_INPUT);
    scan_fails(make_path("none/c.####.exr"), ERR_NO_INPUT);
    scan_fails("####/c.exr", ERR_USAGE);
    /* A file of exactly this name is a file, not a pattern. */
    assert_false(frame_pattern_is(make_text("odd#1.exr", "")));
}

/* A task of a farm reads the frames that it was given, for every subset of a few numbers. */
TEST(ranges_of_numbers) {
    enum { BITS = 12 };
    for (unsigned set = 1; set < 1u << BITS; set++) {
        int number[BITS];
        size_t n = 0;
        for (int i = 0; i < BITS; i++)
            if (set >> i & 1) number[n++] = 998 + i;
        OWN(text) t = {0};
        OWN(frame_list) l;
        farm_ranges(number, n, set & 1 ? 'x' : ':', &t);
        CHECK_OK(frame_list_parse(&l, t.s, &e));
        assert_int_equal(l.count, n);
        assert_memory_equal(l.number, number, n * sizeof *number);
    }
    OWN(text) t = {0};
    farm_ranges((const int[]){1, 2, 3, 5, 9, 13, 20}, 7, 'x', &t);
    assert_string_equal(t.s, "1-3,5-13x4,20");
}

static void gaps_are(const char *frames, size_t missing, const char *want) {
    OWN(frame_pattern) p;
    OWN(frame_list) l;
    OWN(text) t = {0};
    CHECK_OK(frame_pattern_parse(&p, "a.###.exr", &e));
    CHECK_OK(frame_list_parse(&l, frames, &e));
    assert_int_equal(frame_list_gaps(&l, &p, &t), missing);
    assert_string_equal(t.s ? t.s : "", want);
}

TEST(gaps) {
    gaps_are("5", 0, "");
    gaps_are("1-9", 0, "");
    gaps_are("1,3", 1, "002");
    gaps_are("1-9x2", 0, "");
    gaps_are("1-9x2,10", 4, "002, 004, 006, 008");
    gaps_are("1-3,7,1001-1002,1004", 997, "004-006, 008-1000, 1003");
    gaps_are("1-23x2,24", 11, "002, 004, 006, 008, 010, 012, 014, 016, ... (11 gaps)");
}

/* Channels that stay in the file do not keep frames from being made side by side. */
TEST(many_channels) {
    OWN(text) list = {0};
    settings s = {.output = "out.exr"};
    const run_choice run = {.s = &s};
    bloom_defaults(&s.bloom);
    for (int i = 0; i < 60; i++) text_add(&list, "id%d.x:half ", i);
    for (int all = 0; all < 2; all++) {
        text_add(&list, "%s", all ? "" : "R:half G:half B:half");
        OWN(image) *small = make_image((make_part[]){PART(list.s, 0, 0, 4, 2)}, 1);
        image_part *p = &small->head.part[0];
        p->data.x1 = 4095;
        p->data.y1 = 2159;
        /* A frame takes 53 MB of halfs, as much for its result, and a half spectrum of 40 MB. */
        mem_set_limit(mem_used() + 700000000);
        s.bloom.mask = all ? "id0" : NULL; /* a mask may be any channel, so all are read */
        const output to = {.path = s.output, .run = &run, .threads = make_threads()};
        assert_int_equal(fits_at_a_time(&to, &small->head, 100), all ? 1 : 2);
        mem_set_limit(0);
        p->data.x1 = 3;
        p->data.y1 = 1;
    }
}

/* Seconds of a frame on each device, 0: not known; who leaves how many frames to the others. */
TEST(slow_devices_leave_the_last_frames) {
    static const struct {
        double seconds[3];
        uint32_t at_a_time;
        int device;
        size_t left;
        bool leaves;
    } CASE[] = {
        {{1, 4}, 1, 1, 3, true},    {{1, 4}, 1, 1, 4, false},    {{1, 4}, 1, 1, 5, false},
        {{1, 4}, 3, 1, 11, true},   {{1, 4}, 3, 1, 12, false},   {{1, 4}, 9, 0, 1, false},
        {{2, 2}, 1, 0, 0, false},   {{2, 2}, 1, 1, 0, false},    {{0, 4}, 1, 1, 0, false},
        {{1, 0}, 1, 1, 1, false},   {{1, 2, 8}, 1, 2, 11, true}, {{1, 2, 8}, 1, 2, 12, false},
        {{1, 2, 8}, 1, 1, 1, true}, {{1, 2, 8}, 1, 1, 2, false}, {{8, 4, 0}, 1, 0, 1, true},
    };
    for (size_t i = 0; i < COUNT(CASE); i++) {
        const sequence_paces p = {CASE[i].seconds, 3, CASE[i].at_a_time, CASE[i].left};
        if (sequence_leaves(&p, CASE[i].device) != CASE[i].leaves) fail_msg("case %zu", i);
    }
}

RUN_TESTS(NULL, NULL)
