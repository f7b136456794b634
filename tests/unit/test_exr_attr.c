/* Attributes in words and in JSON; damaged values are shown by their length. */
#include "image/exr/exr_file.h"
#include "unit/check.h"

static void expect(const char *type, const void *data, uint32_t bytes, const char *words,
                   const char *json) {
    text t = {0};
    image_attr a = {.name = (char[]){"a"}, .bytes = bytes};
    char kind[32];
    uint8_t copy[256];
    strcpy(kind, type);
    if (bytes) memcpy(copy, data, bytes);
    a.type = kind;
    a.data = copy;
    exr_attr_text(&a, 20, &t);
    assert_string_equal(t.s ? t.s : "", words);
    text_free(&t);
    exr_attr_json(&a, &t);
    assert_string_equal(t.s, json);
    text_free(&t);
}

TEST(numbers) {
    const int32_t i[7] = {-1, 2, 3, 4, 5, 6, 7};
    const float f[4] = {0.1f, 1, -2.5f, 1e30f}, bad[2] = {NAN, INFINITY};
    const double d = 0.1;
    expect("int", i, 4, "-1", "-1");
    expect("box2i", i, 16, "-1 2 3 4", "[-1, 2, 3, 4]");
    expect("keycode", i, 28, "-1 2 3 4 5 6 7", "[-1, 2, 3, 4, 5, 6, 7]");
    expect("float", f, 4, "0.1", "0.1");
    expect("v2f", f, 8, "0.1 1", "[0.1, 1]");
    expect("floatvector", f, 16, "0.1 1 -2.5 1e+30", "[0.1, 1, -2.5, 1e+30]");
    expect("floatvector", f, 0, "", "[]");
    expect("double", &d, 8, "0.1", "0.1");
    expect("v2f", bad, 8, "nan inf", "[null, null]");
}

TEST(strings) {
    expect("string", "a \"b\"", 5, "a \"b\"", "\"a \\\"b\\\"\"");
    expect("string", "", 0, "", "\"\"");
    expect("string", "a\0b", 3, "a b", "\"a\\u0000b\"");
    expect("string", "two\n\33[1mlines", 13, "two  [1mlines", "\"two\\u000a\\u001b[1mlines\"");
    expect("string", "0123456789012345678901234", 25, "01234567890123456789... (25 bytes)",
           "\"0123456789012345678901234\"");
    expect("string",
           "C1 \xc2\x9b"
           "1m \xff",
           9, "C1 \\u009b1m \\xff",
           "\"C1 \xc2\x9b"
           "1m \\ufffd\"");
    expect("string",
           "123456789012345678\xe2\x82\xac"
           "5",
           22, "123456789012345678... (22 bytes)",
           "\"123456789012345678\xe2\x82\xac"
           "5\"");
    expect("stringvector", "\4\0\0\0left\5\0\0\0right", 17, "left, right", "[\"left\", \"right\"]");
    expect("stringvector", "", 0, "", "[]");
}

TEST(words) {
    expect("compression", "\3", 1, "zip", "\"zip\"");
    expect("lineOrder", "\1", 1, "decreasing", "\"decreasing\"");
    expect("envmap", "\0", 1, "latlong", "\"latlong\"");
    expect("timecode", "\4\3\2\1\0\0\0\0", 8, "01:02:03:04", "\"01:02:03:04\"");
    expect("timecode", "\x64\x83\x82\x81\0\0\0\0", 8, "01:02:03:24", "\"01:02:03:24\"");
    expect("rational", "\30\0\0\0\1\0\0\0", 8, "24/1", "\"24/1\"");
    expect("tiledesc", "\100\0\0\0\40\0\0\0\21", 9, "64 x 32, mipmap", "\"64 x 32, mipmap\"");
}

TEST(damage_is_shown_by_length) {
    static const struct {
        const char *type, *bytes;
        uint32_t n;
    } CASE[] = {
        {"int", "\1\2\3", 3},
        {"box2i", "\0\0\0\0", 4},
        {"double", "\0\0\0\0", 4},
        {"floatvector", "\0\0\0\0\0", 5},
        {"compression", "\200", 1},
        {"compression", "", 0},
        {"stringvector", "\5\0\0\0left", 8},
        {"stringvector", "\1\0\0", 3},
        {"stringvector", "\377\377\377\377", 4},
        {"timecode", "\1", 1},
        {"tiledesc", "\100\0\0\0\40\0\0\0\3", 9},
        {"nobody's", "\1\2\3\4", 4},
    };
    for (size_t i = 0; i < COUNT(CASE); i++) {
        char as_words[32], as_json[32];
        snprintf(as_words, sizeof as_words, "(%u bytes)", CASE[i].n);
        snprintf(as_json, sizeof as_json, "{\"bytes\": %u}", CASE[i].n);
        expect(CASE[i].type, CASE[i].bytes, CASE[i].n, as_words, as_json);
    }
}

RUN_TESTS(NULL, NULL)
