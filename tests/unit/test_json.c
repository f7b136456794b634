/* The strict JSON reader: what it takes, what it refuses and where. */
#include "base/json.h"
#include "unit/check.h"

static json_document *parse(const char *s, err *e) {
    return json_parse("f", s, strlen(s), e);
}

/* Refused, at this place, with these words. */
static void refuses(const char *s, const char *place, const char *words) {
    if (parse(s, &e)) fail_msg("taken: %s", s);
    assert_int_equal(e.code, ERR_CONFIG);
    if (strncmp(e.msg, place, strlen(place)) != 0 || !strstr(e.msg, words))
        fail_msg("%s: expected %s ... %s, got %s", s, place, words, e.msg);
}

TEST(bad_documents) {
    refuses("", "f:1:1: ", "empty");
    refuses(" \n ", "f:2:2: ", "empty");
    refuses("[0.00000000000000000000000000000000000000000000000000000000000005]",
            "f:1:2: ", "at most 63 characters");
    refuses("{\"a\": 1} x", "f:1:10: ", "more after the end");
    refuses("{\"a\": 1,}", "f:1:8: ", "trailing comma");
    refuses("[1, 2, ]", "f:1:6: ", "trailing comma");
    refuses("{\"a\": 1 // b\n}", "f:1:9: ", "comments");
    refuses("/* a */ {}", "f:1:1: ", "comments");
    refuses("{\n  # b\n}", "f:2:3: ", "comments");
    refuses("{\"a\": 1, \"b\": 2,\n \"a\": 3}", "f:2:2: ", "already given in line 1");
    refuses("{\"a\": 1, \"\\u0061\": 3}", "f:1:10: ", "already given");
    refuses("{'a': 1}", "f:1:2: ", "double quotes");
    refuses("{\"a\": 'x'}", "f:1:7: ", "double quotes");
    refuses("{a: 1}", "f:1:2: ", "key in double quotes");
    refuses("{\"a\" 1}", "f:1:6: ", "colon");
    refuses("{\"a\": 1 \"b\": 2}", "f:1:9: ", "comma or }");
    refuses("[1 2]", "f:1:4: ", "comma or ]");
    refuses("[1", "f:1:3: ", "ends before a bracket");
    refuses("{", "f:1:2: ", "ends inside");
    refuses("{\"a\":", "f:1:6: ", "ends where a value");
    refuses("[01]", "f:1:2: ", "start with a zero");
    refuses("[+1]", "f:1:2: ", "not a value");
    refuses("[.5]", "f:1:2: ", "not a value");
    refuses("[1.]", "f:1:4: ", "digit");
    refuses("[1e]", "f:1:4: ", "exponent");
    refuses("[-]", "f:1:2: ", "digit");
    refuses("[NaN]", "f:1:2: ", "not a value");
    refuses("[True]", "f:1:2: ", "not a value");
    refuses("[\"a]", "f:1:2: ", "closing quote");
    refuses("[\"a\nb\"]", "f:1:2: ", "closing quote");
    refuses("[\"a\tb\"]", "f:1:4: ", "control character");
    refuses("[\"\\x\"]", "f:1:3: ", "backslash");
    refuses("[\"\\u12g4\"]", "f:1:3: ", "hexadecimal");
    refuses("[\"\\u0000\"]", "f:1:3: ", "zero character");
    refuses("[\"\\ud800\"]", "f:1:3: ", "surrogate");
    refuses("[\"\\udc00\\ud800\"]", "f:1:3: ", "surrogate");
    refuses("[\"\xff\"]", "f:1:3: ", "UTF-8");
    refuses("[\"\xc0\xaf\"]", "f:1:3: ", "UTF-8");
    refuses("[\"\xed\xa0\x80\"]", "f:1:3: ", "UTF-8");
    refuses("[\"\xf4\x90\x80\x80\"]", "f:1:3: ", "UTF-8");
    refuses("\xef\xbb\xbf{}", "f:1:1: ", "byte order mark");
    /* Columns count characters. */
    refuses("{\"\xc3\xa4\xc3\xb6\": x}", "f:1:8: ", "not a value");
}

TEST(depth) {
    char s[2 * JSON_DEPTH + 8];
    memset(s, '[', JSON_DEPTH);
    memset(s + JSON_DEPTH, ']', JSON_DEPTH);
    s[2 * JSON_DEPTH] = 0;
    json_document *d = MADE(parse(s, &e));
    json_document_free(&d);
    memset(s, '[', JSON_DEPTH + 1);
    memset(s + JSON_DEPTH + 1, ']', JSON_DEPTH + 1);
    s[2 * JSON_DEPTH + 2] = 0;
    refuses(s, "f:1:65: ", "deeper than 64");
}

/* A document of as many values as are allowed, and of one more. */
TEST(values_are_counted) {
    size_t items = JSON_VALUES - 1; /* the list is one, too */
    OWN_HEAP char *s = malloc(2 * items + 4);
    s[0] = '[';
    for (size_t i = 0; i < items; i++) memcpy(s + 1 + 2 * i, "1,", 2);
    memcpy(s + 2 * items, "]", 2);
    json_document *d = MADE(parse(s, &e));
    json_document_free(&d);
    memcpy(s + 2 * items, ",1]", 4);
    char place[32];
    snprintf(place, sizeof place, "f:1:%zu: ", 2 * items + 2);
    refuses(s, place, "more than 524288 values");
}

TEST(values_and_places) {
    OWN(json_document) *d =
        parse("{\n  \"a\": [1.50, -2e3, true, null],\n"
              "  \"\xc3\xa4\": \"x\\u00e9\\ud83d\\ude00\\n\", \"o\": {\"k\": false}, \"n\": 7}",
              &e);
    assert_non_null(d);
    const json_value *root = json_root(d), *a = json_get(root, "a");
    assert_int_equal(root->type, JSON_OBJECT);
    assert_int_equal(root->children, 4);
    assert_int_equal(a->type, JSON_ARRAY);
    assert_int_equal(a->children, 4);
    assert_string_equal(a->child->text, "1.50");
    assert_true(a->child->number == 1.5);
    assert_string_equal(a->child->next->text, "-2e3");
    assert_true(a->child->next->number == -2000);
    assert_string_equal(a->child->next->next->text, "true");
    assert_int_equal(a->child->next->next->next->type, JSON_NULL);
    assert_int_equal(a->child->next->column, 15);
    const json_value *s = json_get(root, "\xc3\xa4");
    assert_string_equal(s->text, "x\xc3\xa9\xf0\x9f\x98\x80\n");
    assert_int_equal(s->line, 3);
    assert_int_equal(s->column, 8);
    assert_int_equal(s->key_column, 3);
    assert_string_equal(json_get(json_get(root, "o"), "k")->text, "false");
    assert_string_equal(json_get(root, "n")->text, "7");
    assert_null(json_get(root, "zz"));
}

/* A lone number at the end of the bytes, where no byte follows it. */
TEST(scalar_documents) {
    OWN(json_document) *d = MADE(parse("42", &e));
    assert_string_equal(json_root(d)->text, "42");
    json_document_free(&d);
    d = MADE(parse(" \"x\" ", &e));
    assert_string_equal(json_root(d)->text, "x");
}

TEST(many_keys) {
    enum { N = 20000 };
    char *s = malloc(N * 16), *p = s;
    *p++ = '{';
    for (int i = 0; i < N; i++) p += sprintf(p, "%s\"k%d\":%d", i ? "," : "", i, i);
    *p++ = '}';
    OWN(json_document) *d = MADE(json_parse("f", s, (size_t)(p - s), &e));
    assert_int_equal(json_root(d)->children, N);
    free(s);
}

/* Every escape, and a number of the largest length. */
TEST(decoded) {
    OWN(json_document) *d =
        MADE(parse("[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\", "
                   "\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00.\", "
                   "0.0000000000000000000000000000000000000000000000000000000000005]",
                   &e));
    const json_value *v = json_root(d)->child;
    assert_string_equal(v->text, "\"\\/\b\f\n\r\t");
    assert_string_equal(v->next->text, "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80.");
    assert_true(v->next->next->number == 5e-61);
}

/* Memory that is not there is worth another try: it is no fault of the file. */
TEST(memory_that_is_not_there) {
    enum { N = 20000 };
    char *s = malloc(N * 2 + 2), *p = s;
    *p++ = '[';
    for (int i = 0; i < N; i++) p += sprintf(p, "%s7", i ? "," : "");
    *p++ = ']';
    mem_set_limit(mem_used() + 200000); /* enough for the text, not for its values */
    json_document *d = json_parse("f", s, (size_t)(p - s), &e);
    mem_set_limit(0);
    assert_null(d);
    assert_int_equal(e.code, ERR_MEMORY);
    free(s);
}

RUN_TESTS(NULL, NULL)
