#include "bloom/light.h"

#include "image/repair.h"

#include <math.h>
#include <string.h>

/* Puts floats of what is spread into planes (float *const *ctx). */
static void load_spread(const view *v, void *ctx, uint32_t c, size_t first, size_t n) {
    float *to = ((float *const *)ctx)[c] + first;
    image_to_float(to, *view_plane(v, c), v->type[c], first, n);
    if (!v->all) join_spread_row(&v->spread, first, to, to, n);
}

/* --- scanning -------------------------------------------------------------------------------- */

/* Returns the request for a scan of planes of these types. */
static scan_request request_of(const view *v, const void *const *plane, const pixel_type *type) {
    const session_size *size = v->size;
    return (scan_request){.w = size->need.w,
                          .h = size->need.h,
                          .channels = v->channels,
                          .plane = plane,
                          .type = type,
                          .histogram = true};
}

static bool scan_image(light *l, const view *v, err *e) {
    const void *plane[VIEW_CHANNELS];
    for (uint32_t c = 0; c < v->channels; c++) plane[c] = *view_plane(v, c);
    scan_request ask = request_of(v, plane, v->type);
    scan_free(&l->scanned);
    return scan_make(&l->scanned, &ask, v->threads, e);
}

static bool scan_excess(light *l, const view *v, err *e) {
    const void *plane[VIEW_CHANNELS];
    pixel_type type[VIEW_CHANNELS];
    if (!buffers_room(v->buf, v->channels, v->pixels * sizeof(float), e)) return false;
    for (uint32_t c = 0; c < v->channels; c++) {
        plane[c] = v->buf->plane[c];
        type[c] = PIXEL_FLOAT;
    }
    scan_free(&l->scanned);
    scan_request ask = request_of(v, plane, type);
    return view_blocks(v, load_spread, v->buf->plane, e) &&
           scan_make(&l->scanned, &ask, v->threads, e);
}

/* --- bad pixels ------------------------------------------------------------------------------ */

static bool repair(light *l, const view *v, err *e) {
    const kernel_need *need = &v->size->need;
    for (uint32_t c = 0; c < v->channels; c++) {
        double added;
        if (!l->bad[c]) continue;
        const repair_request r = {.plane = *view_plane(v, c),
                                  .type = v->type[c],
                                  .w = need->w,
                                  .h = need->h,
                                  .interpolate = v->s->nan == NAN_INTERPOLATE};
        if (!repair_plane(&added, &r, v->threads, e)) return false;
        l->bad_light[c] = -added;
    }
    return scan_image(l, v, e);
}

/* --- all of it ------------------------------------------------------------------------------- */

bool light_find(light *l, const view *v, bool ahead, err *e) {
    const bloom_settings *s = v->s;
    *l = (light){0};
    if (!scan_image(l, v, e)) return false;
    for (uint32_t c = 0; c < v->channels; c++) l->sum[c] = l->scanned.channel[c].sum;
    if (l->scanned.bad) {
        l->bad_pixels = l->scanned.bad;
        memcpy(l->first_bad, l->scanned.first, sizeof l->first_bad);
        for (uint32_t c = 0; c < v->channels; c++) l->bad[c] = l->scanned.channel[c].bad;
        if (s->nan == NAN_ERROR && !ahead) return true;
        if (!repair(l, v, e)) return false;
    }
    for (uint32_t c = 0; c < v->channels; c++) {
        const scan_channel *in = &l->scanned.channel[c];
        bool halfs = bloom_stores_halfs(s, v->floats, v->type[c]);
        l->dark[c] = v->dark ? v->dark[c] : accuracy_dark(in, halfs);
        l->signs[c] = !v->size->nonnegative[c] || in->least < 0;
    }
    if (!v->all && !scan_excess(l, v, e)) return false;
    for (uint32_t c = 0; c < v->channels; c++)
        l->nonnegative[c] = v->size->nonnegative[c] && l->scanned.channel[c].least >= 0;
    return true;
}

void light_free(light *l) {
    scan_free(&l->scanned);
}
