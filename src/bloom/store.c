/* A result on its way into the image: overflow of half floats, pixel types, and the ledger's rows.
 * It takes a result as it is, and does not judge it. */
#include "bloom/group.h"

#include "base/half.h"
#include "base/mem.h"

/* Finite pixels make finite results, unless the kernel's sum is large, or floats were asked for
 * that do not hold the transform's sums. */
static bool check_floats(const view *v, const outcome *o, err *e) {
    const kernel_tail *tail = &v->size->tail;
    const bool floats = o->lease.plan.sample_bytes == sizeof(float);
    for (uint32_t c = 0; c < v->channels; c++)
        if (!isfinite(o->stats[c].largest) || !isfinite(o->stats[c].sum))
            return err_set(e, ERR_BAD_PIXELS,
                           "channel '%s': values of the result are beyond 3.4e38, the largest "
                           "that floats hold; the kernel's sum is %g%s",
                           view_name(v, c), tail->sum[tail_kernel(tail, c)],
                           floats ? "; --precision=float64 holds the transform's sums" : "");
    return true;
}

/* Adds the values of a channel's glare, which has the type of its channel, that are beyond halfs.
 */
static void add_glare(group_made *made, const view *v, uint32_t c) {
    const uint32_t w = v->need.w;
    const join_box k = v->kept.w ? v->kept : (join_box){0, 0, w, v->need.h};
    for (uint32_t y = k.y; v->glare[c] && y < k.y + k.h; y++)
        for (const float *at = v->glare[c] + (size_t)y * w + k.x, *end = at + k.w; at < end; at++)
            if (fabsf(*at) > HALF_MAX) {
                made->over++;
                made->largest = fmaxf(made->largest, fabsf(*at));
            }
}

static bool choose_types(pixel_type to[VIEW_CHANNELS], group_made *made, const view *v,
                         const outcome *o, err *e) {
    for (uint32_t c = 0; c < v->channels; c++) {
        const bool wide = view_part(v)->channel[c].wide;
        to[c] = bloom_stored(v->s, wide, v->type[c]);
        if (to[c] != PIXEL_HALF && !wide) continue;
        add_glare(made, v, c);
        if (!o->stats[c].over) continue;
        made->over += o->stats[c].over;
        made->largest = fmaxf(made->largest, o->stats[c].largest);
    }
    if (!made->over) return true;
    if (v->s->half_overflow == OVERFLOW_ERROR)
        return err_set(e, ERR_BAD_PIXELS,
                       "%" PRIu64 " values of the result, up to %g, are beyond 65504, the largest "
                       "that half floats hold; use --half-overflow=clamp or float to continue",
                       made->over, (double)made->largest);
    made->wide = v->s->half_overflow == OVERFLOW_FLOAT;
    for (uint32_t c = 0; c < v->channels && made->wide; c++) to[c] = PIXEL_FLOAT;
    return true;
}

static void enter_ledger(group_made *made, const view *v, const light *l, const outcome *o,
                         const pixel_type *to) {
    const kernel_tail *tail = &v->size->tail;
    made->channels = v->channels;
    for (uint32_t c = 0; c < v->channels; c++) {
        const join_stats *st = &o->stats[c];
        const bool half = to[c] == PIXEL_HALF;
        /* The scan has sums of light that is spread, in which bad pixels have their new values; of
         * a tile, what the kernel gains is measured beforehand. Where it is solved, the result is
         * what spreads, and becomes the image. Under a mask only some of the image is made so: the
         * account is then of what changes. */
        const double more = tail->sum[tail_kernel(tail, c)] - 1,
                     spread = st->sum + st->negative_sum;
        const double gained = v->kept.w        ? 0
                              : v->size->nodes ? o->gained[c]
                              : !v->s->solve   ? l->scanned->channel[c].sum * more
                              : v->all_spread  ? -spread * more
                                               : spread - v->scanned->channel[c].sum;
        made->row[c] = (ledger_row){.gained = gained,
                                    .out = st->sum - (half ? st->over_sum : 0),
                                    .spilled = st->spilled,
                                    .overflow = half ? st->over_sum : 0,
                                    .overflow_pixels = half ? st->over : 0,
                                    .negative = st->negative_sum,
                                    .negative_pixels = st->negative,
                                    .centre = tail->centre[tail_kernel(tail, c)]};
    }
}

/* Makes planes for channels whose type changes to another than that of the result. */
static bool make_planes(void *made[VIEW_CHANNELS], const view *v, const outcome *o,
                        const pixel_type *to, err *e) {
    for (uint32_t c = 0; c < v->channels; c++) {
        made[c] = NULL;
        if (to[c] == v->type[c] || to[c] == o->type) continue;
        if ((made[c] = mem_raw(v->pixels, pixel_bytes(to[c]), "pixels of another type", e)))
            continue;
        while (c-- > 0) mem_free(made[c]);
        return false;
    }
    return true;
}

typedef struct {
    const outcome *o;
    const pixel_type *to;
} pixels_job;

static void store_pixels(const view *v, void *ctx, uint32_t c, size_t first, size_t n) {
    const pixels_job *j = ctx;
    if (j->to[c] == j->o->type) return;
    float *from = (float *)j->o->out[c] + first;
    if (j->o->stats[c].over)
        image_from_floats(*view_plane(v, c), j->to[c], first, from, n);
    else
        image_from_float(*view_plane(v, c), j->to[c], first, from, n);
}

bool store_result(group_made *told, const view *v, const light *l, outcome *o, err *e) {
    pixel_type to[VIEW_CHANNELS];
    void *made[VIEW_CHANNELS];
    if (!check_floats(v, o, e) || !choose_types(to, told, v, o, e) ||
        !make_planes(made, v, o, to, e))
        return false;
    enter_ledger(told, v, l, o, to);
    for (uint32_t c = 0; c < v->channels; c++) {
        void **own = view_plane(v, c), *old = *own;
        if (to[c] == o->type) { /* planes change places, or one of another type is not kept */
            *own = v->buf->plane[c];
            v->buf->plane[c] = v->type[c] == o->type ? old : NULL;
            if (v->type[c] != o->type) mem_free(old);
        } else if (made[c]) {
            mem_free(old);
            *own = made[c];
        }
        view_part(v)->channel[c].type = to[c];
    }
    return view_blocks(v, store_pixels, &(pixels_job){o, to}, e);
}
