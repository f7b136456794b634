#include "image/flat/preview.h"

#include "base/mem.h"
#include "base/steady.h"
#include "image/flat/flat.h"
#include "image/layers.h"

enum { WIDEST = 1920 };
/* The grey card of photography: the average becomes it, and the curve leaves it where it is. */
static const float MIDDLE_GREY = 0.18f;

typedef struct {
    flat_picture from;
    const void *const *plane; /* of its part */
    image_box shown;          /* the window that the picture shows */
    bool convert;             /* from the part's primaries... */
    matrix to;                /* ...to those of the screen */
    preview_light made;
} taking;

/* Fills in the matrix from a part's primaries to the screen's. White stays white. */
static void choose_primaries(taking *v, const primaries *wanted) {
    primaries gamut;
    matrix xyz;
    bool known = image_primaries(v->from.part, &gamut);
    if (!wanted) wanted = &gamut;
    v->convert = v->from.colours == 3 && (known || wanted != PRIMARIES_REC709) &&
                 !primaries_same(&gamut, wanted) && primaries_convert(&v->to, &gamut, wanted);
    if (primaries_same(wanted, PRIMARIES_REC709) || !primaries_to_xyz(&xyz, wanted))
        memcpy(v->made.luminance, (double[]){0.2126, 0.7152, 0.0722}, sizeof v->made.luminance);
    else
        memcpy(v->made.luminance, xyz.m[1], sizeof v->made.luminance);
}

/* Finds the rows or columns [start, end) of `length` that become number i of `count`. */
static void box_of(uint32_t i, uint32_t count, uint64_t length, int64_t *start, int64_t *end) {
    *start = (int64_t)(i * length / count);
    *end = (int64_t)((i + 1ull) * length / count);
}

typedef struct {
    double sum[3];
    uint64_t bad; /* pixels that are not finite, which are not averaged */
} box_sum;

static void add_row(const taking *v, const float *line, box_sum *box) {
    const image_part *p = v->from.part;
    int64_t width = image_width(p), left = (int64_t)p->data.x0 - v->shown.x0;
    uint64_t shown = image_box_width(&v->shown);
    for (uint32_t x = 0; x < v->made.width; x++) {
        int64_t from, end;
        box_of(x, v->made.width, shown, &from, &end);
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
    taking *v = ctx;
    const image_part *p = v->from.part;
    int64_t width = image_width(p), height = image_height(p), y, end;
    int64_t above = (int64_t)p->data.y0 - v->shown.y0;
    uint64_t columns = image_box_width(&v->shown);
    box_of((uint32_t)i, v->made.height, image_box_height(&v->shown), &y, &end);
    OWN_MEM float *line = mem_raw((size_t)width, 3 * sizeof *line, "a row", e);
    OWN_MEM box_sum *box = mem_new(v->made.width, sizeof *box, "a row", e);
    if (!line || !box) return false;
    uint64_t rows = (uint64_t)(end - y);
    for (y = max_i64(y - above, 0), end = min_i64(end - above, height); y < end; y++) {
        flat_get(line, 3, &v->from, v->plane, (size_t)y);
        add_row(v, line, box);
    }
    for (uint32_t x = 0; x < v->made.width; x++) {
        float *to = v->made.pixel + 3 * (i * v->made.width + x);
        int64_t from, behind;
        box_of(x, v->made.width, columns, &from, &behind);
        uint64_t n = rows * (uint64_t)(behind - from) - box[x].bad;
        for (int c = 0; c < 3; c++) to[c] = n ? (float)(box[x].sum[c] / (double)n) : 0;
        double rgb[3] = {(double)to[0], (double)to[1], (double)to[2]};
        if (v->convert) matrix_apply(rgb, &v->to, rgb);
        for (int c = 0; v->convert && c < 3; c++) to[c] = (float)rgb[c];
    }
    return true;
}

uint64_t preview_bytes(uint64_t width, uint64_t height) {
    const uint64_t light = 3 * sizeof(float), made = 3;
    return width * height * (light + made);
}

static double luminance(const preview_light *l, size_t pixel) {
    const float *rgb = l->pixel + 3 * pixel;
    const double *w = l->luminance;
    return w[0] * (double)rgb[0] + w[1] * (double)rgb[1] + w[2] * (double)rgb[2];
}

enum { BINS = 1024, BINS_PER_STOP = 8 };

static int bin_of(double stops) {
    return (int)clamp_double(stops * BINS_PER_STOP + BINS / 2.0, 0, BINS - 1);
}

static double stops_of(double luminance) {
    return steady_log(luminance / (double)MIDDLE_GREY) / M_LN2;
}

/* The mean of the logarithm of its lit pixels becomes a middle grey, with three limits:
 *   - Of a gain only a quarter is given: what was made dark is night, or a candle in a room.
 *   - But the brightest thousandth is brought to 1 at least, whatever unit the light is in.
 *   - The fewer pixels have light, the less they decide: a dot on black is white, not grey.
 * Pixels more than 20 stops below the brightest count as dark, since they may be nothing but
 * rounding, in a transform or in half floats. */
float preview_stops(const preview_light *l) {
    const size_t pixels = (size_t)l->width * l->height;
    uint64_t lit = 0, above = 0,
             count[BINS] = {0};                 /* of lit pixels, by stops from a middle grey, */
    double mean = 0, peak = 0, sum[BINS] = {0}; /* and the sum of these */
    for (size_t i = 0; i < pixels; i++) {
        double y = luminance(l, i);
        if (!(y > 0)) continue;
        double stops = stops_of(y);
        peak = fmax(peak, y);
        count[bin_of(stops)]++;
        sum[bin_of(stops)] += stops;
    }
    for (int i = bin_of(stops_of(peak) - 20); peak > 0 && i < BINS; i++) {
        lit += count[i];
        mean += sum[i];
    }
    if (lit == 0) return 0;
    mean /= (double)lit;
    /* The level that all but the brightest thousandth stay below. */
    int i = BINS;
    while (i > 0 && above <= (uint64_t)(1e-3 * (double)lit)) above += count[--i];
    double brightest = (i + 1.0 - BINS / 2.0) / BINS_PER_STOP;
    double wanted = -mean, share = (double)lit / (double)pixels;
    double stops = wanted > 0 ? wanted / 4 : wanted;
    stops *= fmin(1, share / 0.02);
    return (float)fmax(stops, fmin(wanted, 2.5 - brightest));
}

typedef struct {
    const preview_light *from;
    const screen *on;
    float gain; /* of the exposure */
    uint8_t *bytes;
} developing;

/* Returns noise between -1 and 1 of a triangular distribution. It follows from the place alone, so
 * a picture has the same bytes in every run. The mixing is that of xxHash's 32 bits. */
static float noise_at(uint32_t x, uint32_t y) {
    uint32_t h = x * 2654435761u + y * 2246822519u;
    h = (h ^ h >> 15) * 2246822519u;
    h = (h ^ h >> 13) * 3266489917u;
    h ^= h >> 16;
    return ((float)(h & 0xffff) - (float)(h >> 16)) / 65536;
}

/* Returns the byte of a value with noise of up to one step, so that gradients show no bands. Values
 * that are a step already keep it: black stays black, and a picture of 8 bits stays as it is. */
static uint8_t to_byte_with(float noise, float v) {
    float step = clamp_float(v, 0, 1) * 255, near = floorf(step + 0.5f);
    if (fabsf(step - near) < 1e-3f) return (uint8_t)near;
    return (uint8_t)clamp_float(floorf(step + noise + 0.5f), 0, 255);
}

static bool develop_row(void *ctx, size_t i, int worker, err *e) {
    const developing *d = ctx;
    size_t n = 3 * (size_t)d->from->width;
    const float *from = d->from->pixel + i * n;
    uint8_t *to = d->bytes + i * n;
    OWN_MEM float *line = mem_raw(n, sizeof *line, "a row", e);
    if (!line) return false;
    for (size_t k = 0; k < n; k++) line[k] = from[k] * d->gain;
    if (!screen_show(d->on, line, n / 3, e)) return false;
    for (uint32_t x = 0; x < d->from->width; x++) {
        float noise = noise_at(x, (uint32_t)i);
        for (uint32_t k = 3 * x; k < 3 * x + 3; k++) to[k] = to_byte_with(noise, line[k]);
    }
    return true;
}

bool preview_develop(preview_picture *to, const preview_light *l, const preview_options *o,
                     par *threads, err *e) {
    size_t n = (size_t)l->width * l->height;
    const float stops = o->exposed ? o->stops : preview_stops(l);
    developing d = {.from = l, .on = o->on ? o->on : SCREEN_FILM, .gain = exp2f(stops)};
    if (!(d.bytes = mem_raw(n, 3, "the preview", e))) return false;
    if (!par_for(threads, l->height, develop_row, &d, e)) return mem_free(d.bytes), false;
    *to = (preview_picture){d.bytes, l->width, l->height, stops};
    return true;
}

bool preview_may_have(uint64_t width, uint64_t height, err *e) {
    if (width <= 1 << 30 && height <= (1 << 30) / width) return true;
    return err_set(e, ERR_DATA,
                   "%" PRIu64 " x %" PRIu64
                   " pixels are too many for a picture, which has 2^30 at the most",
                   width, height);
}

bool preview_take(preview_light *to, const image *img, const preview_options *o, par *threads,
                  err *e) {
    const image_part *p = &img->head.part[o->part];
    OWN(layer_map) m = {0};
    if (!layer_map_make(&m, p, NULL, NULL, e)) return false;
    if (!m.groups)
        return err_set(e, ERR_DATA, "there is no colour to make a preview of, only data");
    const int count = m.group[0].channels, *c = m.group[0].channel;
    taking v = {.from = {p, {c[0], c[(count - 1) / 2], c[count - 1]}, count, -1},
                .plane = (const void *const *)img->plane[o->part],
                .shown = o->whole ? p->data : p->display};
    choose_primaries(&v, screen_primaries(o->on ? o->on : SCREEN_FILM));
    uint64_t w = image_box_width(&v.shown), h = image_box_height(&v.shown);
    v.made.width = (uint32_t)min_u64(w, o->width ? o->width : WIDEST);
    v.made.height = (uint32_t)max_u64((h * v.made.width + w / 2) / w, 1);
    size_t n = (size_t)v.made.width * v.made.height;
    if (!preview_may_have(v.made.width, v.made.height, e)) return false;
    v.made.pixel = to->pixel ? to->pixel : mem_raw(n, 3 * sizeof *v.made.pixel, "the preview", e);
    bool ok = v.made.pixel && par_for(threads, v.made.height, shrink_row, &v, e);
    if (!ok && !to->pixel) mem_free(v.made.pixel);
    if (ok) *to = v.made;
    return ok;
}

bool preview_make(preview_picture *to, const image *img, const preview_options *o, par *threads,
                  err *e) {
    preview_light l = {0};
    bool ok = preview_take(&l, img, o, threads, e) && preview_develop(to, &l, o, threads, e);
    mem_free(l.pixel);
    return ok;
}

int preview_part(const image_header *h, text *left_out) {
    OWN(layer_map) m = {0};
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
    const int parts = h->parts - 1, more = p->channels - g->channels - (g->alpha >= 0);
    if (left_out && parts) text_add(left_out, "%d of %d parts", parts, h->parts);
    if (left_out && more > 0)
        text_add(left_out, "%s%d channel%s", parts ? " and " : "", more, more == 1 ? "" : "s");
    if (left_out && left_out->n) {
        text_add(left_out, " %s left out: a picture shows the first colour layer",
                 parts + more == 1 ? "is" : "are");
        if (*g->name) text_add(left_out, ", ");
        text_add_clean(left_out, g->name);
    }
    return part;
}
