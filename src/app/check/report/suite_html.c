/* suite_html.c - a suite's run as one page: the files of src/pages/, which are embedded at build
 * time, and the run as JSON between them. The page's script lays it out. */
#include "app/check/report/suite_report.h"

#include <string.h>

static const char PAGE[] = {
#include "pages/check.html.inc"
    0};
static const char STYLE[] = {
#include "pages/check.css.inc"
    0};
static const char SCRIPT[] = {
#include "pages/check.js.inc"
    0};

/* Adds the page, in which each of the three marks stands once. */
void suite_html(const suite_run *r, text *to) {
    static const char *const MARK[] = {"@STYLE@", "@RUN@", "@SCRIPT@"};
    const char *p = PAGE;
    text run = {0}, json = {0};
    /* Nothing inside a script element may look like its end. In JSON a < occurs in strings only. */
    suite_json_run(r, true, &json);
    for (const char *s = json.s; *s; s++) {
        size_t n = strcspn(s, "<");
        text_add_bytes(&run, s, n);
        s += n;
        if (!*s) break;
        text_add(&run, "\\u003c");
    }
    for (int i = 0; i < 3; i++) {
        const char *at = strstr(p, MARK[i]);
        if (!at) break;
        text_add_bytes(to, p, (size_t)(at - p));
        text_add(to, "%s", i == 0 ? STYLE : i == 1 ? run.s : SCRIPT);
        p = at + strlen(MARK[i]);
    }
    text_add(to, "%s", p);
    text_free(&run);
    text_free(&json);
}
