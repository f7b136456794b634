#include "bloom/view.h"

#include "base/mem.h"
#include "base/number.h"

/* The image travels as it is stored; where its channels differ, as floats. A result that may become
 * floats in the end, since halfs cannot hold it or since it is put together of tiles, is floats. */
plan_planes view_planes(const view *v) {
    plan_planes p = {.in = PLAN_HALFS,
                     .out = v->kept.w ? PLAN_FLOATS : PLAN_HALFS,
                     .partly = !v->all,
                     .masked = v->spread.mask != NULL,
                     .glare = v->emits && v->s->emit != EMIT_SOURCE,
                     .margins = v->kept.w != 0};
    for (uint32_t c = 0; c < v->channels; c++) {
        if (v->type[c] != PIXEL_HALF) p.in = PLAN_FLOATS;
        if (!bloom_stores_halfs(v->s, view_part(v)->channel[c].wide, v->type[c]))
            p.out = PLAN_FLOATS;
    }
    if (v->doubles[0]) p.out = PLAN_DOUBLES;
    if (v->s->solve)
        return (plan_planes){.in = PLAN_FLOATS,
                             .out = PLAN_FLOATS,
                             .partly = p.masked,
                             .masked = p.masked,
                             .again = true};
    return p;
}

typedef struct {
    const view *v;
    view_fn *fn;
    void *ctx;
    size_t blocks; /* of a channel */
} block_job;

static bool do_block(void *ctx, size_t index, int worker, err *e) {
    const block_job *j = ctx;
    (void)worker, (void)e;
    size_t first = index % j->blocks * VIEW_BLOCK;
    j->fn(j->v, j->ctx, (uint32_t)(index / j->blocks), first,
          min_size(VIEW_BLOCK, j->v->pixels - first));
    return true;
}

bool view_blocks(const view *v, view_fn *fn, void *ctx, err *e) {
    block_job j = {v, fn, ctx, ceil_div_size(v->pixels, VIEW_BLOCK)};
    return par_for(v->threads, v->channels * j.blocks, do_block, &j, e);
}

bool buffers_room(buffers *b, uint32_t channels, size_t bytes, err *e) {
    if (b->bytes != bytes) buffers_free(b);
    b->bytes = bytes;
    for (uint32_t c = 0; c < channels; c++)
        if (!b->plane[c] && !(b->plane[c] = mem_raw(bytes, 1, "planes", e))) return false;
    return true;
}

void buffers_free(buffers *b) {
    for (int c = 0; c < ENGINE_CHANNELS; c++) mem_free(b->plane[c]);
    *b = (buffers){0};
}
