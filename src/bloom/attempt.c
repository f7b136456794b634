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
    bool wide;       /* doubles */
    bool from_halfs; /* the engine reads the image's halfs */
    bool to_halfs;   /* the last pass writes halfs; likewise where from_halfs is true */
    bool in_place[VIEW_CHANNELS]; /* the engine reads the image's own plane */
    void *in[PSF_CHANNELS], *made[PSF_CHANNELS];
    spot_list spots[VIEW_CHANNELS];
    kernel_core core;
} attempt;

/* Decides what is done with halfs as they are. Where a result beyond halfs would be stored as
 * floats, it must not become halfs before that is known. A result that is made in place stays
 * floats. */
static void keep_halfs(attempt *a) {
    const view *v = a->v;
    const accuracy *m = a->method;
    bool plain = !m->core;
    for (uint32_t c = 0; c < v->channels; c++)
        plain &= m->below[c] == SCAN_BINS && m->exponent[c] == 0;
    bool may = v->halfs && !a->wide && !v->tile && !v->glare[0] &&
               v->s->half_overflow != OVERFLOW_FLOAT;
    a->from_halfs = may && plain;
    a->to_halfs = may && (plain || m->core);
}

/* Decides which plane is read, which is written, and where the result goes. */
static bool lay_out(attempt *a, outcome *to, err *e) {
    const view *v = a->v;
    const accuracy *m = a->method;
    buffers *b = v->buf;
    bool two = a->wide || m->core;
    size_t first_bytes = v->pixels * (a->from_halfs ? sizeof(uint16_t) : sizeof(float));
    size_t bytes = v->pixels * (a->wide       ? sizeof(double)
                                : a->to_halfs ? sizeof(uint16_t)
                                              : sizeof(float));
    if (!buffers_room(b, 0, v->channels, first_bytes, e) ||
        (two && !buffers_room(b, 1, v->channels, bytes, e)))
        return false;
    for (uint32_t c = 0; c < v->channels; c++) {
        to->out[c] = NULL;
        to->half[c] = NULL;
        if (a->to_halfs) {
            a->in[c] = a->from_halfs ? *view_plane(v, c) : b->plane[0][c];
            a->made[c] = NULL;
            to->half[c] = b->plane[two][c];
            continue;
        }
        bool own = v->type[c] == PIXEL_FLOAT && v->all && !a->wide && m->below[c] == SCAN_BINS &&
                   m->exponent[c] == 0;
        void *first = b->plane[0][c], *second = b->plane[1][c];
        a->in_place[c] = own;
        a->in[c] = a->wide ? second : own ? *view_plane(v, c) : first;
        a->made[c] = a->wide || (m->core && !own) ? second : first;
        to->out[c] = a->wide ? first : a->made[c];
    }
    return true;
}

/* --- filling the engine's planes ------------------------------------------------------------- */

static void load_doubles(const view *v, void *ctx, uint32_t c, size_t first, size_t n) {
    const attempt *a = ctx;
    float f[VIEW_BLOCK];
    image_to_float(f, *view_plane(v, c), v->type[c], first, n);
    for (size_t i = 0; i < n; i++)
        ((double *)a->in[c])[first + i] = join_excess_of(&v->excess, (double)f[i]);
}

static void scale_in(const view *v, void *ctx, uint32_t c, size_t first, size_t n) {
    const attempt *a = ctx;
    float by = ldexpf(1, a->method->exponent[c]), *in = a->in[c];
    (void)v;
    for (size_t i = first; a->method->exponent[c] && i < first + n; i++) in[i] *= by;
}

/* Light as the method wants it: bright pixels taken out, then scaled. */
static bool fill(attempt *a, err *e) {
    const view *v = a->v;
    const accuracy *m = a->method;
    bool missing = !v->buf->loaded, scaled = false, ok = true;
    v->buf->loaded = false; /* set 0 is written over from here on */
    if (a->from_halfs) return true;
    if (a->wide) return view_blocks(v, load_doubles, a, e);
    for (uint32_t c = 0; c < v->channels; c++) { /* floats that were to be read in place */
        missing |= v->type[c] == PIXEL_FLOAT && v->all && !a->in_place[c];
        scaled |= m->exponent[c] != 0;
    }
    if (missing) ok = view_blocks(v, light_load, a->in_place, e);
    for (uint32_t c = 0; ok && c < v->channels; c++) {
        const scan_channel *found = &a->l->scanned.channel[c];
        const spots_request r = {&v->size->tail,
                                 c,
                                 a->in[c],
                                 m->below[c],
                                 found->least >= 0 ? found->block_sum : NULL,
                                 light_cell(a->l, v)};
        if (m->below[c] < SCAN_BINS) ok = spots_take(&a->spots[c], &r, v->threads, e);
    }
    return ok && (!scaled || view_blocks(v, scale_in, a, e));
}

/* --- transforming and joining ---------------------------------------------------------------- */

static join_job join_of(const attempt *a, const outcome *to, bool sinks) {
    const view *v = a->v;
    join_job j = {.tail = &v->size->tail,
                  .type = v->type,
                  .excess = v->excess,
                  .made = a->made,
                  .wide = a->wide,
                  .spots = a->spots,
                  .core = &a->core,
                  .floats = a->method->floats > 0,
                  .ledger = &v->size->ledger,
                  .nonnegative = a->l->nonnegative,
                  .signs = a->l->signs,
                  .rounding = accuracy_rounding(a->method, !v->all),
                  .in = a->wide || a->from_halfs ? NULL : (float *const *)a->in,
                  .out = to->out,
                  .half = a->to_halfs ? to->half : NULL,
                  .glare = v->glare[0] ? v->glare : NULL,
                  .kept = v->tile ? v->tile->kept : (tail_kept){0}};
    for (uint32_t c = 0; c < v->channels; c++) {
        j.source[c] = *view_plane(v, c);
        j.dark[c] = a->l->dark[c];
        j.exponent[c] = a->method->exponent[c];
        /* The image's rows serve as they are, unless the engine writes over them before the last
         * pass reads them. */
        j.same[c] = !a->wide && !a->from_halfs && v->all && a->method->below[c] >= SCAN_BINS &&
                    !j.exponent[c] && (sinks || a->in[c] != a->made[c]);
    }
    return j;
}

/* Runs the engine and the last pass: in one, row by row, where the engine can. */
static bool transform(const attempt *a, outcome *to, bool *engine_failed, err *e) {
    par *threads = a->v->threads;
    const device_lease *at = &to->lease.at;
    engine *g = at->engine;
    join_job j = join_of(a, to, g->sinks);
    join *rows = g->sinks ? join_open(&j, threads, e) : NULL;
    if (g->sinks && !rows) return false;
    /* The centre tap is added by the last pass, and not by the engine. */
    double tap[PSF_CHANNELS] = {0}, gain[PSF_CHANNELS];
    for (uint32_t c = 0; c < a->v->channels; c++) gain[c] = 1 - a->v->sharpen;
    engine_frame f = {.in = {(const void *const *)a->in},
                      .tap = tap,
                      .gain = gain,
                      .out = a->made,
                      .sink = rows ? &(engine_sink){join_row, rows} : NULL,
                      .halfs = a->from_halfs};
    bool ok = engine_submit(g, at->slot, &f, e) && engine_wait(g, at->slot, &to->times, e);
    *engine_failed = !ok;
    if (!rows) return ok && join_all(to->stats, &j, threads, e);
    join_close(&rows, ok ? to->stats : NULL);
    return ok;
}

/* Goes over to floats where the engine knows no halfs, or does not hand out rows. */
static bool suit_engine(attempt *a, outcome *to, err *e) {
    const engine *g = to->lease.at.engine;
    bool missing = a->from_halfs;
    if (!a->to_halfs || (g->sinks && (g->halfs || !a->from_halfs))) return true;
    a->from_halfs = a->to_halfs = false;
    return lay_out(a, to, e) && (!missing || fill(a, e));
}

bool attempt_run(outcome *to, const view *v, const light *l, const accuracy *method, err *e) {
    bool ok = true, again = true;
    *to = (outcome){0};
    while (ok && again) {
        const session_want want = {v->size, attempt_way(v, method), method->core};
        attempt a = {.v = v, .l = l, .method = method, .wide = want.way == WAY_FLOAT64};
        bool engine_failed = false;
        again = false;
        keep_halfs(&a);
        /* The engine is taken when the planes are ready, since other frames wait for it. */
        ok = lay_out(&a, to, e) && core_make(&a.core, &v->size->tail, method->core, e) &&
             fill(&a, e) && session_take(&to->lease, v->session, &want, e);
        if (ok) {
            ok = suit_engine(&a, to, e) && transform(&a, to, &engine_failed, e);
            if (session_give(v->session, &to->lease, engine_failed, e)) ok = again = true;
        }
        for (uint32_t c = 0; c < VIEW_CHANNELS; c++) spots_free(&a.spots[c]);
        core_free(&a.core);
    }
    return ok;
}
