#include "image/format.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"

#include <strings.h>

static const image_format *const FORMAT[] = {&FORMAT_EXR, &FORMAT_HDR, &FORMAT_PFM, &FORMAT_PNG};
enum { FORMATS = COUNT(FORMAT) };

/* Formats that people try. They are not read, but recognised, so that the message can say how to
 * convert the file. Of rows that match, the first counts. */
typedef enum {
    CODED, /* oiiotool reads it, and it holds sRGB */
    MAYBE, /* oiiotool reads it, and it may hold linear light */
    VIDEO, /* a program for video must take it apart */
    ARRAY  /* numbers without a meaning */
} foreign_kind;

static const struct {
    const char *name;
    foreign_kind kind;
    size_t at, bytes; /* where the magic bytes stand */
    const char *magic;
} FOREIGN[] = {
    {"a JPEG file", CODED, 0, 3, "\xff\xd8\xff"},
    {"a TIFF file", MAYBE, 0, 4, "II*\0"},
    {"a TIFF file", MAYBE, 0, 4, "MM\0*"},
    {"a TIFF file", MAYBE, 0, 4, "II+\0"},
    {"a TIFF file", MAYBE, 0, 4, "MM\0+"},
    {"a GIF file", CODED, 0, 4, "GIF8"},
    {"a WebP file", CODED, 8, 4, "WEBP"},
    {"an HEIF file", CODED, 4, 6, "ftyphe"},
    {"an HEIF file", CODED, 4, 7, "ftypmif"},
    {"an AVIF file", CODED, 4, 7, "ftypavi"},
    {"a video (MP4 or MOV)", VIDEO, 4, 4, "ftyp"},
    {"a video (MOV)", VIDEO, 4, 4, "moov"},
    {"a video (MOV)", VIDEO, 4, 4, "wide"},
    {"a video (AVI)", VIDEO, 8, 4, "AVI "},
    {"a video (MKV or WebM)", VIDEO, 0, 4, "\x1a\x45\xdf\xa3"},
    {"a video (MXF)", VIDEO, 0, 4, "\x06\x0e\x2b\x34"},
    {"a JPEG 2000 file", MAYBE, 4, 4, "jP  "},
    {"a DPX file", MAYBE, 0, 4, "SDPX"},
    {"a DPX file", MAYBE, 0, 4, "XPDS"},
    {"a Photoshop file", MAYBE, 0, 4, "8BPS"},
    {"a FITS file", MAYBE, 0, 6, "SIMPLE"},
    {"a NumPy array", ARRAY, 0, 6, "\x93NUMPY"},
};

static bool refuse_foreign(const char *path, const char *name, foreign_kind kind, err *e) {
    int stem = path_stem(path);
    if (kind == VIDEO)
        return err_set(e, ERR_DATA,
                       "'%s' is %s; ffmpeg gives its frames to fftbloom and takes them back: "
                       "docs/pipes.md has the command",
                       path, name);
    if (kind == ARRAY)
        return err_set(e, ERR_DATA,
                       "'%s' is %s, which is not read; the Python module blooms arrays: "
                       "fftbloom.Bloom(kernel)(array), docs/python.md",
                       path, name);
    return err_set(e, ERR_DATA,
                   "'%s' is %s, which is not supported; convert it, for example: oiiotool '%s' "
                   "%s-o '%.*s.exr'%s",
                   path, name, path, kind == CODED ? "--colorconvert sRGB linear " : "", stem, path,
                   kind == MAYBE ? " (with --colorconvert sRGB linear if it is not linear)" : "");
}

struct image_reader {
    const image_format *format;
    void *state;
    image_header head;
    char *path;
    const char *called; /* by messages */
};

/* Says of a file in no format of this program what it is instead, if that can be seen. */
static const image_format *format_of_head(const char *called, const uint8_t *head, size_t n,
                                          err *e) {
    for (int i = 0; i < FORMATS; i++)
        for (size_t k = 0; k < COUNT(FORMAT[i]->magic) && FORMAT[i]->magic[k]; k++) {
            const size_t length = strlen(FORMAT[i]->magic[k]);
            if (n >= length && memcmp(head, FORMAT[i]->magic[k], length) == 0) return FORMAT[i];
        }
    for (size_t i = 0; i < COUNT(FOREIGN); i++)
        if (n >= FOREIGN[i].at + FOREIGN[i].bytes &&
            memcmp(head + FOREIGN[i].at, FOREIGN[i].magic, FOREIGN[i].bytes) == 0) {
            refuse_foreign(called, FOREIGN[i].name, FOREIGN[i].kind, e);
            return NULL;
        }
    err_set(e, ERR_DATA, "'%s' is not a recognised image format (.exr, .hdr, .pfm or .png)%s",
            called, n == 0 ? ": the file is empty" : "");
    return NULL;
}

static const image_format *format_of_content(const char *path, const char *called, err *e) {
    uint8_t head[IMAGE_HEAD] = {0};
    OPEN(file_in) *f = file_in_open(path, e);
    const size_t n = f ? (size_t)min_u64(file_in_size(f), sizeof head) : 0;
    const bool has = f && file_in_read(f, 0, head, n, e);
    const image_format *format = has ? format_of_head(called ? called : path, head, n, e) : NULL;
    if (!format) err_blame(e, FAULT_INPUT);
    return format;
}

/* Names the file that is read. Returns false. */
static bool in_input(const char *path, err *e) {
    return err_in(e, "'%s'", path) || err_blame(e, FAULT_INPUT);
}

static image_limits full_limits(const image_limits *limits) {
    image_limits l = limits ? *limits : (image_limits){0};
    if (!l.samples) l.samples = UINT64_MAX;
    if (!l.side) l.side = IMAGE_SIDE;
    if (!l.channels) l.channels = 1024;
    if (!l.parts) l.parts = 1024;
    return l;
}

bool image_fetch(const char *path, const char **name, const image_source *from, err *e) {
    const image_format *format = format_of_content(path, from->called, e);
    const image_limits l = full_limits(NULL);
    if (!format) return false;
    *name = format->name;
    return format->fetch
               ? format->fetch(path, &l, from, e) || in_input(from->called ? from->called : path, e)
               : from->bring(from->ctx, UINT64_MAX, e);
}

image_reader *image_open(const char *path, const image_limits *limits, par *threads, err *e) {
    const image_format *format = format_of_content(path, limits ? limits->called : NULL, e);
    if (!format) return NULL;
    OPEN(image_reader) *r = mem_new(1, sizeof *r, "reader", e);
    if (!r) return NULL;
    const image_limits l = full_limits(limits);
    r->format = format;
    if (!(r->path = mem_str(path, e))) return NULL;
    r->called = l.called ? l.called : r->path;
    if (!(r->state = format->open(path, &l, threads, &r->head, e))) {
        in_input(r->called, e);
        return NULL;
    }
    r->head.format = format->name;
    if (r->head.behind)
        log_say_once(LOG_NOTE, "'%s' has %" PRIu64 " bytes behind the image, which are left out",
                     r->called, r->head.behind);
    return GIVE(r);
}

void image_reader_close(image_reader **rp) {
    image_reader *r = *rp;
    if (!r) return;
    if (r->state) r->format->close(r->state);
    image_header_free(&r->head);
    mem_free(r->path);
    mem_free(r);
    *rp = NULL;
}

const image_header *image_reader_header(const image_reader *r) {
    return &r->head;
}

const char *image_reader_path(const image_reader *r) {
    return r->path;
}

const char *image_reader_called(const image_reader *r) {
    return r->called;
}

uint32_t image_reader_rows(const image_reader *r, int part) {
    return r->format->reader_rows ? r->format->reader_rows(r->state, part) : 1;
}

static uint64_t chunk_bytes(const image_part *p, uint32_t rows) {
    uint64_t width = p->tile_w ? min_u32(p->tile_w, image_width(p)) : image_width(p);
    return width * rows * (image_bytes(p) / image_width(p) / image_height(p));
}

/* A chunk is there as it is in the file, split into bytes, and as it is in memory (exr_scratch in
 * image/exr/exr_chunk.h); and there is what packs it (image/exr/exr_zip.c). */
uint64_t image_hands_bytes(const image_part *from, const image_part *to, uint32_t rows) {
    enum { TIMES = 3, PACKER = 384 << 10 };
    return TIMES * (chunk_bytes(from, rows) + chunk_bytes(to, rows)) + PACKER;
}

static bool in_part(const image_header *h, int part, uint32_t row, uint32_t rows, err *e) {
    if (part < 0 || part >= h->parts)
        return err_set(e, ERR_INTERNAL, "part %d of %d", part, h->parts);
    uint32_t height = image_height(&h->part[part]);
    if (row >= height || rows == 0 || rows > height - row)
        return err_set(e, ERR_INTERNAL, "rows %u and %u more of %u", row, rows, height);
    return true;
}

bool image_read(image_reader *r, int part, uint32_t row, uint32_t rows, void *const plane[],
                err *e) {
    if (!in_part(&r->head, part, row, rows, e)) return false;
    return r->format->read(r->state, part, row, rows, plane, e) || in_input(r->called, e);
}

struct image_writer {
    const image_format *format;
    void *state;
    file_out *file;
    image_header head;
    char *path;
    uint8_t **done; /* done[part][band]: each band of image_writer_rows is written once */
};

/* Formats that people try to write, and what to do instead. */
static const struct {
    const char *names, *instead;
} UNWRITTEN[] = {
    {"hdr,pic,rgbe", ".hdr is read, but not written: write .exr, or .pfm"},
    {"npy", "arrays are for the Python module (docs/python.md): write .exr, or .pfm"},
};

/* Returns the format of "exr:-", or NULL. */
static const image_format *format_of_stream(const char *path) {
    for (int i = 0; i < FORMATS; i++) {
        size_t n = strlen(FORMAT[i]->name);
        if (FORMAT[i]->create && strncmp(path, FORMAT[i]->name, n) == 0 &&
            strcmp(path + n, ":-") == 0)
            return FORMAT[i];
    }
    return NULL;
}

bool image_is_stream(const char *path) {
    return strcmp(path, "-") == 0 || format_of_stream(path);
}

static bool is_one_of(const char *ending, const char *list) {
    for (const char *name = list; *name;) {
        size_t n = strcspn(name, ",");
        if (strlen(ending) == n && strncasecmp(ending, name, n) == 0) return true;
        name += n + (name[n] == ',');
    }
    return false;
}

static bool refuse_name(const char *path, const char *ending, err *e) {
    size_t n = strlen(path);
    bool stream = n > 2 && strcmp(path + n - 2, ":-") == 0;
    char word[8];
    snprintf(word, sizeof word, "%.*s", stream ? (int)min_size(n - 2, sizeof word) : (int)n,
             stream ? path : ending);
    for (size_t i = 0; i < COUNT(UNWRITTEN); i++)
        if (is_one_of(word, UNWRITTEN[i].names))
            return err_set(e, ERR_USAGE, "cannot write '%s': %s", path, UNWRITTEN[i].instead);
    if (strcmp(path, "-") == 0)
        return err_set(e, ERR_USAGE, "standard output needs a format: exr:-, pfm:- or png:-");
    if (stream)
        return err_set(e, ERR_USAGE, "cannot write '%s': standard output is exr:-, pfm:- or png:-",
                       path);
    return err_set(e, ERR_USAGE, "cannot write '%s': unsupported extension; use .exr, .pfm or .png",
                   path);
}

static const image_format *format_of_name(const char *path, err *e) {
    const image_format *stream = format_of_stream(path);
    if (stream) return stream;
    const char *ending = path_ending(path);
    for (int i = 0; i < FORMATS; i++)
        if (FORMAT[i]->create && is_one_of(ending, FORMAT[i]->extensions)) return FORMAT[i];
    refuse_name(path, ending, e);
    return NULL;
}

bool image_is_name(const char *word) {
    bool readable = false;
    for (int i = 0; i < FORMATS; i++)
        readable |= is_one_of(path_ending(word), FORMAT[i]->extensions);
    return readable;
}

bool image_can_create(const char *path, err *e) {
    return format_of_name(path, e) && (format_of_stream(path) || file_out_possible(path, e));
}

static uint32_t bands(const image_writer *w, int part) {
    uint32_t rows = image_writer_rows(w, part);
    return (image_height(&w->head.part[part]) - 1) / rows + 1;
}

image_writer *image_create(const char *path, const image_header *h, file_way way, par *threads,
                           err *e) {
    const image_format *format = format_of_name(path, e);
    OWN(image_writer) *w = format ? mem_new(1, sizeof *w, "writer", e) : NULL;
    if (!w) return NULL;
    w->format = format;
    if (!(w->file = file_out_open(format_of_stream(path) ? "-" : path, way, e)) ||
        !(w->path = mem_str(path, e)) || !image_header_copy(&w->head, h, e))
        return NULL;
    if (!(w->state = format->create(w->file, &w->head, threads, e))) {
        const bool named = e && e->fault == FAULT_OUTPUT &&
                           strcmp(file_out_path(w->file), path) == 0;
        if (!named) err_in(e, "'%s'", path);
        return NULL;
    }
    if (!(w->done = mem_new((size_t)h->parts, sizeof *w->done, "writer", e))) return NULL;
    for (int p = 0; p < h->parts; p++)
        if (!(w->done[p] = mem_new(bands(w, p), 1, "writer", e))) return NULL;
    return GIVE(w);
}

void image_writer_free(image_writer **wp) {
    image_writer *w = *wp;
    if (!w) return;
    if (w->state) w->format->discard(w->state);
    file_out_free(&w->file);
    for (int p = 0; w->done && p < w->head.parts; p++) mem_free(w->done[p]);
    mem_free(w->done);
    image_header_free(&w->head);
    mem_free(w->path);
    mem_free(w);
    *wp = NULL;
}

uint32_t image_writer_rows(const image_writer *w, int part) {
    return w->format->writer_rows ? w->format->writer_rows(w->state, part) : 1;
}

/* Marks rows as written; they must be whole bands that were not written before. */
static bool claim(image_writer *w, int part, uint32_t row, uint32_t rows, err *e) {
    if (!in_part(&w->head, part, row, rows, e)) return false;
    uint32_t step = image_writer_rows(w, part), height = image_height(&w->head.part[part]);
    if (row % step || ((row + rows) % step && row + rows != height))
        return err_set(e, ERR_INTERNAL, "rows %u to %u do not start and end at multiples of %u",
                       row, row + rows, step);
    for (uint32_t b = row / step; b <= (row + rows - 1) / step; b++) {
        if (w->done[part][b]) return err_set(e, ERR_INTERNAL, "row %u is written twice", b * step);
        w->done[part][b] = 1;
    }
    return true;
}

bool image_write(image_writer *w, int part, uint32_t row, uint32_t rows, const void *const plane[],
                 err *e) {
    return (claim(w, part, row, rows, e) &&
            w->format->write(w->state, part, row, rows, plane, e)) ||
           err_in(e, "'%s'", w->path);
}

bool image_commit(image_writer **wp, err *e) {
    image_writer *w = *wp;
    bool ok = true;
    for (int p = 0; ok && p < w->head.parts; p++) {
        const uint8_t *missing = memchr(w->done[p], 0, bands(w, p));
        if (missing)
            ok = err_set(e, ERR_INTERNAL, "part %d: row %u was not written", p,
                         (uint32_t)(missing - w->done[p]) * image_writer_rows(w, p));
    }
    ok = ok && (!w->format->commit || w->format->commit(w->state, e)) &&
         file_out_commit(&w->file, e);
    if (!ok) err_in(e, "'%s'", w->path);
    image_writer_free(wp);
    return ok;
}

bool image_copy_part(image_writer *w, int to, image_reader *r, int from, bool *done, err *e) {
    const image_part *a = &w->head.part[to], *b = &r->head.part[from];
    *done = w->format == r->format && w->format->copy_part && a->channels == b->channels &&
            image_width(a) == image_width(b) && image_height(a) == image_height(b) &&
            w->format->can_copy(w->state, to, r->state, from);
    return !*done ||
           (claim(w, to, 0, image_height(a), e) &&
            (w->format->copy_part(w->state, to, r->state, from, e) || in_input(r->called, e)));
}

bool image_loses(const char *path, const image_part *p, int channel) {
    const image_format *f = *path ? format_of_name(path, NULL) : &FORMAT_EXR;
    return f && f->loses && f->loses(p, channel);
}

bool image_lossy(const image_writer *w) {
    return w->format->lossy && w->format->lossy(w->state);
}

image *image_load(const char *path, const image_limits *limits, par *threads, err *e) {
    OPEN(image_reader) *r = image_open(path, limits, threads, e);
    image *img = r ? image_new_unset(&r->head, NULL, e) : NULL;
    for (int p = 0; img && p < r->head.parts; p++)
        if (!image_read(r, p, 0, image_height(&r->head.part[p]), img->plane[p], e))
            image_free(&img);
    return img;
}

bool image_save_to(image_writer *to, const image *img, err *e) {
    OWN(image_writer) *w = to;
    bool ok = w != NULL;
    for (int p = 0; ok && p < img->head.parts; p++)
        ok = image_write(w, p, 0, image_height(&img->head.part[p]),
                         (const void *const *)img->plane[p], e);
    return ok && image_commit(&w, e);
}

bool image_save(const char *path, const image *img, par *threads, err *e) {
    return image_save_to(image_create(path, &img->head, FILE_REPLACE, threads, e), img, e);
}
