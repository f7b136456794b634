#include "image/layers.h"

#include "base/mem.h"
#include "base/text.h"

#include <ctype.h>
#include <strings.h>

/* A full name is "layer.leaf"; the layer may have dots of its own, or be empty. */
static const char *leaf_of(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

static size_t layer_length(const char *name) {
    const char *leaf = leaf_of(name);
    return leaf == name ? 0 : (size_t)(leaf - name) - 1;
}

static bool same_layer(const char *a, const char *b) {
    size_t n = layer_length(a);
    return n == layer_length(b) && memcmp(a, b, n) == 0;
}

typedef enum { ROLE_RED, ROLE_GREEN, ROLE_BLUE, ROLE_ALPHA, ROLE_LUMINANCE, ROLE_NONE } role;

static role role_of(const char *name) {
    static const char *const ROLE[ROLE_NONE][2] = {
        {"r", "red"}, {"g", "green"}, {"b", "blue"}, {"a", "alpha"}, {"y", "luminance"}};
    const char *leaf = leaf_of(name);
    for (int i = 0; i < ROLE_NONE; i++)
        if (strcasecmp(leaf, ROLE[i][0]) == 0 || strcasecmp(leaf, ROLE[i][1]) == 0) return (role)i;
    return ROLE_NONE;
}

/* Words in the name of a layer or part that mean data. A name is cut into words at all characters
 * that are not letters, and before a capital that follows a small letter. */
static const char *const DATA_WORD[] = {
    "depth",       "zdepth",   "worldp",     "normal",      "normals",      "bumpnormal",
    "bumpnormals", "position", "positions",  "pos",         "pref",         "nref",
    "pworld",      "worldpos", "uv",         "uvs",         "uvw",          "st",
    "stmap",       "uvmap",    "texcoord",   "motion",      "motionvector", "velocity",
    "vector",      "vectors",  "flow",       "disparity",   "id",           "ids",
    "objectid",    "objid",    "materialid", "matid",       "renderid",     "nodeid",
    "instanceid",  "primid",   "indexob",    "indexma",     "index",        "mask",
    "masks",       "matte",    "mattes",     "multimatte",  "puzzlematte",  "mist",
    "coverage",    "tangent",  "tangents",   "barycentric", "samplecount",
};
/* These are too short to be found within longer names: they stand between two dots. */
static const char *const DATA_NAME[] = {"z", "n", "ng", "ns", "p", "po", "pw", "mv", "xyz"};

static bool is_one_of(const char *s, size_t n, const char *const *list, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strlen(list[i]) == n && strncasecmp(s, list[i], n) == 0) return true;
    return false;
}

static bool component_is_data(const char *s, size_t n) {
    if (n >= 6 && strncasecmp(s, "crypto", 6) == 0) return true;
    if (is_one_of(s, n, DATA_NAME, COUNT(DATA_NAME)) ||
        is_one_of(s, n, DATA_WORD, COUNT(DATA_WORD)))
        return true;
    for (size_t i = 0; i < n;) {
        size_t word = 0; /* the length of the word at i */
        for (const char *w = s + i; word < n - i && isalpha((unsigned char)w[word]); word++)
            if (word && islower((unsigned char)w[word - 1]) && isupper((unsigned char)w[word]))
                break;
        if (word && is_one_of(s + i, word, DATA_WORD, COUNT(DATA_WORD))) return true;
        i += word ? word : 1;
    }
    return false;
}

/* Returns whether any part of a name between dots is a name of data. */
static bool name_is_data(const char *s, size_t n) {
    for (size_t at = 0; at < n;) {
        size_t length = 0;
        while (at + length < n && s[at + length] != '.') length++;
        if (component_is_data(s + at, length)) return true;
        at += length + 1;
    }
    return false;
}

/* Returns whether a channel is one of Cryptomatte. The names of its layers start with the value of
 * the attribute `cryptomatte/<key>/name`. */
static bool is_cryptomatte(const image_part *p, const char *name) {
    static const char PREFIX[] = "cryptomatte/", SUFFIX[] = "/name";
    for (int i = 0; i < p->attrs; i++) {
        const image_attr *a = &p->attr[i];
        size_t n = strlen(a->name);
        if (n < sizeof PREFIX + sizeof SUFFIX || a->bytes == 0 ||
            strncmp(a->name, PREFIX, sizeof PREFIX - 1) != 0 ||
            strcmp(a->name + n - (sizeof SUFFIX - 1), SUFFIX) != 0)
            continue;
        if (strlen(name) >= a->bytes && memcmp(name, a->data, a->bytes) == 0) return true;
    }
    return false;
}

/* Returns whether the layer has an X, beside which Y is the second of three coordinates. */
static bool has_x(const image_part *p, const char *name) {
    for (int c = 0; c < p->channels; c++)
        if (same_layer(p->channel[c].name, name) &&
            strcasecmp(leaf_of(p->channel[c].name), "x") == 0)
            return true;
    return false;
}

/* Returns whether a channel may be light, judged by names and types alone. A part's only channel is
 * its picture (`lone`), whatever its name, unless that is a name of data. */
static bool looks_like_colour(const image_part *p, int c, bool lone) {
    const char *name = p->channel[c].name;
    const image_attr *id = image_find_attr(p, "colorInteropID");
    role r = role_of(name);
    bool may = lone ? r != ROLE_ALPHA : r != ROLE_NONE && !(r == ROLE_LUMINANCE && has_x(p, name));
    return may && p->channel[c].type != PIXEL_UINT &&
           !name_is_data(name, lone ? strlen(name) : layer_length(name)) &&
           !(p->name && name_is_data(p->name, strlen(p->name))) && !is_cryptomatte(p, name) &&
           !(id && id->bytes == strlen("data") && memcmp(id->data, "data", id->bytes) == 0);
}

/* Returns the first channel of a role in the layer of `like`, among those that `take` allows (NULL:
 * all), or -1. Y is luminance only if no X makes it a coordinate. */
static int find_role(const image_part *p, const bool *take, const char *like, role r) {
    if (r == ROLE_LUMINANCE && has_x(p, like)) return -1;
    for (int c = 0; c < p->channels; c++)
        if ((!take || take[c]) && same_layer(p->channel[c].name, like) &&
            role_of(p->channel[c].name) == r)
            return c;
    return -1;
}

/* Returns whether the name of its layer stands for this channel: it stands for colour and alpha, or
 * in a layer without colour for all channels. */
static bool belongs(const image_part *p, const char *name) {
    bool rgb = find_role(p, NULL, name, ROLE_RED) >= 0 &&
               find_role(p, NULL, name, ROLE_GREEN) >= 0 &&
               find_role(p, NULL, name, ROLE_BLUE) >= 0;
    role r = role_of(name);
    if (rgb) return r <= ROLE_ALPHA;
    if (find_role(p, NULL, name, ROLE_LUMINANCE) >= 0) return r >= ROLE_ALPHA && r != ROLE_NONE;
    return true;
}

static bool matches(const char *globs, const image_part *p, int c) {
    const char *name = p->channel[c].name;
    char layer[256] = "";
    size_t n = layer_length(name);
    if (text_glob_any(globs, name)) return true;
    if (!belongs(p, name)) return false;
    if (n == 0) return text_glob_any(globs, "rgba") || (p->name && text_glob_any(globs, p->name));
    memcpy(layer, name, n < sizeof layer ? n : sizeof layer - 1);
    return text_glob_any(globs, layer);
}

/* Refuses a name that stands for uint channels only: one of them, or a layer of nothing else. */
static bool check_no_uint(const image_part *p, const char *layers, err *e) {
    text_piece glob;
    for (const char *at = layers; text_item(&at, &glob);) {
        if (!glob.n) continue;
        bool uints = false, others = false;
        for (int c = 0; c < p->channels; c++) {
            const char *name = p->channel[c].name;
            if (strncmp(name, glob.s, glob.n) != 0 ||
                (strlen(name) != glob.n && layer_length(name) != glob.n))
                continue;
            uints |= p->channel[c].type == PIXEL_UINT;
            others |= p->channel[c].type != PIXEL_UINT;
        }
        if (uints && !others)
            return err_set(
                e, ERR_USAGE,
                "'%.*s' in layers holds integers (uint), which are data and cannot be convolved",
                (int)glob.n, glob.s);
    }
    return true;
}

/* Finds the name under which people know a channel: that of its layer, or its own if the layer's
 * name does not stand for it. Returns its length. */
static size_t known_name(const image_header *h, const image_part *p, int c, const char **name) {
    const char *full = p->channel[c].name;
    size_t n = layer_length(full);
    bool colour = find_role(p, NULL, full, ROLE_RED) >= 0 ||
                  find_role(p, NULL, full, ROLE_LUMINANCE) >= 0;
    *name = full;
    if (!belongs(p, full)) return strlen(full);
    if (n) return n;
    if (colour) *name = h->parts > 1 && p->name ? p->name : "rgba";
    return strlen(*name);
}

/* Adds a list such as "rgba, Z, id", each name once. */
static void list_layers(const image_header *h, text *to) {
    enum { MOST = 32 };
    const char *seen[MOST];
    size_t length[MOST], count = 0;
    for (int i = 0; i < h->parts; i++)
        for (int c = 0; c < h->part[i].channels; c++) {
            const char *name;
            size_t n = known_name(h, &h->part[i], c, &name), k = 0;
            while (k < count && !(length[k] == n && memcmp(seen[k], name, n) == 0)) k++;
            if (k < count) continue;
            text_add(to, "%s", count ? ", " : "");
            if (count == MOST) {
                text_add(to, "...");
                return;
            }
            seen[count] = name;
            length[count++] = n;
            text_add_bytes(to, name, n);
        }
}

static bool check_globs(const char *option, const char *globs, const image_header *h, err *e) {
    text_piece item;
    for (const char *at = globs; at && text_item(&at, &item);) {
        if (!item.n) continue;
        OWN(text) glob = {0}, names = {0};
        text_add_bytes(&glob, item.s, item.n);
        bool ok = false;
        for (int i = 0; i < h->parts; i++)
            for (int c = 0; !ok && c < h->part[i].channels; c++)
                ok = matches(glob.s, &h->part[i], c);
        if (ok) continue;
        list_layers(h, &names);
        return err_set(e, ERR_USAGE, "no layer matches --%s '%s'; this file has: %s", option,
                       glob.s, names.s);
    }
    return true;
}

bool layer_globs_check(const image_header *h, const char *layers, const char *exclude, err *e) {
    return check_globs("layers", layers, h, e) && check_globs("exclude", exclude, h, e);
}

typedef struct {
    layer_map map;
    const image_part *part;
    bool *take;  /* per channel: it may be in a group */
    bool forced; /* a channel whose name is not one of colour becomes a group of its own */
} maker;

static bool add_group(layer_map *m, layer_group g, const char *name, size_t n, err *e) {
    if (!(g.name = mem_raw(n + 1, 1, "a name", e))) return false;
    memcpy(g.name, name, n);
    g.name[n] = 0;
    for (int k = 0; k < g.channels; k++) m->is_data[g.channel[k]] = false;
    if (g.alpha >= 0) m->is_data[g.alpha] = false;
    m->group[m->groups++] = g;
    return true;
}

/* Adds the group that channel c begins, if it begins one. R G B are one group, which begins with
 * the first of them in the file. */
static bool add_group_of(maker *k, int c, err *e) {
    layer_map *m = &k->map;
    const image_part *p = k->part;
    const bool *take = k->take;
    const char *name = p->channel[c].name;
    size_t n = layer_length(name);
    int r = find_role(p, take, name, ROLE_RED), g = find_role(p, take, name, ROLE_GREEN),
        b = find_role(p, take, name, ROLE_BLUE), y = find_role(p, take, name, ROLE_LUMINANCE),
        alpha = find_role(p, take, name, ROLE_ALPHA);
    bool rgb = r >= 0 && g >= 0 && b >= 0;
    if (rgb && (c == r || c == g || c == b))
        return add_group(m, (layer_group){NULL, {r, g, b}, 3, alpha}, name, n, e);
    if (!rgb && c == y) return add_group(m, (layer_group){NULL, {y, -1, -1}, 1, alpha}, name, n, e);
    if (!k->forced || (c == alpha && (rgb || y >= 0))) return true;
    return add_group(m, (layer_group){NULL, {c, -1, -1}, 1, -1}, name, strlen(name), e);
}

bool layer_map_make(layer_map *out, const image_part *p, const char *layers, const char *exclude,
                    err *e) {
    size_t n = (size_t)p->channels;
    if (layers && !check_no_uint(p, layers, e)) return false;
    bool lone = !layers && n == 1 && looks_like_colour(p, 0, true);
    maker k = {.part = p, .forced = layers || lone};
    layer_map *m = &k.map;
    OWN_MEM bool *take = k.take = mem_new(n, sizeof *take, "layers", e);
    m->is_data = mem_new(n, sizeof *m->is_data, "layers", e);
    m->group = mem_new(n, sizeof *m->group, "layers", e);
    bool ok = take && m->is_data && m->group;
    for (int c = 0; ok && c < p->channels; c++) {
        m->is_data[c] = true;
        take[c] = layers ? matches(layers, p, c) && p->channel[c].type != PIXEL_UINT
                         : lone || looks_like_colour(p, c, false);
        if (exclude && matches(exclude, p, c)) take[c] = false;
    }
    /* The unnamed layer first. */
    for (int named = 0; named < 2; named++)
        for (int c = 0; ok && c < p->channels; c++) {
            bool has_name = layer_length(p->channel[c].name) > 0;
            if (has_name == (bool)named && take[c] && m->is_data[c]) ok = add_group_of(&k, c, e);
        }
    if (!ok) return layer_map_free(m), false;
    *out = *m;
    return true;
}

void layer_map_free(layer_map *m) {
    for (int g = 0; g < m->groups; g++) mem_free(m->group[g].name);
    mem_free(m->group);
    mem_free(m->is_data);
    *m = (layer_map){0};
}
