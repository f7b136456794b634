#include "bloom/report.h"

#include "bloom/part.h"

void report_note(bloom_report *r, const char *fmt, ...) {
    if (r->notes == BLOOM_NOTES) return;
    va_list args;
    va_start(args, fmt);
    vsnprintf(r->note[r->notes++], sizeof r->note[0], fmt, args);
    va_end(args);
}

/* Of two promises, that is kept which came nearer to breaking; one without a method is none. */
static void add_promise(bloom_promise *all, const bloom_promise *one) {
    const accuracy *a = &all->method, *b = &one->method;
    const bloom_promise had = *all;
    if (!b->precision) return;
    if (!a->precision ||
        (a->kept == b->kept ? b->floor * a->allowed >= a->floor * b->allowed : a->kept))
        *all = *one;
    all->attempts = max_u32(had.attempts, one->attempts);
    all->proved = had.proved + one->proved;
    all->proof = fmax(had.proof, one->proof);
}

static void add_solved(bloom_solved *all, const bloom_solved *one, bool worse) {
    const bloom_solved had = *all;
    if (!one->steps) return;
    if (worse || !had.steps) *all = *one;
    all->steps = max_u32(had.steps, one->steps);
    all->blooms = max_u32(had.blooms, one->blooms);
    all->clipped = had.clipped + one->clipped;
    all->clip = fmax(had.clip, one->clip);
    all->reach = fmax(had.reach, one->reach);
    all->negative = had.negative + one->negative;
    all->lowest = fmin(had.lowest, one->lowest);
    all->enough = had.steps ? fmin(had.enough, one->enough) : one->enough;
}

void account_add(bloom_account *all, const bloom_account *one) {
    const verify_result had = all->verified.found, *more = &one->verified.found;
    add_promise(&all->promise, &one->promise);
    add_solved(&all->solved, &one->solved, strcmp(all->promise.channel, one->promise.channel) == 0);
    if (one->plan.passes) all->plan = one->plan, all->device = one->device;
    if (one->tiles.channels) all->tiles = one->tiles;
    all->times.upload += one->times.upload;
    all->times.download += one->times.download;
    all->times.total += one->times.total;
    for (uint32_t i = 0; i < PLAN_PASSES; i++) all->times.pass[i] += one->times.pass[i];
    all->spectrum_seconds += one->spectrum_seconds;
    all->contract_seconds += one->contract_seconds;
    all->spectrum_cached |= one->spectrum_cached;
    if (more->pixels && verify_is_worse(&had, more->worst.error, more->broken))
        all->verified = one->verified;
    all->verified.found.pixels = had.pixels + more->pixels;
    all->verified.found.broken = had.broken + more->broken;
    all->beyond |= one->beyond;
    for (uint64_t i = 0; i < one->bad && all->bad + i < SCAN_BAD; i++)
        all->first_bad[all->bad + i] = one->first_bad[i];
    all->bad += one->bad;
}

void account_promise(bloom_account *to, double tolerance, const accuracy *method,
                     const char *channel, uint32_t attempts) {
    bloom_promise *p = &to->promise;
    p->tolerance = tolerance, p->method = *method, p->attempts = attempts;
    snprintf(p->channel, sizeof p->channel, "%s", channel);
}

void report_add_part(bloom_report *r, const part_made *p) {
    account_add(&r->sum, &p->sum);
    for (const group_made *g = p->group; p->done && g < p->group + p->groups; g++) {
        if (!r->groups++ && g->fit[0]) report_note(r, "%s", g->fit);
        if (g->note[0]) report_note(r, "%s", g->note);
        account_add(&r->sum, &g->sum);
        OWN(text) how = {0};
        text_add(&how, g->wide ? ": the layer is written as float" : ", were clamped to it:");
        for (uint32_t c = 0; c < g->channels && !g->wide; c++)
            if (g->row[c].overflow_pixels) text_add(&how, " '%.40s'", g->row[c].channel);
        if (g->over)
            report_note(r, "%" PRIu64 " values beyond 65504, up to %g%s", g->over,
                        (double)g->largest, how.s);
        for (uint32_t c = 0; c < g->channels && r->ledger_rows < BLOOM_LEDGER; c++)
            r->ledger[r->ledger_rows++] = g->row[c];
    }
}
