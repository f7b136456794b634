#include "bloom/solve_work.h"

static bool sum_pixel(void *ctx, size_t index, int worker, err *e) {
    const solving *s = ctx;
    const view *v = s->v;
    summed *p = &s->summed[index];
    const kernel_at *k = v->size;
    const uint32_t c = p->channel, w = v->need.w;
    const definition_rows rows = {.plane = s->x[c],
                                  .type = PIXEL_FLOAT,
                                  .w = w,
                                  .h = v->need.h,
                                  .rows = v->need.h,
                                  .lost = s->fine[c] ? s->next[c] : NULL};
    const definition_kernel kernel = {
        &k->kernel, {v->s->border[PLAN_X], v->s->border[PLAN_Y]}, NULL};
    definition_pixel pixel = {.x = (uint32_t)(p->at % w), .y = (uint32_t)(p->at / w)};
    const definition_gain gain =
        definition_gain_of(&kernel, c, v->sharpen, kernel_need_tint(&v->need, c), &pixel);
    if (!definition_add(&pixel, &rows, &kernel, c, e)) return false;
    p->want = (double)plate_at(s, c, p->at);
    /* Under a mask m, a step is x(n+1) = (1 - m) y + m (y - A x(n)) / C. */
    const double core = solve_core_of(k, c), m = mask_at(s, p->at),
                 off = (1 - m) * (image_at(s, c, p->at) - p->want) +
                       m * (definition_value(&pixel, &gain) - p->want) / core;
    p->got = p->want + core * off;
    const double most = (double)s->v_of[c][p->at] +
                        definition_rounding(&pixel, &kernel, &gain) / core;
    p->part = fabs(off) > most ? fabs(off) / most : 0;
    return true;
}

bool solve_sum_pixels(group_made *to, solving *s, err *e) {
    const view *v = s->v;
    const uint32_t count = v->channels + v->s->verify;
    uint64_t seed = v->pixels;
    summed *p = s->summed = mem_new(count, sizeof *p, "pixels to verify", e);
    for (uint32_t c = 0; c < v->channels && s->fine[c]; c++) /* the residual is not needed now */
        for (size_t i = 0; i < v->pixels; i++)
            s->next[c][i] = (float)(s->fine[c][i] - (double)s->x[c][i]);
    for (uint32_t i = 0; p && i < count; i++)
        p[i] = (summed){.channel = i % v->channels,
                        .at = i < v->channels ? s->last[i].at : random_next(&seed) % v->pixels};
    bool ok = p && par_for(v->threads, count, sum_pixel, s, e);
    for (uint32_t i = 0; ok && i < count; i++) {
        verify_result *r = &to->sum.verified.found;
        const double x = image_at(s, p[i].channel, p[i].at);
        const double off = fabs(p[i].got - p[i].want) / solve_core_of(v->size, p[i].channel),
                     error = part_of(off, allowed_of(s, p[i].channel, x)) * v->s->tolerance;
        const uint32_t at_x = (uint32_t)(p[i].at % v->need.w),
                       at_y = (uint32_t)(p[i].at / v->need.w);
        to->sum.promise.proof = fmax(to->sum.promise.proof, p[i].part);
        if (i < v->channels) continue;
        if (!r->pixels++ || verify_is_worse(r, error, p[i].part > 1)) {
            r->worst = (verify_pixel){p[i].channel, at_x, at_y, p[i].got, p[i].want, error};
            snprintf(to->sum.verified.channel, sizeof to->sum.verified.channel, "%s",
                     view_name(v, p[i].channel));
            to->sum.verified.x = view_part(v)->data.x0 + (int32_t)at_x;
            to->sum.verified.y = view_part(v)->data.y0 + (int32_t)at_y;
        }
        r->broken += p[i].part > 1;
    }
    to->sum.promise.proved = ok ? v->channels : 0;
    mem_free(p);
    if (!ok || !(to->sum.promise.proof > 1) || to->sum.verified.found.broken) return ok;
    if (s->lease.spectrum_cached) cache_distrust(s->lease.spectrum_of, v->s->cache_dir);
    return err_set(e, ERR_INTERNAL,
                   "a pixel that is bloomed again by its definition is %.3g times as far from the "
                   "plate as the series has left it. A cached spectrum was dropped, if it was one: "
                   "try again; else this is a bug, please report it",
                   to->sum.promise.proof);
}

/* Counts the pixels that have lost light, and finds how far that may matter: as if all of it, as
 * much again as they have, were in one place. */
static void tell_clipped(bloom_solved *to, const solving *s) {
    const view *v = s->v;
    const kernel_tail *t = &v->size->tail;
    to->clip = v->s->clip;
    if (isnan(v->s->clip))
        for (uint32_t c = 0; c < v->channels; c++)
            to->clip = fmax(to->clip, (double)v->scanned->channel[c].greatest);
    if (!(to->clip > 0)) return;
    for (uint32_t c = 0; c < v->channels; c++) {
        uint64_t count = 0;
        for (size_t i = 0; i < v->pixels; i++) count += plate_at(s, c, i) >= to->clip;
        if (isnan(v->s->clip) && count < 2) continue;
        to->clipped += count;
        const double lost = (double)count * to->clip, scale = fabs(t->scale[tail_kernel(t, c)]),
                     seen = v->s->tolerance * scan_median(v->scanned->channel[c].count);
        const float *tap = tail_taps(t, c);
        for (size_t i = 0; i < (size_t)t->kw * t->kh; i++) {
            const double x = (double)(i % t->kw) - t->cx, y = (double)(i / t->kw) - t->cy;
            if (lost * scale * fabs((double)tap[i]) > seen)
                to->reach = fmax(to->reach, sqrt(x * x + y * y));
        }
    }
}

void solve_tell(group_made *to, outcome *o, const solving *s) {
    const found *last = s->last;
    const view *v = s->v;
    const solve_split shares = solve_split_of(v->size);
    bloom_solved *d = &to->sum.solved;
    uint32_t worst = 0;
    d->radius = v->size->kernel.core;
    d->core = shares.core, d->tail = shares.tail, d->ratio = shares.ratio;
    d->steps = s->steps, d->blooms = s->blooms;
    d->enough = 1;
    for (uint32_t c = 0; c < v->channels; c++) {
        const found *f = &last[c];
        if (f->worst > last[worst].worst) worst = c;
        d->negative += f->negative;
        d->lowest = fmin(d->lowest, f->lowest);
        d->enough = fmin(d->enough, f->enough);
        o->stats[c] = f->made;
        o->stats[c].spilled = s->spilled[c];
        o->out[c] = s->x[c];
    }
    d->amount = 1 - v->sharpen;
    d->enough *= d->amount;
    d->bound = last[worst].bound, d->value = last[worst].value;
    snprintf(d->channel, sizeof d->channel, "%s", view_name(v, worst));
    d->x = view_part(v)->data.x0 + (int32_t)(last[worst].at % v->need.w);
    d->y = view_part(v)->data.y0 + (int32_t)(last[worst].at / v->need.w);
    const double allowed = allowed_of(s, worst, d->value);
    accuracy method = {.precision = s->precision,
                       .floor = last[worst].worst * allowed,
                       .allowed = allowed,
                       .darkest = allowed / v->s->tolerance,
                       .channel = worst,
                       .kept = last[worst].worst <= 1};
    for (uint32_t c = 0; c < v->channels; c++)
        method.error[c] = last[c].worst * allowed_of(s, c, last[c].value);
    account_promise(&to->sum, v->s->tolerance, &method, view_name(v, worst), s->attempts);
    session_account(&to->sum, &s->lease, &s->spent.times);
    memcpy(to->note, s->lease.note, sizeof to->note);
    o->type = PIXEL_FLOAT;
    o->lease = s->lease;
    tell_clipped(d, s);
}
