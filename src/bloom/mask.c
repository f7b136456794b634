#include "bloom/mask.h"

#include "base/half.h"
#include "base/mem.h"
#include "base/number.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* --- the mask --------------------------------------------------------------------------------- */

static int find_in(const image_part *p, const char *name) {
    int at = image_find_channel(p, name), found = -1, count = 0;
    size_t n = strlen(name);
    for (int c = 0; c < p->channels; c++)
        if (strncmp(p->channel[c].name, name, n) == 0 && p->channel[c].name[n] == '.' &&
            !strchr(p->channel[c].name + n + 1, '.')) {
            found = c;
            count++;
        }
    return at >= 0 ? at : count == 1 ? found : -1;
}

int mask_find(const image_header *h, int *part, const char *name) {
    int c = find_in(&h->part[*part], name);
    for (int i = 0; c < 0 && i < h->parts; i++)
        if ((c = find_in(&h->part[i], name)) >= 0) *part = i;
    return c;
}

bool mask_missing(const char *name, err *e) {
    return err_set(e, ERR_USAGE,
                   "the mask '%s' is neither a channel of the image nor a layer with one channel",
                   name);
}

void mask_values(float *to, const void *plane, pixel_type t, size_t n) {
    image_to_float(to, plane, t, 0, n);
    for (size_t i = 0; i < n; i++) to[i] = clamp_float(to[i], 0, 1);
}

bool mask_make(mask *m, const image *img, int part, const char *name, err *e) {
    int c = mask_find(&img->head, &part, name);
    if (c < 0) return mask_missing(name, e);
    const image_part *p = &img->head.part[part];
    size_t n = (size_t)image_width(p) * image_height(p);
    *m = (mask){mem_raw(n, sizeof(float), "the mask", e), p->data};
    if (!m->value) return false;
    mask_values(m->value, img->plane[part][c], p->channel[c].type, n);
    return true;
}

void mask_free(mask *m) {
    mem_free(m->value);
    *m = (mask){0};
}

/* --- light that is set aside ------------------------------------------------------------------ */

/* Of a row of the part, the light that is spread. What is kept of a pixel that is not finite is
 * nothing, unless all of it is. */
static void take_row(float *rest, float *lit, const float *weight, size_t n) {
    for (size_t x = 0; x < n; x++) {
        float all = lit[x], w = weight ? weight[x] : 0;
        lit[x] = w > 0 ? w * all : 0;
        rest[x] = all;
        if (w > 0 && !isfinite(all)) rest[x] = 0;
    }
}

bool mask_take(mask_rest *rest, const mask *m, image *img, int part, const layer_group *g,
               bool alpha, err *e) {
    const image_part *p = &img->head.part[part];
    size_t w = image_width(p), h = image_height(p);
    float *weight = mem_new(w, sizeof *weight, "a row", e),
          *lit = mem_raw(w, sizeof *lit, "a row", e);
    bool ok = weight && lit;
    int channel[LAYER_MAX_CHANNELS], channels = 0;
    for (int c = 0; c < g->channels; c++) channel[channels++] = g->channel[c];
    if (alpha && g->alpha >= 0) channel[channels++] = g->alpha;
    for (int c = 0; ok && c < channels; c++)
        ok = (rest->plane[c] = mem_raw(w * h, sizeof(float), "light beside the mask", e)) != NULL;
    int64_t left = (int64_t)m->box.x0 - p->data.x0, width = (int64_t)m->box.x1 - m->box.x0 + 1;
    int64_t from = max_i64(left, 0), end = min_i64(left + width, (int64_t)w);
    for (size_t y = 0; ok && y < h; y++) {
        int64_t row = (int64_t)p->data.y0 + (int64_t)y - m->box.y0;
        bool inside = row >= 0 && row <= (int64_t)m->box.y1 - m->box.y0 && from < end;
        if (inside)
            memcpy(weight + from, m->value + row * width + (from - left),
                   (size_t)(end - from) * sizeof *weight);
        for (int c = 0; c < channels; c++) {
            pixel_type t = p->channel[channel[c]].type;
            void *plane = img->plane[part][channel[c]];
            float *aside = rest->plane[c] + y * w;
            image_to_float(lit, plane, t, y * w, w);
            take_row(aside, lit, inside ? weight : NULL, w);
            image_from_float(plane, t, y * w, lit, w);
            /* What the plane holds is spread, so that a half float's rounding loses no light. */
            image_to_float(lit, plane, t, y * w, w);
            for (size_t x = 0; x < w; x++)
                if (lit[x] != 0 && isfinite(lit[x])) aside[x] -= lit[x];
        }
    }
    mem_free(weight);
    mem_free(lit);
    return ok;
}

uint64_t mask_give(const mask_rest *rest, image *img, int part, const layer_group *g) {
    enum { BLOCK = 1024 };
    uint64_t over = 0;
    const image_part *p = &img->head.part[part];
    size_t n = (size_t)image_width(p) * image_height(p);
    float some[BLOCK];
    for (int c = 0; c < LAYER_MAX_CHANNELS && rest->plane[c]; c++) {
        int to = c < g->channels ? g->channel[c] : g->alpha;
        for (size_t at = 0; at < n; at += BLOCK) {
            size_t m = min_size(BLOCK, n - at);
            image_to_float(some, img->plane[part][to], p->channel[to].type, at, m);
            for (size_t i = 0; i < m; i++) {
                some[i] += rest->plane[c][at + i];
                if (p->channel[to].type != PIXEL_HALF || !(fabsf(some[i]) > HALF_MAX) ||
                    isinf(some[i]))
                    continue;
                some[i] = copysignf(HALF_MAX, some[i]);
                over++;
            }
            image_from_float(img->plane[part][to], p->channel[to].type, at, some, m);
        }
    }
    return over;
}

bool mask_may_clamp(const bloom_settings *s, uint64_t values, err *e) {
    if (!values || s->half_overflow == OVERFLOW_CLAMP) return true;
    return err_set(e, ERR_BAD_PIXELS,
                   "with the light that the mask holds back, %" PRIu64
                   " values of the result are beyond 65504, the largest that half floats hold; use "
                   "--half-overflow clamp or --pixel-type float to continue",
                   values);
}

void mask_rest_free(mask_rest *rest) {
    for (int c = 0; c < LAYER_MAX_CHANNELS; c++) mem_free(rest->plane[c]);
    *rest = (mask_rest){{NULL}};
}
