/* html.h - puts an HTML page together that needs nothing else, of a file of src/pages/ with the
 * marks @STYLE@, @DATA@ and @SCRIPT@. Style and script follow those that all pages share. */
#pragma once

#include "base/text.h"

typedef struct {
    const char *html, *style, *script;
} html_page;

/* Adds the page. `json` is its data, in which a '<' occurs in strings only. */
void html_add(text *to, const html_page *p, const char *json);
