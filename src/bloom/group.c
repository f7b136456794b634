#include "bloom/group.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "bloom/attempt.h"
#include "bloom/light.h"
#include "bloom/store.h"
#include "bloom/verify.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ATTEMPTS = 3 };

/* --- choosing a method: docs/math.md, "Choosing a method" ------------------------------------- */

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
static bool choose(accuracy *m, accuracy_facts *f, const view *v, light *l, err *e) {
    *f = facts_of(v, l);
    if (!v->promised) {
        /* A core or bright pixels in space would mend what a bilinear spectrum is there to show. */
        accuracy_facts any = *f;
        any.tolerance = 1e300;
        accuracy_choose(m, &any);
        m->kept = false;
        m->allowed = 0;
        return true;
    }
    accuracy_choose(m, f);
    if (m->kept || l->close) return true;
    if (!light_find_closely(l, v, e)) return false;
    accuracy_choose(m, f);
    return true;
}

/* --- judging a result: docs/math.md, "The promise" -------------------------------------------- */

/* Noise below zero, where light cannot be, is cut off. It is also a measurement: where it is larger
 * than predicted, the measured noise takes the prediction's place and the promise is not kept.
 * *bug tells if it is so large that only a mistake of this program explains it. */
static void heed_noise(accuracy *m, const view *v, const outcome *o, err *bug) {
    for (uint32_t c = 0; c < v->channels; c++) {
        double found = o->stats[c].negative ? -o->stats[c].negative_worst : 0;
        if (found <= m->error[c]) continue;
        if (!(found <= 16 * m->error[c]) && !(found < 1e-30))
            err_set(bug, ERR_INTERNAL,
                    "channel '%s': the glare has values down to %g where it cannot be below zero; "
                    "the predicted noise is %g. This is a bug; please report it",
                    view_name(v, c), -found, m->error[c]);
        m->kept = false;
        m->error[c] = found;
        if (found > m->floor) m->channel = c;
        m->floor = fmax(m->floor, found);
    }
}

/* Judges by what was measured. If the result is not good enough for every pixel above 0, looks
 * closely: perhaps the darkest are so dark that nothing is promised for them. *bug: why the result
 * cannot be right; ERR_NONE: it can. */
static bool judge(accuracy *m, const view *v, light *l, const accuracy_facts *f, const outcome *o,
                  err *bug, err *e) {
    accuracy_measured measured[VIEW_CHANNELS];
    for (uint32_t c = 0; c < v->channels; c++) measured[c] = o->stats[c].measured;
    *bug = (err){0};
    accuracy_check(m, f, measured);
    heed_noise(m, v, o, bug);
    if (m->kept || l->close || !v->promised) return true;
    if (!light_find_closely(l, v, e)) return false;
    *bug = (err){0};
    accuracy_check(m, f, measured);
    heed_noise(m, v, o, bug);
    return true;
}

/* The next method after one that failed: by what was measured, or float64 where that would be the
 * same again. False: there is none. */
static bool next_method(accuracy *m, accuracy_facts *f, const outcome *o) {
    accuracy now = *m;
    accuracy_measured measured[VIEW_CHANNELS];
    if (now.precision == PRECISION_FLOAT64) return false;
    for (uint32_t c = 0; c < f->tail->channels; c++) measured[c] = o->stats[c].measured;
    f->measured = measured;
    accuracy_choose(m, f);
    if (accuracy_same_method(m, &now) && f->precision == PRECISION_AUTO && isfinite(f->seconds64)) {
        f->precision = PRECISION_FLOAT64;
        accuracy_choose(m, f);
    }
    f->measured = NULL;
    bool other = !accuracy_same_method(m, &now);
    if (!other) *m = now;
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
    log_info("channel '%s': %s", channel, how);
    if (!m->kept && v->promised)
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
    float *const *kept = ctx;
    image_to_float(kept[c] + first, *view_plane(v, c), v->type[c], first, n);
}

/* Keeps the planes as they came, for --verify. */
static bool keep_original(float *kept[VIEW_CHANNELS], const view *v, err *e) {
    if (!v->s->verify) return true;
    for (uint32_t c = 0; c < v->channels; c++)
        if (!(kept[c] = mem_raw(v->pixels, sizeof(float), "pixels to verify", e))) return false;
    return view_blocks(v, keep_pixels, kept, e);
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

static bool verify(const view *v, const light *l, const plan *p, float *const *original,
                   bloom_report *r, err *e) {
    const void *got[VIEW_CHANNELS];
    pixel_type type[VIEW_CHANNELS];
    if (!v->s->verify) return true;
    for (uint32_t c = 0; c < v->channels; c++) {
        got[c] = *view_plane(v, c);
        type[c] = view_part(v)->channel[v->channel[c]].type;
    }
    verify_job j = {.kernel = &v->size->kernel,
                    .sharpen = v->s->sharpen,
                    .border = {v->s->border[PLAN_X], v->s->border[PLAN_Y]},
                    .w = v->size->need.w,
                    .h = v->size->need.h,
                    .channels = v->channels,
                    .in = (const float *const *)original,
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

static bool prepare_glare(float *glare[VIEW_CHANNELS], const view *v, err *e) {
    for (uint32_t c = 0; c < v->channels; c++)
        if (!(glare[c] = mem_raw(v->pixels, sizeof(float), "glare", e))) return false;
    return true;
}

static bool hand_over_glare(group_glare *to, float *glare[VIEW_CHANNELS], const view *v, err *e) {
    for (uint32_t c = 0; c < v->channels; c++) {
        if (!(to->name[c] = mem_str(view_name(v, c), e))) return false;
        to->type[c] = view_part(v)->channel[v->channel[c]].type;
        to->plane[c] = glare[c];
        glare[c] = NULL;
        to->channels++;
    }
    return true;
}

void group_glare_free(group_glare *g) {
    for (uint32_t c = 0; c < VIEW_CHANNELS; c++) {
        mem_free(g->name[c]);
        mem_free(g->plane[c]);
    }
    *g = (group_glare){0};
}

/* --- the whole ------------------------------------------------------------------------------- */

/* Makes the view; its size is to be given back, also on failure. */
static bool open_view(view *v, const group_job *j, err *e) {
    *v = view_make(j->s, j->img, j->part, j->layer);
    v->threads = j->threads;
    v->session = j->session;
    v->buf = j->buf;
    const image_part *p = view_part(v);
    kernel_need need = {v->channels, image_width(p), image_height(p), j->height};
    v->size = session_size_take(j->session, &need, e);
    return v->size != NULL;
}

/* Tries methods until the promise is kept, or none is left. */
static bool convolve(outcome *o, const view *v, light *l, float *const *glare, bloom_report *r,
                     err *e) {
    accuracy method;
    accuracy_facts facts;
    err bug;
    if (!choose(&method, &facts, v, l, e)) return false;
    for (uint32_t i = 1;; i++) {
        if (!attempt_run(o, v, l, &method, glare, e)) return false;
        enter_attempt(o, r);
        if (!judge(&method, v, l, &facts, o, &bug, e)) return false;
        accuracy tried = method;
        if (method.kept || !v->promised || i == ATTEMPTS || !next_method(&method, &facts, o)) {
            enter_promise(v, &tried, i, r);
            break;
        }
        log_debug("channel '%s': predicted error %g, allowed %g: trying another method",
                  view_name(v, tried.channel), tried.floor, tried.allowed);
    }
    if (v->promised && bug.code) {
        *e = bug;
        return false;
    }
    return true;
}

bool group_bloom(const group_job *j, bloom_report *r, err *e) {
    view v;
    light l = {0};
    outcome o = {0};
    float *original[VIEW_CHANNELS] = {0}, *glare[VIEW_CHANNELS] = {0};
    double t[4] = {0};

    bool ok = open_view(&v, j, e);
    t[0] = clock_now();
    bool found = ok && light_find(&l, &v, false, e);
    enter_bad_pixels(&v, &l, r);
    ok = found && keep_original(original, &v, e) && (!j->glare || prepare_glare(glare, &v, e));
    t[1] = clock_now();
    ok = ok && convolve(&o, &v, &l, j->glare ? glare : NULL, r, e);
    ok = ok && store_result(&v, &l, &o, r, e);
    t[2] = clock_now();
    ok = ok && verify(&v, &l, &o.lease.plan, original, r, e);
    t[3] = clock_now();
    ok = ok && (!j->glare || hand_over_glare(j->glare, glare, &v, e));

    r->contract_seconds += t[1] - t[0] + t[3] - t[2];
    r->groups += ok;
    for (uint32_t c = 0; c < VIEW_CHANNELS; c++) {
        mem_free(original[c]);
        mem_free(glare[c]);
    }
    light_free(&l);
    session_size_give(j->session, v.size);
    return ok || (j->layer->name[0] ? err_in(e, "layer '%s'", j->layer->name) : false);
}

bool group_predict(const group_job *j, bloom_report *r, err *e) {
    view v;
    light l = {0};
    accuracy method;
    accuracy_facts facts;
    bool ok = open_view(&v, j, e) && light_find(&l, &v, true, e);
    enter_bad_pixels(&v, &l, r);
    ok = ok && choose(&method, &facts, &v, &l, e);
    if (ok) {
        const device_choice *c = &v.size->decided.way[attempt_way(&v, &method)];
        enter_promise(&v, &method, 0, r);
        r->plan = c->plan;
        r->device = c->device;
        r->groups++;
    }
    light_free(&l);
    session_size_give(j->session, v.size);
    return ok;
}
