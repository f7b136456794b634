#include "app/run/stages.h"

#include "app/run/output.h"
#include "base/clock.h"
#include "base/half.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/number.h"
#include "colour/space.h"
#include "image/layers.h"

#include <math.h>
#include <string.h>

/* --- colours ---------------------------------------------------------------------------------- */

static bool has_colour(const image_part *p) {
    layer_map m;
    if (!layer_map_make(&m, p, NULL, NULL, NULL)) return false;
    bool some = m.groups > 0;
    layer_map_free(&m);
    return some;
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
static bool colours_in(colours_step *to, image_part *p, const char *format, const settings *s,
                       err *e) {
    primaries now;
    colour_space is;
    *to = (colours_step){.any = false};
    if (!has_colour(p)) return true;
    if (!s->input_space) {
        const image_attr *by;
        const curve *coded = image_curve(p, &by);
        if (!by && !image_primaries(p, &now))
            log_say_once(LOG_INFO, "the image does not state its colour space; it is taken to be "
                                   "linear Rec.709");
        return !by || refuse(coded, by, e);
    }
    space_find(&is, s->input_space);
    bool png = strcmp(format, "png") == 0;
    bool takes = is.primaries_named || (!image_primaries(p, &now) && is.curve != CURVE_LINEAR);
    to->any = is.curve != CURVE_LINEAR || png;
    to->how = (recode){.undo = png ? curve_find("srgb") : NULL,
                       .decode = is.curve,
                       .encode = CURVE_LINEAR,
                       .convert = MATRIX_IDENTITY};
    return image_set_space(p, CURVE_LINEAR, takes ? &is.primaries->is : NULL, e);
}

colour_space colours_stored(const settings *s) {
    colour_space is = {0};
    if (!s->output_space) return is;
    if (strcmp(s->output_space, "input") != 0) {
        space_find(&is, s->output_space);
    } else if (s->input_space) {
        space_find(&is, s->input_space);
        is.primaries = NULL;
    }
    return is;
}

/* Changes the colours of rows of a part, in place. */
static bool recode_rows(const colours_step *how, const image_part *p, void **plane, uint32_t rows,
                        par *threads, err *e) {
    image_part some = *p;
    image img = {.head = {.part = &some, .parts = 1}, .plane = &plane};
    some.data.y1 = some.data.y0 + (int32_t)rows - 1;
    return !how->any || recode_part(&img, 0, &how->how, threads, e);
}

/* --- in --------------------------------------------------------------------------------------- */

bool stages_in_open(stages_in *in, image_reader *from, const settings *s, par *threads, err *e) {
    const image_header *h = image_reader_header(from);
    *in = (stages_in){.s = s, .threads = threads, .from = from};
    in->step = mem_new((size_t)h->parts, sizeof *in->step, "parts", e);
    bool ok = in->step && image_header_copy(&in->head, h, e);
    if (!ok) return false;
    output_packing(&in->head, s);
    bool picture = s->output && output_is_picture(s->output); /* is made from the top down */
    for (int i = 0; picture && i < h->parts; i++) in->head.part[i].order = LINES_INCREASING;
    if (s->pixels == PIXELS_FLOAT) ok = output_types(&in->head, s, PIXEL_HALF, PIXEL_FLOAT, e);
    for (int i = 0; ok && i < h->parts; i++)
        ok = colours_in(&in->step[i], &in->head.part[i], h->format, s, e);
    return ok || err_in(e, "%s", image_reader_path(from));
}

void stages_in_close(stages_in *in) {
    image_header_free(&in->head);
    mem_free(in->step);
    *in = (stages_in){.from = NULL};
}

bool stages_in_changes(const stages_in *in, int part) {
    const image_part *a = &in->head.part[part], *b = &image_reader_header(in->from)->part[part];
    bool any = in->step[part].any;
    for (int c = 0; c < a->channels; c++) any |= a->channel[c].type != b->channel[c].type;
    return any;
}

/* Marks the channels that spaces change, and those that this needs: colour and its alpha. */
static bool mark_colour(bool *marked, const image_part *p, err *e) {
    layer_map m;
    if (!layer_map_make(&m, p, NULL, NULL, e)) return false;
    for (int i = 0; i < m.groups; i++) {
        const layer_group *g = &m.group[i];
        for (int c = 0; c < g->channels; c++) marked[g->channel[c]] = true;
        if (g->alpha >= 0) marked[g->alpha] = true;
    }
    layer_map_free(&m);
    return true;
}

/* Reads rows as the file has them, and converts them to the types of in->head. */
static bool read_types(stages_in *in, int part, uint32_t row, uint32_t rows, void *const plane[],
                       err *e) {
    const image_part *p = &image_reader_header(in->from)->part[part];
    const image_channel *to = in->head.part[part].channel;
    size_t n = (size_t)image_width(p) * rows;
    void **own = mem_new((size_t)p->channels, sizeof *own, "planes", e);
    bool ok = own != NULL;
    for (int c = 0; ok && c < p->channels; c++) {
        pixel_type type = p->channel[c].type;
        if (!plane[c]) continue;
        own[c] = type == to[c].type ? plane[c] : mem_raw(n, pixel_bytes(type), "rows", e);
        ok = own[c] != NULL;
    }
    ok = ok && image_read(in->from, part, row, rows, own, e);
    for (int c = 0; own && c < p->channels; c++) {
        if (!own[c] || own[c] == plane[c]) continue;
        if (ok) image_convert(plane[c], to[c].type, own[c], p->channel[c].type, n);
        mem_free(own[c]);
    }
    mem_free(own);
    return ok;
}

/* Reads rows as bloom sees them. A colour is decoded with all its channels, so those that are not
 * wanted are read beside. */
static bool read_some(stages_in *in, int part, uint32_t row, uint32_t rows, void *const wanted[],
                      err *e) {
    const image_part *p = &in->head.part[part];
    size_t n = (size_t)image_width(p) * rows;
    if (!in->step[part].any) return read_types(in, part, row, rows, wanted, e);
    bool *colour = mem_new((size_t)p->channels, sizeof *colour, "channels", e);
    void **plane = mem_new((size_t)p->channels, sizeof *plane, "planes", e);
    bool ok = colour && plane && mark_colour(colour, p, e), any = false;
    for (int c = 0; ok && c < p->channels; c++) any |= colour[c] && wanted[c];
    for (int c = 0; ok && c < p->channels; c++) {
        plane[c] = wanted[c];
        if (plane[c] || !any || !colour[c]) continue;
        ok = (plane[c] = mem_raw(n, pixel_bytes(p->channel[c].type), "rows", e));
    }
    ok = ok && read_types(in, part, row, rows, plane, e) &&
         (!any || recode_rows(&in->step[part], p, plane, rows, in->threads, e));
    for (int c = 0; plane && c < p->channels; c++)
        if (plane[c] != wanted[c]) mem_free(plane[c]);
    mem_free(plane);
    mem_free(colour);
    return ok;
}

/* Rows that change are read some at a time, to take little memory beside them. */
static bool read_rows(void *ctx, int part, uint32_t row, uint32_t rows, void *const plane[],
                      err *e) {
    stages_in *in = ctx;
    double start = clock_now();
    const image_part *p = &in->head.part[part];
    uint32_t some = rows;
    void **at = mem_new((size_t)p->channels, sizeof *at, "planes", e);
    bool ok = at != NULL;
    if (stages_in_changes(in, part))
        some = min_u32(rows, rows_some(p, image_reader_rows(in->from, part)));
    for (uint32_t y = 0; ok && y < rows; y += some) {
        for (int c = 0; c < p->channels; c++) {
            size_t before = (size_t)y * image_width(p) * pixel_bytes(p->channel[c].type);
            at[c] = plane[c] ? (uint8_t *)plane[c] + before : NULL;
        }
        ok = read_some(in, part, row + y, min_u32(some, rows - y), at, e);
    }
    mem_free(at);
    in->seconds += clock_now() - start;
    return ok;
}

rows_source stages_in_rows(stages_in *in) {
    return (rows_source){.ctx = in, .head = &in->head, .read = read_rows};
}

image *stages_in_load(stages_in *in, bool *const *wanted, err *e) {
    image *img = image_new_unset(&in->head, wanted, e);
    for (int i = 0; img && i < in->head.parts; i++)
        if (img->plane[i] &&
            !read_rows(in, i, 0, image_height(&in->head.part[i]), img->plane[i], e))
            image_free(&img);
    return img;
}

/* --- out -------------------------------------------------------------------------------------- */

/* Makes the header that is written. A picture converts colours by itself. */
bool stages_out_open(stages_out *out, const image_header *from, bool floats, const settings *s,
                     par *threads, err *e) {
    bool picture = s->output && output_is_picture(s->output);
    *out = (stages_out){.s = s, .threads = threads};
    out->step = mem_new((size_t)from->parts, sizeof *out->step, "parts", e);
    bool ok = out->step && image_header_copy(&out->head, from, e);
    const colour_space is = colours_stored(s);
    const primaries_row *becomes = is.curve ? recode_primaries(&is) : NULL;
    for (int i = 0; ok && !picture && i < from->parts; i++) {
        image_part *p = &out->head.part[i];
        if (!is.curve || !has_colour(p)) continue;
        out->step[i].any = true;
        ok = recode_to(&out->step[i].how, p, &is, e) &&
             image_set_space(p, is.curve, becomes ? &becomes->is : NULL, e);
    }
    return ok && (s->pixels != PIXELS_HALF || floats ||
                  output_types(&out->head, s, PIXEL_FLOAT, PIXEL_HALF, e));
}

void stages_out_close(stages_out *out) {
    image_header_free(&out->head);
    mem_free(out->step);
    out->step = NULL;
}

bool stages_out_rows(stages_out *out, int part, const rows_band *b, err *e) {
    const image_part *p = b->is, *to = &out->head.part[part];
    if (!recode_rows(&out->step[part], p, b->plane, b->rows, out->threads, e)) return false;
    size_t n = (size_t)image_width(p) * b->rows;
    uint64_t over = 0;
    for (int c = 0; c < p->channels; c++) {
        pixel_type is = p->channel[c].type, becomes = to->channel[c].type;
        if (b->plane[c] && is != becomes)
            over += image_convert(b->plane[c], becomes, b->plane[c], is, n);
    }
    out->clamped += over;
    if (!over || out->s->bloom.half_overflow == OVERFLOW_CLAMP) return true;
    return err_set(e, ERR_BAD_PIXELS,
                   "%llu values that are not bloomed are beyond %g, the maximum of a half float; "
                   "use --half-overflow clamp or --pixel-type float to continue",
                   (unsigned long long)over, HALF_MAX);
}

/* Keeps floats where a layer, or its alpha, has finite values beyond halfs. */
static bool keep_wide(stages_out *out, const image *img, int part, err *e) {
    layer_map m;
    const image_part *p = &img->head.part[part];
    size_t n = (size_t)image_width(p) * image_height(p);
    const bloom_settings *s = &out->s->bloom;
    if (!layer_map_make(&m, p, s->layers, s->exclude, e)) return false;
    for (int i = 0; i < m.groups; i++) {
        const layer_group *g = &m.group[i];
        bool wide = false;
        for (int k = 0; k <= g->channels; k++) {
            int c = k < g->channels ? g->channel[k] : g->alpha;
            if (c < 0 || p->channel[c].type != PIXEL_FLOAT) continue;
            const float *v = img->plane[part][c];
            for (size_t x = 0; !wide && x < n; x++) wide = fabsf(v[x]) > HALF_MAX && !isinf(v[x]);
        }
        for (int k = 0; wide && k <= g->channels; k++) {
            int c = k < g->channels ? g->channel[k] : g->alpha;
            if (c >= 0) out->head.part[part].channel[c].type = p->channel[c].type;
        }
    }
    layer_map_free(&m);
    return true;
}

bool stages_out_image(image *img, const settings *s, uint64_t *clamped, par *threads, err *e) {
    stages_out out;
    bool wide = s->pixels == PIXELS_HALF && s->bloom.half_overflow == OVERFLOW_FLOAT;
    bool ok = stages_out_open(&out, &img->head, false, s, threads, e);
    for (int i = 0; ok && i < img->head.parts; i++) {
        if (!img->plane[i]) continue;
        const image_part *p = &img->head.part[i];
        const rows_band all = {p, 0, image_height(p), img->plane[i], false};
        ok = (!wide || keep_wide(&out, img, i, e)) && stages_out_rows(&out, i, &all, e);
    }
    *clamped = out.clamped;
    if (ok) { /* the headers change places */
        image_header old = img->head;
        img->head = out.head;
        out.head = old;
    }
    stages_out_close(&out);
    return ok;
}
