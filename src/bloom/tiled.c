#include "bloom/tiled.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/number.h"
#include "bloom/store.h"
#include "bloom/tiled_work.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- what is bloomed ------------------------------------------------------------------------ */

static pixel_type becomes(const bloom_settings *s, pixel_type t) {
    return s->half && t == PIXEL_FLOAT ? PIXEL_HALF : t;
}

static bool emits(const bloom_settings *s) {
    return s->emit_layer && *s->emit_layer;
}

bool tiled_header(image_part *p, const bloom_settings *s, err *e) {
    layer_map m = {0};
    text names = {0}; /* of the channels to add: a new one moves the others */
    bool ok = layer_map_make(&m, p, s->layers, s->exclude, e);
    for (int i = 0; ok && i < m.groups; i++)
        for (uint32_t c = 0; c < tiled_channels(s, &m.group[i]); c++) {
            image_channel *is = &p->channel[tiled_channel(&m.group[i], c)];
            is->type = becomes(s, is->type);
            if (emits(s)) text_add(&names, "%c%s.%s\n", '0' + is->type, s->emit_layer, is->name);
        }
    for (char *at = names.s; ok && at && *at;) {
        char *end = strchr(at, '\n');
        *end = 0;
        ok = image_add_channel(p, at + 1, (pixel_type)(*at - '0'), e) ||
             err_in(e, "layer '%s'", s->emit_layer);
        at = end + 1;
    }
    text_free(&names);
    layer_map_free(&m);
    return ok;
}

/* --- choosing tiles ------------------------------------------------------------------------- */

typedef struct {
    session *session;
    device_forecast *each;
} device_check;

static bool a_device_fits(void *ctx, const plan_request *tile) {
    device_check *d = ctx;
    bloom_forecasts f = {.each = d->each};
    return session_forecast(d->session, tile, &f, NULL) >= 0;
}

/* Libraries take memory that nobody counts, graphics drivers more than others, and so does what
 * rounds up to whole pages. */
static uint64_t memory_for(const tiled_job *j) {
    bool cpu = j->s->device && strcmp(j->s->device, "cpu") == 0;
    uint64_t left = mem_left(), libraries = (cpu ? 32u : 128u) << 20;
    uint64_t beside = left / 16 + min_u64(left / 5, libraries) + j->rows->bytes;
    return left > beside ? left - beside : 0;
}

static bool choose(tiling *t, const tiled_job *j, const layer_map *m, uint64_t memory, err *e) {
    const image_part *p = &j->head->part[j->part];
    psf k = {0};
    tiling_request r = {
        .memory = memory, .limit = mem_limit(), .rows = j->rows->step(j->rows->ctx, j->part)};
    uint32_t most = 0;
    for (int i = 0; i < m->groups; i++) {
        uint32_t n = tiled_channels(j->s, &m->group[i]);
        most = max_u32(most, n);
        for (uint32_t c = 0; c < n; c++) {
            pixel_type type = p->channel[tiled_channel(&m->group[i], c)].type;
            uint32_t bytes = (uint32_t)pixel_bytes(becomes(j->s, type));
            r.pixel_in += (uint32_t)pixel_bytes(type);
            r.pixel_out += emits(j->s) ? 2 * bytes : bytes;
            r.sample_bytes = max_u32(r.sample_bytes, (uint32_t)pixel_bytes(type));
        }
    }
    const kernel_need need = tiled_need(j, most);
    if (!tiled_psf(&k, j, &need, NULL, e)) return false;
    r.ask = session_request(j->s, &k, &need);
    r.ask.precision = j->s->precision;
    r.alone = k.channels == 1;
    if (emits(j->s) || j->s->verify) r.sample_bytes += 4;
    /* The taps, in the file's form, the psf's and the tail's, and twice four times as many in the
     * spectrum that others are resampled from. */
    r.fixed = 16 * sizeof(float) * (uint64_t)k.w * k.h * k.channels;
    psf_free(&k);
    device_check d = {j->session, mem_new(ENGINE_DEVICES, sizeof *d.each, "forecasts", e)};
    bool ok = d.each && tiling_choose(t, &r, a_device_fits, &d, e);
    mem_free(d.each);
    return ok;
}

bool tiled_choose(tiling *t, const tiled_job *j, err *e) {
    layer_map m;
    if (!layer_map_make(&m, &j->head->part[j->part], j->s->layers, j->s->exclude, e)) return false;
    bool ok = choose(t, j, &m, memory_for(j), e);
    layer_map_free(&m);
    return ok;
}

/* --- opening -------------------------------------------------------------------------------- */

static bool list_channels(tiled_work *w, err *e) {
    for (int i = 0; i < w->m.groups; i++) w->channels += tiled_channels(w->j->s, &w->m.group[i]);
    w->list = mem_new(w->channels, sizeof *w->list, "channels", e);
    tiled_plane *to = w->list;
    for (int i = 0; to && i < w->m.groups; i++)
        for (uint32_t c = 0; c < tiled_channels(w->j->s, &w->m.group[i]); c++, to++) {
            to->index = tiled_channel(&w->m.group[i], c);
            to->type = w->p->channel[to->index].type;
            to->becomes = becomes(w->j->s, to->type);
            to->seen.least = INFINITY;
            to->seen.greatest = -INFINITY;
            to->seen.count = to->count;
        }
    return w->list != NULL;
}

/* Makes the header of a portion's tiles. EXR has its own order of channels. */
static bool make_head(tiled_portion *o, const tiled_work *w, err *e) {
    enum { SMALL = 256 };
    const layer_group *g = o->group;
    image_part *p = mem_new(1, sizeof *p, "a tile", e);
    if (!p) return false;
    o->head = (image_header){.format = w->j->head->format, .part = p, .parts = 1};
    p->aspect = w->p->aspect;
    /* What the colours are is said by small attributes. */
    for (int i = 0; i < w->p->attrs; i++) {
        const image_attr *a = &w->p->attr[i];
        if (a->bytes <= SMALL && !image_push_attr(p, a->name, a->type, a->data, a->bytes, e))
            return false;
    }
    for (uint32_t c = 0; c < o->count; c++) {
        const tiled_plane *is = &w->list[o->first + c];
        if (!image_add_channel(p, w->p->channel[is->index].name, is->type, e)) return false;
    }
    o->layer = (layer_group){.name = g->name, .alpha = -1};
    for (uint32_t c = 0; c < o->count; c++) {
        int at = image_find_channel(p, w->p->channel[w->list[o->first + c].index].name);
        bool alpha = o->count > 1 && c >= (uint32_t)g->channels;
        if (alpha)
            o->layer.alpha = at;
        else
            o->layer.channel[o->layer.channels++] = at;
    }
    return true;
}

/* The channels of a group together, or each by itself. */
static bool make_portions(tiled_work *w, err *e) {
    w->portion = mem_new(w->channels, sizeof *w->portion, "tiles", e);
    uint32_t first = 0;
    for (int i = 0; w->portion && i < w->m.groups; i++) {
        uint32_t n = tiled_channels(w->j->s, &w->m.group[i]);
        uint32_t each = w->t.channels == 1 ? 1 : n;
        for (uint32_t c = 0; c < n; c += each, first += each) {
            tiled_portion *o = &w->portion[w->portions++];
            o->group = &w->m.group[i];
            o->first = first;
            o->count = each;
            if (!make_head(o, w, e)) return false;
        }
    }
    return w->portion != NULL;
}

static bool make_rows(tiled_work *w, err *e) {
    const tiling *t = &w->t;
    w->room = t->cut[PLAN_Y] ? t->kept[PLAN_Y] + t->before[PLAN_Y] + t->after[PLAN_Y] : w->h;
    for (uint32_t c = 0; c < w->channels; c++) {
        tiled_plane *is = &w->list[c];
        size_t made = (size_t)w->w * t->kept[PLAN_Y], bytes = pixel_bytes(is->becomes);
        is->in = mem_raw((size_t)w->w * w->room, pixel_bytes(is->type), "rows", e);
        is->out = is->in ? mem_raw(made, bytes, "rows of the result", e) : NULL;
        if (!is->out) return false;
        if (emits(w->j->s) && !(is->glare = mem_raw(made, bytes, "glare", e))) return false;
    }
    return true;
}

/* Along an axis that is cut, a tile's transform wraps around. */
static bool open_session(tiled_work *w, err *e) {
    w->s = *w->j->s;
    for (int a = 0; a < PLAN_AXES; a++)
        if (w->t.cut[a]) w->s.border[a] = BORDER_WRAP;
    uint64_t tiles = (uint64_t)w->t.count[PLAN_X] * w->t.count[PLAN_Y];
    w->s.slots = 1;
    w->s.verify = (uint32_t)ceil_div_u64(w->s.verify, tiles);
    w->s.images = (uint32_t)min_u64(tiles * max_u32(w->s.images, 1), UINT32_MAX);
    w->session =
        session_open(&w->s, session_kernel(w->j->session)->path, session_devices(w->j->session), e);
    return w->session != NULL;
}

static bool open_work(tiled_work *w, const tiled_job *j, err *e) {
    *w = (tiled_work){.j = j, .p = &j->head->part[j->part]};
    w->w = image_width(w->p);
    w->h = image_height(w->p);
    const image_header own = {.part = &j->head->part[j->part], .parts = 1};
    if (!image_header_copy(&w->result, &own, e) || !tiled_header(w->result.part, j->s, e) ||
        !layer_map_make(&w->m, w->p, j->s->layers, j->s->exclude, e))
        return false;
    w->plane = mem_new((size_t)w->result.part[0].channels, sizeof *w->plane, "planes", e);
    return w->plane &&
           (!w->m.groups || (list_channels(w, e) && choose(&w->t, j, &w->m, memory_for(j), e)));
}

/* Frees what follows from the tiles. */
static void drop_tiles(tiled_work *w) {
    for (uint32_t c = 0; w->list && c < w->channels; c++) {
        tiled_plane *is = &w->list[c];
        mem_free(is->in);
        mem_free(is->out);
        mem_free(is->glare);
        is->in = is->out = is->glare = NULL;
    }
    for (uint32_t i = 0; i < w->portions; i++) image_header_free(&w->portion[i].head);
    mem_free(w->portion);
    w->portion = NULL;
    w->portions = 0;
    w->from = w->to = 0;
    session_close(&w->session);
    buffers_free(&w->buf);
}

static void close_work(tiled_work *w) {
    drop_tiles(w);
    mem_free(w->list);
    mem_free(w->plane);
    layer_map_free(&w->m);
    image_header_free(&w->result);
}

/* --- tiles ---------------------------------------------------------------------------------- */

/* A tile: its place among the others, and the pixels of it that are kept. */
typedef struct {
    tiled_work *w;
    tiled_portion *o;
    image *img;
    uint32_t x, y;
    tail_kept kept;
} tile;

/* Fills one row of one channel of a tile. */
static bool fill_row(void *ctx, size_t index, int worker, err *e) {
    const tile *at = ctx;
    const tiled_work *w = at->w;
    const tiling *t = &w->t;
    (void)worker, (void)e;
    uint32_t c = (uint32_t)(index / t->tile[PLAN_Y]), row = (uint32_t)(index % t->tile[PLAN_Y]);
    const tiled_plane *is = &w->list[at->o->first + c];
    const image_part *p = &at->o->head.part[0];
    int to_channel = image_find_channel(p, w->p->channel[is->index].name);
    size_t each = pixel_bytes(is->type), n = t->tile[PLAN_X];
    uint8_t *to = (uint8_t *)at->img->plane[0][to_channel] + row * n * each;
    if (row >= t->before[PLAN_Y] + at->kept.h + t->after[PLAN_Y]) {
        memset(to, 0, n * each);
        return true;
    }
    const uint8_t *from = tiled_row(w, is, (int64_t)at->y - t->before[PLAN_Y] + row);
    int64_t left = (int64_t)at->x - t->before[PLAN_X];
    int64_t needed = left + t->before[PLAN_X] + at->kept.w + t->after[PLAN_X];
    int64_t inside[2] = {max_i64(left, 0), min_i64(needed, w->w)};
    memcpy(to + (size_t)(inside[0] - left) * each, from + (size_t)inside[0] * each,
           (size_t)(inside[1] - inside[0]) * each);
    for (int64_t x = left; x < left + (int64_t)n; x++) {
        if (x == inside[0]) x = inside[1];
        if (x >= left + (int64_t)n) break;
        int64_t source = x < needed ? plan_place(w->j->s->border[PLAN_X], w->w, x) : -1;
        uint8_t *pixel = to + (size_t)(x - left) * each;
        if (source < 0)
            memset(pixel, 0, each);
        else
            memcpy(pixel, from + (size_t)source * each, each);
    }
    return true;
}

/* Makes the tile's image. */
static bool make_tile(tile *at, err *e) {
    const tiling *t = &at->w->t;
    image_part *p = &at->o->head.part[0];
    p->data.x0 = at->w->p->data.x0 + (int32_t)at->x - (int32_t)t->before[PLAN_X];
    p->data.y0 = at->w->p->data.y0 + (int32_t)at->y - (int32_t)t->before[PLAN_Y];
    p->data.x1 = p->data.x0 + (int32_t)t->tile[PLAN_X] - 1;
    p->data.y1 = p->data.y0 + (int32_t)t->tile[PLAN_Y] - 1;
    p->display = p->data;
    at->img = image_new_unset(&at->o->head, NULL, e);
    return at->img &&
           par_for(at->w->j->threads, (size_t)at->o->count * t->tile[PLAN_Y], fill_row, at, e);
}

/* Copies what counts of a tile's channel to the rows of the result. */
static void take_kept(const tile *at, uint8_t *to, const void *plane, pixel_type t) {
    const tiled_work *w = at->w;
    size_t each = pixel_bytes(t), n = at->kept.w * each;
    for (uint32_t y = 0; y < at->kept.h; y++)
        memcpy(to + ((size_t)y * w->w + at->x) * each,
               (const uint8_t *)plane +
                   ((size_t)(at->kept.y + y) * w->t.tile[PLAN_X] + at->kept.x) * each,
               n);
}

static bool take_result(const tile *at, group_glare *glare, err *e) {
    const tiled_work *w = at->w;
    for (uint32_t c = 0; c < at->o->count; c++) {
        const tiled_plane *is = &w->list[at->o->first + c];
        const char *name = w->p->channel[is->index].name;
        int from = image_find_channel(&at->img->head.part[0], name);
        if (at->img->head.part[0].channel[from].type != is->becomes)
            return err_set(e, ERR_BAD_PIXELS,
                           "channel '%s' has values beyond 65504, the largest that half floats "
                           "hold; --half-overflow float must know that before the first row is "
                           "written, which it cannot where an image does not fit into the memory; "
                           "use --half-overflow clamp or --pixel-type float",
                           name);
        take_kept(at, is->out, at->img->plane[0][from], is->becomes);
        if (!is->glare) continue;
        size_t n = (size_t)w->t.tile[PLAN_X] * w->t.tile[PLAN_Y];
        void *made = mem_raw(n, pixel_bytes(is->becomes), "glare", e);
        if (!made) return false;
        store_floats(made, is->becomes, 0, glare->channel[c].plane, n);
        take_kept(at, is->glare, made, is->becomes);
        mem_free(made);
    }
    return true;
}

/* Adds the rows that a tile has entered into the ledger to those of the part. */
static void add_ledger(const tile *at, bloom_report *r, uint32_t notes) {
    uint64_t over = 0;
    for (uint32_t c = 0; c < r->ledger_rows; c++) {
        const ledger_row *from = &r->ledger[c];
        ledger_row *to = &at->w->list[at->o->first + c].row;
        to->out += from->out;
        to->overflow += from->overflow;
        to->overflow_pixels += from->overflow_pixels;
        to->negative += from->negative;
        to->negative_pixels += from->negative_pixels;
        over += from->overflow_pixels;
    }
    r->ledger_rows = 0;
    if (over) r->notes = notes; /* there will be one note for all tiles */
}

static bool bloom_tile(tile *at, bloom_report *r, err *e) {
    tiled_work *w = at->w;
    double dark[VIEW_CHANNELS];
    group_glare glare = {0};
    uint32_t notes = r->notes;
    view_tile is = {.kept = at->kept, .dark = dark, .dark_outside = true};
    for (uint32_t c = 0; c < at->o->count; c++) dark[c] = w->list[at->o->first + c].dark;
    for (int a = 0; a < PLAN_AXES; a++)
        is.dark_outside &= w->t.cut[a] || w->s.border[a] == BORDER_ZERO;
    layer_light by;
    if (!layer_light_of(&by, &w->s, &at->img->head.part[0], &at->o->layer, e)) return false;
    const group_job j = {.s = &w->s,
                         .threads = w->j->threads,
                         .session = w->session,
                         .buf = &w->buf,
                         .img = at->img,
                         .part = 0,
                         .layer = &at->o->layer,
                         .light = &by,
                         .height = w->h,
                         .tile = &is,
                         .glare = emits(&w->s) ? &glare : NULL};
    bool ok = group_bloom(&j, r, e) && take_result(at, &glare, e);
    if (ok) add_ledger(at, r, notes);
    group_glare_free(&glare);
    return ok;
}

/* Makes and hands on one row of tiles. */
static bool bloom_band(tiled_work *w, uint32_t y, uint32_t rows, bloom_report *r, err *e) {
    const tiling *t = &w->t;
    bool cut = t->cut[PLAN_Y];
    if (!tiled_hold(w, (int64_t)y - t->before[PLAN_Y], (int64_t)y + rows + t->after[PLAN_Y], e))
        return false;
    for (uint32_t x = 0; x < w->w; x += t->kept[PLAN_X])
        for (uint32_t i = 0; i < w->portions; i++) {
            tile at = {.w = w, .o = &w->portion[i], .x = x, .y = y};
            at.kept = (tail_kept){t->before[PLAN_X], t->before[PLAN_Y],
                                  min_u32(t->kept[PLAN_X], w->w - x), cut ? rows : w->h};
            bool ok = make_tile(&at, e) && bloom_tile(&at, r, e);
            image_free(&at.img);
            if (!ok) return false;
        }
    const bloom_rows *to = w->j->rows;
    w->writing = true;
    bool ok = to->write(to->ctx, w->j->part, y, rows, w->plane, e);
    w->writing = !ok;
    return ok;
}

/* --- the part ------------------------------------------------------------------------------- */

static void place_planes(tiled_work *w) {
    text name = {0};
    for (uint32_t c = 0; c < w->channels; c++) {
        const tiled_plane *is = &w->list[c];
        const char *own = w->p->channel[is->index].name;
        w->plane[image_find_channel(w->result.part, own)] = is->out;
        if (!is->glare) continue;
        text_free(&name);
        text_add(&name, "%s.%s", w->j->s->emit_layer, own);
        w->plane[image_find_channel(w->result.part, name.s)] = is->glare;
    }
    text_free(&name);
}

/* Enters what all tiles together have come to. */
static void enter(tiled_work *w, bloom_report *r, const bloom_report *made) {
    uint32_t groups = r->groups;
    uint64_t over = 0;
    bloom_report *all = r;
    ledger_row *row = r->ledger;
    uint32_t rows = r->ledger_rows;
    for (uint32_t c = 0; c < w->channels; c++) {
        ledger_row *is = &w->list[c].row;
        is->size = fmax(is->size, fmax(fabs(is->in), fabs(is->out)));
        over += is->overflow_pixels;
        if (rows < BLOOM_LEDGER) row[rows++] = *is;
    }
    ledger_row kept[BLOOM_LEDGER];
    memcpy(kept, row, sizeof kept);
    *all = *made;
    memcpy(all->ledger, kept, sizeof kept);
    all->ledger_rows = rows;
    all->groups = groups + (uint32_t)w->m.groups;
    all->tiles = w->t;
    if (over) store_note(all, "%" PRIu64 " values beyond 65504 were clamped to it", over);
    char how[200];
    const bloom_promise *p = &all->promise;
    accuracy_text(&p->method, how, sizeof how);
    log_info("channel '%s': %s", p->channel, how);
    if (!p->method.kept && w->j->s->spectrum != SPECTRUM_BILINEAR)
        log_warn("channel '%s': the tolerance of %g is not kept: %s", p->channel, p->tolerance,
                 how);
}

/* Makes what follows from the tiles. */
static bool take_tiles(tiled_work *w, err *e) {
    bool ok = make_portions(w, e) && open_session(w, e) && make_rows(w, e);
    if (ok) place_planes(w);
    return ok;
}

/* Chooses smaller tiles after an attempt that took more memory than was foreseen: float64, where an
 * image needs it, takes twice as much. Returns false if there are none. */
static bool take_smaller(tiled_work *w, err *e) {
    tiling smaller;
    if (e->code != ERR_RETRY || w->writing || mem_refusals() == w->refusals ||
        !choose(&smaller, w->j, &w->m, w->t.bytes / 5 * 3, NULL))
        return false;
    drop_tiles(w);
    w->refusals = mem_refusals();
    w->t = smaller;
    *e = (err){0};
    return take_tiles(w, e);
}

/* Makes all rows, in the order of the file's lines. A band that fails for want of memory is made
 * again, with smaller tiles. */
static bool bloom_bands(tiled_work *w, bloom_report *made, err *e) {
    w->refusals = mem_refusals();
    bool upwards = w->p->order == LINES_DECREASING, ok = take_tiles(w, e);
    bloom_report *before = mem_new(1, sizeof *before, "a report", e);
    ledger_row *rows = mem_new(w->channels, sizeof *rows, "ledger", e);
    ok = ok && before && rows;
    for (uint32_t done = 0; ok && done < w->h;) {
        uint32_t most = w->t.kept[PLAN_Y], left = w->h - done;
        uint32_t end = upwards ? left : min_u32(done + most, w->h);
        uint32_t row = upwards ? (left - 1) / most * most : done;
        if (upwards && left > most && left < w->h) row = left - most;
        *before = *made;
        for (uint32_t c = 0; c < w->channels; c++) rows[c] = w->list[c].row;
        ok = bloom_band(w, row, end - row, made, e);
        if (ok) done += end - row;
        if (ok || !take_smaller(w, e)) continue;
        *made = *before;
        for (uint32_t c = 0; c < w->channels; c++) w->list[c].row = rows[c];
        ok = true;
    }
    mem_free(before);
    mem_free(rows);
    return ok;
}

static bool bloom_part(tiled_work *w, bloom_report *r, err *e) {
    bloom_report *made = mem_new(1, sizeof *made, "a report", e);
    if (!made) return false;
    *made = *r;
    bool ok = tiled_measure(w, made, e);
    made->ledger_rows = 0;
    ok = ok && bloom_bands(w, made, e);
    if (ok) {
        enter(w, r, made);
    } else {
        r->bad = made->bad;
        memcpy(r->first_bad, made->first_bad, sizeof r->first_bad);
    }
    mem_free(made);
    return ok;
}

bool tiled_bloom(const tiled_job *j, bloom_report *r, err *e) {
    tiled_work w;
    bool ok = open_work(&w, j, e);
    if (ok && !w.m.groups)
        ok = j->rows->write(j->rows->ctx, j->part, 0, w.h, NULL, e);
    else
        ok = ok && bloom_part(&w, r, e);
    close_work(&w);
    return ok;
}
