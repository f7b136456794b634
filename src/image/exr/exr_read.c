#include "image/exr/exr_file.h"

#include "base/mem.h"

struct exr_reader {
    file_in *file;
    par *threads;
    const image_header *head;
    exr_file exr;
    exr_scratch *scratch; /* one for each thread */
};

void *exr_read_open(const char *path, const image_limits *limits, par *threads, image_header *h,
                    err *e) {
    exr_reader *r = mem_new(1, sizeof *r, "EXR reader", e);
    if (!r) return NULL;
    r->threads = threads;
    r->head = h;
    r->scratch = mem_new((size_t)par_workers(threads), sizeof *r->scratch, "EXR reader", e);
    if (!r->scratch || !(r->file = file_in_open(path, e)) ||
        !exr_file_read(&r->exr, h, r->file, limits, e)) {
        exr_read_close(r);
        return NULL;
    }
    return r;
}

void exr_read_close(void *reader) {
    exr_reader *r = reader;
    if (!r) return;
    for (int i = 0; r->scratch && i < par_workers(r->threads); i++)
        exr_scratch_free(&r->scratch[i]);
    mem_free(r->scratch);
    exr_file_free(&r->exr);
    file_in_close(&r->file);
    mem_free(r);
}

const exr_layout *exr_read_layout(const exr_reader *r, int part) {
    return &r->exr.table[part].layout;
}

uint32_t exr_read_rows(const void *reader, int part) {
    return exr_read_layout(reader, part)->lines;
}

const image_part *exr_read_part(const exr_reader *r, int part) {
    return &r->head->part[part];
}

bool exr_read_chunk(const exr_reader *r, int part, uint64_t index, exr_scratch *s, err *e) {
    const image_part *p = &r->head->part[part];
    const exr_table *t = &r->exr.table[part];
    uint64_t at = t->offset[index];
    uint8_t head[EXR_CHUNK_HEAD], expected[EXR_CHUNK_HEAD];
    exr_place place = {p, &t->layout, r->exr.multipart ? part : -1, index};
    size_t n = exr_chunk_head_make(expected, &place, 0);
    if (!file_in_read(r->file, at, head, n, e)) return false;
    if (memcmp(head, expected, n - 4) != 0)
        return err_set(e, ERR_DATA, "at %" PRIu64 ", where it should start, is something else", at);
    uint32_t size;
    memcpy(&size, head + n - 4, sizeof size);
    exr_block b = exr_layout_block(&t->layout, index);
    size_t raw = (size_t)b.w * b.h * t->layout.pixel;
    if (size == 0 || size > raw)
        return err_set(e, ERR_DATA, "it says it has %u bytes, its pixels need 1 to %zu", size, raw);
    if (size > file_in_size(r->file) - at - n)
        return err_set(e, ERR_DATA,
                       "incomplete file: its %u bytes at %" PRIu64
                       " go beyond the end of the file at %" PRIu64,
                       size, at + n, file_in_size(r->file));
    s->bytes = size;
    return exr_scratch_packed(s, size, e) && file_in_read(r->file, at + n, s->packed, size, e);
}

typedef struct {
    exr_reader *r;
    int part;
    uint64_t first; /* chunk */
    uint64_t chunks;
    uint64_t each; /* lines that are read at once; 0: they are packed, or too many pieces */
    exr_band band;
} band_job;

static bool decode_chunk(void *ctx, size_t i, int worker, err *e) {
    band_job *j = ctx;
    exr_scratch *s = &j->r->scratch[worker];
    const exr_layout *l = exr_read_layout(j->r, j->part);
    uint64_t index = j->first + i;
    exr_chunk c = {exr_read_part(j->r, j->part), l, &j->band, exr_layout_block(l, index)};
    return (exr_read_chunk(j->r, j->part, index, s, e) && exr_chunk_decode(s, &c, e)) ||
           err_in(e, "part %d, the chunk of %s that starts at pixel (%u, %u)", j->part,
                  compression_name(c.part->packing), c.at.x, c.at.y);
}

enum { STRETCH = 64 }; /* lines that are read at once */

typedef struct {
    int pieces;
    struct iovec piece[FILE_PIECES];
    uint8_t head[STRETCH][EXR_CHUNK_HEAD];
} lines_to;

/* Reads n lines from the first-th chunk of the part on, straight into their planes. Returns false
 * where they do not lie in the file as they should. */
static bool read_lines(const band_job *j, uint64_t first, uint64_t n, exr_scratch *s) {
    const image_part *p = exr_read_part(j->r, j->part);
    const exr_layout *l = exr_read_layout(j->r, j->part);
    const uint64_t *offset = j->r->exr.table[j->part].offset;
    lines_to to;
    to.pieces = 0;
    uint8_t expected[EXR_CHUNK_HEAD];
    size_t head = exr_chunk_head(j->r->exr.multipart, false), line = l->w * l->pixel;
    if (!exr_scratch_packed(s, l->w * sizeof(float), NULL)) return false;
    for (uint64_t i = 0; i < n; i++) {
        size_t y = (size_t)(first + i - j->band.row);
        if (offset[first + i] != offset[first] + i * (head + line)) return false;
        to.piece[to.pieces++] = (struct iovec){to.head[i], head};
        for (int c = 0; c < p->channels; c++) {
            size_t bytes = l->w * pixel_bytes(p->channel[c].type);
            uint8_t *plane = j->band.plane[c];
            to.piece[to.pieces++] = (struct iovec){plane ? plane + y * bytes : s->packed, bytes};
        }
    }
    if (!file_in_read_pieces(j->r->file, offset[first], to.piece, to.pieces)) return false;
    for (uint64_t i = 0; i < n; i++) {
        exr_place place = {p, l, j->r->exr.multipart ? j->part : -1, first + i};
        exr_chunk_head_make(expected, &place, (uint32_t)line);
        if (memcmp(to.head[i], expected, head) != 0) return false;
    }
    return true;
}

/* Reads a stretch; one that is not as it should be, line by line, to say what is wrong with it. */
static bool read_stretch(void *ctx, size_t index, int worker, err *e) {
    band_job *j = ctx;
    uint64_t at = index * j->each, n = min_u64(j->each, j->chunks - at);
    if (read_lines(j, j->first + at, n, &j->r->scratch[worker])) return true;
    for (uint64_t i = at; i < at + n; i++)
        if (!decode_chunk(j, (size_t)i, worker, e)) return false;
    return true;
}

bool exr_read_band(void *reader, int part, uint32_t row, uint32_t rows, void *const plane[],
                   err *e) {
    exr_reader *r = reader;
    const exr_layout *l = exr_read_layout(r, part);
    uint32_t from = row / l->lines, to = (row + rows - 1) / l->lines;
    band_job j = {.r = r, .part = part, .first = (uint64_t)from * l->across};
    j.chunks = (uint64_t)(to - from + 1) * l->across;
    j.band = (exr_band){plane, row, rows, l->w};
    const image_part *p = exr_read_part(r, part);
    if (p->packing == COMPRESSION_NONE && !p->tile_w)
        j.each = min_u64(STRETCH, (uint64_t)(FILE_PIECES / (p->channels + 1)));
    if (!j.each) return par_for(r->threads, (size_t)j.chunks, decode_chunk, &j, e);
    return par_for(r->threads, (size_t)((j.chunks - 1) / j.each + 1), read_stretch, &j, e);
}
