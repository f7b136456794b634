#include "app/cli/help.h"

#include "app/cli/cli.h"
#include "app/cli/option_rules.h"
#include "app/cli/options.h"
#include "base/json_out.h"

#include <string.h>

enum { WIDTH = 80, COLUMN = 28 };

void help_wrap(text *to, const char *s, int at, int indent, int width) {
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

/* With `c`, adds the actions that take the option, unless all do. */
static void add_option(const option *o, const command *c, text *to) {
    char flag[OPTION_NAME_ROOM];
    text head = {0}, words = {0};
    if (o->letter) text_add(&head, "  -%c, ", o->letter);
    text_add(&head, "%s%s%s", o->letter ? "" : "      ", option_flag(o, flag),
             o->type == OPTION_BOOL ? "" : " ");
    option_placeholder(o, &head);
    bool fits = head.n + 2 <= COLUMN;
    text_add(to, "%s%s%*s", head.s, fits ? "" : "\n", fits ? COLUMN - (int)head.n : COLUMN, "");
    text_add(&words, "%s", o->help);
    if (o->preset && o->type != OPTION_BOOL) text_add(&words, " [%s]", o->preset);
    if (c && c->actions && o->section != SECTION_MESSAGES) {
        text_add(&words, " (");
        option_actions(o, c, &words);
        text_add(&words, ")");
    }
    help_wrap(to, words.s, COLUMN, COLUMN, WIDTH);
    text_free(&words);
    text_free(&head);
}

static void add_examples(const command_example *example, int most, text *to) {
    for (int i = 0; i < most && example[i].line; i++)
        text_add(to, "  # %s\n  %s\n", example[i].does, example[i].line);
    if (example[0].line) text_add(to, "\n");
}

static void add_paragraphs(const char *s, text *to) {
    for (const char *end; s; s = end ? end + 2 : NULL) {
        text paragraph = {0};
        end = strstr(s, "\n\n");
        text_add_bytes(&paragraph, s, end ? (size_t)(end - s) : strlen(s));
        text_add(to, "\n");
        help_wrap(to, paragraph.s, 0, 0, WIDTH);
        text_free(&paragraph);
    }
}

/* Adds those options of a command, or of one of its actions, that have a rank. */
static void add_ranked(const command *c, const command_action *a, option_rank rank, text *to) {
    int section = -1;
    for (const option *o = NULL; (o = option_next(o, c->bit));) {
        bool shown = c->bit & FOR_APPLY ? o->rank == rank : rank == RANK_USUAL;
        if (!shown || (a && !option_is_for_action(o, a))) continue;
        if (rank == RANK_USUAL && (int)o->section != section)
            text_add(to, "\n%s:\n", SECTION_TITLE[o->section]);
        add_option(o, a ? NULL : c, to);
        section = (int)o->section;
    }
}

/* Adds all options: those that matter most, the others by section, and those for experts. */
static void add_options(const command *c, const command_action *a, text *to) {
    bool ranks = c->bit & FOR_APPLY;
    if (ranks) text_add(to, "\nThe options that matter most:\n");
    if (ranks) add_ranked(c, a, RANK_MAIN, to);
    add_ranked(c, a, RANK_USUAL, to);
    text_add(to, "      --help                Show this text.\n");
    if (ranks) text_add(to, "\nFor experts:\n");
    if (ranks) add_ranked(c, a, RANK_EXPERT, to);
}

static void add_exit_codes(text *to) {
    text_add(to, "Exit status:\n");
    for (int i = 0; i < EXIT_CODE_COUNT; i++) {
        text_add(to, "  %-4d", EXIT_CODES[i].code);
        help_wrap(to, EXIT_CODES[i].means, 6, 6, WIDTH);
    }
}

/* Explains an option in full, for each row of its name. */
static void help_option(const char *name, text *to) {
    for (int i = 0; i < OPTION_COUNT; i++) {
        const option *o = &OPTIONS[i];
        if (o != option_find(name, o->on)) continue;
        add_option(o, NULL, to);
        if (o->about) add_paragraphs(o->about, to);
        text_add(to, o->on & FOR_ALL ? "\nFor: " : "\n");
        option_commands(o, to);
        text_add(to, "%s\n", option_in_config(o) ? "; also a key of config files" : "");
    }
}

size_t help_summary(const char *sentences) {
    const char *end = strstr(sentences, ". ");
    const char *paragraph = strstr(sentences, ".\n");
    if (!end || (paragraph && paragraph < end)) end = paragraph;
    return end ? (size_t)(end - sentences) + 1 : strlen(sentences);
}

static void add_actions(const command *c, text *to) {
    text_add(to, "\nActions:\n");
    for (const command_action *a = c->actions; a && a->name; a++) {
        text words = {0};
        text_add_bytes(&words, a->help, help_summary(a->help));
        text_add(to, "  %s%s%s\n%*s", a->name, *a->usage ? " " : "", a->usage, 8, "");
        help_wrap(to, words.s, 8, 8, WIDTH);
        text_free(&words);
    }
}

static void help_action(const command *c, const command_action *a, text *to) {
    text_add(to, "fftbloom %s %s\n\n", c->name, a->name);
    add_examples(a->example, COMMAND_ACTION_EXAMPLES, to);
    text_add(to, "Usage: fftbloom %s %s%s%s\n", c->name, a->name, *a->usage ? " " : "", a->usage);
    add_paragraphs(a->help, to);
    text names = {0};
    char *at = NULL;
    if (a->parameters) a->parameters(a, &names);
    if (names.n) text_add(to, "\nParameters (--param NAME=V,...):\n");
    for (char *p = names.n ? strtok_r(names.s, "\n", &at) : NULL; p;
         p = strtok_r(NULL, "\n", &at)) {
        text_add(to, "  %-12.*s", (int)strcspn(p, "\t"), p);
        help_wrap(to, strchr(p, '\t') + 1, 14, 14, WIDTH);
    }
    text_free(&names);
    add_options(c, a, to);
}

void help_command(const command *c, const command_action *a, text *to) {
    if (a) {
        help_action(c, a, to);
        return;
    }
    text_add(to, "fftbloom %s: %s\n\n", c->name, c->summary);
    add_examples(c->example, COMMAND_EXAMPLES, to);
    text_add(to, "Usage: fftbloom %s%s%s\n", c->name, *c->usage ? " " : "", c->usage);
    add_paragraphs(c->about, to);
    if (c->actions) add_actions(c, to);
    add_options(c, NULL, to);
}

static const char USAGE[] = " fftbloom IN KERNEL -o OUT [options]\n"
                            "       fftbloom COMMAND [arguments] [options]\n\n";

static void add_commands(text *to) {
    for (int i = 0; i < COMMAND_COUNT; i++) {
        text_add(to, "  %-12s", COMMANDS[i].name);
        help_wrap(to, COMMANDS[i].summary, 14, 14, WIDTH);
    }
}

void help_short(text *to) {
    text_add(to, "usage:%s", USAGE);
    add_commands(to);
    text_add(to,
             "\n'fftbloom --help' shows more, 'fftbloom help COMMAND' everything on a command.\n");
}

int cmd_help(cli *c, text *out, err *e) {
    if (c->words) {
        const command *of = command_find(c->word[0]);
        if (!of && strcmp(c->word[0], "exit") == 0)
            add_exit_codes(out);
        else if (!of)
            help_option(c->word[0], out);
        else if (c->words == 1 || (of->actions && command_check_choice(of, c->word[1], e)))
            help_command(of, c->words == 1 ? NULL : command_find_action(of, c->word[1]), out);
        else if (!of->actions)
            err_set(e, ERR_USAGE, "%s has no actions, and so no help on '%s'", of->name,
                    c->word[1]);
        return 0;
    }
    text_add(out, "fftbloom blooms HDR images with a real point spread function.\n\n");
    add_examples(command_find("apply")->example, COMMAND_EXAMPLES, out);
    text_add(out, "Usage:%sCommands:\n", USAGE);
    add_commands(out);
    text_add(out, "\nThe options that matter most:\n");
    add_ranked(command_find("apply"), NULL, RANK_MAIN, out);
    text_add(out,
             "\n'fftbloom help COMMAND' shows all options of a command, 'fftbloom help OPTION'\n"
             "explains one, and 'fftbloom help exit' the exit statuses. Options can also be\n"
             "set in a JSON file (--config) or in variables (FFTBLOOM_DEVICE=cpu).\n");
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
