#include "base/json.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"

#include <cjson/cJSON.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct json_document {
    char *name;
    size_t length;
    char *bytes; /* our copy; numbers are terminated in place once all is parsed */
    cJSON *tree; /* holds the decoded strings */
    json_value *value;
    size_t values, room;
};

/* The scanner notes one json_value per value, in the order of the document: its type and position.
 * The `text` of a number points to its first digit; it is terminated last of all. */
typedef struct {
    json_document *d;
    const unsigned char *p, *end;
    int line, column, depth;
    err *e;
} scanner;

static bool complain(scanner *s, const char *sentence) {
    return err_set(s->e, ERR_CONFIG, "%s:%d:%d: %s", s->d->name, s->line, s->column, sentence);
}

static int peek(const scanner *s) {
    return s->p < s->end ? *s->p : -1;
}

/* Moves by one byte. Columns count characters: the continuation bytes of UTF-8 do not move. */
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
    char four[5] = "";
    if (end - p >= 4) memcpy(four, p, 4);
    return strspn(four, "0123456789abcdefABCDEF") == 4 ? (int)strtol(four, NULL, 16) : -1;
}

static bool scan_escape(scanner *s) {
    int c = s->end - s->p > 1 ? s->p[1] : 0;
    if (c == 0 || !strchr("\"\\/bfnrtu", c))
        return complain(s, "after a backslash a string needs one of \" \\ / b f n r t u");
    int bytes = 2;
    if (c == 'u') {
        int v = hex4(s->p + 2, s->end);
        if (v < 0) return complain(s, "\\u needs four hexadecimal digits");
        if (v == 0) return complain(s, "a string cannot hold a zero character");
        bytes = 6;
        if (v >= 0xd800 && v < 0xe000) {
            bool pair = v < 0xdc00 && s->end - s->p >= 12 && s->p[6] == '\\' && s->p[7] == 'u';
            int low = pair ? hex4(s->p + 8, s->end) : -1;
            if (low < 0xdc00 || low > 0xdfff)
                return complain(s, "this \\u is half of a surrogate pair; write both halves");
            bytes = 12;
        }
    }
    while (bytes--) step(s);
    return true;
}

static bool scan_string(scanner *s) {
    scanner start = *s;
    step(s);
    while (peek(s) != '"') {
        int c = peek(s);
        if (c < 0 || c == '\n') return complain(&start, "this string has no closing quote");
        if (c < 0x20) return complain(s, "a control character in a string; write it as \\u00XX");
        if (c == '\\') {
            if (!scan_escape(s)) return false;
            continue;
        }
        uint32_t code;
        int n = text_utf8((const char *)s->p, &code);
        if (n == 0) return complain(s, "these bytes are not UTF-8");
        while (n--) step(s);
    }
    step(s);
    return true;
}

static int digits(scanner *s) {
    int n = 0;
    for (; peek(s) >= '0' && peek(s) <= '9'; n++) step(s);
    return n;
}

/* cJSON reads no longer ones. */
enum { NUMBER_MOST = 63 };

static bool scan_number(scanner *s) {
    scanner start = *s;
    if (peek(s) == '-') step(s);
    bool zero = peek(s) == '0';
    int n = digits(s);
    if (n == 0) return complain(&start, "a number needs a digit here");
    if (zero && n > 1) return complain(&start, "a number must not start with a zero");
    if (peek(s) == '.') {
        step(s);
        if (digits(s) == 0) return complain(s, "a number needs a digit behind its point");
    }
    if (peek(s) == 'e' || peek(s) == 'E') {
        step(s);
        if (peek(s) == '+' || peek(s) == '-') step(s);
        if (digits(s) == 0) return complain(s, "a number needs a digit in its exponent");
    }
    if (s->p - start.p > NUMBER_MOST)
        return complain(&start, "a number must have at most 63 characters");
    return true;
}

static bool scan_word(scanner *s, json_type *type) {
    static const char *const WORD[] = {"null", "true", "false"};
    for (int i = 0; i < 3; i++) {
        size_t n = strlen(WORD[i]);
        if ((size_t)(s->end - s->p) >= n && memcmp(s->p, WORD[i], n) == 0) {
            while (n--) step(s);
            *type = i == 0 ? JSON_NULL : JSON_BOOL;
            return true;
        }
    }
    if (peek(s) < 0) return complain(s, "the file ends where a value should be");
    if (peek(s) == '\'') return complain(s, "strings and keys must be in double quotes");
    return complain(
        s, "not a value: expected a string in double quotes, a number, true, false, null, [ or {");
}

/* Adds a value to the document's list and gives its index, because the list moves as it grows. */
static bool note_value(scanner *s, size_t *index) {
    json_document *d = s->d;
    if (d->values == JSON_VALUES)
        return err_set(s->e, ERR_CONFIG, "%s:%d:%d: the file has more than %d values", d->name,
                       s->line, s->column, JSON_VALUES);
    if (d->values == d->room) {
        size_t room = d->room ? d->room * 2 : 64;
        json_value *v = mem_raw(room, sizeof *v, "JSON values", s->e);
        if (!v) return false;
        if (d->values) memcpy(v, d->value, d->values * sizeof *v);
        mem_free(d->value);
        d->value = v;
        d->room = room;
    }
    *index = d->values++;
    d->value[*index] =
        (json_value){.of = d, .line = s->line, .column = s->column, .text = (const char *)s->p};
    return true;
}

static bool scan_value(scanner *s, int key_line, int key_column);

/* Scans what is between the brackets, and the closing one. */
static bool scan_members(scanner *s, char close) {
    if (!skip_blanks(s)) return false;
    if (peek(s) == close) return step(s), true;
    for (;;) {
        int line = s->line, column = s->column;
        if (close == '}') {
            if (peek(s) < 0) return complain(s, "the file ends inside an object");
            if (peek(s) != '"') return complain(s, "expected a key in double quotes");
            if (!scan_string(s) || !skip_blanks(s)) return false;
            if (peek(s) != ':') return complain(s, "expected a colon after the key");
            step(s);
            if (!skip_blanks(s)) return false;
        }
        if (!scan_value(s, line, column) || !skip_blanks(s)) return false;
        if (peek(s) == close) return step(s), true;
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
}

static bool scan_value(scanner *s, int key_line, int key_column) {
    size_t index = 0;
    json_type type = JSON_NULL;
    if (!note_value(s, &index)) return false;
    s->d->value[index].key_line = key_line;
    s->d->value[index].key_column = key_column;
    int c = peek(s);
    if (c == '{' || c == '[') {
        type = c == '{' ? JSON_OBJECT : JSON_ARRAY;
        if (++s->depth > JSON_DEPTH) return complain(s, "values are nested deeper than 64 levels");
        step(s);
        if (!scan_members(s, c == '{' ? '}' : ']')) return false;
        s->depth--;
    } else if (c == '"') {
        type = JSON_STRING;
        if (!scan_string(s)) return false;
    } else if (c == '-' || (c >= '0' && c <= '9')) {
        type = JSON_NUMBER;
        if (!scan_number(s)) return false;
    } else if (!scan_word(s, &type)) {
        return false;
    }
    s->d->value[index].type = type;
    return true;
}

static bool scan_document(json_document *d, size_t n, err *e) {
    scanner s = {d, (const unsigned char *)d->bytes, (const unsigned char *)d->bytes + n, 1, 1, 0,
                 e};
    if (n >= 3 && memcmp(d->bytes, "\xef\xbb\xbf", 3) == 0)
        return complain(&s, "the file starts with a byte order mark; save it as UTF-8 without one");
    if (!skip_blanks(&s)) return false;
    if (s.p == s.end) return complain(&s, "the file is empty; the minimum is {\"version\": 1}");
    if (!scan_value(&s, 0, 0) || !skip_blanks(&s)) return false;
    if (s.p < s.end) return complain(&s, "there is more after the end of the value");
    return true;
}

static int by_key(const void *a, const void *b) {
    const json_value *x = *(json_value *const *)a, *y = *(json_value *const *)b;
    int order = strcmp(x->key, y->key);
    return order ? order : (x > y) - (x < y);
}

static bool check_duplicates(json_value *object, err *e) {
    if (object->children < 2) return true;
    OWN_MEM json_value **member = mem_new((size_t)object->children, sizeof *member, "keys", e);
    if (!member) return false;
    int n = 0;
    bool ok = true;
    for (json_value *v = object->child; v; v = v->next) member[n++] = v;
    qsort(member, (size_t)n, sizeof *member, by_key);
    for (int i = 1; i < n && ok; i++)
        if (strcmp(member[i - 1]->key, member[i]->key) == 0)
            ok = json_err_key(member[i], e, "\"%s\" was already given in line %d", member[i]->key,
                              member[i - 1]->key_line);
    return ok;
}

/* Joins value `*index` of the list with `node` of the tree, and all values inside it, in order. */
static bool join(json_document *d, const cJSON *node, size_t *index, err *e) {
    if (*index >= d->values) return err_set(e, ERR_INTERNAL, "%s: JSON values lost", d->name);
    json_value *v = &d->value[(*index)++], **link = &v->child;
    v->key = node->string;
    v->number = node->valuedouble;
    if (v->type == JSON_STRING) v->text = node->valuestring;
    if (v->type == JSON_NULL) v->text = "null";
    if (v->type == JSON_BOOL) v->text = cJSON_IsTrue(node) ? "true" : "false";
    if (v->type == JSON_ARRAY || v->type == JSON_OBJECT) v->text = NULL;
    for (const cJSON *c = node->child; c; c = c->next, v->children++) {
        *link = &d->value[*index];
        if (!join(d, c, index, e)) return false;
        link = &(*link)->next;
    }
    return v->type != JSON_OBJECT || check_duplicates(v, e);
}

json_document *json_parse(const char *name, const char *bytes, size_t n, err *e) {
    OWN(json_document) *d = mem_new(1, sizeof *d, "JSON document", e);
    size_t index = 0;
    if (!d) return NULL;
    if (!(d->name = mem_str(name, e)) || !(d->bytes = mem_new(n + 1, 1, name, e))) return NULL;
    memcpy(d->bytes, bytes, n);
    d->length = n;
    if (!scan_document(d, n, e)) return NULL;
    /* The scan has let only JSON through. */
    if (!(d->tree = cJSON_ParseWithLengthOpts(d->bytes, n + 1, NULL, true))) {
        err_set(e, ERR_MEMORY, "%s: out of memory: there is none to decode it", name);
        return NULL;
    }
    if (!join(d, d->tree, &index, e)) return NULL;
    /* The byte behind a number is a blank, a comma or a bracket, which is not needed any more. */
    for (size_t i = 0; i < d->values; i++)
        if (d->value[i].type == JSON_NUMBER)
            d->bytes[d->value[i].text - d->bytes +
                     (long)strspn(d->value[i].text, "+-.eE0123456789")] = 0;
    return GIVE(d);
}

/* Reads what `--config <(...)` names in a shell. */
static json_document *read_pipe(const char *path, err *e) {
    OWN(text) whole = {0};
    char piece[4096];
    json_document *d = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : 1;
    while (n > 0 && whole.n <= JSON_BYTES) {
        n = read(fd, piece, sizeof piece);
        if (n > 0) text_add_bytes(&whole, piece, (size_t)n);
    }
    if (n < 0)
        err_errno(e, ERR_NO_INPUT, "cannot read '%s'", path);
    else if (whole.n > JSON_BYTES)
        err_set(e, ERR_DATA, "'%s' has more than the %d bytes allowed here", path, JSON_BYTES);
    else if (text_check(&whole, e))
        d = json_parse(path, whole.s ? whole.s : "", whole.n, e);
    if (fd >= 0) close(fd);
    return d;
}

json_document *json_read(const char *path, err *e) {
    size_t n;
    struct stat st;
    if (stat(path, &st) == 0 && S_ISFIFO(st.st_mode)) return read_pipe(path, e);
    OWN_MEM uint8_t *bytes = file_read_all(path, JSON_BYTES, &n, e);
    if (!bytes) return NULL;
    json_document *d = json_parse(path, (const char *)bytes, n, e);
    return d;
}

void json_document_free(json_document **d) {
    if (!*d) return;
    cJSON_Delete((*d)->tree);
    mem_free((*d)->value);
    mem_free((*d)->bytes);
    mem_free((*d)->name);
    mem_free(*d);
    *d = NULL;
}

const json_value *json_root(const json_document *d) {
    return d->value;
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

static bool err_at(const json_value *at, bool key, err *e, const char *fmt, va_list ap) {
    char sentence[sizeof e->msg];
    vsnprintf(sentence, sizeof sentence, fmt, ap);
    va_end(ap);
    return err_set(e, ERR_CONFIG, "%s:%d:%d: %s", at->of->name, key ? at->key_line : at->line,
                   key ? at->key_column : at->column, sentence);
}

bool json_err(const json_value *at, err *e, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    return err_at(at, false, e, fmt, ap);
}

bool json_err_key(const json_value *at, err *e, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    return err_at(at, true, e, fmt, ap);
}
