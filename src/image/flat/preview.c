#include "image/flat/preview.h"

#include "base/mem.h"
#include "image/flat/flat.h"
#include "image/flat/png.h"
#include "image/layers.h"

#include <math.h>
#include <string.h>

enum { WIDEST = 1920 };
/* What the average becomes: the grey card of photography. */
static const float MIDDLE_GREY = 0.18f;

typedef struct {
    const image_part *part;
    const void *const *plane;
    flat_picture from;
    uint32_t width, height; /* of the preview */
    float *pixel;           /* R G B A, linear */
    double weight[3];       /* of luminance */
    float exposure;
    uint8_t *bytes;
    int channels; /* of the PNG file: 3 or 4 */
} preview;

/* Rows or columns [start, end) of `length` that become number i of `count`. */
static void box_of(uint32_t i, uint32_t count, uint32_t length, uint32_t *start, uint32_t *end) {
    *start = (uint32_t)((uint64_t)i * length / count);
    *end = (uint32_t)(((uint64_t)i + 1) * length / count);
}

/* What is no number is not averaged. */
static void add_row(const preview *v, const float *line, double *sum, uint32_t *count) {
    uint32_t width = image_width(v->part);
    for (uint32_t x = 0; x < v->width; x++) {
        uint32_t x0, x1;
        box_of(x, v->width, width, &x0, &x1);
        for (; x0 < x1; x0++) {
            const float *s = line + 4 * x0;
            if (!isfinite(s[0]) || !isfinite(s[1]) || !isfinite(s[2]) || !isfinite(s[3])) continue;
            for (int c = 0; c < 4; c++) sum[4 * x + (uint32_t)c] += s[c];
            count[x]++;
        }
    }
}

static bool shrink_row(void *ctx, size_t i, int worker, err *e) {
    (void)worker;
    preview *v = ctx;
    uint32_t width = image_width(v->part), y0, y1;
    box_of((uint32_t)i, v->height, image_height(v->part), &y0, &y1);
    float *line = mem_raw(width, 4 * sizeof *line, "a row", e);
    double *sum = mem_new(v->width, 4 * sizeof *sum, "a row", e);
    uint32_t *count = mem_new(v->width, sizeof *count, "a row", e);
    bool ok = line && sum && count;
    for (; ok && y0 < y1; y0++) {
        flat_get(line, 4, &v->from, v->part, v->plane, (size_t)y0 * width, width);
        add_row(v, line, sum, count);
    }
    float *to = v->pixel + i * v->width * 4;
    for (uint32_t k = 0; ok && k < 4 * v->width; k++)
        to[k] = count[k / 4] ? (float)(sum[k] / count[k / 4]) : 0;
    mem_free(count);
    mem_free(sum);
    mem_free(line);
    return ok;
}

static double luminance(const preview *v, const float *rgb) {
    return v->weight[0] * rgb[0] + v->weight[1] * rgb[1] + v->weight[2] * rgb[2];
}

/* Over the pixels that have light: a black background says nothing about exposure. */
static float exposure_of(const preview *v, float stops) {
    double sum = 0;
    size_t n = (size_t)v->width * v->height, lit = 0;
    for (size_t i = 0; i < n; i++) {
        double y = luminance(v, v->pixel + 4 * i);
        if (!(y > 1e-9)) continue;
        sum += log(y);
        lit++;
    }
    float average = lit ? (float)exp(sum / (double)lit) : 1;
    return MIDDLE_GREY / average * exp2f(stops);
}

/* A rational curve with a toe and a shoulder, fitted to the reference rendering of ACES by
 * K. Narkowicz (2016). 0 stays 0, large values approach 1. */
static float film(float x) {
    if (!(x > 0)) return 0;
    if (x > 1e6f) return 1;
    float y = x * (2.51f * x + 0.03f) / (x * (2.43f * x + 0.59f) + 0.14f);
    return y < 1 ? y : 1;
}

static uint8_t to_byte(float v) {
    return (uint8_t)(fminf(fmaxf(v, 0), 1) * 255 + 0.5f);
}

static bool develop_row(void *ctx, size_t i, int worker, err *e) {
    (void)worker, (void)e;
    const preview *v = ctx;
    for (size_t x = 0; x < v->width; x++) {
        const float *from = v->pixel + 4 * (i * v->width + x);
        uint8_t *to = v->bytes + (size_t)v->channels * (i * v->width + x);
        float c[3], opacity = fminf(fmaxf(from[3], 0), 1);
        for (int k = 0; k < 3; k++) {
            c[k] = film(from[k] * v->exposure);
            opacity = fmaxf(opacity, c[k]);
        }
        for (int k = 0; k < 3; k++)
            to[k] = to_byte(flat_to_srgb(v->channels == 4 && opacity > 0 ? c[k] / opacity : c[k]));
        if (v->channels == 4) to[3] = to_byte(opacity);
    }
    return true;
}

/* The channels of the first group. */
static bool pick(preview *v, err *e) {
    layer_map m;
    if (!layer_map_make(&m, v->part, NULL, NULL, e)) return false;
    bool ok = m.groups > 0 ||
              err_set(e, ERR_DATA, "there is no colour to make a preview of, only data");
    if (ok) {
        const layer_group *g = &m.group[0];
        v->from.colours = g->channels;
        v->from.alpha = g->alpha;
        for (int k = 0; k < 3; k++) v->from.colour[k] = g->channel[g->channels == 3 ? k : 0];
    }
    layer_map_free(&m);
    return ok;
}

static void set_size(preview *v, uint32_t widest) {
    uint32_t w = image_width(v->part), h = image_height(v->part);
    v->width = w < widest ? w : widest;
    uint64_t rows = ((uint64_t)h * v->width + w / 2) / w;
    v->height = rows ? (uint32_t)rows : 1;
}

bool preview_make(preview_picture *to, const image_part *p, const void *const plane[], par *threads,
                  const preview_options *o, err *e) {
    preview v = {.part = p, .plane = plane};
    if (!pick(&v, e)) return false;
    image_luminance(p, v.weight);
    set_size(&v, o && o->width ? o->width : WIDEST);
    v.channels = v.from.alpha >= 0 ? 4 : 3;
    size_t n = (size_t)v.width * v.height;
    v.pixel = mem_raw(n, 4 * sizeof *v.pixel, "the preview", e);
    v.bytes = mem_raw(n, (size_t)v.channels, "the preview", e);
    bool ok = v.pixel && v.bytes && par_for(threads, v.height, shrink_row, &v, e);
    if (ok) v.exposure = o && o->exposure > 0 ? o->exposure : exposure_of(&v, o ? o->stops : 0);
    ok = ok && par_for(threads, v.height, develop_row, &v, e);
    mem_free(v.pixel);
    if (ok)
        *to = (preview_picture){v.bytes, v.width, v.height, v.channels, v.exposure};
    else
        mem_free(v.bytes);
    return ok;
}

bool preview_write(const char *path, const image_part *p, const void *const plane[], par *threads,
                   const preview_options *o, err *e) {
    preview_picture v;
    if (!preview_make(&v, p, plane, threads, o, e)) return false;
    bool ok = png_write(path, v.pixel, v.width, v.height, v.channels, e);
    mem_free(v.pixel);
    return ok;
}
