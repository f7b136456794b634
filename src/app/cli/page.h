/* page.h - pages about the program, its commands, actions and options: as help on a screen, as
 * manual pages, and as the reference in docs/config.md. One walk over the tables of commands and
 * options meets the parts of a page, and a table of forms in page.c says how each format writes
 * such a part. The walk knows the width of a screen, and no option by name.
 *
 * To add a format: one row of forms. */
#ifndef APP_PAGE_H
#define APP_PAGE_H

#include "app/cli/command.h"
#include "app/cli/options.h"

typedef enum { PAGE_SCREEN, PAGE_MAN, PAGE_MARKDOWN, PAGE_FORMATS } page_format;

typedef struct {
    page_format as;
    text *to;
    bool full;                    /* with all that there is to say; else what fits on a screen */
    const command *command;       /* whose page it is; NULL: of the program */
    const command_action *action; /* or of this action */
    const option *option;         /* the one that is written */
} page;

/* Write the page, and the few lines of a call without arguments. */
void page_write(page *p);
void page_short(page *p);
/* Write parts of it: the options that some `users` take, by section, an option alone, and all exit
 * statuses. A rank of -1 is any. */
void page_sections(page *p, uint32_t users, int rank);
void page_option(page *p, const option *o);
void page_statuses(page *p);

#endif
