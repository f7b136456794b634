#include "app/check/html.h"

static const char ALL_STYLE[] = {
#include "pages/page.css.inc"
    0};
static const char ALL_SCRIPT[] = {
#include "pages/page.js.inc"
    0};

void html_add(text *to, const html_page *p, const char *json) {
    static const char *const MARK[] = {"@STYLE@", "@DATA@", "@SCRIPT@"};
    const char *from = p->html;
    for (int i = 0; i < 3; i++) {
        const char *at = strstr(from, MARK[i]);
        if (!at) break;
        text_add_bytes(to, from, (size_t)(at - from));
        from = at + strlen(MARK[i]);
        if (i != 1) text_add(to, "%s%s", i ? ALL_SCRIPT : ALL_STYLE, i ? p->script : p->style);
        /* Nothing inside a script element may look like its end. */
        for (const char *s = json; i == 1 && *s; s += *s == '<') {
            size_t n = strcspn(s, "<");
            text_add_bytes(to, s, n);
            s += n;
            if (*s) text_add(to, "\\u003c");
        }
    }
    text_add(to, "%s", from);
}
