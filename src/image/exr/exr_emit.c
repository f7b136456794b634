#include "image/exr/exr_emit.h"

#include "image/exr/exr_file.h"

#include <string.h>

/* --- values that are made from fields ----------------------------------------------------- */

typedef struct {
    const image_part *part;
    const exr_layout *layout;
    bool multipart;
} emitter;

static void put8(text *t, uint8_t v) {
    text_add_bytes(t, (const char *)&v, 1);
}
static void put32(text *t, uint32_t v) {
    text_add_bytes(t, (const char *)&v, 4);
}
static void put_name(text *t, const char *s) {
    text_add_bytes(t, s, strlen(s) + 1);
}
static void put_channels(text *t, const emitter *m) {
    for (int c = 0; c < m->part->channels; c++) {
        const image_channel *ch = &m->part->channel[c];
        put_name(t, ch->name);
        put32(t, ch->type);
        put32(t, ch->linear); /* one byte, and three that are unused */
        put32(t, 1);
        put32(t, 1);
    }
    put8(t, 0);
}

static void put_chunk_count(text *t, const emitter *m) {
    put32(t, (uint32_t)exr_layout_chunks(m->layout));
}
static void put_compression(text *t, const emitter *m) {
    put8(t, (uint8_t)m->part->packing);
}
/* Only tiles may come in any order. */
static void put_order(text *t, const emitter *m) {
    bool possible = m->part->tile_w || m->part->order != LINES_RANDOM;
    put8(t, possible ? (uint8_t)m->part->order : LINES_INCREASING);
}
static void put_part_name(text *t, const emitter *m) {
    text_add_bytes(t, m->part->name, strlen(m->part->name));
}
static void put_tiles(text *t, const emitter *m) {
    put32(t, m->part->tile_w);
    put32(t, m->part->tile_h);
    put8(t, 0); /* one level */
}
static void put_type(text *t, const emitter *m) {
    const char *type = m->part->tile_w ? "tiledimage" : "scanlineimage";
    text_add_bytes(t, type, strlen(type));
}

/* --- when they are there ------------------------------------------------------------------ */

static bool always(const emitter *m) {
    (void)m;
    return true;
}
static bool when_multipart(const emitter *m) {
    return m->multipart;
}
static bool when_tiled(const emitter *m) {
    return m->part->tile_w != 0;
}
static bool when_named(const emitter *m) {
    return m->part->name != NULL;
}

/* Attributes that are made from fields. A value is what `put` adds; or, without one, the `bytes`
 * at `place` in the part; or, without these, the part's own value, and `initial` where it has
 * none. */
typedef struct {
    const char *name, *type;
    bool (*add)(const emitter *m);  /* to a part that has no such attribute? */
    bool (*keep)(const emitter *m); /* in a part that has one? */
    void (*put)(text *t, const emitter *m);
    size_t place, bytes;
    float initial[2];
} field;

static const field FIELD[] = {
    {"channels", "chlist", always, always, .put = put_channels},
    {"chunkCount", "int", when_multipart, always, .put = put_chunk_count},
    {"compression", "compression", always, always, .put = put_compression},
    {"dataWindow", "box2i", always, always, .place = offsetof(image_part, data), .bytes = 16},
    {"displayWindow", "box2i", always, always, .place = offsetof(image_part, display), .bytes = 16},
    {"lineOrder", "lineOrder", always, always, .put = put_order},
    {"name", "string", when_named, when_named, .put = put_part_name},
    {"pixelAspectRatio", "float", always, always, .place = offsetof(image_part, aspect),
     .bytes = 4},
    {"screenWindowCenter", "v2f", always, always, .initial = {0, 0}},
    {"screenWindowWidth", "float", always, always, .initial = {1}},
    {"tiles", "tiledesc", when_tiled, when_tiled, .put = put_tiles},
    {"type", "string", when_multipart, always, .put = put_type},
};
enum { FIELDS = sizeof FIELD / sizeof *FIELD };

/* --- headers ------------------------------------------------------------------------------ */

/* Adds the attribute of a field; `own` is the part's attribute of that name, or NULL. */
static void emit_field(text *t, const emitter *m, const field *f, const image_attr *own) {
    bool made = f->put || f->bytes;
    put_name(t, f->name);
    put_name(t, made || !own ? f->type : own->type);
    size_t size_at = t->n;
    put32(t, 0);
    if (f->put)
        f->put(t, m);
    else if (f->bytes)
        text_add_bytes(t, (const char *)m->part + f->place, f->bytes);
    else if (own)
        text_add_bytes(t, (const char *)own->data, own->bytes);
    else
        text_add_bytes(t, (const char *)f->initial, strcmp(f->type, "v2f") == 0 ? 8 : 4);
    uint32_t size = (uint32_t)(t->n - size_at - 4);
    memcpy(t->s + size_at, &size, sizeof size);
}

static void emit_part(text *t, const emitter *m) {
    unsigned seen = 0;
    for (int i = 0; i < m->part->attrs; i++) {
        const image_attr *a = &m->part->attr[i];
        int f = 0;
        while (f < FIELDS && strcmp(FIELD[f].name, a->name) != 0) f++;
        if (f < FIELDS) {
            seen |= 1u << f;
            if (FIELD[f].keep(m)) emit_field(t, m, &FIELD[f], a);
            continue;
        }
        put_name(t, a->name);
        put_name(t, a->type);
        put32(t, a->bytes);
        text_add_bytes(t, (const char *)a->data, a->bytes);
    }
    for (int f = 0; f < FIELDS; f++)
        if (!(seen & 1u << f) && FIELD[f].add(m)) emit_field(t, m, &FIELD[f], NULL);
    put8(t, 0);
}

/* --- what EXR can hold -------------------------------------------------------------------- */

enum { NAME_SHORT = 31, NAME_LONG = 255 };

static bool check_name(const char *what, const char *name, size_t *longest, err *e) {
    size_t n = strlen(name);
    if (n > NAME_LONG)
        return err_set(e, ERR_DATA, "the name of %s '%.40s...' has %zu bytes, EXR allows %d", what,
                       name, n, NAME_LONG);
    if (n > *longest) *longest = n;
    return true;
}

static bool check_part(const image_header *h, int part, size_t *longest, err *e) {
    const image_part *p = &h->part[part];
    if (h->parts > 1 && !p->name)
        return err_set(e, ERR_DATA, "part %d of %d has no name", part, h->parts);
    if (p->channels == 0) return err_set(e, ERR_DATA, "part %d has no channels", part);
    for (int c = 0; c < p->channels; c++)
        if (!check_name("channel", p->channel[c].name, longest, e)) return false;
    for (int a = 0; a < p->attrs; a++)
        if (!check_name("attribute", p->attr[a].name, longest, e) ||
            !check_name("attribute type", p->attr[a].type, longest, e))
            return false;
    return true;
}

bool exr_emit(text *to, const image_header *h, const exr_layout layout[], err *e) {
    size_t longest = 0;
    for (int p = 0; p < h->parts; p++)
        if (!check_part(h, p, &longest, e)) return false;
    bool multipart = h->parts > 1;
    uint32_t version = 2;
    if (multipart)
        version |= EXR_MULTIPART;
    else if (h->part[0].tile_w)
        version |= EXR_TILED;
    if (longest > NAME_SHORT) version |= EXR_LONG_NAMES;
    put32(to, EXR_MAGIC);
    put32(to, version);
    for (int p = 0; p < h->parts; p++) {
        emitter m = {&h->part[p], &layout[p], multipart};
        emit_part(to, &m);
    }
    if (multipart) put8(to, 0);
    return true;
}
