#include "app/cli/help.h"

#include "app/cli/cli.h"
#include "app/cli/option_rules.h"
#include "app/cli/page.h"
#include "base/json_out.h"

#include <string.h>

enum { WIDTH = 80 };

/* Ends the lines before by an empty one. */
static void help_part(text *to) {
    if (to->n > 1 && to->s[to->n - 2] != '\n') text_add(to, "\n");
}

static void help_title(page *p, const char *name, const char *summary) {
    text_add(p->to, "fftbloom %s%s%s\n", name, summary ? ": " : "", summary ? summary : "");
}

static void help_usage(page *p, const char *name, const char *arguments) {
    help_part(p->to);
    text_add(p->to, "Usage: fftbloom %s%s%s\n", name, *arguments ? " " : "", arguments);
}

/* Chapters need no words on a screen. */
static void help_heading(page *p, int level, const char *words) {
    help_part(p->to);
    if (level > 1) text_add(p->to, "%s:\n", words);
}

static void help_words(page *p, const char *s) {
    for (const char *end; s; s = end ? end + 2 : NULL) {
        text paragraph = {0};
        end = strstr(s, "\n\n");
        text_add_bytes(&paragraph, s, end ? (size_t)(end - s) : strlen(s));
        help_part(p->to);
        page_wrap(p->to, paragraph.s, 0, 0, WIDTH);
        text_free(&paragraph);
    }
}

static void help_item(page *p, const page_item *i) {
    static const int COLUMN[ITEM_KINDS] = {[ITEM_COMMAND] = 14,
                                           [ITEM_ACTION] = 8,
                                           [ITEM_PARAMETER] = 14,
                                           [ITEM_OPTION] = 28,
                                           [ITEM_STATUS] = 7};
    int column = COLUMN[i->kind];
    text head = {0};
    bool letter = i->option && i->option->letter;
    if (letter) text_add(&head, "  -%c, ", i->option->letter);
    text_add(&head, "%s%s%s%s",
             letter                   ? ""
             : i->kind == ITEM_OPTION ? "      "
                                      : "  ",
             i->name, *i->value ? " " : "", i->value);
    bool fits = (int)head.n + 2 <= column;
    text_add(p->to, "%s%s%*s", head.s, fits ? "" : "\n", fits ? column - (int)head.n : column, "");
    page_wrap(p->to, i->means, column, column, WIDTH);
    text_free(&head);
}

static void help_example(page *p, const command_example *x) {
    text_add(p->to, "  # %s\n  %s\n", x->does, x->line);
}

static const page_format HELP = {.title = help_title,
                                 .usage = help_usage,
                                 .heading = help_heading,
                                 .words = help_words,
                                 .item = help_item,
                                 .example = help_example};

void help_command(const command *c, const command_action *a, text *to) {
    page_write(&(page){&HELP, to, c, a});
}

static const char USAGE[] = " fftbloom IN KERNEL -o OUT [options]\n"
                            "       fftbloom COMMAND [arguments] [options]\n\n";

void help_short(text *to) {
    text_add(to, "usage:%s", USAGE);
    page_commands(&(page){.as = &HELP, .to = to});
    text_add(to,
             "\n'fftbloom --help' shows more, 'fftbloom help COMMAND' everything on a command.\n");
}

static void help_program(text *to) {
    page p = {.as = &HELP, .to = to};
    const command *apply = command_find("apply");
    text_add(to, "fftbloom blooms HDR images with a real point spread function.\n\n");
    page_examples(&p, apply->example, COMMAND_EXAMPLES);
    text_add(to, "\nUsage:%sCommands:\n", USAGE);
    page_commands(&p);
    page_group(&p, PAGE_MAIN, apply->bit, -1, RANK_MAIN);
    text_add(to,
             "\n'fftbloom help COMMAND' shows all options of a command, 'fftbloom help OPTION'\n"
             "explains one, and 'fftbloom help exit' the exit statuses. Options can also be\n"
             "set in a JSON file (--config) or in variables (FFTBLOOM_DEVICE=cpu).\n");
}

/* Explains an option in full, for each row of its name. */
static void help_option(const char *name, text *to) {
    page p = {.as = &HELP, .to = to};
    for (int i = 0; i < OPTION_COUNT; i++) {
        const option *o = &OPTIONS[i];
        if (o != option_find(name, o->on)) continue;
        page_option(&p, o);
        if (o->about) help_words(&p, o->about);
        text_add(to, o->on & FOR_ALL ? "\nFor: " : "\n");
        option_commands(o->on, to);
        text_add(to, "%s\n", option_in_config(o) ? "; also a key of config files" : "");
    }
}

int cmd_help(cli *c, text *out, err *e) {
    const command *of = c->words ? command_find(c->word[0]) : NULL;
    if (!c->words)
        help_program(out);
    else if (!of && strcmp(c->word[0], "exit") == 0)
        page_statuses(&(page){.as = &HELP, .to = out});
    else if (!of)
        help_option(c->word[0], out);
    else if (c->words == 1)
        help_command(of, NULL, out);
    else if (!of->actions)
        err_set(e, ERR_USAGE, "%s has no actions, and so no help on '%s'", of->name, c->word[1]);
    else if (command_check_choice(of, c->word[1], e))
        help_command(of, command_find_action(of, c->word[1]), out);
    return 0;
}

int cmd_version(cli *c, text *out, err *e) {
    (void)e;
    if (!c->s.json) {
        text_add(out,
                 "fftbloom " VERSION
                 "\nGPU engine (Vulkan): yes\nPXR24, B44, DWA (OpenEXR): %s\nOpenColorIO: %s\n",
                 WITH_OPENEXR ? "yes" : "no", WITH_OCIO ? "yes" : "no");
        return 0;
    }
    json_out j = json_begin(out);
    json_string(&j, "program", "fftbloom " VERSION);
    json_string(&j, "release", VERSION);
    json_object(&j, "libraries");
    json_bool(&j, "vulkan", true);
    json_bool(&j, "openexr", WITH_OPENEXR);
    json_bool(&j, "opencolorio", WITH_OCIO);
    json_close(&j);
    json_end(&j);
    return 0;
}
