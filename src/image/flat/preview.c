#include "image/flat/preview.h"

#include "base/mem.h"
#include "base/number.h"
#include "image/flat/flat.h"
#include "image/layers.h"

#include <math.h>
#include <string.h>

enum { WIDEST = 1920 };
/* The grey card of photography: the average becomes it, and the curve leaves it where it is. */
static const float MIDDLE_GREY = 0.18f;

typedef struct {
    flat_picture from;
    const void *const *plane; /* of its part */
    image_box shown;          /* the window that the picture shows */
    uint32_t width, height;   /* of the picture */
    bool convert;             /* from the part's primaries... */
    float matrix[3][3];       /* ...to those of Rec.709 */
    float *pixel;             /* R G B, linear, Rec.709 */
    float gain;               /* of the exposure; in logarithms, 1 / the brightest value */
    float decades;
    uint8_t *bytes;
} preview;

/* Fills the matrix from a part's primaries. White stays white. */
static void read_primaries(preview *v) {
    primaries is;
    matrix m;
    v->convert = v->from.colours == 3 && image_primaries(v->from.part, &is) &&
                 !primaries_same(&is, PRIMARIES_REC709) &&
                 primaries_convert(&m, &is, PRIMARIES_REC709);
    for (int i = 0; i < 9 && v->convert; i++) v->matrix[i / 3][i % 3] = (float)m.m[i / 3][i % 3];
}

/* --- fewer pixels --------------------------------------------------------------------------- */

/* Finds the rows or columns [start, end) of `length` that become number i of `count`. */
static void box_of(uint32_t i, uint32_t count, uint64_t length, int64_t *start, int64_t *end) {
    *start = (int64_t)(i * length / count);
    *end = (int64_t)((i + 1ull) * length / count);
}

typedef struct {
    double sum[3];
    uint64_t bad; /* pixels that are not finite, which are not averaged */
} box_sum;

/* Adds a row of the data window. */
static void add_row(const preview *v, const float *line, box_sum *box) {
    const image_part *p = v->from.part;
    int64_t width = image_width(p), left = (int64_t)p->data.x0 - v->shown.x0;
    uint64_t shown = (uint64_t)((int64_t)v->shown.x1 - v->shown.x0 + 1);
    for (uint32_t x = 0; x < v->width; x++) {
        int64_t from, end;
        box_of(x, v->width, shown, &from, &end);
        from = max_i64(from - left, 0), end = min_i64(end - left, width);
        for (; from < end; from++) {
            const float *s = line + 3 * from;
            bool good = isfinite(s[0]) && isfinite(s[1]) && isfinite(s[2]);
            for (int c = 0; good && c < 3; c++) box[x].sum[c] += s[c];
            box[x].bad += !good;
        }
    }
}

static bool shrink_row(void *ctx, size_t i, int worker, err *e) {
    (void)worker;
    preview *v = ctx;
    const image_part *p = v->from.part;
    int64_t width = image_width(p), height = image_height(p), y, end;
    int64_t above = (int64_t)p->data.y0 - v->shown.y0;
    uint64_t columns = (uint64_t)((int64_t)v->shown.x1 - v->shown.x0 + 1);
    box_of((uint32_t)i, v->height, (uint64_t)((int64_t)v->shown.y1 - v->shown.y0 + 1), &y, &end);
    float *line = mem_raw((size_t)width, 3 * sizeof *line, "a row", e);
    box_sum *box = mem_new(v->width, sizeof *box, "a row", e);
    bool ok = line && box;
    uint64_t rows = (uint64_t)(end - y);
    for (y = max_i64(y - above, 0), end = min_i64(end - above, height); ok && y < end; y++) {
        flat_get(line, 3, &v->from, v->plane, (size_t)y);
        add_row(v, line, box);
    }
    for (uint32_t x = 0; ok && x < v->width; x++) {
        float *to = v->pixel + 3 * (i * v->width + x), rgb[3];
        int64_t from, behind;
        box_of(x, v->width, columns, &from, &behind);
        uint64_t n = rows * (uint64_t)(behind - from) - box[x].bad;
        for (int c = 0; c < 3; c++) to[c] = n ? (float)(box[x].sum[c] / (double)n) : 0;
        memcpy(rgb, to, sizeof rgb);
        for (int c = 0; v->convert && c < 3; c++)
            to[c] = v->matrix[c][0] * rgb[0] + v->matrix[c][1] * rgb[1] + v->matrix[c][2] * rgb[2];
    }
    mem_free(box);
    mem_free(line);
    return ok;
}

/* --- exposure ------------------------------------------------------------------------------- */

static double luminance(const float *rgb) {
    return 0.2126 * (double)rgb[0] + 0.7152 * (double)rgb[1] + 0.0722 * (double)rgb[2];
}

/* Returns the exposure in stops that suits the picture. The mean of the logarithm of its lit pixels
 * becomes a middle grey, with three limits:
 *   - Beyond two stops of gain only a quarter more is given: a candle in the dark is a dark
 * picture.
 *   - But the brightest thousandth is brought to 1 at least, whatever unit the light is in.
 *   - The fewer pixels have light, the less they decide: a dot on black is white, not grey.
 * Pixels below a millionth of the brightest count as dark, since they may be nothing but rounding,
 * in a transform or in half floats. */
static float suitable_stops(const preview *v) {
    enum { BINS = 1024, BINS_PER_STOP = 8 };
    uint64_t count[BINS] = {0}, lit = 0, above = 0; /* a histogram of stops from middle grey */
    size_t n = (size_t)v->width * v->height;
    double peak = 0, mean = 0;
    for (size_t i = 0; i < n; i++) peak = fmax(peak, luminance(v->pixel + 3 * i));
    for (size_t i = 0; i < n; i++) {
        double y = luminance(v->pixel + 3 * i);
        if (!(y > peak * 0x1p-20)) continue;
        double stops = log2(y / (double)MIDDLE_GREY);
        count[(int)clamp_double(stops * BINS_PER_STOP + BINS / 2.0, 0, BINS - 1)]++;
        mean += stops;
        lit++;
    }
    if (lit == 0) return 0;
    mean /= (double)lit;
    /* The level that all but the brightest thousandth stay below. */
    int i = BINS;
    while (i > 0 && above <= (uint64_t)(1e-3 * (double)lit)) above += count[--i];
    double brightest = (i + 1.0 - BINS / 2.0) / BINS_PER_STOP;
    double wanted = -mean, share = (double)lit / ((double)v->width * v->height);
    double stops = wanted > 2 ? 2 + (wanted - 2) / 4 : wanted;
    stops *= fmin(1, share / 0.02);
    return (float)fmax(stops, fmin(wanted, 2.5 - brightest));
}

/* --- development ----------------------------------------------------------------------------- */

/* Applies a rational curve with a toe and a shoulder, fitted to the reference rendering of ACES by
 * K. Narkowicz (2016). The factor keeps middle grey where it is; 0 stays 0, 10 becomes 1. */
static float film(float x) {
    x *= 0.723171f;
    if (!(x > 0)) return 0;
    if (x > 1e6f) return 1;
    return min_float(1, x * (2.51f * x + 0.03f) / (x * (2.43f * x + 0.59f) + 0.14f));
}

static uint8_t to_byte(float v) {
    return (uint8_t)(clamp_float(v, 0, 1) * 255 + 0.5f);
}

static bool develop_row(void *ctx, size_t i, int worker, err *e) {
    (void)worker, (void)e;
    const preview *v = ctx;
    for (size_t x = 0; x < v->width; x++) {
        const float *from = v->pixel + 3 * (i * v->width + x);
        uint8_t *to = v->bytes + 3 * (i * v->width + x);
        /* The logarithm decides how bright a pixel is, and the colours keep their proportions. */
        float most = max_float(from[0], max_float(from[1], from[2]));
        float level = v->decades > 0 && most > 0 ? 1 + log10f(most * v->gain) / v->decades : 0;
        for (int k = 0; k < 3; k++)
            if (v->decades > 0)
                to[k] = level > 0 ? to_byte(level * flat_to_srgb(max_float(from[k] / most, 0))) : 0;
            else
                to[k] = to_byte(flat_to_srgb(film(from[k] * v->gain)));
    }
    return true;
}

/* --------------------------------------------------------------------------------------------- */

bool preview_make(preview_picture *to, const image *img, const preview_options *o, par *threads,
                  err *e) {
    const image_part *p = &img->head.part[o->part];
    layer_map m;
    if (!layer_map_make(&m, p, NULL, NULL, e)) return false;
    layer_group g = m.groups ? m.group[0] : (layer_group){0};
    layer_map_free(&m);
    if (!g.channels)
        return err_set(e, ERR_DATA, "there is no colour to make a preview of, only data");
    int last = g.channels - 1;
    preview v = {.from = {p, {g.channel[0], g.channel[last / 2], g.channel[last]}, g.channels, -1},
                 .plane = (const void *const *)img->plane[o->part],
                 .shown = o->whole ? p->data : p->display,
                 .decades = o->decades};
    read_primaries(&v);
    uint64_t w = (uint64_t)((int64_t)v.shown.x1 - v.shown.x0 + 1);
    uint64_t h = (uint64_t)((int64_t)v.shown.y1 - v.shown.y0 + 1);
    v.width = (uint32_t)min_u64(w, o->width ? o->width : WIDEST);
    v.height = (uint32_t)max_u64((h * v.width + w / 2) / w, 1);
    size_t n = (size_t)v.width * v.height;
    if (n > INT32_MAX / 6) /* as many as a PNG file may have */
        return err_set(e, ERR_DATA, "%u x %u pixels are too many for a picture", v.width, v.height);
    v.pixel = mem_raw(n, 3 * sizeof *v.pixel, "the preview", e);
    v.bytes = mem_raw(n, 3, "the preview", e);
    bool ok = v.pixel && v.bytes && par_for(threads, v.height, shrink_row, &v, e);
    float stops = o->stops;
    if (ok && v.decades > 0) {
        float most = 0;
        for (size_t i = 0; i < 3 * n; i++) most = max_float(most, v.pixel[i]);
        v.gain = 1 / most;
    } else if (ok) {
        if (!o->exposed) stops = suitable_stops(&v);
        v.gain = exp2f(stops);
    }
    ok = ok && par_for(threads, v.height, develop_row, &v, e);
    mem_free(v.pixel);
    if (ok)
        *to = (preview_picture){v.bytes, v.width, v.height, stops};
    else
        mem_free(v.bytes);
    return ok;
}

int preview_part(const image_header *h, text *left_out) {
    layer_map m = {0};
    int part = 0;
    /* Without an err a part that cannot be mapped is passed over; the picture's maker says why. */
    for (; part < h->parts; part++) {
        if (!layer_map_make(&m, &h->part[part], NULL, NULL, NULL)) continue;
        if (m.groups > 0) break;
        layer_map_free(&m);
    }
    if (part == h->parts) return 0;
    const image_part *p = &h->part[part];
    const layer_group *g = &m.group[0];
    int shown = g->channels + (g->alpha >= 0);
    if (left_out && h->parts > 1) text_add(left_out, "%d of %d parts", h->parts - 1, h->parts);
    if (left_out && p->channels > shown)
        text_add(left_out, "%s%d channels", left_out->n ? " and " : "", p->channels - shown);
    if (left_out && left_out->n) {
        text_add(left_out, " are left out: a picture shows the first colour layer");
        if (*g->name) text_add(left_out, ", ");
        text_add_clean(left_out, g->name);
    }
    layer_map_free(&m);
    return part;
}
