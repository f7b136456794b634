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
static void add_promise(bloom_promise *promise, const bloom_promise *one) {
    const accuracy *a = &promise->method, *b = &one->method;
    const bloom_promise had = *promise;
    if (!b->precision) return;
    if (!a->precision ||
        (a->kept == b->kept ? b->floor * a->allowed >= a->floor * b->allowed : a->kept))
        *promise = *one;
    promise->attempts = max_u32(had.attempts, one->attempts);
    promise->proved = had.proved + one->proved;
    promise->proof = fmax(had.proof, one->proof);
}

static void add_solved(bloom_solved *solved, const bloom_solved *one, bool worse) {
    const bloom_solved had = *solved;
    if (!one->steps) return;
    if (worse || !had.steps) *solved = *one;
    solved->steps = max_u32(had.steps, one->steps);
    solved->blooms = max_u32(had.blooms, one->blooms);
    solved->clipped = had.clipped + one->clipped;
    solved->clip = fmax(had.clip, one->clip);
    solved->reach = fmax(had.reach, one->reach);
    solved->negative = had.negative + one->negative;
    solved->lowest = fmin(had.lowest, one->lowest);
    solved->enough = had.steps ? fmin(had.enough, one->enough) : one->enough;
}

void account_add(bloom_account *sum, const bloom_account *one) {
    const verify_result had = sum->verified.found, *more = &one->verified.found;
    add_promise(&sum->promise, &one->promise);
    add_solved(&sum->solved, &one->solved, strcmp(sum->promise.channel, one->promise.channel) == 0);
    if (one->plan.passes) sum->plan = one->plan, sum->device = one->device;
    if (one->tiles.channels) sum->tiles = one->tiles;
    sum->points = fmax(sum->points, one->points);
    sum->times.upload += one->times.upload;
    sum->times.download += one->times.download;
    sum->times.total += one->times.total;
    for (uint32_t i = 0; i < PLAN_PASSES; i++) sum->times.pass[i] += one->times.pass[i];
    sum->spectrum_seconds += one->spectrum_seconds;
    sum->contract_seconds += one->contract_seconds;
    sum->spectrum_cached |= one->spectrum_cached;
    if (more->pixels && verify_is_worse(&had, more->worst.error, more->broken))
        sum->verified = one->verified;
    sum->verified.found.pixels = had.pixels + more->pixels;
    sum->verified.found.broken = had.broken + more->broken;
    sum->beyond |= one->beyond;
    for (uint64_t i = 0; i < one->bad && sum->bad + i < SCAN_BAD; i++)
        sum->first_bad[sum->bad + i] = one->first_bad[i];
    sum->bad += one->bad;
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
