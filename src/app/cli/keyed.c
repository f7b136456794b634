#include "app/cli/keyed.h"

#include "base/json_out.h"
#include "base/mem.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool keyed_is(const char *value) {
    return strchr(value, ':') != NULL;
}

static int by_frame(const void *a, const void *b) {
    int x = ((const keyed_key *)a)->frame, y = ((const keyed_key *)b)->frame;
    return (x > y) - (x < y);
}

/* Returns the length of a frame's number and its colon at the start of a text, or 0. */
static size_t frame_length(const char *s) {
    size_t sign = *s == '-', digits = strspn(s + sign, "0123456789");
    size_t n = sign + digits, blanks = strspn(s + n, " ");
    return digits >= 1 && digits <= 9 && s[n + blanks] == ':' ? n + blanks + 1 : 0;
}

bool keyed_begins(const char *value) {
    return frame_length(value) > 0;
}

/* Reads "1001:0.5", "1001:50%" or "1001:0.5h" at *s, or with `words` "1001:portrait", up to a comma
 * or the end. */
static bool take_key(const char **s, bool words, keyed_key *k, err *e) {
    const char *p = *s + strspn(*s, " ");
    char *end;
    size_t head = frame_length(p);
    if (!head) return false;
    *k = (keyed_key){.frame = (int)strtol(p, NULL, 10)};
    p += head + strspn(p + head, " ");
    if (words) {
        size_t n = strcspn(p, ",");
        k->word = n ? mem_strf(e, "%.*s", (int)n, p) : NULL;
        *s = p + n;
        return k->word != NULL;
    }
    const char *first = p + (*p == '-' || *p == '+');
    if (!isdigit((unsigned char)*first) && *first != '.') return false;
    if (first[0] == '0' && (first[1] == 'x' || first[1] == 'X')) return false;
    k->value = strtod(p, &end);
    k->unit[0] = *end == 'h' ? 'h' : 0;
    if (*end == '%') k->value /= 100;
    end += *end == 'h' || *end == '%';
    *s = end + strspn(end, " ");
    return isfinite(k->value) && (**s == ',' || !**s);
}

bool keyed_parse(keyed *to, const char *value, bool words, err *e) {
    static const char *const EXAMPLE[] = {"values such as 1001:0,1050:1",
                                          "kernels such as 1001:portrait,1020:sunstar"};
    keyed k = {0};
    size_t commas = 0;
    bool ok = true;
    for (const char *p = value; *p; p++) commas += *p == ',';
    if (!(k.key = mem_new(commas + 1, sizeof *k.key, "keys", e))) return false;
    for (const char *s = value; ok; s++) {
        if (!take_key(&s, words, &k.key[k.count], e))
            ok = err_set(e, ERR_CONFIG, "expected frames and %s, not '%s'", EXAMPLE[words], value);
        k.count += ok;
        if (!*s) break;
    }
    qsort(k.key, k.count, sizeof *k.key, by_frame);
    for (size_t i = 1; ok && i < k.count; i++) {
        if (k.key[i].frame == k.key[i - 1].frame)
            ok = err_set(e, ERR_CONFIG, "frame %d has two %s", k.key[i].frame,
                         words ? "kernels" : "values");
        else if (k.key[i].unit[0] != k.key[0].unit[0])
            ok = err_set(e, ERR_CONFIG,
                         "frames %d and %d have different units; write all or none "
                         "with an h",
                         k.key[0].frame, k.key[i].frame);
    }
    if (ok)
        *to = k;
    else
        keyed_free(&k);
    return ok;
}

void keyed_free(keyed *k) {
    for (size_t i = 0; i < k->count; i++) mem_free(k->key[i].word);
    mem_free(k->key);
    *k = (keyed){0};
}

void keyed_add_number(double x, text *to) {
    char shortest[32];
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(shortest, sizeof shortest, "%.*g", digits, x);
        if (strtod(shortest, NULL) == x) break;
    }
    text_add(to, "%s", shortest);
}

void keyed_add_key(const keyed *k, size_t index, text *to) {
    keyed_add_number(k->key[index].value, to);
    text_add(to, "%s", k->key[index].unit);
}

void keyed_add_at(const keyed *k, int frame, text *to) {
    size_t next = 0; /* the first key that is not before the frame, or the last one */
    for (size_t end = k->count - 1; next < end;) {
        size_t middle = next + (end - next) / 2;
        if (k->key[middle].frame < frame)
            next = middle + 1;
        else
            end = middle;
    }
    const keyed_key *b = &k->key[next], *a = next ? b - 1 : b;
    if (next == 0 || b->frame <= frame) {
        keyed_add_key(k, next, to);
        return;
    }
    double part = (frame - (double)a->frame) / (b->frame - (double)a->frame);
    keyed_add_number(a->value + (b->value - a->value) * part, to);
    text_add(to, "%s", b->unit);
}

void keyed_add_text(const keyed *k, text *to) {
    for (size_t i = 0; i < k->count; i++) {
        text_add(to, "%s%d:", i ? "," : "", k->key[i].frame);
        keyed_add_key(k, i, to);
    }
}

void keyed_add_json(const keyed *k, text *to) {
    json_out j = {.to = to};
    json_object(&j, NULL);
    for (size_t i = 0; i < k->count; i++) {
        char frame[16];
        text value = {0};
        snprintf(frame, sizeof frame, "%d", k->key[i].frame);
        keyed_add_key(k, i, &value);
        if (k->key[i].unit[0])
            json_string(&j, frame, value.s);
        else
            json_raw(&j, frame, value.s);
        text_free(&value);
    }
    json_close(&j);
}
