#include "image/recode.h"

#include "base/half.h"
#include "base/number.h"
#include "image/layers.h"

#include <string.h>

enum { BLOCK = 256 };

typedef struct {
    const recode *how;
    const image_part *part;
    void *const *plane;
    layer_map layers;
    bool converts; /* the matrix is not that of nothing */
} job;

/* Changes one colour of `count` values. */
static void change(const job *j, double v[3], int count, double alpha) {
    const recode *r = j->how;
    bool thin = alpha > 0 && alpha < 1;
    for (int c = 0; c < count; c++) {
        if (thin) v[c] /= alpha;
        if (r->undo) v[c] = r->undo->encode(r->undo, v[c]);
        v[c] = r->decode->decode(r->decode, v[c]);
    }
    if (j->converts && count == 3) matrix_apply(v, &r->convert, v);
    for (int c = 0; c < count; c++) {
        v[c] = r->encode->encode(r->encode, v[c]);
        if (thin) v[c] *= alpha;
    }
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
        change(j, v, g->channels, (double)alpha[i]);
        for (int c = 0; c < g->channels; c++) colour[c][i] = (float)v[c];
    }
    for (int c = 0; c < g->channels; c++) {
        int to = g->channel[c];
        pixel_type type = j->part->channel[to].type;
        for (size_t i = 0; type == PIXEL_HALF && i < n; i++)
            if (colour[c][i] > HALF_MAX || colour[c][i] < -HALF_MAX)
                colour[c][i] = clamp_float(colour[c][i], -HALF_MAX, HALF_MAX);
        image_from_float(j->plane[to], type, first, colour[c], n);
    }
}

static bool change_row(void *ctx, size_t y, int worker, err *e) {
    (void)worker, (void)e;
    const job *j = ctx;
    size_t width = image_width(j->part);
    for (int g = 0; g < j->layers.groups; g++)
        for (size_t x = 0; x < width; x += BLOCK)
            change_block(j, &j->layers.group[g], y * width + x, min_size(BLOCK, width - x));
    return true;
}

bool recode_part(image *img, int part, const recode *how, par *threads, err *e) {
    const image_part *p = &img->head.part[part];
    job j = {.how = how,
             .part = p,
             .plane = img->plane[part],
             .converts = memcmp(&how->convert, &MATRIX_IDENTITY, sizeof how->convert) != 0};
    if (!layer_map_make(&j.layers, p, NULL, NULL, e)) return false;
    bool ok = par_for(threads, image_height(p), change_row, &j, e);
    layer_map_free(&j.layers);
    return ok;
}
