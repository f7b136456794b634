#include "bloom/prove.h"

#include "base/half.h"
#include "base/mem.h"
#include "base/number.h"
#include "bloom/definition.h"

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

static bool compare(void *ctx, size_t i, int worker, err *e) {
    choice *p = ctx;
    pixel *at = &p->at[i];
    const view *v = p->v;
    const psf *k = &v->size->kernel;
    uint32_t c = at->channel;
    (void)worker;
    double *room = mem_raw(definition_room(k), sizeof *room, "pixels to prove", e);
    if (!room) return false;
    const definition_rows rows = {*view_plane(v, c), v->type[c], v->spread,      v->size->need.w,
                                  v->size->need.h,   0,          v->size->need.h};
    const definition_kernel kernel = {
        k, k->channels == 1 ? 0 : c, {v->s->border[PLAN_X], v->s->border[PLAN_Y]}};
    definition_pixel is = {.x = at->x, .y = at->y};
    definition_add(&is, &rows, &kernel, room);
    mem_free(room);
    at->got = result_at(p, c, at->x, at->y);
    at->want = definition_value(&is, v->sharpen);
    /* Light that only partly spreads is rounded to floats before it does. */
    at->rounding = definition_rounding(&is, k, v->sharpen) +
                   (v->all ? 0 : 0x1p-24 * (1 - v->sharpen) * is.size);
    if (p->o->half[c]) { /* these have no values beyond */
        at->want = clamp_double(at->want, -(double)HALF_MAX, (double)HALF_MAX);
        at->rounding += fabs(at->want) * 0x1p-11 + 0x1p-25;
    }
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
        .v = v, .o = o, .dark = dark, .kept = v->kept.w ? v->kept : (tail_kept){0, 0, w, h}};
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
