#include "app/run/account.h"

#include <inttypes.h>
#include <math.h>

/* `"key": number`, with as many digits as the value needs to come back the same. */
static void add_number(text *to, const char *before, const char *key, double v) {
    text_add(to, "%s\"%s\": ", before, key);
    text_add(to, isfinite(v) ? "%.17g" : "null", v);
}

static void add_string(text *to, const char *before, const char *key, const char *s) {
    text_add(to, "%s\"%s\": ", before, key);
    text_add_json(to, s);
}

static void add_line(text *to, int indent, const char *key) {
    text_add(to, ",\n%*s\"%s\": ", 2 * indent, "", key);
}

static const char *precision_name(plan_precision p) {
    return p == PRECISION_FLOAT64 ? "float64" : "float32";
}

/* --- bad pixels ------------------------------------------------------------------------------ */

static void add_bad(const bloom_report *r, int indent, text *to) {
    add_line(to, indent, "bad_pixels");
    text_add(to, "{\"count\": %" PRIu64 ", \"first\": [", r->bad);
    for (uint64_t i = 0; i < r->bad && i < SCAN_BAD; i++) {
        const bloom_bad *b = &r->first_bad[i];
        add_string(to, i ? ", {" : "{", "channel", b->channel);
        text_add(to, ", \"x\": %d, \"y\": %d, \"value\": \"%s\"}", b->x, b->y,
                 isnan(b->value) ? "nan"
                 : b->value > 0  ? "inf"
                                 : "-inf");
    }
    text_add(to, "]}");
}

/* --- the promise ----------------------------------------------------------------------------- */

static void add_promise(const bloom_report *r, int indent, text *to) {
    const accuracy *a = &r->promise.method;
    add_line(to, indent, "promise");
    add_number(to, "{", "tolerance", r->promise.tolerance);
    text_add(to, ", \"kept\": %s, \"precision\": \"%s\", \"bright_spots\": %.0f, \"core\": %u",
             a->kept ? "true" : "false", precision_name(a->precision), a->spots, a->core);
    add_string(to, ", ", "channel", r->promise.channel);
    add_number(to, ", ", "error", a->floor);
    add_number(to, ", ", "allowed", a->allowed);
    add_number(to, ", ", "darkest", a->darkest);
    text_add(to, ", \"attempts\": %u}", r->promise.attempts);
}

static void add_verified(const bloom_report *r, int indent, text *to) {
    const bloom_verified *v = &r->verified;
    const verify_pixel *p = &v->found.worst;
    add_line(to, indent, "verify");
    text_add(to, "{\"pixels\": %" PRIu64 ", \"broken\": %" PRIu64 ", \"worst\": ", v->found.pixels,
             v->found.broken);
    add_string(to, "{", "channel", v->channel);
    text_add(to, ", \"x\": %d, \"y\": %d", v->x, v->y);
    add_number(to, ", ", "is", p->got);
    add_number(to, ", ", "should_be", p->want);
    add_number(to, ", ", "error", p->error);
    text_add(to, "}}");
}

/* --- the ledger ------------------------------------------------------------------------------ */

static void add_row(const ledger_row *row, const char *before, int indent, text *to) {
    text_add(to, "%s\n%*s", before, 2 * indent, "");
    add_string(to, "{", "channel", row->channel);
    add_number(to, ", ", "in", row->in);
    add_number(to, ", ", "gained", row->gained);
    add_number(to, ", ", "out", row->out);
    add_number(to, ", ", "spilled", row->spilled);
    add_number(to, ", ", "bad", row->bad);
    add_number(to, ", ", "overflow", row->overflow);
    add_number(to, ", ", "negative", row->negative);
    add_number(to, ", ", "gap", ledger_gap(row));
    add_number(to, ", ", "centre", row->centre);
    text_add(to,
             ", \"bad_pixels\": %" PRIu64 ", \"overflow_pixels\": %" PRIu64
             ", \"negative_pixels\": %" PRIu64 "}",
             row->bad_pixels, row->overflow_pixels, row->negative_pixels);
}

static void add_ledger(const bloom_report *r, int indent, text *to) {
    add_line(to, indent, "ledger");
    text_add(to, "[");
    for (uint32_t i = 0; i < r->ledger_rows; i++)
        add_row(&r->ledger[i], i ? "," : "", indent + 1, to);
    text_add(to, "\n%*s]", 2 * indent, "");
}

void account_json(const bloom_report *r, int indent, text *to) {
    if (r->groups || r->bad) add_bad(r, indent, to);
    if (r->groups) add_promise(r, indent, to);
    if (r->verified.found.pixels) add_verified(r, indent, to);
    if (r->ledger_rows) add_ledger(r, indent, to);
}

/* --- words ----------------------------------------------------------------------------------- */

void account_prediction(const bloom_report *r, text *to) {
    char how[200];
    accuracy_text(&r->promise.method, how, sizeof how);
    text_add(to, "promise  tolerance %g, channel '%s' is nearest to it: %s\n", r->promise.tolerance,
             r->promise.channel, how);
    if (!r->bad) return;
    const bloom_bad *b = &r->first_bad[0];
    text_add(to,
             "bad      %" PRIu64 " pixel%s NaN or infinite, the first in channel '%s' at %d, %d\n",
             r->bad, r->bad == 1 ? " is" : "s are", b->channel, b->x, b->y);
}

void account_verified(const bloom_report *r, text *to) {
    const bloom_verified *v = &r->verified;
    const verify_pixel *p = &v->found.worst;
    text_add(to,
             "verified %" PRIu64 " pixels: the worst is off by %.2g, the tolerance is %g; channel "
             "'%s' is %.9g at %d, %d, by the definition %.9g",
             v->found.pixels, p->error, r->promise.tolerance, v->channel, p->got, v->x, v->y,
             p->want);
}
