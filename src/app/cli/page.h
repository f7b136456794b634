/* page.h - the one walk over the tables of commands, actions, options and exit statuses, from which
 * all pages follow. A format says which parts a page has and how it writes what the walk meets:
 * help (help.c), manual pages and docs/config.md (cmd_docs.c), the schema (cmd_schema.c) and the
 * completions (cmd_completion.c). The walk knows no option by name.
 *
 * To add a format: one page_format. To add a kind of thing: one ITEM_, and its look in each. */
#ifndef APP_PAGE_H
#define APP_PAGE_H

#include "app/cli/command.h"
#include "app/cli/options.h"

typedef struct page page;

typedef enum {
    ITEM_COMMAND,
    ITEM_ACTION,
    ITEM_PARAMETER, /* of --param */
    ITEM_OPTION,
    ITEM_STATUS, /* an exit status */
    ITEM_KINDS
} item_kind;

/* A thing with a name, and what it means. */
typedef struct {
    item_kind kind;
    const option *option; /* of ITEM_OPTION */
    const char *name;     /* "make", "--padding" */
    const char *value;    /* "MODEL -o OUT", "zero|mirror"; "" for none */
    const char *means;    /* sentences; \n\n between paragraphs */
    const char *facts;    /* "a whole number from 0 to 9; the default is 0"; NULL: none */
} page_item;

typedef struct {
    bool full; /* with all that there is to say; else what fits on a screen, examples first */
    /* NULL: the format has none of these, as of what the pages it makes do not have. */
    void (*title)(page *p, const char *name, const char *summary);
    void (*usage)(page *p, const char *name, const char *arguments);
    void (*heading)(page *p, int level, const char *words);
    void (*words)(page *p, const char *sentences); /* \n\n between paragraphs */
    void (*list)(page *p, bool begins);            /* items follow, or are over */
    void (*item)(page *p, const page_item *i);
    void (*example)(page *p, const command_example *x);
} page_format;

struct page {
    const page_format *as;
    text *to;
    const command *command;       /* whose page it is; NULL: of the program */
    const command_action *action; /* or of this action */
};

#define PAGE_MAIN "The options that matter most"

/* Writes the page of a command, or of one of its actions. */
void page_write(page *p);

/* Write parts of it: some examples, all commands, all exit statuses. */
void page_examples(page *p, const command_example *example, int most);
void page_commands(page *p);
void page_statuses(page *p);
/* Write options: those of the page's command or action; those that some `users` take, by section;
 * one group of these, with its title; one alone. A section or a rank of -1 is any. */
void page_options(page *p);
void page_sections(page *p, uint32_t users, int rank);
void page_group(page *p, const char *title, uint32_t users, int section, int rank);
void page_option(page *p, const option *o);

/* Appends `s`, broken at blanks into lines of at most `width` columns. The first line begins at
 * column `at`, all others at column `indent`. */
void page_wrap(text *to, const char *s, int at, int indent, int width);

#endif
