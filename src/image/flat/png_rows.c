/* png_rows.c - deflate in pieces.
 *
 * Rows are collected into strips. Each strip is filtered and packed by itself, as one block of
 * deflate with codes of its own and an empty stored block, which fills up the last byte. So pieces
 * that were made side by side follow one another in the file, each as an IDAT of its own. A block
 * repeats nothing but the byte before, which finds what is flat in a filtered picture; what else
 * zlib's matches would find there saves little. */
#include "image/flat/png_rows.h"

#include "base/mem.h"
#include "base/number.h"
#include "image/exr/exr_code.h"

#include <libdeflate.h>
#include <stdlib.h>

/* A strip has whole rows, and as many of them as come to about these bytes. */
enum { STRIP = 64 << 10 };

/* What one strip becomes. */
typedef struct {
    const uint8_t *above, *row; /* the row above the first, or NULL; and the first */
    uint32_t rows;
    uint8_t *filtered; /* with a byte for the filter before each row */
    uint8_t *packed;   /* the piece, behind room for the head of an IDAT */
    size_t bytes;      /* of the piece */
} strip;

struct png_rows {
    file_out *file;
    par *threads;
    size_t row; /* bytes */
    int channels;
    uint32_t left;    /* rows that are still to come */
    uint32_t rows;    /* of a strip, */
    uint32_t waiting; /* and those that wait for more of them */
    uint8_t *band;    /* room for a strip for each thread, and before it for the row above */
    bool first;       /* there is no row above */
    uint32_t strips;  /* that go side by side */
    strip *strip;
    uint64_t at;  /* where the file ends */
    uint32_t sum; /* adler32 of all filtered bytes */
};

/* --- filters ------------------------------------------------------------------------------ */

static uint8_t paeth(int a, int b, int c) {
    int p = a + b - c, pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);
    return (uint8_t)(pa <= pb && pa <= pc ? a : pb <= pc ? b : c);
}

/* Filters a row by filter 0 to 4: `to` receives differences from a guess. */
static void filter(uint8_t *to, int kind, const uint8_t *row, const uint8_t *above, size_t n,
                   size_t step) {
    for (size_t i = 0; i < n; i++) {
        int a = i < step ? 0 : row[i - step], b = above ? above[i] : 0,
            c = above && i >= step ? above[i - step] : 0;
        int guess[] = {0, a, b, (a + b) / 2, kind == 4 ? paeth(a, b, c) : 0};
        to[i] = (uint8_t)(row[i] - guess[kind]);
    }
}

/* Chooses the filter that leaves the least: the sum of what is left as signed bytes tells. */
static void filter_best(uint8_t *to, const uint8_t *row, const uint8_t *above, size_t n,
                        size_t step, uint8_t *spare) {
    uint64_t least = UINT64_MAX;
    for (int kind = 0; kind < 5; kind++) {
        uint64_t sum = 0;
        filter(spare, kind, row, above, n, step);
        for (size_t i = 0; i < n; i++) sum += (uint64_t)abs((int8_t)spare[i]);
        if (sum >= least) continue;
        least = sum;
        to[0] = (uint8_t)kind;
        memcpy(to + 1, spare, n);
    }
}

/* --- deflate ------------------------------------------------------------------------------ */

enum { LEAST_RUN = 4, LONGEST_RUN = 258, FIRST_LENGTH = 257 };

/* Returns how often the byte before b[i] is repeated, or 0 where that is not worth a length. */
static size_t run_at(const uint8_t *b, size_t i, size_t n) {
    size_t run = 0, most = min_size(n - i, LONGEST_RUN);
    while (i && run < most && b[i + run] == b[i - 1]) run++;
    return run < LEAST_RUN ? 0 : run;
}

/* Returns the symbol of a length, and its extra bits (RFC 1951, 3.2.5). */
static int length_symbol(size_t run, unsigned *extra, unsigned *bits) {
    unsigned l = (unsigned)run - 3, e = 0;
    *extra = *bits = 0;
    if (run == LONGEST_RUN) return LENGTH_CODES - 1;
    if (l < 8) return FIRST_LENGTH + (int)l;
    while (l >> (e + 3)) e++;
    *bits = e;
    *extra = l & ((1u << e) - 1);
    return FIRST_LENGTH + 4 + 4 * (int)e + (int)(l >> e & 3);
}

/* Packs n bytes as a block and an empty stored one, and returns the bytes of both. No code is
 * longer than 14 bits, so twice the bytes and room for the lists of codes are enough. */
static size_t deflate(uint8_t *out, const uint8_t *b, size_t n) {
    uint32_t symbols[LENGTH_CODES] = {[END_OF_BLOCK] = 1}, distances[DISTANCE_CODES] = {0};
    exr_code by, back;
    unsigned extra, bits;
    bit_writer w = {.at = out};
    for (size_t i = 0, run; i < n; i += run ? run : 1) {
        run = run_at(b, i, n);
        symbols[run ? length_symbol(run, &extra, &bits) : b[i]]++;
        distances[0] += run > 0;
    }
    exr_code_make(&by, symbols, LENGTH_CODES, LONGEST_CODE);
    exr_code_make(&back, distances, DISTANCE_CODES, LONGEST_CODE);
    put(&w, 2 << 1, 3);
    exr_code_put(&w, &by, &back);
    for (size_t i = 0, run; i < n; i += run ? run : 1) {
        run = run_at(b, i, n);
        int s = run ? length_symbol(run, &extra, &bits) : b[i];
        put(&w, by.code[s], by.length[s]);
        if (run) put(&w, extra, bits);
        if (run) put(&w, back.code[0], back.length[0]);
        flush(&w);
    }
    put(&w, by.code[END_OF_BLOCK], by.length[END_OF_BLOCK]);
    put(&w, 0, 3);
    to_byte(&w);
    put(&w, 0xffff0000, 32);
    flush(&w);
    return (size_t)(w.at - out);
}

/* --- the file ----------------------------------------------------------------------------- */

enum { CHUNK_HEAD = 8, CHUNK_ENDS = 12 };

static void put_big(uint8_t *to, uint32_t v) {
    for (int i = 0; i < 4; i++) to[i] = (uint8_t)(v >> (24 - 8 * i));
}

/* Writes a chunk whose n bytes of data stand behind room for its head, and before room for its sum.
 */
static bool write_chunk(png_rows *w, const char *type, uint8_t *chunk, size_t n, err *e) {
    put_big(chunk, (uint32_t)n);
    memcpy(chunk + 4, type, 4);
    put_big(chunk + CHUNK_HEAD + n, libdeflate_crc32(0, chunk + 4, n + 4));
    bool ok = file_out_write(w->file, w->at, chunk, n + CHUNK_ENDS, e);
    w->at += n + CHUNK_ENDS;
    return ok;
}

static bool write_head(png_rows *w, const png_size *size, err *e) {
    static const uint8_t MAGIC[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    static const uint8_t KIND[] = {0, 0, 4, 2, 6};
    uint8_t head[CHUNK_ENDS + 13] = {0}, *data = head + CHUNK_HEAD;
    uint8_t zlib[CHUNK_ENDS + 2] = {[CHUNK_HEAD] = 0x78, 0x01};
    put_big(data, size->width);
    put_big(data + 4, size->height);
    data[8] = 8;
    data[9] = KIND[size->channels];
    w->at = sizeof MAGIC;
    return file_out_write(w->file, 0, MAGIC, sizeof MAGIC, e) &&
           write_chunk(w, "IHDR", head, 13, e) && write_chunk(w, "IDAT", zlib, 2, e);
}

/* Returns how many rows of `row` bytes a strip has. */
static uint32_t strip_rows(size_t row) {
    return (uint32_t)max_size(STRIP / (row + 1), 1);
}

/* Return the room of a strip: behind the filtered rows is one row more, to try filters in. */
static size_t room_filtered(size_t row) {
    return strip_rows(row) * (row + 1) + row;
}
static size_t room_packed(size_t row) {
    return 2 * strip_rows(row) * (row + 1) + 1024;
}

uint64_t png_rows_bytes(const png_size *size, par *threads) {
    const size_t row = (size_t)size->width * (size_t)size->channels;
    const size_t each = strip_rows(row) * row + room_filtered(row) + room_packed(row);
    return (uint64_t)par_threads(threads) * each + row;
}

png_rows *png_rows_open(file_out *file, const png_size *size, par *threads, err *e) {
    png_rows *w = mem_new(1, sizeof *w, "a picture", e);
    if (!w) return NULL;
    *w = (png_rows){.file = file,
                    .threads = threads,
                    .channels = size->channels,
                    .row = (size_t)size->width * (size_t)size->channels,
                    .left = size->height,
                    .first = true,
                    .strips = (uint32_t)par_threads(threads),
                    .sum = 1};
    w->rows = strip_rows(w->row);
    w->band = mem_raw((size_t)w->rows * w->strips + 1, w->row, "rows of a picture", e);
    w->strip = mem_new(w->strips, sizeof *w->strip, "a picture", e);
    bool ok = w->band && w->strip;
    for (uint32_t i = 0; ok && i < w->strips; i++) {
        strip *s = &w->strip[i];
        s->filtered = mem_raw(room_filtered(w->row), 1, "rows of a picture", e);
        s->packed = mem_raw(room_packed(w->row), 1, "rows of a picture", e);
        ok = s->filtered && s->packed;
    }
    if (!ok || !write_head(w, size, e)) png_rows_close(&w);
    return w;
}

void png_rows_close(png_rows **pw) {
    png_rows *w = *pw;
    if (!w) return;
    for (uint32_t i = 0; w->strip && i < w->strips; i++) {
        mem_free(w->strip[i].filtered);
        mem_free(w->strip[i].packed);
    }
    mem_free(w->strip);
    mem_free(w->band);
    mem_free(w);
    *pw = NULL;
}

static bool pack_strip(void *ctx, size_t index, int worker, err *e) {
    const png_rows *w = ctx;
    strip *s = &w->strip[index];
    size_t n = (size_t)s->rows * (w->row + 1);
    (void)worker, (void)e;
    for (uint32_t y = 0; y < s->rows; y++) {
        const uint8_t *row = s->row + y * w->row;
        filter_best(s->filtered + y * (w->row + 1), row, y ? row - w->row : s->above, w->row,
                    (size_t)w->channels, s->filtered + n);
    }
    s->bytes = deflate(s->packed + CHUNK_HEAD, s->filtered, n);
    return true;
}

/* Packs and writes the rows that wait, and keeps the last one. */
static bool pack(png_rows *w, err *e) {
    uint32_t count = ceil_div_u32(w->waiting, w->rows);
    uint8_t *first = w->band + w->row;
    for (uint32_t i = 0; i < count; i++) {
        strip *s = &w->strip[i];
        s->row = first + (size_t)i * w->rows * w->row;
        s->above = i || !w->first ? s->row - w->row : NULL;
        s->rows = min_u32(w->rows, w->waiting - i * w->rows);
    }
    bool ok = par_for(w->threads, count, pack_strip, w, e);
    for (uint32_t i = 0; ok && i < count; i++) {
        strip *s = &w->strip[i];
        w->sum = libdeflate_adler32(w->sum, s->filtered, (size_t)s->rows * (w->row + 1));
        ok = write_chunk(w, "IDAT", s->packed, s->bytes, e);
    }
    memcpy(w->band, w->band + (size_t)w->waiting * w->row, w->row);
    w->first = false;
    w->waiting = 0;
    return ok;
}

bool png_rows_add(png_rows *w, const uint8_t *pixel, uint32_t rows, err *e) {
    bool ok = rows <= w->left || err_set(e, ERR_INTERNAL, "a picture has too many rows");
    while (ok && rows) {
        uint32_t some = min_u32(rows, w->rows * w->strips - w->waiting);
        memcpy(w->band + (size_t)(1 + w->waiting) * w->row, pixel, some * w->row);
        pixel += some * w->row;
        rows -= some;
        w->left -= some;
        w->waiting += some;
        if (w->waiting == w->rows * w->strips || !w->left) ok = pack(w, e);
    }
    return ok;
}

bool png_rows_end(png_rows *w, err *e) {
    if (w->left) return err_set(e, ERR_INTERNAL, "a picture lacks %u rows", w->left);
    uint8_t last[CHUNK_ENDS + 6] = {[CHUNK_HEAD] = 3, 0}, end[CHUNK_ENDS]; /* 3: nothing follows */
    put_big(last + CHUNK_HEAD + 2, w->sum);
    return write_chunk(w, "IDAT", last, 6, e) && write_chunk(w, "IEND", end, 0, e);
}
