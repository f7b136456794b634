#include "app/run/picture_rows.h"

#include "base/mem.h"
#include "base/number.h"
#include "image/flat/png_rows.h"
#include "image/layers.h"

#include <string.h>

struct picture_rows {
    const output *o;
    const image_header *head;
    preview_options as;
    layer_group shown;
    file_out *file; /* NULL: rows are only looked at; so is png */
    png_rows *png;
    preview_exposure seen;
    uint32_t next; /* row of the part */
};

static const image_part *part_of(const picture_rows *p) {
    return &p->head->part[p->as.part];
}

static png_size size_of(const image_part *p) {
    const image_box *b = &p->display;
    return (png_size){(uint32_t)((int64_t)b->x1 - b->x0 + 1),
                      (uint32_t)((int64_t)b->y1 - b->y0 + 1), 3};
}

picture_rows *picture_rows_open(const output *o, const image_header *h, const char *path,
                                const float *stops, err *e) {
    picture_rows *p = mem_new(1, sizeof *p, "a picture", e);
    layer_map m;
    if (!p) return NULL;
    *p = (picture_rows){.o = o, .head = h, .as = output_view(o, h)};
    const png_size size = size_of(part_of(p));
    bool ok = preview_may_have(size.width, size.height, e) &&
              layer_map_make(&m, part_of(p), NULL, NULL, e);
    if (ok) {
        p->shown = m.groups ? m.group[0] : (layer_group){.alpha = -1};
        p->shown.name = NULL; /* the map has it */
        layer_map_free(&m);
    }
    if (stops) {
        p->as.exposed = true;
        p->as.stops = *stops;
    }
    if (ok && path)
        ok = (p->file = file_out_open(image_is_stream(path) ? "-" : path,
                                      o->s->existing != EXISTING_SKIP, e)) &&
             (p->png = png_rows_open(p->file, &size, o->threads, e));
    if (!ok) picture_rows_close(&p);
    return p;
}

void picture_rows_close(picture_rows **p) {
    if (!*p) return;
    png_rows_close(&(*p)->png);
    file_out_discard(&(*p)->file);
    mem_free(*p);
    *p = NULL;
}

int picture_rows_part(const picture_rows *p) {
    return p->as.part;
}

/* Shows some rows of the display window: as an image of these rows alone, which has all of them, or
 * where `plane` is NULL none. */
static bool show(picture_rows *p, int64_t y, uint32_t rows, void **plane, err *e) {
    image_part some = *part_of(p);
    some.display.y0 = (int32_t)y;
    some.display.y1 = (int32_t)(y + rows - 1);
    some.data.y0 = plane ? some.display.y0 : some.display.y1 + 1;
    some.data.y1 = plane ? some.display.y1 : some.data.y0;
    const image img = {.head = {.part = &some, .parts = 1}, .plane = &plane};
    preview_options as = p->as;
    preview_light light = {0};
    preview_picture made = {0};
    as.part = 0;
    as.row = (uint32_t)(y - part_of(p)->display.y0);
    bool ok = preview_take(&light, &img, &as, p->o->threads, e);
    if (ok && !p->png) preview_look(&p->seen, &light);
    if (ok && p->png)
        ok = preview_develop(&made, &light, &as, p->o->threads, e) &&
             png_rows_add(p->png, made.pixel, made.height, e);
    mem_free(light.pixel);
    mem_free(made.pixel);
    return ok;
}

/* Rows are shown a few at a time, to take little memory. */
static uint32_t rows_at_once(const image_part *p) {
    enum { SOME = 4 << 20, PART = 32 };
    return (uint32_t)max_u64(min_u64(SOME, mem_limit() / PART) / (12ull * size_of(p).width), 1);
}

/* Shows rows of the display window beside which there are no pixels: [from, to). */
static bool show_nothing(picture_rows *p, int64_t from, int64_t to, err *e) {
    uint32_t some = rows_at_once(part_of(p));
    bool ok = true;
    for (int64_t y = from; ok && y < to; y += some)
        ok = show(p, y, (uint32_t)min_i64(some, to - y), NULL, e);
    return ok;
}

bool picture_rows_add(picture_rows *p, uint32_t rows, const void *const plane[], err *e) {
    const image_part *is = part_of(p);
    const image_box *all = &is->display;
    int64_t first = (int64_t)is->data.y0 + p->next, some = rows_at_once(is);
    int64_t y = max_i64(first, all->y0), end = min_i64(first + rows, (int64_t)all->y1 + 1);
    void **at = mem_new((size_t)is->channels, sizeof *at, "planes", e);
    bool ok = at != NULL;
    if (ok && !p->next)
        ok = show_nothing(p, all->y0, min_i64(is->data.y0, (int64_t)all->y1 + 1), e);
    for (; ok && y < end; y += some) {
        size_t before = (size_t)(y - first) * image_width(is);
        for (int c = 0; c < is->channels; c++)
            at[c] = plane[c]
                        ? (uint8_t *)(uintptr_t)plane[c] + before * pixel_bytes(is->channel[c].type)
                        : NULL;
        ok = show(p, y, (uint32_t)min_i64(some, end - y), at, e);
    }
    p->next += rows;
    mem_free(at);
    return ok;
}

bool picture_rows_end(picture_rows *p, float *stops, err *e) {
    const image_part *is = part_of(p);
    const image_box *all = &is->display;
    bool ok = show_nothing(p, max_i64((int64_t)is->data.y1 + 1, all->y0), (int64_t)all->y1 + 1, e);
    *stops = p->png ? p->as.stops : preview_suits(&p->seen);
    return ok && (!p->png || png_rows_end(p->png, e));
}

bool picture_rows_take(picture_rows *p, stages *from, float *stops, err *e) {
    const image_part *is = part_of(p);
    const rows_source in = stages_source(from);
    uint32_t h = image_height(is), some = rows_some(is, image_reader_rows(from->from, p->as.part));
    void **plane = mem_new((size_t)is->channels, sizeof *plane, "planes", e);
    bool ok = plane != NULL;
    for (int i = 0; ok && i < p->shown.channels; i++) {
        int c = p->shown.channel[i];
        ok = (plane[c] = mem_raw((size_t)image_width(is) * some, pixel_bytes(is->channel[c].type),
                                 "rows", e));
    }
    for (uint32_t y = 0; ok && y < h; y += some) {
        uint32_t rows = min_u32(some, h - y);
        ok = in.read(in.ctx, p->as.part, y, rows, plane, e) &&
             picture_rows_add(p, rows, (const void *const *)plane, e);
    }
    for (int c = 0; plane && c < is->channels; c++) mem_free(plane[c]);
    mem_free(plane);
    return ok && picture_rows_end(p, stops, e);
}

bool picture_rows_commit(picture_rows **p, err *e) {
    bool ok = file_out_commit(&(*p)->file, e);
    picture_rows_close(p);
    return ok;
}

uint64_t picture_rows_bytes(const output *o, const image_header *h) {
    const image_part *p = &h->part[preview_part(h, NULL)];
    const png_size size = size_of(p);
    return preview_bytes(size.width, rows_at_once(p), o->threads) +
           png_rows_bytes(&size, o->threads);
}
