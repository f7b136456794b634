#include "base/text.h"

static void (*on_failure)(void);

void text_on_failure(void (*call)(void)) {
    on_failure = call;
}

bool text_check(const text *t, err *e) {
    return !t->failed || err_set(e, ERR_MEMORY, "out of memory: there is none for a text");
}

static bool fail(text *t) {
    static char nothing[1];
    if (on_failure) on_failure();
    text_free(t);
    *t = (text){.s = nothing, .failed = true};
    return false;
}

static bool reserve(text *t, size_t more) {
    if (t->failed) return false;
    if (more > SIZE_MAX / 2 - t->n - 1) return fail(t);
    size_t need = t->n + 1 + more, room = t->room ? t->room : 256;
    if (need <= t->room) return true;
    while (room < need) room *= 2;
    char *s = realloc(t->s, room);
    if (!s) return fail(t);
    t->s = s;
    t->room = room;
    return true;
}

void text_add_bytes(text *t, const char *bytes, size_t n) {
    if (!reserve(t, n)) return;
    memcpy(t->s + t->n, bytes, n);
    t->n += n;
    t->s[t->n] = 0;
}

void text_add(text *t, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0) fail(t); /* longer than INT_MAX */
    if (n < 0 || !reserve(t, (size_t)n)) return;
    va_start(ap, fmt);
    vsnprintf(t->s + t->n, (size_t)n + 1, fmt, ap);
    va_end(ap);
    t->n += (size_t)n;
}

int text_utf8(const char *s, uint32_t *code) {
    const unsigned char *p = (const unsigned char *)s;
    if (p[0] < 0x80) {
        *code = p[0];
        return 1;
    }
    if (p[0] < 0xc2 || p[0] > 0xf4) return 0;
    int n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    uint32_t c = p[0] & (0x7fu >> n);
    for (int i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80) return 0;
        c = c << 6 | (p[i] & 0x3f);
    }
    static const uint32_t LOWEST[] = {[2] = 0x80, [3] = 0x800, [4] = 0x10000};
    if (c < LOWEST[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) return 0;
    *code = c;
    return n;
}

void text_add_json(text *t, const char *s) {
    text_add_json_bytes(t, s, strlen(s));
}

void text_add_json_bytes(text *t, const char *s, size_t bytes) {
    const char *end = s + bytes;
    text_add_bytes(t, "\"", 1);
    while (s < end) {
        uint32_t c = 0;
        int n = text_utf8(s, &c);
        if (n == 0)
            text_add(t, "\\ufffd");
        else if (c == '"' || c == '\\')
            text_add(t, "\\%c", (int)c);
        else if (c < 0x20)
            text_add(t, "\\u%04x", c);
        else
            text_add_bytes(t, s, (size_t)n);
        s += n ? n : 1;
    }
    text_add_bytes(t, "\"", 1);
}

/* Fills `piece` with the first character of *s as it is shown, moves *s behind it, and returns the
 * number of bytes in `piece`. */
static size_t show(const char **s, char piece[8]) {
    uint32_t c = 0;
    const char *from = *s;
    int n = text_utf8(from, &c);
    *s += n ? n : 1;
    if (n == 0 || c < 0x20 || c == 0x7f || strncmp(from, "##[", 3) == 0)
        return (size_t)snprintf(piece, 8, "\\x%02x", (unsigned char)*from);
    /* C1 controls, line and paragraph separators, and what turns the direction of writing. */
    if ((c >= 0x80 && c < 0xa0) || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
        (c >= 0x2066 && c <= 0x2069))
        return (size_t)snprintf(piece, 8, "\\u%04x", c & 0xffff);
    memcpy(piece, from, (size_t)n);
    return (size_t)n;
}

void text_add_clean(text *t, const char *s) {
    char piece[8];
    while (*s) {
        size_t n = show(&s, piece);
        text_add_bytes(t, piece, n);
    }
}

size_t text_clean(char *to, size_t room, const char *s) {
    char piece[8];
    size_t at = 0;
    while (*s) {
        size_t n = show(&s, piece);
        if (at + n >= room) break;
        memcpy(to + at, piece, n);
        at += n;
    }
    to[at] = 0;
    return at;
}

void text_add_xml(text *to, const char *s) {
    static const char SPECIAL[] = "<>&\"";
    static const char *const ESCAPED[] = {"&lt;", "&gt;", "&amp;", "&quot;"};
    for (int n; s && *s; s += n ? n : 1) {
        uint32_t code = 0;
        n = text_utf8(s, &code);
        const char *at = strchr(SPECIAL, *s);
        if (at)
            text_add(to, "%s", ESCAPED[at - SPECIAL]);
        else if (n == 0 || (code < 0x20 && code != '\n' && code != '\t') || code == 0xfffe ||
                 code == 0xffff)
            text_add(to, "\xef\xbf\xbd");
        else
            text_add_bytes(to, s, (size_t)n);
    }
}

void text_add_base64(text *to, const uint8_t *p, size_t n) {
    static const char DIGIT[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        uint32_t three = (uint32_t)p[i] << 16 | (i + 1 < n ? (uint32_t)p[i + 1] << 8 : 0) |
                         (i + 2 < n ? p[i + 2] : 0);
        char four[4];
        for (int k = 0; k < 4; k++) four[k] = DIGIT[three >> (18 - 6 * k) & 63];
        if (i + 1 >= n) four[2] = '=';
        if (i + 2 >= n) four[3] = '=';
        text_add_bytes(to, four, 4);
    }
}

void text_add_quoted(text *to, const char *word) {
    text_add(to, "'");
    for (; *word; word++) text_add(to, *word == '\'' ? "'\\''" : "%c", *word);
    text_add(to, "'");
}

void text_free(text *t) {
    if (!t->failed) free(t->s);
    *t = (text){0};
}

/* Matches one class "[...]" at *p against c; moves *p behind it. "[" alone stands for itself. */
static bool class_matches(const char **p, const char *end, char c) {
    const char *q = *p + 1;
    bool invert = q < end && (*q == '!' || *q == '^');
    if (invert) q++;
    bool found = false;
    for (const char *first = q; q < end && (*q != ']' || q == first); q++) {
        if (q + 2 < end && q[1] == '-' && q[2] != ']') {
            if (q[0] <= c && c <= q[2]) found = true;
            q += 2;
        } else if (*q == c) {
            found = true;
        }
    }
    if (q >= end) {
        *p += 1;
        return c == '[';
    }
    *p = q + 1;
    return found != invert;
}

/* Matches greedily with one backtracking point: linear in practice, quadratic at worst. */
static bool glob_range(const char *p, const char *end, const char *s) {
    const char *star = NULL, *mark = NULL;
    while (*s) {
        const char *at = p;
        if (p < end && *p == '*') {
            star = p++;
            mark = s;
            continue;
        }
        bool ok = false;
        if (p < end) {
            if (*p == '?') {
                ok = true;
                at = p + 1;
            } else if (*p == '[') {
                ok = class_matches(&at, end, *s);
            } else {
                if (*p == '\\' && p + 1 < end) at = ++p;
                ok = *at == *s;
                at++;
            }
        }
        if (ok) {
            p = at;
            s++;
        } else if (star) {
            p = star + 1;
            s = ++mark;
        } else {
            return false;
        }
    }
    while (p < end && *p == '*') p++;
    return p == end;
}

bool text_glob(const char *pattern, const char *s) {
    return glob_range(pattern, pattern + strlen(pattern), s);
}

bool text_glob_any(const char *patterns, const char *s) {
    for (text_piece p; text_item(&patterns, &p);)
        if (p.n && glob_range(p.s, p.s + p.n, s)) return true;
    return false;
}

/* Returns the first `mark` without a \ before it, or the end. */
static const char *find_mark(const char *s, const char *end, char mark) {
    for (; s < end && *s != mark; s++)
        if (*s == '\\' && s + 1 < end) s++;
    return s;
}

bool text_item(const char **list, text_piece *item) {
    const char *s = *list, *end = find_mark(s, s + strlen(s), ',');
    if (!*s) return false;
    *list = *end ? end + 1 : end;
    while (s < end && *s == ' ') s++;
    while (end > s && end[-1] == ' ') end--;
    *item = (text_piece){s, (size_t)(end - s)};
    return true;
}

bool text_part(text_piece whole, char mark, text_piece *left, text_piece *right) {
    const char *end = whole.s + whole.n, *at = find_mark(whole.s, end, mark);
    *left = (text_piece){whole.s, (size_t)(at - whole.s)};
    *right = (text_piece){at + (at < end), (size_t)(end - at) - (at < end)};
    return at < end;
}

bool text_next(const char **list, text_assignment *to) {
    text_piece item, name, value;
    if (!text_item(list, &item)) return false;
    to->value = text_part(item, '=', &name, &value) ? to->room : NULL;
    snprintf(to->name, sizeof to->name, "%.*s", (int)name.n, name.s);
    snprintf(to->room, sizeof to->room, "%.*s", (int)value.n, value.s);
    return true;
}

void text_add_piece(text *t, text_piece p) {
    for (size_t i = 0; i < p.n; i++)
        if (p.s[i] != '\\' || i + 1 == p.n || p.s[i + 1] != ',') text_add_bytes(t, p.s + i, 1);
    if (!t->s) text_add(t, "%s", "");
}

void text_add_item(text *t, const char *item, const char *marks) {
    for (const char *p = item; *p; p++) {
        bool meant = p > item && p[-1] == '\\';
        if (strchr(marks, *p) && !meant) text_add_bytes(t, "\\", 1);
        text_add_bytes(t, p, 1);
    }
}

const char *text_leading(const char *s, double *to) {
    const char *p = s + (*s == '-' || *s == '+');
    char *end;
    bool digit = *p >= '0' && *p <= '9';
    if ((!digit && *p != '.') || (p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))) return NULL;
    *to = strtod(s, &end);
    return end != s && isfinite(*to) ? end : NULL;
}

bool text_number(const char *s, double *to) {
    const char *end = text_leading(s, to);
    return end && !*end;
}

bool text_fraction(const char *s, double *to) {
    const char *end = text_leading(s, to);
    bool percent = end && *end == '%';
    if (percent) *to /= 100;
    return end && !end[percent];
}

bool text_sides(const char *s, uint32_t to[2]) {
    for (int i = 0; i < 2; i++) {
        size_t n = strspn(s, "0123456789");
        if (n < 1 || n > 9) return false;
        to[i] = (uint32_t)strtoul(s, NULL, 10);
        s += n;
        if (!*s && i == 0) to[++i] = to[0];
        if (*s && (i == 1 || *s++ != 'x')) return false;
    }
    return true;
}

enum { LONGEST_NAME = 64 };

/* Counts letters that are added, left out, changed, or swapped with the next one. */
static int edit_distance(const char *a, const char *b) {
    int rows[3][LONGEST_NAME + 1];
    size_t m = strlen(a), n = strlen(b);
    if (m > LONGEST_NAME || n > LONGEST_NAME) return LONGEST_NAME;
    for (size_t j = 0; j <= n; j++) rows[0][j] = (int)j;
    for (size_t i = 1; i <= m; i++) {
        int *row = rows[i % 3], *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        row[0] = (int)i;
        for (size_t j = 1; j <= n; j++) {
            int best = min_int(above[j], row[j - 1]) + 1;
            best = min_int(best, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = min_int(best, before[j - 2] + 1);
            row[j] = best;
        }
    }
    return rows[m % 3][n];
}

int text_nearest(const char *s, const char *const *names, int count) {
    int best = -1, distance = (int)strlen(s) / 3; /* one slip in three letters */
    for (int i = 0; i < count; i++) {
        int d = edit_distance(s, names[i]);
        if (d <= distance && (best < 0 || d < distance)) {
            best = i;
            distance = d;
        }
    }
    return best;
}

const char *text_meant(char buf[TEXT_MEANT], const char *s, const char *const *names, int count,
                       char quote) {
    int near = text_nearest(s, names, count);
    buf[0] = 0;
    if (near >= 0) snprintf(buf, TEXT_MEANT, "; did you mean %c%s%c?", quote, names[near], quote);
    return buf;
}

void text_add_number(text *t, double x) {
    char shortest[32];
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(shortest, sizeof shortest, "%.*g", digits, x);
        if (strtod(shortest, NULL) == x) break;
    }
    text_add(t, "%s", shortest);
}

const char *text_bytes(double bytes, char buf[32]) {
    static const char *const UNIT[] = {"B", "kB", "MB", "GB", "TB"};
    int u = 0;
    while (bytes >= 1000 && u < 4) {
        bytes /= 1000;
        u++;
    }
    snprintf(buf, 32, u == 0 || bytes >= 100 ? "%.0f %s" : "%.1f %s", bytes, UNIT[u]);
    return buf;
}
