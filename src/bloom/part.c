#include "bloom/part.h"

#include "base/clock.h"
#include "base/host.h"
#include "base/log.h"
#include "bloom/part_work.h"

/* --- the work in hand ----------------------------------------------------------------------- */

/* What follows from the tiles, and the rows of a band. */
typedef struct {
    const part_plan *p;
    tiling t;
    bloom_settings s; /* of the tiles */
    session *session; /* of the tiles */
    bool own;         /* it is not that of whole images */
    uint32_t idle;    /* of a field: engines that were kept before it */
    buffers buf;
    part_held held;
    part_rows out;
    void **plane; /* of each channel of the result, for the sink */
} bands;

static void bands_close(bands *b) {
    for (uint32_t c = 0; b->out.plane && c < 2 * b->p->channels; c++) mem_free(b->out.plane[c]);
    mem_free(b->out.plane);
    mem_free(b->out.type);
    mem_free(b->plane);
    if (b->held.p) part_held_free(&b->held);
    if (b->own && b->session) {
        if (session_kernel(b->session)->field) session_keep(b->session, b->idle);
        session_rest(b->session);
        session_close(&b->session);
    }
    buffers_free(&b->buf);
    *b = (bands){0};
}

/* Along an axis that is cut, a tile's transform wraps around. The exact spectrum is made at the
 * tile's lengths, so it needs no other one that is larger. */
static bool open_session(bands *b, err *e) {
    const part_job *j = b->p->j;
    const uint64_t tiles = (uint64_t)b->t.count[PLAN_X] * b->t.count[PLAN_Y];
    b->s = *j->s;
    b->session = j->session;
    if (part_is_whole(&b->t)) return true;
    for (int a = 0; a < PLAN_AXES; a++)
        if (b->t.cut[a]) b->s.border[a] = BORDER_WRAP;
    b->s.slots = 1;
    b->s.images = (uint32_t)min_u64(tiles * max_u32(b->s.images, 1), UINT32_MAX);
    if (b->s.spectrum == SPECTRUM_RESAMPLED) b->s.spectrum = SPECTRUM_EXACT;
    b->own = true;
    session_rest(j->session);
    b->session = session_open_beside(j->session, &b->s, e);
    if (b->session && session_kernel(b->session)->field)
        b->idle = session_keep(b->session, b->t.idle);
    return b->session != NULL;
}

static bool make_rows(bands *b, err *e) {
    const part_plan *p = b->p;
    bool whole = part_is_whole(&b->t);
    size_t n = (size_t)p->w * b->t.kept[PLAN_Y];
    part_rows *to = &b->out;
    to->plane = mem_new(2 * (size_t)p->channels, sizeof *to->plane, "rows", e);
    to->type = mem_new(p->channels, sizeof *to->type, "rows", e);
    b->plane = mem_new((size_t)p->result.part[0].channels, sizeof *b->plane, "planes", e);
    bool ok = to->plane && to->type && b->plane;
    to->glare = ok ? to->plane + p->channels : NULL;
    for (uint32_t c = 0; ok && c < p->channels; c++) {
        to->type[c] = p->channel[c].becomes;
        size_t bytes = pixel_bytes(to->type[c]);
        ok = whole || ((to->plane[c] = mem_raw(n, bytes, "rows of the result", e)) &&
                       (!bloom_emits(p->j->s) || (to->glare[c] = mem_raw(n, bytes, "glare", e))));
    }
    return ok;
}

/* Makes what follows from the tiles. The caller closes the bands, also after a failure. */
static bool open_bands(bands *b, const part_plan *p, const tiling *t, err *e) {
    *b = (bands){.p = p, .t = *t};
    uint32_t rows = t->cut[PLAN_Y] ? t->kept[PLAN_Y] + t->before[PLAN_Y] + t->after[PLAN_Y] : p->h;
    return open_session(b, e) && make_rows(b, e) &&
           part_held_open(&b->held, p, rows, part_is_whole(t), e);
}

static void tell_host(const bands *b, const part_tile *tile) {
    const part_plan *p = b->p;
    host *h = host_here();
    const double kept = b->t.kept[PLAN_X], tiles = (double)p->m.groups * p->w / kept,
                 at = (double)tile->group * p->w / kept + (double)tile->x / kept;
    h->span = (double)b->out.rows / p->h / fmax(tiles, 1);
    h->from = (double)b->out.y / p->h + at * h->span;
}

static bool bloom_band(bands *b, part_made *made, const part_measured *seen, sampler *s, err *e) {
    const part_plan *p = b->p;
    const tiling *t = &b->t;
    int64_t top = (int64_t)b->out.y - t->before[PLAN_Y];
    int64_t end = (int64_t)b->out.y + b->out.rows + t->after[PLAN_Y];
    b->held.seen = seen;
    if (!part_hold(&b->held, top, end, e)) return false;
    part_tile tile = {.p = p,
                      .t = t,
                      .s = &b->s,
                      .session = b->session,
                      .buf = &b->buf,
                      .held = &b->held,
                      .seen = seen,
                      .sampler = s};
    for (tile.group = 0; tile.group < (uint32_t)made->groups; tile.group++)
        for (tile.x = 0; tile.x < p->w; tile.x += t->kept[PLAN_X]) {
            tell_host(b, &tile);
            OWN_MEM group_made *one = mem_new(1, sizeof *one, "a report", e);
            bool ok = one && part_tile_bloom(one, &tile, &b->out, e);
            if (one) made->group[tile.group].wide |= one->wide;
            if (ok) group_add(&made->group[tile.group], one);
            if (!ok) return false;
        }
    return true;
}

/* Puts the rows of a band into the places of the result's channels. */
static bool place_rows(bands *b, err *e) {
    const part_plan *p = b->p;
    for (uint32_t c = 0; c < p->channels; c++) {
        const char *own = part_name(p, c);
        image_part *to = p->result.part;
        int at = image_find_channel(to, own);
        b->plane[at] = b->out.plane[c];
        to->channel[at].type = b->out.type[c];
        to->channel[at].wide = p->channel[c].becomes == PIXEL_HALF && b->out.type[c] == PIXEL_FLOAT;
        if (!b->out.glare[c]) continue;
        OWN_MEM char *name = mem_strf(e, "%s.%s", p->j->s->emit_layer, own);
        if (!name) return false;
        at = image_find_channel(to, name);
        b->plane[at] = b->out.glare[c];
        to->channel[at].type = b->out.type[c];
    }
    return true;
}

/* Hands on the rows, and with them those of channels that are not bloomed, a few at a time. */
static bool hand_on(bands *b, err *e) {
    const part_plan *p = b->p;
    const rows_source *in = p->j->in;
    const rows_sink *out = p->j->out;
    const image_part *part = p->result.part;
    void **lent = NULL;
    if (!place_rows(b, e)) return false;
    if (in->lend && !in->lend(in->ctx, p->j->part, &p->p->data, &lent, e)) return false;
    if (lent) {
        for (int c = 0; c < p->p->channels; c++) {
            void **own = &b->plane[image_find_channel(part, p->p->channel[c].name)];
            if (!*own) *own = lent[c], lent[c] = NULL;
        }
        bool ok = out->write(out->ctx, p->j->part, &(rows_band){part, 0, p->h, b->plane, true}, e);
        memset(b->out.plane, 0, 2 * p->channels * sizeof *b->out.plane);
        for (int at = 0; at < part->channels; at++) mem_free(b->plane[at]), b->plane[at] = NULL;
        return ok;
    }
    const rows_band made = {part, b->out.y, b->out.rows, b->plane, false};
    return rows_write(in, out, p->j->part, &made, e);
}

/* --- the part ------------------------------------------------------------------------------- */

/* Measures the part: rows that are held, or NULL. Starts the accounts of its groups. */
static bool measure(part_made *to, part_measured *seen, const part_plan *p, const part_held *held,
                    err *e) {
    const double start = clock_now();
    const bool ok = part_measure(seen, p, held, e);
    to->sum.bad = seen->bad;
    memcpy(to->sum.first_bad, seen->first, sizeof to->sum.first_bad);
    if (!ok || !(to->group = mem_new((size_t)seen->groups, sizeof *to->group, "a report", e)))
        return false;
    to->groups = seen->groups;
    to->group[0].sum.contract_seconds = clock_now() - start;
    for (int i = 0; i < to->groups && !p->j->predict; i++) {
        group_made *g = &to->group[i];
        g->channels = p->group[i].count;
        memcpy(g->row, seen->row + p->group[i].first, g->channels * sizeof *g->row);
    }
    return true;
}

static void tell_promise(const bloom_promise *promise) {
    char how[200];
    if (!promise->method.precision) return;
    accuracy_text(&promise->method, how, sizeof how);
    if (promise->method.kept)
        log_info("channel '%s': %s", promise->channel, how);
    else
        log_warn("channel '%s': the tolerance of %g is not kept: %s", promise->channel,
                 promise->tolerance, how);
}

/* Makes all rows, in the order of the file's lines. Where tiles take more memory than was foreseen,
 * a band is made again with tiles of half as many pixels. */
static bool bloom_bands(part_made *made, bands *b, sampler *sampled, const part_measured *seen,
                        err *e) {
    const part_plan *p = b->p;
    const bool upwards = p->p->order == LINES_DECREASING, whole = part_is_whole(&b->t);
    const size_t bytes = (size_t)made->groups * sizeof *made->group;
    OWN_MEM group_made *before = mem_raw(1, bytes, "a report", e);
    bool ok = before != NULL;
    for (uint32_t done = 0; ok && done < p->h;) {
        tiling t = b->t;
        const uint32_t most = t.kept[PLAN_Y], left = p->h - done;
        const uint32_t end = upwards ? left : min_u32(done + most, p->h);
        uint32_t row = upwards ? (left - 1) / most * most : done;
        if (upwards && left > most && left < p->h) row = left - most;
        memcpy(before, made->group, bytes);
        const size_t count = sampled->count;
        b->out.y = row, b->out.rows = end - row;
        if ((ok = bloom_band(b, made, seen, sampled, e))) {
            ok = (!whole || part_verify_alphas(sampled, p, e)) && (p->j->predict || hand_on(b, e));
            done += end - row;
            continue;
        }
        err why = {0};
        mem_plan memory;
        const double half = (double)t.tile[PLAN_X] * t.tile[PLAN_Y] / 2;
        if (whole || p->j->cut || e->code != ERR_MEMORY || !part_tiles(&t, &memory, p, half, &why))
            break;
        log_info("smaller tiles are taken: %s", e->msg);
        memcpy(made->group, before, bytes);
        sampled->count = count;
        *e = (err){0};
        bands_close(b);
        ok = open_bands(b, p, &t, e);
    }
    return ok;
}

/* A part in one tile is measured where it is held, another one before anything is held of it. */
static bool bloom_groups(part_made *to, const part_plan *p, err *e) {
    tiling t = p->j->cut ? *p->j->cut : part_one_tile(p);
    mem_plan memory;
    OWN(part_measured) seen = {.groups = 0};
    OWN(sampler) sampled = {0};
    OPEN(bands) b = {0};
    if (!p->j->cut && !p->j->in->lend && !part_tiles(&t, &memory, p, 0, e)) return false;
    const bool whole = part_is_whole(&t);
    bool ok = whole ? open_bands(&b, p, &t, e) && part_hold(&b.held, 0, p->h, e) &&
                          measure(to, &seen, p, &b.held, e)
                    : measure(to, &seen, p, NULL, e) && open_bands(&b, p, &t, e);
    ok = ok && bloom_bands(to, &b, &sampled, &seen, e) &&
         part_verify(&to->sum.verified, &sampled, p, !whole, b.out.type, &seen, e);
    to->done = ok;
    if (ok && !whole) to->sum.tiles = b.t;
    for (int i = 0; i < to->groups; i++) {
        const part_group *g = &p->group[i];
        image_part *marks = !ok && to->group[i].wide ? p->j->marks : NULL; /* for another run */
        for (uint32_t c = g->first; marks && c < g->first + g->count; c++)
            to->sum.beyond |= image_widen(&marks->channel[p->channel[c].index]);
        if (ok && !p->j->predict) tell_promise(&to->group[i].sum.promise);
    }
    return ok;
}

bool part_bloom(part_made *to, const part_job *j, err *e) {
    OWN(part_plan) p = {0};
    *to = (part_made){.done = false};
    return part_plan_make(&p, j, e) &&
           (p.m.groups ? bloom_groups(to, &p, e)
                       : rows_copy(j->in, j->out, j->part, p.result.part, e));
}

void part_made_free(part_made *m) {
    mem_free(m->group);
    *m = (part_made){.done = false};
}
