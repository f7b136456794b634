#include "app/run/account.h"

#include "app/run/describe.h"

#include <inttypes.h>
#include <math.h>

enum { ALL_DIGITS = 17 }; /* bring a double back as it was */

static void add_real(json_out *j, const char *key, double v) {
    json_real(j, key, ALL_DIGITS, v);
}

static void add_bad(const bloom_report *r, json_out *j) {
    json_line(j);
    json_object(j, "bad_pixels");
    json_uint(j, "count", r->bad);
    json_array(j, "first");
    for (uint64_t i = 0; i < r->bad && i < SCAN_BAD; i++) {
        const bloom_bad *b = &r->first_bad[i];
        json_object(j, NULL);
        json_string(j, "channel", b->channel);
        json_int(j, "x", b->x);
        json_int(j, "y", b->y);
        json_string(j, "value", isnan(b->value) ? "nan" : b->value > 0 ? "inf" : "-inf");
        json_close(j);
    }
    json_close(j);
    json_close(j);
}

static void add_promise(const bloom_report *r, json_out *j) {
    const accuracy *a = &r->promise.method;
    json_line(j);
    json_object(j, "promise");
    add_real(j, "tolerance", r->promise.tolerance);
    json_bool(j, "kept", a->kept);
    json_string(j, "precision", describe_precision(a->precision == PRECISION_FLOAT64));
    json_fixed(j, "bright_spots", 0, a->spots);
    json_uint(j, "core", a->core);
    json_string(j, "channel", r->promise.channel);
    add_real(j, "error", a->error[a->channel]);
    add_real(j, "allowed", a->allowed);
    add_real(j, "darkest", a->darkest);
    json_uint(j, "attempts", r->promise.attempts);
    json_close(j);
}

static void add_verified(const bloom_report *r, json_out *j) {
    const bloom_verified *v = &r->verified;
    const verify_pixel *p = &v->found.worst;
    json_line(j);
    json_object(j, "verify");
    json_uint(j, "pixels", v->found.pixels);
    json_uint(j, "broken", v->found.broken);
    json_object(j, "worst");
    json_string(j, "channel", v->channel);
    json_int(j, "x", v->x);
    json_int(j, "y", v->y);
    add_real(j, "is", p->got);
    add_real(j, "should_be", p->want);
    add_real(j, "error", p->error);
    json_close(j);
    json_close(j);
}

static void add_row(const ledger_row *row, json_out *j) {
    json_object(j, NULL);
    json_string(j, "channel", row->channel);
    add_real(j, "in", row->in);
    add_real(j, "gained", row->gained);
    add_real(j, "out", row->out);
    add_real(j, "spilled", row->spilled);
    add_real(j, "bad", row->bad);
    add_real(j, "overflow", row->overflow);
    add_real(j, "negative", row->negative);
    add_real(j, "gap", ledger_gap(row));
    add_real(j, "centre", row->centre);
    json_uint(j, "bad_pixels", row->bad_pixels);
    json_uint(j, "overflow_pixels", row->overflow_pixels);
    json_uint(j, "negative_pixels", row->negative_pixels);
    json_close(j);
}

void account_json(const bloom_report *r, json_out *j) {
    if (r->groups || r->bad) add_bad(r, j);
    if (r->groups) add_promise(r, j);
    if (r->verified.found.pixels) add_verified(r, j);
    if (!r->ledger_rows) return;
    json_line(j);
    json_list(j, "ledger");
    for (uint32_t i = 0; i < r->ledger_rows; i++) add_row(&r->ledger[i], j);
    json_close(j);
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
