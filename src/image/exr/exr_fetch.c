/* exr_fetch.c - finds the end of an EXR image in a stream.
 *
 * No field of the file says how long it is. The headers say how long the tables are, the tables
 * where the last chunk is, and this one how long it is itself. */
#include "image/exr/exr_file.h"

/* A file that grows, up to what has been asked for. */
typedef struct {
    file_in *file;
    const image_source *from;
    uint64_t at; /* the next byte to look at */
} growing;

/* Reads the next bytes. */
static bool next(growing *g, void *to, size_t n, err *e) {
    if (!g->from->bring(g->from->ctx, g->at + n, e) || !file_in_read(g->file, g->at, to, n, e))
        return false;
    g->at += n;
    return true;
}

/* Moves behind a name; *empty: it has no characters. */
static bool pass_name(growing *g, bool *empty, err *e) {
    char letter = 1;
    for (int n = 0; n <= EXR_LONGEST_NAME; n++) {
        if (!next(g, &letter, 1, e)) return false;
        *empty = n == 0 && !letter;
        if (!letter) return true;
    }
    return err_set(e, ERR_DATA, "the name of an attribute has no end after %d characters",
                   EXR_LONGEST_NAME);
}

/* Moves behind all headers. */
static bool pass_headers(growing *g, err *e) {
    uint32_t word[2], bytes;
    bool end, again = next(g, word, sizeof word, e), ok = again;
    for (int attrs; ok && again;) {
        for (attrs = 0; (ok = pass_name(g, &end, e)) && !end; attrs++) {
            ok = pass_name(g, &end, e) && next(g, &bytes, sizeof bytes, e) &&
                 g->from->bring(g->from->ctx, g->at + bytes, e);
            if (!ok) break;
            g->at += bytes;
        }
        again = (word[1] & EXR_MULTIPART) && attrs; /* an empty header ends the list */
    }
    return ok;
}

/* Finds the last chunk in the tables of all parts. *whole: no chunk is missing. */
static bool find_last(growing *g, const exr_file *x, exr_last_chunk *last, bool *whole, err *e) {
    uint64_t some[512];
    *whole = true;
    for (int part = 0; part < x->parts; part++) {
        uint64_t left = x->table[part].layout.table;
        for (size_t n; left; left -= n) {
            n = (size_t)min_u64(left, sizeof some / sizeof *some);
            if (!next(g, some, n * sizeof *some, e)) return false;
            for (size_t i = 0; i < n; i++) {
                *whole = *whole && some[i];
                if (some[i] >= last->at) *last = (exr_last_chunk){some[i], part};
            }
        }
    }
    return true;
}

bool exr_fetch(const char *path, const image_limits *limits, const image_source *from, err *e) {
    growing g = {file_in_open(path, e), from, 0};
    bool ok = g.file && pass_headers(&g, e), whole = false;
    exr_file x = {0};
    image_header h = {0};
    exr_last_chunk last = {0};
    file_in_close(&g.file); /* it knows the length that the file had */
    ok = ok && (g.file = file_in_open(path, e)) && exr_file_headers(&x, &h, g.file, limits, e) &&
         find_last(&g, &x, &last, &whole, e);
    if (ok && whole && last.at >= g.at) {
        size_t head = exr_chunk_head(x.multipart, h.part[last.part].tile_w);
        uint32_t bytes = 0;
        g.at = last.at + head - sizeof bytes;
        ok = next(&g, &bytes, sizeof bytes, e) && from->bring(from->ctx, g.at + bytes, e);
    } else if (ok) { /* the reader will say what is wrong */
        ok = from->bring(from->ctx, UINT64_MAX, e);
    }
    file_in_close(&g.file);
    exr_file_free(&x);
    image_header_free(&h);
    return ok;
}
