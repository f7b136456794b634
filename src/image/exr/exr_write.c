/* exr_write.c - writes an EXR file from bands of rows, or from chunks of another file.
 *
 * Chunks are encoded on all threads and written as soon as their place in the file is known: behind
 * the chunk before, in the part's line order. A chunk that comes before its turn waits in memory,
 * packed. */
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "image/exr/exr_file.h"

#include <pthread.h>
#include <stdatomic.h>

/* A chunk that is encoded and has no place in the file yet. */
typedef struct {
    uint8_t *data;
    size_t bytes;
} packet;

/* The writer's lock guards `waiting`, `placed` and, until all chunks are placed, `offset`. */
typedef struct {
    exr_layout layout; /* const, as are `table` and `loses`, once the writer is made */
    uint64_t *offset;  /* by chunk, zero until it has its place */
    packet *waiting;   /* by place in the line order */
    uint64_t placed;   /* this many, from the first in the line order on, have their place */
    uint64_t table;    /* where the table goes */
    bool loses;        /* the codec may change some of its channels */
} part_state;

typedef struct {
    file_out *file;
    par *threads;
    image_header *head;
    part_state *part;
    exr_scratch *scratch; /* one for each thread */
    pthread_mutex_t lock; /* guards what is below, and what part_state says */
    uint64_t end;         /* of what has a place in the file */
    atomic_bool lossy;    /* a chunk was packed by a codec that loses */
} exr_writer;

/* What the attributes of a part are made from. */
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

typedef enum { ALWAYS, IF_MULTIPART, IF_NAMED, IF_TILED } field_when;

static bool holds(field_when when, const emitter *m) {
    return when == ALWAYS || (when == IF_MULTIPART && m->multipart) ||
           (when == IF_NAMED && m->part->name) || (when == IF_TILED && m->part->tile_w);
}

/* Attributes that are made from fields: what `put` adds; or the `bytes` at `place` in the part; or
 * the part's own value, and `initial` where it has none. */
typedef struct {
    const char *name, *type;
    field_when add, keep; /* to a part that has no such attribute, and in one that has it */
    void (*put)(text *t, const emitter *m);
    size_t place, bytes;
    float initial[2];
} field;

static const field FIELD[] = {
    {"channels", "chlist", ALWAYS, ALWAYS, .put = put_channels},
    {"chunkCount", "int", IF_MULTIPART, ALWAYS, .put = put_chunk_count},
    {"compression", "compression", ALWAYS, ALWAYS, .put = put_compression},
    {"dataWindow", "box2i", ALWAYS, ALWAYS, .place = offsetof(image_part, data), .bytes = 16},
    {"displayWindow", "box2i", ALWAYS, ALWAYS, .place = offsetof(image_part, display), .bytes = 16},
    {"lineOrder", "lineOrder", ALWAYS, ALWAYS, .put = put_order},
    {"name", "string", IF_NAMED, IF_NAMED, .put = put_part_name},
    {"pixelAspectRatio", "float", ALWAYS, ALWAYS, .place = offsetof(image_part, aspect),
     .bytes = 4},
    {"screenWindowCenter", "v2f", ALWAYS, ALWAYS, .initial = {0, 0}},
    {"screenWindowWidth", "float", ALWAYS, ALWAYS, .initial = {1}},
    {"tiles", "tiledesc", IF_TILED, IF_TILED, .put = put_tiles},
    {"type", "string", IF_MULTIPART, ALWAYS, .put = put_type},
};
enum { FIELDS = COUNT(FIELD) };

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
            if (holds(FIELD[f].keep, m)) emit_field(t, m, &FIELD[f], a);
            continue;
        }
        put_name(t, a->name);
        put_name(t, a->type);
        put32(t, a->bytes);
        text_add_bytes(t, (const char *)a->data, a->bytes);
    }
    for (int f = 0; f < FIELDS; f++)
        if (!(seen & 1u << f) && holds(FIELD[f].add, m)) emit_field(t, m, &FIELD[f], NULL);
    put8(t, 0);
}

enum { NAME_SHORT = 31 };

static bool check_name(const char *what, const char *name, size_t *longest, err *e) {
    size_t n = strlen(name);
    if (n > EXR_LONGEST_NAME)
        return err_set(e, ERR_DATA, "the name of %s '%.40s...' has %zu bytes, EXR allows %d", what,
                       name, n, EXR_LONGEST_NAME);
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

/* Appends magic, version and all headers: what stands before the chunk tables. Attributes come out
 * in their order and byte for byte, except for those that repeat fields of image_part: these are
 * made from the fields, which are the same unless somebody meant to change them. Levels become one.
 * What the format requires and the part lacks (it came from another format) is added. Refuses what
 * EXR cannot hold: parts without names in a file of several, names beyond 255 bytes. */
static bool emit(text *to, const exr_writer *w, err *e) {
    const image_header *h = w->head;
    const bool multipart = h->parts > 1;
    size_t longest = 0;
    for (int p = 0; p < h->parts; p++)
        if (!check_part(h, p, &longest, e)) return false;
    put32(to, EXR_MAGIC);
    put32(to, 2 | (multipart ? EXR_MULTIPART : 0) |
                  (!multipart && h->part[0].tile_w ? EXR_TILED : 0) |
                  (longest > NAME_SHORT ? EXR_LONG_NAMES : 0));
    for (int p = 0; p < h->parts; p++)
        emit_part(to, &(emitter){&h->part[p], &w->part[p].layout, multipart});
    if (multipart) put8(to, 0);
    return true;
}

/* Writes the headers, whose length does not change any more, and leaves room for tables. */
static bool write_start(exr_writer *w, err *e) {
    OWN(text) t = {0};
    for (int p = 0; p < w->head->parts; p++)
        if (!exr_layout_make(&w->part[p].layout, &w->head->part[p], LEVELS_ONE, false, e))
            return false;
    if (!emit(&t, w, e) || !text_check(&t, e) || !file_out_write(w->file, 0, t.s, t.n, e))
        return false;
    w->end = t.n;
    for (int p = 0; p < w->head->parts; p++) {
        w->part[p].table = w->end;
        w->end += exr_layout_chunks(&w->part[p].layout) * 8;
    }
    return true;
}

static void discard(void *writer) {
    exr_writer *w = writer;
    if (!w) return;
    for (int p = 0; w->part && p < w->head->parts; p++) {
        part_state *s = &w->part[p];
        for (uint64_t i = 0; s->waiting && i < exr_layout_chunks(&s->layout); i++)
            mem_free(s->waiting[i].data);
        mem_free(s->waiting);
        mem_free(s->offset);
    }
    for (int i = 0; w->scratch && i < par_workers(w->threads); i++)
        exr_scratch_free(&w->scratch[i]);
    mem_free(w->part);
    mem_free(w->scratch);
    pthread_mutex_destroy(&w->lock);
    mem_free(w);
}

static bool start(exr_writer *w, image_header *h, par *threads, err *e) {
    for (int p = 0; p < h->parts; p++) {
        if (exr_chunk_known(h->part[p].packing)) continue;
        log_note("%s compression needs OpenEXR, which this program is built without; writing zip "
                 "instead",
                 compression_name(h->part[p].packing));
        h->part[p].packing = COMPRESSION_ZIP;
    }
    w->scratch = mem_new((size_t)par_workers(threads), sizeof *w->scratch, "EXR writer", e);
    w->part = mem_new((size_t)h->parts, sizeof *w->part, "EXR writer", e);
    if (!w->scratch || !w->part || !write_start(w, e)) return false;
    for (int p = 0; p < h->parts; p++) {
        part_state *s = &w->part[p];
        size_t chunks = (size_t)exr_layout_chunks(&s->layout);
        s->offset = mem_new(chunks, sizeof *s->offset, "the chunk table", e);
        s->waiting = mem_new(chunks, sizeof *s->waiting, "the chunk table", e);
        if (!s->offset || !s->waiting) return false;
        for (int c = 0; c < h->part[p].channels; c++) s->loses |= exr_chunk_loses(&h->part[p], c);
    }
    return true;
}

static void *create(file_out *file, image_header *h, par *threads, err *e) {
    exr_writer *w = mem_new(1, sizeof *w, "EXR writer", e);
    if (!w) return NULL;
    *w = (exr_writer){.file = file, .threads = threads, .head = h};
    pthread_mutex_init(&w->lock, NULL);
    if (start(w, h, threads, e)) return w;
    discard(w);
    return NULL;
}

static uint32_t writer_rows(const void *writer, int part) {
    const exr_writer *w = writer;
    return w->part[part].layout.lines;
}

static bool write_chunk(exr_writer *w, int part, uint64_t index, const packet *p, err *e) {
    uint8_t head[EXR_CHUNK_HEAD];
    const part_state *s = &w->part[part];
    exr_place at = {&w->head->part[part], &s->layout, w->head->parts > 1 ? part : -1, index};
    size_t n = exr_chunk_head_make(head, &at, (uint32_t)p->bytes);
    return file_out_write(w->file, s->offset[index], head, n, e) &&
           file_out_write(w->file, s->offset[index] + n, p->data, p->bytes, e);
}

/* Gives the next chunk in the line order its place; the caller holds the lock. */
static uint64_t place_next(exr_writer *w, int part, size_t bytes) {
    part_state *s = &w->part[part];
    const image_part *p = &w->head->part[part];
    uint64_t index = exr_layout_stored(&s->layout, p->order, s->placed++);
    s->offset[index] = w->end;
    w->end += exr_chunk_head(w->head->parts > 1, p->tile_w) + bytes;
    return index;
}

/* Writes the chunks that have waited for the one before, outside the lock. */
static bool write_waiting(exr_writer *w, int part, err *e) {
    part_state *s = &w->part[part];
    for (bool ok = true; ok;) {
        packet next = {0};
        uint64_t index = 0;
        pthread_mutex_lock(&w->lock);
        if (s->placed < exr_layout_chunks(&s->layout) && s->waiting[s->placed].data) {
            next = s->waiting[s->placed];
            s->waiting[s->placed] = (packet){0};
            index = place_next(w, part, next.bytes);
        }
        pthread_mutex_unlock(&w->lock);
        if (!next.data) return true;
        ok = write_chunk(w, part, index, &next, e);
        mem_free(next.data);
    }
    return false;
}

/* Adds the packed chunk at `place` of the line order; before its turn, a copy of it waits. */
static bool add_chunk(exr_writer *w, int part, uint64_t place, packet p, err *e) {
    uint64_t index = 0;
    pthread_mutex_lock(&w->lock);
    bool turn = w->part[part].placed == place;
    if (turn) index = place_next(w, part, p.bytes);
    pthread_mutex_unlock(&w->lock);
    if (turn) return write_chunk(w, part, index, &p, e) && write_waiting(w, part, e);
    packet copy = {mem_raw(p.bytes, 1, "a chunk", e), p.bytes};
    if (!copy.data) return false;
    memcpy(copy.data, p.data, p.bytes);
    pthread_mutex_lock(&w->lock);
    w->part[part].waiting[place] = copy;
    pthread_mutex_unlock(&w->lock);
    return write_waiting(w, part, e);
}

typedef struct {
    exr_writer *w;
    int part;
    uint64_t first; /* place in the line order */
    size_t count;   /* chunks */
    exr_band band;
    const exr_reader *r; /* copies: where from */
    int from;
} write_job;

/* Encodes a chunk of the band, or reads the one that is copied, and adds it. */
static bool make_chunk(void *ctx, size_t i, int worker, err *e) {
    write_job *j = ctx;
    exr_scratch *s = &j->w->scratch[worker];
    const image_part *p = &j->w->head->part[j->part];
    const exr_layout *l = &j->w->part[j->part].layout;
    uint64_t index = exr_layout_stored(l, p->order, j->first + i);
    exr_chunk c = {.part = p, .layout = l, .band = &j->band, .at = exr_layout_block(l, index)};
    if (!(j->r ? exr_read_chunk(j->r, j->from, index, s, e) : exr_chunk_encode(s, &c, e)))
        return false;
    if (!j->r && j->w->part[j->part].loses && s->bytes < (size_t)c.at.w * c.at.h * l->pixel)
        j->w->lossy = true;
    return add_chunk(j->w, j->part, j->first + i, (packet){s->packed, s->bytes}, e);
}

typedef struct {
    file_out *file;
    uint64_t at; /* where the first one goes */
    size_t bytes;
    int pieces;
    struct iovec piece[FILE_PIECES];
    uint8_t head[FILE_PIECES][EXR_CHUNK_HEAD]; /* of chunks, each at the index of its piece */
} gathering;

static bool write_gathered(gathering *g, err *e) {
    bool ok = file_out_write_pieces(g->file, g->at, g->piece, g->pieces, e);
    g->at += g->bytes;
    g->bytes = 0;
    g->pieces = 0;
    return ok;
}

static void add_piece(gathering *g, const void *from, size_t bytes) {
    g->piece[g->pieces++] = (struct iovec){(void *)from, bytes};
    g->bytes += bytes;
}

/* Adds the samples of a chunk: of every line, the channels one after the other. */
static bool gather_samples(gathering *g, const exr_chunk *c, err *e) {
    const image_part *p = c->part;
    for (uint32_t i = 0; i < c->at.h * (uint32_t)p->channels; i++) {
        uint32_t line = i / (uint32_t)p->channels, channel = i % (uint32_t)p->channels;
        size_t size = pixel_bytes(p->channel[channel].type);
        size_t first = (size_t)(c->at.y + line - c->band->row) * c->band->width + c->at.x;
        if (g->pieces == FILE_PIECES && !write_gathered(g, e)) return false;
        add_piece(g, (const uint8_t *)c->band->plane[channel] + first * size, c->at.w * size);
    }
    return true;
}

/* Writes chunks that are not packed, many at once, from where their samples are: systems let one
 * thread at a time write to a file, for which others would wait. */
static bool write_plain(void *ctx, size_t piece, int worker, err *e) {
    write_job *j = ctx;
    exr_writer *w = j->w;
    const exr_layout *l = &w->part[j->part].layout;
    const image_part *p = &w->head->part[j->part];
    OWN_MEM gathering *g = mem_raw(1, sizeof *g, "chunks", e);
    if (!g) return false;
    g->file = w->file, g->at = w->end, g->bytes = 0, g->pieces = 0;
    for (size_t i = 0; i < j->count; i++) {
        uint64_t index = exr_layout_stored(l, p->order, j->first + i);
        exr_chunk c = {p, l, &j->band, exr_layout_block(l, index)};
        exr_place place = {p, l, w->head->parts > 1 ? j->part : -1, index};
        size_t bytes = (size_t)c.at.w * c.at.h * l->pixel;
        if (g->pieces == FILE_PIECES && !write_gathered(g, e)) return false;
        uint8_t *head = g->head[g->pieces];
        add_piece(g, head, exr_chunk_head_make(head, &place, (uint32_t)bytes));
        if (!gather_samples(g, &c, e)) return false;
        place_next(w, j->part, bytes);
    }
    return write_gathered(g, e) && write_waiting(w, j->part, e);
}

static bool write_band(void *writer, int part, uint32_t row, uint32_t rows,
                       const void *const plane[], err *e) {
    exr_writer *w = writer;
    const exr_layout *l = &w->part[part].layout;
    uint32_t top = row / l->lines, count = (rows - 1) / l->lines + 1;
    bool upwards = w->head->part[part].order == LINES_DECREASING;
    uint64_t first = (uint64_t)(upwards ? l->down - top - count : top) * l->across;
    /* A band is for both directions; here it is only read. */
    write_job j = {
        w,    part, first, (size_t)count * l->across, {(void *const *)plane, row, rows, l->w},
        NULL, 0};
    if (w->head->part[part].packing == COMPRESSION_NONE && w->part[part].placed == first)
        return par_for(w->threads, 1, write_plain, &j, e);
    return par_for(w->threads, j.count, make_chunk, &j, e);
}

static bool can_copy(const void *writer, int to, const void *reader, int from) {
    const exr_writer *w = writer;
    const exr_reader *r = reader;
    const image_part *a = &w->head->part[to], *b = exr_read_part(r, from);
    const exr_layout *la = &w->part[to].layout, *lb = exr_read_layout(r, from);
    bool same = a->packing == b->packing && !a->tile_w == !b->tile_w && la->cols == lb->cols &&
                la->lines == lb->lines;
    /* B44 codes channels by this flag. */
    for (int c = 0; same && c < a->channels; c++)
        same = a->channel[c].linear == b->channel[c].linear;
    return same;
}

/* Copies a few chunks per thread at a time: if one is slow to come, only these can wait. */
static bool write_copy(void *writer, int to, void *reader, int from, err *e) {
    exr_writer *w = writer;
    write_job j = {.w = w, .part = to, .r = reader, .from = from};
    uint64_t chunks = exr_layout_chunks(&w->part[to].layout);
    uint64_t some = 4 * (uint64_t)par_threads(w->threads);
    for (; j.first < chunks; j.first += some)
        if (!par_for(w->threads, (size_t)min_u64(some, chunks - j.first), make_chunk, &j, e))
            return false;
    return true;
}

static bool is_lossy(const void *writer) {
    return ((const exr_writer *)writer)->lossy;
}

static bool commit(void *writer, err *e) {
    const exr_writer *w = writer;
    for (int p = 0; p < w->head->parts; p++) {
        const part_state *s = &w->part[p];
        size_t bytes = (size_t)exr_layout_chunks(&s->layout) * sizeof *s->offset;
        if (!file_out_write(w->file, s->table, s->offset, bytes, e)) return false;
    }
    return true;
}

const image_format FORMAT_EXR = {
    .name = "exr",
    .extensions = "exr,sxr,mxr",
    .magic = {"v/1\1"},
    .fetch = exr_fetch,
    .open = exr_read_open,
    .read = exr_read_band,
    .reader_rows = exr_read_rows,
    .close = exr_read_close,
    .create = create,
    .writer_rows = writer_rows,
    .write = write_band,
    .can_copy = can_copy,
    .copy_part = write_copy,
    .loses = exr_chunk_loses,
    .lossy = is_lossy,
    .commit = commit,
    .discard = discard,
};
