#include "app/run/picture.h"

#include "base/mem.h"
#include "base/number.h"
#include "image/flat/png.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

bool picture_open(picture *p, const output *o, const image_header *h, const char *path, err *e) {
    *p = (picture){.o = o, .as = output_view(o, h)};
    p->is = h->part[p->as.part];
    const image_box *all = &p->is.display;
    const uint64_t w = image_box_width(all), rows = image_box_height(all);
    p->light = (preview_light){
        mem_new(w * rows, 3 * sizeof(float), "a picture", e), (uint32_t)w, (uint32_t)rows, {0}};
    return p->light.pixel &&
           (!path || (p->file = file_out_open(image_is_stream(path) ? "-" : path,
                                              o->s->existing != EXISTING_SKIP, e)));
}

void picture_close(picture *p) {
    file_out_discard(&p->file);
    mem_free(p->light.pixel);
    *p = (picture){.o = NULL};
}

/* Shows the rows as an image of these rows alone. */
bool picture_add(picture *p, const rows_band *b, err *e) {
    image_part some = p->is;
    image_box *shown = &some.display;
    const int64_t top = shown->y0;
    some.data.y0 = p->is.data.y0 + (int32_t)b->row;
    some.data.y1 = some.data.y0 + (int32_t)b->rows - 1;
    shown->y0 = (int32_t)max_i64(shown->y0, some.data.y0);
    shown->y1 = (int32_t)min_i64(shown->y1, some.data.y1);
    if (shown->y0 > shown->y1) return true;
    const image img = {.head = {.part = &some, .parts = 1}, .plane = (void **[]){b->plane}};
    preview_options as = p->as;
    as.part = 0;
    const size_t before = 3 * (size_t)(shown->y0 - top) * p->light.width;
    preview_light rows = {.pixel = p->light.pixel + before};
    if (!preview_take(&rows, &img, &as, p->o->threads, e)) return false;
    memcpy(p->light.luminance, rows.luminance, sizeof rows.luminance);
    return true;
}

static uint32_t one_row(void *ctx, int part) {
    (void)ctx, (void)part;
    return 1;
}

static bool take_rows(void *ctx, int part, const rows_band *b, err *e) {
    (void)part;
    return picture_add(ctx, b, e);
}

bool picture_take(picture *p, stages *from, err *e) {
    const rows_source in = stages_source(from);
    const rows_sink to = {.ctx = p, .step = one_row, .write = take_rows};
    return rows_copy(&in, &to, p->as.part, &p->is, e);
}

bool picture_develop(picture *p, float *stops, err *e) {
    preview_picture made = {0};
    size_t bytes = 0;
    p->as.exposed = !isnan(*stops);
    p->as.stops = *stops;
    bool ok = preview_develop(&made, &p->light, &p->as, p->o->threads, e);
    mem_free(p->light.pixel);
    p->light.pixel = NULL;
    *stops = made.stops;
    uint8_t *png =
        ok ? png_encode(&(png_picture){made.pixel, made.width, made.height, 3}, &bytes, e) : NULL;
    mem_free(made.pixel);
    ok = png && file_out_write(p->file, 0, png, bytes, e);
    mem_free(png);
    return ok;
}

bool picture_commit(picture *p, err *e) {
    bool ok = file_out_commit(&p->file, e);
    picture_close(p);
    return ok;
}

uint64_t picture_bytes(const image_header *h) {
    const image_box *all = &h->part[preview_part(h, NULL)].display;
    return preview_bytes(image_box_width(all), image_box_height(all));
}

bool picture_fits(const output *o, const image_header *h, err *e) {
    const image_box *all = &h->part[preview_part(h, NULL)].display;
    char needs[32], has[32];
    if (!output_is_picture(o->path)) return true;
    if (!preview_may_have(image_box_width(all), image_box_height(all), e)) return false;
    if (picture_bytes(h) <= mem_limit()) return true;
    return err_set(e, ERR_MEMORY,
                   "a picture of %" PRIu64 " x %" PRIu64
                   " pixels takes %s of the limit of %s; write an .exr, which is made in tiles, or "
                   "raise --mem-limit",
                   image_box_width(all), image_box_height(all),
                   text_bytes((double)picture_bytes(h), needs),
                   text_bytes((double)mem_limit(), has));
}
