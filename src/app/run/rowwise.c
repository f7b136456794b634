#include "app/run/rowwise.h"

#include "app/run/colours.h"
#include "app/run/emit.h"
#include "base/clock.h"
#include "base/half.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/number.h"
#include "image/layers.h"

#include <math.h>
#include <string.h>

typedef struct {
    const output *o;
    image_reader *from;
    image_header in; /* as bloom sees the image: linear, in the types that it is to be bloomed in */
    image_header mid;             /* as bloom leaves it, in the space of the output */
    image_header out;             /* as it is written, glare of a file of its own included */
    colours_step *linear, *coded; /* of each part */
    image_writer *w, *glare;      /* w: or `picture`; glare: of emit_file, or NULL */
    picture_rows *picture;
    image_header own, apart; /* of these files */
    rowwise_made *a;
} rowwise;

static const image_part *file_part(const rowwise *s, int part) {
    return &image_reader_header(s->from)->part[part];
}

/* Rows are converted a few at a time, to take little memory. */
static uint32_t some_rows(const image_part *p, uint32_t unit) {
    enum { SOME = 4 << 20, PART = 64 };
    uint64_t row = image_bytes(p) / image_height(p), most = min_u64(SOME, mem_limit() / PART);
    return max_u32((uint32_t)min_u64(most / (row * unit + 1), IMAGE_SIDE), 1) * unit;
}

/* Changes the colours of rows of a part, whose header is `p`, in place. */
static bool recode_rows(const rowwise *s, const colours_step *how, const image_part *p,
                        void **plane, uint32_t rows, err *e) {
    image_part some = *p;
    image img = {.head = {.part = &some, .parts = 1}, .plane = &plane};
    some.data.y1 = some.data.y0 + (int32_t)rows - 1;
    return !how->any || recode_part(&img, 0, &how->how, s->o->threads, e);
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

/* --- reading -------------------------------------------------------------------------------- */

/* Reads channels of a part as the file has them, and converts them to the types of s->in. */
static bool read_types(rowwise *s, int part, const image_rows *is, err *e) {
    const image_part *p = file_part(s, part);
    const image_channel *to = s->in.part[part].channel;
    size_t n = (size_t)image_width(p) * is->rows;
    void **own = mem_new((size_t)p->channels, sizeof *own, "planes", e);
    bool ok = own != NULL;
    for (int c = 0; ok && c < p->channels; c++) {
        void *plane = (void *)(uintptr_t)is->plane[c];
        pixel_type type = p->channel[c].type;
        if (!plane) continue;
        own[c] = type == to[c].type ? plane : mem_raw(n, pixel_bytes(type), "rows", e);
        ok = own[c] != NULL;
    }
    ok = ok && image_read(s->from, part, is->row, is->rows, own, e);
    for (int c = 0; own && c < p->channels; c++) {
        if (!own[c] || own[c] == is->plane[c]) continue;
        const typed_rows r = {own[c], p->channel[c].type, to[c].type, n};
        ok = ok && convert(s, (void *)(uintptr_t)is->plane[c], &r, e);
        mem_free(own[c]);
    }
    mem_free(own);
    return ok;
}

/* Reads channels of a part as bloom sees them: as s->in says. A colour is decoded with all its
 * channels, so those that are not wanted are read beside. */
static bool read_some(rowwise *s, int part, const image_rows *is, err *e) {
    const image_part *p = &s->in.part[part];
    size_t n = (size_t)image_width(p) * is->rows;
    if (!s->linear[part].any) return read_types(s, part, is, e);
    bool *colour = mem_new((size_t)p->channels, sizeof *colour, "channels", e);
    void **plane = mem_new((size_t)p->channels, sizeof *plane, "planes", e);
    bool ok = colour && plane && mark_colour(colour, p, e), any = false;
    for (int c = 0; ok && c < p->channels; c++) any |= colour[c] && is->plane[c];
    for (int c = 0; ok && c < p->channels; c++) {
        plane[c] = (void *)(uintptr_t)is->plane[c];
        if (plane[c] || !any || !colour[c]) continue;
        ok = (plane[c] = mem_raw(n, pixel_bytes(p->channel[c].type), "rows", e));
    }
    const image_rows all = {is->row, is->rows, (const void *const *)plane};
    ok = ok && read_types(s, part, &all, e) &&
         (!any || recode_rows(s, &s->linear[part], p, plane, is->rows, e));
    for (int c = 0; plane && c < p->channels; c++)
        if (plane[c] != is->plane[c]) mem_free(plane[c]);
    mem_free(plane);
    mem_free(colour);
    return ok;
}

static bool changes_on_the_way(const rowwise *s, int part) {
    const image_part *a = &s->in.part[part], *b = file_part(s, part);
    bool any = s->linear[part].any;
    for (int c = 0; c < a->channels; c++) any |= a->channel[c].type != b->channel[c].type;
    return any;
}

static bool read_rows(void *ctx, int part, uint32_t row, uint32_t rows, void *const plane[],
                      err *e) {
    rowwise *s = ctx;
    double start = clock_now();
    const image_part *p = &s->in.part[part];
    size_t width = image_width(p);
    uint32_t some = rows;
    const void **at = mem_new((size_t)p->channels, sizeof *at, "planes", e);
    bool ok = at != NULL;
    if (changes_on_the_way(s, part)) some = some_rows(p, image_reader_rows(s->from, part));
    for (uint32_t y = 0; ok && y < rows; y += some) {
        for (int c = 0; c < p->channels; c++)
            at[c] = plane[c]
                        ? (const uint8_t *)plane[c] + y * width * pixel_bytes(p->channel[c].type)
                        : NULL;
        ok = read_some(s, part, &(image_rows){row + y, min_u32(some, rows - y), at}, e);
    }
    mem_free(at);
    s->a->load += clock_now() - start;
    return ok;
}

/* --- writing -------------------------------------------------------------------------------- */

static uint32_t greatest_divisor(uint32_t a, uint32_t b) {
    return b ? greatest_divisor(b, a % b) : a;
}

/* Returns the part of the glare's file that the part's glare goes to, or -1. */
static int glare_part(const rowwise *s, int part) {
    int at = -1;
    for (int i = 0; s->glare && i <= part; i++) {
        bool some = false;
        for (int c = 0; c < s->out.part[i].channels; c++)
            some |= emit_name(&s->out.part[i].channel[c], s->o->s) != NULL;
        at += some;
        if (i == part && !some) return -1;
    }
    return at;
}

/* Both files take as many rows at a time. */
static uint32_t step_of(void *ctx, int part) {
    const rowwise *s = ctx;
    uint32_t step = s->w ? image_writer_rows(s->w, part) : 1;
    int glare = glare_part(s, part);
    if (glare < 0) return step;
    uint32_t other = image_writer_rows(s->glare, glare);
    return step / greatest_divisor(step, other) * other;
}

/* Adds rows to the picture, if it shows the part. */
static bool show(const rowwise *s, int part, const rows_band *b, void **plane, err *e) {
    return part != picture_rows_part(s->picture) ||
           picture_rows_add(s->picture, b->rows, (const void *const *)plane, e);
}

/* Hands the rows to the file, or to the picture. */
static bool put_rows(const rowwise *s, int part, const rows_band *b, void **plane, err *e) {
    if (s->picture) return show(s, part, b, plane, e);
    return image_write(s->w, part, b->row, b->rows, (const void *const *)plane, e);
}

/* Hands the rows to one file, or to both. */
static bool hand_over(const rowwise *s, int part, const rows_band *b, err *e) {
    const image_part *all = &s->out.part[part];
    int glare = glare_part(s, part);
    if (glare < 0) return put_rows(s, part, b, b->plane, e);
    const image_part *own = &s->own.part[part], *apart = &s->apart.part[glare];
    size_t most = (size_t)all->channels;
    void **to = mem_new(most, sizeof *to, "planes", e);
    void **other = mem_new(most, sizeof *other, "planes", e);
    for (int c = 0; to && other && c < all->channels; c++) {
        const char *name = emit_name(&all->channel[c], s->o->s);
        if (name)
            other[image_find_channel(apart, name)] = b->plane[c];
        else
            to[image_find_channel(own, all->channel[c].name)] = b->plane[c];
    }
    bool ok = to && other &&
              image_write(s->glare, glare, b->row, b->rows, (const void *const *)other, e) &&
              put_rows(s, part, b, to, e);
    mem_free(to);
    mem_free(other);
    return ok;
}

/* Converts rows to the space and the types of the output, in place, and writes them. */
static bool write_rows(void *ctx, int part, const rows_band *b, err *e) {
    rowwise *s = ctx;
    double start = clock_now();
    const image_part *p = &s->mid.part[part], *out = &s->out.part[part];
    bool ok = recode_rows(s, &s->coded[part], p, b->plane, b->rows, e);
    for (int c = 0; ok && c < p->channels; c++) {
        const typed_rows r = {b->plane[c], p->channel[c].type, out->channel[c].type,
                              (size_t)image_width(p) * b->rows};
        if (r.from != r.to) ok = convert(s, b->plane[c], &r, e);
    }
    ok = ok && hand_over(s, part, b, e);
    s->a->save += clock_now() - start;
    return ok;
}

/* Copies a part that stays as it is. */
static bool copy_part(void *ctx, int part, bool *done, err *e) {
    rowwise *s = ctx;
    const image_part *from = file_part(s, part), *to = &s->own.part[part];
    bool same = !s->picture && !s->coded[part].any && !s->linear[part].any &&
                from->channels == to->channels && glare_part(s, part) < 0;
    for (int c = 0; same && c < to->channels; c++)
        same = from->channel[c].type == to->channel[c].type &&
               strcmp(from->channel[c].name, to->channel[c].name) == 0;
    if (!same && !(s->picture && part != picture_rows_part(s->picture))) return true;
    *done = true;
    double start = clock_now();
    bool ok = !same || image_copy_part(s->w, part, s->from, part, e);
    s->a->save += clock_now() - start;
    return ok;
}

/* --- memory --------------------------------------------------------------------------------- */

/* Returns the bytes that reading and writing take at the most. Each thread has a chunk in its
 * hands, read and written, packed and unpacked; and the rows of channels that come from the file
 * are there once more, and so are some rows that change on the way. */
static uint64_t bytes_beside(const rowwise *s) {
    enum { TIMES = 3 };
    uint64_t most = 0, some = 0, threads = (uint64_t)par_threads(s->o->threads);
    for (int i = 0; i < s->out.parts; i++) {
        const image_part *p = &s->out.part[i], *own = file_part(s, i);
        uint64_t pixel = image_bytes(p) / image_width(p) / image_height(p);
        uint64_t in = own->tile_w ? min_u32(own->tile_w, image_width(p)) : image_width(p);
        uint64_t out = p->tile_w ? min_u32(p->tile_w, image_width(p)) : image_width(p);
        uint64_t rows = in * image_reader_rows(s->from, i) +
                        out * (s->w ? image_writer_rows(s->w, i) : image_reader_rows(s->from, i));
        most = max_u64(most, rows * pixel);
        if (changes_on_the_way(s, i) || s->coded[i].any)
            some =
                max_u64(some, pixel * image_width(p) * some_rows(p, image_reader_rows(s->from, i)));
    }
    uint64_t picture = output_is_picture(s->o->path) ? picture_rows_bytes(s->o, &s->mid) : 0;
    return (most * threads + some) * TIMES + picture;
}

/* --- the frame ------------------------------------------------------------------------------ */

static void close_rowwise(rowwise *s) {
    image_header_free(&s->in);
    image_header_free(&s->mid);
    image_header_free(&s->out);
    image_header_free(&s->own);
    image_header_free(&s->apart);
    mem_free(s->linear);
    mem_free(s->coded);
}

/* Makes the headers. */
static bool open_rowwise(rowwise *s, const bloom *b, err *e) {
    const settings *set = s->o->s;
    const image_header *h = image_reader_header(s->from);
    s->linear = mem_new((size_t)h->parts, sizeof *s->linear, "parts", e);
    s->coded = mem_new((size_t)h->parts, sizeof *s->coded, "parts", e);
    bool ok = s->linear && s->coded && image_header_copy(&s->in, h, e);
    if (!ok) return false;
    output_packing(&s->in, set);
    bool picture = output_is_picture(s->o->path); /* converts by itself, from the top down */
    for (int i = 0; picture && i < h->parts; i++) s->in.part[i].order = LINES_INCREASING;
    if (set->pixels == PIXELS_FLOAT && !output_types(&s->in, set, PIXEL_HALF, PIXEL_FLOAT, e))
        return false;
    for (int i = 0; ok && i < h->parts; i++)
        ok = colours_in(&s->linear[i], &s->in.part[i], h->format, set, e);
    ok = ok && image_header_copy(&s->mid, &s->in, e) && bloom_tiled_header(b, &s->mid, e);
    for (int i = 0; ok && !picture && i < h->parts; i++)
        ok = colours_out(&s->coded[i], &s->mid.part[i], set, e);
    return ok && image_header_copy(&s->out, &s->mid, e) &&
           (set->pixels != PIXELS_HALF || output_types(&s->out, set, PIXEL_FLOAT, PIXEL_HALF, e));
}

/* Makes the headers of the files: of the one, or of the image without its glare, and of the glare.
 */
static bool part_glare(rowwise *s, err *e) {
    image all = {.plane = NULL};
    bool ok = image_header_copy(&all.head, &s->out, e) &&
              (all.plane = mem_new((size_t)s->out.parts, sizeof *all.plane, "planes", e));
    for (int i = 0; ok && i < s->out.parts; i++) /* no plane is there, but moved all the same */
        ok = (all.plane[i] =
                  mem_new((size_t)s->out.part[i].channels, sizeof **all.plane, "planes", e));
    image *glare = ok ? emit_take(&all, s->o->s, e) : NULL;
    if (glare) {
        s->apart = glare->head;
        glare->head = (image_header){.parts = 0};
    }
    for (int i = 0; all.plane && i < s->out.parts; i++) mem_free(all.plane[i]);
    mem_free(all.plane);
    s->own = all.head;
    for (int i = 0; glare && i < s->apart.parts; i++) mem_free(glare->plane[i]);
    if (glare) mem_free(glare->plane);
    mem_free(glare);
    return glare != NULL;
}

static bool create(rowwise *s, const char *glare, err *e) {
    const settings *set = s->o->s;
    bool ok = glare ? part_glare(s, e) : image_header_copy(&s->own, &s->out, e);
    if (ok && glare)
        ok = (s->glare = image_create(glare, &s->apart, set->clobber, s->o->threads, e));
    ok = ok && (!set->stamp || output_stamp(&s->own, set, image_reader_path(s->from), e));
    return ok && (output_is_picture(s->o->path) ||
                  (s->w = image_create(s->o->path, &s->own, set->clobber, s->o->threads, e)));
}

static bloom_rows rows_of(rowwise *s) {
    return (bloom_rows){.in = {.ctx = s, .head = &s->in, .read = read_rows},
                        .out = {.ctx = s, .step = step_of, .write = write_rows, .copy = copy_part},
                        .bytes = bytes_beside(s)};
}

static bool bloom_rows_of(rowwise *s, const rowwise_job *j, bloom_report *made, err *e) {
    const bloom_rows rows = rows_of(s);
    return bloom_tiled(j->bloom, &rows, made, e);
}

/* --- pictures ------------------------------------------------------------------------------- */

/* Finds the exposure that suits the result, of which nothing is kept. */
static bool find_exposure(rowwise *s, const rowwise_job *j, float *stops, err *e) {
    bloom_report *none = mem_new(1, sizeof *none, "a report", e);
    bool ok = none && image_header_copy(&s->own, &s->out, e) &&
              (s->picture = picture_rows_open(j->o, &s->own, NULL, NULL, e)) &&
              bloom_rows_of(s, j, none, e) && picture_rows_end(s->picture, stops, e);
    picture_rows_close(&s->picture);
    image_header_free(&s->own);
    mem_free(none);
    return ok;
}

/* Makes a picture of the image as it came. */
static bool show_before(rowwise *s, const char *path, float stops, picture_rows **to, err *e) {
    picture_rows *p = *to = picture_rows_open(s->o, &s->in, path, &stops, e);
    if (!p) return false;
    int part = picture_rows_part(p);
    const image_part *is = &s->in.part[part];
    uint32_t h = image_height(is), some = some_rows(is, image_reader_rows(s->from, part));
    void **plane = mem_new((size_t)is->channels, sizeof *plane, "planes", e);
    bool ok = plane != NULL;
    for (int c = 0; ok && c < is->channels; c++)
        if (picture_rows_wants(p, c))
            ok = (plane[c] = mem_raw((size_t)image_width(is) * some,
                                     pixel_bytes(is->channel[c].type), "rows", e));
    for (uint32_t y = 0; ok && y < h; y += some) {
        uint32_t rows = min_u32(some, h - y);
        ok = read_rows(s, part, y, rows, plane, e) &&
             picture_rows_add(p, rows, (const void *const *)plane, e);
    }
    ok = ok && picture_rows_end(p, &stops, e);
    for (int c = 0; plane && c < is->channels; c++) mem_free(plane[c]);
    mem_free(plane);
    return ok;
}

/* Makes the picture of the image before, and begins that of the result. */
static bool begin_picture(rowwise *s, const rowwise_job *j, float stops, err *e) {
    if (j->before && !show_before(s, j->before, stops, &s->a->before, e)) return false;
    log_info("'%s': developed with --exposure %.2f", j->o->path, (double)stops);
    s->picture = s->a->picture = picture_rows_open(j->o, &s->own, j->o->path, &stops, e);
    return s->picture != NULL;
}

bool rowwise_frame(rowwise_made *to, const rowwise_job *j, bloom_report *made, err *e) {
    rowwise s = {.o = j->o, .from = j->from, .a = to};
    *to = (rowwise_made){.load = 0};
    bool picture = output_is_picture(j->o->path);
    float stops = (float)j->o->s->exposure;
    bool ok = open_rowwise(&s, j->bloom, e) &&
              (!picture || !isnan(stops) || find_exposure(&s, j, &stops, e)) &&
              create(&s, j->glare, e) && (!picture || begin_picture(&s, j, stops, e)) &&
              bloom_rows_of(&s, j, made, e) && (!picture || picture_rows_end(s.picture, &stops, e));
    close_rowwise(&s);
    to->file = s.w;
    to->glare = s.glare;
    return ok;
}

bool rowwise_commit(rowwise_made *r, err *e) {
    return (!r->glare || image_commit(&r->glare, e)) &&
           (!r->before || picture_rows_commit(&r->before, e)) &&
           (r->picture ? picture_rows_commit(&r->picture, e) : image_commit(&r->file, e));
}

void rowwise_discard(rowwise_made *r) {
    image_discard(&r->glare);
    image_discard(&r->file);
    picture_rows_close(&r->before);
    picture_rows_close(&r->picture);
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
    rows.out.step = likely_step;
    ok = ok && bloom_tiling(b, &rows, t, e);
    close_rowwise(&s);
    return ok;
}
