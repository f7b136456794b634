#include "base/json_out.h"

#include <time.h>

/* In words: columns of a key and of the first cell; digits of reals. */
enum { KEY = 12, FIRST = 18, DIGITS = 6 };

/* Writes what stands before a member in words. A line has a member of a block or list; what is open
 * inside a line has its members one after the other. bare: the key says no more than the value. */
static void begin_words(json_out *j, const char *key, bool bare) {
    const uint32_t bit = 1u << j->depth, around = bit >> 1;
    int indent = 2 * (j->depth - 1 - j->line);
    const bool heading = bare && (j->block & bit) && !(j->some & bit) &&
                         (j->block & j->array & around);
    if (heading) indent -= 2;
    if (j->block & bit) {
        text_add(j->to, "%s%*s", j->to->n ? "\n" : "", indent, "");
    } else if ((j->some & bit) && (j->block & j->array & around)) { /* a cell of a row */
        const char *start = strrchr(j->to->s, '\n');
        int used = (int)(j->to->n - (size_t)(start ? start + 1 - j->to->s : 0));
        text_add(j->to, "%*s", max_int(indent - 2 + FIRST - used, 2), "");
    } else if (j->some & bit) {
        text_add(j->to, j->array & bit ? " " : ", ");
    }
    j->some |= bit;
    if (!key || heading || (bare && !(j->block & bit))) return;
    for (const char *c = key; *c; c++) text_add(j->to, "%c", *c == '_' ? ' ' : *c);
    text_add(j->to, "%*s", j->block & bit ? max_int(KEY - (int)strlen(key), 1) : 1, "");
}

/* Writes what stands before a member: a comma, a line break or a blank, and its key. */
static void begin(json_out *j, const char *key) {
    if (j->words) {
        begin_words(j, key, false);
        return;
    }
    uint32_t bit = 1u << j->depth;
    bool line = j->line || (j->block & bit);
    if (j->some & bit) text_add(j->to, line ? "," : ", ");
    if (line) text_add(j->to, "\n%*s", 2 * j->depth, "");
    if (key) text_add(j->to, "\"%s\": ", key);
    j->some |= bit;
    j->line = false;
}

static void open(json_out *j, const char *key, bool array, bool block) {
    const bool top = j->words && array && block && j->depth == 1 && !(j->some & 2);
    const bool item = j->words && block && !key; /* a block in a list has no line of its own */
    if (top)
        j->line = true;
    else if (!item)
        begin(j, key);
    j->some |= 1u << j->depth;
    if (!j->words) text_add(j->to, array ? "[" : "{");
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

void json_sheet(json_out *j, const char *key) {
    open(j, key, false, j->words);
    j->line = !j->words;
}

void json_list(json_out *j, const char *key) {
    open(j, key, true, true);
}

void json_close(json_out *j) {
    uint32_t bit = 1u << j->depth--;
    if (j->words) {
        if (!(j->some & bit) && !j->line) text_add(j->to, "none");
        if (j->depth == 1) j->line = false;
        return;
    }
    if ((j->line || (j->block & bit)) && (j->some & bit))
        text_add(j->to, "\n%*s", 2 * j->depth, "");
    text_add(j->to, j->array & bit ? "]" : "}");
    j->line = false;
}

void json_line(json_out *j) {
    j->line = !j->words;
}

void json_string(json_out *j, const char *key, const char *s) {
    if (j->words) {
        if (!s || !*s) return;
        begin_words(j, key, true);
        text_add_clean(j->to, s);
        return;
    }
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
    json_raw(j, key, j->words ? b ? "yes" : "no" : b ? "true" : "false");
}

void json_int(json_out *j, const char *key, int64_t n) {
    begin(j, key);
    text_add(j->to, "%" PRId64, n);
}

void json_uint(json_out *j, const char *key, uint64_t n) {
    begin(j, key);
    text_add(j->to, "%" PRIu64, n);
}

void json_size(json_out *j, const char *key, uint64_t n) {
    char size[32];
    if (!j->words) {
        json_uint(j, key, n);
        return;
    }
    begin_words(j, key, strcmp(key, "bytes") == 0);
    text_add(j->to, "%s", text_bytes((double)n, size));
}

void json_real(json_out *j, const char *key, int digits, double v) {
    begin(j, key);
    if (isfinite(v))
        text_add(j->to, "%.*g", j->words ? min_int(digits, DIGITS) : digits, v);
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

void json_moment(json_out *j, const char *key, int64_t seconds) {
    char moment[32] = "";
    struct tm at;
    if (!j->words) {
        json_int(j, key, seconds);
    } else if (gmtime_r(&(time_t){(time_t)seconds}, &at)) {
        strftime(moment, sizeof moment, "%Y-%m-%d %H:%M:%S", &at);
        json_string(j, key, moment);
    }
}

json_out told_begin(text *to, bool json) {
    if (json) return json_begin(to);
    return (json_out){.to = to, .words = true, .depth = 1, .block = 2};
}

json_out json_begin(text *to) {
    json_out j = {.to = to};
    json_block(&j, NULL);
    json_int(&j, "version", 1);
    return j;
}

void json_end(json_out *j) {
    while (j->depth > j->words) json_close(j);
    if (j->to->n) text_add(j->to, "\n");
}

void json_each(json_out *j, void (*add)(json_out *j, const char *key, int digits, double v),
               int digits, const json_member *m) {
    for (; m->key; m++) add(j, m->key, digits, m->v);
}

void json_counts(json_out *j, const json_count *m) {
    for (; m->key; m++) json_uint(j, m->key, m->n);
}
