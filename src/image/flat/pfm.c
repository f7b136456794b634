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

static bool read_head(flat_file *r, const char *path, image_header *h, const image_limits *limits,
                      err *e) {
    char head[LONGEST_HEAD + 1] = {0};
    uint64_t size = file_in_size(r->in);
    flat_size is = {0};
    if (!file_in_read(r->in, 0, head, (size_t)min_u64(size, LONGEST_HEAD), e)) return false;
    char *at = head, *end;
    const char *kind = word(&at), *w = word(&at), *hgt = word(&at), *s = word(&at);
    if (!s || !number(w, &is.width) || !number(hgt, &is.height))
        return err_set(e, ERR_DATA, "the header of the PFM file is damaged");
    float scale = strtof(s, &end);
    if (*end || !isfinite(scale) || scale == 0)
        return err_set(e, ERR_DATA,
                       "the scale '%s' of the PFM file is not a number other than zero", s);
    is.colours = kind[1] == 'F' ? 3 : 1;
    r->numbers = (flat_numbers){.start = (uint64_t)(at - head),
                                .type = FLAT_FLOAT,
                                .count = is.colours,
                                .upwards = true,
                                .swapped = scale > 0};
    if (fabsf(scale) != 1)
        log_note("'%s': the scale %g is ignored, the samples are taken as they are", path,
                 (double)fabsf(scale));
    return flat_header(r, h, &is, limits, e) && flat_numbers_there(r, e);
}

static void *pfm_open(const char *path, const image_limits *limits, par *threads, image_header *h,
                      err *e) {
    flat_file *r = flat_new(sizeof *r, flat_read_numbers, threads, e);
    if (r && (r->in = file_in_open(path, e)) && read_head(r, path, h, limits, e)) return r;
    flat_close(r);
    return NULL;
}

static void *pfm_create(file_out **file, image_header *h, par *threads, err *e) {
    char head[LONGEST_HEAD];
    flat_file *w = flat_new(sizeof *w, flat_write_numbers, threads, e);
    if (w && flat_take(w, file, h, &FORMAT_PFM, e)) {
        int count = w->picture.colours,
            n = snprintf(head, sizeof head, "P%c\n%" PRIu32 " %" PRIu32 "\n-1.0\n",
                         count == 3 ? 'F' : 'f', w->width, w->height);
        w->numbers = (flat_numbers){
            .start = (uint64_t)n, .type = FLAT_FLOAT, .count = count, .upwards = true};
        if (file_out_write(w->out, 0, head, (size_t)n, e)) return w;
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
