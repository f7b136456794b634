#include "image/exr/exr_file.h"

#include "base/mem.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "EXR is read and written as it stands");

/* A part with 60 channels of metadata has some hundreds. Each costs some 200 bytes of memory and as
 * little as 8 of the file, so a file of nothing else must stop somewhere. */
enum { MOST_ATTRS = 1 << 16 };

/* Reads a file from front to back. */
typedef struct {
    const file_in *f;
    uint64_t at, end;         /* of the file: next byte, length */
    const image_source *from; /* of a stream, whose `end` is how far it is there; or NULL */
    size_t have, used;        /* of the buffer */
    uint8_t buffer[16384];
} cursor;

/* Brings the next bytes of a stream. A file is there already, or cut off. */
static bool bring(cursor *c, uint64_t bytes, err *e) {
    if (!c->from || bytes <= c->end - c->at) return true;
    if (!c->from->bring(c->from->ctx, c->at + bytes, e)) return false;
    c->end = c->at + bytes;
    return true;
}

static bool take(cursor *c, void *to, size_t n, const char *what, err *e) {
    if (!bring(c, n, e)) return false;
    if (n > c->end - c->at)
        return err_set(e, ERR_DATA,
                       "the file is cut off: %s needs %zu bytes at %" PRIu64
                       ", but the file ends at %" PRIu64,
                       what, n, c->at, c->end);
    uint8_t *out = to;
    size_t left = n;
    while (left > 0) {
        if (c->used == c->have) {
            uint64_t rest = c->end - (c->at + (n - left));
            c->used = 0;
            c->have = rest < sizeof c->buffer ? (size_t)rest : sizeof c->buffer;
            if (!file_in_read(c->f, c->at + (n - left), c->buffer, c->have, e)) return false;
        }
        size_t some = c->have - c->used < left ? c->have - c->used : left;
        memcpy(out, c->buffer + c->used, some);
        c->used += some;
        out += some;
        left -= some;
    }
    c->at += n;
    return true;
}

static bool take_name(cursor *c, char name[EXR_LONGEST_NAME + 1], const char *what, err *e) {
    for (int n = 0; n <= EXR_LONGEST_NAME; n++) {
        if (!take(c, &name[n], 1, what, e)) return false;
        if (name[n] == 0) return true;
    }
    return err_set(e, ERR_DATA, "%s at byte %" PRIu64 " has no end after %d characters", what,
                   c->at - EXR_LONGEST_NAME - 1, EXR_LONGEST_NAME);
}

typedef struct {
    image_part *part;
    const image_limits *limits;
    unsigned seen; /* bits: indices into KNOWN */
    exr_levels levels;
    bool round_up, tiled, deep, subsampled;
    int32_t chunk_count;
    uint32_t tile_w, tile_h;
    char bad[64]; /* the subsampled channel, with its factors */
} part_reader;

static uint32_t get32(const uint8_t *p) {
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static bool one_channel(part_reader *r, const char *name, const uint8_t *v, err *e) {
    uint32_t type = get32(v), xs = get32(v + 8), ys = get32(v + 12);
    if (type > PIXEL_FLOAT)
        return err_set(e, ERR_DATA, "channel '%s' has the unknown pixel type %u", name, type);
    if ((uint32_t)r->part->channels == r->limits->channels)
        return err_set(e, ERR_DATA, "more than the %u channels allowed in a part",
                       r->limits->channels);
    if (!image_add_channel(r->part, name, (pixel_type)type, e)) return false;
    r->part->channel[image_find_channel(r->part, name)].linear = v[4];
    if ((xs != 1 || ys != 1) && !r->subsampled) {
        r->subsampled = true;
        snprintf(r->bad, sizeof r->bad, "'%.32s' (%u x %u)", name, xs, ys);
    }
    return true;
}

/* Reads, for each channel: name, zero, type, pLinear, three unused bytes, x and y sampling; a zero
 * byte ends the list. */
static bool read_channels(part_reader *r, const uint8_t *v, uint32_t n, err *e) {
    if (r->part->channels) return err_set(e, ERR_DATA, "there are two lists of channels");
    for (uint32_t at = 0; at < n;) {
        const uint8_t *end = memchr(v + at, 0, n - at);
        if (!end) break;
        if (end == v + at) {
            if (r->part->channels) return true;
            return err_set(e, ERR_DATA, "there are no channels");
        }
        uint32_t rest = (uint32_t)(v + n - end) - 1;
        if (end - (v + at) > EXR_LONGEST_NAME || rest < 16) break;
        if (!one_channel(r, (const char *)v + at, end + 1, e)) return false;
        at = (uint32_t)(end - v) + 17;
    }
    return err_set(e, ERR_DATA, "the list of channels is damaged");
}

static bool read_compression(part_reader *r, const uint8_t *v, uint32_t n, err *e) {
    /* The newer ones of OpenEXR; which of 12 and 13 is ZSTD differs before the release of 3.5. */
    static const char *const NEWER[] = {"HTJ2K256", "HTJ2K32", "ZSTD or LJ2K", "ZSTD or LJ2K"};
    unsigned newer = *v - (unsigned)COMPRESSIONS;
    if (*v >= COMPRESSIONS && newer < COUNT(NEWER))
        return err_set(e, ERR_DATA, "compression %d (%s) is not supported; save it as zip first",
                       *v, NEWER[newer]);
    if (*v >= COMPRESSIONS) return err_set(e, ERR_DATA, "the compression %d is unknown", *v);
    r->part->packing = (compression)*v;
    return true;
}

static bool read_order(part_reader *r, const uint8_t *v, uint32_t n, err *e) {
    if (*v > LINES_RANDOM) return err_set(e, ERR_DATA, "the line order %d is unknown", *v);
    r->part->order = (line_order)*v;
    return true;
}

static bool read_tiles(part_reader *r, const uint8_t *v, uint32_t n, err *e) {
    r->tile_w = get32(v);
    r->tile_h = get32(v + 4);
    if ((v[8] & 15) > LEVELS_RIPMAP || v[8] >> 4 > 1)
        return err_set(e, ERR_DATA, "the level mode %d of the tiles is unknown", v[8]);
    if (r->tile_w == 0 || r->tile_h == 0 || r->tile_w > INT32_MAX || r->tile_h > INT32_MAX)
        return err_set(e, ERR_DATA, "tiles of %u x %u pixels", r->tile_w, r->tile_h);
    r->levels = (exr_levels)(v[8] & 15);
    r->round_up = v[8] >> 4;
    return true;
}

static bool text_is(const uint8_t *v, uint32_t n, const char *s) {
    return n == strlen(s) && memcmp(v, s, n) == 0;
}

static bool read_type(part_reader *r, const uint8_t *v, uint32_t n, err *e) {
    r->tiled = text_is(v, n, "tiledimage");
    r->deep = text_is(v, n, "deepscanline") || text_is(v, n, "deeptile");
    if (r->tiled || r->deep || text_is(v, n, "scanlineimage")) return true;
    return err_set(e, ERR_DATA, "the part type '%.*s' is unknown", n > 40 ? 40 : (int)n, v);
}

static bool read_name(part_reader *r, const uint8_t *v, uint32_t n, err *e) {
    char name[EXR_LONGEST_NAME + 1] = {0};
    if (n > EXR_LONGEST_NAME) return err_set(e, ERR_DATA, "the part's name has %u bytes", n);
    memcpy(name, v, n);
    mem_free(r->part->name);
    return (r->part->name = mem_str(name, e));
}

enum { NEEDED = 1, NEEDED_IF_TILED = 2, NEEDED_IF_MULTIPART = 4 };

/* What an attribute of this name must be; `bytes` 0 allows any length. Its value is read by `read`,
 * or copied as it is to `place` in the part, or in the reader if the row says so. */
static const struct {
    const char *name, *type;
    uint32_t bytes;
    unsigned needed;
    bool (*read)(part_reader *r, const uint8_t *v, uint32_t n, err *e);
    size_t place;
    bool in_reader;
} KNOWN[] = {
    {"channels", "chlist", 0, NEEDED, read_channels, 0, false},
    {"compression", "compression", 1, NEEDED, read_compression, 0, false},
    {"dataWindow", "box2i", 16, NEEDED, NULL, offsetof(image_part, data), false},
    {"displayWindow", "box2i", 16, NEEDED, NULL, offsetof(image_part, display), false},
    {"lineOrder", "lineOrder", 1, NEEDED, read_order, 0, false},
    {"pixelAspectRatio", "float", 4, NEEDED, NULL, offsetof(image_part, aspect), false},
    {"tiles", "tiledesc", 9, NEEDED_IF_TILED, read_tiles, 0, false},
    {"type", "string", 0, NEEDED_IF_MULTIPART, read_type, 0, false},
    {"name", "string", 0, NEEDED_IF_MULTIPART, read_name, 0, false},
    {"chunkCount", "int", 4, NEEDED_IF_MULTIPART, NULL, offsetof(part_reader, chunk_count), true},
};
enum { KNOWN_ATTRS = COUNT(KNOWN) };

static bool understand(part_reader *r, const image_attr *a, err *e) {
    for (int i = 0; i < KNOWN_ATTRS; i++) {
        if (strcmp(a->name, KNOWN[i].name) != 0) continue;
        if (strcmp(a->type, KNOWN[i].type) != 0)
            return err_set(e, ERR_DATA, "the attribute '%s' has the type '%s', not '%s'", a->name,
                           a->type, KNOWN[i].type);
        if (KNOWN[i].bytes && a->bytes != KNOWN[i].bytes)
            return err_set(e, ERR_DATA, "the attribute '%s' has %u bytes, not %u", a->name,
                           a->bytes, KNOWN[i].bytes);
        r->seen |= 1u << i;
        if (KNOWN[i].read) return KNOWN[i].read(r, a->data, a->bytes, e);
        memcpy((KNOWN[i].in_reader ? (char *)r : (char *)r->part) + KNOWN[i].place, a->data,
               a->bytes);
        return true;
    }
    return true;
}

static bool take_attr(cursor *c, part_reader *r, const char *name, err *e) {
    char type[EXR_LONGEST_NAME + 1];
    uint32_t bytes;
    if (!take_name(c, type, "the type of an attribute", e) ||
        !take(c, &bytes, sizeof bytes, "the size of an attribute", e) || !bring(c, bytes, e))
        return false;
    if (bytes > c->end - c->at)
        return err_set(e, ERR_DATA,
                       "the attribute '%s' has %u bytes at %" PRIu64
                       ", but the file ends at %" PRIu64,
                       name, bytes, c->at, c->end);
    if (r->part->attrs == MOST_ATTRS)
        return err_set(e, ERR_DATA, "a part has more than %d attributes", MOST_ATTRS);
    OWN_MEM uint8_t *data = mem_raw(bytes, 1, "an attribute", e);
    return data && take(c, data, bytes, name, e) &&
           image_push_attr(r->part, name, type, data, bytes, e) &&
           understand(r, &r->part->attr[r->part->attrs - 1], e);
}

static bool within_limits(const image_part *p, const image_limits *l, err *e) {
    if (!image_box_check(&p->data, "data", l->side, e) ||
        !image_box_check(&p->display, "display", l->side, e))
        return false;
    uint64_t w = image_width(p), h = image_height(p), samples = w * h;
    if (samples > l->samples / (uint64_t)p->channels)
        return err_set(e, ERR_DATA,
                       "%" PRIu64 " x %" PRIu64 " pixels in %d channels are more than the %" PRIu64
                       " samples allowed in a part",
                       w, h, p->channels, l->samples);
    return true;
}

static bool finish_part(part_reader *r, exr_table *t, unsigned flags, err *e) {
    bool multipart = flags & EXR_MULTIPART;
    if (r->deep || (!multipart && (flags & EXR_DEEP)))
        return err_set(e, ERR_DATA, "this is deep data, which is not supported; flatten it first");
    if (!multipart) r->tiled = flags & EXR_TILED;
    unsigned needed = NEEDED | (r->tiled ? NEEDED_IF_TILED : 0) |
                      (multipart ? NEEDED_IF_MULTIPART : 0);
    for (int i = 0; i < KNOWN_ATTRS; i++)
        if ((KNOWN[i].needed & needed) && !(r->seen & 1u << i))
            return err_set(e, ERR_DATA, "the attribute '%s' is missing", KNOWN[i].name);
    if (r->subsampled)
        return err_set(e, ERR_DATA,
                       "channel %s is chroma-subsampled, which is not supported; convert the file "
                       "to RGB first",
                       r->bad);
    image_part *p = r->part;
    if (image_find_channel(p, "Y") >= 0 && image_find_channel(p, "RY") >= 0 &&
        image_find_channel(p, "BY") >= 0)
        return err_set(e, ERR_DATA,
                       "the channels Y RY BY are luminance and chroma, which is not supported; "
                       "convert the file to RGB first");
    if (r->tiled) {
        p->tile_w = r->tile_w;
        p->tile_h = r->tile_h;
        p->mipmapped = r->levels != LEVELS_ONE;
    }
    if (!within_limits(p, r->limits, e) ||
        !exr_layout_make(&t->layout, p, r->tiled ? r->levels : LEVELS_ONE, r->round_up, e))
        return false;
    if (multipart && (uint64_t)r->chunk_count != t->layout.table)
        return err_set(e, ERR_DATA, "chunkCount says %d, the data window needs %" PRIu64 " chunks",
                       r->chunk_count, t->layout.table);
    return true;
}

/* Adds a zeroed item to a list of n. */
static bool one_more(void **list, size_t n, size_t size, err *e) {
    void *more = mem_new(n + 1, size, "parts", e);
    if (!more) return false;
    if (n) memcpy(more, *list, n * size);
    mem_free(*list);
    *list = more;
    return true;
}

static bool add_part(exr_file *x, image_header *h, const image_limits *limits, err *e) {
    size_t n = (size_t)h->parts;
    if (n == limits->parts)
        return err_set(e, ERR_DATA, "more than the %u parts allowed", limits->parts);
    if (!one_more((void **)&h->part, n, sizeof *h->part, e) ||
        !one_more((void **)&x->table, n, sizeof *x->table, e))
        return false;
    h->parts = x->parts = (int)n + 1;
    return true;
}

/* Puts "part 2 ('left'): " before the error where there are several. Returns false. */
static bool in_part(const exr_file *x, const image_header *h, int part, err *e) {
    if (!x->multipart) return false;
    const char *name = h->part[part].name;
    return err_in(e, "part %d ('%s')", part, name ? name : "");
}

static bool take_headers(cursor *c, exr_file *x, image_header *h, const image_limits *limits,
                         err *e) {
    uint32_t magic, version;
    if (!take(c, &magic, 4, "the magic number", e) || !take(c, &version, 4, "the version", e))
        return false;
    if (magic != EXR_MAGIC) return err_set(e, ERR_DATA, "this is no EXR file");
    unsigned flags = version & ~0xffu;
    if ((version & 0xff) != 2 ||
        flags & ~(unsigned)(EXR_TILED | EXR_LONG_NAMES | EXR_DEEP | EXR_MULTIPART))
        return err_set(e, ERR_DATA, "version 0x%08" PRIx32 " of EXR is unknown", version);
    x->multipart = flags & EXR_MULTIPART;
    do {
        char name[EXR_LONGEST_NAME + 1];
        if (!take_name(c, name, "the name of an attribute", e)) return false;
        if (x->multipart && h->parts && !*name) return true; /* an empty header ends the list */
        if (!add_part(x, h, limits, e)) return false;
        int last = h->parts - 1;
        part_reader r = {.part = &h->part[last], .limits = limits};
        bool ok = true;
        while (ok && *name)
            ok = take_attr(c, &r, name, e) && take_name(c, name, "the name of an attribute", e);
        if (!ok || !finish_part(&r, &x->table[last], flags, e)) return in_part(x, h, last, e);
    } while (x->multipart);
    return true;
}

static bool take_table(cursor *c, exr_table *t, err *e) {
    const exr_layout *l = &t->layout;
    uint64_t chunks = exr_layout_chunks(l);
    if (l->table > (c->end - c->at) / 8)
        return err_set(e, ERR_DATA,
                       "incomplete file: the table of %" PRIu64 " chunks starts at %" PRIu64
                       ", but the file ends at %" PRIu64,
                       l->table, c->at, c->end);
    t->offset = mem_raw((size_t)chunks, sizeof *t->offset, "the chunk table", e);
    if (!t->offset || !take(c, t->offset, (size_t)chunks * 8, "the chunk table", e)) return false;
    c->at += (l->table - chunks) * 8; /* smaller levels; nothing in the buffer is older than `at` */
    c->have = c->used = 0;
    return true;
}

static bool check_table(const exr_table *t, uint64_t start, uint64_t end, size_t head, err *e) {
    uint64_t chunks = exr_layout_chunks(&t->layout), missing = 0;
    for (uint64_t i = 0; i < chunks; i++) missing += t->offset[i] == 0;
    if (missing)
        return err_set(e, ERR_DATA,
                       "incomplete file: %" PRIu64 " of %" PRIu64
                       " chunks were never written; render it again",
                       missing, chunks);
    for (uint64_t i = 0; i < chunks; i++) {
        if (t->offset[i] < start)
            return err_set(e, ERR_DATA,
                           "the chunk table is damaged: chunk %" PRIu64 " at %" PRIu64
                           ", before the data at %" PRIu64,
                           i, t->offset[i], start);
        if (end < head || t->offset[i] > end - head)
            return err_set(e, ERR_DATA,
                           "incomplete file: chunk %" PRIu64 " of %" PRIu64 " starts at %" PRIu64
                           ", but the file ends at %" PRIu64,
                           i, chunks, t->offset[i], end);
    }
    return true;
}

/* The chunk that ends the file. */
typedef struct {
    uint64_t at; /* in the file */
    int part;
} last_chunk;

/* Returns the bytes behind the last chunk. Where a part had smaller levels, they may be in them, so
 * there are none to tell of. */
static uint64_t bytes_behind(const exr_file *x, const image_header *h, const cursor *c) {
    last_chunk last = {0};
    uint32_t bytes;
    err ignored = {0};
    for (int p = 0; p < x->parts; p++) {
        if (h->part[p].mipmapped) return 0;
        const exr_table *t = &x->table[p];
        for (uint64_t i = 0; i < exr_layout_chunks(&t->layout); i++)
            if (t->offset[i] >= last.at) last = (last_chunk){t->offset[i], p};
    }
    uint64_t data = last.at + exr_chunk_head(x->multipart, h->part[last.part].tile_w);
    bool ok = file_in_read(c->f, data - sizeof bytes, &bytes, sizeof bytes, &ignored);
    return ok && bytes < c->end - data ? c->end - data - bytes : 0;
}

bool exr_file_read(exr_file *x, image_header *h, const file_in *f, const image_limits *limits,
                   err *e) {
    cursor c = {.f = f, .end = file_in_size(f)};
    if (!take_headers(&c, x, h, limits, e)) return false;
    for (int p = 0; p < h->parts; p++)
        if (!take_table(&c, &x->table[p], e)) return in_part(x, h, p, e);
    for (int p = 0; p < h->parts; p++) {
        size_t head = exr_chunk_head(x->multipart, h->part[p].tile_w);
        if (!check_table(&x->table[p], c.at, c.end, head, e)) return in_part(x, h, p, e);
    }
    h->behind = bytes_behind(x, h, &c);
    return true;
}

void exr_file_free(exr_file *x) {
    for (int p = 0; p < x->parts; p++) mem_free(x->table[p].offset);
    mem_free(x->table);
    *x = (exr_file){0};
}

/* Finds the last chunk in the tables of all parts. *whole: no chunk is missing. */
static bool find_last(cursor *c, const exr_file *x, last_chunk *last, bool *whole, err *e) {
    uint64_t some[512];
    *whole = true;
    for (int part = 0; part < x->parts; part++) {
        uint64_t left = x->table[part].layout.table;
        for (size_t n; left; left -= n) {
            n = (size_t)min_u64(left, COUNT(some));
            if (!take(c, some, n * sizeof *some, "the chunk table", e)) return false;
            for (size_t i = 0; i < n; i++) {
                *whole = *whole && some[i];
                if (some[i] >= last->at) *last = (last_chunk){some[i], part};
            }
        }
    }
    return true;
}

/* No field of the file says how long it is. The headers say how long the tables are, the tables
 * where the last chunk is, and this one how long it is itself. */
bool exr_fetch(const char *path, const image_limits *limits, const image_source *from, err *e) {
    OPEN(file_in) *f = file_in_open(path, e);
    OWN(exr_file) x = {0};
    OWN(image_header) h = {0};
    cursor c = {.f = f, .from = from};
    last_chunk last = {0};
    bool whole;
    uint32_t bytes;
    if (!f || !take_headers(&c, &x, &h, limits, e) || !find_last(&c, &x, &last, &whole, e))
        return false;
    if (!whole || last.at < c.at) /* the reader will say what is wrong */
        return from->bring(from->ctx, UINT64_MAX, e);
    c.at = c.end = last.at + exr_chunk_head(x.multipart, h.part[last.part].tile_w) - sizeof bytes;
    return take(&c, &bytes, sizeof bytes, "the size of a chunk", e) &&
           from->bring(from->ctx, c.at + bytes, e);
}

size_t exr_chunk_head_make(uint8_t head[EXR_CHUNK_HEAD], const exr_place *at, uint32_t bytes) {
    uint32_t word[6];
    size_t n = 0;
    if (at->number >= 0) word[n++] = (uint32_t)at->number;
    if (at->part->tile_w) {
        word[n++] = (uint32_t)(at->index % at->layout->across);
        word[n++] = (uint32_t)(at->index / at->layout->across);
        word[n++] = 0; /* the level, in x */
        word[n++] = 0; /* and in y */
    } else {
        word[n++] = (uint32_t)at->part->data.y0 + (uint32_t)at->index * at->layout->lines;
    }
    word[n++] = bytes;
    memcpy(head, word, n * 4);
    return n * 4;
}
