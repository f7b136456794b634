/* Recomputes pixels of the result by the definition. What a tile was made of does not count here:
 * the part is read once more from its file, row by row, and each row adds its light to the pixels
 * that are recomputed. So mistakes in margins, seams, pieces and rows show. */
#include "base/mem.h"
#include "base/number.h"
#include "base/random.h"
#include "bloom/tiled_work.h"
#include "math/reference.h"

#include <math.h>
#include <stdio.h>

/* --- which pixels ---------------------------------------------------------------------------- */

typedef struct {
    tiled_work *w;
    uint32_t y, rows; /* of the band */
    uint64_t seed;
} choice;

static uint64_t by_chance(choice *c, uint64_t below) {
    return random_next(&c->seed) % below;
}

static double value_of(const tiled_work *w, uint32_t channel, size_t at) {
    float v;
    const tiled_plane *is = &w->list[channel];
    image_to_float(&v, is->out, is->becomes, at, 1);
    return (double)v;
}

static void add(choice *c, uint32_t channel, uint32_t x, uint32_t y) {
    tiled_work *w = c->w;
    if (w->places == w->place_room) return;
    w->place[w->places++] =
        (tiled_place){.channel = channel,
                      .x = x,
                      .y = y,
                      .got = value_of(w, channel, (size_t)(y - c->y) * w->w + x)};
}

static void add_by_chance(choice *c, uint32_t n) {
    while (n--)
        add(c, (uint32_t)by_chance(c, c->w->channels), (uint32_t)by_chance(c, c->w->w),
            c->y + (uint32_t)by_chance(c, c->rows));
}

/* Pixels on both sides of the borders between tiles, and where these cross. */
static void add_seams(choice *c, uint32_t n) {
    const tiling *t = &c->w->t;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t channel = (uint32_t)by_chance(c, c->w->channels);
        uint32_t tile = (uint32_t)by_chance(c, t->count[PLAN_X]) * t->kept[PLAN_X];
        uint32_t last = min_u32(tile + t->kept[PLAN_X], c->w->w) - 1;
        uint32_t x = by_chance(c, 2) ? tile : last, y = by_chance(c, 2) ? 0 : c->rows - 1;
        if (i % 3 == 1) x = tile + (uint32_t)by_chance(c, last - tile + 1);
        if (i % 3 == 2) y = (uint32_t)by_chance(c, c->rows);
        add(c, channel, x, c->y + y);
    }
}

/* Of some tiles of the band, the darkest pixel that something is promised for, and the neighbours
 * of the brightest. */
static void add_extremes(choice *c, uint32_t n) {
    const tiling *t = &c->w->t;
    for (uint32_t i = 0; i < n; i += 2) {
        uint32_t channel = (uint32_t)by_chance(c, c->w->channels);
        uint32_t left = (uint32_t)by_chance(c, t->count[PLAN_X]) * t->kept[PLAN_X];
        uint32_t end = min_u32(left + t->kept[PLAN_X], c->w->w);
        uint32_t dark[2] = {left, 0}, bright[2] = {left, 0};
        double least = INFINITY, most = 0;
        for (uint32_t y = 0; y < c->rows; y++)
            for (uint32_t x = left; x < end; x++) {
                double v = fabs(value_of(c->w, channel, (size_t)y * c->w->w + x));
                if (v >= c->w->list[channel].dark && v < least) {
                    least = v;
                    dark[0] = x, dark[1] = y;
                }
                if (v > most) {
                    most = v;
                    bright[0] = x, bright[1] = y;
                }
            }
        add(c, channel, dark[0], c->y + dark[1]);
        add(c, channel, bright[0] + 1 < end ? bright[0] + 1 : bright[0], c->y + bright[1]);
    }
}

bool tiled_look(tiled_work *w, uint32_t y, uint32_t rows, err *e) {
    uint32_t all = w->j->s->verify;
    if (!all) return true;
    uint32_t n = (uint32_t)ceil_div_u64((uint64_t)all * rows, w->h);
    size_t more = 2 * (size_t)n;
    tiled_place *grown = mem_new(w->places + more, sizeof *grown, "pixels to verify", e);
    if (!grown) return false;
    for (size_t i = 0; i < w->places; i++) grown[i] = w->place[i];
    mem_free(w->place);
    w->place = grown;
    w->place_room = w->places + more;
    choice c = {w, y, rows, y + 1};
    add_by_chance(&c, n);
    add_seams(&c, (n + 1) / 2);
    add_extremes(&c, n - (n + 1) / 2);
    return true;
}

/* --- recomputing them ------------------------------------------------------------------------- */

/* Rows of the part as they came, and the kernels of its channels. */
typedef struct {
    tiled_work *w;
    psf kernel[VIEW_CHANNELS + 1]; /* kernel[n]: for groups of n channels */
    uint8_t **plane;               /* of each channel of the list */
    uint32_t y, rows;
} reading;

/* Returns the kernel of a channel of the list, and which of the kernel's channels it has. */
static const psf *kernel_of(const reading *r, uint32_t channel, uint32_t *of_kernel) {
    const tiled_work *w = r->w;
    uint32_t first = 0, n = 0;
    for (int i = 0; i < w->m.groups; i++, first += n) {
        n = tiled_channels(w->j->s, &w->m.group[i]);
        if (channel < first + n) break;
    }
    *of_kernel = r->kernel[n].channels == 1 ? 0 : channel - first;
    return &r->kernel[n];
}

/* Returns what a row of taps brings into a pixel, from row y of those at hand. */
static double light_of(const reading *r, const tiled_place *p, const psf *k, const float *tap,
                       int64_t y) {
    enum { MOST = 256 };
    float v[MOST];
    const tiled_work *w = r->w;
    const tiled_plane *is = &w->list[p->channel];
    const join_excess excess = {is->by->threshold, is->by->knee};
    const void *plane = r->plane[p->channel];
    double sum = 0;
    for (uint32_t at = 0; at < k->w; at += MOST) {
        uint32_t some = min_u32(MOST, k->w - at);
        int64_t last = (int64_t)p->x - at + k->cx, left = last - some + 1;
        if (left >= 0 && last < w->w)
            image_to_float(v, plane, is->type, (size_t)(y * w->w + left), some);
        for (uint32_t i = 0; (left < 0 || last >= w->w) && i < some; i++) {
            int64_t x = reference_source(left + i, w->w, w->j->s->border[PLAN_X]);
            v[i] = 0;
            if (x >= 0) image_to_float(&v[i], plane, is->type, (size_t)(y * w->w + x), 1);
        }
        for (uint32_t i = 0; i < some; i++) {
            double in = isfinite(v[some - 1 - i]) ? (double)v[some - 1 - i] : 0;
            if (excess.threshold > 0) in = join_excess_of(&excess, in);
            sum += (double)tap[at + i] * in;
        }
    }
    return sum;
}

/* Adds to a pixel's sum what the rows at hand bring into it. */
static bool add_light(void *ctx, size_t index, int worker, err *e) {
    const reading *r = ctx;
    const tiled_work *w = r->w;
    tiled_place *p = &w->place[index];
    const tiled_plane *is = &w->list[p->channel];
    uint32_t of;
    const psf *k = kernel_of(r, p->channel, &of);
    const float *tap = k->tap + (size_t)of * k->w * k->h;
    double sum = 0;
    (void)worker, (void)e;
    for (uint32_t ky = 0; ky < k->h; ky++) {
        int64_t from = (int64_t)p->y - ky + k->cy;
        int64_t y = reference_source(from, w->h, w->j->s->border[PLAN_Y]) - r->y;
        if (y >= 0 && y < r->rows) sum += light_of(r, p, k, tap + (size_t)ky * k->w, y);
    }
    p->sum += k->scale[of] * sum;
    if (p->y >= r->y && p->y - r->y < r->rows) {
        float v;
        image_to_float(&v, r->plane[p->channel], is->type, (size_t)(p->y - r->y) * w->w + p->x, 1);
        p->in = isfinite(v) ? (double)v : 0;
    }
    return true;
}

static bool read_all(reading *r, err *e) {
    enum { STRIP = 24 << 20 };
    tiled_work *w = r->w;
    const bloom_rows *rows = w->j->rows;
    uint32_t unit = rows->step(rows->ctx, w->j->part), some;
    void **all = mem_new((size_t)w->p->channels, sizeof *all, "planes", e);
    size_t row = 0;
    for (uint32_t c = 0; c < w->channels; c++) row += w->w * pixel_bytes(w->list[c].type);
    some = max_u32((uint32_t)(min_u64(STRIP, mem_left() / 8) / (row * unit)), 1) * unit;
    some = min_u32(some, w->h);
    bool ok = all && (r->plane = mem_new(w->channels, sizeof *r->plane, "planes", e));
    for (uint32_t c = 0; ok && c < w->channels; c++) {
        r->plane[c] = mem_raw((size_t)w->w * some, pixel_bytes(w->list[c].type), "rows", e);
        ok = (all[w->list[c].index] = r->plane[c]);
    }
    for (; ok && r->y < w->h; r->y += some) {
        r->rows = min_u32(some, w->h - r->y);
        ok = rows->read(rows->ctx, w->j->part, r->y, r->rows, all, e) &&
             par_for(w->j->threads, w->places, add_light, r, e);
    }
    for (uint32_t c = 0; r->plane && c < w->channels; c++) mem_free(r->plane[c]);
    mem_free(r->plane);
    mem_free(all);
    return ok;
}

static void enter_place(const tiled_work *w, const tiled_place *p, bloom_report *r) {
    const tiled_plane *is = &w->list[p->channel];
    const join_excess excess = {is->by->threshold, is->by->knee};
    double spread = excess.threshold > 0 ? join_excess_of(&excess, p->in) : p->in;
    verify_pixel found = {p->channel, p->x, p->y, p->got, 0, 0};
    found.want = p->in - spread + (1 - is->by->sharpen) * p->sum + is->by->sharpen * spread;
    bool broken = verify_is_broken(&found, is->becomes, is->dark, w->j->s->tolerance);
    bloom_verified *to = &r->verified;
    bool worse = !(found.error <= to->found.worst.error);
    if (!to->found.pixels || (broken ? !to->found.broken || worse : !to->found.broken && worse)) {
        to->found.worst = found;
        to->x = w->p->data.x0 + (int32_t)p->x;
        to->y = w->p->data.y0 + (int32_t)p->y;
        snprintf(to->channel, sizeof to->channel, "%s", w->p->channel[is->index].name);
    }
    to->found.pixels++;
    to->found.broken += broken;
}

bool tiled_verify(tiled_work *w, bloom_report *r, err *e) {
    reading all = {.w = w};
    bool ok = true;
    if (!w->places) return true;
    for (int i = 0; ok && i < w->m.groups; i++) {
        uint32_t n = tiled_channels(w->j->s, &w->m.group[i]);
        const kernel_need need = tiled_need(w->j, n, 0);
        ok = all.kernel[n].tap || tiled_psf(&all.kernel[n], w->j, &need, NULL, e);
    }
    ok = ok && read_all(&all, e);
    for (size_t i = 0; ok && i < w->places; i++) enter_place(w, &w->place[i], r);
    for (int i = 0; i <= VIEW_CHANNELS; i++) psf_free(&all.kernel[i]);
    return ok;
}
