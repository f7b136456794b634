/* raw.c - planes of floats without a header: one plane after the other, rows from the top, little
 * endian. "raw" has red, green, blue and alpha, or grey alone; "gbr" green, blue, red and alpha, as
 * ffmpeg's gbrpf32le and gbrapf32le.
 *
 * Such bytes do not say what they are. So they are written to streams only, and read from files in
 * which a stream's reader has put a line in front of them (raw.h). */
#include "image/flat/raw.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/number.h"
#include "image/flat/flat.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char MAGIC[] = "fftbloom raw", GBR_MAGIC[] = "fftbloom gbr";

size_t raw_head(char to[RAW_HEAD], const char *format, uint32_t width, uint32_t height,
                uint32_t channels) {
    memset(to, 0, RAW_HEAD);
    snprintf(to, RAW_HEAD, "fftbloom %s %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", format, width,
             height, channels);
    return RAW_HEAD;
}

/* A reader or a writer. */
typedef struct {
    flat_file flat;
    uint64_t start;         /* of the samples */
    int channel[4], planes; /* of the part, in the order of the planes */
} raw;

static bool match(const uint8_t *head, size_t bytes) {
    return bytes >= sizeof MAGIC - 1 && memcmp(head, MAGIC, sizeof MAGIC - 1) == 0;
}

static bool match_gbr(const uint8_t *head, size_t bytes) {
    return bytes >= sizeof GBR_MAGIC - 1 && memcmp(head, GBR_MAGIC, sizeof GBR_MAGIC - 1) == 0;
}

static void order_planes(raw *r, bool gbr) {
    const flat_picture *f = &r->flat.picture;
    r->planes = f->colours;
    for (int i = 0; i < r->planes; i++) r->channel[i] = f->colour[gbr ? (i + 1) % r->planes : i];
    if (f->alpha >= 0) r->channel[r->planes++] = f->alpha;
}

static uint64_t place(const raw *r, int plane, size_t row) {
    uint64_t pixels = (uint64_t)r->flat.width * r->flat.height;
    return r->start + 4 * ((uint64_t)plane * pixels + (uint64_t)row * r->flat.width);
}

static bool read_row(void *ctx, size_t i, int worker, err *e) {
    (void)worker;
    const raw *r = ctx;
    size_t width = r->flat.width;
    bool ok = true;
    for (int k = 0; ok && k < r->planes; k++) {
        float *to = r->flat.plane[r->channel[k]];
        if (to)
            ok = file_in_read(r->flat.in, place(r, k, r->flat.row + i), to + i * width, width * 4,
                              e);
    }
    return ok;
}

static void *open_planes(const char *path, const image_limits *limits, par *threads,
                         image_header *h, err *e) {
    char head[RAW_HEAD + 1] = {0};
    uint32_t w, height, channels;
    raw *r = flat_new(sizeof *r, read_row, threads, e);
    bool ok = r && (r->flat.in = file_in_open(path, e)) &&
              file_in_read(r->flat.in, 0, head, RAW_HEAD, e);
    if (ok && (sscanf(head + sizeof MAGIC - 1, "%" SCNu32 " %" SCNu32 " %" SCNu32, &w, &height,
                      &channels) != 3 ||
               (channels != 1 && channels != 3 && channels != 4)))
        ok = err_set(e, ERR_DATA, "the header of the raw planes is damaged");
    if (ok) {
        const flat_size size = {w, height, channels == 1 ? 1 : 3, channels == 4};
        r->start = RAW_HEAD;
        ok = flat_header(&r->flat, h, &size, limits, e);
    }
    if (ok && file_in_size(r->flat.in) - RAW_HEAD != (uint64_t)w * height * channels * 4)
        ok = err_set(e, ERR_DATA, "the planes are cut off");
    if (ok) {
        order_planes(r, match_gbr((const uint8_t *)head, RAW_HEAD));
        return r;
    }
    flat_close(r);
    return NULL;
}

static bool write_row(void *ctx, size_t i, int worker, err *e) {
    (void)worker;
    const raw *w = ctx;
    const image_part *p = w->flat.picture.part;
    size_t width = w->flat.width;
    float *line = mem_raw(width, sizeof *line, "a row", e);
    bool ok = line != NULL;
    for (int k = 0; ok && k < w->planes; k++) {
        int c = w->channel[k];
        image_to_float(line, w->flat.from[c], p->channel[c].type, i * width, width);
        ok = file_out_write(w->flat.out, place(w, k, w->flat.row + i), line, width * 4, e);
    }
    mem_free(line);
    return ok;
}

static void *create(file_out **file, image_header *h, const image_format *as, par *threads,
                    err *e) {
    raw *w = flat_new(sizeof *w, write_row, threads, e);
    if (w && flat_take(&w->flat, file, h, as, e)) {
        order_planes(w, as == &FORMAT_GBR);
        return w;
    }
    flat_close(w);
    return NULL;
}

static void *create_raw(file_out **file, image_header *h, par *threads, err *e) {
    return create(file, h, &FORMAT_RAW, threads, e);
}

static void *create_gbr(file_out **file, image_header *h, par *threads, err *e) {
    return create(file, h, &FORMAT_GBR, threads, e);
}

#define PLANES(name_, match_, create_)                                                   \
    {                                                                                    \
        .name = name_, .extensions = "", .holds_alpha = true, .magic = sizeof MAGIC - 1, \
        .match = match_, .open = open_planes, .create = create_, FLAT_WHOLE              \
    }

const image_format FORMAT_RAW = PLANES("raw", match, create_raw);
const image_format FORMAT_GBR = PLANES("gbr", match_gbr, create_gbr);
