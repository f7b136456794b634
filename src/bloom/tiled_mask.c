#include "bloom/tiled_mask.h"

#include "base/mem.h"
#include "base/number.h"

#include <string.h>

struct tiled_masks {
    const bloom_settings *s;
    const image_header *head; /* as it is read */
    image_header result;
    const bloom_rows *under;
    bloom_rows rows;  /* of this */
    uint64_t clamped; /* values */
};

/* The channels of one group, as an image of some rows. */
typedef struct {
    image_part part;
    image_channel channel[VIEW_CHANNELS];
    void *list[VIEW_CHANNELS], **plane;
    image img;
    layer_group group;
} strip;

/* Makes the image of a group's rows, whose planes `plane` has for each channel of `p`. Channels are
 * found by their names, since results may have more. */
static void make_strip(strip *to, const image_part *p, const image_part *own, const layer_group *g,
                       uint32_t row, uint32_t rows) {
    *to = (strip){.part = *p, .group = *g};
    to->part.data.y0 = p->data.y0 + (int32_t)row;
    to->part.data.y1 = to->part.data.y0 + (int32_t)rows - 1;
    to->part.channel = to->channel;
    to->part.channels = 0;
    for (int c = 0; c <= g->channels; c++) {
        int from = c < g->channels ? g->channel[c] : g->alpha;
        if (from < 0) continue;
        int at = to->part.channels++;
        to->channel[at] = p->channel[image_find_channel(p, own->channel[from].name)];
        if (c < g->channels)
            to->group.channel[c] = at;
        else
            to->group.alpha = at;
    }
}

/* Completes the image; it stays where it is. */
static image *image_of(strip *s) {
    s->plane = s->list;
    s->img = (image){.head = {.part = &s->part, .parts = 1}, .plane = &s->plane};
    return &s->img;
}

/* Reads what of a mask lies beside these rows of a part. The caller frees it. */
static bool read_mask(mask *to, const tiled_masks *m, const char *name, int part, uint32_t row,
                      uint32_t rows, err *e) {
    const image_box *own = &m->head->part[part].data;
    int c = mask_find(m->head, &part, name);
    if (c < 0) return mask_missing(name, e);
    const image_part *p = &m->head->part[part];
    int64_t first = (int64_t)own->y0 + row - p->data.y0, end = first + rows;
    first = clamp_i64(first, 0, image_height(p));
    end = clamp_i64(end, 0, image_height(p));
    size_t n = image_width(p) * (size_t)(end - first);
    void **plane = mem_new((size_t)p->channels, sizeof *plane, "planes", e);
    bool ok = plane && (to->value = mem_raw(n, sizeof(float), "the mask", e)) &&
              (plane[c] = mem_raw(n, pixel_bytes(p->channel[c].type), "the mask", e));
    to->box = p->data;
    to->box.y0 = (int32_t)(p->data.y0 + first);
    to->box.y1 = (int32_t)(p->data.y0 + end - 1);
    ok = ok && (!n || m->under->read(m->under->ctx, part, (uint32_t)first, (uint32_t)(end - first),
                                     plane, e));
    if (ok) mask_values(to->value, plane[c], p->channel[c].type, n);
    if (plane) mem_free(plane[c]);
    mem_free(plane);
    return ok;
}

/* Leaves in the strip's planes the light that is spread, and sets the rest aside. */
static bool take(mask_rest *rest, const tiled_masks *m, const char *name, int part, strip *s,
                 err *e) {
    mask is = {NULL, {0}};
    uint32_t row = (uint32_t)((int64_t)s->part.data.y0 - m->head->part[part].data.y0);
    bool ok = read_mask(&is, m, name, part, row, image_height(&s->part), e) &&
              mask_take(rest, &is, image_of(s), 0, &s->group, m->s->alpha == ALPHA_CONVOLVE, e);
    mask_free(&is);
    return ok;
}

static bool read_rows(void *ctx, int part, uint32_t row, uint32_t rows, void *const plane[],
                      err *e) {
    const tiled_masks *m = ctx;
    const image_part *p = &m->head->part[part];
    layer_map map;
    if (!m->under->read(m->under->ctx, part, row, rows, plane, e) ||
        !layer_map_make(&map, p, m->s->layers, m->s->exclude, e))
        return false;
    bool ok = true;
    for (int i = 0; ok && i < map.groups; i++) {
        layer_light by;
        strip s;
        mask_rest rest = {{NULL}};
        const layer_group *g = &map.group[i];
        layer_group some = {.name = g->name, .alpha = -1}; /* the channels that are read */
        for (int c = 0; c < g->channels; c++)
            if (plane[g->channel[c]]) some.channel[some.channels++] = g->channel[c];
        if (g->alpha >= 0 && plane[g->alpha]) some.alpha = g->alpha;
        if (!some.channels && some.alpha < 0) continue;
        make_strip(&s, p, p, &some, row, rows);
        for (int c = 0; c < s.part.channels; c++)
            s.list[c] = plane[image_find_channel(p, s.channel[c].name)];
        ok = layer_light_of(&by, m->s, p, g, e) &&
             (!by.mask[0] || take(&rest, m, by.mask, part, &s, e));
        mask_rest_free(&rest);
    }
    layer_map_free(&map);
    return ok;
}

/* Adds to copies of a group's result what the mask has set aside of its light. */
static bool give(tiled_masks *m, const char *name, int part, strip *in, strip *made, err *e) {
    const image_part *p = &m->head->part[part];
    mask_rest rest = {{NULL}};
    size_t n = (size_t)image_width(p) * image_height(&in->part);
    uint32_t row = (uint32_t)((int64_t)in->part.data.y0 - p->data.y0);
    void **plane = mem_new((size_t)p->channels, sizeof *plane, "planes", e);
    bool ok = plane != NULL;
    for (int c = 0; ok && c < in->part.channels; c++) {
        in->list[c] = mem_raw(n, pixel_bytes(in->channel[c].type), "rows", e);
        ok = (plane[image_find_channel(p, in->channel[c].name)] = in->list[c]);
    }
    ok = ok && m->under->read(m->under->ctx, part, row, image_height(&in->part), plane, e) &&
         take(&rest, m, name, part, in, e);
    uint64_t over = ok ? mask_give(&rest, image_of(made), 0, &made->group) : 0;
    m->clamped += over;
    ok = ok && mask_may_clamp(m->s, over, e);
    for (int c = 0; c < in->part.channels; c++) mem_free(in->list[c]);
    mask_rest_free(&rest);
    mem_free(plane);
    return ok;
}

/* Writes some rows, with what the masks of their groups have set aside. plane: of these rows. */
static bool write_some(tiled_masks *m, int part, uint32_t row, uint32_t rows, const void **plane,
                       err *e) {
    const image_part *p = &m->head->part[part], *to = &m->result.part[part];
    size_t n = (size_t)image_width(p) * rows;
    void **copy = mem_new((size_t)to->channels, sizeof *copy, "planes", e);
    layer_map map = {0};
    bool ok = copy && layer_map_make(&map, p, m->s->layers, m->s->exclude, e);
    for (int i = 0; ok && i < map.groups; i++) {
        layer_light by;
        strip in, made;
        const layer_group *g = &map.group[i];
        ok = layer_light_of(&by, m->s, p, g, e);
        if (!ok || !by.mask[0]) continue;
        make_strip(&in, p, p, g, row, rows);
        make_strip(&made, to, p, g, row, rows);
        for (int c = 0; ok && c < made.part.channels; c++) {
            int at = image_find_channel(to, made.channel[c].name);
            size_t bytes = n * pixel_bytes(to->channel[at].type);
            if (!plane[at]) continue; /* an alpha that stays */
            ok = (made.list[c] = copy[at] = mem_raw(bytes, 1, "rows", e));
            if (ok) memcpy(copy[at], plane[at], bytes);
            plane[at] = copy[at];
        }
        ok = ok && give(m, by.mask, part, &in, &made, e);
    }
    ok = ok && m->under->write(m->under->ctx, part, row, rows, plane, e);
    for (int c = 0; copy && c < to->channels; c++) mem_free(copy[c]);
    mem_free(copy);
    layer_map_free(&map);
    return ok;
}

static bool write_rows(void *ctx, int part, uint32_t row, uint32_t rows, const void *const plane[],
                       err *e) {
    tiled_masks *m = ctx;
    const image_part *to = &m->result.part[part];
    if (!plane) return m->under->write(m->under->ctx, part, row, rows, NULL, e);
    uint32_t step = m->under->step(m->under->ctx, part), blocks = ceil_div_u32(rows, step);
    const void **at = mem_new((size_t)to->channels, sizeof *at, "planes", e);
    bool ok = at != NULL, upwards = to->order == LINES_DECREASING;
    for (uint32_t i = 0; ok && i < blocks; i++) {
        uint32_t y = (upwards ? blocks - 1 - i : i) * step;
        for (int c = 0; c < to->channels; c++) {
            size_t bytes = image_width(to) * pixel_bytes(to->channel[c].type);
            at[c] = plane[c] ? (const uint8_t *)plane[c] + y * bytes : NULL;
        }
        ok = write_some(m, part, row + y, min_u32(step, rows - y), at, e);
    }
    mem_free(at);
    return ok;
}

static uint32_t step_of(void *ctx, int part) {
    const tiled_masks *m = ctx;
    return m->under->step(m->under->ctx, part);
}

tiled_masks *tiled_masks_open(const bloom_settings *s, const image_header *h,
                              const bloom_rows *under, err *e) {
    tiled_masks *m = mem_new(1, sizeof *m, "masks", e);
    if (!m) return NULL;
    *m = (tiled_masks){.s = s, .head = h, .under = under};
    m->rows = *under;
    m->rows.ctx = m;
    m->rows.read = read_rows;
    m->rows.step = step_of;
    m->rows.write = write_rows;
    bool ok = image_header_copy(&m->result, h, e);
    for (int i = 0; ok && i < h->parts; i++) ok = tiled_header(&m->result.part[i], s, e);
    if (!ok) tiled_masks_close(&m);
    return m;
}

void tiled_masks_close(tiled_masks **m) {
    if (*m) image_header_free(&(*m)->result);
    mem_free(*m);
    *m = NULL;
}

const bloom_rows *tiled_masks_rows(const tiled_masks *m) {
    return &m->rows;
}

uint64_t tiled_masks_clamped(const tiled_masks *m) {
    return m->clamped;
}
