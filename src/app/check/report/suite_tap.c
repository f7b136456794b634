/* suite_tap.c - a suite's run as TAP 14, the Test Anything Protocol. */
#include "app/check/report/suite_report.h"

#include <string.h>

/* Adds a description, in which # would start a directive and \ escapes. */
static void add_description(text *to, const char *s) {
    text clean = {0};
    text_add_clean(&clean, s);
    for (const char *p = clean.s; p && *p; p++)
        text_add(to, "%s%c", strchr("#\\", *p) ? "\\" : "", *p);
    text_free(&clean);
}

/* Adds a line of YAML, whose strings may be strings of JSON. */
static void add_yaml(text *to, const char *key, const char *value) {
    text_add(to, "  %s: ", key);
    text_add_json(to, value);
    text_add(to, "\n");
}

static void add_case(const case_result *c, size_t number, text *to) {
    char line[SUITE_LINE];
    text_add(to, "%sok %zu - ", suite_is_bad(c) ? "not " : "", number);
    add_description(to, c->c->name);
    suite_first_line(c, line);
    if (c->state == CASE_SKIP) {
        text_add(to, " # SKIP ");
        add_description(to, line);
    }
    text_add(to, "\n");
    if (c->state == CASE_PASS || c->state == CASE_SKIP) return;
    text_add(to, "  ---\n");
    add_yaml(to, "message", line);
    add_yaml(to, "severity", case_state_key(c->state));
    text_add(to, "  at:\n  ");
    add_yaml(to, "file", c->c->file);
    text_add(to, "    line: %d\n", c->c->line);
    if (c->match.words.s) add_yaml(to, "comparison", c->match.words.s);
    text_add(to, "  ...\n");
}

void suite_tap(const suite_run *r, text *to) {
    text_add(to, "TAP version 14\n1..%zu\n", r->count + (r->complaint.s != NULL));
    for (size_t i = 0; i < r->count; i++) add_case(&r->item[i], i + 1, to);
    if (r->complaint.s) {
        text_add(to, "not ok %zu - requirements\n  ---\n", r->count + 1);
        add_yaml(to, "message", r->complaint.s);
        text_add(to, "  ...\n");
    }
}
