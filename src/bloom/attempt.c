#include "bloom/attempt.h"

#include "base/host.h"
#include "base/mem.h"
#include "base/number.h"

#include <math.h>

device_way attempt_way(const view *v, const accuracy *method) {
    bool scaled = false;
    for (uint32_t c = 0; c < v->channels; c++) scaled |= method->exponent[c] != 0;
    if (method->precision == PRECISION_FLOAT64) return WAY_FLOAT64;
    return v->halfs && !scaled ? WAY_HALFS : WAY_FLOAT32;
}

/* How the planes of an attempt lie. The engine reads planes of the image where these are what it
 * needs, and others that are filled for it. */
typedef enum {
    LAYOUT_FLOATS,
    LAYOUT_DOUBLES,
    LAYOUT_HALFS,          /* the image's halfs, as they are */
    LAYOUT_TURNS,          /* one plane serves all channels in turn: the engine asks for each */
    LAYOUT_TURNS_TO_HALFS, /* likewise */
    LAYOUTS
} layout;

/* The planes of a layout, by the bytes of a number. */
static const struct {
    uint32_t in;     /* the engine reads, */
    uint32_t made;   /* and makes; 0: it hands out rows alone */
    uint32_t out;    /* of the result: set 0 of the buffers */
    uint32_t in_set; /* where planes are filled for it: set 0 is written over by the result */
    bool turns;      /* it asks for one after the other */
} PLANES[LAYOUTS] = {
    [LAYOUT_FLOATS] = {4, 4, 4, 0, false},        [LAYOUT_DOUBLES] = {8, 8, 4, 1, false},
    [LAYOUT_HALFS] = {2, 0, 2, 0, false},         [LAYOUT_TURNS] = {4, 4, 4, 1, true},
    [LAYOUT_TURNS_TO_HALFS] = {4, 0, 2, 1, true},
};

/* One attempt in work: the engine reads `in` and writes `made`; the last pass writes to->out. */
typedef struct {
    const view *v;
    const light *l;
    const accuracy *method;
    bool wide;                    /* the transform is of doubles */
    layout layout;                /* of the planes */
    bool loaded;                  /* set 0 holds what is spread */
    bool unfilled;                /* a plane that the engine asked for could not be filled */
    bool in_place[VIEW_CHANNELS]; /* the engine reads the image's own plane */
    void *in[PSF_CHANNELS], *made[PSF_CHANNELS];
} attempt;

/* Returns whether a channel's pixels go to the transform as they are, but for their type. */
static bool is_plain(const attempt *a, uint32_t c) {
    return a->v->all && a->method->exponent[c] == 0;
}

/* Chooses the layout that takes the least memory of those that the engine can work with. plain: no
 * channel is scaled. Where a result beyond halfs would be stored as floats, it must not become
 * halfs before that is known. Where channels do not come with the rows of a result, or where only
 * an excess is spread, all of them are needed at once. */
static layout choose_layout(const view *v, const engine_expected *g, bool wide, bool plain) {
    bool turns = v->all && g->sinks && g->sources && (g->floats || !wide);
    if (wide && !turns) return LAYOUT_DOUBLES;
    bool halfs = v->halfs && !v->floats && !v->kept.w && !v->emits && g->sinks &&
                 v->s->half_overflow != OVERFLOW_FLOAT;
    if (halfs && plain && g->halfs) return LAYOUT_HALFS;
    return !turns ? LAYOUT_FLOATS : halfs ? LAYOUT_TURNS_TO_HALFS : LAYOUT_TURNS;
}

uint64_t attempt_bytes(const view *v, const engine_expected *g, bool wide) {
    layout l = choose_layout(v, g, wide, true);
    uint64_t in = mem_rounded((uint64_t)v->pixels * PLANES[l].in);
    uint32_t filled = 0;
    for (uint32_t c = 0; PLANES[l].in_set && c < v->channels; c++)
        filled += !v->all || v->type[c] != PIXEL_FLOAT || l == LAYOUT_DOUBLES;
    if (PLANES[l].turns) filled = min_u32(filled, 1);
    return v->channels * mem_rounded((uint64_t)v->pixels * PLANES[l].out) + filled * in;
}

/* Decides which plane is read, which is written, and where the result goes. */
static bool lay_out(attempt *a, outcome *to, err *e) {
    const view *v = a->v;
    buffers *b = v->buf;
    const uint32_t in = PLANES[a->layout].in, out = PLANES[a->layout].out;
    const uint32_t set = PLANES[a->layout].in_set;
    if (!buffers_room(b, 0, v->channels, v->pixels * out, e)) return false;
    for (uint32_t c = 0; c < v->channels; c++) {
        uint32_t plane = PLANES[a->layout].turns ? 0 : c;
        a->in_place[c] = in == 2 || (in == 4 && is_plain(a, c) && v->type[c] == PIXEL_FLOAT);
        if (!a->in_place[c] && set && !buffers_room(b, set, plane + 1, v->pixels * in, e))
            return false;
        a->in[c] = a->in_place[c] ? *view_plane(v, c) : b->plane[set][plane];
        a->made[c] = PLANES[a->layout].made == 8 ? a->in[c] : b->plane[0][c];
        if (!PLANES[a->layout].made) a->made[c] = NULL;
        to->out[c] = out == 4 ? b->plane[0][c] : NULL;
        to->half[c] = out == 2 ? b->plane[0][c] : NULL;
    }
    return true;
}

/* --- filling the engine's planes ------------------------------------------------------------- */

static void load_doubles(const view *v, void *ctx, uint32_t c, size_t first, size_t n) {
    const attempt *a = ctx;
    float f[VIEW_BLOCK];
    image_to_float(f, *view_plane(v, c), v->type[c], first, n);
    for (size_t i = 0; i < n; i++)
        ((double *)a->in[c])[first + i] = join_spread_of(&v->spread, first + i, (double)f[i]);
}

static void scale_in(const view *v, void *ctx, uint32_t c, size_t first, size_t n) {
    const attempt *a = ctx;
    float by = ldexpf(1, a->method->exponent[c]), *in = a->in[c];
    (void)v;
    for (size_t i = first; i < first + n; i++) in[i] *= by;
}

/* Fills the plane of a channel with what is spread, scaled. */
static bool fill_plane(attempt *a, uint32_t c, err *e) {
    const view *v = a->v;
    if (a->in_place[c]) return true;
    if (a->layout == LAYOUT_DOUBLES) return view_channel_blocks(v, c, load_doubles, a, e);
    bool there = a->loaded && a->layout == LAYOUT_FLOATS;
    if (!there && !view_channel_blocks(v, c, light_load, a->in, e)) return false;
    return a->method->exponent[c] == 0 || view_channel_blocks(v, c, scale_in, a, e);
}

static bool fill_turn(void *ctx, uint32_t c, err *e) {
    attempt *a = ctx;
    a->unfilled = !host_ask((c + 1.0) / (a->v->channels + 2), e) || !fill_plane(a, c, e);
    return !a->unfilled;
}

/* --- transforming and joining ---------------------------------------------------------------- */

static join_job join_of(const attempt *a, const outcome *to, bool sinks) {
    const view *v = a->v;
    const bool floats = PLANES[a->layout].in == sizeof(float);
    join_job j = {.tail = &v->size->tail,
                  .type = v->type,
                  .spread = v->spread,
                  .made = a->made,
                  .wide = a->wide,
                  .ledger = &v->size->ledger,
                  .nonnegative = a->l->nonnegative,
                  .in = floats ? (float *const *)a->in : NULL,
                  .out = to->out,
                  .half = to->half[0] ? to->half : NULL,
                  .glare = v->glare[0] ? v->glare : NULL,
                  .doubles = v->doubles,
                  .kept = v->kept};
    for (uint32_t c = 0; c < v->channels; c++) {
        j.source[c] = *view_plane(v, c);
        j.dark[c] = a->l->dark[c];
        j.exponent[c] = a->method->exponent[c];
        /* The image's rows serve as they are, unless the engine writes over them before the last
         * pass reads them. */
        j.same[c] = floats && is_plain(a, c) && (sinks || a->in[c] != a->made[c]);
    }
    return j;
}

/* Runs the engine and the last pass: in one, row by row, where the engine can. */
static bool transform(attempt *a, outcome *to, bool *engine_failed, err *e) {
    par *threads = a->v->threads;
    const device_lease *at = &to->lease.at;
    engine *g = at->engine;
    join_job j = join_of(a, to, g->is.sinks);
    join *rows = g->is.sinks ? join_open(&j, threads, e) : NULL;
    if (g->is.sinks && !rows) return false;
    /* The centre tap is added by the last pass, and not by the engine. */
    double tap[PSF_CHANNELS] = {0}, gain[PSF_CHANNELS];
    for (uint32_t c = 0; c < a->v->channels; c++) gain[c] = 1 - a->v->sharpen;
    engine_frame f = {.in = (const void *const *)a->in,
                      .source = PLANES[a->layout].turns ? &(engine_source){fill_turn, a} : NULL,
                      .tap = tap,
                      .gain = gain,
                      .out = a->made,
                      .sink = rows ? &(engine_sink){join_row, rows} : NULL,
                      .halfs = a->layout == LAYOUT_HALFS,
                      .floats = a->wide && a->layout != LAYOUT_DOUBLES};
    bool ok = engine_submit(g, at->slot, &f, e) && engine_wait(g, at->slot, &to->times, e);
    *engine_failed = !ok && !a->unfilled;
    if (!rows) return ok && join_all(to->stats, &j, threads, e);
    join_close(&rows, ok ? to->stats : NULL);
    return ok;
}

bool attempt_run(outcome *to, const view *v, const light *l, const accuracy *method, bool loaded,
                 err *e) {
    bool ok = true, again = true;
    *to = (outcome){0};
    for (; ok && again; loaded = false) { /* set 0 is written over */
        const session_want want = {v->size, attempt_way(v, method)};
        bool engine_failed = false;
        again = false;
        if (!(ok = host_ask(1.0 / (v->channels + 2), e))) break;
        ok = session_take(&to->lease, v->session, &want, e);
        if (!ok) break;
        attempt a = {.v = v, .l = l, .method = method, .wide = want.way == WAY_FLOAT64};
        a.loaded = loaded;
        bool plain = true;
        for (uint32_t c = 0; c < v->channels; c++) plain &= method->exponent[c] == 0;
        a.layout = choose_layout(v, &to->lease.at.engine->is, a.wide, plain);
        ok = lay_out(&a, to, e);
        for (uint32_t c = 0; ok && !PLANES[a.layout].turns && c < v->channels; c++)
            ok = fill_plane(&a, c, e);
        ok = ok && transform(&a, to, &engine_failed, e);
        if (session_give(v->session, &to->lease, engine_failed, e)) ok = again = true;
    }
    return ok;
}
