#include "bloom/prove.h"

#include "base/half.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/vector.h"
#include "math/reference.h"

#include <math.h>

/* --- which pixels ---------------------------------------------------------------------------- */

enum { PROVED = 4 }; /* of each channel, at most */

typedef struct {
    uint32_t channel, x, y;
    double got, want, rounding;
} pixel;

typedef struct {
    const view *v;
    const outcome *o;
    const double *dark;
    tail_kept kept;
    uint32_t count, end; /* end: of the channel's */
    pixel at[PROVED * VIEW_CHANNELS];
} choice;

static double result_at(const choice *p, uint32_t c, uint32_t x, uint32_t y) {
    size_t at = (size_t)y * p->v->size->need.w + x;
    float v;
    if (!p->o->half[c]) return (double)p->o->out[c][at];
    image_to_float(&v, p->o->half[c], PIXEL_HALF, at, 1);
    return (double)v;
}

static double size_at(const choice *p, uint32_t c, uint32_t x, uint32_t y) {
    return fabs(result_at(p, c, x, y));
}

static bool is_kept(const choice *p, int64_t x, int64_t y) {
    const tail_kept *k = &p->kept;
    return x >= k->x && y >= k->y && x < (int64_t)k->x + k->w && y < (int64_t)k->y + k->h;
}

static void add(choice *p, uint32_t c, uint32_t x, uint32_t y) {
    if (p->count < p->end) p->at[p->count++] = (pixel){.channel = c, .x = x, .y = y};
}

/* Adds the darkest pixel of a row, of those that something is promised for. */
static void add_darkest(choice *p, uint32_t c, uint32_t y) {
    uint32_t darkest = UINT32_MAX;
    for (uint32_t x = p->kept.x; x < p->kept.x + p->kept.w; x++) {
        double size = size_at(p, c, x, y);
        if (size >= p->dark[c] && (darkest == UINT32_MAX || size < size_at(p, c, darkest, y)))
            darkest = x;
    }
    if (darkest != UINT32_MAX) add(p, c, darkest, y);
}

static uint32_t brightest(const choice *p, uint32_t c, uint32_t y) {
    uint32_t most = p->kept.x;
    for (uint32_t x = most; x < p->kept.x + p->kept.w; x++)
        if (size_at(p, c, x, y) > size_at(p, c, most, y)) most = x;
    return most;
}

/* Adds the darkest places where errors of a bright pixel gather, half a transform away and a
 * quarter of one. */
static void add_ghosts(choice *p, uint32_t c, uint32_t x, uint32_t y) {
    const plan *is = &p->o->lease.plan;
    int64_t across = is->axis[is->first == PLAN_X ? 0 : 1].length,
            down = is->axis[is->first == PLAN_X ? 1 : 0].length;
    bool taken[16] = {true};
    for (;;) {
        int best = 0;
        int64_t best_x = 0, best_y = 0;
        for (int i = 1; i < 16; i++) {
            int64_t gx = (x + i % 4 * across / 4) % across, gy = (y + i / 4 * down / 4) % down;
            if (taken[i] || !is_kept(p, gx, gy)) continue;
            if (!best || size_at(p, c, (uint32_t)gx, (uint32_t)gy) <
                             size_at(p, c, (uint32_t)best_x, (uint32_t)best_y))
                best = i, best_x = gx, best_y = gy;
        }
        if (!best || p->count == p->end) return;
        taken[best] = true;
        add(p, c, (uint32_t)best_x, (uint32_t)best_y);
    }
}

/* --- comparing ------------------------------------------------------------------------------- */

/* Rows are read from the last to the first, and fetched AHEAD rows before they are read, by lines
 * of the cache of LINE bytes. */
enum { AHEAD = 2, LINE = 64 };

/* Fills `to` with what is spread of the pixels that a row of taps reads, from the last to the
 * first. */
static void load(float *to, const view *v, const pixel *p, uint32_t y) {
    const psf *k = &v->size->kernel;
    uint32_t w = v->size->need.w, c = p->channel;
    int64_t first = (int64_t)p->x + k->cx - (k->w - 1);
    /* The row's taps from `begin` to before `end` read pixels of the image, the others its border.
     */
    uint32_t begin = (uint32_t)(first < 0 ? min_i64(-first, k->w) : 0),
             end = (uint32_t)max_i64(min_i64((int64_t)w - first, k->w), begin);
    const void *plane = *view_plane(v, c);
    size_t at = (size_t)y * w, bytes = pixel_bytes(v->type[c]);
    if (begin < end) {
        size_t inside = at + (size_t)(first + begin);
        for (size_t i = 0; y >= AHEAD && i < (end - begin) * bytes; i += LINE)
            __builtin_prefetch((const char *)plane + (inside - (size_t)AHEAD * w) * bytes + i);
        image_to_float(to + begin, plane, v->type[c], inside, end - begin);
    }
    for (uint32_t i = 0; i < k->w; i++) {
        if (i == begin) i = end;
        if (i == k->w) break;
        int64_t x = reference_source(first + i, w, v->s->border[PLAN_X]);
        to[i] = 0;
        if (x >= 0) image_to_float(to + i, plane, v->type[c], at + (size_t)x, 1);
    }
    if (!v->all) join_excess_row(&v->excess, to, to, k->w);
}

typedef struct {
    vec4d sum[2], size[2]; /* size: without signs */
} sums;

/* Adds up the products of n taps and as many pixels, which are read backwards. Those of two floats
 * are exact. */
VECTOR_INLINE void add_products(sums *to, const float *tap, const float *pixels, uint32_t n) {
    uint32_t i = 0;
    vec4d sum[2] = {to->sum[0], to->sum[1]}, size[2] = {to->size[0], to->size[1]};
    for (; i + 8 <= n; i += 8) {
        vec8f t = *(const vec8f_any *)(tap + i), p = *(const vec8f_any *)(pixels + n - 8 - i);
        p = __builtin_shufflevector(p, p, 7, 6, 5, 4, 3, 2, 1, 0);
        vec4d a = VECTOR_DOUBLES(t, 0) * VECTOR_DOUBLES(p, 0),
              b = VECTOR_DOUBLES(t, 4) * VECTOR_DOUBLES(p, 4);
        sum[0] += a, sum[1] += b;
        size[0] += (vec4d)((vec4l)a & INT64_MAX), size[1] += (vec4d)((vec4l)b & INT64_MAX);
    }
    for (; i < n; i++) {
        double term = (double)tap[i] * (double)pixels[n - 1 - i];
        sum[0][0] += term, size[0][0] += fabs(term);
    }
    *to = (sums){{sum[0], sum[1]}, {size[0], size[1]}};
}
VECTOR_WIDE static void add_wide(sums *to, const float *tap, const float *pixels, uint32_t n) {
    add_products(to, tap, pixels, n);
}
static void add_plain(sums *to, const float *tap, const float *pixels, uint32_t n) {
    add_products(to, tap, pixels, n);
}

static double total(const vec4d part[2]) {
    vec4d sum = part[0] + part[1];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* Sums the definition for a pixel. `row` has room for a row of taps. */
static void sum_directly(pixel *p, const view *v, float *row) {
    const psf *k = &v->size->kernel;
    uint32_t c = p->channel, kernel = k->channels == 1 ? 0 : c, h = v->size->need.h;
    const float *tap = k->tap + (size_t)kernel * k->w * k->h;
    sums all = {.sum = {{0}}};
    for (uint32_t q = 0; q < k->h; q++, tap += k->w) {
        int64_t y = reference_source((int64_t)p->y + k->cy - q, h, v->s->border[PLAN_Y]);
        if (y < 0) continue;
        load(row, v, p, (uint32_t)y);
        (vector_wide() ? add_wide : add_plain)(&all, tap, row, k->w);
    }
    float in;
    image_to_float(&in, *view_plane(v, c), v->type[c], (size_t)p->y * v->size->need.w + p->x, 1);
    double spread = join_excess_of(&v->excess, (double)in), scale = k->scale[kernel];
    double bloomed = scale * total(all.sum);
    p->want = (double)in - spread + (1 - v->sharpen) * bloomed + v->sharpen * spread;
    double unit = 0x1p-53 * ((double)k->w * k->h / 8 + 8) + (v->all ? 0 : 0x1p-24);
    p->rounding = unit * fabs(scale * (1 - v->sharpen)) * total(all.size);
}

static bool compare(void *ctx, size_t i, int worker, err *e) {
    choice *p = ctx;
    pixel *at = &p->at[i];
    (void)worker;
    float *row = mem_raw(p->v->size->kernel.w, sizeof *row, "pixels to prove", e);
    if (!row) return false;
    at->got = result_at(p, at->channel, at->x, at->y);
    sum_directly(at, p->v, row);
    if (p->o->half[at->channel]) { /* these have no values beyond */
        at->want = clamp_double(at->want, -(double)HALF_MAX, (double)HALF_MAX);
        at->rounding += fabs(at->want) * 0x1p-11 + 0x1p-25;
    }
    mem_free(row);
    return true;
}

/* Returns a pixel's error in parts of what may be expected: the prediction, the rounding of the
 * result to its type, and that of the sum that it is compared with. What is beyond floats is
 * refused when it is stored. */
static double part_of(const pixel *p, const accuracy *method, double dark) {
    if (!isfinite(p->got)) return 0;
    double off = fabs(p->got - p->want), size = fabs(p->want);
    double predicted = method->error[p->channel] + accuracy_relative(method) * fmax(size, dark);
    return off > 0 ? off / (predicted + 0x1p-24 * size + 0x1p-149 + p->rounding) : 0;
}

/* Seconds of one product, on one core, most of which is waiting for memory; and the part of the
 * transform that all of them may take. */
static const double PRODUCT = 2e-9, PART = 0.04;

bool prove(proof *to, const view *v, const outcome *o, const accuracy *method, const double *dark,
           double seconds, err *e) {
    const psf *k = &v->size->kernel;
    uint32_t w = v->size->need.w, h = v->size->need.h;
    double some = PART * seconds / (PRODUCT * k->w * k->h * v->channels);
    uint32_t most = some < 1 ? 1 : some < PROVED ? (uint32_t)some : PROVED;
    choice p = {
        .v = v, .o = o, .dark = dark, .kept = v->tile ? v->tile->kept : (tail_kept){0, 0, w, h}};
    for (uint32_t c = 0; c < v->channels; c++) {
        uint32_t bright = o->stats[c].bright_row, dark_row = o->stats[c].dark_row;
        p.end = p.count + most;
        bool dark_too = is_kept(&p, p.kept.x, dark_row), ghosts_first = c % 2; /* if one is all */
        if (dark_too && !ghosts_first) add_darkest(&p, c, dark_row);
        if (is_kept(&p, p.kept.x, bright)) add_ghosts(&p, c, brightest(&p, c, bright), bright);
        if (dark_too && ghosts_first) add_darkest(&p, c, dark_row);
    }
    *to = (proof){.pixels = p.count};
    if (!par_for(v->threads, p.count, compare, &p, e)) return false;
    for (uint32_t i = 0; i < p.count; i++) {
        const pixel *at = &p.at[i];
        double part = part_of(at, method, dark[at->channel]);
        if (i && !(part > to->worst)) continue;
        *to = (proof){p.count, part, at->channel, at->x, at->y, at->got, at->want};
    }
    return true;
}
