#include "app/run/page.h"

#include <string.h>

static const char STYLE[] = {
#include "pages/page.css.inc"
    0};
static const char SCRIPT[] = {
#include "pages/page.js.inc"
    0};

/* Nothing inside a script element may look like its end. */
static void page_add_data(text *to, const char *json) {
    for (const char *s = json;; s++) {
        size_t n = strcspn(s, "<");
        text_add_bytes(to, s, n);
        s += n;
        if (!*s) return;
        text_add(to, "\\u003c");
    }
}

void page_add(text *to, const page *p, const char *json) {
    static const char *const MARK[] = {"@STYLE@", "@DATA@", "@SCRIPT@"};
    const char *from = p->html;
    for (int i = 0; i < 3; i++) {
        const char *at = strstr(from, MARK[i]);
        if (!at) break;
        text_add_bytes(to, from, (size_t)(at - from));
        from = at + strlen(MARK[i]);
        if (i == 1)
            page_add_data(to, json);
        else
            text_add(to, "%s%s", i ? SCRIPT : STYLE, i ? p->script : p->style);
    }
    text_add(to, "%s", from);
}
