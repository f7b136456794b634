#include "app/run/rowwise.h"

#include "app/run/colours.h"
#include "base/clock.h"
#include "base/half.h"
#include "base/mem.h"
#include "base/number.h"
#include "image/layers.h"

#include <math.h>
#include <string.h>

typedef struct {
    const output *o;
    image_reader *from;
    image_header in;  /* as bloom sees the image: the types that it is to be bloomed in */
    image_header out; /* as it is written */
    image_writer *w;
    rowwise_account *a;
} rowwise;

static const image_part *file_part(const rowwise *s, int part) {
    return &image_reader_header(s->from)->part[part];
}

/* --- pixel types ---------------------------------------------------------------------------- */

/* Rows of a channel on their way between two types. */
typedef struct {
    void *plane;
    pixel_type from, to;
    size_t n;
} typed_rows;

/* Converts to another type. Halfs are clamped, or refused, as --half-overflow says. */
static bool convert(rowwise *s, void *to, const typed_rows *r, err *e) {
    enum { SOME = 4096 };
    float v[SOME];
    uint64_t over = 0;
    for (size_t at = 0; at < r->n; at += SOME) {
        size_t n = min_size(r->n - at, SOME);
        image_to_float(v, r->plane, r->from, at, n);
        for (size_t i = 0; r->to == PIXEL_HALF && i < n; i++) {
            if (!(fabsf(v[i]) > HALF_MAX) || isinf(v[i])) continue;
            v[i] = copysignf(HALF_MAX, v[i]);
            over++;
        }
        image_from_float(to, r->to, at, v, n);
    }
    s->a->clamped += over;
    if (!over || s->o->s->bloom.half_overflow == OVERFLOW_CLAMP) return true;
    return err_set(e, ERR_BAD_PIXELS,
                   "%llu values of a channel that is not colour are beyond %g, the maximum of a "
                   "half float; use --half-overflow clamp or --pixel-type float to continue",
                   (unsigned long long)over, HALF_MAX);
}

/* Reads channels of a part and converts them to the types of `want`, whose channels `plane` has;
 * channels that `want` adds have no plane. */
static bool read_as(rowwise *s, int part, const image_part *want, const image_rows *is, err *e) {
    const image_part *p = file_part(s, part);
    size_t n = (size_t)image_width(p) * is->rows;
    void **own = mem_new((size_t)p->channels, sizeof *own, "planes", e);
    bool ok = own != NULL;
    for (int c = 0; ok && c < p->channels; c++) {
        int to = image_find_channel(want, p->channel[c].name);
        void *plane = to < 0 ? NULL : (void *)(uintptr_t)is->plane[to];
        if (!plane) continue;
        bool same = p->channel[c].type == want->channel[to].type;
        own[c] = same ? plane : mem_raw(n, pixel_bytes(p->channel[c].type), "rows", e);
        ok = own[c] != NULL;
    }
    ok = ok && image_read(s->from, part, is->row, is->rows, own, e);
    for (int c = 0; own && c < p->channels; c++) {
        int to = own[c] ? image_find_channel(want, p->channel[c].name) : -1;
        if (to < 0 || own[c] == is->plane[to]) continue;
        const typed_rows r = {own[c], p->channel[c].type, want->channel[to].type, n};
        ok = ok && convert(s, (void *)(uintptr_t)is->plane[to], &r, e);
        mem_free(own[c]);
    }
    mem_free(own);
    return ok;
}

/* --- rows ----------------------------------------------------------------------------------- */

static bool read_rows(void *ctx, int part, uint32_t row, uint32_t rows, void *const plane[],
                      err *e) {
    rowwise *s = ctx;
    double start = clock_now();
    const image_rows is = {row, rows, (const void *const *)plane};
    bool ok = read_as(s, part, &s->in.part[part], &is, e);
    s->a->load += clock_now() - start;
    return ok;
}

static uint32_t step_of(void *ctx, int part) {
    const rowwise *s = ctx;
    return image_writer_rows(s->w, part);
}

/* Writes rows. Channels without a plane whose type changes are converted on the way; all others
 * come from the file as they are. */
static bool write_beside(rowwise *s, int part, const image_rows *is, err *e) {
    const image_part *p = &s->out.part[part], *own = file_part(s, part);
    size_t n = (size_t)image_width(p) * is->rows;
    const void **plane = mem_new((size_t)p->channels, sizeof *plane, "planes", e);
    const void **made = mem_new((size_t)p->channels, sizeof *made, "planes", e);
    bool ok = plane && made, any = false;
    for (int c = 0; ok && c < p->channels; c++) {
        int from = image_find_channel(own, p->channel[c].name);
        plane[c] = is->plane ? is->plane[c] : NULL;
        if (plane[c] || own->channel[from].type == p->channel[c].type) continue;
        plane[c] = made[c] = mem_raw(n, pixel_bytes(p->channel[c].type), "rows", e);
        ok = any = plane[c] != NULL;
    }
    const image_rows in = {is->row, is->rows, made}, out = {is->row, is->rows, plane};
    ok = ok && (!any || read_as(s, part, p, &in, e)) &&
         image_write_beside(s->w, part, &out, s->from, e);
    for (int c = 0; made && c < p->channels; c++) mem_free((void *)(uintptr_t)made[c]);
    mem_free(made);
    mem_free(plane);
    return ok;
}

static bool same_types(const image_part *a, const image_part *b) {
    bool same = a->channels == b->channels;
    for (int c = 0; same && c < a->channels; c++) same = a->channel[c].type == b->channel[c].type;
    return same;
}

/* Writes a part that is not bloomed. */
static bool write_part(rowwise *s, int part, err *e) {
    const image_part *p = &s->out.part[part];
    uint32_t height = image_height(p), step = image_writer_rows(s->w, part);
    if (same_types(p, file_part(s, part))) return image_copy_part(s->w, part, s->from, part, e);
    uint32_t count = ceil_div_u32(height, step);
    bool ok = true;
    for (uint32_t i = 0; ok && i < count; i++) {
        uint32_t row = (p->order == LINES_DECREASING ? count - 1 - i : i) * step;
        ok = write_beside(s, part, &(image_rows){row, min_u32(step, height - row), NULL}, e);
    }
    return ok;
}

static bool write_rows(void *ctx, int part, uint32_t row, uint32_t rows, const void *const plane[],
                       err *e) {
    rowwise *s = ctx;
    double start = clock_now();
    bool ok = plane ? write_beside(s, part, &(image_rows){row, rows, plane}, e)
                    : write_part(s, part, e);
    s->a->save += clock_now() - start;
    return ok;
}

/* --- memory --------------------------------------------------------------------------------- */

/* Returns the bytes that reading and writing take at the most. Each thread has a chunk in its
 * hands, read and written, packed and unpacked; and the rows of channels that come from the file
 * are there once more. */
static uint64_t bytes_beside(const rowwise *s) {
    enum { TIMES = 3 };
    uint64_t most = 0, threads = (uint64_t)par_threads(s->o->threads);
    for (int i = 0; i < s->out.parts; i++) {
        const image_part *p = &s->out.part[i], *own = file_part(s, i);
        uint64_t pixel = image_bytes(p) / image_width(p) / image_height(p);
        uint64_t in = own->tile_w ? min_u32(own->tile_w, image_width(p)) : image_width(p);
        uint64_t out = p->tile_w ? min_u32(p->tile_w, image_width(p)) : image_width(p);
        uint64_t rows = in * image_reader_rows(s->from, i) +
                        out * (s->w ? image_writer_rows(s->w, i) : image_reader_rows(s->from, i));
        most = max_u64(most, rows * pixel);
    }
    return most * threads * TIMES;
}

/* Returns the bytes of the planes that output_load reads, and the largest part's for floats. */
static uint64_t planes_bytes(const output *o, const image_header *h) {
    uint64_t planes = 0, floats = 0;
    for (int i = 0; i < h->parts; i++) {
        const image_part *p = &h->part[i];
        uint64_t pixels = (uint64_t)image_width(p) * image_height(p);
        layer_map m;
        if (!layer_map_make(&m, p, o->s->bloom.layers, o->s->bloom.exclude, NULL)) continue;
        bool *wanted = m.groups ? output_channels(o, p, NULL) : NULL;
        if (wanted) planes += image_channel_bytes(p, wanted);
        mem_free(wanted);
        for (int k = 0; k < m.groups; k++)
            floats = max_u64(floats, 4 * pixels * (uint64_t)m.group[k].channels);
        layer_map_free(&m);
    }
    return planes + floats;
}

/* Returns whether a device may be too small: it has memory of its own. */
static bool may_be_small(const output *o, uint64_t planes) {
    const bloom_settings *s = &o->s->bloom;
    bool cpu = s->device && strcmp(s->device, "cpu") == 0;
    return !cpu && (s->vram_limit || planes > 1 << 30);
}

bool rowwise_is_possible(const output *o, const image_header *h) {
    bloom_window window = o->s->bloom.window;
    bool changes = window == WINDOW_GROW;
    for (int i = 0; i < h->parts; i++)
        changes |= window == WINDOW_DISPLAY &&
                   memcmp(&h->part[i].data, &h->part[i].display, sizeof h->part[i].data) != 0;
    bool colours = o->s->input_space || o->s->output_space;
    const char *layers = o->s->bloom.per_layer;
    bool beside = o->s->bloom.mask || (layers && strstr(layers, "mask="));
    return !changes && !colours && !beside && !output_is_picture(o->path);
}

bool rowwise_may_be_needed(const output *o, const image_header *h) {
    uint64_t planes = planes_bytes(o, h);
    if (!rowwise_is_possible(o, h)) return false;
    return planes > mem_limit() / 4 || may_be_small(o, planes);
}

bool rowwise_is_needed(const output *o, const image_header *h, const bloom *b) {
    /* What is in use now is mostly what the frame before has left for this one, such as an engine
     * that is prepared. */
    uint64_t planes = planes_bytes(o, h), limit = mem_limit();
    const bloom_settings *s = &o->s->bloom;
    if (planes > limit || planes + bloom_whole_bytes(b, h) > limit) return true;
    if (!may_be_small(o, planes)) return false;
    bloom_forecasts f = {.each = mem_new(ENGINE_DEVICES, sizeof *f.each, "forecasts", NULL)};
    err why = {0};
    bool none = f.each && bloom_forecast(b, h, s->precision, &f, &why) < 0;
    mem_free(f.each);
    return none && why.code == ERR_CONFIG;
}

/* --- the frame ------------------------------------------------------------------------------ */

static void close_rowwise(rowwise *s) {
    image_header_free(&s->in);
    image_header_free(&s->out);
}

/* Makes the headers. */
static bool open_rowwise(rowwise *s, const bloom *b, err *e) {
    const settings *set = s->o->s;
    const image_header *h = image_reader_header(s->from);
    if (!colours_check(h, e) || !image_header_copy(&s->in, h, e)) return false;
    output_packing(&s->in, set);
    if (set->pixels == PIXELS_FLOAT && !output_types(&s->in, set, PIXEL_HALF, PIXEL_FLOAT, e))
        return false;
    return image_header_copy(&s->out, &s->in, e) && bloom_tiled_header(b, &s->out, e) &&
           (set->pixels != PIXELS_HALF || output_types(&s->out, set, PIXEL_FLOAT, PIXEL_HALF, e)) &&
           (!set->stamp || output_stamp(&s->out, set, image_reader_path(s->from), e));
}

static bloom_rows rows_of(rowwise *s) {
    return (bloom_rows){s, bytes_beside(s), read_rows, step_of, write_rows};
}

image_writer *rowwise_frame(rowwise_account *a, const output *o, image_reader *from, const bloom *b,
                            bloom_report *made, err *e) {
    rowwise s = {.o = o, .from = from, .a = a};
    *a = (rowwise_account){0};
    bool ok = open_rowwise(&s, b, e);
    ok = ok && (s.w = image_create(o->path, &s.out, o->s->clobber, o->threads, e));
    const bloom_rows rows = ok ? rows_of(&s) : (bloom_rows){0};
    ok = ok && bloom_tiled(b, &s.in, &rows, made, e);
    if (!ok) image_discard(&s.w);
    close_rowwise(&s);
    return s.w;
}

/* Where there is no writer, its chunks are taken to be the reader's. */
static uint32_t likely_step(void *ctx, int part) {
    const rowwise *s = ctx;
    return image_reader_rows(s->from, part);
}

bool rowwise_tiling(tiling *t, const output *o, image_reader *from, const bloom *b, err *e) {
    rowwise s = {.o = o, .from = from};
    bool ok = open_rowwise(&s, b, e);
    bloom_rows rows = ok ? rows_of(&s) : (bloom_rows){0};
    rows.step = likely_step;
    ok = ok && bloom_tiling(b, &s.in, &rows, t, e);
    close_rowwise(&s);
    return ok;
}
