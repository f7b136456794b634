#include "bloom/tiled_window.h"

#include "base/mem.h"
#include "base/number.h"

#include <string.h>

/* A part whose window changes. */
typedef struct {
    bool changes;
    ledger_row *cut; /* of each channel of the result: only out and spilled count */
    void **plane;    /* rows that wait until they can be written */
    uint32_t unit;   /* number of rows that are written at a time */
    int64_t at;      /* the first of these rows in the window that is kept; -1: there are none */
    uint32_t filled; /* rows that are there */
} turned;

struct tiled_windows {
    const image_header *from;
    image_header head;   /* as bloom sees it */
    image_header result; /* as it is written */
    const tiled_box *box;
    turned *part;
    const bloom_rows *under;
    bloom_rows rows; /* of this */
};

/* --- reading -------------------------------------------------------------------------------- */

/* Rows of a window that receive what another window has of them. `plane` has rows of `box`'s width.
 */
typedef struct {
    int part;
    image_box box;
    void *const *plane;
} wanted;

/* Reads some rows of the file's window, and copies what lies within the wanted one. */
static bool read_some(const tiled_windows *w, const wanted *to, int64_t y, uint32_t rows, err *e) {
    const image_part *p = &w->from->part[to->part];
    int64_t left = max_i64(p->data.x0, to->box.x0), right = min_i64(p->data.x1, to->box.x1);
    size_t width = image_width(p), wide = (size_t)((int64_t)to->box.x1 - to->box.x0 + 1);
    void **plane = mem_new((size_t)p->channels, sizeof *plane, "planes", e);
    bool ok = plane != NULL;
    for (int c = 0; ok && c < p->channels; c++) {
        if (!to->plane[c]) continue;
        ok = (plane[c] = mem_raw(width * rows, pixel_bytes(p->channel[c].type), "rows", e));
    }
    ok = ok && w->under->read(w->under->ctx, to->part, (uint32_t)(y - p->data.y0), rows, plane, e);
    for (int c = 0; plane && c < p->channels; c++) {
        size_t each = pixel_bytes(p->channel[c].type);
        for (uint32_t i = 0; ok && plane[c] && left <= right && i < rows; i++)
            memcpy((uint8_t *)to->plane[c] +
                       ((size_t)(y + i - to->box.y0) * wide + (size_t)(left - to->box.x0)) * each,
                   (const uint8_t *)plane[c] + (i * width + (size_t)(left - p->data.x0)) * each,
                   (size_t)(right - left + 1) * each);
        mem_free(plane[c]);
    }
    mem_free(plane);
    return ok;
}

/* Fills the wanted rows: from the file, and with zeros. */
static bool read_box(const tiled_windows *w, const wanted *to, err *e) {
    enum { SOME = 64 };
    const image_part *p = &w->from->part[to->part];
    size_t n = (size_t)((int64_t)to->box.x1 - to->box.x0 + 1) *
               (size_t)((int64_t)to->box.y1 - to->box.y0 + 1);
    bool ok = true;
    for (int c = 0; c < p->channels; c++)
        if (to->plane[c]) memset(to->plane[c], 0, n * pixel_bytes(p->channel[c].type));
    int64_t end = min_i64(p->data.y1, to->box.y1) + 1;
    for (int64_t y = max_i64(p->data.y0, to->box.y0); ok && y < end; y += SOME)
        ok = read_some(w, to, y, (uint32_t)min_i64(SOME, end - y), e);
    return ok;
}

static bool read_rows(void *ctx, int part, uint32_t row, uint32_t rows, void *const plane[],
                      err *e) {
    const tiled_windows *w = ctx;
    if (!w->part[part].changes) return w->under->read(w->under->ctx, part, row, rows, plane, e);
    wanted to = {part, w->box[part].computed, plane};
    to.box.y0 += (int32_t)row;
    to.box.y1 = to.box.y0 + (int32_t)rows - 1;
    return read_box(w, &to, e);
}

/* --- writing -------------------------------------------------------------------------------- */

/* Begins to fill the rows from `at` on of the window that is kept: those of channels that are not
 * bloomed come from the file. */
static bool begin_rows(tiled_windows *w, int part, int64_t at, const void *const *made, err *e) {
    turned *t = &w->part[part];
    const image_part *p = &w->result.part[part], *own = &w->from->part[part];
    uint32_t rows = min_u32(t->unit, image_height(p) - (uint32_t)at);
    void **plane = mem_new((size_t)own->channels, sizeof *plane, "planes", e);
    if (!plane) return false;
    for (int c = 0; c < p->channels; c++)
        if (!made[c]) plane[image_find_channel(own, p->channel[c].name)] = t->plane[c];
    wanted to = {part, p->data, plane};
    to.box.y0 += (int32_t)at;
    to.box.y1 = to.box.y0 + (int32_t)rows - 1;
    bool ok = read_box(w, &to, e);
    mem_free(plane);
    t->at = at;
    t->filled = 0;
    return ok;
}

/* Copies a row of the result, whose number in the window that is kept is k. made: of this row. */
static void copy_row(const tiled_windows *w, int part, int64_t k, const void *const *made,
                     size_t first) {
    const turned *t = &w->part[part];
    const image_part *p = &w->result.part[part];
    const image_box *computed = &w->box[part].computed;
    size_t wide = image_width(p), skip = (size_t)((int64_t)p->data.x0 - computed->x0);
    for (int c = 0; c < p->channels; c++) {
        size_t each = pixel_bytes(p->channel[c].type);
        if (made[c])
            memcpy((uint8_t *)t->plane[c] + (size_t)(k - t->at) * wide * each,
                   (const uint8_t *)made[c] + (first + skip) * each, wide * each);
    }
}

static void note_cut(tiled_windows *w, int part, uint32_t row, uint32_t rows,
                     const void *const *made) {
    image_box box = w->box[part].computed;
    box.y0 += (int32_t)row;
    box.y1 = box.y0 + (int32_t)rows - 1;
    const image_part *p = &w->result.part[part];
    for (int c = 0; c < p->channels; c++)
        if (made[c]) ledger_cut(&w->part[part].cut[c], made[c], p->channel[c].type, &box, &p->data);
}

static bool write_rows(void *ctx, int part, uint32_t row, uint32_t rows, const void *const made[],
                       err *e) {
    tiled_windows *w = ctx;
    turned *t = &w->part[part];
    const image_part *p = &w->result.part[part];
    const image_box *computed = &w->box[part].computed;
    if (!t->changes) return w->under->write(w->under->ctx, part, row, rows, made, e);
    size_t width = (size_t)((int64_t)computed->x1 - computed->x0 + 1);
    int64_t top = (int64_t)computed->y0 - p->data.y0 + row; /* in the window that is kept */
    bool upwards = p->order == LINES_DECREASING, ok = true;
    note_cut(w, part, row, rows, made);
    for (uint32_t i = 0; ok && i < rows; i++) {
        uint32_t y = upwards ? rows - 1 - i : i;
        int64_t k = top + y, at = k / t->unit * t->unit;
        if (k < 0 || k >= image_height(p)) continue;
        if (at != t->at) ok = begin_rows(w, part, at, made, e);
        if (!ok) break;
        copy_row(w, part, k, made, y * width);
        uint32_t all = min_u32(t->unit, image_height(p) - (uint32_t)at);
        if (++t->filled == all)
            ok = w->under->write(w->under->ctx, part, (uint32_t)at, all,
                                 (const void *const *)t->plane, e);
    }
    return ok;
}

/* Rows are collected until they can be written, so that any number may come. */
static uint32_t step_of(void *ctx, int part) {
    const tiled_windows *w = ctx;
    return w->part[part].changes ? 1 : w->under->step(w->under->ctx, part);
}

/* --- opening -------------------------------------------------------------------------------- */

static bool open_part(tiled_windows *w, int part, err *e) {
    enum { CHUNKS = 8 }; /* that several threads pack at the same time */
    turned *t = &w->part[part];
    image_part *p = &w->result.part[part];
    t->changes = memcmp(&w->box[part].kept, &p->data, sizeof p->data) != 0 ||
                 memcmp(&w->box[part].computed, &p->data, sizeof p->data) != 0;
    t->at = -1;
    if (!t->changes) return true;
    w->head.part[part].data = w->box[part].computed;
    p->data = w->box[part].kept;
    uint32_t step = w->under->step(w->under->ctx, part);
    t->unit = min_u32(ceil_div_u32(image_height(p), step), CHUNKS) * step;
    t->cut = mem_new((size_t)p->channels, sizeof *t->cut, "ledger", e);
    t->plane = t->cut ? mem_new((size_t)p->channels, sizeof *t->plane, "planes", e) : NULL;
    for (int c = 0; t->plane && c < p->channels; c++) {
        size_t n = image_width(p) * (size_t)t->unit;
        t->plane[c] = mem_raw(n, pixel_bytes(p->channel[c].type), "rows", e);
        if (!t->plane[c]) return false;
    }
    return t->plane != NULL;
}

tiled_windows *tiled_windows_open(const bloom_settings *s, const image_header *h,
                                  const tiled_box *box, const bloom_rows *under, err *e) {
    tiled_windows *w = mem_new(1, sizeof *w, "windows", e);
    if (!w) return NULL;
    *w = (tiled_windows){.from = h, .box = box, .under = under};
    w->rows = *under;
    w->rows.ctx = w;
    w->rows.read = read_rows;
    w->rows.step = step_of;
    w->rows.write = write_rows;
    w->part = mem_new((size_t)h->parts, sizeof *w->part, "windows", e);
    bool ok = w->part && image_header_copy(&w->head, h, e) && image_header_copy(&w->result, h, e);
    for (int i = 0; ok && i < h->parts; i++)
        ok = tiled_header(&w->result.part[i], s, e) && open_part(w, i, e);
    if (!ok) tiled_windows_close(&w);
    return w;
}

void tiled_windows_close(tiled_windows **pw) {
    tiled_windows *w = *pw;
    if (!w) return;
    for (int i = 0; w->part && i < w->from->parts; i++) {
        turned *t = &w->part[i];
        for (int c = 0; t->plane && c < w->result.part[i].channels; c++) mem_free(t->plane[c]);
        mem_free(t->plane);
        mem_free(t->cut);
    }
    mem_free(w->part);
    image_header_free(&w->head);
    image_header_free(&w->result);
    mem_free(w);
    *pw = NULL;
}

const image_header *tiled_windows_header(const tiled_windows *w) {
    return &w->head;
}

const bloom_rows *tiled_windows_rows(const tiled_windows *w) {
    return &w->rows;
}

void tiled_windows_cut(const tiled_windows *w, int part, bloom_report *r, uint32_t first) {
    const turned *t = &w->part[part];
    for (uint32_t i = first; t->changes && i < r->ledger_rows; i++) {
        int c = image_find_channel(&w->result.part[part], r->ledger[i].channel);
        if (c < 0) continue; /* a name that the ledger has cut */
        r->ledger[i].out += t->cut[c].out;
        r->ledger[i].spilled += t->cut[c].spilled;
    }
}
