/* suite_html.c - a suite's run as one page: src/pages/check.html with the run as JSON. */
#include "app/check/report/suite_report.h"
#include "app/run/html.h"

static const char HTML[] = {
#include "pages/check.html.inc"
    0};
static const char STYLE[] = {
#include "pages/check.css.inc"
    0};
static const char SCRIPT[] = {
#include "pages/check.js.inc"
    0};

void suite_html(const suite_run *r, text *to) {
    text run = {0};
    suite_json_run(r, true, &run);
    html_add(to, &(html_page){HTML, STYLE, SCRIPT}, run.s);
    text_free(&run);
}
