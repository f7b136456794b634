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
static void put_float(text *t, float v) {
    text_add_bytes(t, (const char *)&v, 4);
}
static void put_name(text *t, const char *s) {
    text_add_bytes(t, s, strlen(s) + 1);
}
static void put_box(text *t, const image_box *b) {
    text_add_bytes(t, (const char *)b, sizeof *b);
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
static void put_data_window(text *t, const emitter *m) {
    put_box(t, &m->part->data);
}
static void put_display_window(text *t, const emitter *m) {
    put_box(t, &m->part->display);
}
/* Only tiles may come in any order. */
static void put_order(text *t, const emitter *m) {
    bool possible = m->part->tile_w || m->part->order != LINES_RANDOM;
    put8(t, possible ? (uint8_t)m->part->order : LINES_INCREASING);
}
static void put_part_name(text *t, const emitter *m) {
    text_add_bytes(t, m->part->name, strlen(m->part->name));
}
static void put_aspect(text *t, const emitter *m) {
    put_float(t, m->part->aspect);
}
static void put_centre(text *t, const emitter *m) {
    (void)m;
    put_float(t, 0);
    put_float(t, 0);
}
static void put_width(text *t, const emitter *m) {
    (void)m;
    put_float(t, 1);
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

/* `add`: where the part has no such attribute. `keep`: where it has one, whether it stays.
 * `value` NULL: it stays as it is. */
static const struct {
    const char *name, *type;
    void (*value)(text *t, const emitter *m);
    bool (*add)(const emitter *m), (*keep)(const emitter *m);
    void (*initial)(text *t, const emitter *m); /* for those that stay as they are */
} FIELD[] = {
    {"channels", "chlist", put_channels, always, always, NULL},
    {"chunkCount", "int", put_chunk_count, when_multipart, always, NULL},
    {"compression", "compression", put_compression, always, always, NULL},
    {"dataWindow", "box2i", put_data_window, always, always, NULL},
    {"displayWindow", "box2i", put_display_window, always, always, NULL},
    {"lineOrder", "lineOrder", put_order, always, always, NULL},
    {"name", "string", put_part_name, when_named, when_named, NULL},
    {"pixelAspectRatio", "float", put_aspect, always, always, NULL},
    {"screenWindowCenter", "v2f", NULL, always, always, put_centre},
    {"screenWindowWidth", "float", NULL, always, always, put_width},
    {"tiles", "tiledesc", put_tiles, when_tiled, when_tiled, NULL},
    {"type", "string", put_type, when_multipart, always, NULL},
};
enum { FIELDS = sizeof FIELD / sizeof *FIELD };

static int field_of(const char *name) {
    for (int i = 0; i < FIELDS; i++)
        if (strcmp(FIELD[i].name, name) == 0) return i;
    return -1;
}

/* --- headers ------------------------------------------------------------------------------ */

static void emit_made(text *t, const emitter *m, const char *name, const char *type,
                      void (*value)(text *t, const emitter *m)) {
    put_name(t, name);
    put_name(t, type);
    size_t size_at = t->n;
    put32(t, 0);
    value(t, m);
    uint32_t size = (uint32_t)(t->n - size_at - 4);
    memcpy(t->s + size_at, &size, sizeof size);
}

static void emit_attr(text *t, const emitter *m, const image_attr *a, int field) {
    if (field >= 0 && !FIELD[field].keep(m)) return;
    if (field >= 0 && FIELD[field].value) {
        emit_made(t, m, a->name, FIELD[field].type, FIELD[field].value);
        return;
    }
    put_name(t, a->name);
    put_name(t, a->type);
    put32(t, a->bytes);
    text_add_bytes(t, (const char *)a->data, a->bytes);
}

static void emit_part(text *t, const emitter *m) {
    unsigned seen = 0;
    for (int a = 0; a < m->part->attrs; a++) {
        int field = field_of(m->part->attr[a].name);
        if (field >= 0) seen |= 1u << field;
        emit_attr(t, m, &m->part->attr[a], field);
    }
    for (int i = 0; i < FIELDS; i++)
        if (!(seen & 1u << i) && FIELD[i].add(m))
            emit_made(t, m, FIELD[i].name, FIELD[i].type,
                      FIELD[i].value ? FIELD[i].value : FIELD[i].initial);
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
