#include "image/rows.h"

#include "base/mem.h"

uint32_t rows_some(const image_part *p, uint32_t step) {
    enum { MOST = 16 << 20, PART = 64 };
    uint64_t row = image_bytes(p) / image_height(p), most = min_u64(MOST, mem_limit() / PART);
    uint64_t steps = max_u64(min_u64(most / (row * step + 1), IMAGE_SIDE), 1);
    return (uint32_t)min_u64(steps * step, image_height(p));
}

/* Writes rows from `y` of the band on; `read` has those of channels that the band lacks. */
static bool write_some(const rows_sink *to, int part, const rows_band *b, uint32_t y, uint32_t rows,
                       void *const read[], void **plane, err *e) {
    for (int c = 0; c < b->part->channels; c++) {
        size_t before = (size_t)y * image_width(b->part) * pixel_bytes(b->part->channel[c].type);
        plane[c] = b->plane[c] ? (uint8_t *)b->plane[c] + before : read[c];
    }
    return to->write(to->ctx, part, &(rows_band){b->part, b->row + y, rows, plane, false}, e);
}

bool rows_write(const rows_source *rest, const rows_sink *to, int part, const rows_band *b,
                err *e) {
    const image_part *shape = b->part, *own = &rest->head->part[part];
    size_t width = image_width(shape), channels = (size_t)shape->channels;
    bool any = false;
    for (int c = 0; c < shape->channels; c++) any |= !b->plane[c];
    if (!any) return to->write(to->ctx, part, b, e);
    const uint32_t some = min_u32(b->rows, rows_some(shape, to->step(to->ctx, part)));
    const uint32_t count = ceil_div_u32(b->rows, some);
    OWN_MEM void **plane = mem_new(channels, sizeof *plane, "planes", e);
    OWN_MEM void **made = mem_new(channels, sizeof *made, "planes", e);
    OWN_MEM void **read = mem_new((size_t)own->channels, sizeof *read, "planes", e);
    bool ok = plane && made && read;
    for (int c = 0; ok && c < shape->channels; c++) {
        int from = image_find_channel(own, shape->channel[c].name);
        if (b->plane[c]) continue;
        if (from < 0 || own->channel[from].type != shape->channel[c].type)
            ok = err_set(e, ERR_INTERNAL, "channel '%s' has no rows", shape->channel[c].name);
        ok = ok &&
             (made[c] = mem_raw(width * some, pixel_bytes(shape->channel[c].type), "rows", e));
        if (ok) read[from] = made[c];
    }
    for (uint32_t i = 0; ok && i < count; i++) {
        uint32_t y = (shape->order == LINES_DECREASING ? count - 1 - i : i) * some;
        uint32_t rows = min_u32(some, b->rows - y);
        ok = rest->read(rest->ctx, part, b->row + y, rows, read, e) &&
             write_some(to, part, b, y, rows, made, plane, e);
    }
    for (size_t c = 0; made && c < channels; c++) mem_free(made[c]);
    return ok;
}

/* Gives lent planes the types that a part is to have. */
static bool convert_planes(void **plane, const image_part *was, const image_part *part, err *e) {
    size_t n = (size_t)image_width(part) * image_height(part);
    for (int c = 0; c < part->channels; c++) {
        pixel_type now = was->channel[c].type, type = part->channel[c].type;
        if (!plane[c] || now == type) continue;
        void *to = mem_raw(n, pixel_bytes(type), "plane", e);
        if (!to) return false;
        image_convert(to, type, plane[c], now, n);
        mem_free(plane[c]);
        plane[c] = to;
    }
    return true;
}

bool rows_copy(const rows_source *from, const rows_sink *to, int part, const image_part *shape,
               err *e) {
    bool done = false;
    void **lent = NULL;
    if (to->copy && !to->copy(to->ctx, part, &done, e)) return false;
    if (done) return true;
    if (from->lend && !from->lend(from->ctx, part, &shape->data, &lent, e)) return false;
    if (lent && !convert_planes(lent, &from->head->part[part], shape, e)) return false;
    if (lent)
        return to->write(to->ctx, part, &(rows_band){shape, 0, image_height(shape), lent, true}, e);
    OWN_MEM void **none = mem_new((size_t)shape->channels, sizeof *none, "planes", e);
    return none &&
           rows_write(from, to, part, &(rows_band){shape, 0, image_height(shape), none, false}, e);
}

/* Reads by names and coordinates, since a result may have another window and other types. */
static bool read_image(void *ctx, int part, uint32_t row, uint32_t rows, void *const plane[],
                       err *e) {
    const rows_image *r = ctx;
    const image_part *shape = &r->in.head->part[part], *own = &r->img->head.part[part];
    image_box box = shape->data;
    box.y0 += (int32_t)row;
    box.y1 = box.y0 + (int32_t)rows - 1;
    for (int c = 0; c < shape->channels; c++) {
        if (!plane[c]) continue;
        int from = image_find_channel(own, shape->channel[c].name);
        void **planes = r->img->plane[part];
        const void *source = from < 0 || !planes ? NULL : planes[from];
        if (!source && r->rest) {
            OWN_MEM void **one = mem_new((size_t)shape->channels, sizeof *one, "planes", e);
            if (!one) return false;
            one[c] = plane[c];
            if (!r->rest->read(r->rest->ctx, part, row, rows, one, e)) return false;
            continue;
        }
        if (!source)
            return err_set(e, ERR_INTERNAL, "channel '%s' is not in memory",
                           shape->channel[c].name);
        pixel_type type = shape->channel[c].type, now = own->channel[from].type;
        size_t n = (size_t)image_width(shape) * rows;
        OWN_MEM void *own_rows = now == type ? NULL : mem_raw(n, pixel_bytes(now), "rows", e);
        void *to = now == type ? plane[c] : own_rows;
        if (!to) return false;
        memset(to, 0, n * pixel_bytes(now));
        image_copy_box(to, &box, source, &own->data, pixel_bytes(now));
        if (own_rows) image_convert(plane[c], type, own_rows, now, n);
    }
    return true;
}

static bool lend_image(void *ctx, int part, const image_box *window, void ***planes, err *e) {
    image *img = ((const rows_image *)ctx)->img;
    bool ok = !img->plane[part] ||
              image_set_window(&img->head.part[part], img->plane[part], window, e);
    *planes = img->plane[part];
    return ok;
}

static uint32_t step_of_image(void *ctx, int part) {
    return 1;
}

static bool write_image(void *ctx, int part, const rows_band *b, err *e) {
    rows_image *r = ctx;
    image_part *p = &r->img->head.part[part];
    if (!b->yours) return err_set(e, ERR_INTERNAL, "an image in memory takes all rows at once");
    OWN_MEM void **plane = mem_new((size_t)b->part->channels, sizeof *plane, "planes", e);
    if (!plane) return false;
    for (int c = 0; c < b->part->channels; c++) {
        const image_channel *channel = &b->part->channel[c];
        if (image_find_channel(p, channel->name) < 0 &&
            !image_add_channel(p, channel->name, channel->type, e))
            return false;
    }
    for (int c = 0; c < p->channels; c++) {
        int from = image_find_channel(b->part, p->channel[c].name);
        p->channel[c].type = b->part->channel[from].type;
        plane[c] = b->plane[from];
        b->plane[from] = NULL;
    }
    p->data = b->part->data;
    mem_free(r->img->plane[part]);
    r->img->plane[part] = GIVE(plane);
    return true;
}

/* The part stays where it is. */
static bool copy_image(void *ctx, int part, bool *done, err *e) {
    *done = true;
    return true;
}

bool rows_image_open(rows_image *r, image *img, err *e) {
    *r = (rows_image){.img = img};
    r->in = (rows_source){.ctx = r, .head = &r->head, .read = read_image, .lend = lend_image};
    r->out = (rows_sink){.ctx = r, .step = step_of_image, .write = write_image, .copy = copy_image};
    return image_header_copy(&r->head, &img->head, e);
}

void rows_image_close(rows_image *r) {
    image_header_free(&r->head);
}
