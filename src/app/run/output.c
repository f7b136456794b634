#include "app/run/output.h"

#include "app/run/colours.h"
#include "app/run/stamp.h"
#include "base/file.h"
#include "base/half.h"
#include "base/log.h"
#include "base/mem.h"
#include "image/flat/png_rows.h"
#include "image/layers.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <strings.h>

/* --- pixel types -------------------------------------------------------------------------- */

/* The channels of one group, with its alpha. */
typedef struct {
    image *img;
    int part, channels, channel[LAYER_MAX_CHANNELS + 1];
} group;

static bool is_too_large(float v) {
    return fabsf(v) > HALF_MAX && !isinf(v);
}

/* Changes the channels of one type to another; halfs are clamped. */
static bool retype(const group *g, pixel_type from, pixel_type to, err *e) {
    image_part *p = &g->img->head.part[g->part];
    size_t n = (size_t)image_width(p) * image_height(p);
    for (int i = 0; i < g->channels; i++) {
        void **plane = &g->img->plane[g->part][g->channel[i]], *fresh;
        pixel_type *type = &p->channel[g->channel[i]].type;
        if (*type != from) continue;
        float *f = mem_raw(n, sizeof *f, "pixels of another type", e);
        if (!(fresh = f)) return false;
        image_to_float(f, *plane, from, 0, n);
        if (to == PIXEL_HALF) {
            for (size_t k = 0; k < n; k++)
                if (is_too_large(f[k])) f[k] = copysignf(HALF_MAX, f[k]);
            fresh = mem_raw(n, pixel_bytes(to), "pixels of another type", e);
            if (fresh) image_from_float(fresh, to, 0, f, n);
            mem_free(f);
        }
        if (!fresh) return false;
        mem_free(*plane);
        *plane = fresh;
        *type = to;
    }
    return true;
}

/* Narrows what bloom left as float: alpha, and colour where nothing was convolved. */
static bool narrow(const group *g, bloom_overflow policy, uint64_t *clamped, err *e) {
    const image_part *p = &g->img->head.part[g->part];
    size_t n = (size_t)image_width(p) * image_height(p);
    uint64_t over = 0;
    for (int i = 0; i < g->channels; i++) {
        const float *v = g->img->plane[g->part][g->channel[i]];
        if (p->channel[g->channel[i]].type != PIXEL_FLOAT) continue;
        for (size_t k = 0; k < n; k++) over += is_too_large(v[k]);
    }
    if (over && policy == OVERFLOW_FLOAT) return true; /* all stay of one type */
    if (over && policy == OVERFLOW_ERROR)
        return err_set(e, ERR_BAD_PIXELS,
                       "layer of channel '%s': %llu values are beyond %g, the maximum of a "
                       "half float; use --half-overflow clamp or float to continue",
                       p->channel[g->channel[0]].name, (unsigned long long)over, HALF_MAX);
    *clamped += over;
    return retype(g, PIXEL_FLOAT, PIXEL_HALF, e);
}

/* Changes all colour, with its alpha, to floats or to halfs. */
static bool retype_all(image *img, const settings *s, pixel_type to, uint64_t *clamped, err *e) {
    bool ok = true;
    for (int part = 0; ok && part < img->head.parts; part++) {
        layer_map m;
        if (!layer_map_make(&m, &img->head.part[part], s->bloom.layers, s->bloom.exclude, e))
            return false;
        for (int i = 0; ok && i < m.groups; i++) {
            const layer_group *from = &m.group[i];
            group g = {.img = img, .part = part, .channels = from->channels};
            for (int c = 0; c < from->channels; c++) g.channel[c] = from->channel[c];
            if (from->alpha >= 0) g.channel[g.channels++] = from->alpha;
            ok = to == PIXEL_FLOAT ? retype(&g, PIXEL_HALF, to, e)
                                   : narrow(&g, s->bloom.half_overflow, clamped, e);
        }
        layer_map_free(&m);
    }
    return ok;
}

bool output_types(image_header *h, const settings *s, pixel_type from, pixel_type to, err *e) {
    for (int part = 0; part < h->parts; part++) {
        layer_map m;
        image_channel *c = h->part[part].channel;
        if (!layer_map_make(&m, &h->part[part], s->bloom.layers, s->bloom.exclude, e)) return false;
        for (int i = 0; i < m.groups; i++) {
            const layer_group *g = &m.group[i];
            for (int k = 0; k < g->channels; k++)
                if (c[g->channel[k]].type == from) c[g->channel[k]].type = to;
            if (g->alpha >= 0 && c[g->alpha].type == from) c[g->alpha].type = to;
        }
        layer_map_free(&m);
    }
    return true;
}

void output_packing(image_header *h, const settings *s) {
    for (int p = 0; s->packing && p < h->parts; p++)
        h->part[p].packing = (compression)(s->packing - 1);
}

bool output_prepare(image *img, const settings *s, par *threads, err *e) {
    output_packing(&img->head, s);
    return (s->pixels != PIXELS_FLOAT || retype_all(img, s, PIXEL_FLOAT, NULL, e)) &&
           colours_to_linear(img, s, threads, e);
}

bool output_finish(image *img, const settings *s, uint64_t *clamped, par *threads, err *e) {
    *clamped = 0;
    bool picture = s->output && output_is_picture(s->output); /* converts by itself */
    return (picture || colours_for_output(img, s, threads, e)) &&
           (s->pixels != PIXELS_HALF || retype_all(img, s, PIXEL_HALF, clamped, e));
}

/* --- provenance --------------------------------------------------------------------------- */

bool output_is_stamped(const image_header *h) {
    for (int i = 0; i < h->parts; i++)
        if (image_find_attr(&h->part[i], "fftbloom:version")) return true;
    return false;
}

bool output_stamp(image_header *h, const settings *s, const char *input, err *e) {
    hash128 kernel;
    char hash[2][HASH_TEXT];
    text look = {0};
    const char *slash = strrchr(input, '/');
    if (!fingerprint_file(s->kernel, &kernel, e)) return false;
    fingerprint_settings(s, &look);
    hash_text(kernel, hash[0]);
    hash_text(hash_bytes(look.s, look.n), hash[1]);
    const char *const ATTR[][2] = {{"fftbloom:version", "fftbloom " VERSION},
                                   {"fftbloom:source", slash ? slash + 1 : input},
                                   {"fftbloom:kernel", hash[0]},
                                   {"fftbloom:settings", hash[1]},
                                   {"fftbloom:look", look.n ? look.s : "\n"}};
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof ATTR / sizeof ATTR[0]; i++)
        ok = image_set_attr(&h->part[0], ATTR[i][0], "string", ATTR[i][1],
                            (uint32_t)strlen(ATTR[i][1]), e);
    text_free(&look);
    return ok;
}

/* --- files -------------------------------------------------------------------------------- */

bool output_is_picture(const char *path) {
    const char *dot = strrchr(path, '.');
    return (dot && strcasecmp(dot, ".png") == 0) || strcmp(path, "png:-") == 0;
}

/* Decides which channels of a part are read. Data stays in the file where it takes more than the
 * colour beside it: it is unpacked once more when the result is written, which takes less time than
 * carrying it through memory. A few channels of data (depth) are not worth that. */
bool *output_channels(const output *o, const image_part *p, err *e) {
    bool *wanted = mem_new((size_t)p->channels, sizeof *wanted, "channels", e);
    layer_map m;
    if (!wanted || !layer_map_make(&m, p, o->s->bloom.layers, o->s->bloom.exclude, e)) {
        mem_free(wanted);
        return NULL;
    }
    bool picture = output_is_picture(o->path), colour = m.groups > 0;
    for (int i = 0; i < m.groups; i++) {
        const layer_group *g = &m.group[i];
        for (int c = 0; c < g->channels; c++) wanted[g->channel[c]] = true;
        if (g->alpha >= 0) wanted[g->alpha] = true;
    }
    /* Spaces change all layers of colour, and a mask may be any channel of any part. */
    bool changes = o->s->input_space || o->s->output_space || o->s->bloom.mask ||
                   o->s->bloom.per_layer;
    bool all = picture || changes ||
               (colour && (o->s->bloom.window != WINDOW_KEEP ||
                           image_bytes(p) <= 2 * image_channel_bytes(p, wanted)));
    for (int c = 0; all && c < p->channels; c++) wanted[c] = true;
    layer_map_free(&m);
    return wanted;
}

image *output_load(const output *o, image_reader **r, err *e) {
    const image_header *h = image_reader_header(*r);
    bool **wanted = mem_new((size_t)h->parts, sizeof *wanted, "parts", e);
    bool ok = wanted != NULL, all = true;
    for (int i = 0; ok && i < h->parts; i++) {
        const image_part *p = &h->part[i];
        ok = (wanted[i] = output_channels(o, p, e)) || err_in(e, "%s", image_reader_path(*r));
        if (!ok) break;
        bool some = memchr(wanted[i], true, (size_t)p->channels);
        all = all && !memchr(wanted[i], false, (size_t)p->channels);
        if (some) continue;
        mem_free(wanted[i]);
        wanted[i] = NULL;
    }
    image *img = ok ? image_read_parts(*r, wanted, e) : NULL;
    for (int i = 0; wanted && i < h->parts; i++) mem_free(wanted[i]);
    mem_free(wanted);
    if (img && all) image_close(r);
    return img;
}

preview_options output_view(const output *o, const image_header *h) {
    static atomic_flag said = ATOMIC_FLAG_INIT;
    text left_out = {0};
    preview_options as = {.part = preview_part(h, &left_out),
                          .width = UINT32_MAX,
                          .exposed = !isnan(o->s->exposure),
                          .stops = (float)o->s->exposure,
                          .on = o->screen};
    if (left_out.n && !atomic_flag_test_and_set(&said)) log_note("'%s': %s", o->path, left_out.s);
    text_free(&left_out);
    return as;
}

/* Writes a picture and tells in as->stops the exposure that it was developed with. */
static bool save_picture(const char *path, const output *o, const preview_light *l,
                         preview_options *as, err *e) {
    preview_picture v = {0};
    const png_size size = {l->width, l->height, 3};
    file_out *f = file_out_open(image_is_stream(path) ? "-" : path, o->s->clobber, e);
    bool ok = f && preview_develop(&v, l, as, o->threads, e);
    png_rows *png = ok ? png_rows_open(f, &size, o->threads, e) : NULL;
    ok = png && png_rows_add(png, v.pixel, v.height, e) && png_rows_end(png, e) &&
         file_out_commit(&f, e);
    as->stops = v.stops;
    png_rows_close(&png);
    file_out_discard(&f);
    mem_free(v.pixel);
    return ok;
}

bool output_take(const output *o, const image *img, preview_light *to, err *e) {
    const preview_options as = output_view(o, &img->head);
    return preview_take(to, img, &as, o->threads, e);
}

bool output_save(const output *o, const image *img, image_reader *rest, const output_before *before,
                 err *e) {
    if (!output_is_picture(o->path))
        return image_save_parts(image_create(o->path, &img->head, o->s->clobber, o->threads, e),
                                img, rest, e);
    preview_options as = output_view(o, &img->head);
    preview_light l = {0};
    bool ok = preview_take(&l, img, &as, o->threads, e);
    /* The exposure suits the output, so it is found first; the output's file is the last one. */
    if (ok && before->path) {
        if (!as.exposed) as.stops = preview_stops(&l);
        as.exposed = true;
        ok = save_picture(before->path, o, before->light, &as, e);
    }
    ok = ok && save_picture(o->path, o, &l, &as, e);
    mem_free(l.pixel);
    if (ok) log_info("'%s': developed with --exposure %.2f", o->path, (double)as.stops);
    return ok;
}

bool output_picture(const output *o, const image *img, preview_options *as, err *e) {
    preview_light l = {0};
    bool ok = preview_take(&l, img, as, o->threads, e) && save_picture(o->path, o, &l, as, e);
    mem_free(l.pixel);
    return ok;
}
