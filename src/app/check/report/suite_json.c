/* suite_json.c - a suite's run as JSON: --json, and the data of the HTML page. docs/suites.md names
 * every key; keys are added, never renamed. */
#include "app/check/report/suite_report.h"
#include "app/run/describe.h"

#include <stdio.h>

enum { DIGITS = 9 };

static void add_heat(const heat *h, json_out *j) {
    json_real(j, "gain", DIGITS, h->gain);
    json_real(j, "low", DIGITS, h->low);
    json_real(j, "high", DIGITS, h->high);
    json_array(j, "scale");
    for (int i = 0; i <= 4; i++) {
        uint8_t rgb[3];
        char name[8];
        heat_colour((float)i / 4, rgb);
        snprintf(name, sizeof name, "#%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
        json_string(j, NULL, name);
    }
    json_close(j);
    json_object(j, "histogram");
    json_uint(j, "equal", h->equal);
    json_int(j, "from", HEAT_LOWEST);
    json_int(j, "per_decade", HEAT_PER_DECADE);
    json_array(j, "bins");
    for (int i = 0; i < HEAT_BINS; i++) json_uint(j, NULL, h->bin[i]);
    json_close(j);
    json_close(j);
}

static void add_pictures(const suite_pictures *p, json_out *j) {
    const image_box *b = &p->box;
    const int32_t box[] = {b->x0, b->y0, b->x1 - b->x0 + 1, b->y1 - b->y0 + 1};
    json_block(j, "pictures");
    json_ints(j, "box", box, 4);
    if (p->compared) add_heat(&p->h, j);
    for (int i = 0; i < PICTURES; i++) {
        if (!p->png[i]) continue;
        text *uri = json_here(j, SUITE_PICTURE_NAME[i]);
        text_add(uri, "\"data:image/png;base64,");
        text_add_base64(uri, p->png[i], p->bytes[i]);
        text_add(uri, "\"");
    }
    json_close(j);
}

static void suite_json_case(const case_result *c, bool pictures, json_out *j) {
    json_block(j, NULL);
    json_string(j, "name", c->c->name);
    json_string(j, "state", case_state_key(c->state));
    json_int(j, "status", c->status);
    json_bool(j, "blessed", c->blessed);
    json_string(j, "file", c->c->file);
    json_int(j, "line", c->c->line);
    json_int(j, "column", c->c->column);
    json_string(j, "input", c->c->s.input);
    json_string(j, "kernel", c->c->s.kernel);
    json_array(j, "why");
    json_lines(j, c->why.s);
    json_close(j);
    describe_notes_json(j, c->notes.s, c->made);
    json_object(j, "seconds");
    json_fixed(j, "load", 6, c->load);
    json_fixed(j, "bloom", 6, c->bloom);
    json_fixed(j, "check", 6, c->check);
    json_close(j);
    if (c->match.path) {
        json_string(j, "reference", c->match.path);
        if (c->origin.s) json_raw(j, "origin", c->origin.s);
        json_raw(j, "parts", c->match.parts.s ? c->match.parts.s : "[]");
        json_int(j, "worst_part", c->match.worst.of.part);
    }
    if (c->energy.s) json_raw(j, "energy", c->energy.s);
    if (c->made) describe_made_json(j, c->made);
    if (c->made && c->made->groups && pictures) {
        OWN(text) words = {0};
        json_out in = told_begin(&words, false);
        describe_plan_json(&in, "plan", &c->made->sum.plan);
        json_end(&in);
        json_string(j, "plan_words", words.s);
    }
    if (c->made && pictures) add_pictures(&c->pictures, j);
    json_close(j);
}

void suite_json_run(const suite_run *r, bool pictures, text *to) {
    json_out j = json_begin(to);
    json_string(&j, "program", "fftbloom " VERSION);
    json_string(&j, "suite", r->s->path);
    json_int(&j, "exit_status", r->status);
    json_fixed(&j, "seconds", 6, r->seconds);
    json_string(&j, "complaint", r->complaint.s);
    json_object(&j, "counts");
    for (int i = 0; i < CASE_STATES; i++)
        json_uint(&j, case_state_key((case_state)i), r->states[i]);
    json_close(&j);
    json_list(&j, "cases");
    for (size_t i = 0; i < r->count; i++) suite_json_case(&r->item[i], pictures, &j);
    json_close(&j);
    json_end(&j);
}

void suite_json(const suite_run *r, text *to) {
    suite_json_run(r, false, to);
}
