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

bool tiled_header(image_part *p, const bloom_settings *s, err *e) {
    layer_map m = {0};
    text names = {0}; /* of the channels to add: a new one moves the others */
    bool ok = layer_map_make(&m, p, s->layers, s->exclude, e);
    for (int i = 0; ok && i < m.groups; i++)
        for (uint32_t c = 0; c < tiled_channels(s, &m.group[i]); c++) {
            image_channel *is = &p->channel[tiled_channel(&m.group[i], c)];
            is->type = becomes(s, is->type);
            if (tiled_emits(s))
                text_add(&names, "%c%s.%s\n", '0' + is->type, s->emit_layer, is->name);
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
    uint64_t memory; /* all in all */
} device_check;

/* A device of software has no memory of its own: it takes from that of the tile. */
static bool a_device_fits(void *ctx, const tiling *t, const plan_request *tile) {
    device_check *d = ctx;
    bloom_forecasts f = {.each = d->each};
    int best = session_forecast(d->session, tile, &f, NULL);
    if (best < 0 || f.device[best].class != ENGINE_SOFTWARE) return best >= 0;
    return t->bytes + plan_device_bytes(&d->each[best].plan) <= d->memory;
}

/* Libraries take memory that nobody counts, and so does what rounds up to whole pages. A Vulkan
 * driver takes 50 to 130 MB with its shaders (lavapipe; docs/notebook.md, "Tiles"). */
static uint64_t memory_for(const tiled_job *j) {
    bool cpu = j->s->device && strcmp(j->s->device, "cpu") == 0;
    uint64_t left = mem_left(), libraries = cpu ? TILED_LIBRARIES : TILED_DRIVERS;
    uint64_t beside = left / 16 + min_u64(left / (cpu ? 5 : 2), libraries) + j->rows->bytes;
    return left > beside ? left - beside : 0;
}

/* What of the part's pixels decides its tiles. */
static void count_planes(tiling_request *r, const tiled_job *j, const layer_map *m,
                         uint32_t *most) {
    const image_part *p = &j->head->part[j->part];
    for (int i = 0; i < m->groups; i++) {
        uint32_t n = tiled_channels(j->s, &m->group[i]);
        *most = max_u32(*most, n);
        r->planes += n;
        for (uint32_t c = 0; c < n; c++) {
            pixel_type type = p->channel[tiled_channel(&m->group[i], c)].type;
            uint32_t bytes = (uint32_t)pixel_bytes(becomes(j->s, type));
            r->pixel_in += (uint32_t)pixel_bytes(type);
            r->sample_in = max_u32(r->sample_in, (uint32_t)pixel_bytes(type));
            r->pixel_out += tiled_emits(j->s) ? 2 * bytes : bytes;
            r->sample_bytes = max_u32(r->sample_bytes, (uint32_t)pixel_bytes(type));
        }
    }
    if (tiled_emits(j->s)) r->sample_bytes += 4;
}

/* Fills in what tiles are chosen by. */
static bool make_request(tiling_request *r, const tiled_job *j, const layer_map *m, err *e) {
    psf k = {0};
    uint32_t most = 0;
    *r = (tiling_request){.memory = memory_for(j),
                          .limit = mem_limit(),
                          .unpack = j->rows->unpack,
                          .rows = j->rows->step(j->rows->ctx, j->part)};
    count_planes(r, j, m, &most);
    const kernel_need need = tiled_need(j, most, j->s->sharpen);
    if (!tiled_psf(&k, j, &need, NULL, e)) return false;
    r->ask = session_request(j->s, &k, &need);
    r->ask.precision = j->s->precision;
    r->kernel = sizeof(float) * (uint64_t)k.w * k.h * k.channels;
    psf_free(&k);
    return true;
}

static bool choose(tiling *t, const tiled_job *j, const tiling_request *r, err *e) {
    device_check d = {j->session, NULL, r->memory};
    if (j->cut) {
        *t = *j->cut;
        return true;
    }
    d.each = mem_new(ENGINE_DEVICES, sizeof *d.each, "forecasts", e);
    bool ok = d.each && tiling_choose(t, r, a_device_fits, &d, e);
    mem_free(d.each);
    return ok;
}

bool tiled_choose(tiling *t, const tiled_job *j, err *e) {
    layer_map m;
    tiling_request r;
    if (!layer_map_make(&m, &j->head->part[j->part], j->s->layers, j->s->exclude, e)) return false;
    bool ok = make_request(&r, j, &m, e) && choose(t, j, &r, e);
    layer_map_free(&m);
    return ok;
}

/* --- opening -------------------------------------------------------------------------------- */

static bool list_channels(tiled_work *w, err *e) {
    for (int i = 0; i < w->m.groups; i++) w->channels += tiled_channels(w->j->s, &w->m.group[i]);
    w->light = mem_new((size_t)w->m.groups, sizeof *w->light, "layers", e);
    w->list = w->light ? mem_new(w->channels, sizeof *w->list, "channels", e) : NULL;
    tiled_plane *to = w->list;
    for (int i = 0; to && i < w->m.groups; i++) {
        if (!layer_light_of(&w->light[i], w->j->s, w->p, &w->m.group[i], e)) return false;
        for (uint32_t c = 0; c < tiled_channels(w->j->s, &w->m.group[i]); c++, to++) {
            to->index = tiled_channel(&w->m.group[i], c);
            to->type = w->p->channel[to->index].type;
            to->becomes = becomes(w->j->s, to->type);
            to->by = &w->light[i];
            to->seen.least = INFINITY;
            to->seen.greatest = -INFINITY;
            to->seen.count = to->count;
        }
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
        pixel_type type = tiling_pieces(&w->t) > 1 ? PIXEL_FLOAT : is->type;
        if (!image_add_channel(p, w->p->channel[is->index].name, type, e)) return false;
    }
    o->layer = (layer_group){.name = g->name, .alpha = -1};
    for (uint32_t c = 0; c < o->count; c++) {
        int at = image_find_channel(p, w->p->channel[w->list[o->first + c].index].name);
        bool alpha = o->count > 1 && c >= (uint32_t)g->channels; /* alone it is like any other */
        if (alpha)
            o->layer.alpha = at;
        else
            o->layer.channel[o->layer.channels++] = at;
    }
    return true;
}

/* Makes the kernel that tiles see pieces of, for groups of n channels. */
static bool make_whole(tiled_work *w, uint32_t n, err *e) {
    psf *k = &w->whole[n];
    const kernel_need need = tiled_need(w->j, n, 0);
    if (k->tap) return true;
    if (!tiled_psf(k, w->j, &need, NULL, e)) return false;
    for (size_t i = 0; i < (size_t)k->w * k->h * k->channels; i++)
        w->light_kernel &= k->tap[i] >= 0;
    return true;
}

/* The channels of a group together, or each by itself. */
static bool make_portions(tiled_work *w, err *e) {
    w->portion = mem_new(w->channels, sizeof *w->portion, "tiles", e);
    uint32_t first = 0;
    w->light_kernel = true;
    for (int i = 0; w->portion && i < w->m.groups; i++) {
        uint32_t n = tiled_channels(w->j->s, &w->m.group[i]);
        uint32_t each = w->t.channels == 1 ? 1 : n;
        for (uint32_t c = 0; c < n; c += each, first += each) {
            tiled_portion *o = &w->portion[w->portions++];
            o->group = &w->m.group[i];
            o->first = first;
            o->count = each;
            o->from = c;
            if (w->t.apart) o->whole = &w->whole[n];
            if (!make_head(o, w, e) || (w->t.apart && !make_whole(w, n, e))) return false;
        }
    }
    return w->portion != NULL;
}

/* Makes the rings: one for each channel, or for each of those that are bloomed at a time. */
static bool make_rings(tiled_work *w, err *e) {
    const tiling *t = &w->t;
    size_t bytes[VIEW_CHANNELS] = {0};
    w->room = t->cut[PLAN_Y] ? t->kept[PLAN_Y] + t->piece[PLAN_Y] - 1 : w->h;
    w->ring = mem_new(w->channels, sizeof *w->ring, "rows", e);
    w->rings = w->ring ? w->channels : 0;
    for (uint32_t i = 0; t->again && i < w->portions; i++)
        for (uint32_t c = 0; c < w->portion[i].count; c++)
            bytes[c] = max_size(bytes[c], pixel_bytes(w->list[w->portion[i].first + c].type));
    for (uint32_t i = 0; w->ring && i < w->portions; i++)
        for (uint32_t c = 0; c < w->portion[i].count; c++) {
            tiled_plane *is = &w->list[w->portion[i].first + c];
            uint8_t **to = &w->ring[t->again ? c : w->portion[i].first + c];
            size_t each = t->again ? bytes[c] : pixel_bytes(is->type);
            if (!*to && !(*to = mem_raw((size_t)w->w * w->room, each, "rows", e))) return false;
            is->in = *to;
        }
    return w->ring != NULL;
}

static bool make_rows(tiled_work *w, err *e) {
    const tiling *t = &w->t;
    if (!make_rings(w, e)) return false;
    for (uint32_t c = 0; c < w->channels; c++) {
        tiled_plane *is = &w->list[c];
        size_t made = (size_t)w->w * t->kept[PLAN_Y], bytes = pixel_bytes(is->becomes);
        if (!(is->out = mem_raw(made, bytes, "rows of the result", e))) return false;
        if (tiled_emits(w->j->s) && !(is->glare = mem_raw(made, bytes, "glare", e))) return false;
        if (tiling_pieces(t) == 1) continue;
        if (!(is->sum = mem_raw(made, sizeof *is->sum, "sums", e))) return false;
    }
    return true;
}

/* Along an axis that is cut, a tile's transform wraps around. The exact spectrum is made at the
 * tile's lengths, so it needs no other one that is larger. A piece of the kernel gets the light
 * that is spread, and what it makes is added to sums. */
static bool open_session(tiled_work *w, err *e) {
    uint64_t tiles = (uint64_t)w->t.count[PLAN_X] * w->t.count[PLAN_Y];
    w->s = *w->j->s;
    for (int a = 0; a < PLAN_AXES; a++)
        if (w->t.cut[a]) w->s.border[a] = BORDER_WRAP;
    w->s.slots = 1;
    w->s.verify = 0;
    w->s.images = (uint32_t)min_u64(tiles * max_u32(w->s.images, 1), UINT32_MAX);
    /* An image that fits after all, and is not cut, gets the same bits as a whole one. */
    bool whole = !w->t.cut[PLAN_X] && !w->t.cut[PLAN_Y] && !w->t.apart;
    if (w->s.spectrum == SPECTRUM_RESAMPLED && !whole) w->s.spectrum = SPECTRUM_EXACT;
    if (tiling_pieces(&w->t) > 1) {
        w->s.tolerance /= 2;
        w->s.emit_layer = NULL;
        w->s.half = false;
        w->s.sharpen = w->s.threshold = w->s.knee = 0;
    }
    w->session = session_open_beside(w->j->session, &w->s, e);
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
           (!w->m.groups || (list_channels(w, e) && make_request(&w->ask, j, &w->m, e) &&
                             choose(&w->t, j, &w->ask, e)));
}

/* Frees what follows from the tiles. */
static void drop_tiles(tiled_work *w) {
    for (uint32_t c = 0; w->list && c < w->channels; c++) {
        tiled_plane *is = &w->list[c];
        mem_free(is->out);
        mem_free(is->glare);
        mem_free(is->sum);
        is->in = is->out = is->glare = NULL;
        is->sum = NULL;
    }
    for (uint32_t i = 0; i < w->rings; i++) mem_free(w->ring[i]);
    mem_free(w->ring);
    w->ring = NULL;
    w->rings = 0;
    w->held = NULL;
    for (uint32_t i = 0; i < w->portions; i++) image_header_free(&w->portion[i].head);
    mem_free(w->portion);
    w->portion = NULL;
    w->portions = 0;
    w->from = w->to = 0;
    for (int i = 0; i <= VIEW_CHANNELS; i++) psf_free(&w->whole[i]);
    if (w->session) session_rest(w->session);
    session_close(&w->session);
    buffers_free(&w->buf);
}

static void close_work(tiled_work *w) {
    drop_tiles(w);
    mem_free(w->list);
    mem_free(w->light);
    mem_free(w->place);
    mem_free(w->plane);
    layer_map_free(&w->m);
    image_header_free(&w->result);
}

/* --- a band --------------------------------------------------------------------------------- */

/* A band: one row of tiles, whose kept pixels are rows of the result. */
typedef struct {
    tiled_work *w;
    uint32_t y, rows;
    bloom_report *r;
} band;

/* Returns whether a piece has taps that are not 0. The corners of round kernels have none. */
static bool has_taps(const tiled_work *w, const psf_piece *k) {
    for (uint32_t i = 0; i < w->portions; i++) {
        const psf *all = w->portion[i].whole;
        for (uint32_t c = 0; all && c < all->channels; c++)
            for (uint32_t y = 0; y < k->h; y++)
                for (uint32_t x = 0; x < k->w; x++)
                    if (all->tap[((size_t)c * all->h + (size_t)((int64_t)all->cy + k->y) + y) *
                                     all->w +
                                 (size_t)((int64_t)all->cx + k->x) + x] != 0)
                        return true;
    }
    return !w->t.apart;
}

/* Blooms all tiles of the band with one piece of the kernel, or with all of it. */
static bool bloom_piece(const band *b, const psf_piece *k, err *e) {
    tiled_work *w = b->w;
    int64_t top = tiled_first(&w->t, PLAN_Y, b->y, k->y, k->h);
    uint32_t rows = w->t.cut[PLAN_Y] ? b->rows + k->h - 1 : w->h;
    bool ok = true;
    for (uint32_t i = 0; ok && i < w->portions; i++) {
        ok = tiled_hold(w, &w->portion[i], top, top + rows, e);
        for (uint32_t x = 0; ok && x < w->w; x += w->t.kept[PLAN_X])
            ok = tiled_tile(w, &(tiled_spot){&w->portion[i], k, x, b->y, b->rows}, b->r, e);
    }
    for (uint32_t c = 0; c < w->channels; c++) {
        w->list[c].off += w->list[c].off_piece;
        w->list[c].off_piece = 0;
    }
    return ok;
}

static psf_piece piece_of(const tiling *t, uint32_t x, uint32_t y) {
    uint32_t left = x * t->piece[PLAN_X], top = y * t->piece[PLAN_Y];
    return (psf_piece){.x = (int32_t)((int64_t)left - t->lo[PLAN_X]),
                       .y = (int32_t)((int64_t)top - t->lo[PLAN_Y]),
                       .w = min_u32(t->piece[PLAN_X], t->taps[PLAN_X] - left),
                       .h = min_u32(t->piece[PLAN_Y], t->taps[PLAN_Y] - top)};
}

/* Finds how dark the darkest pixel is at the least, by the sums of the first piece: others add
 * light, if nothing is below zero. */
static void find_least(const band *b) {
    for (uint32_t c = 0; c < b->w->channels; c++) {
        tiled_plane *is = &b->w->list[c];
        double least = INFINITY;
        for (size_t i = 0; i < (size_t)b->w->w * b->rows; i++) least = fmin(least, is->sum[i]);
        is->least = b->w->light_kernel && is->seen.least >= 0 ? least : 0;
    }
}

/* Blooms the band with one piece of the kernel after the other: first that with the centre. */
static bool bloom_pieces(const band *b, err *e) {
    tiled_work *w = b->w;
    const tiling *t = &w->t;
    bool sums = tiling_pieces(t) > 1, ok = true;
    uint32_t x = t->lo[PLAN_X] / t->piece[PLAN_X], y = t->lo[PLAN_Y] / t->piece[PLAN_Y];
    uint32_t across = t->pieces[PLAN_X], centre = y * across + x;
    w->kept = true;
    for (uint32_t c = 0; c < w->channels; c++) {
        tiled_plane *is = &w->list[c];
        is->off = is->least = 0;
        for (size_t i = 0; sums && i < (size_t)w->w * b->rows; i++) is->sum[i] = 0;
    }
    psf_piece k = piece_of(t, x, y);
    ok = bloom_piece(b, &k, e);
    if (ok && sums) find_least(b);
    for (uint32_t i = 0; ok && i < tiling_pieces(t); i++) {
        k = piece_of(t, i % across, i / across);
        ok = i == centre || !has_taps(w, &k) || bloom_piece(b, &k, e);
    }
    return ok && (!sums || tiled_sum(w, b->y, b->rows, b->r, e));
}

/* Makes and hands on a band. */
static bool bloom_band(const band *b, err *e) {
    tiled_work *w = b->w;
    const bloom_rows *to = w->j->rows;
    if (!bloom_pieces(b, e) || !tiled_look(w, b->y, b->rows, e)) return false;
    w->writing = true;
    bool ok = to->write(to->ctx, w->j->part, b->y, b->rows, w->plane, e);
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
    if (w->summed) all->promise = w->promise;
    memcpy(all->ledger, kept, sizeof kept);
    all->ledger_rows = rows;
    all->groups = groups + (uint32_t)w->m.groups;
    all->tiles = w->t;
    if (over) store_note(all, "%" PRIu64 " values beyond 65504 were clamped to it", over);
    char how[200];
    const bloom_promise *p = &all->promise;
    accuracy_text(&p->method, how, sizeof how);
    log_info("channel '%s': %s", p->channel, how);
    if (!p->method.kept)
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
    w->ask.memory = w->t.bytes / 5 * 3;
    if (err_status(e->code) != ERR_RETRY || w->writing || w->j->cut ||
        mem_refusals() == w->refusals || !choose(&smaller, w->j, &w->ask, NULL))
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
        ok = bloom_band(&(band){w, row, end - row, made}, e);
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
    drop_tiles(w);
    ok = ok && tiled_verify(w, made, e);
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
