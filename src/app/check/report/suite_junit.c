/* suite_junit.c - a suite's run as JUnit XML, with only the elements and attributes that the schema
 * of Jenkins' xUnit plugin allows. GitLab reads them, too. So the place of a case in the suite is
 * not an attribute but the first line of a failure. */
#include "app/check/report/suite_report.h"

/* Adds an attribute, which is one clean line. */
static void add_attribute(text *to, const char *name, const char *value) {
    OWN(text) clean = {0};
    text_add_clean(&clean, value);
    text_add(to, " %s=\"", name);
    text_add_xml(to, clean.s);
    text_add(to, "\"");
}

static void junit_add_case(const suite_run *r, const case_result *c, text *to) {
    static const char *const ELEMENT[CASE_STATES] = {[CASE_WARN] = "system-out",
                                                     [CASE_FAIL] = "failure",
                                                     [CASE_ERROR] = "error",
                                                     [CASE_SKIP] = "skipped"};
    const char *element = ELEMENT[c->state];
    char line[SUITE_LINE];
    text_add(to, "    <testcase");
    add_attribute(to, "name", c->c->name);
    add_attribute(to, "classname", r->s->path);
    text_add(to, " time=\"%.6f\">", c->load + c->bloom + c->check);
    if (element) {
        text_add(to, "\n      <%s", element);
        if (c->state != CASE_WARN) add_attribute(to, "message", suite_first_line(c, line));
        if (suite_is_bad(c)) add_attribute(to, "type", case_state_word(c->state));
        text_add(to, ">");
        text_add_xml(to, c->c->file);
        text_add(to, ":%d:\n", c->c->line);
        text_add_xml(to, c->why.s);
        text_add_xml(to, c->match.words.s);
        text_add(to, "</%s>\n    ", element);
    }
    text_add(to, "</testcase>\n");
}

void suite_junit(const suite_run *r, text *to) {
    size_t complaints = r->complaint.s != NULL;
    OWN(text) counts = {0};
    text_add(&counts, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" time=\"%.6f\"",
             r->count + complaints, r->states[CASE_FAIL] + complaints, r->states[CASE_ERROR],
             r->seconds);
    text_add(to, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites%s>\n  <testsuite",
             counts.s);
    add_attribute(to, "name", r->s->path);
    text_add(to, "%s skipped=\"%zu\">\n", counts.s, r->states[CASE_SKIP]);
    for (size_t i = 0; i < r->count; i++) junit_add_case(r, &r->item[i], to);
    if (complaints) {
        text_add(to, "    <testcase name=\"requirements\"");
        add_attribute(to, "classname", r->s->path);
        text_add(to, ">\n      <failure");
        add_attribute(to, "message", r->complaint.s);
        text_add(to, "/>\n    </testcase>\n");
    }
    text_add(to, "  </testsuite>\n</testsuites>\n");
}
