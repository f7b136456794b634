#include "bloom/report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

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

bool report_refuse_bad(uint64_t count, const bloom_bad *first, err *e) {
    return err_set(e, ERR_BAD_PIXELS,
                   "%" PRIu64 " pixel%s NaN or infinite, the first in channel '%s' at %d, %d (%g); "
                   "use --nan zero or --nan interpolate to continue",
                   count, count == 1 ? " is" : "s are", first->channel, first->x, first->y,
                   (double)first->value);
}
