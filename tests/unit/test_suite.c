/* Suites: what lands where, what is refused and at which place. */
#include "app/check/suite.h"
#include "unit/check.h"
#include "unit/make_image.h"

static bool load(suite *s, const char *name, const char *set, err *e) {
    const settings asked = {.set = set};
    return suite_load(s, make_path(name), &asked, &(settings){0}, e);
}

/* Returns the content of the file of that name, without the folder. */
static const char *tail(const char *path) {
    const char *folder = make_path("");
    size_t n = strlen(folder);
    return path && strncmp(path, folder, n) == 0 ? path + n : path;
}

static void refuses(const char *content, const char *place, const char *words) {
    suite s;
    const char *at = make_path(place);
    make_text("s.json", content);
    if (load(&s, "s.json", NULL, &e)) fail_msg("taken: %s", content);
    if (e.code != ERR_CONFIG || strncmp(e.msg, at, strlen(at)) != 0 || !strstr(e.msg, words))
        fail_msg("%s: expected %s ... %s, got %s", content, at, words, e.msg);
}

/* One case with these members, from column 25 of line 1. */
static void refuses_case(const char *members, const char *column, const char *words) {
    OWN(text) whole = {0}, place = {0};
    text_add(&whole, "{\"version\":1,\"cases\":[{%s}]}", members);
    text_add(&place, "s.json:1:%s", column);
    refuses(whole.s, place.s, words);
}

#define RUNS "\"config\":{\"input\":\"i.exr\",\"kernel\":\"k.exr\"}"

TEST(bad_suites) {
    refuses("[]", "s.json:1:1: ", "a suite is an object, not an array");
    refuses("{\"version\": 2}", "s.json:1:13: ", "must be the number 1, not 2");
    refuses("{\"cases\": []}", "s.json:1:1: ", "needs \"version\"");
    refuses("{\"version\": 1}", "s.json: ", "no cases");
    refuses("{\"version\": 1, \"case\": []}", "s.json:1:16: ", "did you mean \"cases\"?");
    refuses("{\"version\": 1, \"cases\": {}}", "s.json:1:25: ", "must be an array, not an object");
    refuses("{\"version\": 1, \"cases\": [3]}",
            "s.json:1:26: ", "a case is an object, not a number");
    refuses("{\"version\": 1, \"variables\": {\"a\": []}}", "s.json:1:35: ", "not an array");
    refuses("{\"version\": 1, \"variables\": {\"a b\": \"1\"}}",
            "s.json:1:30: ", "letters, digits");
    refuses("{\"version\": 1, \"variables\": {\"a\": \"${b}\"}}", "s.json:1:35: ", "no variable");
    refuses("{\"version\": 1, \"include\": \"s.json\"}",
            "s.json:1:16: ", "a suite has no key \"include\": give one");
    refuses("{\"version\": 1, \"variables\": {\"a\": 1}}", "s.json:1:35: ", "must be a string");
    refuses("{\"version\": 1,}", "s.json:1:14: ", "trailing");
    refuses("{\"version\": 1, \"defaults\": {\"name\": \"x\"}, \"cases\": [{\"name\": \"x\"}]}",
            "s.json:1:29: ", "a default has no key \"name\"");
}

TEST(bad_cases) {
    refuses_case("", "23: ", "needs a \"name\"");
    refuses_case("\"name\":3", "31: ", "must be a string, not a number");
    refuses_case("\"name\":\"\"", "31: ", "must not be empty");
    refuses_case("\"name\":\"a\\nb\"", "31: ", "one line");
    refuses_case("\"name\":\"a\"", "23: ", "names no input");
    refuses_case("\"name\":\"a\"," RUNS, "23: ", "nothing is checked");
    refuses_case("\"name\":\"a\",\"config\":{\"input\":\"i.####.exr\",\"kernel\":\"k.exr\"}",
                 "23: ", "is a sequence");
    refuses_case("\"name\":\"a\",\"config\":{\"paddin\":\"zero\"}", "45: ", "\"padding\"");
    refuses_case("\"name\":\"a\",\"config\":{\"sharpen\":2}", "55: ", "from 0 to 1");
    refuses_case("\"name\":\"a\",\"config\":{\"sandbox\":\"on\"}",
                 "55: ", "'fftbloom check SUITE.json --sandbox on' does");
    refuses_case("\"name\":\"a\",\"config\":{\"threshold\":\"${case}\"}",
                 "57: ", "must be a number");
    refuses_case("\"name\":\"a\",\"padding\":\"zero\"", "35: ", "belongs in \"config\"");
    refuses_case("\"name\":\"a\",\"failprecent\":1", "35: ", "did you mean \"failpercent\"?");
    refuses_case("\"name\":\"a\",\"failpercent\":101", "49: ", "from 0 to 100");
    refuses_case("\"name\":\"a\",\"fail\":\"x\"", "42: ", "must be a number");
    refuses_case("\"name\":\"a\",\"verify\":-1", "44: ", "from 0 to");
    refuses_case("\"name\":\"a\",\"reference\":[]", "47: ", "at least one");
    refuses_case("\"name\":\"a\",\"reference\":[1]", "48: ", "must be a string");
    refuses_case("\"name\":\"a\",\"reference\":{\"tpu\":\"x\"}", "48: ", "not \"tpu\"");
    refuses_case("\"name\":\"a\",\"reference\":{}", "47: ", "at least one device");
    refuses_case("\"name\":\"a\",\"reference\":\"${x}\"", "47: ", "no variable \"x\"");
    refuses_case("\"name\":\"a\",\"reference\":\"${cas}\"", "47: ", "did you mean \"case\"?");
    refuses_case("\"name\":\"a\",\"reference\":\"${case\"", "47: ", "no closing");
    refuses_case("\"name\":\"a\",\"energy\":[1]", "44: ", "two numbers");
    refuses_case("\"name\":\"a\",\"energy\":[1,0.5]", "44: ", "two numbers");
    refuses_case("\"name\":\"a\",\"energy\":{}", "44: ", "at least one channel");
    refuses_case("\"name\":\"a\",\"crop\":[0,0,1]", "42: ", "four whole numbers");
    refuses_case("\"name\":\"a\",\"crop\":[0,0,1,0]", "42: ", "four whole numbers");
    refuses_case("\"name\":\"a\",\"crop\":[0,0,1,\"x\"]", "42: ", "four whole numbers");
    refuses_case("\"name\":\"a\",\"skip\":\"\"", "42: ", "must not be empty");
    refuses_case("\"name\":\"a\",\"command\":\"bloom\"", "45: ", "one of apply, deglare, not");
    refuses_case("\"name\":\"a\",\"command\":1", "45: ", "must be a string");
    refuses_case("\"name\":\"a\"," RUNS ",\"verify\":1},{\"name\":\"a\"," RUNS ",\"verify\":1",
                 "91: ", "already a case \"a\"");
}

static const char WHOLE[] =
    "{\n"
    "  \"$schema\": \"x\", \"version\": 1,\n"
    "  \"cases\": [\n"
    "    {\"name\": \"a ${look}\", \"variables\": {\"n\": \"0.25\"}, \"reference\": "
    "\"r/${case}.exr\",\n"
    "     \"config\": {\"kernel\": \"${at}\", \"amount\": \"${n}\"}, \"warn\": 0.125},\n"
    "    {\"name\": \"b\", \"command\": \"deglare\", \"config\": \"c.json\", \"energy\": {\"R\": "
    "[0.5, 1], \"*\": [0, 2]},\n"
    "     \"reference\": {\"cpu\": [\"1.exr\", \"/2.exr\"], \"any\": \"3$${n}.exr\"},\n"
    "     \"crop\": [-2, 3, 4, 5], \"skip\": \"slow\", \"hardfail\": \"inf\"}\n"
    "  ],\n"
    "  \"variables\": {\"look\": \"outer\", \"n\": \"4\", \"at\": \"sub/${look}.exr\"},\n"
    "  \"defaults\": {\"config\": {\"input\": \"in.exr\", \"padding\": \"wrap\"}, \"fail\": 0.5}\n"
    "}\n";
/* What a plain config says of variables is text. */
static const char LOOK[] = "{\"version\": 1, \"kernel\": \"sub/${look}.exr\"}";

TEST(a_whole_suite) {
    OWN(suite) s;
    make_text("c.json", LOOK);
    make_text("s.json", WHOLE);
    CHECK_OK(load(&s, "s.json", NULL, &e));
    assert_int_equal(s.count, 2);
    const suite_case *c = &s.item[0];
    assert_string_equal(c->name, "a outer");
    assert_int_equal(c->line, 4);
    assert_int_equal(c->column, 5);
    assert_string_equal(tail(c->s.input), "in.exr");
    assert_string_equal(tail(c->s.kernel), "sub/outer.exr");
    assert_int_equal(c->s.bloom.border[1], BORDER_WRAP);
    assert_true(c->s.bloom.sharpen == 0.75 && c->s.compare.fail == 0.5);
    assert_true(c->s.compare.warn == 0.125);
    assert_true(!c->s.bloom.solve && c->s.bloom.core == 0);
    for (int i = 0; i <= ENGINE_SOFTWARE; i++) {
        const suite_paths *p = suite_references(c, (engine_class)i);
        assert_int_equal(p->count, 1);
        assert_string_equal(tail(p->path[0]), "r/a outer.exr");
    }

    c = &s.item[1];
    assert_string_equal(tail(c->s.kernel), "sub/${look}.exr");
    assert_int_equal(suite_references(c, ENGINE_CPU)->count, 2);
    assert_string_equal(tail(suite_references(c, ENGINE_CPU)->path[0]), "1.exr");
    assert_string_equal(suite_references(c, ENGINE_CPU)->path[1], "/2.exr");
    assert_string_equal(tail(suite_references(c, ENGINE_GPU)->path[0]), "3${n}.exr");
    assert_true(c->cropped && c->crop.x0 == -2 && c->crop.y0 == 3 && c->crop.x1 == 1 &&
                c->crop.y1 == 7);
    assert_int_equal(c->energies, 2);
    assert_string_equal(c->energy[0].channels, "R");
    assert_true(c->energy[1].most == 2);
    assert_string_equal(c->skip, "slow");
    assert_true(c->s.bloom.solve && isnan(c->s.bloom.core)); /* auto, as in the command */
}

RUN_TESTS(NULL, NULL)
