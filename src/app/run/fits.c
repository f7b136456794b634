#include "app/run/fits.h"

#include "app/run/stages.h"
#include "app/run/targets.h"
#include "base/mem.h"
#include "base/number.h"
#include "image/layers.h"

#include <string.h>

static bool emits(const bloom_settings *b) {
    return b->emit_layer && *b->emit_layer;
}

/* Returns the type that results of a group are made in: halfs where the image has halfs, values
 * beyond them become the largest half, and nothing asks for floats. */
static pixel_type result_type(const output *o, const image_part *p, const layer_group *g) {
    const bloom_settings *b = &o->s->bloom;
    bool halfs = !emits(b) && !o->s->emit_file && b->half_overflow != OVERFLOW_FLOAT &&
                 !(b->threshold > 0) && !b->per_layer && b->precision != PRECISION_FLOAT64 &&
                 o->s->pixels != PIXELS_FLOAT;
    for (int c = 0; c < g->channels; c++) halfs &= p->channel[g->channel[c]].type == PIXEL_HALF;
    return halfs ? PIXEL_HALF : PIXEL_FLOAT;
}

/* Returns the bytes of a picture of the whole image: of its light and of its pixels. */
static uint64_t picture_bytes(const output *o, const image_header *h) {
    enum { LIGHT = 12, PIXELS = 3 };
    const image_box *d = &h->part[preview_part(h, NULL)].display;
    uint64_t width = (uint64_t)((int64_t)d->x1 - d->x0 + 1);
    return output_is_picture(o->path)
               ? width * (uint64_t)((int64_t)d->y1 - d->y0 + 1) * (LIGHT + PIXELS)
               : 0;
}

/* Returns the bytes of the planes that are read, and the most that a group needs beside
 * them: of the result, of one channel's light as floats, of the image as it came for --verify, and
 * of the glare; and of a picture. */
static uint64_t planes_bytes(const output *o, const image_reader *r) {
    const image_header *h = image_reader_header(r);
    const bloom_settings *b = &o->s->bloom;
    uint64_t planes = 0, most = 0, sets = (b->verify > 0) + (o->s->emit_file || emits(b));
    for (int i = 0; i < h->parts; i++) {
        const image_part *p = &h->part[i];
        uint64_t pixels = (uint64_t)image_width(p) * image_height(p);
        if (b->window == WINDOW_DISPLAY) {
            const image_box box = image_box_union(&p->data, &p->display);
            pixels = (uint64_t)((int64_t)box.x1 - box.x0 + 1) *
                     (uint64_t)((int64_t)box.y1 - box.y0 + 1);
        }
        layer_map m;
        if (!layer_map_make(&m, p, o->s->bloom.layers, o->s->bloom.exclude, NULL)) continue;
        bool *wanted = m.groups ? output_channels(o, p, NULL) : NULL;
        for (int c = 0; wanted && c < p->channels; c++)
            if (wanted[c]) planes += mem_rounded(pixels * pixel_bytes(p->channel[c].type));
        mem_free(wanted);
        for (int k = 0; k < m.groups; k++) {
            const layer_group *g = &m.group[k];
            uint64_t results = mem_rounded(pixels * pixel_bytes(result_type(o, p, g))),
                     floats = mem_rounded(pixels * sizeof(float));
            most = max_u64(most, (uint64_t)g->channels * (results + sets * floats) + floats);
        }
        layer_map_free(&m);
    }
    return planes + most + picture_bytes(o, h) + output_stream_bytes(o, image_reader_path(r), h);
}

static uint64_t fits_bytes(const output *o, const image_reader *r, const bloom *b) {
    return planes_bytes(o, r) + bloom_whole_bytes(b, image_reader_header(r));
}

/* Returns whether a device may be too small: it has memory of its own. */
static bool may_be_small(const output *o, uint64_t planes) {
    const bloom_settings *s = &o->s->bloom;
    bool cpu = s->device && strcmp(s->device, "cpu") == 0;
    return !cpu && (s->vram_limit || planes > 1 << 30);
}

bool fits_perhaps_not(const output *o, const image_reader *r) {
    uint64_t planes = planes_bytes(o, r);
    /* A device that is named may be one of software, which takes its memory from the same. */
    const char *device = o->s->bloom.device;
    bool named = device && strcmp(device, "auto") != 0 && strcmp(device, "cpu") != 0;
    return planes > mem_limit() / (named ? 16 : 4) || may_be_small(o, planes);
}

bool fits_not(const output *o, const image_reader *r, const bloom *b) {
    /* What is in use now is mostly what the frame before has left for this one, such as an engine
     * that is prepared. */
    uint64_t planes = planes_bytes(o, r), limit = mem_limit();
    const bloom_settings *s = &o->s->bloom;
    if (planes > limit || fits_bytes(o, r, b) > limit) return true;
    if (!may_be_small(o, planes)) return false;
    bloom_forecasts f = {.each = mem_new(ENGINE_DEVICES, sizeof *f.each, "forecasts", NULL)};
    err why = {0};
    bool none = f.each && bloom_forecast(b, image_reader_header(r), s->precision, &f, &why) < 0;
    mem_free(f.each);
    return none && why.code == ERR_CONFIG;
}

static uint32_t step_of(void *ctx, int part) {
    return image_reader_rows(((const stages_in *)ctx)->from, part);
}

/* Where there is no writer, its chunks are taken to be the reader's. */
bool fits_tiling(tiling *t, const output *o, image_reader *from, const bloom *b, err *e) {
    stages_in in = {0};
    bool ok = stages_in_open(&in, from, o->s, o->threads, e);
    const bloom_rows rows = {stages_in_rows(&in),
                             {.ctx = &in, .step = step_of},
                             ok ? targets_bytes(o, &in, &in.head) : 0,
                             false};
    ok = ok && bloom_tiling(b, &rows, t, e);
    stages_in_close(&in);
    return ok;
}
