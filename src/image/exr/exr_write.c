#include "image/exr/exr_write.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/number.h"
#include "image/exr/exr_emit.h"

#include <pthread.h>
#include <string.h>

/* A chunk that is encoded and has no place in the file yet. */
typedef struct {
    uint8_t *data;
    size_t bytes;
} packet;

/* The writer's lock guards `waiting`, `placed` and, until all chunks are placed, `offset`. */
typedef struct {
    exr_layout layout; /* const, as is `table`, once the writer is made */
    uint64_t *offset;  /* by chunk, zero until it has its place */
    packet *waiting;   /* by place in the line order */
    uint64_t placed;   /* this many, from the first in the line order on, have their place */
    uint64_t table;    /* where the table goes */
} part_state;

typedef struct {
    file_out *file;
    par *threads;
    image_header *head;
    part_state *part;
    exr_scratch *scratch; /* one for each thread */
    pthread_mutex_t lock; /* guards what is below, and what part_state says */
    uint64_t end;         /* of what has a place in the file */
} exr_writer;

/* --- opening ------------------------------------------------------------------------------ */

/* Writes the headers and leaves room for the tables: the file's start, whose length does not change
 * any more. */
static bool write_start(exr_writer *w, err *e) {
    text t = {0};
    exr_layout *layout = mem_new((size_t)w->head->parts, sizeof *layout, "EXR writer", e);
    bool ok = layout != NULL;
    for (int p = 0; ok && p < w->head->parts; p++) {
        ok = exr_layout_make(&layout[p], &w->head->part[p], LEVELS_ONE, false, e);
        w->part[p].layout = layout[p];
    }
    ok = ok && exr_emit(&t, w->head, layout, e) && text_check(&t, e) &&
         file_out_write(w->file, 0, t.s, t.n, e);
    w->end = t.n;
    for (int p = 0; ok && p < w->head->parts; p++) {
        w->part[p].table = w->end;
        w->end += exr_layout_chunks(&layout[p]) * 8;
    }
    text_free(&t);
    mem_free(layout);
    return ok;
}

void *exr_write_create(file_out **file, image_header *h, par *threads, err *e) {
    exr_writer *w = mem_new(1, sizeof *w, "EXR writer", e);
    if (!w) return NULL;
    w->file = *file;
    *file = NULL;
    pthread_mutex_init(&w->lock, NULL);
    w->threads = threads;
    w->head = h;
    for (int p = 0; p < h->parts; p++) {
        if (exr_chunk_known(h->part[p].packing)) continue;
        log_note("%s compression needs OpenEXR, which this program is built without; "
                 "writing zip instead",
                 compression_name(h->part[p].packing));
        h->part[p].packing = COMPRESSION_ZIP;
    }
    w->scratch = mem_new((size_t)par_workers(threads), sizeof *w->scratch, "EXR writer", e);
    w->part = mem_new((size_t)h->parts, sizeof *w->part, "EXR writer", e);
    if (!w->scratch || !w->part || !write_start(w, e)) goto fail;
    for (int p = 0; p < h->parts; p++) {
        part_state *s = &w->part[p];
        size_t chunks = (size_t)exr_layout_chunks(&s->layout);
        s->offset = mem_new(chunks, sizeof *s->offset, "the chunk table", e);
        s->waiting = mem_new(chunks, sizeof *s->waiting, "the chunk table", e);
        if (!s->offset || !s->waiting) goto fail;
    }
    return w;
fail:
    exr_write_discard(w);
    return NULL;
}

void exr_write_discard(void *writer) {
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
    file_out_discard(&w->file);
    pthread_mutex_destroy(&w->lock);
    mem_free(w);
}

uint32_t exr_write_rows(const void *writer, int part) {
    const exr_writer *w = writer;
    return w->part[part].layout.lines;
}

/* --- giving chunks their place ------------------------------------------------------------ */

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

/* Writes the chunks that have waited for the one before. Writing is outside the lock: places do
 * not overlap. */
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

/* Adds the packed chunk at `place` of the line order, which is in the caller's memory. Before its
 * turn, a copy of it waits. */
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

/* --- bands -------------------------------------------------------------------------------- */

typedef struct {
    exr_writer *w;
    int part;
    uint64_t first; /* place in the line order */
    size_t count;   /* chunks */
    exr_band band;
    const exr_reader *r; /* copies: where from */
    int from;
} write_job;

static bool encode_chunk(void *ctx, size_t i, int worker, err *e) {
    write_job *j = ctx;
    exr_scratch *s = &j->w->scratch[worker];
    const image_part *p = &j->w->head->part[j->part];
    const exr_layout *l = &j->w->part[j->part].layout;
    uint64_t index = exr_layout_stored(l, p->order, j->first + i);
    exr_chunk c = {.part = p, .layout = l, .band = &j->band, .at = exr_layout_block(l, index)};
    return exr_chunk_encode(s, &c, e) &&
           add_chunk(j->w, j->part, j->first + i, (packet){s->packed, s->bytes}, e);
}

/* Pieces of memory that are written at once. */
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

/* Writes chunks that are not packed, one after the other and many at once, from where their samples
 * are. Systems let one thread at a time write to a file; others would spend their time waiting for
 * it. */
static bool write_plain(void *ctx, size_t piece, int worker, err *e) {
    write_job *j = ctx;
    exr_writer *w = j->w;
    const part_state *state = &w->part[j->part];
    const image_part *p = &w->head->part[j->part];
    gathering *g = mem_raw(1, sizeof *g, "chunks", e);
    bool ok = g != NULL;
    (void)piece, (void)worker;
    if (g) g->file = w->file, g->at = w->end, g->bytes = 0, g->pieces = 0;
    for (size_t i = 0; ok && i < j->count; i++) {
        uint64_t index = exr_layout_stored(&state->layout, p->order, j->first + i);
        exr_chunk c = {p, &state->layout, &j->band, exr_layout_block(&state->layout, index)};
        exr_place place = {p, &state->layout, w->head->parts > 1 ? j->part : -1, index};
        size_t bytes = (size_t)c.at.w * c.at.h * state->layout.pixel;
        if (g->pieces == FILE_PIECES && !(ok = write_gathered(g, e))) break;
        uint8_t *head = g->head[g->pieces];
        add_piece(g, head, exr_chunk_head_make(head, &place, (uint32_t)bytes));
        ok = gather_samples(g, &c, e);
        place_next(w, j->part, bytes);
    }
    ok = ok && write_gathered(g, e);
    mem_free(g);
    return ok && write_waiting(w, j->part, e);
}

bool exr_write_band(void *writer, int part, uint32_t row, uint32_t rows, const void *const plane[],
                    err *e) {
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
    return par_for(w->threads, j.count, encode_chunk, &j, e);
}

/* --- copies ------------------------------------------------------------------------------- */

bool exr_write_can_copy(const void *writer, int to, const void *reader, int from) {
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

static bool copy_chunk(void *ctx, size_t i, int worker, err *e) {
    write_job *j = ctx;
    exr_scratch *s = &j->w->scratch[worker];
    const exr_layout *l = &j->w->part[j->part].layout;
    uint64_t index = exr_layout_stored(l, j->w->head->part[j->part].order, j->first + i);
    return exr_read_chunk(j->r, j->from, index, s, e) &&
           add_chunk(j->w, j->part, j->first + i, (packet){s->packed, s->bytes}, e);
}

/* Copies a few chunks per thread at a time: if one is slow to come, only these can wait. */
bool exr_write_copy(void *writer, int to, void *reader, int from, err *e) {
    exr_writer *w = writer;
    write_job j = {.w = w, .part = to, .r = reader, .from = from};
    uint64_t chunks = exr_layout_chunks(&w->part[to].layout);
    uint64_t some = 4 * (uint64_t)par_threads(w->threads);
    for (; j.first < chunks; j.first += some)
        if (!par_for(w->threads, (size_t)min_u64(some, chunks - j.first), copy_chunk, &j, e))
            return false;
    return true;
}

/* --- the end ------------------------------------------------------------------------------ */

bool exr_write_commit(void *writer, err *e) {
    exr_writer *w = writer;
    bool ok = true;
    for (int p = 0; ok && p < w->head->parts; p++) {
        const part_state *s = &w->part[p];
        size_t chunks = (size_t)exr_layout_chunks(&s->layout);
        ok = s->placed == chunks ? file_out_write(w->file, s->table, s->offset, chunks * 8, e)
                                 : err_set(e, ERR_INTERNAL, "part %d: %zu of %zu chunks", p,
                                           (size_t)s->placed, chunks);
    }
    ok = ok && file_out_commit(&w->file, e);
    exr_write_discard(w);
    return ok;
}

/* --- EXR's row in the table of formats -------------------------------------------------------- */

static bool match(const uint8_t *head, size_t bytes) {
    static const uint8_t MAGIC[4] = {0x76, 0x2f, 0x31, 0x01};
    return bytes >= sizeof MAGIC && memcmp(head, MAGIC, sizeof MAGIC) == 0;
}

const image_format FORMAT_EXR = {
    .name = "exr",
    .extensions = "exr,sxr,mxr",
    .magic = 4,
    .match = match,
    .open = exr_read_open,
    .read = exr_read_band,
    .reader_rows = exr_read_rows,
    .close = exr_read_close,
    .create = exr_write_create,
    .writer_rows = exr_write_rows,
    .write = exr_write_band,
    .can_copy = exr_write_can_copy,
    .copy_part = exr_write_copy,
    .commit = exr_write_commit,
    .discard = exr_write_discard,
};
