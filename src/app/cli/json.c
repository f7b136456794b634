#include "app/cli/json.h"

#include "base/file.h"
#include "base/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Values are allocated in blocks that stay where they are, so that values can point to each other
 * while the list grows. */
enum { BLOCK = 256 };
typedef struct block {
    struct block *before;
    json_value value[BLOCK];
} block;

struct json_document {
    char *name;
    char *bytes; /* our copy, in which strings are decoded and numbers terminated in place */
    size_t length;
    block *last;
    size_t used; /* of the last block */
    json_value *root;
};

/* --- the scan ------------------------------------------------------------------------------ */

typedef struct {
    json_document *d;
    unsigned char *p, *end;
    int line, column, depth;
    err *e;
} scanner;

/* Sets the error at the scanner's place. */
static bool complain(scanner *s, const char *sentence) {
    return err_set(s->e, ERR_CONFIG, "%s:%d:%d: %s", s->d->name, s->line, s->column, sentence);
}

static int peek(const scanner *s) {
    return s->p < s->end ? *s->p : -1;
}

/* Columns count characters: the continuation bytes of UTF-8 do not move. */
static void step(scanner *s) {
    if (*s->p == '\n') {
        s->line++;
        s->column = 1;
    } else if ((*s->p & 0xc0) != 0x80) {
        s->column++;
    }
    s->p++;
}

static bool skip_blanks(scanner *s) {
    while (s->p < s->end && *s->p && strchr(" \t\r\n", *s->p)) step(s);
    if (peek(s) == '/' || peek(s) == '#')
        return complain(s, "JSON has no comments; remove this one");
    return true;
}

static int hex4(const unsigned char *p, const unsigned char *end) {
    int v = 0;
    if (end - p < 4) return -1;
    for (int i = 0; i < 4; i++) {
        const char *digits = "0123456789abcdef";
        const char *at = p[i] ? strchr(digits, p[i] >= 'A' && p[i] <= 'F' ? p[i] + 32 : p[i])
                              : NULL;
        if (!at) return -1;
        v = v * 16 + (int)(at - digits);
    }
    return v;
}

/* Writes a code point as UTF-8, and returns the place behind it. */
static unsigned char *put_utf8(unsigned char *to, int v) {
    if (v < 0x80) {
        *to++ = (unsigned char)v;
    } else if (v < 0x800) {
        *to++ = (unsigned char)(0xc0 | v >> 6);
        *to++ = (unsigned char)(0x80 | (v & 0x3f));
    } else if (v < 0x10000) {
        *to++ = (unsigned char)(0xe0 | v >> 12);
        *to++ = (unsigned char)(0x80 | (v >> 6 & 0x3f));
        *to++ = (unsigned char)(0x80 | (v & 0x3f));
    } else {
        *to++ = (unsigned char)(0xf0 | v >> 18);
        *to++ = (unsigned char)(0x80 | (v >> 12 & 0x3f));
        *to++ = (unsigned char)(0x80 | (v >> 6 & 0x3f));
        *to++ = (unsigned char)(0x80 | (v & 0x3f));
    }
    return to;
}

/* Decodes the escape at the scanner to *to, and leaves both behind it. What is written is never
 * longer than what was read. */
static bool scan_escape(scanner *s, unsigned char **to) {
    static const char LETTER[] = "\"\\/bfnrt", MEANS[] = "\"\\/\b\f\n\r\t";
    int c = s->end - s->p > 1 ? s->p[1] : 0;
    const char *letter = c ? strchr(LETTER, c) : NULL;
    int bytes = 2;
    if (letter) {
        *(*to)++ = (unsigned char)MEANS[letter - LETTER];
    } else if (c != 'u') {
        return complain(s, "after a backslash a string needs one of \" \\ / b f n r t u");
    } else {
        int v = hex4(s->p + 2, s->end);
        if (v < 0) return complain(s, "\\u needs four hexadecimal digits");
        if (v == 0) return complain(s, "a string cannot hold a zero character");
        bytes = 6;
        if (v >= 0xd800 && v < 0xe000) {
            bool pair = v < 0xdc00 && s->end - s->p >= 12 && s->p[6] == '\\' && s->p[7] == 'u';
            int low = pair ? hex4(s->p + 8, s->end) : -1;
            if (low < 0xdc00 || low > 0xdfff) return complain(s, "half of a surrogate pair");
            v = 0x10000 + ((v - 0xd800) << 10) + (low - 0xdc00);
            bytes = 12;
        }
        *to = put_utf8(*to, v);
    }
    while (bytes--) step(s);
    return true;
}

/* The bytes of the UTF-8 character at p, 0 when it is none. */
static int utf8_bytes(const unsigned char *p, const unsigned char *end) {
    static const unsigned char LOWEST[] = {0x80, 0xa0, 0x90}, HIGHEST[] = {0xbf, 0x9f, 0x8f};
    int n = p[0] < 0x80   ? 1
            : p[0] < 0xc2 ? 0
            : p[0] < 0xe0 ? 2
            : p[0] < 0xf0 ? 3
            : p[0] < 0xf5 ? 4
                          : 0;
    if (n == 0 || end - p < n) return 0;
    for (int i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80) return 0;
    if (n > 1) { /* no overlong forms, no surrogates, nothing beyond U+10FFFF */
        int low = p[0] == 0xe0   ? 1
                  : p[0] == 0xf0 ? 2
                                 : 0,
            high = p[0] == 0xed   ? 1
                   : p[0] == 0xf4 ? 2
                                  : 0;
        if (p[1] < LOWEST[low] || p[1] > HIGHEST[high]) return 0;
    }
    return n;
}

/* Decodes the string in place and returns it; NULL with an error. */
static char *scan_string(scanner *s) {
    scanner start = *s;
    step(s);
    unsigned char *text = s->p, *to = text;
    while (peek(s) != '"') {
        int c = peek(s);
        if (c < 0 || c == '\n') return complain(&start, "this string has no closing quote"), NULL;
        if (c < 0x20)
            return complain(s, "a control character in a string; write it as \\u00XX"), NULL;
        if (c == '\\') {
            if (!scan_escape(s, &to)) return NULL;
            continue;
        }
        int n = utf8_bytes(s->p, s->end);
        if (n == 0) return complain(s, "these bytes are not UTF-8"), NULL;
        for (; n > 0; n--) {
            *to++ = *s->p;
            step(s);
        }
    }
    step(s);
    *to = 0;
    return (char *)text;
}

static int digits(scanner *s) {
    int n = 0;
    for (; peek(s) >= '0' && peek(s) <= '9'; n++) step(s);
    return n;
}

static bool scan_number(scanner *s) {
    scanner start = *s;
    if (peek(s) == '-') step(s);
    bool zero = peek(s) == '0';
    int n = digits(s);
    if (n == 0) return complain(&start, "a number needs a digit here");
    if (zero && n > 1) return complain(&start, "a number cannot start with a zero");
    if (peek(s) == '.') {
        step(s);
        if (digits(s) == 0) return complain(s, "a number needs a digit behind its point");
    }
    if (peek(s) == 'e' || peek(s) == 'E') {
        step(s);
        if (peek(s) == '+' || peek(s) == '-') step(s);
        if (digits(s) == 0) return complain(s, "a number needs a digit in its exponent");
    }
    return true;
}

static bool scan_word(scanner *s, json_value *v) {
    static const char *const WORD[] = {"null", "true", "false"};
    for (int i = 0; i < 3; i++) {
        size_t n = strlen(WORD[i]);
        if ((size_t)(s->end - s->p) >= n && memcmp(s->p, WORD[i], n) == 0) {
            while (n--) step(s);
            v->type = i == 0 ? JSON_NULL : JSON_BOOL;
            v->text = WORD[i];
            return true;
        }
    }
    if (peek(s) < 0) return complain(s, "the file ends where a value should be");
    if (peek(s) == '\'') return complain(s, "strings and keys stand in double quotes");
    return complain(s, "not a value: expected a string in double quotes, a number, true, false, "
                       "null, [ or {");
}

static json_value *new_value(scanner *s) {
    json_document *d = s->d;
    if (!d->last || d->used == BLOCK) {
        block *b = mem_new(1, sizeof *b, "JSON values", s->e);
        if (!b) return NULL;
        b->before = d->last;
        d->last = b;
        d->used = 0;
    }
    json_value *v = &d->last->value[d->used++];
    *v = (json_value){.line = s->line, .column = s->column};
    return v;
}

static int by_key(const void *a, const void *b) {
    const json_value *x = *(json_value *const *)a, *y = *(json_value *const *)b;
    int order = strcmp(x->key, y->key), lines = x->key_line - y->key_line;
    return order ? order : lines ? lines : x->key_column - y->key_column;
}

static bool check_duplicates(const json_document *d, json_value *object, err *e) {
    if (object->children < 2) return true;
    json_value **member = mem_new((size_t)object->children, sizeof *member, "keys", e);
    if (!member) return false;
    int n = 0;
    bool ok = true;
    for (json_value *v = object->child; v; v = v->next) member[n++] = v;
    qsort(member, (size_t)n, sizeof *member, by_key);
    for (int i = 1; i < n && ok; i++)
        if (strcmp(member[i - 1]->key, member[i]->key) == 0)
            ok = json_err_key(d, member[i], e, "\"%s\" was already given in line %d",
                              member[i]->key, member[i - 1]->key_line);
    mem_free(member);
    return ok;
}

static json_value *scan_value(scanner *s);

/* Scans a member with its key, or a value of an array. */
static json_value *scan_member(scanner *s, bool keyed) {
    int line = s->line, column = s->column;
    const char *key = NULL;
    if (keyed) {
        if (peek(s) < 0) return complain(s, "the file ends inside an object"), NULL;
        if (peek(s) != '"') return complain(s, "expected a key in double quotes"), NULL;
        if (!(key = scan_string(s)) || !skip_blanks(s)) return NULL;
        if (peek(s) != ':') return complain(s, "expected a colon after the key"), NULL;
        step(s);
        if (!skip_blanks(s)) return NULL;
    }
    json_value *v = scan_value(s);
    if (!v) return NULL;
    v->key = key;
    v->key_line = line;
    v->key_column = column;
    return v;
}

/* Scans what is inside an object or array, from behind its opening bracket to behind the closing
 * one. */
static bool scan_members(scanner *s, json_value *of) {
    json_value **link = &of->child;
    char close = of->type == JSON_OBJECT ? '}' : ']';
    if (!skip_blanks(s)) return false;
    if (peek(s) == close) return step(s), true;
    for (;; of->children++, link = &(*link)->next) {
        if (!(*link = scan_member(s, of->type == JSON_OBJECT)) || !skip_blanks(s)) return false;
        if (peek(s) == close) break;
        if (peek(s) != ',')
            return complain(s, peek(s) < 0    ? "the file ends before a bracket is closed"
                               : close == '}' ? "expected a comma or } after this member"
                                              : "expected a comma or ] after this value");
        scanner comma = *s;
        step(s);
        if (!skip_blanks(s)) return false;
        if (peek(s) == '}' || peek(s) == ']')
            return complain(&comma, "JSON has no trailing commas; remove this one");
    }
    of->children++;
    step(s);
    return of->type == JSON_ARRAY || check_duplicates(s->d, of, s->e);
}

static json_value *scan_value(scanner *s) {
    json_value *v = new_value(s);
    bool ok = v != NULL;
    int c = peek(s);
    if (!ok) return NULL;
    if (c == '{' || c == '[') {
        v->type = c == '{' ? JSON_OBJECT : JSON_ARRAY;
        if (++s->depth > JSON_DEPTH) return complain(s, "nested deeper than 64 levels"), NULL;
        step(s);
        ok = scan_members(s, v);
        s->depth--;
    } else if (c == '"') {
        v->type = JSON_STRING;
        ok = (v->text = scan_string(s)) != NULL;
    } else if (c == '-' || (c >= '0' && c <= '9')) {
        v->type = JSON_NUMBER;
        v->text = (const char *)s->p;
        ok = scan_number(s);
        if (ok) v->number = strtod(v->text, NULL);
    } else {
        ok = scan_word(s, v);
    }
    return ok ? v : NULL;
}

static bool scan_document(json_document *d, size_t n, err *e) {
    unsigned char *bytes = (unsigned char *)d->bytes;
    scanner s = {d, bytes, bytes + n, 1, 1, 0, e};
    if (n >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
        return complain(&s, "starts with a byte order mark; save it as UTF-8 without one");
    if (!skip_blanks(&s)) return false;
    if (s.p == s.end) return complain(&s, "the file is empty; the minimum is {\"version\": 1}");
    if (!(d->root = scan_value(&s)) || !skip_blanks(&s)) return false;
    if (s.p < s.end) return complain(&s, "there is more after the end of the value");
    /* The byte behind a number is a blank, a comma or a bracket, and is not needed any more. */
    for (block *b = d->last; b; b = b->before)
        for (size_t i = 0; i < (b == d->last ? d->used : BLOCK); i++)
            if (b->value[i].type == JSON_NUMBER) {
                size_t at = (size_t)(b->value[i].text - d->bytes);
                d->bytes[at + strspn(d->bytes + at, "+-.eE0123456789")] = 0;
            }
    return true;
}

json_document *json_parse(const char *name, const char *bytes, size_t n, err *e) {
    json_document *d = mem_new(1, sizeof *d, "JSON document", e);
    if (!d) return NULL;
    if ((d->name = mem_str(name, e)) && (d->bytes = mem_new(n + 1, 1, name, e))) {
        memcpy(d->bytes, bytes, n);
        d->length = n;
        if (scan_document(d, n, e)) return d;
    }
    json_free(&d);
    return NULL;
}

json_document *json_read(const char *path, err *e) {
    size_t n;
    uint8_t *bytes = file_read_all(path, JSON_BYTES, &n, e);
    if (!bytes) return NULL;
    json_document *d = json_parse(path, (const char *)bytes, n, e);
    mem_free(bytes);
    return d;
}

void json_free(json_document **d) {
    if (!*d) return;
    for (block *b = (*d)->last, *before; b; b = before) {
        before = b->before;
        mem_free(b);
    }
    mem_free((*d)->bytes);
    mem_free((*d)->name);
    mem_free(*d);
    *d = NULL;
}

/* --- for readers ------------------------------------------------------------------------------ */

const json_value *json_root(const json_document *d) {
    return d->root;
}
const char *json_name(const json_document *d) {
    return d->name;
}

size_t json_bytes(const json_document *d) {
    return d->length;
}

const json_value *json_get(const json_value *object, const char *key) {
    for (const json_value *v = object->child; v; v = v->next)
        if (v->key && strcmp(v->key, key) == 0) return v;
    return NULL;
}

const char *json_type_name(json_type t) {
    static const char *const NAME[JSON_TYPES] = {
        [JSON_NULL] = "null",       [JSON_BOOL] = "true or false", [JSON_NUMBER] = "a number",
        [JSON_STRING] = "a string", [JSON_ARRAY] = "an array",     [JSON_OBJECT] = "an object",
    };
    return NAME[t];
}

static bool at_place(const json_document *d, int line, int column, err *e, const char *fmt,
                     va_list ap) {
    char sentence[sizeof e->msg];
    vsnprintf(sentence, sizeof sentence, fmt, ap);
    return err_set(e, ERR_CONFIG, "%s:%d:%d: %s", d->name, line, column, sentence);
}

bool json_err(const json_document *d, const json_value *at, err *e, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    at_place(d, at->line, at->column, e, fmt, ap);
    va_end(ap);
    return false;
}

bool json_err_key(const json_document *d, const json_value *at, err *e, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    at_place(d, at->key_line, at->key_column, e, fmt, ap);
    va_end(ap);
    return false;
}
