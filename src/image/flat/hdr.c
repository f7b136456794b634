/* hdr.c - Radiance pictures (.hdr, .pic).
 *
 * Lines of text up to an empty one, a line with the size and the orientation, and scan lines of
 * shared exponents (rgbe.h). EXPOSURE and COLORCORR say by what the stored values were multiplied,
 * so they are divided by them. A reader holds the picture as four bytes for each pixel. XYZE is
 * refused. Of a picture without R G B, Y is written as grey. */
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "image/flat/flat.h"
#include "image/flat/rgbe.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool match(const uint8_t *head, size_t bytes) {
    return bytes >= 2 && head[0] == '#' && head[1] == '?';
}

/* --- reading ------------------------------------------------------------------------------ */

typedef struct {
    par *threads;
    const image_header *head;
    flat_picture picture;
    uint8_t *pixels;       /* in the order of the file */
    ptrdiff_t right, down; /* from a pixel to its neighbours, in pixels */
    size_t origin;         /* of the pixel at the upper left */
    double divide[3];
    double aspect; /* height / width of a pixel */
    float primaries[8];
    bool has_primaries;
} hdr_reader;

static void hdr_close(void *reader) {
    hdr_reader *r = reader;
    if (!r) return;
    mem_free(r->pixels);
    mem_free(r);
}

/* All of `count` finite numbers, or nothing. */
static bool numbers(const char *s, double *to, int count) {
    double v[8];
    for (int i = 0; i < count; i++) {
        char *end;
        v[i] = strtod(s, &end);
        if (end == s || !isfinite(v[i])) return false;
        s = end;
    }
    memcpy(to, v, (size_t)count * sizeof *to);
    return true;
}

static bool read_format(hdr_reader *r, const char *v, err *e) {
    (void)r;
    if (strcmp(v, "32-bit_rle_rgbe") == 0) return true;
    if (strcmp(v, "32-bit_rle_xyze") == 0)
        return err_set(e, ERR_DATA,
                       "the pixels are XYZE, which is not supported; convert them to RGBE first "
                       "(Radiance's ra_xyze -r)");
    return err_set(e, ERR_DATA, "the pixel format '%.40s' is unknown", v);
}

static bool read_exposure(hdr_reader *r, const char *v, err *e) {
    double x;
    if (!numbers(v, &x, 1) || x <= 0)
        return err_set(e, ERR_DATA, "EXPOSURE=%.40s is no positive number", v);
    for (int c = 0; c < 3; c++) r->divide[c] *= x;
    return true;
}

static bool read_correction(hdr_reader *r, const char *v, err *e) {
    double x[3];
    if (!numbers(v, x, 3) || x[0] <= 0 || x[1] <= 0 || x[2] <= 0)
        return err_set(e, ERR_DATA, "COLORCORR=%.40s are not three positive numbers", v);
    for (int c = 0; c < 3; c++) r->divide[c] *= x[c];
    return true;
}

static bool read_aspect(hdr_reader *r, const char *v, err *e) {
    double x;
    if (!numbers(v, &x, 1) || x <= 0)
        return err_set(e, ERR_DATA, "PIXASPECT=%.40s is no positive number", v);
    r->aspect *= x;
    return true;
}

static bool read_primaries(hdr_reader *r, const char *v, err *e) {
    double x[8];
    if (!numbers(v, x, 8)) return err_set(e, ERR_DATA, "PRIMARIES=%.60s are not eight numbers", v);
    for (int i = 0; i < 8; i++) r->primaries[i] = (float)x[i];
    r->has_primaries = true;
    return true;
}

static const struct {
    const char *name;
    bool (*read)(hdr_reader *r, const char *value, err *e);
} VARIABLE[] = {
    {"FORMAT=", read_format},    {"EXPOSURE=", read_exposure},   {"COLORCORR=", read_correction},
    {"PIXASPECT=", read_aspect}, {"PRIMARIES=", read_primaries},
};

enum { LONGEST_LINE = 2048 };

/* A line of text without its end. */
static bool take_line(char line[LONGEST_LINE], const uint8_t **at, const uint8_t *end, err *e) {
    const uint8_t *stop = memchr(*at, '\n', (size_t)(end - *at));
    if (!stop) return err_set(e, ERR_DATA, "the file is cut off within its header");
    size_t n = (size_t)(stop - *at);
    if (n >= LONGEST_LINE)
        return err_set(e, ERR_DATA, "a line of the header has %zu characters", n);
    memcpy(line, *at, n);
    if (n > 0 && line[n - 1] == '\r') n--;
    line[n] = 0;
    *at = stop + 1;
    return true;
}

static bool take_variables(hdr_reader *r, const uint8_t **at, const uint8_t *end, err *e) {
    char line[LONGEST_LINE];
    do {
        if (!take_line(line, at, end, e)) return false;
        for (size_t i = 0; i < sizeof VARIABLE / sizeof *VARIABLE; i++) {
            size_t n = strlen(VARIABLE[i].name);
            if (strncmp(line, VARIABLE[i].name, n) == 0 && !VARIABLE[i].read(r, line + n, e))
                return false;
        }
    } while (line[0]);
    return true;
}

/* "-Y 480 +X 640": the slow axis first, that is which of them steps from line to line; -Y goes
 * down, +X to the right. */
typedef struct {
    bool down, right, columns; /* `columns`: a line of the file is a column of the picture */
    uint64_t width, height;
} orientation;

static bool take_size(orientation *o, const uint8_t **at, const uint8_t *end, err *e) {
    char line[LONGEST_LINE], sign[2], axis[2];
    uint64_t length[2];
    int used = 0;
    if (!take_line(line, at, end, e)) return false;
    bool ok = sscanf(line, " %c%c %9" SCNu64 " %c%c %9" SCNu64 " %n", &sign[0], &axis[0],
                     &length[0], &sign[1], &axis[1], &length[1], &used) == 6 &&
              line[used] == 0;
    for (int i = 0; ok && i < 2; i++)
        ok = (sign[i] == '+' || sign[i] == '-') && (axis[i] == 'X' || axis[i] == 'Y');
    if (!ok || axis[0] == axis[1])
        return err_set(e, ERR_DATA, "the line of the size, '%.60s', is damaged", line);
    o->columns = axis[0] == 'X';
    int y = o->columns, x = !o->columns;
    o->down = sign[y] == '-';
    o->right = sign[x] == '+';
    o->width = length[x];
    o->height = length[y];
    return true;
}

/* Where pixels lie in the order of the file. */
static void set_steps(hdr_reader *r, const orientation *o) {
    ptrdiff_t w = (ptrdiff_t)o->width, h = (ptrdiff_t)o->height;
    ptrdiff_t x = o->columns ? h : 1, y = o->columns ? 1 : w;
    r->origin = (size_t)((o->right ? 0 : x * (w - 1)) + (o->down ? 0 : y * (h - 1)));
    r->right = o->right ? x : -x;
    r->down = o->down ? y : -y;
}

static bool take_pixels(hdr_reader *r, const orientation *o, const uint8_t *at, const uint8_t *end,
                        err *e) {
    size_t n = (size_t)(o->columns ? o->height : o->width);
    size_t lines = (size_t)(o->columns ? o->width : o->height);
    if (lines > (size_t)(end - at) / 4) /* a line has a pixel, or as many bytes of head */
        return err_set(e, ERR_DATA, "the file is cut off: %zu bytes do not hold %zu scan lines",
                       (size_t)(end - at), lines);
    if (!(r->pixels = mem_raw(n * lines, 4, "the picture", e))) return false;
    for (size_t i = 0; i < lines; i++)
        if (!rgbe_read_line(r->pixels + 4 * n * i, n, &at, end, e))
            return err_in(e, "scan line %zu of %zu", i, lines);
    return true;
}

static bool parse(hdr_reader *r, const uint8_t *bytes, size_t n, const image_limits *limits,
                  image_header *h, err *e) {
    const uint8_t *at = bytes, *end = bytes + n;
    orientation o;
    if (!take_variables(r, &at, end, e) || !take_size(&o, &at, end, e) ||
        !flat_header(h, o.width, o.height, 3, false, limits, e) ||
        !flat_find(&r->picture, &h->part[0], e))
        return false;
    set_steps(r, &o);
    image_part *p = &h->part[0];
    p->aspect = (float)(1 / r->aspect);
    if (r->has_primaries && !image_set_attr(p, "chromaticities", "chromaticities", r->primaries,
                                            sizeof r->primaries, e))
        return false;
    return take_pixels(r, &o, at, end, e);
}

static void *hdr_open(const char *path, const image_limits *limits, par *threads, image_header *h,
                      err *e) {
    hdr_reader *r = mem_new(1, sizeof *r, "Radiance reader", e);
    if (!r) return NULL;
    *r = (hdr_reader){.threads = threads, .head = h, .divide = {1, 1, 1}, .aspect = 1};
    /* 4 bytes hold 3 samples; run lengths of one pixel each, the worst, need twice as many. */
    size_t n, room = 1 << 20, most = SIZE_MAX / 4;
    if (limits->samples < most / 4) most = (size_t)limits->samples * 3 + room;
    uint8_t *bytes = file_read_all(path, most, &n, e);
    bool ok = bytes && parse(r, bytes, n, limits, h, e);
    mem_free(bytes);
    if (ok) return r;
    hdr_close(r);
    return NULL;
}

static bool read_row(void *ctx, size_t i, int worker, err *e) {
    (void)worker;
    const flat_rows *j = ctx;
    const hdr_reader *r = j->file;
    size_t width = image_width(&r->head->part[0]);
    uint8_t *rgbe = mem_raw(width, 4, "a row", e);
    float *rgb = mem_raw(3 * width, sizeof *rgb, "a row", e);
    bool ok = rgbe && rgb;
    if (ok) {
        ptrdiff_t at = (ptrdiff_t)r->origin + r->down * (ptrdiff_t)(j->row + i);
        for (size_t x = 0; x < width; x++, at += r->right)
            memcpy(rgbe + 4 * x, r->pixels + 4 * at, 4);
        rgbe_to_floats(rgb, rgbe, width);
    }
    for (int c = 0; ok && c < 3; c++) {
        float *to = j->plane[r->picture.colour[c]];
        for (size_t x = 0; to && x < width; x++)
            to[i * width + x] = (float)(rgb[3 * x + (size_t)c] / r->divide[c]);
    }
    mem_free(rgb);
    mem_free(rgbe);
    return ok;
}

static bool hdr_read(void *reader, int part, uint32_t row, uint32_t rows, void *const plane[],
                     err *e) {
    (void)part;
    hdr_reader *r = reader;
    flat_rows j = {.file = r, .row = row, .plane = plane};
    return par_for(r->threads, rows, read_row, &j, e);
}

/* --- writing ------------------------------------------------------------------------------ */

typedef struct {
    uint8_t *bytes;
    size_t n;
} packed_line;

typedef struct {
    file_out *file;
    par *threads;
    const image_header *head;
    flat_picture picture;
    packed_line *line; /* by row, until its turn has come */
    uint32_t written;  /* rows */
    uint64_t end;      /* of the file */
} hdr_writer;

static void hdr_discard(void *writer) {
    hdr_writer *w = writer;
    if (!w) return;
    for (uint32_t y = 0; w->line && y < image_height(&w->head->part[0]); y++)
        mem_free(w->line[y].bytes);
    mem_free(w->line);
    file_out_discard(&w->file);
    mem_free(w);
}

static bool write_head(hdr_writer *w, err *e) {
    const image_part *p = &w->head->part[0];
    const image_attr *a = image_find_attr(p, "chromaticities");
    text t = {0};
    text_add(&t, "#?RADIANCE\n");
    if (a && a->bytes == 8 * sizeof(float)) {
        float v[8];
        memcpy(v, a->data, sizeof v);
        text_add(&t, "PRIMARIES=");
        for (int i = 0; i < 8; i++) text_add(&t, "%s%.9g", i ? " " : "", (double)v[i]);
        text_add(&t, "\n");
    }
    if (p->aspect > 0 && p->aspect != 1) text_add(&t, "PIXASPECT=%.9g\n", 1 / (double)p->aspect);
    text_add(&t, "FORMAT=32-bit_rle_rgbe\n\n-Y %" PRIu32 " +X %" PRIu32 "\n", image_height(p),
             image_width(p));
    bool ok = file_out_write(w->file, 0, t.s, t.n, e);
    w->end = t.n;
    text_free(&t);
    return ok;
}

static void *hdr_create(file_out **file, image_header *h, par *threads, err *e) {
    hdr_writer *w = mem_new(1, sizeof *w, "Radiance writer", e);
    if (!w) return NULL;
    w->file = *file;
    *file = NULL;
    w->threads = threads;
    w->head = h;
    if (!flat_check(&w->picture, h, "hdr", false, e)) goto fail;
    w->line = mem_new(image_height(&h->part[0]), sizeof *w->line, "scan lines", e);
    if (w->line && write_head(w, e)) return w;
fail:
    hdr_discard(w);
    return NULL;
}

static bool pack_row(void *ctx, size_t i, int worker, err *e) {
    (void)worker;
    const flat_rows *j = ctx;
    const hdr_writer *w = j->file;
    const image_part *p = &w->head->part[0];
    size_t width = image_width(p);
    packed_line *l = &w->line[j->row + i];
    float *rgb = mem_raw(3 * width, sizeof *rgb, "a row", e);
    uint8_t *rgbe = mem_raw(width, 4, "a row", e);
    l->bytes = mem_raw(rgbe_bound(width), 1, "a row", e);
    bool ok = rgb && rgbe && l->bytes;
    if (ok) {
        flat_get(rgb, 3, &w->picture, p, j->from, i * width, width);
        rgbe_from_floats(rgbe, rgb, width);
        l->n = rgbe_write_line(l->bytes, rgbe, width);
    }
    mem_free(rgbe);
    mem_free(rgb);
    return ok;
}

static bool hdr_write(void *writer, int part, uint32_t row, uint32_t rows,
                      const void *const plane[], err *e) {
    (void)part;
    hdr_writer *w = writer;
    flat_rows j = {.file = w, .row = row, .from = plane};
    if (!par_for(w->threads, rows, pack_row, &j, e)) return false;
    uint32_t height = image_height(&w->head->part[0]);
    for (; w->written < height && w->line[w->written].bytes; w->written++) {
        packed_line *l = &w->line[w->written];
        if (!file_out_write(w->file, w->end, l->bytes, l->n, e)) return false;
        w->end += l->n;
        mem_free(l->bytes);
        l->bytes = NULL;
    }
    return true;
}

static bool hdr_commit(void *writer, err *e) {
    hdr_writer *w = writer;
    bool ok = file_out_commit(&w->file, e);
    hdr_discard(w);
    return ok;
}

const image_format FORMAT_HDR = {
    .name = "hdr",
    .extensions = "hdr,pic,rgbe",
    .magic = 2,
    .match = match,
    .open = hdr_open,
    .read = hdr_read,
    .close = hdr_close,
    .create = hdr_create,
    .writer_rows = flat_one_row,
    .write = hdr_write,
    .commit = hdr_commit,
    .discard = hdr_discard,
};
