#include "image/exr/exr_file.h"

#include "base/mem.h"

typedef enum { NUMBER_INT, NUMBER_FLOAT, NUMBER_DOUBLE } number_kind;

static const struct {
    const char *type;
    number_kind kind;
    int count; /* 0: as many as there are */
} NUMBERS[] = {
    {"box2i", NUMBER_INT, 4},     {"box2f", NUMBER_FLOAT, 4}, {"chromaticities", NUMBER_FLOAT, 8},
    {"double", NUMBER_DOUBLE, 1}, {"float", NUMBER_FLOAT, 1}, {"floatvector", NUMBER_FLOAT, 0},
    {"int", NUMBER_INT, 1},       {"keycode", NUMBER_INT, 7}, {"m33f", NUMBER_FLOAT, 9},
    {"m33d", NUMBER_DOUBLE, 9},   {"m44f", NUMBER_FLOAT, 16}, {"m44d", NUMBER_DOUBLE, 16},
    {"v2i", NUMBER_INT, 2},       {"v2f", NUMBER_FLOAT, 2},   {"v2d", NUMBER_DOUBLE, 2},
    {"v3i", NUMBER_INT, 3},       {"v3f", NUMBER_FLOAT, 3},   {"v3d", NUMBER_DOUBLE, 3},
};

/* Adds up to nine digits, which tell floats apart, or seventeen for doubles. */
static void add_real(double v, int digits, bool json, text *to) {
    char buf[40];
    if (!isfinite(v) && json) {
        text_add(to, "null");
        return;
    }
    for (int n = digits - 3; n <= digits; n++) {
        double back;
        snprintf(buf, sizeof buf, "%.*g", n, v);
        if (sscanf(buf, "%lf", &back) == 1 && (digits == 9 ? (float)back == (float)v : back == v))
            break;
    }
    text_add(to, "%s", buf);
}

static void add_numbers(const uint8_t *at, size_t count, number_kind kind, bool json, text *to) {
    size_t size = kind == NUMBER_DOUBLE ? 8 : 4;
    bool list = json && count != 1;
    union {
        int32_t whole;
        float f;
        double d;
    } v;
    if (list) text_add(to, "[");
    for (size_t i = 0; i < count; i++) {
        if (i) text_add(to, json ? ", " : " ");
        memcpy(&v, at + i * size, size);
        if (kind == NUMBER_INT)
            text_add(to, "%" PRId32, v.whole);
        else
            add_real(size == 4 ? (double)v.f : v.d, size == 4 ? 9 : 17, json, to);
    }
    if (list) text_add(to, "]");
}

typedef struct {
    bool json;
    size_t longest;
} style;

/* Adds a string, whose bytes have no zero at their end, and may have zeros within. For people,
 * control characters become blanks, and a long string is cut between two characters. */
static void add_string(const uint8_t *s, size_t n, const style *st, text *to) {
    OWN(text) copy = {0};
    size_t shown = st->json || n <= st->longest ? n : st->longest;
    while (shown < n && shown > 0 && (s[shown] & 0xc0) == 0x80) shown--;
    text_add_bytes(&copy, (const char *)s, shown);
    for (size_t i = 0; !st->json && i < shown; i++)
        if (s[i] < 0x20 || s[i] == 0x7f) copy.s[i] = ' ';
    if (st->json)
        text_add_json_bytes(to, copy.s, copy.n);
    else
        text_add_clean(to, copy.s);
    if (shown < n) text_add(to, "... (%zu bytes)", n);
}

/* Shows strings, each of which has its length before it. */
static bool show_strings(const image_attr *a, const style *st, text *to) {
    OWN(text) list = {0};
    uint32_t n;
    if (st->json) text_add(&list, "[");
    for (uint32_t at = 0; at < a->bytes; at += n) {
        if (a->bytes - at < 4) return false;
        memcpy(&n, a->data + at, 4);
        if (n > a->bytes - at - 4) return false;
        if (at) text_add(&list, ", ");
        at += 4;
        add_string(a->data + at, n, st, &list);
    }
    if (st->json) text_add(&list, "]");
    if (list.n) text_add_bytes(to, list.s, list.n);
    return true;
}

static bool show_compression(const image_attr *a, text *to) {
    if (a->bytes != 1 || a->data[0] >= COMPRESSIONS) return false;
    text_add(to, "%s", compression_name((compression)a->data[0]));
    return true;
}

/* Shows hours, minutes, seconds and frames: two decimal digits each, with flags between them. */
static bool show_time_code(const image_attr *a, text *to) {
    uint32_t v;
    if (a->bytes != 8) return false;
    memcpy(&v, a->data, 4);
    text_add(to, "%02" PRIx32 ":%02" PRIx32 ":%02" PRIx32 ":%02" PRIx32, v >> 24 & 0x3f,
             v >> 16 & 0x7f, v >> 8 & 0x7f, v & 0x3f);
    return true;
}

static bool show_rational(const image_attr *a, text *to) {
    int32_t v;
    uint32_t by;
    if (a->bytes != 8) return false;
    memcpy(&v, a->data, 4);
    memcpy(&by, a->data + 4, 4);
    text_add(to, "%" PRId32 "/%u", v, by);
    return true;
}

static bool show_tiles(const image_attr *a, text *to) {
    static const char *const LEVELS[] = {"one level", "mipmap", "ripmap"};
    uint32_t side[2];
    if (a->bytes != 9 || (a->data[8] & 15) > 2) return false;
    memcpy(side, a->data, sizeof side);
    text_add(to, "%u x %u, %s", side[0], side[1], LEVELS[a->data[8] & 15]);
    return true;
}

/* Types that are shown by a word, which has quotes in JSON: by a function, or one of the words by
 * the number that the only byte has. */
static const struct {
    const char *type;
    bool (*show)(const image_attr *a, text *to);
    const char *word[3];
} WORD[] = {
    {"compression", show_compression, {NULL}},
    {"envmap", NULL, {"latlong", "cube"}},
    {"lineOrder", NULL, {"increasing", "decreasing", "random"}},
    {"rational", show_rational, {NULL}},
    {"tiledesc", show_tiles, {NULL}},
    {"timecode", show_time_code, {NULL}},
};

static bool show(const image_attr *a, const style *st, text *to) {
    if (strcmp(a->type, "stringvector") == 0) return show_strings(a, st, to);
    if (strcmp(a->type, "string") == 0) return add_string(a->data, a->bytes, st, to), true;
    for (size_t i = 0; i < COUNT(WORD); i++) {
        if (strcmp(a->type, WORD[i].type) != 0) continue;
        OWN(text) word = {0};
        const char *known = a->bytes == 1 && a->data[0] < 3 ? WORD[i].word[a->data[0]] : NULL;
        if (known) text_add(&word, "%s", known);
        bool ok = known || (WORD[i].show && WORD[i].show(a, &word));
        if (ok) text_add(to, st->json ? "\"%s\"" : "%s", word.s);
        return ok;
    }
    for (size_t i = 0; i < COUNT(NUMBERS); i++) {
        if (strcmp(a->type, NUMBERS[i].type) != 0) continue;
        size_t size = NUMBERS[i].kind == NUMBER_DOUBLE ? 8 : 4;
        size_t count = NUMBERS[i].count ? (size_t)NUMBERS[i].count : a->bytes / size;
        if (count * size != a->bytes) return false;
        add_numbers(a->data, count, NUMBERS[i].kind, st->json, to);
        return true;
    }
    return false;
}

void exr_attr_text(const image_attr *a, size_t longest, text *to) {
    if (!show(a, &(style){false, longest}, to)) text_add(to, "(%u bytes)", a->bytes);
}

void exr_attr_json(const image_attr *a, text *to) {
    if (!show(a, &(style){true, 0}, to)) text_add(to, "{\"bytes\": %u}", a->bytes);
}
