#include "bloom/group.h"

#include "base/clock.h"
#include "base/host.h"
#include "base/log.h"
#include "base/mem.h"
#include "bloom/attempt.h"
#include "bloom/light.h"
#include "bloom/prove.h"
#include "bloom/store.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- floats or doubles: docs/math.md ---------------------------------------------------------- */

/* The search for a result that keeps the promise of a group. */
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
                            .scanned = l->scanned,
                            .dark = l->dark,
                            .signs = l->signs,
                            .partly = !v->all,
                            .tolerance = v->s->tolerance,
                            .precision = v->s->precision,
                            .points = (double)first->plan.axis[0].length *
                                      first->plan.axis[1].length,
                            .doubles = doubles->possible};
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
        double found = -s->o->stats[c].negative_worst;
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
 * not kept. */
static bool check_proof(search *s, err *e) {
    const view *v = s->v;
    accuracy *m = &s->method;
    proof *p = &s->proved;
    if (!prove(p, v, s->o, m, s->l->dark, e)) return false;
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

/* Judges by what was measured, and by some pixels. */
static bool judge(search *s, err *e) {
    s->proved = (proof){0};
    for (uint32_t c = 0; c < s->v->channels; c++) {
        const join_stats *st = &s->o->stats[c];
        s->measured[c] = (accuracy_measured){st->norm, st->peak, st->darkest, st->darker};
    }
    check(s);
    return !s->method.kept || check_proof(s, e);
}

/* --- what is told ---------------------------------------------------------------------------- */

static void enter_promise(group_made *to, const view *v, const accuracy *m, uint32_t attempts) {
    bloom_promise *p = &to->promise;
    p->tolerance = v->s->tolerance;
    p->method = *m;
    p->attempts = attempts;
    snprintf(p->channel, sizeof p->channel, "%s", view_name(v, m->channel));
}

static void enter_attempt(group_made *to, const outcome *o) {
    report_add_times(&to->times, &o->times);
    to->spectrum_seconds += o->lease.spectrum_seconds;
    to->spectrum_cached |= o->lease.spectrum_cached;
    to->plan = o->lease.plan;
    to->device = o->lease.device;
    memcpy(to->note, o->lease.note, sizeof to->note);
}

void group_add(group_made *all, const group_made *one) {
    report_add_times(&all->times, &one->times);
    report_add_promise(&all->promise, &one->promise);
    all->spectrum_seconds += one->spectrum_seconds;
    all->contract_seconds += one->contract_seconds;
    all->spectrum_cached |= one->spectrum_cached;
    all->plan = one->plan;
    all->device = one->device;
    if (one->note[0]) memcpy(all->note, one->note, sizeof all->note);
    memcpy(all->colours, one->colours, sizeof all->colours);
    all->over += one->over;
    all->largest = fmaxf(all->largest, one->largest);
    for (uint32_t c = 0; c < one->channels; c++) {
        ledger_row *to = &all->row[c];
        const ledger_row *from = &one->row[c];
        to->gained += from->gained;
        to->out += from->out;
        to->spilled += from->spilled;
        to->overflow += from->overflow;
        to->overflow_pixels += from->overflow_pixels;
        to->negative += from->negative;
        to->negative_pixels += from->negative_pixels;
        to->size = fmax(to->size, fmax(fabs(to->in), fabs(to->out)));
        to->centre = from->centre;
    }
}

/* --- the whole ------------------------------------------------------------------------------- */

/* Makes the view. The caller calls close_view, also after a failure. */
static bool open_view(view *v, const group_job *j, err *e) {
    *v = view_make(j->s, j->img, j->part, j->layer, &j->spread);
    v->sharpen = j->sharpen;
    v->threads = j->threads;
    v->session = j->session;
    v->buf = j->buf;
    v->kept = j->kept;
    v->floats = j->floats;
    v->emits = j->glare;
    v->doubles = j->doubles[0] ? j->doubles : NULL;
    v->dark = j->dark;
    const image_part *p = view_part(v);
    kernel_need need = {.channels = v->channels,
                        .w = image_width(p),
                        .h = image_height(p),
                        .height = j->height,
                        .sharpen = v->sharpen};
    view_primaries(v, need.primaries);
    v->size = session_size_take(j->session, &need, view_planes(v), e);
    for (uint32_t c = 0; v->size && j->glare && c < v->channels; c++)
        if (!(v->glare[c] = mem_raw(v->pixels, sizeof(float), "glare", e))) return false;
    return v->size != NULL;
}

static void close_view(view *v) {
    for (uint32_t c = 0; c < VIEW_CHANNELS; c++) mem_free(v->glare[c]);
    session_size_give(v->session, v->size);
}

/* Makes the result, again in doubles where floats do not keep the promise. */
static bool convolve(group_made *to, outcome *o, const view *v, light *l, err *e) {
    search s = {.v = v, .l = l, .o = o, .facts = facts_of(v, l)};
    accuracy_choose(&s.method, &s.facts);
    for (uint32_t i = 1;; i++) {
        if (!attempt_run(o, v, l, &s.method, e)) return false;
        enter_attempt(to, o);
        if (!judge(&s, e)) return false;
        const accuracy *m = &s.method;
        bool last = m->precision == PRECISION_FLOAT64 || s.facts.precision != PRECISION_AUTO ||
                    !s.facts.doubles;
        if (m->kept || last) {
            enter_promise(to, v, m, i);
            to->promise.proved = s.proved.pixels;
            to->promise.proof = s.proved.worst;
            break;
        }
        log_debug("channel '%s', float32: predicted error %g, allowed %g: trying float64",
                  view_name(v, m->channel), m->floor, m->allowed);
        s.facts.precision = PRECISION_FLOAT64;
        accuracy_choose(&s.method, &s.facts);
    }
    if (!s.bug.code) return true;
    *e = s.bug;
    return false;
}

bool group_bloom(group_made *to, const group_job *j, err *e) {
    view v;
    light l = {0};
    outcome o = {0};
    *to = (group_made){0};

    bool ok = open_view(&v, j, e) && host_ask(0, e);
    double start = clock_now();
    ok = ok && light_find(&l, &v, j->scanned, e);
    to->contract_seconds = clock_now() - start;
    if (ok) memcpy(to->colours, v.size->colours, sizeof to->colours);
    ok = ok && convolve(to, &o, &v, &l, e) && store_result(to, &v, &l, &o, e);
    for (uint32_t c = 0; ok && c < v.channels; c++) {
        to->glare[c] = v.glare[c];
        v.glare[c] = NULL;
    }
    light_free(&l);
    close_view(&v);
    return ok || (j->layer->name[0] ? err_in(e, "layer '%s'", j->layer->name) : false);
}

bool group_predict(group_made *to, const group_job *j, err *e) {
    view v;
    light l = {0};
    accuracy method;
    *to = (group_made){0};
    bool ok = open_view(&v, j, e) && light_find(&l, &v, j->scanned, e);
    if (ok) memcpy(to->colours, v.size->colours, sizeof to->colours);
    if (ok) {
        const accuracy_facts facts = facts_of(&v, &l);
        accuracy_choose(&method, &facts);
        const device_choice *c = &v.size->decided.way[attempt_way(&method)];
        enter_promise(to, &v, &method, 0);
        to->plan = c->plan;
        to->device = c->device;
    }
    light_free(&l);
    close_view(&v);
    return ok;
}
