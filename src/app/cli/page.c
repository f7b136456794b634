#include "app/cli/page.h"

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

void page_summary(const char *sentences, text *to) {
    const char *end = strstr(sentences, ". "), *paragraph = strstr(sentences, ".\n");
    if (!end || (paragraph && paragraph < end)) end = paragraph;
    text_add_bytes(to, sentences, end ? (size_t)(end - sentences) + 1 : strlen(sentences));
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
    bool plain = o->type == OPTION_BOOL || o->type == OPTION_ENUM || o->type == OPTION_STRING ||
                 o->type == OPTION_PATH || o->type == OPTION_CENTER;
    if (!plain) option_describe_type(o, to);
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

void page_ranked(page *p, const command *of, option_rank rank) {
    for (const option *o = NULL; (o = option_next(o, of->bit));)
        if (o->rank == rank) page_option(p, o);
}

/* Writes a section for each of the titles, of the options that `users` take: those of a rank, or
 * with RANKS those of any. */
static void add_sections(page *p, uint32_t users, option_rank rank) {
    int section = -1;
    for (const option *o = NULL; (o = option_next(o, users));) {
        if ((rank != RANKS && o->rank != rank) ||
            (p->action && !option_is_for_action(o, p->action)))
            continue;
        if ((int)o->section != section) {
            if (section >= 0) add_list(p, false);
            add_heading(p, 2, SECTION_TITLE[o->section]);
            add_list(p, true);
        }
        page_option(p, o);
        section = (int)o->section;
    }
    if (section >= 0) add_list(p, false);
}

void page_sections(page *p, uint32_t users) {
    add_sections(p, users, RANKS);
}

/* Of apply and what takes its options there are many: those that matter most come first, and those
 * for experts last. */
void page_options(page *p) {
    static const page_item HELP = {ITEM_OPTION, NULL, "--help", "", "Show a summary of these.",
                                   NULL};
    static const char *const RANK[RANKS] = {
        [RANK_MAIN] = "The options that matter most", [RANK_EXPERT] = "For experts"};
    static const option_rank ORDER[] = {RANK_MAIN, RANK_USUAL, RANK_EXPERT};
    bool ranks = p->command->bit & FOR_APPLY;
    add_heading(p, 1, "Options");
    for (int i = 0; i < RANKS; i++) {
        if (!RANK[ORDER[i]]) {
            add_sections(p, p->command->bit, ranks ? RANK_USUAL : RANKS);
        } else if (ranks) {
            add_heading(p, 2, RANK[ORDER[i]]);
            add_list(p, true);
            page_ranked(p, p->command, ORDER[i]);
            add_list(p, false);
        }
    }
    add_heading(p, 2, "Help");
    add_list(p, true);
    p->as->item(p, &HELP);
    add_list(p, false);
}

/* --- the other parts -------------------------------------------------------------------------- */

static void full_name(const page *p, char to[64]) {
    const char *action = p->action ? p->action->name : "";
    snprintf(to, 64, "%s%s%s", p->command->name, *action ? " " : "", action);
}

void page_title(page *p) {
    char name[64];
    full_name(p, name);
    p->as->title(p, name, p->action ? NULL : p->command->summary);
}

void page_usage(page *p) {
    char name[64];
    full_name(p, name);
    p->as->usage(p, name, p->action ? p->action->usage : p->command->usage);
}

void page_about(page *p) {
    const char *about = p->action ? p->action->help : p->command->about;
    if (about) p->as->words(p, about);
}

static void add_examples(page *p, const command_example *example, int most) {
    for (int i = 0; i < most && example[i].line; i++) p->as->example(p, &example[i]);
}

void page_examples(page *p) {
    const command_example *all = p->action ? p->action->example : p->command->example;
    if (!all[0].line) return;
    add_heading(p, 1, "Examples");
    add_examples(p, all, p->action ? COMMAND_ACTION_EXAMPLES : COMMAND_EXAMPLES);
}

static void add_parameters(page *p, const command_action *a) {
    text names = {0};
    char *at = NULL;
    if (a->parameters) a->parameters(a, &names);
    if (names.n) {
        add_heading(p, 3, "Parameters (--param NAME=V,...)");
        add_list(p, true);
    }
    for (char *s = names.n ? strtok_r(names.s, "\n", &at) : NULL; s;
         s = strtok_r(NULL, "\n", &at)) {
        char *tab = strchr(s, '\t');
        *tab = 0;
        p->as->item(p, &(page_item){ITEM_PARAMETER, NULL, s, "", tab + 1, NULL});
    }
    if (names.n) add_list(p, false);
    text_free(&names);
}

void page_parameters(page *p) {
    if (p->action) add_parameters(p, p->action);
}

void page_actions(page *p) {
    if (p->action || !p->command->actions) return;
    add_heading(p, 2, "Actions");
    add_list(p, true);
    for (const command_action *a = p->command->actions; a->name; a++) {
        text words = {0};
        if (p->as->full)
            text_add(&words, "%s", a->help);
        else
            page_summary(a->help, &words);
        p->as->item(p, &(page_item){ITEM_ACTION, NULL, a->name, a->usage, words.s, NULL});
        text_free(&words);
        if (!p->as->full) continue;
        add_parameters(p, a);
        add_examples(p, a->example, COMMAND_ACTION_EXAMPLES);
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
    for (int i = 0; p->as->parts[i]; i++) p->as->parts[i](p);
}
