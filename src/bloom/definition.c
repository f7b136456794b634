#include "bloom/definition.h"

#include "base/half.h"
#include "base/mem.h"
#include "base/vector.h"

/* Rows are read from the last to the first, and fetched AHEAD rows before they are read, by lines
 * of the cache of LINE bytes. */
enum { AHEAD = 2, LINE = 64 };

/* Returns the parts of a value; `at` counts from the rows' first pixel. */
static join_parts parts_of(const definition_rows *r, size_t at, float v) {
    const double whole = (double)v + (r->lost ? (double)r->lost[at] : 0);
    return isfinite(v) ? join_parts_of(&r->spread, at, whole) : (join_parts){0, 0};
}

/* Fills `to` with what is spread of the pixels that a row of taps reads, from the last to the
 * first. y: of the rows at hand. */
static void load(double *to, const definition_rows *r, const psf *kernel, plan_border border,
                 uint32_t x, uint32_t y) {
    int64_t first = (int64_t)x + kernel->cx - (kernel->w - 1);
    /* The row's taps in [begin, end) read pixels of the image, the others its border. */
    uint32_t begin = (uint32_t)(first < 0 ? min_i64(-first, kernel->w) : 0),
             end = (uint32_t)max_i64(min_i64((int64_t)r->w - first, kernel->w), begin);
    size_t at = (size_t)y * r->w, bytes = pixel_bytes(r->type);
    float *v = (float *)(void *)(to + kernel->w);
    if (begin < end) {
        size_t inside = at + (size_t)(first + begin);
        for (size_t i = 0; y >= AHEAD && i < (end - begin) * bytes; i += LINE)
            __builtin_prefetch((const char *)r->plane + (inside - (size_t)AHEAD * r->w) * bytes +
                               i);
        image_to_float(v, r->plane, r->type, inside, end - begin);
        for (uint32_t i = begin; i < end; i++)
            to[i] = parts_of(r, inside + i - begin, v[i - begin]).spread;
    }
    for (uint32_t i = 0; i < kernel->w; i++) {
        if (i == begin) i = end;
        if (i == kernel->w) break;
        int64_t from = plan_place(border, r->w, first + i);
        to[i] = 0;
        if (from < 0) continue;
        image_to_float(v, r->plane, r->type, at + (size_t)from, 1);
        to[i] = parts_of(r, at + (size_t)from, *v).spread;
    }
}

typedef struct {
    vec4d sum[2], size[2]; /* size: without signs */
} sums;

/* Adds up the products of n taps and as many pixels, which are read backwards. */
VECTOR_INLINE void add_products(sums *to, const float *tap, const double *pixels, uint32_t n) {
    uint32_t i = 0;
    vec4d sum[2] = {to->sum[0], to->sum[1]}, size[2] = {to->size[0], to->size[1]};
    for (; i + 8 <= n; i += 8) {
        vec8f t = *(const vec8f_any *)(tap + i);
        vec4d p = *(const vec4d_any *)(pixels + n - 4 - i),
              q = *(const vec4d_any *)(pixels + n - 8 - i);
        vec4d a = VECTOR_DOUBLES(t, 0) * __builtin_shufflevector(p, p, 3, 2, 1, 0),
              b = VECTOR_DOUBLES(t, 4) * __builtin_shufflevector(q, q, 3, 2, 1, 0);
        sum[0] += a, sum[1] += b;
        size[0] += (vec4d)((vec4l)a & INT64_MAX), size[1] += (vec4d)((vec4l)b & INT64_MAX);
    }
    for (; i < n; i++) {
        double term = (double)tap[i] * pixels[n - 1 - i];
        sum[0][0] += term, size[0][0] += fabs(term);
    }
    *to = (sums){{sum[0], sum[1]}, {size[0], size[1]}};
}
VECTOR_WIDE static void add_wide(sums *to, const float *tap, const double *pixels, uint32_t n) {
    add_products(to, tap, pixels, n);
}
static void add_plain(sums *to, const float *tap, const double *pixels, uint32_t n) {
    add_products(to, tap, pixels, n);
}

static double total(const vec4d part[2]) {
    vec4d sum = part[0] + part[1];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* Multiplies pixels as load has them with the weights of a column of nodes. */
static void weigh(double *v, const double *weight, const psf *kernel, plan_border border,
                  uint32_t w, uint32_t x) {
    const int64_t first = (int64_t)x + kernel->cx - (kernel->w - 1);
    for (uint32_t i = 0; i < kernel->w; i++) {
        const int64_t from = plan_place(border, w, first + i);
        if (from >= 0) v[i] *= weight[from];
    }
}

/* Returns whether a column of nodes has weight in some pixel that a row of taps reads. */
static bool has_weight(const double *weight, const psf *kernel, plan_border border, uint32_t w,
                       uint32_t x) {
    const int64_t first = (int64_t)x + kernel->cx - (kernel->w - 1);
    for (uint32_t i = 0; i < kernel->w; i++) {
        const int64_t from = plan_place(border, w, first + i);
        if (from >= 0 && weight[from] > 0) return true;
    }
    return false;
}

/* Adds what the rows bring by one kernel: all of it, or a node's part. */
static bool add_kernel(definition_pixel *p, const definition_rows *r, const definition_kernel *k,
                       const psf *kernel, uint32_t node, uint32_t channel, err *e) {
    /* Of a row of taps: its pixels in double, and as floats. */
    OWN_MEM double *room = mem_raw(2 * (size_t)kernel->w, sizeof *room, "pixels to verify", e);
    if (!room) return false;
    if (kernel->channels == 1) channel = 0;
    const size_t first = (size_t)channel * kernel->w * kernel->h;
    const join_field *by = k->field ? k->field->weights : NULL;
    const double *across =
        by ? by->weight[PLAN_X] + (size_t)field_line(by->nodes, node, PLAN_X) * r->w : NULL;
    sums each = {.sum = {{0}}};
    if (by && !has_weight(across, kernel, k->border[PLAN_X], r->w, p->x)) return true;
    for (uint32_t q = 0; q < kernel->h; q++) {
        const size_t row = first + (size_t)q * kernel->w;
        double down = 1;
        int64_t y = plan_place(k->border[PLAN_Y], r->h, (int64_t)p->y + kernel->cy - q);
        if (y < r->first || y - r->first >= r->rows) continue;
        if (by)
            down =
                by->weight[PLAN_Y][(size_t)field_line(by->nodes, node, PLAN_Y) * r->h + (size_t)y];
        if (!(down > 0)) continue;
        load(room, r, kernel, k->border[PLAN_X], p->x, (uint32_t)(y - r->first));
        if (by) weigh(room, across, kernel, k->border[PLAN_X], r->w, p->x);
        for (uint32_t i = 0; by && i < kernel->w; i++) room[i] *= down;
        (vector_wide() ? add_wide : add_plain)(&each, kernel->tap + row, room, kernel->w);
        if (kernel->rest)
            (vector_wide() ? add_wide : add_plain)(&each, kernel->rest + row, room, kernel->w);
    }
    p->sum += kernel->scale[channel] * total(each.sum);
    p->size += fabs(kernel->scale[channel]) * total(each.size);
    return true;
}

static uint32_t nodes_of(const definition_kernel *k) {
    return k->field ? k->field->weights->count : 1;
}
static const psf *node_of(const definition_kernel *k, uint32_t node) {
    return k->field ? k->field->node[node] : k->kernel;
}

bool definition_add(definition_pixel *p, const definition_rows *r, const definition_kernel *k,
                    uint32_t channel, err *e) {
    for (uint32_t i = 0; i < nodes_of(k); i++)
        if (!add_kernel(p, r, k, node_of(k, i), i, channel, e)) return false;
    if (p->y < r->first || p->y - r->first >= r->rows) return true;
    float in;
    size_t at = (size_t)(p->y - r->first) * r->w + p->x;
    image_to_float(&in, r->plane, r->type, at, 1);
    p->bad = !isfinite(in);
    p->own = parts_of(r, at, in);
    return true;
}

definition_gain definition_gain_of(const definition_kernel *k, uint32_t channel, double sharpen,
                                   double tint, const definition_pixel *at) {
    double middle = 0;
    for (uint32_t i = 0; i < nodes_of(k); i++) {
        const psf *kernel = node_of(k, i);
        const uint32_t c = kernel->channels == 1 ? 0 : channel;
        const double by = k->field ? join_weight_at(k->field->weights, i, at->x, at->y) : 1;
        middle += by * kernel->scale[c] *
                  psf_tap(kernel, ((size_t)c * kernel->h + kernel->cy) * kernel->w + kernel->cx) *
                  (1 - sharpen);
    }
    return (definition_gain){.glare = (1 - sharpen) * tint, .own = sharpen + (1 - tint) * middle};
}

double definition_value(const definition_pixel *p, const definition_gain *gain) {
    return p->own.rest + gain->glare * p->sum + gain->own * p->own.spread;
}

double definition_rounding(const definition_pixel *p, const definition_kernel *k,
                           const definition_gain *gain) {
    double terms = k->field ? 16 : 8; /* weights round, too */
    for (uint32_t i = 0; i < nodes_of(k); i++)
        terms += (double)node_of(k, i)->w * node_of(k, i)->h / 8;
    double unit = 0x1p-53 * terms;
    return unit * (gain->glare * p->size + fabs(p->own.rest) +
                   fmax(1, fabs(gain->own)) * fabs(p->own.spread));
}

double definition_within(pixel_type t, double v) {
    return t == PIXEL_HALF ? clamp_double(v, -(double)HALF_MAX, (double)HALF_MAX) : v;
}

/* A half is a float before. */
double definition_rounds(pixel_type t, double v) {
    double of_float = fabs(v) * 0x1p-24 + 0x1p-149;
    return t == PIXEL_HALF ? fabs(v) * 0x1p-11 + 0x1p-25 + of_float : of_float;
}
