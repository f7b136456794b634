#include "bloom/part_work.h"

/* A tile: what it is made of, and where its pixels are. */
typedef struct {
    const part_tile *job;
    const part_group *g;
    group_made *made; /* whose glare is the tile's, until it goes to the rows of the result */
    image *img;
    float *mask;                  /* of each of its pixels; NULL: there is none */
    int64_t left, top;            /* its first pixel, in the part */
    uint32_t useful[2];           /* pixels along each axis that bring light into the kept ones */
    join_box kept;                /* in the tile */
    repairs aside[VIEW_CHANNELS]; /* pixels that stay, since they are not finite */
    void *came[VIEW_CHANNELS];    /* the pixels as they came, where these are verified */
} tile;

static void tile_free(tile *t) {
    for (uint32_t c = 0; c < VIEW_CHANNELS; c++) {
        repairs_free(&t->aside[c]);
        mem_free(t->came[c]);
        mem_free(t->made->glare[c]);
        t->made->glare[c] = NULL;
    }
    mem_free(t->mask);
    image_free(&t->img);
}

/* --- the tile's image ------------------------------------------------------------------------- */

/* Fills one row of one channel, or of the mask, which is the last one, as the border continues it.
 */
static bool fill_row(void *ctx, size_t index, int worker, err *e) {
    const tile *t = ctx;
    const part_held *held = t->job->held;
    const uint32_t *size = t->job->t->tile;
    uint32_t c = (uint32_t)(index / size[PLAN_Y]), row = (uint32_t)(index % size[PLAN_Y]);
    const bool mask = c == t->g->count;
    const size_t each = mask ? sizeof(float)
                             : pixel_bytes(t->job->p->channel[t->g->first + c].type);
    const uint8_t *from = mask ? (void *)held->mask[t->job->group] : held->plane[t->g->first + c];
    uint8_t *to = mask ? (uint8_t *)t->mask : t->img->plane[0][c];
    const int64_t source = part_held_row(held, t->top + row), end = t->left + t->useful[PLAN_X],
                  w = t->job->p->w, inside = clamp_i64(0, t->left, end),
                  beyond = clamp_i64(w, t->left, end);
    to += (size_t)row * size[PLAN_X] * each;
    memset(to, 0, size[PLAN_X] * each);
    if (row >= t->useful[PLAN_Y] || source == PART_DARK) return true;
    from += part_row(held, source) * t->job->p->w * each;
    memcpy(to + (size_t)(inside - t->left) * each, from + (size_t)inside * each,
           (size_t)(beyond - inside) * each);
    for (int64_t x = t->left; x < end; x++) {
        if (x == inside) x = beyond;
        if (x >= end) break;
        const int64_t at = plan_place(t->job->p->j->s->border[PLAN_X], t->job->p->w, x);
        if (at >= 0) memcpy(to + (size_t)(x - t->left) * each, from + (size_t)at * each, each);
    }
    return true;
}

static bool make_image(tile *t, err *e) {
    const part_plan *p = t->job->p;
    const uint32_t *size = t->job->t->tile;
    const bool whole = part_is_whole(t->job->t);
    image_part part = t->g->head.part[0];
    const int32_t x = p->p->data.x0 + (int32_t)t->left, y = p->p->data.y0 + (int32_t)t->top;
    part.data = part.display =
        (image_box){x, y, x + (int32_t)size[PLAN_X] - 1, y + (int32_t)size[PLAN_Y] - 1};
    const image_header head = {.format = t->g->head.format, .part = &part, .parts = 1};
    bool none[VIEW_CHANNELS] = {false}, *wanted = none;
    t->img = image_new_unset(&head, whole ? &wanted : NULL, e);
    float **mask = &t->job->held->mask[t->job->group];
    if (!t->img) return false;
    if (!whole) { /* a piece of the part */
        size_t n = (size_t)size[PLAN_X] * size[PLAN_Y];
        if (*mask && !(t->mask = mem_raw(n, sizeof *t->mask, "a mask", e))) return false;
        return par_for(p->j->threads, ((size_t)t->g->count + (*mask != NULL)) * size[PLAN_Y],
                       fill_row, t, e);
    }
    for (uint32_t c = 0; c < t->g->count; c++) { /* what is held becomes the tile's */
        void **from = &t->job->held->plane[t->g->first + c];
        t->img->plane[0][c] = *from, *from = NULL;
    }
    t->mask = *mask, *mask = NULL;
    return true;
}

/* Rows of one plane of a tile on their way into rows of the result. */
typedef struct {
    const tile *t;
    const uint8_t *from;
    uint8_t *to;
    size_t each;
} taken;

static bool take_row(void *ctx, size_t y, int worker, err *e) {
    const taken *k = ctx;
    const tile *t = k->t;
    size_t from = (t->kept.y + y) * t->job->t->tile[PLAN_X] + t->kept.x,
           to = y * t->job->p->w + t->job->x;
    memcpy(k->to + to * k->each, k->from + from * k->each, t->kept.w * k->each);
    return true;
}

/* Takes what counts of a plane; all of it becomes the result's where the tile is the part. */
static bool take_plane(const tile *t, void **to, void **plane, pixel_type type, err *e) {
    const taken k = {t, *plane, *to, pixel_bytes(type)};
    if (!part_is_whole(t->job->t))
        return par_for(t->job->p->j->threads, t->kept.h, take_row, (void *)(uintptr_t)&k, e);
    mem_free(*to);
    *to = *plane, *plane = NULL;
    return true;
}

static bool take_glare(const tile *t, void **to, float **glare, pixel_type type, err *e) {
    size_t n = (size_t)t->job->t->tile[PLAN_X] * t->job->t->tile[PLAN_Y];
    OWN_MEM void *made = *glare;
    if (type != PIXEL_FLOAT) {
        if (!(made = mem_raw(n, pixel_bytes(type), "glare", e))) return false;
        image_from_floats(made, type, 0, *glare, n);
        mem_free(*glare);
    }
    *glare = NULL;
    return take_plane(t, to, &made, type, e);
}

static bool take_result(const tile *t, group_made *made, part_rows *out, err *e) {
    const image_part *p = &t->img->head.part[0];
    for (uint32_t c = 0; c < t->g->count; c++) {
        uint32_t at = t->g->first + c;
        pixel_type type = p->channel[c].type;
        if (part_is_whole(t->job->t) && !t->job->p->j->marks) out->type[at] = type;
        if (type != out->type[at])
            return err_set(e, ERR_BAD_PIXELS, "channel '%s' has values beyond half floats",
                           p->channel[c].name);
        if (!take_plane(t, &out->plane[at], &t->img->plane[0][c], type, e)) return false;
        if (made->glare[c] && !take_glare(t, &out->glare[at], &made->glare[c], type, e))
            return false;
    }
    return true;
}

static bool look(const tile *t, const group_made *made, const part_rows *out, err *e) {
    const part_plan *p = t->job->p;
    const plan *layout = &made->sum.plan;
    uint64_t share = (uint64_t)(p->j->s->solve ? 0 : p->j->s->verify) * t->kept.w * t->kept.h;
    verify_tile s = {
        .first = t->g->first,
        .channels = t->g->count,
        .plane = (const void *const *)out->plane + t->g->first,
        .type = out->type + t->g->first,
        .w = p->w,
        .x = t->job->x,
        .y = out->y,
        .across = t->kept.w,
        .down = t->kept.h,
        .dark = t->job->seen->dark + t->g->first,
        .together = t->g->coded,
        .length = {layout->axis[layout->first].length, layout->axis[1 - layout->first].length},
        .count = (uint32_t)ceil_div_u64(share, (uint64_t)p->w * p->h)};
    return !s.count || verify_look(t->job->sampler, &s, e);
}

/* Copies the pixels of a part that is one tile as they came, with those that stay under a mask. */
static bool copy_pixels(tile *t, err *e) {
    const size_t n = (size_t)t->job->t->tile[PLAN_X] * t->job->t->tile[PLAN_Y];
    for (uint32_t c = 0; c < t->g->count; c++) {
        const size_t bytes = pixel_bytes(t->job->p->channel[t->g->first + c].type);
        if (!(t->came[c] = mem_raw(n, bytes, "pixels to verify", e))) return false;
        memcpy(t->came[c], t->img->plane[0][c], n * bytes);
    }
    return true;
}

/* Pixels that are not finite stay as they are where the mask is 0: finds those of a plane, and puts
 * 0 in their places. repairs_put brings them back. */
static bool set_aside(repairs *to, void *plane, pixel_type type, uint32_t w, uint32_t h,
                      const float *mask, err *e) {
    size_t count = 0, n = (size_t)w * h;
    float v;
    for (int fill = 0; fill < 2; fill++) { /* they are counted first */
        if (fill && (!count || !(to->pixel = mem_raw(count, sizeof *to->pixel, "pixels", e))))
            return !count;
        for (size_t i = 0; i < n; i++) {
            if (mask[i] > 0) continue;
            image_to_float(&v, plane, type, i, 1);
            if (isfinite(v)) continue;
            count++;
            if (!fill) continue;
            to->pixel[to->count++] = (struct repair_pixel){(uint32_t)(i % w), (uint32_t)(i / w), v};
            image_from_float(plane, type, i, &(float){0}, 1);
        }
    }
    return true;
}

bool part_tile_bloom(group_made *made, const part_tile *job, part_rows *out, err *e) {
    const part_plan *p = job->p;
    const tiling *tiles = job->t;
    const uint32_t *size = tiles->tile, *before = tiles->before, *after = tiles->after,
                   across = min_u32(tiles->kept[PLAN_X], p->w - job->x);
    *made = (group_made){0};
    OWN(tile)
    t = {.job = job,
         .g = &p->group[job->group],
         .made = made,
         .left = (int64_t)job->x - before[PLAN_X],
         .top = (int64_t)out->y - before[PLAN_Y],
         .useful = {[PLAN_X] = across + before[PLAN_X] + after[PLAN_X],
                    [PLAN_Y] = out->rows + before[PLAN_Y] + after[PLAN_Y]},
         .kept = {before[PLAN_X], before[PLAN_Y], across, out->rows}};
    const bool whole = part_is_whole(tiles), predict = p->j->predict;
    const bool verify = whole && p->j->s->verify && !predict && !p->j->s->solve;
    if (!make_image(&t, e) || (verify && !copy_pixels(&t, e))) return false;
    for (uint32_t c = 0; t.mask && job->seen->hidden && c < t.g->count; c++)
        if (!set_aside(&t.aside[c], t.img->plane[0][c], p->channel[t.g->first + c].type,
                       size[PLAN_X], size[PLAN_Y], t.mask, e))
            return false;
    view v = part_view(p, t.g, t.img, t.mask);
    v.s = job->s;
    v.pixels = (size_t)size[PLAN_X] * size[PLAN_Y];
    v.need.w = size[PLAN_X], v.need.h = size[PLAN_Y];
    part_place(&v.need.frame, p, tiles, (int64_t[]){t.left, t.top},
               (uint32_t[]){t.kept.w, t.kept.h});
    v.session = job->session;
    v.buf = job->buf;
    v.dark = job->seen->dark + t.g->first;
    v.digits = p->j->digits;
    v.scanned = whole ? &job->seen->group[job->group] : NULL;
    if (!whole) v.kept = t.kept;
    for (uint32_t c = 0; c < t.g->count; c++) {
        const int at = p->channel[t.g->first + c].index;
        if (p->j->doubles) v.doubles[c] = p->j->doubles[at];
        if (p->j->bounds) v.bounds[c] = p->j->bounds[at];
        if (p->j->lost) v.lost[c] = p->j->lost[at];
    }
    if (!group_bloom(made, &v, predict, e)) return false;
    for (uint32_t c = 0; c < t.g->count; c++)
        repairs_put(&t.aside[c], t.img->plane[0][c], t.img->head.part[0].channel[c].type,
                    size[PLAN_X], 0, size[PLAN_Y]);
    if (!predict && !(take_result(&t, made, out, e) && look(&t, made, out, e))) return false;
    const bool cpu = made->sum.device.class == ENGINE_CPU;
    return !verify || part_verify_came(job->sampler, p, job->group, t.came, t.mask, cpu, e);
}
