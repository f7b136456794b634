/* pfm.c - portable float maps.
 *
 * Three lines of text (PF for three colours or Pf for one, width and height, a scale) and then
 * floats, the lowest row first. The sign of the scale says the order of bytes, negative is little
 * endian; its size says the unit of the samples to some programs, and is ignored with a note. */
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "image/flat/flat.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool match(const uint8_t *head, size_t bytes) {
    return bytes >= 3 && head[0] == 'P' && (head[1] == 'F' || head[1] == 'f') &&
           (head[2] == '\n' || head[2] == '\r' || head[2] == ' ');
}

/* --- reading ------------------------------------------------------------------------------ */

typedef struct {
    file_in *file;
    par *threads;
    const image_header *head;
    flat_picture picture;
    uint64_t start; /* of the samples */
    bool swapped;
} pfm_reader;

static void pfm_close(void *reader) {
    pfm_reader *r = reader;
    if (!r) return;
    file_in_close(&r->file);
    mem_free(r);
}

enum { LONGEST_HEAD = 256 };

/* The next word of the header, ended in place; NULL where there is none. */
static char *word(char **at) {
    char *w = *at + strspn(*at, " \t\r\n"), *end = w + strcspn(w, " \t\r\n");
    if (w == end || !*end) return NULL;
    *end = 0;
    *at = end + 1; /* one blank ends the header; the next byte may look like another */
    return w;
}

static bool number(const char *s, uint64_t *out) {
    char *end;
    if (!s || *s < '0' || *s > '9') return false;
    *out = strtoull(s, &end, 10);
    return *end == 0;
}

static bool read_head(pfm_reader *r, image_header *h, const image_limits *limits, err *e) {
    char head[LONGEST_HEAD + 1] = {0};
    uint64_t size = file_in_size(r->file), width, height;
    size_t n = size < LONGEST_HEAD ? (size_t)size : LONGEST_HEAD;
    if (!file_in_read(r->file, 0, head, n, e)) return false;
    char *at = head, *end;
    const char *kind = word(&at), *w = word(&at), *hgt = word(&at), *s = word(&at);
    if (!s || !number(w, &width) || !number(hgt, &height))
        return err_set(e, ERR_DATA, "the header of the PFM file is damaged");
    float scale = strtof(s, &end);
    if (*end || !isfinite(scale) || scale == 0)
        return err_set(e, ERR_DATA, "the scale '%s' of the PFM file is no number but zero", s);
    int colours = kind[1] == 'F' ? 3 : 1;
    r->swapped = scale > 0;
    r->start = (uint64_t)(at - head);
    if (fabsf(scale) != 1)
        log_note("'%s': the scale %g is ignored, the samples are taken as they are",
                 file_in_path(r->file), (double)fabsf(scale));
    if (!flat_header(h, width, height, colours, false, limits, e)) return false;
    uint64_t bytes = width * height * (uint64_t)colours * 4;
    if (bytes > size - r->start)
        return err_set(e, ERR_DATA,
                       "the file is cut off: its samples need %" PRIu64 " bytes, %" PRIu64
                       " are there",
                       bytes, size - r->start);
    return flat_find(&r->picture, &h->part[0], e);
}

static void *pfm_open(const char *path, const image_limits *limits, par *threads, image_header *h,
                      err *e) {
    pfm_reader *r = mem_new(1, sizeof *r, "PFM reader", e);
    if (!r) return NULL;
    r->threads = threads;
    r->head = h;
    if ((r->file = file_in_open(path, e)) && read_head(r, h, limits, e)) return r;
    pfm_close(r);
    return NULL;
}

static bool read_row(void *ctx, size_t i, int worker, err *e) {
    (void)worker;
    const flat_rows *j = ctx;
    const pfm_reader *r = j->file;
    const image_part *p = &r->head->part[0];
    const flat_picture *f = &r->picture;
    size_t width = image_width(p), colours = (size_t)f->colours, n = width * colours;
    uint64_t from_below = image_height(p) - 1 - (j->row + i);
    uint32_t *line = mem_raw(n, sizeof *line, "a row", e);
    if (!line) return false;
    bool ok = file_in_read(r->file, r->start + from_below * n * 4, line, n * 4, e);
    for (size_t k = 0; ok && k < colours; k++) {
        uint32_t *to = j->plane[f->colour[k]];
        for (size_t x = 0; to && x < width; x++) {
            uint32_t v = line[x * colours + k];
            to[i * width + x] = r->swapped ? __builtin_bswap32(v) : v;
        }
    }
    mem_free(line);
    return ok;
}

static bool pfm_read(void *reader, int part, uint32_t row, uint32_t rows, void *const plane[],
                     err *e) {
    (void)part;
    pfm_reader *r = reader;
    flat_rows j = {.file = r, .row = row, .plane = plane};
    return par_for(r->threads, rows, read_row, &j, e);
}

/* --- writing ------------------------------------------------------------------------------ */

typedef struct {
    file_out *file;
    par *threads;
    const image_header *head;
    flat_picture picture;
    uint64_t start;
} pfm_writer;

static void pfm_discard(void *writer) {
    pfm_writer *w = writer;
    if (!w) return;
    file_out_discard(&w->file);
    mem_free(w);
}

static void *pfm_create(file_out **file, image_header *h, par *threads, err *e) {
    pfm_writer *w = mem_new(1, sizeof *w, "PFM writer", e);
    if (!w) return NULL;
    w->file = *file;
    *file = NULL;
    w->threads = threads;
    w->head = h;
    char head[LONGEST_HEAD];
    if (!flat_check(&w->picture, h, "pfm", false, e)) goto fail;
    int n = snprintf(head, sizeof head, "P%c\n%" PRIu32 " %" PRIu32 "\n-1.0\n",
                     w->picture.colours == 3 ? 'F' : 'f', image_width(&h->part[0]),
                     image_height(&h->part[0]));
    w->start = (uint64_t)n;
    if (file_out_write(w->file, 0, head, (size_t)n, e)) return w;
fail:
    pfm_discard(w);
    return NULL;
}

static bool write_row(void *ctx, size_t i, int worker, err *e) {
    (void)worker;
    const flat_rows *j = ctx;
    const pfm_writer *w = j->file;
    const image_part *p = &w->head->part[0];
    size_t width = image_width(p), n = width * (size_t)w->picture.colours;
    uint64_t from_below = image_height(p) - 1 - (j->row + i);
    float *line = mem_raw(n, sizeof *line, "a row", e);
    if (!line) return false;
    flat_get(line, w->picture.colours, &w->picture, p, j->from, i * width, width);
    bool ok = file_out_write(w->file, w->start + from_below * n * 4, line, n * 4, e);
    mem_free(line);
    return ok;
}

static bool pfm_write(void *writer, int part, uint32_t row, uint32_t rows,
                      const void *const plane[], err *e) {
    (void)part;
    pfm_writer *w = writer;
    flat_rows j = {.file = w, .row = row, .from = plane};
    return par_for(w->threads, rows, write_row, &j, e);
}

static bool pfm_commit(void *writer, err *e) {
    pfm_writer *w = writer;
    bool ok = file_out_commit(&w->file, e);
    pfm_discard(w);
    return ok;
}

const image_format FORMAT_PFM = {
    .name = "pfm",
    .extensions = "pfm",
    .magic = 3,
    .match = match,
    .open = pfm_open,
    .read = pfm_read,
    .close = pfm_close,
    .create = pfm_create,
    .writer_rows = flat_one_row,
    .write = pfm_write,
    .commit = pfm_commit,
    .discard = pfm_discard,
};
