/* suite_text.c - a suite's run on standard output: lines for people, and the annotations that
 * GitHub shows beside the suite's lines. */
#include "app/check/report/suite_report.h"
#include "app/run/describe.h"

#include <string.h>

/* --- for people ------------------------------------------------------------------------------- */

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
        text line = {0};
        if (blank < n) {
            size_t cut = blank < 2 ? blank : 2;
            text_add(&line, "    ");
            text_add_bytes(&line, lines + cut, n - cut);
            suite_add_line(to, line.s);
        }
        text_free(&line);
        lines += n + (lines[n] == '\n');
    }
}

void suite_text_case(const case_result *c, bool verbose, text *to) {
    const engine_device *d = case_device(c);
    text line = {0};
    text_add(&line, "%-8s %-32s", case_state_word(c->state), c->c->name);
    if (c->state != CASE_SKIP) text_add(&line, " %7.3f s", c->load + c->bloom + c->check);
    if (d) text_add(&line, "  %s", describe_class(d->class));
    if (c->blessed) text_add(&line, "  blessed %s", c->match.path);
    while (line.s[line.n - 1] == ' ') line.s[--line.n] = 0;
    suite_add_line(to, line.s);
    text_free(&line);
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

/* --- for GitHub ------------------------------------------------------------------------------- */

/* Adds text with GitHub's escapes; `also` are the characters that end a property. */
static void add_escaped(text *to, const char *s, const char *also) {
    for (; s && *s; s++)
        if (strchr("%\r\n", *s) || strchr(also, *s))
            text_add(to, "%%%02X", (unsigned char)*s);
        else
            text_add_bytes(to, s, 1);
}

/* Adds a property, whose value is one clean line. */
static void github_add_property(text *to, const char *name, const char *value) {
    text clean = {0};
    text_add_clean(&clean, value);
    text_add(to, "%s=", name);
    add_escaped(to, clean.s, ",:");
    text_free(&clean);
}

void suite_github(const suite_run *r, text *to) {
    static const char *const LEVEL[CASE_STATES] = {[CASE_WARN] = "warning",
                                                   [CASE_FAIL] = "error",
                                                   [CASE_ERROR] = "error",
                                                   [CASE_SKIP] = "notice"};
    for (size_t i = 0; i < r->count; i++) {
        const case_result *c = &r->item[i];
        if (!LEVEL[c->state]) continue;
        text title = {0}, message = {0};
        text_add(&title, "%s: %s", c->c->name, case_state_word(c->state));
        text_add(&message, "%s%s", c->why.s ? c->why.s : "",
                 c->match.words.s ? c->match.words.s : "");
        while (message.n && message.s[message.n - 1] == '\n') message.s[--message.n] = 0;
        text_add(to, "::%s ", LEVEL[c->state]);
        github_add_property(to, "file", c->c->file);
        text_add(to, ",line=%d,col=%d,", c->c->line, c->c->column);
        github_add_property(to, "title", title.s);
        text_add(to, "::");
        add_escaped(to, message.s, "");
        text_add(to, "\n");
        text_free(&title);
        text_free(&message);
    }
    if (r->complaint.s) {
        text_add(to, "::error ");
        github_add_property(to, "file", r->s->path);
        text_add(to, ",title=requirements::");
        add_escaped(to, r->complaint.s, "");
        text_add(to, "\n");
    }
}
