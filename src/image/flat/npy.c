/* npy.c - NumPy's arrays of one picture: (height, width), or (height, width, 1, 3 or 4) for Y, R G
 * B and R G B A, rows from the top, little endian, as numpy.save writes them.
 *
 * The numbers are taken as linear light as they are: halfs stay halfs, and all others become
 * floats. An array of halfs is written where all colours are halfs, else one of floats. */
#include "base/log.h"
#include "base/number.h"
#include "image/flat/flat.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char MAGIC[] = "\x93NUMPY";

/* BEFORE: magic, version, and two or four bytes that say how long the head is. No head of a picture
 * comes near MOST; numpy.save fills heads with blanks up to a multiple of ALIGN bytes. */
enum { VERSION_AT = 6, LENGTH_AT = 8, BEFORE = 12, MOST = 1024, ALIGN = 64 };

static const char *const TYPE[FLAT_TYPES] = {"<f2", "<f4", "<f8", "|u1", "<u2"};

static bool npy_match(const uint8_t *head, size_t bytes) {
    return bytes >= VERSION_AT && memcmp(head, MAGIC, VERSION_AT) == 0;
}

/* --- the head: a dictionary as Python writes it ----------------------------------------------- */

static const char *skip_blanks(const char *s) {
    return s + strspn(s, " \t\n");
}

/* Takes a character, with blanks around it, if it is the next one. */
static bool take(const char **at, char c) {
    const char *s = skip_blanks(*at);
    if (*s != c) return false;
    *at = skip_blanks(s + 1);
    return true;
}

/* Takes a string in quotes of either kind. */
static bool take_string(const char **at, char *to, size_t room) {
    const char *s = skip_blanks(*at), quote = *s;
    if (quote != '\'' && quote != '"') return false;
    const char *end = strchr(++s, quote);
    if (!end || (size_t)(end - s) >= room) return false;
    memcpy(to, s, (size_t)(end - s));
    to[end - s] = 0;
    *at = skip_blanks(end + 1);
    return true;
}

typedef struct {
    char type[16];
    bool columns_first;
    uint64_t side[4];
    int sides; /* more than 4: as many as there are, and `side` has the first ones */
} npy_head;

static bool take_shape(const char **at, npy_head *h) {
    if (!take(at, '(')) return false;
    for (h->sides = 0; **at >= '0' && **at <= '9'; h->sides++) {
        char *end;
        uint64_t n = strtoull(*at, &end, 10);
        if (h->sides < 4) h->side[h->sides] = n;
        *at = end;
        if (!take(at, ',')) {
            h->sides++;
            break;
        }
    }
    return take(at, ')');
}

static bool take_head(const char *s, npy_head *h) {
    enum { DESCR = 1, ORDER = 2, SHAPE = 4 };
    char key[16];
    int seen = 0;
    if (!take(&s, '{')) return false;
    while (take_string(&s, key, sizeof key) && take(&s, ':')) {
        if (strcmp(key, "descr") == 0 && take_string(&s, h->type, sizeof h->type)) {
            seen |= DESCR;
        } else if (strcmp(key, "fortran_order") == 0) {
            h->columns_first = strncmp(s, "True", 4) == 0;
            if (!h->columns_first && strncmp(s, "False", 5) != 0) return false;
            s += h->columns_first ? 4 : 5;
            seen |= ORDER;
        } else if (strcmp(key, "shape") == 0 && take_shape(&s, h)) {
            seen |= SHAPE;
        } else {
            return false;
        }
        if (!take(&s, ',')) break;
    }
    return take(&s, '}') && seen == (DESCR | ORDER | SHAPE);
}

/* Finds out what the array is; refuses, with what to type in Python, all that is no picture. */
static bool understand(flat_numbers *r, flat_size *size, const npy_head *h, err *e) {
    for (r->type = 0; r->type < FLAT_TYPES && strcmp(h->type, TYPE[r->type]) != 0;) r->type++;
    if (r->type == FLAT_TYPES)
        return err_set(e, ERR_DATA,
                       "the array has numbers of type '%s'; save a.astype('<f4') instead", h->type);
    if (h->columns_first)
        return err_set(e, ERR_DATA,
                       "the array has its columns first; save numpy.ascontiguousarray(a) instead");
    r->count = h->sides == 2 ? 1 : (int)min_u64(h->side[2], 5);
    if (h->sides < 2 || h->sides > 3 || (r->count != 1 && r->count != 3 && r->count != 4))
        return err_set(e, ERR_DATA,
                       "an array with %d sides%s is no picture; its shape must be (height, width), "
                       "or (height, width, 3) with R G B, or 4 with R G B A",
                       h->sides, h->sides == 3 ? ", of which the last is not 1, 3 or 4," : "");
    *size = (flat_size){h->side[1], h->side[0], r->count == 1 ? 1 : 3, r->count == 4};
    return true;
}

/* --- reading ------------------------------------------------------------------------------ */

static bool read_head(flat_file *r, const char *path, image_header *h, const image_limits *limits,
                      err *e) {
    char bytes[BEFORE + MOST + 1] = {0};
    uint64_t size = file_in_size(r->in), there = min_u64(size, BEFORE + MOST);
    if (!file_in_read(r->in, 0, bytes, (size_t)there, e)) return false;
    const uint8_t *u = (const uint8_t *)bytes + LENGTH_AT;
    bool is_long = bytes[VERSION_AT] > 1;
    uint64_t length = u[0] | (uint64_t)u[1] << 8;
    if (is_long) length |= (uint64_t)u[2] << 16 | (uint64_t)u[3] << 24;
    uint64_t first = is_long ? BEFORE : BEFORE - 2;
    npy_head is = {.sides = 0};
    r->numbers.start = first + length;
    if (length > MOST || first + length > there)
        return err_set(e, ERR_DATA,
                       "the head of the array has %" PRIu64 " bytes; at most %d are read, and the "
                       "file has %" PRIu64,
                       length, MOST, size);
    bytes[first + length] = 0;
    if (!take_head(bytes + first, &is))
        return err_set(e, ERR_DATA, "the head of the array is damaged");
    flat_size picture;
    if (!understand(&r->numbers, &picture, &is, e) || !flat_header(r, h, &picture, limits, e))
        return false;
    for (int c = 0; r->numbers.type == FLAT_HALF && c < h->part->channels; c++)
        h->part->channel[c].type = PIXEL_HALF;
    if (r->numbers.type == FLAT_DOUBLE)
        log_note("'%s': numbers of 64 bits are read as numbers of 32 bits", path);
    return flat_numbers_there(r, e);
}

static void *npy_open(const char *path, const image_limits *limits, par *threads, image_header *h,
                      err *e) {
    flat_file *r = flat_new(sizeof *r, flat_read_numbers, threads, e);
    if (r && (r->in = file_in_open(path, e)) && read_head(r, path, h, limits, e)) return r;
    flat_close(r);
    return NULL;
}

/* --- writing ------------------------------------------------------------------------------ */

static void *npy_create(file_out **file, image_header *h, par *threads, err *e) {
    char head[4 * ALIGN], shape[16] = "";
    flat_file *w = flat_new(sizeof *w, flat_write_numbers, threads, e);
    if (w && flat_take(w, file, h, &FORMAT_NPY, e)) {
        const flat_picture *f = &w->picture;
        bool half = true;
        for (int k = 0; k < 3; k++) half &= f->part->channel[f->colour[k]].type == PIXEL_HALF;
        w->numbers.type = half ? FLAT_HALF : FLAT_FLOAT;
        w->numbers.count = f->alpha >= 0 ? 4 : f->colours;
        if (w->numbers.count > 1) snprintf(shape, sizeof shape, ", %d", w->numbers.count);
        enum { FIRST = BEFORE - 2 }; /* version 1 has a length of two bytes */
        int n = snprintf(head + FIRST, sizeof head - FIRST,
                         "{'descr': '%s', 'fortran_order': False, 'shape': (%" PRIu32 ", %" PRIu32
                         "%s), }",
                         TYPE[w->numbers.type], w->height, w->width, shape);
        size_t bytes = ((size_t)n + FIRST + 1 + ALIGN - 1) / ALIGN * ALIGN, length = bytes - FIRST;
        memset(head + FIRST + n, ' ', bytes - FIRST - (size_t)n);
        head[bytes - 1] = '\n';
        memcpy(head, MAGIC, VERSION_AT);
        memcpy(head + VERSION_AT, (const uint8_t[]){1, 0, (uint8_t)length, (uint8_t)(length >> 8)},
               4);
        w->numbers.start = bytes;
        if (file_out_write(w->out, 0, head, bytes, e)) return w;
    }
    flat_close(w);
    return NULL;
}

const image_format FORMAT_NPY = {
    .name = "npy",
    .extensions = "npy",
    .holds_alpha = true,
    .magic = VERSION_AT,
    .match = npy_match,
    .open = npy_open,
    .create = npy_create,
    FLAT_WHOLE,
};
