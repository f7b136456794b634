/* suite_json.c - a suite's run as JSON: --json, and what the HTML page shows. docs/suites.md names
 * every key; keys are added, never renamed. */
#include "app/check/report/suite_report.h"
#include "app/run/account.h"
#include "app/run/describe.h"

#include <inttypes.h>
#include <string.h>

static void add_string(text *to, const char *key, const char *value) {
    text_add(to, ",\n     \"%s\": ", key);
    text_add_json(to, value);
}

/* "one\ntwo\n" as ["one", "two"]. */
static void add_lines(text *to, const char *s) {
    const char *sep = "";
    for (; s && *s; s += strcspn(s, "\n"), s += *s == '\n') {
        text line = {0};
        text_add_bytes(&line, s, strcspn(s, "\n"));
        text_add(to, "%s", sep);
        text_add_json(to, line.s);
        text_free(&line);
        sep = ", ";
    }
}

static void add_notes(const case_result *c, text *to) {
    text all = {0};
    if (c->notes.s) text_add(&all, "%s", c->notes.s);
    for (uint32_t i = 0; c->made && i < c->made->notes; i++)
        text_add(&all, "%s\n", c->made->note[i]);
    text_add(to, ",\n     \"notes\": [");
    add_lines(to, all.s);
    text_add(to, "]");
    text_free(&all);
}

static void add_made(const case_result *c, bool pictures, text *to) {
    const bloom_report *m = c->made;
    account_json(m, 3, to);
    if (!m->groups) return;
    text_add(to, ",\n     \"device\": ");
    describe_device_json(&m->device, -1, to);
    text_add(to, ",\n     \"times\": ");
    describe_times_json(&m->times, &m->plan, to);
    text_add(to, ",\n     \"plan\": ");
    describe_plan_json(&m->plan, 3, to);
    if (!pictures) return;
    text words = {0};
    describe_plan(&m->plan, &words);
    add_string(to, "plan_words", words.s);
    text_free(&words);
}

/* --- pictures -------------------------------------------------------------------------------- */

static void add_base64(text *to, const uint8_t *p, size_t n) {
    static const char DIGIT[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        uint32_t three = (uint32_t)p[i] << 16 | (i + 1 < n ? (uint32_t)p[i + 1] << 8 : 0) |
                         (i + 2 < n ? p[i + 2] : 0);
        char four[4];
        for (int k = 0; k < 4; k++) four[k] = DIGIT[three >> (18 - 6 * k) & 63];
        if (i + 1 >= n) four[2] = '=';
        if (i + 2 >= n) four[3] = '=';
        text_add_bytes(to, four, 4);
    }
}

static void add_heat(const case_result *c, text *to) {
    const heat *h = &c->pictures.h;
    text_add(to, ", \"gain\": %.9g, \"low\": %.9g, \"high\": %.9g", h->gain, h->low, h->high);
    text_add(to, ",\n      \"scale\": [");
    for (int i = 0; i <= 4; i++) {
        uint8_t rgb[3];
        heat_colour((float)i / 4, rgb);
        text_add(to, "%s\"#%02x%02x%02x\"", i ? ", " : "", rgb[0], rgb[1], rgb[2]);
    }
    text_add(to, "],\n      \"histogram\": {\"equal\": %" PRIu64 ", \"from\": %d, ", h->equal,
             HEAT_LOWEST);
    text_add(to, "\"per_decade\": %d, \"bins\": [", HEAT_PER_DECADE);
    for (int i = 0; i < HEAT_BINS; i++) text_add(to, "%s%" PRIu64, i ? ", " : "", h->bin[i]);
    text_add(to, "]}");
}

static void add_pictures(const case_result *c, text *to) {
    const suite_pictures *p = &c->pictures;
    const image_box *b = &p->box;
    text_add(to, ",\n     \"pictures\": {\"box\": [%d, %d, %d, %d]", b->x0, b->y0,
             b->x1 - b->x0 + 1, b->y1 - b->y0 + 1);
    if (p->compared) add_heat(c, to);
    for (int i = 0; i < PICTURES; i++) {
        if (!p->png[i]) continue;
        text_add(to, ",\n      \"%s\": \"data:image/png;base64,", SUITE_PICTURE_NAME[i]);
        add_base64(to, p->png[i], p->bytes[i]);
        text_add(to, "\"");
    }
    text_add(to, "}");
}

/* --------------------------------------------------------------------------------------------- */

static void add_case(const case_result *c, bool pictures, text *to) {
    text_add(to, "\n    {\"name\": ");
    text_add_json(to, c->c->name);
    text_add(to, ", \"state\": \"%s\", \"status\": %d, \"blessed\": %s", case_state_key(c->state),
             c->status, c->blessed ? "true" : "false");
    add_string(to, "file", c->c->file);
    text_add(to, ", \"line\": %d, \"column\": %d", c->c->line, c->c->column);
    add_string(to, "input", c->c->s.input);
    add_string(to, "kernel", c->c->s.kernel);
    text_add(to, ",\n     \"why\": [");
    add_lines(to, c->why.s);
    text_add(to, "]");
    add_notes(c, to);
    text_add(to, ",\n     \"seconds\": {\"load\": %.6f, \"bloom\": %.6f, \"check\": %.6f}", c->load,
             c->bloom, c->check);
    if (c->match.path) add_string(to, "reference", c->match.path);
    if (c->origin.s) text_add(to, ",\n     \"origin\": %s", c->origin.s);
    if (c->match.path)
        text_add(to, ",\n     \"parts\": [%s]", c->match.parts.s ? c->match.parts.s : "");
    if (c->match.path) text_add(to, ",\n     \"worst_part\": %d", c->match.part);
    if (c->energy.s) text_add(to, ",\n     \"energy\": [%s]", c->energy.s);
    if (c->made) add_made(c, pictures, to);
    if (pictures && c->made) add_pictures(c, to);
    text_add(to, "}");
}

void suite_json_run(const suite_run *r, bool pictures, text *to) {
    text_add(to, "{\n  \"version\": 1,\n  \"program\": \"fftbloom " VERSION "\",\n  \"suite\": ");
    text_add_json(to, r->s->path);
    text_add(to, ",\n  \"exit_status\": %d,\n  \"seconds\": %.6f,\n  \"complaint\": ", r->status,
             r->seconds);
    if (r->complaint.s)
        text_add_json(to, r->complaint.s);
    else
        text_add(to, "null");
    text_add(to, ",\n  \"counts\": {");
    for (int i = 0; i < CASE_STATES; i++)
        text_add(to, "%s\"%s\": %zu", i ? ", " : "", case_state_key((case_state)i), r->states[i]);
    text_add(to, "},\n  \"cases\": [");
    for (size_t i = 0; i < r->count; i++) {
        text_add(to, i ? "," : "");
        add_case(&r->item[i], pictures, to);
    }
    text_add(to, "\n  ]\n}\n");
}

void suite_json(const suite_run *r, text *to) {
    suite_json_run(r, false, to);
}
