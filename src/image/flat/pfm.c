/* pfm.c - portable float maps.
 *
 * A file has three lines of text (PF for three colours or Pf for one, width and height, a scale)
 * and then floats, the lowest row first. The sign of the scale says the order of bytes: negative is
 * little endian. Its size says the unit of the samples to some programs; here it is ignored with a
 * note. */
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/number.h"
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

enum { LONGEST_HEAD = 256 };

/* A reader or a writer. */
typedef struct {
    flat_file flat;
    uint64_t start; /* of the samples */
    bool swapped;   /* they are big endian */
} pfm;

/* --- reading ------------------------------------------------------------------------------ */

/* Returns the next word of the header, ended in place, or NULL. */
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

static bool read_head(pfm *r, const char *path, image_header *h, const image_limits *limits,
                      err *e) {
    char head[LONGEST_HEAD + 1] = {0};
    uint64_t size = file_in_size(r->flat.in);
    flat_size is = {0};
    if (!file_in_read(r->flat.in, 0, head, (size_t)min_u64(size, LONGEST_HEAD), e)) return false;
    char *at = head, *end;
    const char *kind = word(&at), *w = word(&at), *hgt = word(&at), *s = word(&at);
    if (!s || !number(w, &is.width) || !number(hgt, &is.height))
        return err_set(e, ERR_DATA, "the header of the PFM file is damaged");
    float scale = strtof(s, &end);
    if (*end || !isfinite(scale) || scale == 0)
        return err_set(e, ERR_DATA,
                       "the scale '%s' of the PFM file is not a number other than zero", s);
    is.colours = kind[1] == 'F' ? 3 : 1;
    r->swapped = scale > 0;
    r->start = (uint64_t)(at - head);
    if (fabsf(scale) != 1)
        log_note("'%s': the scale %g is ignored, the samples are taken as they are", path,
                 (double)fabsf(scale));
    if (!flat_header(&r->flat, h, &is, limits, e)) return false;
    uint64_t bytes = is.width * is.height * (uint64_t)is.colours * 4;
    return bytes <= size - r->start ||
           err_set(e, ERR_DATA,
                   "the file is cut off: its samples need %" PRIu64 " bytes, %" PRIu64 " are there",
                   bytes, size - r->start);
}

static bool read_row(void *ctx, size_t i, int worker, err *e) {
    (void)worker;
    const pfm *r = ctx;
    const flat_picture *f = &r->flat.picture;
    size_t width = r->flat.width, colours = (size_t)f->colours, n = width * colours;
    uint64_t from_below = r->flat.height - 1 - (r->flat.row + i);
    uint32_t *line = mem_raw(n, sizeof *line, "a row", e);
    if (!line) return false;
    bool ok = file_in_read(r->flat.in, r->start + from_below * n * 4, line, n * 4, e);
    for (size_t k = 0; ok && k < colours; k++) {
        uint32_t *to = r->flat.plane[f->colour[k]];
        for (size_t x = 0; to && x < width; x++) {
            uint32_t v = line[x * colours + k];
            to[i * width + x] = r->swapped ? __builtin_bswap32(v) : v;
        }
    }
    mem_free(line);
    return ok;
}

static void *pfm_open(const char *path, const image_limits *limits, par *threads, image_header *h,
                      err *e) {
    pfm *r = flat_new(sizeof *r, read_row, threads, e);
    if (r && (r->flat.in = file_in_open(path, e)) && read_head(r, path, h, limits, e)) return r;
    flat_close(r);
    return NULL;
}

/* --- writing ------------------------------------------------------------------------------ */

static bool write_row(void *ctx, size_t i, int worker, err *e) {
    (void)worker;
    const pfm *w = ctx;
    size_t n = w->flat.width * (size_t)w->flat.picture.colours;
    uint64_t from_below = w->flat.height - 1 - (w->flat.row + i);
    float *line = mem_raw(n, sizeof *line, "a row", e);
    if (!line) return false;
    flat_get(line, w->flat.picture.colours, &w->flat.picture, w->flat.from, i);
    bool ok = file_out_write(w->flat.out, w->start + from_below * n * 4, line, n * 4, e);
    mem_free(line);
    return ok;
}

static void *pfm_create(file_out **file, image_header *h, par *threads, err *e) {
    char head[LONGEST_HEAD];
    pfm *w = flat_new(sizeof *w, write_row, threads, e);
    if (w && flat_take(&w->flat, file, h, &FORMAT_PFM, e)) {
        w->start = (uint64_t)snprintf(head, sizeof head, "P%c\n%" PRIu32 " %" PRIu32 "\n-1.0\n",
                                      w->flat.picture.colours == 3 ? 'F' : 'f', w->flat.width,
                                      w->flat.height);
        if (file_out_write(w->flat.out, 0, head, (size_t)w->start, e)) return w;
    }
    flat_close(w);
    return NULL;
}

const image_format FORMAT_PFM = {
    .name = "pfm",
    .extensions = "pfm",
    .magic = 3,
    .match = match,
    .open = pfm_open,
    .create = pfm_create,
    FLAT_WHOLE,
};
