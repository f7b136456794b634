#include "app/run/fits.h"

#include "app/cli/options.h"
#include "app/run/picture.h"
#include "app/run/targets.h"
#include "image/layers.h"

/* Decides which channels of a part are read. Data stays in the file where it takes more than the
 * colour beside it: it is unpacked once more when the result is written, which takes less time than
 * carrying it through memory. A few channels of data (depth) are not worth that. */
bool *fits_channels(const output *o, const image_part *p, err *e) {
    OWN(layer_map) m = {0};
    if (!layer_map_make(&m, p, o->run->s->bloom.layers, o->run->s->bloom.exclude, e)) return NULL;
    bool *wanted = mem_new((size_t)p->channels, sizeof *wanted, "channels", e);
    if (!wanted) return NULL;
    bool shown = output_is_picture(o->path), colour = m.groups > 0;
    for (int i = 0; i < m.groups; i++) {
        const layer_group *g = &m.group[i];
        for (int c = 0; c < g->channels; c++) wanted[g->channel[c]] = true;
        if (g->alpha >= 0) wanted[g->alpha] = true;
    }
    /* Spaces change all layers of colour, and a mask may be any channel of any part. */
    bool changes = o->run->s->input_space || o->run->s->output_space || o->run->s->bloom.mask ||
                   o->run->s->bloom.per_layer;
    bool whole = shown || changes ||
                 (colour && (o->run->s->bloom.window != WINDOW_KEEP ||
                             image_bytes(p) <= 2 * image_channel_bytes(p, wanted)));
    for (int c = 0; whole && c < p->channels; c++) wanted[c] = true;
    return wanted;
}

/* --- memory ----------------------------------------------------------------------------------- */

/* Adds the planes of an image that are in memory while it is made as a whole, and what blooming
 * takes; b NULL: without what depends on the kernel. */
static void add_whole(mem_plan *to, const output *o, const image_header *h, const bloom *b) {
    for (int i = 0; i < h->parts; i++) { /* planes that are read, in the window that is computed */
        const image_part *p = &h->part[i];
        const image_box box = o->run->s->bloom.window == WINDOW_DISPLAY
                                  ? image_box_union(&p->data, &p->display)
                                  : p->data;
        uint64_t pixels = image_box_width(&box) * image_box_height(&box);
        OWN_MEM bool *wanted = fits_channels(o, p, NULL);
        for (int c = 0; wanted && c < p->channels; c++)
            if (wanted[c])
                mem_plan_add(to, "image", mem_rounded(pixels * pixel_bytes(p->channel[c].type)));
    }
    if (output_is_picture(o->path)) mem_plan_add(to, "a picture", picture_bytes(o, h));
    if (b)
        bloom_memory(b, h, to);
    else
        bloom_memory_before(&o->run->s->bloom, o->threads, h, to);
}

mem_plan fits_need(const output *o, const image_reader *r, const bloom *b) {
    const image_header *h = image_reader_header(r);
    mem_plan need = {0};
    mem_plan_add(&need, "streams", output_stream_bytes(o, image_reader_path(r), h));
    add_whole(&need, o, h, b);
    return need;
}

/* Returns whether a device may be too small: it has memory of its own, or holds short lines. */
static bool may_be_small(const output *o, const image_reader *r, uint64_t bytes) {
    enum { LONG = 8000 }; /* pixels of lines that 32 KB hold, but for the kernel's margins */
    const bloom_settings *s = &o->run->s->bloom;
    const image_header *h = image_reader_header(r);
    bool cpu = s->device && strcmp(s->device, "cpu") == 0, big = bytes > 1 << 30;
    for (int i = 0; i < h->parts; i++)
        big |= image_width(&h->part[i]) > LONG || image_height(&h->part[i]) > LONG;
    return !cpu && (s->vram_limit || big);
}

static bool fits_surely(const output *o, const image_reader *r) {
    const mem_plan need = fits_need(o, r, NULL);
    /* A device that is named may be one of software, which takes its memory from the same. */
    const char *device = o->run->s->bloom.device;
    bool named = device && strcmp(device, "auto") != 0 && strcmp(device, "cpu") != 0;
    return need.bytes <= mem_limit() / (named ? 16 : 4) && !may_be_small(o, r, need.bytes);
}

bool fits_held(const output *o, const image_reader *r, const bloom *b) {
    if (!b) return fits_surely(o, r);
    /* What is in use now is mostly what the frame before has left for this one. */
    const mem_plan need = fits_need(o, r, b);
    if (need.bytes > mem_limit()) return false;
    if (!may_be_small(o, r, need.bytes)) return true;
    OWN_MEM device_forecast *each = mem_new(ENGINE_DEVICES, sizeof *each, "forecasts", NULL);
    bloom_forecasts f = {.each = each};
    err why = {0};
    bool none = f.each &&
                bloom_forecast(b, image_reader_header(r), o->run->s->bloom.precision, &f, &why) < 0;
    const device_forecast *first = none || !f.each ? NULL : &f.each[f.preferred];
    bool lines = none ? why.code == ERR_LINES : first && first->code == ERR_LINES;
    return !lines && (!none || why.code != ERR_CONFIG);
}

static uint32_t step_of(void *ctx, int part) {
    return image_reader_rows(((const stages *)ctx)->from, part);
}

/* Where there is no writer, its chunks are taken to be the reader's. */
bool fits_tiling(tiling *t, mem_plan *memory, const output *o, image_reader *from, const bloom *b,
                 err *e) {
    OPEN(stages) in = {0};
    if (!stages_in_open(&in, from, o->run->s, o->threads, e)) return false;
    bloom_rows rows = {.in = stages_source(&in), .out = {.ctx = &in, .step = step_of}};
    targets_memory(&rows.memory, o, &in, in.head);
    return bloom_tiling(b, &rows, t, memory, e);
}

/* Half of the memory that is left stays free for what frames share and for what is not foreseen. */
uint32_t fits_at_a_time(const output *o, const image_header *h, size_t frames) {
    mem_plan need = {0};
    add_whole(&need, o, h, NULL);
    uint64_t fit = mem_left() / 2 / max_u64(need.bytes, 1);
    uint64_t most = min_u64((uint64_t)par_threads(o->threads) + 1, ENGINE_SLOTS);
    return (uint32_t)max_u64(min_u64(min_u64(most, frames), fit), 1);
}
