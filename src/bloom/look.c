#include "bloom/look.h"

#include "bloom/prepare.h"
#include "image/repair.h"

#include <inttypes.h>
#include <stdio.h>

static void note_bad(run *g) {
    const scan *s = &g->scanned;
    const image_part *p = run_part(g);
    uint64_t room = g->r->bad < SCAN_BAD ? SCAN_BAD - g->r->bad : 0;
    for (uint64_t i = 0; i < room && i < s->bad; i++) {
        bloom_bad *to = &g->r->first_bad[g->r->bad + i];
        const scan_bad *from = &s->first[i];
        snprintf(to->channel, sizeof to->channel, "%s", run_name(g, from->channel));
        to->x = p->data.x0 + (int32_t)from->x;
        to->y = p->data.y0 + (int32_t)from->y;
        to->value = from->value;
    }
    g->r->bad += s->bad;
}

bool look_is_enough(const run *g) {
    const bloom_settings *s = &g->b->s;
    bool dark_outside = s->border[PLAN_X] == BORDER_ZERO && s->border[PLAN_Y] == BORDER_ZERO;
    return dark_outside && !s->verify && run_spreads_all(g);
}

static bool scan_planes(run *g, const void *const *plane, const pixel_type *type, float *const *to,
                        err *e) {
    const bloom_size *size = &g->b->size;
    scan_request ask = {.w = size->need.w,
                        .h = size->need.h,
                        .channels = g->n,
                        .plane = plane,
                        .type = type,
                        .block = size->sketch.block,
                        .histogram = g->looked_closely,
                        .seen_x = size->seen[PLAN_X],
                        .seen_y = size->seen[PLAN_Y],
                        .to = to};
    scan_free(&g->scanned);
    return scan_make(&g->scanned, &ask, g->b->threads, e);
}

/* Half planes become floats on the way. */
static bool look_scan(run *g, err *e) {
    const void *plane[RUN_CHANNELS];
    float *to[RUN_CHANNELS];
    for (uint32_t c = 0; c < g->n; c++) {
        plane[c] = *run_plane(g, c);
        g->own[c] = g->type[c] == PIXEL_FLOAT && run_spreads_all(g);
        to[c] = g->own[c] || !run_spreads_all(g) ? NULL : g->b->plane[0][c];
    }
    g->loaded = run_spreads_all(g);
    return scan_planes(g, plane, g->type, to, e);
}

static bool refuse(const run *g, err *e) {
    const bloom_bad *first = &g->r->first_bad[0];
    return err_set(e, ERR_BAD_PIXELS,
                   "%" PRIu64 " pixel%s NaN or infinite, the first in channel '%s' at %d, %d "
                   "(%g); --nan zero or --nan interpolate goes on",
                   g->r->bad, g->r->bad == 1 ? " is" : "s are", first->channel, first->x, first->y,
                   (double)first->value);
}

/* What is put in the place of bad pixels was not there before. */
static bool repair(run *g, err *e) {
    const kernel_need *need = &g->b->size.need;
    for (uint32_t c = 0; c < g->n; c++) {
        double added;
        if (!(g->bad[c] = g->scanned.channel[c].bad)) continue;
        if (!repair_plane(&added, *run_plane(g, c), g->type[c], need->w, need->h,
                          g->b->s.nan == NAN_INTERPOLATE, g->b->threads, e))
            return false;
        g->bad_light[c] -= added;
    }
    return look_scan(g, e);
}

static bool scan_excess(run *g, err *e) {
    static const pixel_type FLOATS[RUN_CHANNELS] = {PIXEL_FLOAT, PIXEL_FLOAT, PIXEL_FLOAT,
                                                    PIXEL_FLOAT};
    const void *plane[RUN_CHANNELS];
    for (uint32_t c = 0; c < g->n; c++) plane[c] = g->b->plane[0][c];
    g->loaded = true;
    return run_blocks(g, run_load, e) && scan_planes(g, plane, FLOATS, NULL, e);
}

static void find_dark(run *g) {
    for (uint32_t c = 0; c < g->n; c++) g->dark[c] = accuracy_dark(&g->scanned.channel[c]);
}

static bool sketch_one(void *ctx, size_t c, int worker, err *e) {
    run *g = ctx;
    (void)worker;
    return sketch_make(&g->sketched[c], &g->b->size.sketch, &g->scanned, (uint32_t)c, e);
}

/* Of an image whose pixels are numbers. */
static bool look_on(run *g, err *e) {
    find_dark(g);
    if (!run_spreads_all(g) && !scan_excess(g, e)) return false;
    return par_for(g->b->threads, g->n, sketch_one, g, e);
}

static bool look(run *g, bool ahead, err *e) {
    g->looked_closely = !look_is_enough(g);
    if (!prepare_planes(g->b, 0, sizeof(float), e) || !look_scan(g, e)) return false;
    for (uint32_t c = 0; c < g->n; c++) g->sum[c] = g->scanned.channel[c].sum; /* as they came */
    if (g->scanned.bad) {
        note_bad(g);
        if (g->b->s.nan == NAN_ERROR && !ahead) return refuse(g, e);
        if (!repair(g, e)) return false;
    }
    return look_on(g, e);
}

bool look_closely(run *g, err *e) {
    const void *plane[RUN_CHANNELS];
    if (g->looked_closely) return true;
    g->looked_closely = true;
    for (uint32_t c = 0; c < g->n; c++) plane[c] = *run_plane(g, c);
    bool ok = scan_planes(g, plane, g->type, NULL, e);
    if (ok) find_dark(g);
    return ok;
}

bool look_at(run *g, err *e) {
    return look(g, false, e);
}
bool look_ahead(run *g, err *e) {
    return look(g, true, e);
}
