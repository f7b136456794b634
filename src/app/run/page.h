/* page.h - puts an HTML page together that needs nothing else: no network, and no other file.
 *
 * Each page is a file of src/pages/ with the marks @STYLE@, @DATA@ and @SCRIPT@. Style and script
 * of a page follow those that all pages share (page.css, page.js). The script shows the data. */
#ifndef APP_PAGE_H
#define APP_PAGE_H

#include "base/text.h"

typedef struct {
    const char *html, *style, *script;
} page;

/* Adds the page. `json` is its data, in which a '<' occurs in strings only. */
void page_add(text *to, const page *p, const char *json);

#endif
