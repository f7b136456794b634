#include "app/run/output.h"

#include "base/file.h"
#include "base/half.h"
#include "base/log.h"
#include "base/mem.h"
#include "image/flat/png.h"
#include "image/flat/preview.h"
#include "image/layers.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <strings.h>

static size_t samples(const image_part *p) {
    return (size_t)image_width(p) * image_height(p);
}

/* Returns the channel as floats, to be freed with mem_free. */
static float *floats_of(const image *img, int part, int channel, err *e) {
    const image_part *p = &img->head.part[part];
    float *f = mem_raw(samples(p), sizeof *f, "pixels of another type", e);
    if (f) image_to_float(f, img->plane[part][channel], p->channel[channel].type, 0, samples(p));
    return f;
}

/* Puts floats in the channel's place, as `type`. Frees f, or makes it the plane. */
static bool store(image *img, int part, int channel, float *f, pixel_type type, err *e) {
    image_part *p = &img->head.part[part];
    void *plane = f;
    if (type != PIXEL_FLOAT) {
        plane = mem_raw(samples(p), pixel_bytes(type), "pixels of another type", e);
        if (plane) image_from_float(plane, type, 0, f, samples(p));
        mem_free(f);
    }
    if (!plane) return false;
    mem_free(img->plane[part][channel]);
    img->plane[part][channel] = plane;
    p->channel[channel].type = type;
    return true;
}

/* The channels of one group, with its alpha. */
typedef struct {
    image *img;
    int part, channels, channel[LAYER_MAX_CHANNELS + 1];
} group;

static pixel_type type_of(const group *g, int i) {
    return g->img->head.part[g->part].channel[g->channel[i]].type;
}

static bool widen(const group *g, const settings *s, uint64_t *clamped, err *e) {
    (void)s, (void)clamped;
    for (int i = 0; i < g->channels; i++) {
        if (type_of(g, i) != PIXEL_HALF) continue;
        float *f = floats_of(g->img, g->part, g->channel[i], e);
        if (!f || !store(g->img, g->part, g->channel[i], f, PIXEL_FLOAT, e)) return false;
    }
    return true;
}

static uint64_t count_over(const group *g) {
    const image_part *p = &g->img->head.part[g->part];
    uint64_t over = 0;
    for (int i = 0; i < g->channels; i++) {
        const float *v = g->img->plane[g->part][g->channel[i]];
        for (size_t k = 0; type_of(g, i) == PIXEL_FLOAT && k < samples(p); k++)
            over += fabsf(v[k]) > HALF_MAX && !isinf(v[k]);
    }
    return over;
}

/* Narrows what bloom left as float: alpha, and colour where nothing was convolved. */
static bool narrow(const group *g, const settings *s, uint64_t *clamped, err *e) {
    const image_part *p = &g->img->head.part[g->part];
    uint64_t over = count_over(g);
    if (over && s->bloom.half_overflow == OVERFLOW_FLOAT) return true; /* all stay of one type */
    if (over && s->bloom.half_overflow == OVERFLOW_ERROR)
        return err_set(e, ERR_BAD_PIXELS,
                       "layer of channel '%s': %llu values are beyond %g, the maximum of a "
                       "half float; use --half-overflow clamp or float to continue",
                       p->channel[g->channel[0]].name, (unsigned long long)over, HALF_MAX);
    for (int i = 0; i < g->channels; i++) {
        if (type_of(g, i) != PIXEL_FLOAT) continue;
        float *f = floats_of(g->img, g->part, g->channel[i], e);
        for (size_t k = 0; f && k < samples(p); k++)
            if (fabsf(f[k]) > HALF_MAX && !isinf(f[k])) f[k] = copysignf(HALF_MAX, f[k]);
        if (!f || !store(g->img, g->part, g->channel[i], f, PIXEL_HALF, e)) return false;
    }
    *clamped += over;
    return true;
}

static bool each_group(image *img, const settings *s, uint64_t *clamped,
                       bool (*change)(const group *, const settings *, uint64_t *, err *), err *e) {
    for (int part = 0; part < img->head.parts; part++) {
        layer_map m;
        if (!layer_map_make(&m, &img->head.part[part], s->bloom.layers, s->bloom.exclude, e))
            return false;
        bool ok = true;
        for (int i = 0; ok && i < m.groups; i++) {
            const layer_group *from = &m.group[i];
            group g = {.img = img, .part = part};
            for (; g.channels < from->channels; g.channels++)
                g.channel[g.channels] = from->channel[g.channels];
            if (from->alpha >= 0) g.channel[g.channels++] = from->alpha;
            ok = change(&g, s, clamped, e);
        }
        layer_map_free(&m);
        if (!ok) return false;
    }
    return true;
}

static bool is_png(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot && strcasecmp(dot, ".png") == 0;
}

image *output_load(image_reader **r, const settings *s, const char *path, err *e) {
    const image_header *h = image_reader_header(*r);
    bool *wanted = mem_new((size_t)h->parts, sizeof *wanted, "parts", e);
    bool ok = wanted != NULL, all = true;
    for (int part = 0; ok && part < h->parts; part++) {
        layer_map m;
        ok = layer_map_make(&m, &h->part[part], s->bloom.layers, s->bloom.exclude, e) ||
             err_in(e, "%s", image_reader_path(*r));
        if (!ok) break;
        wanted[part] = m.groups > 0 || is_png(path);
        all = all && wanted[part];
        layer_map_free(&m);
    }
    image *img = ok ? image_read_parts(*r, wanted, e) : NULL;
    mem_free(wanted);
    if (all) image_close(r);
    return img;
}

bool output_prepare(image *img, const settings *s, err *e) {
    uint64_t none = 0;
    for (int part = 0; s->packing && part < img->head.parts; part++)
        img->head.part[part].packing = (compression)(s->packing - 1);
    return s->pixels != PIXELS_FLOAT || each_group(img, s, &none, widen, e);
}

bool output_finish(image *img, const settings *s, uint64_t *clamped, err *e) {
    *clamped = 0;
    return s->pixels != PIXELS_HALF || each_group(img, s, clamped, narrow, e);
}

/* Says what a picture leaves out: once in a run, since all frames of a sequence are alike. */
static int choose_part(const char *path, const image *img) {
    static atomic_flag said = ATOMIC_FLAG_INIT;
    text left_out = {0};
    int part = preview_part(&img->head, &left_out);
    if (left_out.n && !atomic_flag_test_and_set(&said)) log_note("'%s': %s", path, left_out.s);
    text_free(&left_out);
    return part;
}

bool output_save(const char *path, const image *img, image_reader *rest, const settings *s,
                 par *threads, err *e) {
    if (!is_png(path))
        return image_save_parts(image_create(path, &img->head, s->clobber, threads, e), img, rest,
                                e);
    int part = choose_part(path, img);
    const preview_options o = {.part = part,
                               .width = UINT32_MAX,
                               .exposed = !isnan(s->exposure),
                               .stops = (float)s->exposure};
    preview_picture v = {0};
    size_t bytes;
    file_out *f = file_out_open(path, s->clobber, e);
    bool ok = f && preview_make(&v, img, &o, threads, e);
    uint8_t *png = ok ? png_encode(&(png_picture){v.pixel, v.width, v.height, 3}, &bytes, e) : NULL;
    ok = png && file_out_write(f, 0, png, bytes, e) && file_out_commit(&f, e);
    if (ok) log_info("'%s': developed with --exposure %.2f", path, (double)v.stops);
    file_out_discard(&f);
    mem_free(png);
    mem_free(v.pixel);
    return ok;
}
