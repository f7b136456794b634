#include "base/json_out.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Writes what stands before a member: a comma, a line break or a blank, and its key. */
static void begin(json_out *j, const char *key) {
    uint32_t bit = 1u << j->depth;
    bool line = j->line || (j->block & bit);
    if (j->some & bit) text_add(j->to, line ? "," : ", ");
    if (line) text_add(j->to, "\n%*s", 2 * j->depth, "");
    if (key) text_add(j->to, "\"%s\": ", key);
    j->some |= bit;
    j->line = false;
}

static void open(json_out *j, const char *key, bool array, bool block) {
    begin(j, key);
    text_add(j->to, array ? "[" : "{");
    assert(j->depth + 1 < JSON_OUT_DEPTH);
    uint32_t bit = 1u << ++j->depth;
    j->some &= ~bit;
    j->array = array ? j->array | bit : j->array & ~bit;
    j->block = block ? j->block | bit : j->block & ~bit;
}

void json_object(json_out *j, const char *key) {
    open(j, key, false, false);
}

void json_array(json_out *j, const char *key) {
    open(j, key, true, false);
}

void json_block(json_out *j, const char *key) {
    open(j, key, false, true);
}

void json_list(json_out *j, const char *key) {
    open(j, key, true, true);
}

void json_close(json_out *j) {
    uint32_t bit = 1u << j->depth--;
    if ((j->line || (j->block & bit)) && (j->some & bit))
        text_add(j->to, "\n%*s", 2 * j->depth, "");
    text_add(j->to, j->array & bit ? "]" : "}");
    j->line = false;
}

void json_line(json_out *j) {
    j->line = true;
}

void json_string(json_out *j, const char *key, const char *s) {
    begin(j, key);
    if (s)
        text_add_json(j->to, s);
    else
        text_add(j->to, "null");
}

void json_lines(json_out *j, const char *lines) {
    for (const char *s = lines; s && *s; s += strcspn(s, "\n"), s += *s == '\n') {
        text line = {0};
        text_add_bytes(&line, s, strcspn(s, "\n"));
        json_string(j, NULL, line.s);
        text_free(&line);
    }
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

text *json_here(json_out *j, const char *key) {
    begin(j, key);
    return j->to;
}

void json_ints(json_out *j, const char *key, const int32_t *n, size_t count) {
    json_array(j, key);
    for (size_t i = 0; i < count; i++) json_int(j, NULL, n[i]);
    json_close(j);
}

void json_reals(json_out *j, const char *key, int digits, const double *v, size_t count) {
    json_array(j, key);
    for (size_t i = 0; i < count; i++) json_real(j, NULL, digits, v[i]);
    json_close(j);
}

void json_uints(json_out *j, const char *key, const uint32_t *n, size_t count) {
    json_array(j, key);
    for (size_t i = 0; i < count; i++) json_uint(j, NULL, n[i]);
    json_close(j);
}

json_out json_begin(text *to) {
    json_out j = {.to = to};
    json_block(&j, NULL);
    json_int(&j, "version", 1);
    return j;
}

void json_end(json_out *j) {
    json_close(j);
    text_add(j->to, "\n");
}
