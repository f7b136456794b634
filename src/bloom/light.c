#include "bloom/light.h"

/* Puts floats of what is spread into planes (float *const *ctx). */
static void load_spread(const view *v, void *ctx, uint32_t c, size_t first, size_t n) {
    float *to = ((float *const *)ctx)[c] + first;
    image_to_float(to, *view_plane(v, c), v->type[c], first, n);
    join_spread_row(&v->spread, first, to, to, n);
}

/* Scans planes of these types. */
static bool scan_planes(light *l, const view *v, const void *const *plane, const pixel_type *type,
                        err *e) {
    const scan_request ask = {.w = v->size->need.w,
                              .h = v->size->need.h,
                              .channels = v->channels,
                              .plane = plane,
                              .type = type,
                              .histogram = true};
    scan_free(&l->own);
    l->scanned = &l->own;
    return scan_make(&l->own, &ask, v->threads, e);
}

bool light_find(light *l, const view *v, const scan *whole, err *e) {
    const void *plane[VIEW_CHANNELS];
    pixel_type type[VIEW_CHANNELS];
    *l = (light){.scanned = whole, .dark = v->dark};
    for (uint32_t c = 0; c < v->channels; c++) plane[c] = *view_plane(v, c);
    if (!whole && !scan_planes(l, v, plane, v->type, e)) return false;
    for (uint32_t c = 0; c < v->channels; c++)
        l->signs[c] = !v->size->nonnegative[c] || l->scanned->channel[c].least < 0;
    if (!v->all) { /* what is spread is less */
        if (!buffers_room(v->buf, v->channels, v->pixels * sizeof(float), e)) return false;
        for (uint32_t c = 0; c < v->channels; c++) {
            plane[c] = v->buf->plane[c];
            type[c] = PIXEL_FLOAT;
        }
        if (!view_blocks(v, load_spread, v->buf->plane, e) || !scan_planes(l, v, plane, type, e))
            return false;
    }
    for (uint32_t c = 0; c < v->channels; c++)
        l->nonnegative[c] = v->size->nonnegative[c] && l->scanned->channel[c].least >= 0;
    return true;
}

void light_free(light *l) {
    scan_free(&l->own);
}
