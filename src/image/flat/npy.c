/* npy.c - NumPy's arrays of one picture: (height, width), or (height, width, 1, 3 or 4) for Y, R G
 * B and R G B A, rows from the top, little endian, as numpy.save writes them.
 *
 * The numbers are taken as linear light as they are: halfs stay halfs, and all others become
 * floats. An array of halfs is written where all colours are halfs, else one of floats. */
#include "base/half.h"
#include "base/log.h"
#include "base/mem.h"
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

typedef enum { NPY_HALF, NPY_FLOAT, NPY_DOUBLE, NPY_U1, NPY_U2, NPY_TYPES } npy_type;
static const struct {
    const char *name;
    size_t bytes;
} TYPE[NPY_TYPES] = {{"<f2", 2}, {"<f4", 4}, {"<f8", 8}, {"|u1", 1}, {"<u2", 2}};

/* A reader or a writer. */
typedef struct {
    flat_file flat;
    uint64_t start; /* of the numbers */
    npy_type type;
    int count; /* of numbers in a pixel */
} npy;

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
static bool understand(npy *r, flat_size *size, const npy_head *h, err *e) {
    for (r->type = 0; r->type < NPY_TYPES && strcmp(h->type, TYPE[r->type].name) != 0;) r->type++;
    if (r->type == NPY_TYPES)
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

static bool read_head(npy *r, const char *path, image_header *h, const image_limits *limits,
                      err *e) {
    char bytes[BEFORE + MOST + 1] = {0};
    uint64_t size = file_in_size(r->flat.in), there = min_u64(size, BEFORE + MOST);
    if (!file_in_read(r->flat.in, 0, bytes, (size_t)there, e)) return false;
    const uint8_t *u = (const uint8_t *)bytes + LENGTH_AT;
    bool is_long = bytes[VERSION_AT] > 1;
    uint64_t length = u[0] | (uint64_t)u[1] << 8;
    if (is_long) length |= (uint64_t)u[2] << 16 | (uint64_t)u[3] << 24;
    uint64_t first = is_long ? BEFORE : BEFORE - 2;
    npy_head is = {.sides = 0};
    r->start = first + length;
    if (length > MOST || r->start > there)
        return err_set(e, ERR_DATA,
                       "the head of the array has %" PRIu64 " bytes; at most %d are read, and the "
                       "file has %" PRIu64,
                       length, MOST, size);
    bytes[r->start] = 0;
    if (!take_head(bytes + first, &is))
        return err_set(e, ERR_DATA, "the head of the array is damaged");
    flat_size picture;
    if (!understand(r, &picture, &is, e) || !flat_header(&r->flat, h, &picture, limits, e))
        return false;
    for (int c = 0; r->type == NPY_HALF && c < h->part->channels; c++)
        h->part->channel[c].type = PIXEL_HALF;
    if (r->type == NPY_DOUBLE)
        log_note("'%s': numbers of 64 bits are read as numbers of 32 bits", path);
    uint64_t need = picture.width * picture.height * (uint64_t)r->count * TYPE[r->type].bytes;
    return need <= size - r->start ||
           err_set(e, ERR_DATA,
                   "the file is cut off: its numbers need %" PRIu64 " bytes, %" PRIu64 " are there",
                   need, size - r->start);
}

static float number_at(const void *line, npy_type t, size_t i) {
    switch (t) {
    case NPY_FLOAT: return ((const float *)line)[i];
    case NPY_DOUBLE: return (float)((const double *)line)[i];
    case NPY_U1: return ((const uint8_t *)line)[i];
    default: return ((const uint16_t *)line)[i];
    }
}

static bool read_row(void *ctx, size_t i, int worker, err *e) {
    (void)worker;
    const npy *r = ctx;
    const flat_picture *f = &r->flat.picture;
    size_t width = r->flat.width, count = (size_t)r->count;
    size_t bytes = width * count * TYPE[r->type].bytes;
    void *line = mem_raw(bytes, 1, "a row", e);
    bool ok = line &&
              file_in_read(r->flat.in, r->start + (r->flat.row + i) * bytes, line, bytes, e);
    for (size_t k = 0; ok && k < count; k++) {
        void *plane = r->flat.plane[k < 3 ? f->colour[k] : f->alpha];
        if (!plane) continue;
        uint16_t *halfs = (uint16_t *)plane + i * width;
        float *floats = (float *)plane + i * width;
        for (size_t x = 0; x < width; x++)
            if (r->type == NPY_HALF)
                halfs[x] = ((const uint16_t *)line)[x * count + k];
            else
                floats[x] = number_at(line, r->type, x * count + k);
    }
    mem_free(line);
    return ok;
}

static void *npy_open(const char *path, const image_limits *limits, par *threads, image_header *h,
                      err *e) {
    npy *r = flat_new(sizeof *r, read_row, threads, e);
    if (r && (r->flat.in = file_in_open(path, e)) && read_head(r, path, h, limits, e)) return r;
    flat_close(r);
    return NULL;
}

/* --- writing ------------------------------------------------------------------------------ */

static bool write_row(void *ctx, size_t i, int worker, err *e) {
    (void)worker;
    const npy *w = ctx;
    size_t n = w->flat.width * (size_t)w->count, bytes = n * TYPE[w->type].bytes;
    float *line = mem_raw(n, sizeof *line, "a row", e);
    uint16_t *halfs = line && w->type == NPY_HALF ? mem_raw(n, sizeof *halfs, "a row", e) : NULL;
    bool ok = line && (halfs || w->type != NPY_HALF);
    if (ok) flat_get(line, w->count, &w->flat.picture, w->flat.from, i);
    for (size_t k = 0; halfs && k < n; k++) halfs[k] = half_from_float(line[k]);
    ok = ok && file_out_write(w->flat.out, w->start + (w->flat.row + i) * bytes,
                              halfs ? (void *)halfs : line, bytes, e);
    mem_free(halfs);
    mem_free(line);
    return ok;
}

static void *npy_create(file_out **file, image_header *h, par *threads, err *e) {
    char head[4 * ALIGN], shape[16] = "";
    npy *w = flat_new(sizeof *w, write_row, threads, e);
    if (w && flat_take(&w->flat, file, h, &FORMAT_NPY, e)) {
        const flat_picture *f = &w->flat.picture;
        bool half = true;
        for (int k = 0; k < 3; k++) half &= f->part->channel[f->colour[k]].type == PIXEL_HALF;
        w->type = half ? NPY_HALF : NPY_FLOAT;
        w->count = f->alpha >= 0 ? 4 : f->colours;
        if (w->count > 1) snprintf(shape, sizeof shape, ", %d", w->count);
        enum { FIRST = BEFORE - 2 }; /* version 1 has a length of two bytes */
        int n = snprintf(head + FIRST, sizeof head - FIRST,
                         "{'descr': '%s', 'fortran_order': False, 'shape': (%" PRIu32 ", %" PRIu32
                         "%s), }",
                         TYPE[w->type].name, w->flat.height, w->flat.width, shape);
        size_t bytes = ((size_t)n + FIRST + 1 + ALIGN - 1) / ALIGN * ALIGN, length = bytes - FIRST;
        memset(head + FIRST + n, ' ', bytes - FIRST - (size_t)n);
        head[bytes - 1] = '\n';
        memcpy(head, MAGIC, VERSION_AT);
        memcpy(head + VERSION_AT, (const uint8_t[]){1, 0, (uint8_t)length, (uint8_t)(length >> 8)},
               4);
        w->start = bytes;
        if (file_out_write(w->flat.out, 0, head, bytes, e)) return w;
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
