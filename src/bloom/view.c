#include "bloom/view.h"

#include "base/host.h"
#include "base/mem.h"

/* The image travels as it is stored; where its channels differ, as floats. A result that may become
 * floats in the end, since halfs cannot hold it or since it is put together of tiles, is floats. */
plan_planes view_planes(const view *v) {
    plan_planes p = {.in = PLAN_HALFS,
                     .out = v->kept.w ? PLAN_FLOATS : PLAN_HALFS,
                     .above = v->spread.threshold > 0,
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
        return (plan_planes){
            .in = PLAN_FLOATS, .out = PLAN_FLOATS, .masked = p.masked, .again = true};
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

device_way attempt_way(const accuracy *method) {
    return method->precision == PRECISION_FLOAT64 ? WAY_FLOAT64 : WAY_FLOAT32;
}

uint64_t attempt_bytes(const view *v) {
    const plan_planes planes = view_planes(v);
    size_t each = planes.out == PLAN_HALFS ? sizeof(uint16_t) : sizeof(float);
    uint32_t widened = 0;
    for (uint32_t c = 0; planes.in == PLAN_FLOATS && c < v->channels; c++)
        widened += v->type[c] != PIXEL_FLOAT;
    return v->channels * mem_rounded((uint64_t)v->pixels * each) +
           widened * mem_rounded((uint64_t)v->pixels * sizeof(float));
}

join attempt_join(const view *v, const light *l) {
    const kernel_at *size = v->size;
    join j = {.spread = v->spread,
              .kept = v->kept,
              .additive = v->s->emit == EMIT_ADDITIVE,
              .spill = v->kept.w || size->nodes ? NULL : &size->ledger,
              .field = size->nodes ? &size->field : NULL};
    for (uint32_t c = 0; c < v->channels; c++) {
        const scan_channel *in = &l->scanned->channel[c];
        double top = fmax(fabs((double)in->least), fabs((double)in->greatest));
        j.channel[c] = (join_channel){
            .centre = size->tail.centre[tail_kernel(&size->tail, c)],
            .gain = (1 - v->sharpen) * kernel_need_tint(&v->need, c),
            .nonnegative = l->nonnegative[c],
            .dark = v->dark[c] / 2,
            .most = top * size->sums[c].sum,
        };
    }
    return j;
}

static void widen(const view *v, void *ctx, uint32_t c, size_t first, size_t n) {
    float *to = ((const attempt_sources *)ctx)->widened[c];
    if (to) image_to_float(to + first, *view_plane(v, c), v->type[c], first, n);
}

bool attempt_sources_find(attempt_sources *s, const view *v, err *e) {
    const bool halfs = v->size->planes.in == PLAN_HALFS;
    bool any = false;
    for (uint32_t c = 0; c < v->channels; c++) {
        s->in[c] = *view_plane(v, c);
        if (halfs || v->type[c] == PIXEL_FLOAT) continue;
        s->in[c] = s->widened[c] = mem_raw(v->pixels, sizeof(float), "planes of floats", e);
        if (!s->in[c]) return false;
        any = true;
    }
    return !any || view_blocks(v, widen, s, e);
}

void attempt_sources_free(attempt_sources *s) {
    for (uint32_t c = 0; c < VIEW_CHANNELS; c++) mem_free(s->widened[c]);
    *s = (attempt_sources){0};
}

static void narrow(const view *v, void *ctx, uint32_t c, size_t first, size_t n) {
    float *to = (float *)((const outcome *)ctx)->out[c] + first;
    for (size_t i = 0; i < n; i++) to[i] = (float)v->doubles[c][first + i];
}

bool attempt_narrow(outcome *o, const view *v, err *e) {
    return !v->doubles[0] || view_blocks(v, narrow, o, e);
}

bool attempt_run(outcome *to, const view *v, const light *l, const accuracy *method, err *e) {
    const plan_planes planes = v->size->planes;
    const join how = attempt_join(v, l);
    OWN(attempt_sources) from = {0};
    bool again = true;
    *to = (outcome){.type = planes.out == PLAN_HALFS ? PIXEL_HALF : PIXEL_FLOAT};
    bool ok = buffers_room(v->buf, v->channels, v->pixels * pixel_bytes(to->type), e) &&
              attempt_sources_find(&from, v, e);
    for (uint32_t c = 0; ok && c < v->channels; c++) to->out[c] = v->buf->plane[c];
    const engine_frame f = {.in = from.in,
                            .lost = v->lost[0] ? v->lost : NULL,
                            .out = v->doubles[0] ? (void *const *)v->doubles : to->out,
                            .glare = planes.glare ? v->glare : NULL,
                            .join = &how};
    while (ok && again) {
        const session_want want = {.size = v->size, .way = attempt_way(method)};
        const device_lease *at = &to->lease.at;
        err why = {0};
        ok = host_ask(1.0 / (v->channels + 2), e) && session_take(&to->lease, v->session, &want, e);
        if (!ok) break;
        ok = engine_submit(at->engine, at->slot, &f, &why) &&
             engine_wait(at->engine, at->slot, to->stats, &to->times, &why);
        bool failed = !ok && why.code != ERR_CANCELLED;
        again = session_give(v->session, &to->lease, failed, &why);
        if (!ok && !again && e) *e = why;
        ok |= again;
    }
    return ok && attempt_narrow(to, v, e);
}
