#include "bloom/verify.h"

#include "base/half.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/random.h"
#include "math/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- which pixels ---------------------------------------------------------------------------- */

typedef struct {
    uint32_t channel, x, y;
} place;

typedef struct {
    const verify_job *j;
    place *place;
    size_t count, room;
    tail_kept kept; /* of the job */
    uint64_t seed;
} choice;

static uint64_t by_chance(choice *c, uint64_t below) {
    return random_next(&c->seed) % below;
}

static void add(choice *c, uint32_t channel, int64_t x, int64_t y) {
    const tail_kept *k = &c->kept;
    if (c->count == c->room || x < k->x || y < k->y || x - k->x >= k->w || y - k->y >= k->h) return;
    c->place[c->count++] = (place){channel, (uint32_t)x, (uint32_t)y};
}

/* Holds, for each cell of the image, the darkest result that something is promised for and the
 * brightest pixel. They are sorted, so that the first ones come from all over the image. */
typedef struct {
    float v;
    place at;
} extreme;

static int darker_first(const void *a, const void *b) {
    float x = ((const extreme *)a)->v, y = ((const extreme *)b)->v;
    return (x > y) - (x < y);
}

enum { CELL = 16 };

/* Two lists, [0] dark and [1] bright (negated), of *count cells each. */
static extreme *find_extremes(const choice *of, size_t *count, err *e) {
    const verify_job *j = of->j;
    const tail_kept *kept = &of->kept;
    size_t across = ceil_div_u32(j->w, CELL), down = ceil_div_u32(j->h, CELL);
    size_t n = across * down * j->channels;
    extreme *list = mem_raw(2 * n, sizeof *list, "pixels to verify", e);
    float *got = mem_raw(j->w, sizeof *got, "pixels to verify", e);
    for (size_t i = 0; list && got && i < 2 * n; i++)
        list[i] = (extreme){i < n ? INFINITY : 0, {UINT32_MAX, 0, 0}};
    for (uint32_t c = 0; list && got && c < j->channels; c++)
        for (uint32_t y = kept->y; y < kept->y + kept->h; y++) {
            size_t row = (size_t)y * j->w, cells = (c * down + y / CELL) * across;
            image_to_float(got, j->got[c], j->type[c], row, j->w);
            for (uint32_t x = kept->x; x < kept->x + kept->w; x++) {
                extreme *dark = &list[cells + x / CELL], *bright = dark + n;
                float size = fabsf(got[x]), in = fabsf(j->in[c][row + x]);
                if ((double)size >= j->dark[c] && size < dark->v)
                    *dark = (extreme){size, {c, x, y}};
                if (-in < bright->v) *bright = (extreme){-in, {c, x, y}};
            }
        }
    if (!got) mem_free(list), list = NULL;
    mem_free(got);
    if (!list) return NULL;
    qsort(list, n, sizeof *list, darker_first);
    qsort(list + n, n, sizeof *list, darker_first);
    *count = n;
    return list;
}

/* Rounding errors that repeat make copies of what is bright, half a transform away and half of
 * that; and its neighbours have the largest numbers cancel. */
static void add_around(choice *c, const place *p) {
    static const int STEP[][2] = {{1, 0}, {0, 1}, {-1, -1}, {2, -2}};
    int64_t half_x = c->j->length[0] / 2, half_y = c->j->length[1] / 2;
    for (int i = 0; i < 4; i++)
        add(c, p->channel, (int64_t)p->x + STEP[i][0], (int64_t)p->y + STEP[i][1]);
    for (int sign = -1; sign <= 1; sign += 2) {
        add(c, p->channel, (int64_t)p->x + sign * half_x, p->y);
        add(c, p->channel, p->x, (int64_t)p->y + sign * half_y);
        add(c, p->channel, (int64_t)p->x + sign * half_x / 2, p->y);
    }
}

static void add_borders(choice *c, size_t n) {
    const tail_kept *of = &c->kept;
    const int64_t left = of->x, top = of->y, right = left + of->w - 1, bottom = top + of->h - 1;
    for (uint32_t k = 0; k < c->j->channels; k++)
        for (int i = 0; i < 4; i++) add(c, k, i & 1 ? right : left, i & 2 ? bottom : top);
    for (size_t i = 0; i < n; i++) {
        uint32_t k = (uint32_t)by_chance(c, c->j->channels);
        int64_t x = left + (int64_t)by_chance(c, of->w), y = top + (int64_t)by_chance(c, of->h);
        if (i & 1)
            add(c, k, i & 2 ? right : left, y);
        else
            add(c, k, x, i & 2 ? bottom : top);
    }
}

static bool add_hardest(choice *c, size_t n, err *e) {
    size_t cells, end = c->count + n / 2;
    extreme *list = find_extremes(c, &cells, e);
    if (!list) return false;
    for (size_t i = 0; i < cells && c->count < end && list[i].at.channel != UINT32_MAX; i++)
        add(c, list[i].at.channel, list[i].at.x, list[i].at.y);
    end = c->count + n / 4;
    for (size_t i = 0; i < cells && c->count < end && list[cells + i].at.channel != UINT32_MAX; i++)
        add_around(c, &list[cells + i].at);
    mem_free(list);
    add_borders(c, c->room - c->count);
    return true;
}

/* --- comparing ------------------------------------------------------------------------------- */

typedef struct {
    const verify_job *j;
    const place *place;
    verify_pixel *pixel;
    bool *broken;
    /* The part of each pixel that is spread, as the sum of two floats; the second is NULL where it
     * is 0. */
    const float *const *high, *const *low;
} comparison;

static double definition(const comparison *v, const place *p) {
    const verify_job *j = v->j;
    const psf *k = j->kernel;
    uint32_t kernel = k->channels == 1 ? 0 : p->channel;
    const float *low = v->low[p->channel];
    reference r = {.in = v->high[p->channel],
                   .w = j->w,
                   .h = j->h,
                   .border = {j->border[0], j->border[1]},
                   .tap = k->tap + (size_t)kernel * k->w * k->h,
                   .kernel_w = k->w,
                   .kernel_h = k->h,
                   .cx = k->cx,
                   .cy = k->cy,
                   .scale = k->scale[kernel]};
    size_t at = (size_t)p->y * j->w + p->x;
    double in = (double)j->in[p->channel][at], spread_of = (double)r.in[at];
    double bloomed = reference_pixel(&r, p->x, p->y);
    if (low) {
        r.in = low;
        spread_of += (double)low[at];
        bloomed += reference_pixel(&r, p->x, p->y);
    }
    return in - spread_of + (1 - j->sharpen) * bloomed + j->sharpen * spread_of;
}

bool verify_is_broken(verify_pixel *p, pixel_type t, double dark, double tolerance) {
    if (t == PIXEL_HALF) p->want = clamp_double(p->want, -(double)HALF_MAX, (double)HALF_MAX);
    double size = fmax(fabs(p->want), dark), off = fabs(p->got - p->want);
    p->error = off == 0 ? 0 : off / size;
    /* The type's own rounding comes on top. */
    double rounding = t == PIXEL_HALF ? fabs(p->want) * 0x1p-11 + 0x1p-25
                                      : fabs(p->want) * 0x1p-24 + 0x1p-150;
    return !(off <= tolerance * size + rounding);
}

static bool compare_pixel(void *ctx, size_t index, int worker, err *e) {
    (void)worker, (void)e;
    const comparison *v = ctx;
    const verify_job *j = v->j;
    const place *p = &v->place[index];
    float got;
    pixel_type t = j->type[p->channel];
    image_to_float(&got, j->got[p->channel], t, (size_t)p->y * j->w + p->x, 1);
    v->pixel[index] = (verify_pixel){p->channel, p->x, p->y, (double)got, definition(v, p), 0};
    v->broken[index] = verify_is_broken(&v->pixel[index], t, j->dark[p->channel], j->tolerance);
    return true;
}

static bool compare_all(verify_result *r, comparison *v, size_t count, par *threads, err *e) {
    v->pixel = mem_raw(count, sizeof *v->pixel, "pixels to verify", e);
    v->broken = mem_raw(count, sizeof *v->broken, "pixels to verify", e);
    bool ok = v->pixel && v->broken && par_for(threads, count, compare_pixel, v, e);
    *r = (verify_result){.pixels = count};
    bool worst_broken = false;
    for (size_t i = 0; ok && i < count; i++) {
        r->broken += v->broken[i];
        bool worse = !(v->pixel[i].error <= r->worst.error);
        /* A broken pixel is shown rather than one that is not. */
        if (i == 0 || (v->broken[i] == worst_broken ? worse : v->broken[i])) {
            r->worst = v->pixel[i];
            worst_broken = v->broken[i];
        }
    }
    mem_free(v->pixel);
    mem_free(v->broken);
    return ok;
}

/* Makes planes of the light that is spread: the image's own where all of it is, else two floats
 * that together hold a double. The caller frees made[2c] and made[2c + 1]. */
static bool make_spread(const verify_job *j, const float **high, const float **low, float **made,
                        err *e) {
    size_t n = (size_t)j->w * j->h;
    for (uint32_t c = 0; c < j->channels; c++) {
        high[c] = j->in[c];
        low[c] = NULL;
        if (!(j->excess.threshold > 0)) continue;
        float *a = made[2 * c] = mem_raw(n, sizeof(float), "pixels to verify", e);
        float *b = made[2 * c + 1] = mem_raw(n, sizeof(float), "pixels to verify", e);
        if (!a || !b) return false;
        for (size_t i = 0; i < n; i++) {
            double x = join_excess_of(&j->excess, (double)j->in[c][i]);
            a[i] = (float)x;
            b[i] = (float)(x - (double)a[i]);
        }
        high[c] = a;
        low[c] = b;
    }
    return true;
}

bool verify_run(verify_result *r, const verify_job *j, par *threads, err *e) {
    const float *high[PSF_CHANNELS], *low[PSF_CHANNELS];
    float *made[2 * PSF_CHANNELS] = {0};
    const tail_kept all = {0, 0, j->w, j->h};
    choice c = {.j = j, .room = 2 * (size_t)j->count, .kept = j->kept.w ? j->kept : all, .seed = 1};
    *r = (verify_result){0};
    if (!j->count) return true;
    c.place = mem_raw(c.room, sizeof *c.place, "pixels to verify", e);
    bool ok = c.place && make_spread(j, high, low, made, e);
    for (size_t i = 0; ok && i < j->count; i++)
        add(&c, (uint32_t)by_chance(&c, j->channels), c.kept.x + (int64_t)by_chance(&c, c.kept.w),
            c.kept.y + (int64_t)by_chance(&c, c.kept.h));
    ok = ok && add_hardest(&c, j->count, e);
    comparison v = {.j = j, .place = c.place, .high = high, .low = low};
    ok = ok && compare_all(r, &v, c.count, threads, e);
    mem_free(c.place);
    for (uint32_t i = 0; i < 2 * j->channels; i++) mem_free(made[i]);
    return ok;
}
