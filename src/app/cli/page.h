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
    bool full; /* with all that there is to say; else what fits on a screen */
    /* The parts of a command's page, or of that of one of its actions; NULL ends them. A format
     * that has no use for headings, lists or others of these has NULL there. */
    void (*const *parts)(page *p);
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

/* Writes the page of a command, or of one of its actions. */
void page_write(page *p);

/* The parts: each writes nothing where the command has none of it. */
void page_title(page *p);
void page_examples(page *p);
void page_usage(page *p);
void page_about(page *p);
void page_actions(page *p);    /* of a command */
void page_parameters(page *p); /* of an action */
void page_options(page *p);
void page_statuses(page *p);
void page_commands(page *p); /* of the program */

/* Write the options that one of `users` takes, section by section; those of a rank, which the
 * caller has begun as a list; and one of them. */
void page_sections(page *p, uint32_t users);
void page_ranked(page *p, const command *of, option_rank rank);
void page_option(page *p, const option *o);

/* Appends the sentence up to its end, as the summary of all. */
void page_summary(const char *sentences, text *to);
/* Appends `s`, broken at blanks into lines of at most `width` columns. The first line begins at
 * column `at`, all others at column `indent`. */
void page_wrap(text *to, const char *s, int at, int indent, int width);

#endif
