#include "app/run/stages.h"

#include "app/run/output.h"
#include "base/clock.h"
#include "base/half.h"
#include "base/log.h"
#include "colour/space.h"
#include "image/layers.h"

/* --- colours ---------------------------------------------------------------------------------- */

/* Returns a channel of a colour; its alpha, or -1, comes last. */
static int nth_channel(const layer_group *g, int k) {
    return k < g->channels ? g->channel[k] : g->alpha;
}

static bool has_colour(const image_part *p) {
    OWN(layer_map) m = {0};
    return layer_map_make(&m, p, NULL, NULL, NULL) && m.groups > 0;
}

static bool refuse(const curve *c, const image_attr *by, err *e) {
    if (!c->decode)
        return err_set(
            e, ERR_DATA,
            "the colours are coded as %s (attribute %s), which is not supported; convert "
            "them to linear light, or use --input-space to say what they are",
            c->title, by->name);
    return err_set(e, ERR_DATA,
                   "the colours are coded as %s (attribute %s), and bloom needs linear light; use "
                   "--input-space %s to decode them, or --input-space linear if the attribute is "
                   "wrong",
                   c->title, by->name, c->name);
}

/* Finds what is done to a part with colour before it is bloomed, and writes into its attributes
 * what its colours are afterwards. One that says that its colours are coded by a curve is refused,
 * unless --input-space says what they are: a bloom of coded values is wrong everywhere. */
static bool decode_head(const stages *l, image_part *p, stage_part *to, err *e) {
    const settings *s = l->s;
    primaries now;
    colour_space space;
    if (!has_colour(p)) return true;
    const bool png = strcmp(image_reader_header(l->from)->format, "png") == 0;
    if (s->highlights > 0 && !png)
        return err_set(
            e, ERR_USAGE,
            "--highlights is for PNG pictures, which are cut off at white; this image has "
            "the light of its lamps");
    to->works = s->highlights > 0;
    to->how = (recode){.decode = CURVE_LINEAR,
                       .encode = CURVE_LINEAR,
                       .stops = s->highlights,
                       .convert = MATRIX_IDENTITY};
    if (!s->input_space) {
        const image_attr *by;
        const curve *coded = image_curve(p, &by);
        if (!by && !image_primaries(p, &now))
            log_say_once(LOG_INFO, "the image does not state its colour space; it is taken to be "
                                   "linear Rec.709");
        return !by || refuse(coded, by, e);
    }
    space_find(&space, s->input_space);
    bool takes = space.primaries_named ||
                 (!image_primaries(p, &now) && space.curve != CURVE_LINEAR);
    to->works = space.curve != CURVE_LINEAR || png;
    to->how.undo = png ? curve_find("srgb") : NULL;
    to->how.decode = space.curve;
    return image_set_space(p, CURVE_LINEAR, takes ? &space.primaries->gamut : NULL, e);
}

colour_space colours_stored(const settings *s) {
    colour_space space = {0};
    if (!s->output_space) return space;
    if (strcmp(s->output_space, "input") != 0) {
        space_find(&space, s->output_space);
    } else if (s->input_space) {
        space_find(&space, s->input_space);
        space.primaries = NULL;
    }
    return space;
}

bloom_settings stages_bloom(const run_choice *r) {
    const settings *s = r->s;
    bloom_settings b = s->bloom;
    b.kernel.size = r->kernel->size;
    b.cache_dir = r->cache;
    b.half = s->pixels == PIXELS_HALF;
    b.stored = colours_stored(s);
    if (s->emit_file && !b.emit_layer) b.emit_layer = EMIT_LAYER;
    return b;
}

/* A picture converts colours by itself. */
static bool encode_head(const stages *l, image_part *p, stage_part *to, err *e) {
    const colour_space space = colours_stored(l->s);
    const primaries_row *becomes = space.curve ? recode_primaries(&space) : NULL;
    bool shown = l->s->output && output_is_picture(l->s->output);
    if (!space.curve || shown || !has_colour(p)) return true;
    to->works = true;
    return recode_to(&to->how, p, &space, e) &&
           image_set_space(p, space.curve, becomes ? &becomes->gamut : NULL, e);
}

static bool colour_rows(stages *l, const stage *to, int part, const rows_band *b, err *e) {
    image_part some = *b->part;
    void **plane = b->plane;
    image img = {.head = {.part = &some, .parts = 1}, .plane = &plane};
    some.data.y1 = some.data.y0 + (int32_t)b->rows - 1;
    return recode_part(&img, 0, &to->part[part].how, l->threads, e);
}

/* --- types ------------------------------------------------------------------------------------ */

/* Changes the types of colour that is bloomed, and of its alpha; a wide channel keeps floats. */
static bool set_types(const stages *l, image_part *p, stage_part *part, pixel_type from,
                      pixel_type to, err *e) {
    OWN(layer_map) m = {0};
    if (!layer_map_make(&m, p, l->s->bloom.layers, l->s->bloom.exclude, e)) return false;
    for (int i = 0; i < m.groups; i++) {
        bool wide = false;
        for (int k = 0; k <= m.group[i].channels; k++)
            wide |= nth_channel(&m.group[i], k) >= 0 &&
                    p->channel[nth_channel(&m.group[i], k)].wide;
        for (int k = 0; k <= m.group[i].channels; k++) {
            int c = nth_channel(&m.group[i], k);
            if (c < 0 || p->channel[c].type != from || (wide && to == PIXEL_HALF)) continue;
            p->channel[c].type = to;
            part->works = true;
        }
    }
    return true;
}

static bool floats_head(const stages *l, image_part *p, stage_part *to, err *e) {
    return l->s->pixels != PIXELS_FLOAT || set_types(l, p, to, PIXEL_HALF, PIXEL_FLOAT, e);
}

static bool halfs_head(const stages *l, image_part *p, stage_part *to, err *e) {
    return l->s->pixels != PIXELS_HALF || set_types(l, p, to, PIXEL_FLOAT, PIXEL_HALF, e);
}

static bool types_rows(stages *l, const stage *to, int part, const rows_band *b, err *e) {
    const image_part *p = b->part;
    size_t n = (size_t)image_width(p) * b->rows;
    uint64_t over = 0;
    for (int c = 0; c < p->channels; c++) {
        OWN(text) name = {0};
        const image_channel *channel = &p->channel[c];
        const pixel_type becomes = to->head.part[part].channel[c].type;
        if (!b->plane[c] || channel->type == becomes) continue;
        uint64_t some = image_convert(b->plane[c], becomes, b->plane[c], channel->type, n);
        over += some;
        text_add(&name, " '%.40s'", channel->name);
        if (some && !(l->cut.n && strstr(l->cut.s, name.s))) text_add(&l->cut, "%s", name.s);
        if (!some || !l->marks || l->s->bloom.half_overflow != OVERFLOW_FLOAT) continue;
        image_part *mark = &l->marks->part[part];
        const int at =
            image_find_channel(mark, channel->name); /* a layer that was made has no mark */
        l->beyond |= at >= 0 && image_widen(&mark->channel[at]);
    }
    l->clamped += over;
    if (!over || l->s->bloom.half_overflow == OVERFLOW_CLAMP) return true;
    return err_set(e, ERR_BAD_PIXELS,
                   "%llu values that are not bloomed are beyond %g, the maximum of a half float; "
                   "use --half-overflow clamp or --pixel-type float to continue",
                   (unsigned long long)over, HALF_MAX);
}

/* --- lists ------------------------------------------------------------------------------------ */

static const stage_kind IN[STAGES] = {{"types to float", floats_head, types_rows},
                                      {"decode colours", decode_head, colour_rows}},
                        OUT[STAGES] = {{"encode colours", encode_head, colour_rows},
                                       {"types to half", halfs_head, types_rows}};

static bool open_list(stages *l, const stage_kind kind[STAGES], const image_header *from, err *e) {
    bool ok = true;
    l->head = from;
    for (int i = 0; ok && i < STAGES; i++) {
        stage *to = &l->stage[i];
        *to = (stage){.kind = &kind[i]};
        ok = (to->part = mem_new((size_t)from->parts, sizeof *to->part, "parts", e)) &&
             image_header_copy(&to->head, l->head, e);
        for (int p = 0; ok && p < from->parts; p++)
            ok = to->kind->head(l, &to->head.part[p], &to->part[p], e);
        l->head = &to->head;
    }
    return ok;
}

void stages_close(stages *l) {
    for (int i = 0; i < STAGES; i++) {
        image_header_free(&l->stage[i].head);
        mem_free(l->stage[i].part);
    }
    text_free(&l->cut);
    *l = (stages){.from = NULL};
}

bool stages_change(const stages *l, int part) {
    bool any = false;
    for (int i = 0; i < STAGES; i++) any |= l->stage[i].part[part].works;
    return any;
}

void stages_words(const stages *l, text *to) {
    for (int i = 0; i < STAGES; i++) {
        bool any = false;
        for (int p = 0; l->stage[i].part && p < l->head->parts; p++)
            any |= l->stage[i].part[p].works;
        if (any) text_add(to, "%s%s", to->n ? ", " : "", l->stage[i].kind->name);
    }
}

static bool change_rows(stages *l, int part, const rows_band *b, err *e) {
    rows_band band = *b;
    bool ok = true;
    for (int i = 0; ok && i < STAGES; i++) {
        const stage *to = &l->stage[i];
        if (to->part[part].works) ok = to->kind->rows(l, to, part, &band, e);
        band.part = &to->head.part[part];
    }
    return ok;
}

/* --- in --------------------------------------------------------------------------------------- */

bool stages_in_open(stages *l, image_reader *from, const settings *s, par *threads, err *e) {
    OWN(image_header) h = {0};
    *l = (stages){.s = s, .threads = threads, .from = from};
    if (!image_header_copy(&h, image_reader_header(from), e)) return false;
    for (int i = 0; i < h.parts && s->packing; i++)
        h.part[i].packing = (compression)(s->packing - 1);
    return open_list(l, IN, &h, e) || err_in(e, "%s", image_reader_called(from)) ||
           err_blame(e, FAULT_INPUT);
}

/* Makes planes for the channels that are not wanted, but that others of their colour need. */
static bool add_planes(const image_part *p, uint32_t rows, void **plane, err *e) {
    OWN(layer_map) m = {0};
    size_t n = (size_t)image_width(p) * rows;
    if (!layer_map_make(&m, p, NULL, NULL, e)) return false;
    bool ok = true;
    for (int i = 0; i < m.groups; i++) {
        const layer_group *g = &m.group[i];
        bool any = false;
        for (int k = 0; k <= g->channels; k++)
            any |= nth_channel(g, k) >= 0 && plane[nth_channel(g, k)];
        for (int k = 0; ok && any && k <= g->channels; k++) {
            int c = nth_channel(g, k);
            if (c >= 0 && !plane[c])
                ok = (plane[c] = mem_raw(n, pixel_bytes(p->channel[c].type), "rows", e)) != NULL;
        }
    }
    return ok;
}

/* Rows that change are read some at a time, to take little memory beside them. */
static bool read_rows(void *ctx, int part, uint32_t row, uint32_t rows, void *const plane[],
                      err *e) {
    stages *l = ctx;
    double start = clock_now();
    const image_part *p = &l->head->part[part];
    uint32_t most = rows;
    OWN_MEM void **at = mem_new((size_t)p->channels, sizeof *at, "planes", e);
    bool ok = at != NULL, decodes = l->stage[STAGES - 1].part[part].works;
    if (stages_change(l, part))
        most = min_u32(rows, rows_some(p, image_reader_rows(l->from, part)));
    for (uint32_t y = 0; ok && y < rows; y += most) {
        uint32_t some = min_u32(most, rows - y);
        const rows_band b = {&image_reader_header(l->from)->part[part], row + y, some, at, false};
        for (int c = 0; c < p->channels; c++) {
            size_t before = (size_t)y * image_width(p) * pixel_bytes(p->channel[c].type);
            at[c] = plane[c] ? (uint8_t *)plane[c] + before : NULL;
        }
        ok = (!decodes || add_planes(p, some, at, e)) &&
             image_read(l->from, part, row + y, some, at, e) && change_rows(l, part, &b, e);
        for (int c = 0; c < p->channels; c++)
            if (!plane[c]) mem_free(at[c]);
    }
    l->seconds += clock_now() - start;
    return ok;
}

rows_source stages_source(stages *l) {
    return (rows_source){.ctx = l, .head = l->head, .read = read_rows};
}

image *stages_load(stages *l, bool *const *wanted, err *e) {
    image *img = image_new_unset(l->head, wanted, e);
    for (int i = 0; img && i < l->head->parts; i++)
        if (img->plane[i] && !read_rows(l, i, 0, image_height(&l->head->part[i]), img->plane[i], e))
            image_free(&img);
    return img;
}

/* --- out -------------------------------------------------------------------------------------- */

bool stages_out_open(stages *l, stages *in, const bloom *b, err *e) {
    OWN(image_header) made = {0};
    *l = (stages){.s = in->s, .threads = in->threads, .marks = stages_marks(in)};
    return image_header_copy(&made, in->head, e) && bloom_header(b, &made, e) &&
           open_list(l, OUT, &made, e);
}

static uint32_t step_of(void *ctx, int part) {
    const rows_sink *to = ((const stages *)ctx)->to;
    return to->step(to->ctx, part);
}

static bool write_rows(void *ctx, int part, const rows_band *b, err *e) {
    stages *l = ctx;
    const rows_band made = {&l->head->part[part], b->row, b->rows, b->plane, b->yours};
    return change_rows(l, part, b, e) && l->to->write(l->to->ctx, part, &made, e);
}

static bool copy_part(void *ctx, int part, bool *done, err *e) {
    const stages *l = ctx;
    return stages_change(l, part) || !l->to->copy || l->to->copy(l->to->ctx, part, done, e);
}

rows_sink stages_sink(stages *l, const rows_sink *to) {
    l->to = to;
    return (rows_sink){.ctx = l, .step = step_of, .write = write_rows, .copy = copy_part};
}

void stages_give_head(stages *l, image *img) {
    const image_header old = img->head; /* the headers change places */
    img->head = *l->head;
    l->stage[STAGES - 1].head = old;
}
