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

/* Adds the run as JSON. Nothing inside a script element may look like its end; in JSON a < occurs
 * in strings only. */
static void add_run(const suite_run *r, text *to) {
    text json = {0};
    suite_json_run(r, true, &json);
    for (const char *p = json.s; *p;) {
        size_t n = strcspn(p, "<");
        text_add_bytes(to, p, n);
        p += n;
        if (*p == '<') {
            text_add(to, "\\u003c");
            p++;
        }
    }
    text_free(&json);
}

/* Adds the page, in which each of the three marks stands once. */
void suite_html(const suite_run *r, text *to) {
    static const char *const MARK[] = {"@STYLE@", "@RUN@", "@SCRIPT@"};
    const char *p = PAGE;
    for (int i = 0; i < 3; i++) {
        const char *at = strstr(p, MARK[i]);
        if (!at) break;
        text_add_bytes(to, p, (size_t)(at - p));
        if (i == 1)
            add_run(r, to);
        else
            text_add(to, "%s", i == 0 ? STYLE : SCRIPT);
        p = at + strlen(MARK[i]);
    }
    text_add(to, "%s", p);
}
