#include "app/cli/page.h"

#include "app/cli/kinds.h"
#include "app/cli/option_rules.h"

#include <stdio.h>
#include <string.h>

void page_wrap(text *to, const char *s, int at, int indent, int width) {
    bool first = true;
    while (*s) {
        int n = (int)strcspn(s, " ");
        if (!first && at + 1 + n > width) {
            text_add(to, "\n%*s", indent, "");
            at = indent;
        } else if (!first) {
            text_add(to, " ");
            at++;
        }
        text_add_bytes(to, s, (size_t)n);
        at += n;
        first = false;
        s += n + (s[n] == ' ');
    }
    text_add(to, "\n");
}

static void add_heading(page *p, int level, const char *words) {
    if (p->as->heading) p->as->heading(p, level, words);
}

static void add_list(page *p, bool begins) {
    if (p->as->list) p->as->list(p, begins);
}

/* --- options ---------------------------------------------------------------------------------- */

/* Appends the default and, of the options of a command with actions, the actions that take it,
 * unless all do. */
static void add_brackets(const page *p, const option *o, text *to) {
    if (o->preset && o->type != OPTION_BOOL) text_add(to, " [%s]", o->preset);
    if (!p->command || !p->command->actions || p->action || o->section == SECTION_MESSAGES) return;
    text_add(to, " (");
    option_actions(o, p->command, to);
    text_add(to, ")");
}

/* Appends what its flag does not show: the values, the default, the variable, and the actions. */
static void add_facts(const page *p, const option *o, text *to) {
    char env[OPTION_NAME_ROOM];
    if (KINDS[o->type].told) kind_describe(o, to);
    if (o->preset && o->type != OPTION_BOOL)
        text_add(to, "%sthe default is %s", to->n ? "; " : "", o->preset);
    if (option_env(o, env)) text_add(to, "%sthe variable is %s", to->n ? "; " : "", env);
    if (!p->command || !p->command->actions || o->section == SECTION_MESSAGES) return;
    text_add(to, "%sfor ", to->n ? "; " : "");
    option_actions(o, p->command, to);
}

void page_option(page *p, const option *o) {
    char flag[OPTION_NAME_ROOM];
    text value = {0}, words = {0}, facts = {0};
    option_placeholder(o, &value);
    text_add(&words, "%s", o->help);
    if (!p->as->full) add_brackets(p, o, &words);
    if (p->as->full && o->about) text_add(&words, " %s", o->about);
    if (p->as->full) add_facts(p, o, &facts);
    p->as->item(p, &(page_item){ITEM_OPTION, o, option_flag(o, flag), value.s ? value.s : "",
                                words.s, facts.s});
    text_free(&value);
    text_free(&words);
    text_free(&facts);
}

void page_group(page *p, const char *title, uint32_t users, int section, int rank) {
    bool any = false;
    for (const option *o = NULL; (o = option_next(o, users));) {
        if ((section >= 0 && (int)o->section != section) || (rank >= 0 && (int)o->rank != rank) ||
            (p->action && !option_is_for_action(o, p->action)))
            continue;
        if (!any) add_heading(p, 2, title);
        if (!any) add_list(p, true);
        page_option(p, o);
        any = true;
    }
    if (any) add_list(p, false);
}

void page_sections(page *p, uint32_t users, int rank) {
    for (int s = 0; s < SECTIONS; s++) page_group(p, SECTION_TITLE[s], users, s, rank);
}

/* Of apply and what takes its options there are many: those that matter most come first, and those
 * for experts last. */
void page_options(page *p) {
    uint32_t users = p->command->bit;
    bool ranks = users & FOR_APPLY;
    add_heading(p, 1, "Options");
    if (ranks) page_group(p, PAGE_MAIN, users, -1, RANK_MAIN);
    page_sections(p, users, ranks ? RANK_USUAL : -1);
    if (ranks) page_group(p, "For experts", users, -1, RANK_EXPERT);
    add_heading(p, 2, "Help");
    add_list(p, true);
    p->as->item(p, &(page_item){ITEM_OPTION, NULL, "--help", "", "Show a summary of these.", NULL});
    add_list(p, false);
}

/* --- the other parts -------------------------------------------------------------------------- */

void page_examples(page *p, const command_example *example, int most) {
    for (int i = 0; i < most && example[i].line; i++) p->as->example(p, &example[i]);
}

/* Adds what --param sets of an action. */
static void add_parameters(page *p, const command_action *a) {
    text names = {0};
    char *at = NULL;
    if (a->parameters) a->parameters(a, &names);
    if (!names.n) return;
    add_heading(p, 3, "Parameters (--param NAME=V,...)");
    add_list(p, true);
    for (char *s = strtok_r(names.s, "\n", &at); s; s = strtok_r(NULL, "\n", &at)) {
        char *tab = strchr(s, '\t');
        *tab = 0;
        p->as->item(p, &(page_item){ITEM_PARAMETER, NULL, s, "", tab + 1, NULL});
    }
    add_list(p, false);
    text_free(&names);
}

/* In short only the first sentence of each. */
static void add_actions(page *p) {
    add_heading(p, 2, "Actions");
    add_list(p, true);
    for (const command_action *a = p->command->actions; a->name; a++) {
        text words = {0};
        const char *end = p->as->full ? NULL : strstr(a->help, ". ");
        const char *paragraph = p->as->full ? NULL : strstr(a->help, ".\n");
        if (!end || (paragraph && paragraph < end)) end = paragraph;
        text_add_bytes(&words, a->help, end ? (size_t)(end - a->help) + 1 : strlen(a->help));
        p->as->item(p, &(page_item){ITEM_ACTION, NULL, a->name, a->usage, words.s, NULL});
        text_free(&words);
        if (!p->as->full) continue;
        add_parameters(p, a);
        page_examples(p, a->example, COMMAND_ACTION_EXAMPLES);
    }
    add_list(p, false);
}

void page_statuses(page *p) {
    add_heading(p, 1, "Exit status");
    add_list(p, true);
    for (int i = 0; i < EXIT_CODE_COUNT; i++) {
        char code[8];
        snprintf(code, sizeof code, "%d", EXIT_CODES[i].code);
        p->as->item(p, &(page_item){ITEM_STATUS, NULL, code, "", EXIT_CODES[i].means, NULL});
    }
    add_list(p, false);
}

void page_commands(page *p) {
    add_list(p, true);
    for (int i = 0; i < COMMAND_COUNT; i++)
        p->as->item(
            p, &(page_item){ITEM_COMMAND, NULL, COMMANDS[i].name, "", COMMANDS[i].summary, NULL});
    add_list(p, false);
}

void page_write(page *p) {
    const command *c = p->command;
    const command_action *a = p->action;
    const command_example *example = a ? a->example : c->example;
    const char *about = a ? a->help : c->about;
    int examples = a ? COMMAND_ACTION_EXAMPLES : COMMAND_EXAMPLES;
    char name[64];
    snprintf(name, sizeof name, "%s%s%s", c->name, a ? " " : "", a ? a->name : "");
    p->as->title(p, name, a ? NULL : c->summary);
    if (!p->as->full && example->line) {
        add_heading(p, 1, "Examples");
        page_examples(p, example, examples);
    }
    p->as->usage(p, name, a ? a->usage : c->usage);
    if (about) p->as->words(p, about);
    if (a) add_parameters(p, a);
    if (!a && c->actions) add_actions(p);
    page_options(p);
    if (!p->as->full) return;
    page_statuses(p);
    if (!example->line) return;
    add_heading(p, 1, "Examples");
    page_examples(p, example, examples);
}
