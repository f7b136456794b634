#include "app/output.h"

#include "base/mem.h"
#include "image/format.h"
#include "image/layers.h"
#include "image/preview.h"

#include <math.h>
#include <string.h>
#include <strings.h>

static const float HALF_MOST = 65504;

static size_t samples(const image_part *p) {
    return (size_t)image_width(p) * image_height(p);
}

/* The channel as floats; NULL with an error when there is no memory. */
static float *floats_of(const image *img, int part, int channel, err *e) {
    const image_part *p = &img->head.part[part];
    float *f = mem_raw(samples(p), sizeof *f, "pixels of another type", e);
    if (f) image_to_float(f, img->plane[part][channel], p->channel[channel].type, 0, samples(p));
    return f;
}

/* Puts floats in the channel's place, as `type`. Takes f. */
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

static bool widen(image *img, int part, int channel, const settings *s, uint64_t *clamped, err *e) {
    (void)s, (void)clamped;
    if (img->head.part[part].channel[channel].type != PIXEL_HALF) return true;
    float *f = floats_of(img, part, channel, e);
    return f && store(img, part, channel, f, PIXEL_FLOAT, e);
}

static bool narrow(image *img, int part, int channel, const settings *s, uint64_t *clamped,
                   err *e) {
    const image_part *p = &img->head.part[part];
    if (p->channel[channel].type != PIXEL_FLOAT) return true;
    float *f = floats_of(img, part, channel, e);
    if (!f) return false;
    uint64_t over = 0;
    for (size_t i = 0; i < samples(p); i++) {
        if (!(fabsf(f[i]) > HALF_MOST) || isinf(f[i])) continue;
        over++;
        f[i] = copysignf(HALF_MOST, f[i]);
    }
    if (over && s->bloom.half_overflow != OVERFLOW_CLAMP) {
        mem_free(f);
        return s->bloom.half_overflow == OVERFLOW_FLOAT ||
               err_set(e, ERR_BAD_PIXELS,
                       "channel '%s': %llu values are beyond 65504, the most that half holds; "
                       "--half-overflow clamp or float goes on",
                       p->channel[channel].name, (unsigned long long)over);
    }
    *clamped += over;
    return store(img, part, channel, f, PIXEL_HALF, e);
}

/* Calls `change` for every colour channel and its alpha. */
static bool each_colour(image *img, const settings *s, uint64_t *clamped,
                        bool (*change)(image *, int, int, const settings *, uint64_t *, err *),
                        err *e) {
    for (int part = 0; part < img->head.parts; part++) {
        layer_map m;
        if (!layer_map_make(&m, &img->head.part[part], s->bloom.layers, s->bloom.exclude, e))
            return false;
        bool ok = true;
        for (int g = 0; ok && g < m.groups; g++) {
            for (int c = 0; ok && c < m.group[g].channels; c++)
                ok = change(img, part, m.group[g].channel[c], s, clamped, e);
            if (ok && m.group[g].alpha >= 0)
                ok = change(img, part, m.group[g].alpha, s, clamped, e);
        }
        layer_map_free(&m);
        if (!ok) return false;
    }
    return true;
}

bool output_prepare(image *img, const settings *s, err *e) {
    uint64_t none = 0;
    for (int part = 0; s->packing && part < img->head.parts; part++)
        img->head.part[part].packing = (compression)(s->packing - 1);
    return s->pixels != PIXELS_FLOAT || each_colour(img, s, &none, widen, e);
}

bool output_finish(image *img, const settings *s, uint64_t *clamped, err *e) {
    *clamped = 0;
    return s->pixels != PIXELS_HALF || each_colour(img, s, clamped, narrow, e);
}

/* The first part with a colour group; the first at all where there is none, for its error. */
static int part_to_show(const image *img) {
    for (int i = 0; i < img->head.parts; i++) {
        layer_map m;
        if (!layer_map_make(&m, &img->head.part[i], NULL, NULL, NULL)) continue;
        int groups = m.groups;
        layer_map_free(&m);
        if (groups) return i;
    }
    return 0;
}

bool output_save(const char *path, const image *img, par *threads, err *e) {
    const char *dot = strrchr(path, '.');
    if (!dot || strcasecmp(dot, ".png") != 0) return image_save(path, img, threads, e);
    int part = part_to_show(img);
    return preview_write(path, &img->head.part[part], (const void *const *)img->plane[part],
                         threads, &(preview_options){.width = UINT32_MAX}, e);
}
