/* pfm.c - portable float maps.
 *
 * A file has three lines of text (PF for three colours or Pf for one, width and height, a scale)
 * and then floats, the lowest row first. The sign of the scale says the order of bytes: negative is
 * little endian. Its size says the unit of the samples to some programs; here it is ignored with a
 * note. */
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "image/flat/flat.h"

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

typedef struct {
    flat_size size;
    uint64_t bytes; /* of the head */
    float scale;
} pfm_head;

static bool parse_head(pfm_head *to, char head[LONGEST_HEAD + 1], err *e) {
    char *at = head, *end;
    pfm_head made = {0};
    const char *kind = word(&at), *w = word(&at), *h = word(&at), *s = word(&at);
    if (!s || !number(w, &made.size.width) || !number(h, &made.size.height))
        return err_set(e, ERR_DATA, "the header of the PFM file is damaged");
    made.scale = strtof(s, &end);
    if (*end || !isfinite(made.scale) || made.scale == 0)
        return err_set(e, ERR_DATA,
                       "the scale '%s' of the PFM file is not a number other than zero", s);
    made.size.colours = kind[1] == 'F' ? 3 : 1;
    made.bytes = (uint64_t)(at - head);
    *to = made;
    return true;
}

static bool read_head(flat_file *r, const char *path, image_header *h, const image_limits *limits,
                      err *e) {
    char head[LONGEST_HEAD + 1] = {0};
    uint64_t size = file_in_size(r->in);
    pfm_head given;
    if (!file_in_read(r->in, 0, head, (size_t)min_u64(size, LONGEST_HEAD), e) ||
        !parse_head(&given, head, e))
        return false;
    r->numbers = (flat_numbers){
        .start = given.bytes, .count = given.size.colours, .swapped = given.scale > 0};
    if (fabsf(given.scale) != 1)
        log_note("'%s': the scale %g is ignored, the samples are taken as they are", path,
                 (double)fabsf(given.scale));
    return flat_header(r, h, &given.size, limits, e) && flat_numbers_there(r, &h->behind, e);
}

/* Reads the head byte by byte: the fourth blank or run of blanks ends it. */
static bool pfm_fetch(const char *path, const image_limits *limits, const image_source *from,
                      err *e) {
    char head[LONGEST_HEAD + 1] = {0};
    OPEN(file_in) *f = file_in_open(path, e);
    pfm_head given;
    if (!f) return false;
    for (int n = 0, words = 0; words < 4 && n < LONGEST_HEAD; n++) {
        if (!from->bring(from->ctx, (uint64_t)n + 1, e) ||
            !file_in_read(f, (uint64_t)n, head + n, 1, e))
            return false;
        words += n > 0 && strchr(" \t\r\n", head[n]) && !strchr(" \t\r\n", head[n - 1]);
    }
    if (!parse_head(&given, head, e)) return false;
    if (given.size.width > limits->side || given.size.height > limits->side)
        return err_set(e, ERR_DATA, "the header of the PFM file is damaged");
    return from->bring(
        from->ctx,
        given.bytes + given.size.width * given.size.height * (uint64_t)given.size.colours * 4, e);
}

static void *pfm_open(const char *path, const image_limits *limits, par *threads, image_header *h,
                      err *e) {
    flat_file *r = flat_new(sizeof *r, flat_read_numbers, threads, e);
    if (r && (r->in = file_in_open(path, e)) && read_head(r, path, h, limits, e)) return r;
    flat_close(r);
    return NULL;
}

static void *pfm_create(file_out *file, image_header *h, par *threads, err *e) {
    char head[LONGEST_HEAD];
    flat_file *w = flat_new(sizeof *w, flat_write_numbers, threads, e);
    if (w && flat_take(w, file, h, &FORMAT_PFM, e)) {
        int count = w->picture.colours, n = snprintf(head, sizeof head, "P%c\n%u %u\n-1.0\n",
                                                     count == 3 ? 'F' : 'f', w->width, w->height);
        w->numbers = (flat_numbers){.start = (uint64_t)n, .count = count};
        if (file_out_write(w->out, 0, head, (size_t)n, e)) return w;
    }
    flat_close(w);
    return NULL;
}

const image_format FORMAT_PFM = {
    .name = "pfm",
    .extensions = "pfm",
    .magic = {"PF\n", "PF\r", "PF ", "Pf\n", "Pf\r", "Pf "},
    .fetch = pfm_fetch,
    .open = pfm_open,
    .create = pfm_create,
    .read = flat_read,
    .close = flat_close,
    .write = flat_write,
    .discard = flat_close,
};
