/* suite_github.c - a suite's run as workflow commands, which GitHub shows beside the suite's lines.
 */
#include "app/check/report/suite_report.h"

#include <string.h>

/* `also` are the characters that end a property. */
static void add_escaped(text *to, const char *s, const char *also) {
    for (; *s; s++)
        if (strchr("%\r\n", *s) || strchr(also, *s))
            text_add(to, "%%%02X", (unsigned char)*s);
        else
            text_add_bytes(to, s, 1);
}

static void add(text *to, const char *level, const char *file, int line, int column,
                const char *title, const char *message) {
    text_add(to, "::%s file=", level);
    add_escaped(to, file, ",:");
    if (line) text_add(to, ",line=%d,col=%d", line, column);
    text_add(to, ",title=");
    add_escaped(to, title, ",:");
    text_add(to, "::");
    add_escaped(to, message, "");
    text_add(to, "\n");
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
        add(to, LEVEL[c->state], c->c->file, c->c->line, c->c->column, title.s, message.s);
        text_free(&title);
        text_free(&message);
    }
    if (r->complaint.s) add(to, "error", r->s->path, 0, 0, "requirements", r->complaint.s);
}
