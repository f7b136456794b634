#include "bloom/prove.h"

#include "base/number.h"
#include "bloom/sampler.h"
#include "math/lengths.h"

#include <math.h>

/* --- which pixels ---------------------------------------------------------------------------- */

enum { PROVED = 4 }; /* of each channel, at most */

typedef struct {
    const view *v;
    const outcome *o;
    const double *dark;
    join_box kept;
    uint32_t count, end; /* end: of the channel's */
    sampler_pixel at[PROVED * VIEW_CHANNELS];
} choice;

static double result_at(const choice *p, uint32_t c, uint32_t x, uint32_t y) {
    size_t at = (size_t)y * p->v->size->need.w + x;
    float v;
    image_to_float(&v, p->o->out[c], p->o->type, at, 1);
    return (double)v;
}

static double size_at(const choice *p, uint32_t c, uint32_t x, uint32_t y) {
    return fabs(result_at(p, c, x, y));
}

static bool is_kept(const choice *p, int64_t x, int64_t y) {
    const join_box *k = &p->kept;
    return x >= k->x && y >= k->y && x < (int64_t)k->x + k->w && y < (int64_t)k->y + k->h;
}

static void add(choice *p, uint32_t c, uint32_t x, uint32_t y) {
    if (p->count == p->end) return;
    p->at[p->count++] = (sampler_pixel){c, {.x = x, .y = y}, result_at(p, c, x, y), 1};
}

/* Returns what of a few lines is kept. */
static join_box kept_of(const choice *p, const join_box *lines) {
    const join_box *k = &p->kept;
    const uint32_t x0 = max_u32(k->x, lines->x), x1 = min_u32(k->x + k->w, lines->x + lines->w),
                   y0 = max_u32(k->y, lines->y), y1 = min_u32(k->y + k->h, lines->y + lines->h);
    return x0 < x1 && y0 < y1 ? (join_box){x0, y0, x1 - x0, y1 - y0} : (join_box){0};
}

/* Adds the darkest pixel of some, of those that something is promised for. */
static void add_darkest(choice *p, uint32_t c, join_box in) {
    double least = INFINITY;
    uint32_t at_x = 0, at_y = 0;
    for (uint32_t y = in.y; y < in.y + in.h; y++)
        for (uint32_t x = in.x; x < in.x + in.w; x++) {
            double size = size_at(p, c, x, y);
            if (size >= p->dark[c] && size < least) least = size, at_x = x, at_y = y;
        }
    if (isfinite(least)) add(p, c, at_x, at_y);
}

/* Adds the darkest places where errors of the brightest pixel of some gather, half a transform away
 * and a quarter of one. */
static void add_ghosts(choice *p, uint32_t c, join_box in) {
    uint32_t x = in.x, y = in.y;
    for (uint32_t j = in.y; j < in.y + in.h; j++)
        for (uint32_t i = in.x; i < in.x + in.w; i++)
            if (size_at(p, c, i, j) > size_at(p, c, x, y)) x = i, y = j;
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

/* Sums the pixels, from all rows at once. */
static bool recompute(choice *p, err *e) {
    const view *v = p->v;
    const kernel_need *need = &v->size->need;
    const plan_border *border = v->s->border;
    const bool cpu = p->o->lease.device.class == ENGINE_CPU;
    definition_rows rows[VIEW_CHANNELS];
    for (uint32_t c = 0; c < v->channels; c++)
        rows[c] =
            (definition_rows){*view_plane(v, c), v->type[c], v->spread, need->w,
                              need->h,           0,          need->h,   cpu ? v->lost[c] : NULL};
    const sampler_rows all = {
        0, v->channels, rows, {&v->size->kernel, {border[PLAN_X], border[PLAN_Y]}}};
    return sampler_add(&(sampler){p->at, p->count}, &all, v->threads, e);
}

/* Returns a pixel's error in parts of what may be expected: the prediction, and rounding. Light
 * that only partly spreads is rounded to floats before it does. What is beyond floats is refused
 * when it is stored. */
static double part_of(double *want, const choice *p, const sampler_pixel *at,
                      const accuracy *method) {
    const view *v = p->v;
    const psf *k = &v->size->kernel;
    const definition_gain gain =
        definition_gain_of(k, at->channel, v->sharpen, kernel_need_tint(&v->need, at->channel));
    double rounding;
    *want = sampler_want(&rounding, at, p->o->type, k, &gain);
    if (!isfinite(at->got)) return 0;
    double off = fabs(at->got - *want),
           predicted = method->error[at->channel] +
                       accuracy_relative(method) * fmax(fabs(*want), p->dark[at->channel]);
    if (!v->all) rounding += 0x1p-24 * gain.glare * at->is.size;
    return off > 0 ? off / (predicted + rounding) : 0;
}

/* Seconds of one core for a step of a transform (in doubles: times DOUBLES), and for a byte that
 * the host copies to a device and back, which is an assumption. */
static const double STEP = 0.25e-9, DOUBLES = 1.7, BYTE = 2e-10;

/* Returns the steps of the transforms of all planes: one step is a number in a butterfly of radix
 * 2, weighted as length_cost does. */
static double steps_of(const plan *p) {
    const double pairs = (p->axis[1].extent + 1) / 2;
    const double lines[2] = {2 * pairs, 2.0 * p->halves}; /* there and back */
    double steps = 0;
    for (int i = 0; i < 2; i++)
        steps += lines[i] * (p->ask.limits.invocations ? length_cost(p->axis[i].length)
                                                       : length_cost_cpu(p->axis[i].length));
    return steps * p->ask.channels;
}

/* Returns the seconds of one core of the host that a transform costs. They follow from constants,
 * so that the same run decides alike each time. */
static double price_of(const session_lease *l) {
    const plan *p = &l->plan;
    if (l->device.class == ENGINE_GPU)
        return ((double)plan_bytes_up(p) + (double)plan_bytes_down(p)) / 2 * BYTE;
    return steps_of(p) * STEP * (p->sample_bytes == 8 ? DOUBLES : 1);
}

/* Seconds of one product, on one core, most of which is waiting for memory; and the part of the
 * transform that all of them may take. */
static const double PRODUCT = 2e-9, PART = 0.04;

bool prove(proof *to, const view *v, const outcome *o, const accuracy *method, const double *dark,
           err *e) {
    const psf *k = &v->size->kernel;
    uint32_t w = v->size->need.w, h = v->size->need.h;
    double some = PART * price_of(&o->lease) / (PRODUCT * k->w * k->h * v->channels);
    uint32_t most = some < 1 ? 1 : some < PROVED ? (uint32_t)some : PROVED;
    choice p = {.v = v, .o = o, .dark = dark, .kept = v->kept.w ? v->kept : (join_box){0, 0, w, h}};
    for (uint32_t c = 0; c < v->channels; c++) {
        const join_box bright = kept_of(&p, &o->stats[c].bright_at),
                       dim = kept_of(&p, &o->stats[c].dark_at);
        p.end = p.count + most;
        bool ghosts_first = c % 2; /* if one is all */
        if (!ghosts_first) add_darkest(&p, c, dim);
        if (bright.w) add_ghosts(&p, c, bright);
        if (ghosts_first) add_darkest(&p, c, dim);
    }
    *to = (proof){.pixels = p.count};
    if (!recompute(&p, e)) return false;
    for (uint32_t i = 0; i < p.count; i++) {
        const sampler_pixel *at = &p.at[i];
        double want, part = part_of(&want, &p, at, method);
        if (i && !(part > to->worst)) continue;
        *to = (proof){p.count, part, at->channel, at->is.x, at->is.y, at->got, want};
    }
    return true;
}
