#include "bloom/window.h"

#include "image/layers.h"

typedef struct {
    window_boxes box;
    bool changes;
    image_part written; /* as it is written; its lists are those of the last band */
    ledger_row *cut;    /* of each of its channels: only name, out and spilled count */
    void **plane;       /* rows that wait until they can be written */
    uint32_t unit;      /* number of rows that are written at a time */
    int64_t at;         /* the first of these rows in the window that is kept; -1: there are none */
    uint32_t filled;    /* rows that are there */
} turned;

struct windows {
    image_header head; /* as bloom sees it */
    turned *part;
    const rows_source *from;
    const rows_sink *to;
};

enum { SOME = 64 }; /* rows that are read at a time */

/* Grows the box by the kernel's reach, including taps that reach no pixel of the image. */
static bool grow(image_box *box, const bloom_settings *s, const session *kernel,
                 const image_part *p, err *e) {
    OWN(psf) k = {0};
    const kernel_use use = bloom_kernel_use(s);
    const kernel_need need = {.channels = 1,
                              .w = PSF_SIDE,
                              .h = PSF_SIDE,
                              .height = image_height(p),
                              .aspect = (double)p->aspect};
    if (!kernel_source_psf(&k, session_kernel(kernel), &use, &need, NULL, e)) return false;
    const image_margins reach = {k.cx, k.cy, k.w - 1 - k.cx, k.h - 1 - k.cy};
    return image_box_grow(box, &reach, e);
}

bool window_choose(window_boxes *to, const bloom_settings *s, const session *kernel,
                   const image_part *p, err *e) {
    layer_map m;
    *to = (window_boxes){p->data, p->data};
    if (!layer_map_make(&m, p, s->layers, s->exclude, e)) return false;
    bool colour = m.groups > 0;
    layer_map_free(&m);
    if (!colour || s->window == WINDOW_KEEP || !kernel) return true;
    if (s->window == WINDOW_GROW)
        return grow(&to->computed, s, kernel, p, e) && (to->kept = to->computed, true);
    to->kept = p->display;
    to->computed = image_box_union(&p->data, &p->display);
    for (int a = 0; a < PLAN_AXES; a++)
        if (s->border[a] != BORDER_ZERO && !image_box_holds(&p->data, &p->display))
            return err_set(e, ERR_CONFIG,
                           "window display needs padding zero where the display window is larger "
                           "than the data window, as it is here");
    return image_box_check(&to->computed, "data and display", IMAGE_SIDE, e);
}

/* Fills rows of the computed window: from the file, some at a time, and with zeros. */
static bool read_rows(void *ctx, int part, uint32_t row, uint32_t rows, void *const to[], err *e) {
    const struct windows *w = ctx;
    const rows_source *from = w->from;
    if (!w->part[part].changes) return from->read(from->ctx, part, row, rows, to, e);
    const image_part *p = &from->head->part[part];
    image_box box = w->part[part].box.computed, some = p->data;
    box.y0 += (int32_t)row;
    box.y1 = box.y0 + (int32_t)rows - 1;
    size_t n = image_box_width(&box) * rows, width = image_width(p);
    OWN_MEM void **plane = mem_new((size_t)p->channels, sizeof *plane, "planes", e);
    bool ok = plane != NULL;
    for (int c = 0; ok && c < p->channels; c++) {
        size_t bytes = pixel_bytes(p->channel[c].type);
        if (!to[c]) continue;
        memset(to[c], 0, n * bytes);
        ok = (plane[c] = mem_raw(width * SOME, bytes, "rows", e));
    }
    int64_t end = min_i64(p->data.y1, box.y1) + 1;
    for (int64_t y = max_i64(p->data.y0, box.y0); ok && y < end; y += SOME) {
        uint32_t more = (uint32_t)min_i64(SOME, end - y);
        ok = from->read(from->ctx, part, (uint32_t)(y - p->data.y0), more, plane, e);
        some.y0 = (int32_t)y;
        some.y1 = (int32_t)(y + more - 1);
        for (int c = 0; ok && c < p->channels; c++)
            if (to[c])
                image_copy_box(to[c], &box, plane[c], &some, pixel_bytes(p->channel[c].type));
    }
    for (int c = 0; plane && c < p->channels; c++) mem_free(plane[c]);
    return ok;
}

static bool lend_planes(void *ctx, int part, const image_box *window, void ***planes, err *e) {
    const struct windows *w = ctx;
    return w->from->lend(w->from->ctx, part, window, planes, e);
}

static bool write_rows(void *ctx, int part, const rows_band *b, err *e) {
    struct windows *w = ctx;
    turned *t = &w->part[part];
    const image_box *kept = &t->box.kept;
    if (!t->changes) return w->to->write(w->to->ctx, part, b, e);
    const bool first = !t->cut;
    t->written = *b->part;
    const image_part *p = &t->written;
    if (first && !(t->cut = mem_new((size_t)p->channels, sizeof *t->cut, "ledger", e)))
        return false;
    image_box box = b->part->data;
    const int64_t top = (int64_t)box.y0 - kept->y0 + b->row; /* in the window that is kept */
    const bool upwards = p->order == LINES_DECREASING;
    bool ok = true;
    box.y0 += (int32_t)b->row;
    box.y1 = box.y0 + (int32_t)b->rows - 1;
    for (int c = 0; c < p->channels; c++) {
        ledger_row *cut = &t->cut[c];
        if (first) snprintf(cut->channel, sizeof cut->channel, "%s", p->channel[c].name);
        if (b->plane[c]) ledger_cut(cut, b->plane[c], p->channel[c].type, &box, kept);
    }
    if (b->yours) {
        const rows_band band = {p, 0, (uint32_t)image_box_height(kept), b->plane, true};
        return image_set_window(&t->written, b->plane, kept, e) &&
               w->to->write(w->to->ctx, part, &band, e);
    }
    t->written.data = *kept;
    const bool made_now = !t->plane;
    if (made_now) ok = (t->plane = mem_new((size_t)p->channels, sizeof *t->plane, "planes", e));
    for (int c = 0; made_now && ok && c < p->channels; c++)
        ok = (t->plane[c] = mem_raw(image_width(p) * (size_t)t->unit,
                                    pixel_bytes(p->channel[c].type), "rows", e));
    const int64_t unit = t->unit, start = max_i64(top, 0),
                  end = min_i64(top + b->rows, image_height(p)),
                  units = end > start ? (end - 1) / unit - start / unit + 1 : 0;
    for (int64_t i = 0; ok && i < units; i++) {
        int64_t at = (upwards ? (end - 1) / unit - i : start / unit + i) * unit;
        uint32_t height = (uint32_t)min_i64(unit, image_height(p) - at);
        image_box some = *kept;
        some.y0 += (int32_t)at;
        some.y1 = some.y0 + (int32_t)height - 1;
        for (int c = 0; c < p->channels; c++)
            image_copy_box(t->plane[c], &some, b->plane[c], &box, pixel_bytes(p->channel[c].type));
        t->filled = (at == t->at ? t->filled : 0) +
                    (uint32_t)(min_i64(end, at + height) - max_i64(start, at));
        t->at = at;
        const rows_band made = {p, (uint32_t)at, height, t->plane, false};
        if (t->filled == height) ok = w->to->write(w->to->ctx, part, &made, e);
    }
    return ok;
}

/* Rows are collected until they can be written, so that any number may come. */
static uint32_t step_of(void *ctx, int part) {
    const struct windows *w = ctx;
    return w->part[part].changes ? 1 : w->to->step(w->to->ctx, part);
}

static bool copy_part(void *ctx, int part, bool *done, err *e) {
    const struct windows *w = ctx;
    return w->part[part].changes || !w->to->copy || w->to->copy(w->to->ctx, part, done, e);
}

bool window_open(window_rows *to, const bloom_settings *s, const session *kernel,
                 const rows_source *from, const rows_sink *sink, err *e) {
    enum { CHUNKS = 8 }; /* that several threads pack at the same time */
    const image_header *h = from->head;
    struct windows *w = mem_new(1, sizeof *w, "windows", e);
    *to = (window_rows){.own = w};
    if (!w) return false;
    *w = (struct windows){.from = from, .to = sink};
    if (!image_header_copy(&w->head, h, e) ||
        !(w->part = mem_new((size_t)h->parts, sizeof *w->part, "windows", e)))
        return false;
    for (int i = 0; i < h->parts; i++) {
        turned *t = &w->part[i];
        image_part *p = &w->head.part[i];
        const image_box *kept = &t->box.kept;
        if (!window_choose(&t->box, s, kernel, p, e)) return false;
        t->changes = memcmp(kept, &p->data, sizeof p->data) != 0 ||
                     memcmp(&t->box.computed, &p->data, sizeof p->data) != 0;
        uint32_t step = sink->step(sink->ctx, i), height = (uint32_t)image_box_height(kept);
        t->unit = min_u32(ceil_div_u32(height, step), CHUNKS) * step;
        t->at = -1;
        p->data = t->box.computed;
    }
    to->in = (rows_source){
        .ctx = w, .head = &w->head, .read = read_rows, .lend = from->lend ? lend_planes : NULL};
    to->out = (rows_sink){.ctx = w, .step = step_of, .write = write_rows, .copy = copy_part};
    return true;
}

void window_rows_close(window_rows *to) {
    struct windows *w = to->own;
    if (!w) return;
    for (int i = 0; w->part && i < w->head.parts; i++) {
        turned *t = &w->part[i];
        for (int c = 0; t->plane && c < t->written.channels; c++) mem_free(t->plane[c]);
        mem_free(t->plane);
        mem_free(t->cut);
    }
    mem_free(w->part);
    image_header_free(&w->head);
    mem_free(w);
    *to = (window_rows){.own = NULL};
}

void window_memory(mem_plan *to, const window_rows *w, int part) {
    const turned *t = &w->own->part[part];
    const image_part *p = &w->own->head.part[part];
    uint64_t rows = (uint64_t)t->unit + SOME, width = image_width(p);
    if (t->changes && !w->in.lend)
        mem_plan_add(to, "windows", rows * (image_bytes(p) / image_height(p)) + width * SOME);
}

void window_cut(const window_rows *w, int part, part_made *to) {
    const turned *t = &w->own->part[part];
    for (int i = 0; t->cut && i < to->groups; i++)
        for (uint32_t k = 0; k < to->group[i].channels; k++) {
            ledger_row *row = &to->group[i].row[k];
            for (int c = 0; c < t->written.channels; c++) {
                if (strcmp(t->cut[c].channel, row->channel) != 0) continue;
                row->out += t->cut[c].out;
                row->spilled += t->cut[c].spilled;
            }
        }
}
