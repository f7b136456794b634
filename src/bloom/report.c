#include "bloom/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

void report_add_bad(bloom_report *r, uint64_t count, const bloom_bad *first) {
    for (uint64_t i = 0; i < count && r->bad + i < SCAN_BAD; i++)
        r->first_bad[r->bad + i] = first[i];
    r->bad += count;
}

void group_add(group_made *all, const group_made *one) {
    engine_times_add(&all->times, &one->times);
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
    all->wide |= one->wide;
    for (uint32_t c = 0; c < one->channels; c++) {
        ledger_row *to = &all->row[c];
        const ledger_row *from = &one->row[c];
        to->out += from->out;
        to->overflow += from->overflow;
        to->overflow_pixels += from->overflow_pixels;
        to->negative += from->negative;
        to->negative_pixels += from->negative_pixels;
        to->size = fmax(to->size, fmax(fabs(to->in), fabs(to->out)));
    }
}

void report_add_group(bloom_report *r, const group_made *g, bool failed) {
    const bloom_promise *is = &g->promise;
    report_add_bad(r, g->bad, g->first_bad);
    r->beyond |= failed && g->wide;
    if (failed) return;
    if (!r->groups && g->colours[0]) report_note(r, "%s", g->colours);
    if (g->note[0]) report_note(r, "%s", g->note);
    report_add_promise(&r->promise, is);
    engine_times_add(&r->times, &g->times);
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

void report_add_cut(bloom_report *r, uint32_t first, const ledger_row *cut, int channels) {
    for (uint32_t i = first; i < r->ledger_rows; i++)
        for (int c = 0; c < channels; c++) {
            if (strcmp(cut[c].channel, r->ledger[i].channel) != 0) continue;
            r->ledger[i].out += cut[c].out;
            r->ledger[i].spilled += cut[c].spilled;
        }
}

bool report_refuse_bad(uint64_t count, const bloom_bad *first, err *e) {
    return err_set(e, ERR_BAD_PIXELS,
                   "%" PRIu64 " pixel%s NaN or infinite, the first in channel '%s' at %d, %d (%g); "
                   "use --nan zero or --nan interpolate to continue",
                   count, count == 1 ? " is" : "s are", first->channel, first->x, first->y,
                   (double)first->value);
}
