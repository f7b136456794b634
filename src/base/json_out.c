#include "base/json_out.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* What stands before a member or a closing bracket: a line break, or the blank behind a comma. */
static void begin_line(json_out *j, bool comma, int depth) {
    if (comma) text_add(j->to, ",");
    if (j->line)
        text_add(j->to, "\n%*s", j->spaces < 0 ? 2 * depth : j->spaces, "");
    else if (comma)
        text_add(j->to, " ");
    j->line = false;
}

static void begin(json_out *j, const char *key) {
    uint32_t bit = 1u << j->depth;
    begin_line(j, j->some & bit, j->depth);
    j->some |= bit;
    if (key) text_add(j->to, "\"%s\": ", key);
}

static void open(json_out *j, const char *key, bool array) {
    begin(j, key);
    text_add(j->to, array ? "[" : "{");
    assert(j->depth + 1 < JSON_OUT_DEPTH);
    uint32_t bit = 1u << ++j->depth;
    j->some &= ~bit;
    j->array = array ? j->array | bit : j->array & ~bit;
}

void json_line(json_out *j) {
    json_line_at(j, -1);
}

void json_line_at(json_out *j, int spaces) {
    j->line = true;
    j->spaces = spaces;
}

void json_object(json_out *j, const char *key) {
    open(j, key, false);
}

void json_array(json_out *j, const char *key) {
    open(j, key, true);
}

void json_close(json_out *j) {
    uint32_t bit = 1u << j->depth;
    j->line &= (j->some & bit) != 0;
    begin_line(j, false, --j->depth);
    text_add(j->to, j->array & bit ? "]" : "}");
}

void json_string(json_out *j, const char *key, const char *s) {
    begin(j, key);
    if (s)
        text_add_json(j->to, s);
    else
        text_add(j->to, "null");
}

void json_bool(json_out *j, const char *key, bool b) {
    json_raw(j, key, b ? "true" : "false");
}

void json_int(json_out *j, const char *key, int64_t n) {
    begin(j, key);
    text_add(j->to, "%" PRId64, n);
}

void json_uint(json_out *j, const char *key, uint64_t n) {
    begin(j, key);
    text_add(j->to, "%" PRIu64, n);
}

void json_real(json_out *j, const char *key, int digits, double v) {
    begin(j, key);
    if (isfinite(v))
        text_add(j->to, "%.*g", digits, v);
    else
        text_add(j->to, "null");
}

void json_real_or_word(json_out *j, const char *key, int digits, double v) {
    if (isfinite(v))
        json_real(j, key, digits, v);
    else
        json_string(j, key, isnan(v) ? "nan" : v > 0 ? "inf" : "-inf");
}

void json_fixed(json_out *j, const char *key, int decimals, double v) {
    begin(j, key);
    if (isfinite(v))
        text_add(j->to, "%.*f", decimals, v);
    else
        text_add(j->to, "null");
}

void json_raw(json_out *j, const char *key, const char *json) {
    begin(j, key);
    text_add_bytes(j->to, json, strlen(json));
}

void json_uints(json_out *j, const char *key, const uint32_t *n, size_t count) {
    json_array(j, key);
    for (size_t i = 0; i < count; i++) json_uint(j, NULL, n[i]);
    json_close(j);
}
