#include "bloom/light.h"

#include "base/number.h"
#include "base/vector.h"
#include "image/repair.h"

#include <math.h>
#include <string.h>

void light_load(const view *v, void *ctx, uint32_t c, size_t first, size_t n) {
    const bool *in_place = ctx;
    float *to = (float *)v->buf->plane[0][c] + first;
    if (in_place[c]) return;
    image_to_float(to, *view_plane(v, c), v->type[c], first, n);
    if (!v->all) join_spread_row(&v->spread, first, to, to, n);
}

uint32_t light_cell(const light *l, const view *v) {
    const sketch_kernel *k = &v->size->sketch;
    return l->close ? k->block / k->cells : k->block;
}

/* --- scanning -------------------------------------------------------------------------------- */

/* Returns the request for a scan of planes of these types. */
static scan_request request_of(const light *l, const view *v, const void *const *plane,
                               const pixel_type *type) {
    const session_size *size = v->size;
    return (scan_request){.w = size->need.w,
                          .h = size->need.h,
                          .channels = v->channels,
                          .plane = plane,
                          .type = type,
                          .block = light_cell(l, v),
                          .histogram = l->close,
                          .seen_x = size->seen[PLAN_X],
                          .seen_y = size->seen[PLAN_Y]};
}

static bool scan_image(light *l, const view *v, err *e) {
    const void *plane[VIEW_CHANNELS];
    for (uint32_t c = 0; c < v->channels; c++) plane[c] = *view_plane(v, c);
    scan_request ask = request_of(l, v, plane, v->type);
    scan_free(&l->scanned);
    return scan_make(&l->scanned, &ask, v->threads, e);
}

static bool scan_excess(light *l, const view *v, err *e) {
    bool in_place[VIEW_CHANNELS] = {0};
    const void *plane[VIEW_CHANNELS];
    pixel_type type[VIEW_CHANNELS];
    if (!buffers_room(v->buf, 0, v->channels, v->pixels * sizeof(float), e)) return false;
    for (uint32_t c = 0; c < v->channels; c++) {
        plane[c] = v->buf->plane[0][c];
        type[c] = PIXEL_FLOAT;
    }
    v->buf->loaded = true;
    scan_free(&l->scanned);
    scan_request ask = request_of(l, v, plane, type);
    return view_blocks(v, light_load, in_place, e) && scan_make(&l->scanned, &ask, v->threads, e);
}

static void find_dark(light *l, const view *v) {
    for (uint32_t c = 0; c < v->channels; c++) {
        const scan_channel *in = &l->scanned.channel[c];
        l->dark[c] = v->dark ? v->dark[c] : accuracy_dark(in);
        l->signs[c] = !v->size->nonnegative[c] || in->least < 0;
    }
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

typedef struct {
    light *l;
    const view *v;
} sketch_job;

static bool sketch_channel(void *ctx, size_t c, int worker, err *e) {
    const sketch_job *j = ctx;
    light *l = j->l;
    (void)worker;
    l->nonnegative[c] = j->v->size->nonnegative[c] && l->scanned.channel[c].least >= 0;
    const sketch_request r = {&j->v->size->sketch, &l->scanned, (uint32_t)c, l->close, j->v->kept};
    return sketch_make(&l->sketched[c], &r, e);
}

/* One row of this many stands for them, in pieces of some pixels. */
enum { SAMPLED = 16, PIECE = 128 };

/* The magnitudes of some pixels. */
typedef struct {
    float most, least;
    double sum;
} magnitudes;

static magnitudes magnitudes_of(const float *v, uint32_t n) {
    const vec8i SIZE = (vec8i){0} + INT32_MAX; /* all but the sign */
    vec8f most = {0}, least = most + (float)INFINITY, sum = {0};
    uint32_t i = 0;
    for (; i + 8 <= n; i += 8) {
        vec8f size = (vec8f)(*(const vec8i_any *)(v + i) & SIZE);
        most = VECTOR_PICK8(size > most, size, most);
        least = VECTOR_PICK8(size < least, size, least);
        sum += size;
    }
    magnitudes m = {0, INFINITY, 0};
    for (uint32_t k = 0; k < 8 && i; k++) {
        m.most = most[k] > m.most ? most[k] : m.most;
        m.least = least[k] < m.least ? least[k] : m.least;
        m.sum += (double)sum[k];
    }
    for (; i < n; i++) {
        float size = fabsf(v[i]);
        m.most = size > m.most ? size : m.most;
        m.least = size < m.least ? size : m.least;
        m.sum += (double)size;
    }
    return m;
}

/* Guesses whether the plain transform will not do, so that such an image is scanned once and not
 * twice. A wrong guess costs time. The noise is at least a unit of the brightest glare; the darkest
 * pixel is about its own light and some of the light around it. */
static bool is_lit(const view *v) {
    const kernel_tail *tail = &v->size->tail;
    for (uint32_t c = 0; c < v->channels; c++) {
        double most = 0, least = INFINITY, mean = INFINITY, spread = v->size->sums[c][0].sum;
        for (uint32_t y = tail->h % SAMPLED / 2; y < tail->h; y += SAMPLED)
            for (uint32_t x = 0, n; x < tail->w; x += n) {
                float piece[PIECE];
                n = min_u32(PIECE, tail->w - x);
                image_to_float(piece, *view_plane(v, c), v->type[c], (size_t)y * tail->w + x, n);
                magnitudes m = magnitudes_of(piece, n);
                most = fmax(most, (double)m.most);
                least = fmin(least, (double)m.least);
                mean = fmin(mean, m.sum / n);
            }
        double dark = tail->centre[tail_kernel(tail, c)] * least + spread * mean;
        if (0x1p-24 * spread * most > v->s->tolerance * dark) return true;
    }
    return false;
}

bool light_find(light *l, const view *v, bool ahead, err *e) {
    const bloom_settings *s = v->s;
    *l = (light){.close = !v->dark_outside || s->verify || !v->all ||
                          (s->precision != PRECISION_FLOAT64 && is_lit(v))};
    v->buf->loaded = false;
    if (!scan_image(l, v, e)) return false;
    for (uint32_t c = 0; c < v->channels; c++) l->sum[c] = l->scanned.channel[c].sum;
    if (l->scanned.bad) {
        l->bad_pixels = l->scanned.bad;
        memcpy(l->first_bad, l->scanned.first, sizeof l->first_bad);
        for (uint32_t c = 0; c < v->channels; c++) l->bad[c] = l->scanned.channel[c].bad;
        if (s->nan == NAN_ERROR && !ahead) return true;
        if (!repair(l, v, e)) return false;
    }
    find_dark(l, v);
    if (!v->all && !scan_excess(l, v, e)) return false;
    return par_for(v->threads, v->channels, sketch_channel, &(sketch_job){l, v}, e);
}

bool light_find_closely(light *l, const view *v, err *e) {
    if (l->close) return true;
    l->close = true;
    if (!scan_image(l, v, e)) return false;
    find_dark(l, v);
    return par_for(v->threads, v->channels, sketch_channel, &(sketch_job){l, v}, e);
}

void light_free(light *l) {
    scan_free(&l->scanned);
}
