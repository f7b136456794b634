#include "base/mem.h"
#include "base/number.h"
#include "base/text.h"
#include "bloom/store.h"
#include "bloom/tiled_work.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A tile: what it is made of, and where its pixels are. */
typedef struct {
    tiled_work *w;
    const tiled_spot *at;
    image *img;
    int64_t left, top;  /* its first pixel, in the part */
    uint32_t useful[2]; /* pixels along each axis that bring light into the kept ones */
    tail_kept kept;     /* in the tile */
    const void *from;   /* of take_row: a plane of the tile, */
    tiled_plane *to;    /* the channel that it belongs to, */
    uint8_t *rows;      /* and rows of its type */
} tile;

static void lay_out(tile *t) {
    const tiled_work *w = t->w;
    const psf_piece *k = t->at->piece;
    const bool *cut = w->t.cut;
    uint32_t across = min_u32(w->t.kept[PLAN_X], w->w - t->at->x);
    t->left = tiled_first(&w->t, PLAN_X, t->at->x, k->x, k->w);
    t->top = tiled_first(&w->t, PLAN_Y, t->at->y, k->y, k->h);
    t->useful[PLAN_X] = cut[PLAN_X] ? across + k->w - 1 : w->w;
    t->useful[PLAN_Y] = cut[PLAN_Y] ? t->at->rows + k->h - 1 : w->h;
    /* The centre of a piece is the tap that is nearest to the whole kernel's: psf_cut. */
    int64_t cx = min_i64(max_i64(-(int64_t)k->x, 0), k->w - 1),
            cy = min_i64(max_i64(-(int64_t)k->y, 0), k->h - 1);
    t->kept = (tail_kept){cut[PLAN_X] ? (uint32_t)(k->w - 1 - cx) : 0,
                          cut[PLAN_Y] ? (uint32_t)(k->h - 1 - cy) : 0, across, t->at->rows};
}

/* --- the tile's image ------------------------------------------------------------------------- */

/* Copies pixels into a row of the tile: as they are, or as floats where the tile has these. */
static void copy_pixels(const tiled_plane *is, uint8_t *to, size_t at, const uint8_t *from,
                        size_t first, size_t n) {
    size_t each = pixel_bytes(is->type);
    if (is->sum)
        image_to_float((float *)(void *)to + at, from, is->type, first, n);
    else
        memcpy(to + at * each, from + first * each, n * each);
}

/* Fills one row of one channel of a tile. */
static bool fill_row(void *ctx, size_t index, int worker, err *e) {
    const tile *t = ctx;
    const tiled_work *w = t->w;
    const uint32_t *size = w->t.tile;
    (void)worker, (void)e;
    uint32_t c = (uint32_t)(index / size[PLAN_Y]), row = (uint32_t)(index % size[PLAN_Y]);
    const tiled_plane *is = &w->list[t->at->o->first + c];
    const image_part *p = &t->at->o->head.part[0];
    int to_channel = image_find_channel(p, w->p->channel[is->index].name);
    size_t each = pixel_bytes(p->channel[to_channel].type), n = size[PLAN_X];
    uint8_t *to = (uint8_t *)t->img->plane[0][to_channel] + row * n * each;
    memset(to, 0, n * each);
    if (row >= t->useful[PLAN_Y]) return true;
    const uint8_t *from = tiled_row(w, is, t->top + row);
    int64_t end = t->left + t->useful[PLAN_X];
    int64_t inside[2] = {clamp_i64(0, t->left, end), clamp_i64(w->w, t->left, end)};
    if (inside[0] < inside[1])
        copy_pixels(is, to, (size_t)(inside[0] - t->left), from, (size_t)inside[0],
                    (size_t)(inside[1] - inside[0]));
    for (int64_t x = t->left; x < end; x++) {
        if (x == inside[0]) x = inside[1];
        if (x >= end) break;
        int64_t source = plan_place(w->j->s->border[PLAN_X], w->w, x);
        if (source >= 0) copy_pixels(is, to, (size_t)(x - t->left), from, (size_t)source, 1);
    }
    const join_excess excess = {is->by->threshold, is->by->knee};
    if (is->sum && excess.threshold > 0) {
        float *v = (float *)(void *)to;
        join_excess_row(&excess, v, v, n);
    }
    return true;
}

/* Makes the tile's image. */
static bool make_image(tile *t, err *e) {
    const uint32_t *size = t->w->t.tile;
    image_part *p = &t->at->o->head.part[0];
    p->data.x0 = t->w->p->data.x0 + (int32_t)t->at->x - (int32_t)t->kept.x;
    p->data.y0 = t->w->p->data.y0 + (int32_t)t->at->y - (int32_t)t->kept.y;
    p->data.x1 = p->data.x0 + (int32_t)size[PLAN_X] - 1;
    p->data.y1 = p->data.y0 + (int32_t)size[PLAN_Y] - 1;
    p->display = p->data;
    t->img = image_new_unset(&t->at->o->head, NULL, e);
    return t->img &&
           par_for(t->w->j->threads, (size_t)t->at->o->count * size[PLAN_Y], fill_row, t, e);
}

/* --- its result ------------------------------------------------------------------------------- */

bool tiled_refuse_whole(const tiled_work *w, const char *why, const char *instead, err *e) {
    char needs[32], limit[32];
    return err_set(e, ERR_MEMORY,
                   "%s the whole image, which takes about %s of memory and is made in tiles under "
                   "the limit of %s; raise --mem-limit (or --vram-limit, if it is that), or use %s",
                   why, text_bytes((double)w->j->rows->whole, needs),
                   text_bytes((double)mem_limit(), limit), instead);
}

bool tiled_refuse_over(const tiled_work *w, const tiled_plane *is, err *e) {
    char why[200];
    const char *name = w->p->channel[is->index].name;
    bool wide = w->j->s->half_overflow == OVERFLOW_FLOAT;
    if (!wide)
        return err_set(e, ERR_BAD_PIXELS,
                       "channel '%s' has values beyond 65504, the largest that half floats hold; "
                       "use --half-overflow clamp or --pixel-type float to continue",
                       name);
    snprintf(why, sizeof why,
             "channel '%s' has values beyond half floats; --half-overflow float looks for them in",
             name);
    return tiled_refuse_whole(w, why, "--half-overflow clamp or --pixel-type float", e);
}

/* Takes what counts of a row of a tile's channel. */
static bool take_row(void *ctx, size_t y, int worker, err *e) {
    const tile *t = ctx;
    const tiled_work *w = t->w;
    (void)worker, (void)e;
    size_t from = (t->kept.y + y) * w->t.tile[PLAN_X] + t->kept.x, to = y * w->w + t->at->x;
    if (t->to->sum) {
        const float *v = (const float *)t->from + from;
        double *sum = t->to->sum + to;
        for (uint32_t x = 0; x < t->kept.w; x++) sum[x] += (double)v[x];
        return true;
    }
    size_t each = pixel_bytes(t->to->becomes);
    memcpy(t->rows + to * each, (const uint8_t *)t->from + from * each, t->kept.w * each);
    return true;
}

static bool take_plane(tile *t, tiled_plane *to, uint8_t *rows, const void *plane, err *e) {
    t->to = to;
    t->rows = rows;
    t->from = plane;
    return par_for(t->w->j->threads, t->kept.h, take_row, t, e);
}

static bool take_glare(tile *t, tiled_plane *to, float *glare, err *e) {
    size_t n = (size_t)t->w->t.tile[PLAN_X] * t->w->t.tile[PLAN_Y];
    void *made = mem_raw(n, pixel_bytes(to->becomes), "glare", e);
    if (!made) return false;
    store_floats(made, to->becomes, 0, glare, n);
    bool ok = take_plane(t, to, to->glare, made, e);
    mem_free(made);
    return ok;
}

static bool take_result(tile *t, const group_glare *glare, err *e) {
    tiled_work *w = t->w;
    const image_part *p = &t->img->head.part[0];
    for (uint32_t c = 0; c < t->at->o->count; c++) {
        tiled_plane *to = &w->list[t->at->o->first + c];
        int from = image_find_channel(p, w->p->channel[to->index].name);
        if (!to->sum && p->channel[from].type != to->becomes) return tiled_refuse_over(w, to, e);
        if (!take_plane(t, to, to->out, t->img->plane[0][from], e)) return false;
        if (to->glare && !to->sum && !take_glare(t, to, glare->channel[c].plane, e)) return false;
    }
    return true;
}

/* Adds the rows that a tile has entered into the ledger to those of the part. Of a piece of the
 * kernel, what was cut off as noise counts, the rest is counted when all of them are there. */
static void add_ledger(const tile *t, bloom_report *r, uint32_t notes) {
    uint64_t over = 0;
    for (uint32_t c = 0; c < r->ledger_rows; c++) {
        const ledger_row *from = &r->ledger[c];
        tiled_plane *is = &t->w->list[t->at->o->first + c];
        ledger_row *to = &is->row;
        to->negative += (is->sum ? 1 - is->by->sharpen : 1) * from->negative;
        to->negative_pixels += from->negative_pixels;
        if (is->sum) continue;
        to->out += from->out;
        to->overflow += from->overflow;
        to->overflow_pixels += from->overflow_pixels;
        over += from->overflow_pixels;
    }
    r->ledger_rows = 0;
    if (over) r->notes = notes; /* there will be one note for all tiles */
}

/* --- blooming --------------------------------------------------------------------------------- */

/* Notes by how much the pixels of a piece's tile may be off, its results being floats. */
static void note_errors(const tile *t, const accuracy *m, const view_tile *is) {
    const tiled_portion *o = t->at->o;
    for (uint32_t c = 0; c < o->count; c++) {
        tiled_plane *to = &t->w->list[o->first + c];
        int from = image_find_channel(&t->img->head.part[0], t->w->p->channel[to->index].name);
        const float *v = t->img->plane[0][from];
        float largest = 0;
        for (uint32_t y = 0; y < t->kept.h; y++)
            for (uint32_t x = 0; x < t->kept.w; x++)
                largest =
                    fmaxf(largest,
                          fabsf(v[(size_t)(t->kept.y + y) * t->w->t.tile[PLAN_X] + t->kept.x + x]));
        double relative = accuracy_relative(m) + 0x1p-24;
        double off = m->error[c] + relative * fmax((double)largest, is->dark[c]);
        to->off_piece = fmax(to->off_piece, off);
    }
}

/* Blooms a tile whose image is there. */
static bool bloom_image_of(tile *t, bloom_report *r, err *e) {
    tiled_work *w = t->w;
    const tiled_portion *o = t->at->o;
    bool pieces = w->list[o->first].sum;
    double dark[VIEW_CHANNELS];
    group_glare glare = {0};
    uint32_t notes = r->notes;
    view_tile is = {.kept = t->kept, .whole = o->whole, .dark = dark, .dark_outside = true};
    is.piece = *t->at->piece;
    if (o->whole && o->whole->channels > 1) {
        is.piece.channel = o->from;
        is.piece.channels = o->count;
    } else {
        is.piece.channels = 1;
    }
    for (uint32_t c = 0; c < o->count; c++)
        dark[c] = fmax(w->list[o->first + c].dark, w->list[o->first + c].least) /
                  tiling_pieces(&w->t);
    for (int a = 0; a < PLAN_AXES; a++)
        is.dark_outside &= w->t.cut[a] || w->s.border[a] == BORDER_ZERO;
    const layer_light all = {.sharpen = 0};
    const group_job j = {.s = &w->s,
                         .threads = w->j->threads,
                         .session = w->session,
                         .buf = &w->buf,
                         .img = t->img,
                         .part = 0,
                         .layer = &o->layer,
                         .light = pieces ? &all : w->list[o->first].by,
                         .height = w->j->height,
                         .tile = &is,
                         .glare = tiled_emits(&w->s) ? &glare : NULL};
    /* Of a piece, the promise that is told is that of this tile, and not the worst of all. */
    if (pieces) r->promise.method = (accuracy){.allowed = 1, .kept = true};
    bool ok = group_bloom(&j, r, e) && take_result(t, &glare, e);
    if (ok) add_ledger(t, r, notes);
    if (ok && pieces) {
        w->kept &= r->promise.method.kept;
        note_errors(t, &r->promise.method, &is);
    }
    group_glare_free(&glare);
    return ok;
}

bool tiled_tile(tiled_work *w, const tiled_spot *at, bloom_report *r, err *e) {
    tile t = {.w = w, .at = at};
    lay_out(&t);
    bool ok = make_image(&t, e) && bloom_image_of(&t, r, e);
    image_free(&t.img);
    return ok;
}
