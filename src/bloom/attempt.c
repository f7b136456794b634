#include "bloom/attempt.h"

#include <math.h>

device_way attempt_way(const view *v, const accuracy *method) {
    bool scaled = false;
    for (uint32_t c = 0; c < v->channels; c++) scaled |= method->exponent[c] != 0;
    if (method->precision == PRECISION_FLOAT64) return WAY_FLOAT64;
    return v->halfs && !scaled ? WAY_HALFS : WAY_FLOAT32;
}

/* One attempt in work: the engine reads `in` and writes `made`; the last pass writes `out`. */
typedef struct {
    const view *v;
    const light *l;
    const accuracy *method;
    bool wide;       /* the result is made in doubles, */
    bool doubles;    /* and so are the planes that the engine reads */
    bool turns;      /* the engine asks for one channel after the other (engine_source), which */
    bool unfilled;   /* has failed */
    bool from_halfs; /* the engine reads the image's halfs */
    bool to_halfs;   /* the last pass writes halfs; likewise where from_halfs is true */
    bool in_place[VIEW_CHANNELS]; /* the engine reads the image's own plane */
    void *in[PSF_CHANNELS], *made[PSF_CHANNELS];
} attempt;

/* Returns whether the image's pixels go to the transform as they are, all of them. */
static bool is_plain(const attempt *a, uint32_t c) {
    return a->v->all && !a->doubles && a->method->exponent[c] == 0;
}

/* Decides what is done with halfs as they are. Where a result beyond halfs would be stored as
 * floats, it must not become halfs before that is known. A result that is made in place stays
 * floats. */
static void keep_halfs(attempt *a) {
    const view *v = a->v;
    bool plain = true;
    for (uint32_t c = 0; c < v->channels; c++) plain &= is_plain(a, c);
    bool may = v->halfs && !a->doubles && !v->floats && !v->kept.w && !v->glare[0] &&
               v->s->half_overflow != OVERFLOW_FLOAT;
    a->from_halfs = may && plain;
    a->to_halfs = may && (plain || a->turns);
}

/* Lays out planes where channels take turns: one for all that must be filled, and the result. */
static bool lay_out_turns(attempt *a, outcome *to, err *e) {
    const view *v = a->v;
    buffers *b = v->buf;
    size_t bytes = v->pixels * (a->to_halfs ? sizeof(uint16_t) : sizeof(float));
    if (!buffers_room(b, 0, v->channels, bytes, e)) return false;
    for (uint32_t c = 0; c < v->channels; c++) {
        void *result = b->plane[0][c];
        a->in_place[c] = a->from_halfs || (v->type[c] == PIXEL_FLOAT && is_plain(a, c));
        if (!a->in_place[c] && !buffers_room(b, 1, 1, v->pixels * sizeof(float), e)) return false;
        a->in[c] = a->in_place[c] ? *view_plane(v, c) : b->plane[1][0];
        a->made[c] = to->out[c] = a->to_halfs ? NULL : result;
        to->half[c] = a->to_halfs ? result : NULL;
    }
    return true;
}

/* Decides which plane is read, which is written, and where the result goes. */
static bool lay_out(attempt *a, outcome *to, err *e) {
    const view *v = a->v;
    buffers *b = v->buf;
    size_t first_bytes = v->pixels * (a->from_halfs ? sizeof(uint16_t) : sizeof(float));
    size_t bytes = v->pixels * (a->doubles    ? sizeof(double)
                                : a->to_halfs ? sizeof(uint16_t)
                                              : sizeof(float));
    if (a->turns) return lay_out_turns(a, to, e);
    if (!buffers_room(b, 0, v->channels, first_bytes, e) ||
        (a->doubles && !buffers_room(b, 1, v->channels, bytes, e)))
        return false;
    for (uint32_t c = 0; c < v->channels; c++) {
        bool own = v->type[c] == PIXEL_FLOAT && is_plain(a, c);
        void *first = b->plane[0][c], *second = b->plane[1][c];
        a->in_place[c] = own || a->from_halfs;
        to->out[c] = NULL;
        to->half[c] = NULL;
        if (a->to_halfs) {
            a->in[c] = a->from_halfs ? *view_plane(v, c) : first;
            a->made[c] = NULL;
            to->half[c] = b->plane[0][c];
            continue;
        }
        a->in[c] = a->doubles ? second : own ? *view_plane(v, c) : first;
        a->made[c] = a->doubles ? second : first;
        to->out[c] = a->doubles ? first : a->made[c];
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

static void load_floats(const view *v, void *ctx, uint32_t c, size_t first, size_t n) {
    const attempt *a = ctx;
    float *to = (float *)a->in[c] + first;
    image_to_float(to, *view_plane(v, c), v->type[c], first, n);
    if (!v->all) join_spread_row(&v->spread, first, to, to, n);
}

static void scale_in(const view *v, void *ctx, uint32_t c, size_t first, size_t n) {
    const attempt *a = ctx;
    float by = ldexpf(1, a->method->exponent[c]), *in = a->in[c];
    (void)v;
    for (size_t i = first; i < first + n; i++) in[i] *= by;
}

/* Fills the plane of a channel with what is spread, scaled. */
static bool fill_plane(attempt *a, uint32_t c, bool loaded, err *e) {
    const view *v = a->v;
    if (a->in_place[c]) return true;
    if (a->doubles) return view_channel_blocks(v, c, load_doubles, a, e);
    if (!loaded && !view_channel_blocks(v, c, load_floats, a, e)) return false;
    return a->method->exponent[c] == 0 || view_channel_blocks(v, c, scale_in, a, e);
}

static bool fill_turn(void *ctx, uint32_t c, err *e) {
    attempt *a = ctx;
    a->unfilled = !fill_plane(a, c, false, e);
    return !a->unfilled;
}

/* Fills all planes, unless they take turns. */
static bool fill(attempt *a, err *e) {
    bool loaded = a->v->buf->loaded, ok = true;
    a->v->buf->loaded = false; /* set 0 is written over from here on */
    for (uint32_t c = 0; ok && !a->turns && c < a->v->channels; c++)
        ok = fill_plane(a, c, loaded, e);
    return ok;
}

/* --- transforming and joining ---------------------------------------------------------------- */

static join_job join_of(const attempt *a, const outcome *to, bool sinks) {
    const view *v = a->v;
    join_job j = {.tail = &v->size->tail,
                  .type = v->type,
                  .spread = v->spread,
                  .made = a->made,
                  .wide = a->wide,
                  .ledger = &v->size->ledger,
                  .nonnegative = a->l->nonnegative,
                  .in = a->doubles || a->from_halfs ? NULL : (float *const *)a->in,
                  .out = to->out,
                  .half = a->to_halfs ? to->half : NULL,
                  .glare = v->glare[0] ? v->glare : NULL,
                  .kept = v->kept};
    for (uint32_t c = 0; c < v->channels; c++) {
        j.source[c] = *view_plane(v, c);
        j.dark[c] = a->l->dark[c];
        j.exponent[c] = a->method->exponent[c];
        /* The image's rows serve as they are, unless the engine writes over them before the last
         * pass reads them. */
        j.same[c] = !a->doubles && !a->from_halfs && v->all && !j.exponent[c] &&
                    (sinks || a->in[c] != a->made[c]);
    }
    return j;
}

/* Runs the engine and the last pass: in one, row by row, where the engine can. */
static bool transform(attempt *a, outcome *to, bool *engine_failed, err *e) {
    par *threads = a->v->threads;
    const device_lease *at = &to->lease.at;
    engine *g = at->engine;
    join_job j = join_of(a, to, g->sinks);
    join *rows = g->sinks ? join_open(&j, threads, e) : NULL;
    if (g->sinks && !rows) return false;
    /* The centre tap is added by the last pass, and not by the engine. */
    double tap[PSF_CHANNELS] = {0}, gain[PSF_CHANNELS];
    for (uint32_t c = 0; c < a->v->channels; c++) gain[c] = 1 - a->v->sharpen;
    engine_frame f = {.in = (const void *const *)a->in,
                      .source = a->turns ? &(engine_source){fill_turn, a} : NULL,
                      .tap = tap,
                      .gain = gain,
                      .out = a->made,
                      .sink = rows ? &(engine_sink){join_row, rows} : NULL,
                      .halfs = a->from_halfs,
                      .floats = a->wide && !a->doubles};
    bool ok = engine_submit(g, at->slot, &f, e) && engine_wait(g, at->slot, &to->times, e);
    *engine_failed = !ok && !a->unfilled;
    if (!rows) return ok && join_all(to->stats, &j, threads, e);
    join_close(&rows, ok ? to->stats : NULL);
    return ok;
}

/* Returns whether channels can probably take turns: where they do not come with the rows of a
 * result, or where only an excess is spread, all of them are needed at once. */
static bool may_take_turns(const view *v, device_way way) {
    const device_choice *c = &v->size->decided.way[way];
    return v->all && c->device.class == ENGINE_CPU && c->plan.first == PLAN_X;
}

/* Goes over to planes of all channels where the engine does not ask for one after the other, and to
 * floats where it knows no halfs, or does not hand out rows. */
static bool suit_engine(attempt *a, outcome *to, err *e) {
    const engine *g = to->lease.at.engine;
    bool missing = a->from_halfs || a->turns;
    bool turns = !a->turns || (g->sinks && g->sources && (g->floats || !a->wide));
    bool halfs = !a->to_halfs || (g->sinks && (g->halfs || !a->from_halfs));
    if (turns && halfs) return true;
    a->turns &= turns;
    a->doubles = a->wide && !a->turns;
    if (halfs)
        keep_halfs(a);
    else
        a->from_halfs = a->to_halfs = false;
    return lay_out(a, to, e) && (!missing || fill(a, e));
}

bool attempt_run(outcome *to, const view *v, const light *l, const accuracy *method, err *e) {
    bool ok = true, again = true;
    *to = (outcome){0};
    while (ok && again) {
        const session_want want = {v->size, attempt_way(v, method)};
        attempt a = {.v = v,
                     .l = l,
                     .method = method,
                     .wide = want.way == WAY_FLOAT64,
                     .turns = may_take_turns(v, want.way)};
        bool engine_failed = false;
        again = false;
        a.doubles = a.wide && !a.turns;
        keep_halfs(&a);
        /* The engine is taken when the planes are ready, since other frames wait for it. */
        ok = lay_out(&a, to, e) && fill(&a, e) && session_take(&to->lease, v->session, &want, e);
        if (ok) {
            ok = suit_engine(&a, to, e) && transform(&a, to, &engine_failed, e);
            if (session_give(v->session, &to->lease, engine_failed, e)) ok = again = true;
        }
    }
    return ok;
}
