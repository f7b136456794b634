/* suite_text.c - a suite's run on standard output: lines for people. */
#include "app/check/report/suite_report.h"

#include <string.h>

void suite_add_line(text *to, const char *line) {
    size_t blank = strspn(line, " ");
    bool runs = strncmp(line + blank, "::", 2) == 0; /* to a runner of GitHub */
    text_add_bytes(to, line, blank);
    if (runs) text_add(to, "\\x3a");
    text_add_clean(to, line + blank + runs);
    text_add(to, "\n");
}

/* Adds lines, indented by two blanks more than they are, and by at least four. */
static void add_indented(const char *lines, text *to) {
    while (lines && *lines) {
        size_t n = strcspn(lines, "\n"), blank = strspn(lines, " ");
        OWN(text) line = {0};
        if (blank < n) {
            size_t cut = blank < 2 ? blank : 2;
            text_add(&line, "    ");
            text_add_bytes(&line, lines + cut, n - cut);
            suite_add_line(to, line.s);
        }
        lines += n + (lines[n] == '\n');
    }
}

void suite_text_case(const case_result *c, bool verbose, text *to) {
    const engine_device *d = case_device(c);
    OWN(text) line = {0};
    text_add(&line, "%-8s %-32s", case_state_word(c->state), c->c->name);
    if (c->state != CASE_SKIP) text_add(&line, " %7.3f s", c->load + c->bloom + c->check);
    if (d) text_add(&line, "  %s", engine_class_name(d->class));
    if (c->blessed) text_add(&line, "  blessed %s", c->match.path);
    while (line.s[line.n - 1] == ' ') line.s[--line.n] = 0;
    suite_add_line(to, line.s);
    add_indented(c->why.s, to);
    if (c->state != CASE_PASS || verbose) add_indented(c->notes.s, to);
    add_indented(c->match.words.s, to);
    for (uint32_t i = 0; verbose && c->made && i < c->made->notes; i++)
        add_indented(c->made->note[i], to);
}

void suite_text_end(const suite_run *r, text *to) {
    static const char *const WORD[CASE_STATES] = {
        [CASE_PASS] = "passed",    [CASE_WARN] = "with warnings", [CASE_FAIL] = "failed",
        [CASE_ERROR] = "in error", [CASE_SKIP] = "skipped",
    };
    text_add(to, "%zu case%s in %.1f s: ", r->count, r->count == 1 ? "" : "s", r->seconds);
    const char *sep = "";
    for (int i = 0; i < CASE_STATES; i++) {
        if (!r->states[i]) continue;
        text_add(to, "%s%zu %s", sep, r->states[i], WORD[i]);
        sep = ", ";
    }
    text_add(to, "\n");
    if (r->complaint.s) suite_add_line(to, r->complaint.s);
    text_add(to, "%s\n",
             r->status == 0              ? "PASS"
             : r->status == COMPARE_WARN ? "WARNING"
                                         : "FAILURE");
}
