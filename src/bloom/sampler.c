#include "bloom/sampler.h"

#include "base/half.h"
#include "base/mem.h"
#include "base/vector.h"
#include "bloom/view.h"

/* --- which pixels ---------------------------------------------------------------------------- */

typedef struct {
    const sampler_tile *t;
    sampler_pixel *pixel;
    size_t count, room;
    uint64_t seed;
} choice;

static uint32_t by_chance(choice *c, uint64_t below) {
    return (uint32_t)(random_next(&c->seed) % below);
}

static void add(choice *c, uint32_t channel, int64_t x, int64_t y) {
    const sampler_tile *t = c->t;
    if (c->count == c->room || x < 0 || y < 0 || x >= t->across || y >= t->down) return;
    uint32_t first = t->together ? 0 : channel, end = t->together ? t->channels : channel + 1;
    for (uint32_t k = first; k < end; k++) {
        float v;
        image_to_float(&v, t->plane[k], t->type[k], (size_t)y * t->w + t->x + (size_t)x, 1);
        c->pixel[c->count++] = (sampler_pixel){
            t->first + k, {.x = t->x + (uint32_t)x, .y = t->y + (uint32_t)y}, (double)v, 1};
    }
}

/* Holds, for each cell of the tile, the darkest result that something is promised for and the
 * brightest pixel. They are sorted, so that the first ones come from all over the tile. */
typedef struct {
    float v;
    uint32_t channel, x, y; /* of the tile */
} extreme;

static int darker_first(const void *a, const void *b) {
    float x = ((const extreme *)a)->v, y = ((const extreme *)b)->v;
    return (x > y) - (x < y);
}

enum { CELL = 16 };

/* Two lists, [0] dark and [1] bright (negated), of *count cells each. */
static extreme *find_extremes(const sampler_tile *t, size_t *count, err *e) {
    size_t across = ceil_div_u32(t->across, CELL), down = ceil_div_u32(t->down, CELL);
    size_t n = across * down * t->channels;
    extreme *list = mem_raw(2 * n, sizeof *list, "pixels to verify", e);
    float *got = mem_raw(t->across, sizeof *got, "pixels to verify", e);
    for (size_t i = 0; list && got && i < 2 * n; i++)
        list[i] = (extreme){i < n ? INFINITY : 0, UINT32_MAX, 0, 0};
    for (uint32_t c = 0; list && got && c < t->channels; c++)
        for (uint32_t y = 0; y < t->down; y++) {
            size_t cells = (c * down + y / CELL) * across;
            image_to_float(got, t->plane[c], t->type[c], (size_t)y * t->w + t->x, t->across);
            for (uint32_t x = 0; x < t->across; x++) {
                extreme *dark = &list[cells + x / CELL], *bright = dark + n;
                float size = fabsf(got[x]);
                if ((double)size >= t->dark[c] && size < dark->v) *dark = (extreme){size, c, x, y};
                if (-size < bright->v) *bright = (extreme){-size, c, x, y};
            }
        }
    if (!got) mem_free(list), list = NULL;
    mem_free(got);
    for (int i = 0; list && i < 2; i++) qsort(list + i * n, n, sizeof *list, darker_first);
    *count = n;
    return list;
}

/* Rounding errors that repeat make copies of what is bright, half a transform away and half of
 * that; and its neighbours have the largest numbers cancel. */
static void add_around(choice *c, const extreme *p) {
    static const int STEP[][2] = {{1, 0}, {0, 1}, {-1, -1}, {2, -2}};
    int64_t half_x = c->t->length[0] / 2, half_y = c->t->length[1] / 2;
    for (int i = 0; i < 4; i++)
        add(c, p->channel, (int64_t)p->x + STEP[i][0], (int64_t)p->y + STEP[i][1]);
    for (int sign = -1; sign <= 1; sign += 2) {
        add(c, p->channel, (int64_t)p->x + sign * half_x, p->y);
        add(c, p->channel, p->x, (int64_t)p->y + sign * half_y);
        add(c, p->channel, (int64_t)p->x + sign * half_x / 2, p->y);
    }
}

static void add_borders(choice *c, size_t n) {
    const sampler_tile *t = c->t;
    const int64_t right = (int64_t)t->across - 1, bottom = (int64_t)t->down - 1;
    for (uint32_t k = 0; k < t->channels; k++)
        for (int i = 0; i < 4; i++) add(c, k, i & 1 ? right : 0, i & 2 ? bottom : 0);
    for (size_t i = 0; i < n; i++) {
        const uint32_t k = by_chance(c, t->channels), x = by_chance(c, t->across),
                       y = by_chance(c, t->down);
        add(c, k, !(i & 1) ? x : i & 2 ? right : 0, i & 1 ? y : i & 2 ? bottom : 0);
    }
}

static bool add_hardest(choice *c, size_t n, err *e) {
    size_t cells, end = c->count + n / 2;
    extreme *list = find_extremes(c->t, &cells, e);
    if (!list) return false;
    for (extreme *p = list; p < list + cells && c->count < end && p->channel != UINT32_MAX; p++)
        add(c, p->channel, p->x, p->y);
    end = c->count + n / 4;
    for (extreme *p = list + cells;
         p < list + 2 * cells && c->count < end && p->channel != UINT32_MAX; p++)
        add_around(c, p);
    mem_free(list);
    add_borders(c, c->room - c->count);
    return true;
}

bool sampler_look(sampler *s, const sampler_tile *t, err *e) {
    choice c = {.t = t, .count = s->count, .seed = ((uint64_t)t->y << 32 | t->x) + 1};
    if (!t->count) return true;
    uint32_t each = t->together ? t->channels : 1, places = ceil_div_u32(t->count, each);
    const uint64_t all = (uint64_t)t->across * t->down * t->channels;
    c.room = s->count + (size_t)min_u64(2 * (uint64_t)places * each, all);
    c.pixel = mem_raw(c.room, sizeof *c.pixel, "pixels to verify", e);
    if (!c.pixel) return false;
    for (size_t i = 0; i < s->count; i++) c.pixel[i] = s->pixel[i];
    const bool each_once = c.room == s->count + all;
    for (uint32_t k = 0; each_once && k < (t->together ? 1 : t->channels); k++)
        for (uint32_t y = 0; y < t->down; y++)
            for (uint32_t x = 0; x < t->across; x++) add(&c, k, x, y);
    for (uint32_t i = 0; !each_once && i < places; i++) {
        const uint32_t k = by_chance(&c, t->channels), x = by_chance(&c, t->across);
        add(&c, k, x, by_chance(&c, t->down));
    }
    bool ok = each_once || add_hardest(&c, t->count, e);
    mem_free(s->pixel);
    *s = (sampler){c.pixel, c.count};
    return ok;
}

void sampler_free(sampler *s) {
    mem_free(s->pixel);
    *s = (sampler){0};
}

/* --- the definition --------------------------------------------------------------------------- */

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
static void load(double *to, const definition_rows *r, const definition_kernel *k, uint32_t x,
                 uint32_t y) {
    const psf *is = k->kernel;
    int64_t first = (int64_t)x + is->cx - (is->w - 1);
    /* The row's taps in [begin, end) read pixels of the image, the others its border. */
    uint32_t begin = (uint32_t)(first < 0 ? min_i64(-first, is->w) : 0),
             end = (uint32_t)max_i64(min_i64((int64_t)r->w - first, is->w), begin);
    size_t at = (size_t)y * r->w, bytes = pixel_bytes(r->type);
    float *v = (float *)(void *)(to + is->w);
    if (begin < end) {
        size_t inside = at + (size_t)(first + begin);
        for (size_t i = 0; y >= AHEAD && i < (end - begin) * bytes; i += LINE)
            __builtin_prefetch((const char *)r->plane + (inside - (size_t)AHEAD * r->w) * bytes +
                               i);
        image_to_float(v, r->plane, r->type, inside, end - begin);
        for (uint32_t i = begin; i < end; i++)
            to[i] = parts_of(r, inside + i - begin, v[i - begin]).spread;
    }
    for (uint32_t i = 0; i < is->w; i++) {
        if (i == begin) i = end;
        if (i == is->w) break;
        int64_t from = plan_place(k->border[PLAN_X], r->w, first + i);
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

bool definition_add(definition_pixel *p, const definition_rows *r, const definition_kernel *k,
                    uint32_t channel, err *e) {
    const psf *is = k->kernel;
    /* Of a row of taps: its pixels in double, and as floats. */
    double *room = mem_raw(2 * (size_t)is->w, sizeof *room, "pixels to verify", e);
    if (!room) return false;
    if (is->channels == 1) channel = 0;
    const size_t first = (size_t)channel * is->w * is->h;
    sums all = {.sum = {{0}}};
    for (uint32_t q = 0; q < is->h; q++) {
        const size_t row = first + (size_t)q * is->w;
        int64_t y = plan_place(k->border[PLAN_Y], r->h, (int64_t)p->y + is->cy - q);
        if (y < r->first || y - r->first >= r->rows) continue;
        load(room, r, k, p->x, (uint32_t)(y - r->first));
        (vector_wide() ? add_wide : add_plain)(&all, is->tap + row, room, is->w);
        if (is->rest) (vector_wide() ? add_wide : add_plain)(&all, is->rest + row, room, is->w);
    }
    p->sum += is->scale[channel] * total(all.sum);
    p->size += fabs(is->scale[channel]) * total(all.size);
    mem_free(room);
    if (p->y < r->first || p->y - r->first >= r->rows) return true;
    float in;
    size_t at = (size_t)(p->y - r->first) * r->w + p->x;
    image_to_float(&in, r->plane, r->type, at, 1);
    p->bad = !isfinite(in);
    p->own = parts_of(r, at, in);
    return true;
}

definition_gain definition_gain_of(const psf *k, uint32_t channel, double sharpen, double tint) {
    const uint32_t c = k->channels == 1 ? 0 : channel;
    const double middle = k->scale[c] * psf_tap(k, ((size_t)c * k->h + k->cy) * k->w + k->cx) *
                          (1 - sharpen);
    return (definition_gain){.glare = (1 - sharpen) * tint, .own = sharpen + (1 - tint) * middle};
}

double definition_value(const definition_pixel *p, const definition_gain *gain) {
    return p->own.rest + gain->glare * p->sum + gain->own * p->own.spread;
}

double definition_rounding(const definition_pixel *p, const psf *k, const definition_gain *gain) {
    double unit = 0x1p-53 * ((double)k->w * k->h / 8 + 8);
    return unit * (gain->glare * p->size + fabs(p->own.rest) +
                   fmax(1, fabs(gain->own)) * fabs(p->own.spread));
}

typedef struct {
    const sampler *s;
    const sampler_rows *r;
} adding;

static bool add_rows(void *ctx, size_t index, int worker, err *e) {
    const adding *a = ctx;
    sampler_pixel *p = &a->s->pixel[index];
    uint32_t c = p->channel - a->r->first;
    return c >= a->r->channels || definition_add(&p->is, &a->r->rows[c], &a->r->kernel, c, e);
}

bool sampler_add(const sampler *s, const sampler_rows *r, par *threads, err *e) {
    return par_for(threads, s->count, add_rows, &(adding){s, r}, e);
}

/* A half is a float before. */
static double rounding_of(pixel_type t, double v) {
    double of_float = fabs(v) * 0x1p-24 + 0x1p-149;
    return t == PIXEL_HALF ? fabs(v) * 0x1p-11 + 0x1p-25 + of_float : of_float;
}

static double within_type(pixel_type t, double v) {
    return t == PIXEL_HALF ? clamp_double(v, -(double)HALF_MAX, (double)HALF_MAX) : v;
}

double sampler_want(double *rounding, const sampler_pixel *p, pixel_type type, const psf *kernel,
                    const definition_gain *gain) {
    double want = within_type(type, definition_value(&p->is, gain));
    *rounding = rounding_of(type, want) + definition_rounding(&p->is, kernel, gain);
    return want;
}

/* --- judging --------------------------------------------------------------------------------- */

/* What is known of a value: within the tolerance it is between near[0] and near[1], and with all
 * that it may be rounded between far[0] and far[1]. */
typedef struct {
    double got, want, near[2], far[2];
} value;

static value light_of(const sampler_pixel *p, const sampler_promise *by) {
    double more, want = sampler_want(&more, p, by->type, by->kernel, &by->gain);
    const double reach = by->tolerance * fmax(fabs(want), by->dark), low = want - reach,
                 high = want + reach;
    return (value){p->got, want, {low, high}, {low - more, high + more}};
}

/* Codes the values of a pixel as the file does. What is stored is rounded once more. */
static void code(value *v, const sampler_promise *by, int count, const recode *how, double alpha) {
    double got[3] = {0}, want[3] = {0}, near[2][3] = {{0}}, far[2][3] = {{0}};
    for (int c = 0; c < count; c++) {
        got[c] = v[c].got, want[c] = v[c].want;
        for (int k = 0; k < 2; k++) near[k][c] = v[c].near[k], far[k][c] = v[c].far[k];
    }
    recode_colour(how, got, count, alpha);
    recode_colour(how, want, count, alpha);
    recode_between(how, near[0], near[1], count, alpha);
    recode_between(how, far[0], far[1], count, alpha);
    for (int c = 0; c < count; c++) {
        pixel_type is = by[c].type;
        uint32_t stored;
        float rounded = (float)got[c];
        store_floats(&stored, is, 0, &rounded, 1);
        image_to_float(&rounded, &stored, is, 0, 1);
        v[c].got = (double)rounded, v[c].want = within_type(is, want[c]);
        for (int k = 0; k < 2; k++) {
            double is_far = within_type(is, far[k][c]);
            v[c].near[k] = within_type(is, near[k][c]);
            v[c].far[k] = is_far + (k ? 1 : -1) * rounding_of(is, is_far);
        }
    }
}

bool verify_is_worse(const verify_result *than, double error, bool broken) {
    bool worse = !(error <= than->worst.error);
    return !than->pixels || (broken ? !than->broken || worse : !than->broken && worse);
}

void sampler_judge(verify_result *to, const sampler_pixel *p, const sampler_promise *by, int count,
                   const recode *how, double alpha) {
    value v[3];
    for (int c = 0; c < count; c++) {
        if (!isfinite(p[c].got) && p[c].is.bad) return; /* it stayed as it was */
        v[c] = light_of(&p[c], &by[c]);
    }
    if (how) code(v, by, count, how, alpha);
    for (int c = 0; c < count; c++) {
        const double off = v[c].got - v[c].want, reach = v[c].near[off > 0] - v[c].want;
        const double error = off == 0 ? 0 : by[c].tolerance * fabs(off / reach);
        const bool broken = !(v[c].got >= v[c].far[0] && v[c].got <= v[c].far[1]);
        if (verify_is_worse(to, error, broken))
            to->worst =
                (verify_pixel){p[c].channel, p[c].is.x, p[c].is.y, v[c].got, v[c].want, error};
        to->pixels++;
        to->broken += broken;
    }
}
