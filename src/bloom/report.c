#include "bloom/report.h"

#include "bloom/part.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

void report_begin(bloom_report *r, double tolerance) {
    *r = (bloom_report){.promise.tolerance = tolerance};
}

void report_note(bloom_report *r, const char *fmt, ...) {
    if (r->notes == BLOOM_NOTES) return;
    va_list args;
    va_start(args, fmt);
    vsnprintf(r->note[r->notes++], sizeof r->note[0], fmt, args);
    va_end(args);
}

void report_add_promise(bloom_promise *all, const bloom_promise *one) {
    const accuracy *a = &all->method, *b = &one->method;
    if (!b->precision) return;
    bool nearer = !a->precision ||
                  (a->kept == b->kept ? b->floor * a->allowed >= a->floor * b->allowed : a->kept);
    bloom_promise sum = nearer ? *one : *all;
    sum.attempts = all->attempts > one->attempts ? all->attempts : one->attempts;
    sum.proved = all->proved + one->proved;
    sum.proof = all->proof > one->proof ? all->proof : one->proof;
    *all = sum;
}

void report_add_times(engine_times *all, const engine_times *one) {
    all->upload += one->upload;
    all->download += one->download;
    all->total += one->total;
    for (uint32_t i = 0; i < PLAN_PASSES; i++) all->pass[i] += one->pass[i];
}

static void add_group(bloom_report *r, const group_made *g) {
    if (!r->groups && g->fit[0]) report_note(r, "%s", g->fit);
    if (g->note[0]) report_note(r, "%s", g->note);
    report_add_promise(&r->promise, &g->promise);
    report_add_times(&r->times, &g->times);
    r->spectrum_seconds += g->spectrum_seconds;
    r->contract_seconds += g->contract_seconds;
    r->spectrum_cached |= g->spectrum_cached;
    r->plan = g->plan;
    r->device = g->device;
    if (g->over)
        report_note(r,
                    g->wide ? "%" PRIu64
                              " values beyond 65504, up to %g: the layer is written as float"
                            : "%" PRIu64 " values beyond 65504, up to %g, were clamped to it",
                    g->over, (double)g->largest);
    for (uint32_t c = 0; c < g->channels && r->ledger_rows < BLOOM_LEDGER; c++)
        r->ledger[r->ledger_rows++] = g->row[c];
    r->groups++;
}

void report_add_part(bloom_report *r, const part_made *p) {
    for (uint64_t i = 0; i < p->bad && r->bad + i < SCAN_BAD; i++)
        r->first_bad[r->bad + i] = p->first_bad[i];
    r->bad += p->bad;
    for (int i = 0; p->done && i < p->groups; i++) add_group(r, &p->group[i]);
    const verify_result had = r->verified.found, *more = &p->verified.found;
    if (more->pixels && verify_is_worse(&had, more->worst.error, more->broken))
        r->verified = p->verified;
    r->verified.found.pixels = had.pixels + more->pixels;
    r->verified.found.broken = had.broken + more->broken;
    if (p->tiles.channels) r->tiles = p->tiles;
    r->beyond |= p->beyond;
}
