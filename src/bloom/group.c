#include "bloom/group.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "bloom/attempt.h"
#include "bloom/light.h"
#include "bloom/prove.h"
#include "bloom/store.h"
#include "bloom/verify.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ATTEMPTS = 3 };

/* --- choosing a method: docs/math.md, "Choosing a method" ------------------------------------- */

/* The search for a method that keeps the promise of a group. */
typedef struct {
    const view *v;
    light *l;
    outcome *o;
    accuracy_facts facts;
    accuracy method;
    accuracy_measured measured[VIEW_CHANNELS]; /* of the last attempt */
    err bug;      /* why the last result cannot be right; ERR_NONE: it can */
    proof proved; /* of the last attempt */
} search;

static accuracy_facts facts_of(const view *v, const light *l) {
    const device_choice *c = v->size->decided.way;
    const device_choice *floats = &c[WAY_FLOAT32], *doubles = &c[WAY_FLOAT64];
    bool only64 = v->s->precision == PRECISION_FLOAT64;
    const device_choice *first = only64 ? doubles : floats;
    return (accuracy_facts){.tail = &v->size->tail,
                            .sums = v->size->sums,
                            .scanned = &l->scanned,
                            .sketch = l->sketched,
                            .dark = l->dark,
                            .signs = l->signs,
                            .tolerance = v->s->tolerance,
                            .precision = v->s->precision,
                            .points = (double)first->plan.axis[0].length *
                                      first->plan.axis[1].length,
                            .seconds = first->seconds,
                            .seconds64 = doubles->possible ? doubles->seconds : INFINITY};
}

/* Chooses a method for what was found; looks again, with histograms, where the plain transform does
 * not keep the promise. */
static bool choose(search *s, err *e) {
    const view *v = s->v;
    accuracy *m = &s->method;
    s->facts = facts_of(v, s->l);
    accuracy_choose(m, &s->facts);
    if (m->kept || s->l->close) return true;
    if (!light_find_closely(s->l, v, e)) return false;
    accuracy_choose(m, &s->facts);
    return true;
}

/* --- judging a result: docs/math.md, "The promise" -------------------------------------------- */

/* Noise below zero, where light cannot be, is cut off. It is also a measurement: where it is larger
 * than predicted, the measured noise takes the prediction's place and the promise is not kept.
 * Where only a mistake of this program explains it, s->bug says so. */
static void check(search *s) {
    accuracy *m = &s->method;
    s->bug = (err){0};
    accuracy_check(m, &s->facts, s->measured);
    for (uint32_t c = 0; c < s->v->channels; c++) {
        double found = s->o->stats[c].negative ? -s->o->stats[c].negative_worst : 0;
        if (found <= m->error[c]) continue;
        if (!(found <= 16 * m->error[c]) && !(found < 1e-30))
            err_set(&s->bug, ERR_INTERNAL,
                    "channel '%s': the glare has values down to %g where it cannot be below zero; "
                    "the predicted noise is %g. This is a bug; please report it",
                    view_name(s->v, c), -found, m->error[c]);
        m->kept = false;
        m->error[c] = found;
        if (found > m->floor) m->channel = c;
        m->floor = fmax(m->floor, found);
    }
}

/* An error that is larger than its prediction times this cannot be rounding. */
static const double MISTAKE = 16;

/* Compares some pixels with the definition. If one is farther off than predicted, the promise is
 * not kept. Where the kernel is cut into pieces (view_tile), a result is only a part of each pixel,
 * and nothing is compared. */
static bool check_proof(search *s, err *e) {
    const view *v = s->v;
    accuracy *m = &s->method;
    proof *p = &s->proved;
    if (v->tile && v->tile->whole) return true;
    double seconds = m->precision == PRECISION_FLOAT64 ? s->facts.seconds64 : s->facts.seconds;
    if (!prove(p, v, s->o, m, s->l->dark, seconds, e)) return false;
    if (p->worst <= 1) return true;
    const image_box *data = &view_part(v)->data;
    const int x = data->x0 + (int)p->x, y = data->y0 + (int)p->y;
    log_info("channel '%s': the pixel at %d, %d is %g and should be %g, %.3g times as far off as "
             "predicted: the result is not believed",
             view_name(v, p->channel), x, y, p->got, p->want, p->worst);
    if (s->o->lease.spectrum_cached) cache_distrust(s->o->lease.spectrum_of, v->s->cache_dir);
    m->kept = false;
    m->channel = p->channel;
    m->error[p->channel] = m->floor = fabs(p->got - p->want);
    if (p->worst > MISTAKE)
        err_set(&s->bug, ERR_INTERNAL,
                "channel '%s': the pixel at %d, %d is %g and should be %g, which is %.3g times as "
                "far off as rounding can put it. This is a bug; please report it",
                view_name(v, p->channel), x, y, p->got, p->want, p->worst);
    return true;
}

/* Judges by what was measured. If the result is not good enough for every pixel above 0, looks
 * closely: perhaps the darkest are so dark that nothing is promised for them. */
static bool judge(search *s, err *e) {
    s->proved = (proof){0};
    for (uint32_t c = 0; c < s->v->channels; c++) s->measured[c] = s->o->stats[c].measured;
    check(s);
    if (!s->method.kept && !s->l->close) {
        if (!light_find_closely(s->l, s->v, e)) return false;
        check(s);
    }
    return !s->method.kept || check_proof(s, e);
}

/* Takes the next method after one that failed: by what was measured, or float64 where that would be
 * the same again. Returns false if there is none. */
static bool next_method(search *s) {
    accuracy_facts *f = &s->facts;
    accuracy now = s->method;
    if (now.precision == PRECISION_FLOAT64) return false;
    f->measured = s->measured;
    accuracy_choose(&s->method, f);
    if (accuracy_same_method(&s->method, &now) && f->precision == PRECISION_AUTO &&
        isfinite(f->seconds64)) {
        f->precision = PRECISION_FLOAT64;
        accuracy_choose(&s->method, f);
    }
    f->measured = NULL;
    bool other = !accuracy_same_method(&s->method, &now);
    if (!other) s->method = now;
    return other;
}

/* --- the report ------------------------------------------------------------------------------ */

static void enter_bad_pixels(const view *v, const light *l, bloom_report *r) {
    const image_box *data = &view_part(v)->data;
    uint64_t room = r->bad < SCAN_BAD ? SCAN_BAD - r->bad : 0;
    for (uint64_t i = 0; i < room && i < l->bad_pixels; i++) {
        bloom_bad *to = &r->first_bad[r->bad + i];
        const scan_bad *from = &l->first_bad[i];
        snprintf(to->channel, sizeof to->channel, "%s", view_name(v, from->channel));
        to->x = data->x0 + (int32_t)from->x;
        to->y = data->y0 + (int32_t)from->y;
        to->value = from->value;
    }
    r->bad += l->bad_pixels;
}

/* The report keeps the promise of the channel that came nearest to breaking it. */
static void enter_promise(const view *v, const accuracy *m, uint32_t attempts, bloom_report *r) {
    char how[200];
    bloom_promise *p = &r->promise;
    const char *channel = view_name(v, m->channel);
    accuracy_text(m, how, sizeof how);
    log_say(v->tile ? LOG_DEBUG : LOG_INFO, "channel '%s': %s", channel, how);
    if (!m->kept && !v->tile)
        log_warn("channel '%s': the tolerance of %g is not kept: %s", channel, v->s->tolerance,
                 how);
    if (attempts > p->attempts) p->attempts = attempts;
    bool farther = p->method.kept == m->kept
                       ? p->method.floor * m->allowed > m->floor * p->method.allowed
                       : m->kept;
    if (r->groups && farther) return;
    p->method = *m;
    snprintf(p->channel, sizeof p->channel, "%s", channel);
}

static void enter_attempt(const outcome *o, bloom_report *r) {
    engine_times *sum = &r->times;
    sum->upload += o->times.upload;
    sum->download += o->times.download;
    sum->total += o->times.total;
    for (uint32_t i = 0; i < o->lease.plan.passes; i++) sum->pass[i] += o->times.pass[i];
    r->spectrum_seconds += o->lease.spectrum_seconds;
    r->spectrum_cached |= o->lease.spectrum_cached;
    r->plan = o->lease.plan;
    r->device = o->lease.device;
    if (o->lease.note[0]) store_note(r, "%s", o->lease.note);
}

/* --- verify ---------------------------------------------------------------------------------- */

static void keep_pixels(const view *v, void *ctx, uint32_t c, size_t first, size_t n) {
    (void)ctx;
    image_to_float(v->original[c] + first, *view_plane(v, c), v->type[c], first, n);
}

static void enter_verified(const view *v, const verify_result *found, bloom_report *r) {
    bloom_verified *to = &r->verified;
    const image_part *p = view_part(v);
    uint64_t pixels = to->found.pixels + found->pixels, broken = to->found.broken + found->broken;
    bool first = !to->found.pixels, worse = found->broken && !to->found.broken;
    bool same = !found->broken == !to->found.broken;
    if (first || worse || (same && !(found->worst.error <= to->found.worst.error))) {
        to->found = *found;
        to->x = p->data.x0 + (int32_t)found->worst.x;
        to->y = p->data.y0 + (int32_t)found->worst.y;
        snprintf(to->channel, sizeof to->channel, "%s", view_name(v, found->worst.channel));
    }
    to->found.pixels = pixels;
    to->found.broken = broken;
}

static bool verify(const view *v, const light *l, const outcome *o, bloom_report *r, err *e) {
    const plan *p = &o->lease.plan;
    const void *got[VIEW_CHANNELS];
    pixel_type type[VIEW_CHANNELS];
    if (!v->s->verify) return true;
    for (uint32_t c = 0; c < v->channels; c++) {
        got[c] = *view_plane(v, c);
        type[c] = view_part(v)->channel[v->channel[c]].type;
    }
    verify_job j = {.kernel = &v->size->kernel,
                    .sharpen = v->sharpen,
                    .border = {v->s->border[PLAN_X], v->s->border[PLAN_Y]},
                    .w = v->size->need.w,
                    .h = v->size->need.h,
                    .channels = v->channels,
                    .kept = v->tile ? v->tile->kept : (tail_kept){0},
                    .in = (const float *const *)v->original,
                    .excess = v->excess,
                    .got = got,
                    .type = type,
                    .tolerance = v->s->tolerance,
                    .dark = l->dark,
                    .length = {p->axis[p->first].length, p->axis[1 - p->first].length},
                    .count = v->s->verify};
    verify_result found;
    if (!verify_run(&found, &j, v->threads, e)) return false;
    enter_verified(v, &found, r);
    return true;
}

/* --- the glare alone ------------------------------------------------------------------------- */

/* What a compositor adds to the image: the result minus the image as it came. */
static void subtract_image(const view *v, void *ctx, uint32_t c, size_t first, size_t n) {
    enum { SOME = 1024 };
    const outcome *o = ctx;
    float was[SOME];
    for (size_t at = first; at < first + n; at += SOME) {
        size_t m = first + n - at < SOME ? first + n - at : SOME;
        image_to_float(was, *view_plane(v, c), v->type[c], at, m);
        for (size_t i = 0; i < m; i++) v->glare[c][at + i] = o->out[c][at + i] - was[i];
    }
}

static void hand_over_glare(group_glare *to, view *v) {
    to->channels = v->channels;
    for (uint32_t c = 0; c < v->channels; c++) {
        group_plane *g = &to->channel[c];
        text_add(&g->name, "%s.%s", v->s->emit_layer, view_name(v, c));
        g->type = view_part(v)->channel[v->channel[c]].type;
        g->plane = v->glare[c];
        v->glare[c] = NULL;
    }
}

void group_glare_free(group_glare *g) {
    for (uint32_t c = 0; c < VIEW_CHANNELS; c++) {
        text_free(&g->channel[c].name);
        mem_free(g->channel[c].plane);
    }
    *g = (group_glare){0};
}

/* --- the whole ------------------------------------------------------------------------------- */

/* Makes the view. The caller calls close_view, also after a failure. */
static bool open_view(view *v, const group_job *j, err *e) {
    *v = view_make(j->s, j->img, j->part, j->layer, j->light);
    v->threads = j->threads;
    v->session = j->session;
    v->buf = j->buf;
    v->tile = j->tile;
    const image_part *p = view_part(v);
    kernel_need need = {.channels = v->channels,
                        .w = image_width(p),
                        .h = image_height(p),
                        .height = j->height,
                        .sharpen = v->sharpen};
    view_primaries(v, need.primaries);
    if (v->tile && v->tile->whole) {
        need.whole = v->tile->whole;
        need.piece = v->tile->piece;
    }
    v->size = session_size_take(j->session, &need, e);
    return v->size != NULL;
}

static void close_view(view *v) {
    for (uint32_t c = 0; c < VIEW_CHANNELS; c++) {
        mem_free(v->original[c]);
        mem_free(v->glare[c]);
    }
    session_size_give(v->session, v->size);
}

/* Makes the planes of floats that are wanted beside the result, and fills those of --verify. */
static bool make_planes(view *v, bool glare, err *e) {
    for (uint32_t c = 0; c < v->channels; c++) {
        if (v->s->verify &&
            !(v->original[c] = mem_raw(v->pixels, sizeof(float), "pixels to verify", e)))
            return false;
        if (glare && !(v->glare[c] = mem_raw(v->pixels, sizeof(float), "glare", e))) return false;
    }
    return !v->s->verify || view_blocks(v, keep_pixels, NULL, e);
}

/* Tries methods until the promise is kept, or none is left. */
static bool convolve(outcome *o, const view *v, light *l, bloom_report *r, err *e) {
    search s = {.v = v, .l = l, .o = o};
    if (!choose(&s, e)) return false;
    for (uint32_t i = 1;; i++) {
        if (!attempt_run(o, v, l, &s.method, e)) return false;
        enter_attempt(o, r);
        if (!judge(&s, e)) return false;
        accuracy tried = s.method;
        if (tried.kept || i == ATTEMPTS || !next_method(&s)) {
            enter_promise(v, &tried, i, r);
            r->promise.proved += s.proved.pixels;
            r->promise.proof = fmax(r->promise.proof, s.proved.worst);
            break;
        }
        log_debug("channel '%s', %s: predicted error %g, allowed %g: trying another method",
                  view_name(v, tried.channel), tried.method, tried.floor, tried.allowed);
    }
    if (!s.bug.code) return true;
    *e = s.bug;
    return false;
}

bool group_bloom(const group_job *j, bloom_report *r, err *e) {
    view v;
    light l = {0};
    outcome o = {0};
    double t[4] = {0};

    bool ok = open_view(&v, j, e);
    t[0] = clock_now();
    bool found = ok && light_find(&l, &v, false, e);
    enter_bad_pixels(&v, &l, r);
    if (ok && !r->groups && v.size->colours[0]) store_note(r, "%s", v.size->colours);
    ok = found && make_planes(&v, j->glare, e);
    t[1] = clock_now();
    ok = ok && convolve(&o, &v, &l, r, e) &&
         (!j->glare || j->s->emit != EMIT_ADDITIVE || view_blocks(&v, subtract_image, &o, e)) &&
         store_result(&v, &l, &o, r, e);
    t[2] = clock_now();
    ok = ok && verify(&v, &l, &o, r, e);
    t[3] = clock_now();
    if (ok && j->glare) hand_over_glare(j->glare, &v);
    r->contract_seconds += t[1] - t[0] + t[3] - t[2];
    r->groups += ok;
    light_free(&l);
    close_view(&v);
    return ok || (j->layer->name[0] ? err_in(e, "layer '%s'", j->layer->name) : false);
}

bool group_predict(const group_job *j, bloom_report *r, err *e) {
    view v;
    light l = {0};
    search s = {.v = &v, .l = &l};
    bool ok = open_view(&v, j, e) && light_find(&l, &v, true, e);
    enter_bad_pixels(&v, &l, r);
    if (ok && v.size->colours[0]) store_note(r, "%s", v.size->colours);
    ok = ok && choose(&s, e);
    if (ok) {
        const device_choice *c = &v.size->decided.way[attempt_way(&v, &s.method)];
        enter_promise(&v, &s.method, 0, r);
        r->plan = c->plan;
        r->device = c->device;
        r->groups++;
    }
    light_free(&l);
    close_view(&v);
    return ok;
}
