#include "image/recode.h"

#include "base/half.h"
#include "base/mem.h"
#include "base/steady.h"
#include "image/layers.h"

enum { BLOCK = 256 };

typedef struct {
    const recode *how;
    const image_part *part;
    void *const *plane;
    const layer_map *layers;
} job;

static bool is_thin(double alpha) {
    return alpha > 0 && alpha < 1;
}

static void undo_codes(const recode *r, double v[3], int count, double alpha) {
    for (int c = 0; c < count; c++) {
        if (is_thin(alpha)) v[c] /= alpha;
        if (r->undo) v[c] = r->undo->encode(r->undo, v[c]);
        v[c] = r->decode->decode(r->decode, v[c]);
    }
}

static void make_codes(const recode *r, double v[3], int count, double alpha) {
    for (int c = 0; c < count; c++) {
        v[c] = r->encode->encode(r->encode, v[c]);
        if (is_thin(alpha)) v[c] *= alpha;
    }
}

/* Lights are raised as their highest value is: from 2 % below white on, by a curve whose slope has
 * no step. */
static void raise(double v[3], double stops) {
    const double at = (fmax(v[0], fmax(v[1], v[2])) - 0.98) / 0.02, part = fmin(fmax(at, 0), 1),
                 gain = steady_exp(0.69314718055994531 * stops * part * part * (3 - 2 * part));
    for (int c = 0; c < 3; c++) v[c] *= gain;
}

void recode_colour(const recode *r, double v[3], int count, double alpha) {
    undo_codes(r, v, count, alpha);
    if (r->stops > 0) raise(v, r->stops);
    if (r->converts && count == 3) matrix_apply(v, &r->convert, v);
    make_codes(r, v, count, alpha);
}

/* A negative weight of the matrix takes from the lowest where the other is the highest. */
void recode_between(const recode *r, double low[3], double high[3], int count, double alpha) {
    undo_codes(r, low, count, alpha);
    undo_codes(r, high, count, alpha);
    if (r->converts && count == 3) {
        double least[3] = {0}, most[3] = {0};
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++) {
                double m = r->convert.m[c][k];
                least[c] += m * (m < 0 ? high : low)[k];
                most[c] += m * (m < 0 ? low : high)[k];
            }
        memcpy(low, least, sizeof least);
        memcpy(high, most, sizeof most);
    }
    make_codes(r, low, count, alpha);
    make_codes(r, high, count, alpha);
}

const primaries_row *recode_primaries(const colour_space *space) {
    return space->primaries_named || space->curve != CURVE_LINEAR ? space->primaries : NULL;
}

bool recode_to(recode *how, const image_part *p, const colour_space *space, err *e) {
    primaries now;
    const primaries_row *to = recode_primaries(space);
    *how = (recode){.decode = CURVE_LINEAR, .encode = space->curve, .convert = MATRIX_IDENTITY};
    image_primaries(p, &now);
    if (!to || primaries_same(&now, &to->gamut)) return true;
    how->converts = true;
    return primaries_convert(&how->convert, &now, &to->gamut) ||
           err_set(e, ERR_DATA,
                   "its primaries cannot be converted to %s; correct or remove its chromaticities",
                   to->title);
}

static void change_block(const job *j, const layer_group *g, size_t first, size_t n) {
    if (!j->plane[g->channel[0]]) return; /* it was left in its file */
    float colour[3][BLOCK], alpha[BLOCK];
    for (int c = 0; c < g->channels; c++) {
        int from = g->channel[c];
        image_to_float(colour[c], j->plane[from], j->part->channel[from].type, first, n);
    }
    for (size_t i = 0; i < n; i++) alpha[i] = 1;
    if (g->alpha >= 0)
        image_to_float(alpha, j->plane[g->alpha], j->part->channel[g->alpha].type, first, n);
    for (size_t i = 0; i < n; i++) {
        double v[3] = {0};
        for (int c = 0; c < g->channels; c++) v[c] = (double)colour[c][i];
        recode_colour(j->how, v, g->channels, (double)alpha[i]);
        for (int c = 0; c < g->channels; c++) colour[c][i] = (float)v[c];
    }
    for (int c = 0; c < g->channels; c++) {
        int to = g->channel[c];
        pixel_type type = j->part->channel[to].type;
        for (size_t i = 0; type == PIXEL_HALF && i < n; i++)
            if (fabsf(colour[c][i]) > HALF_MAX) colour[c][i] = copysignf(HALF_MAX, colour[c][i]);
        image_from_float(j->plane[to], type, first, colour[c], n);
    }
}

static bool change_row(void *ctx, size_t y, int worker, err *e) {
    const job *j = ctx;
    size_t width = image_width(j->part);
    for (int g = 0; g < j->layers->groups; g++)
        for (size_t x = 0; x < width; x += BLOCK)
            change_block(j, &j->layers->group[g], y * width + x, min_size(BLOCK, width - x));
    return true;
}

bool recode_part(image *img, int part, const recode *how, par *threads, err *e) {
    const image_part *p = &img->head.part[part];
    OWN(layer_map) layers = {0};
    if (!layer_map_make(&layers, p, NULL, NULL, e)) return false;
    job j = {.how = how, .part = p, .plane = img->plane[part], .layers = &layers};
    return par_for(threads, image_height(p), change_row, &j, e);
}
