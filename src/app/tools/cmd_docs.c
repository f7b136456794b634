/* cmd_docs.c - `fftbloom docs`: prints docs/config.md and the manual pages, made of the tables. */
#include "app/cli/cli.h"
#include "app/cli/config.h"
#include "app/cli/help.h"
#include "app/cli/option_rules.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* The date of the interface that the pages describe. It is fixed, because a page must not change
 * from build to build. */
static const char DATE[] = "November 21, 2026";

/* --- docs/config.md -------------------------------------------------------------------- */

static void md_option(const settings *defaults, const option *o, text *to) {
    char flag[OPTION_NAME_ROOM], env[OPTION_NAME_ROOM];
    text_add(to, "### `%s`\n\n%s", o->name, o->help);
    if (o->about) text_add(to, " %s", o->about);
    text_add(to, "\n\n`%s", option_flag(o, flag));
    if (o->type != OPTION_BOOL) {
        text_add(to, " ");
        option_placeholder(o, to);
    }
    text_add(to, "`");
    if (o->letter) text_add(to, ", `-%c`", o->letter);
    if (option_env(o, env)) text_add(to, ", `%s`", env);
    text_add(to, ": ");
    option_describe_type(o, to);
    if (o->preset) {
        text_add(to, "; `");
        settings_json(defaults, (int)(o - OPTIONS), to);
        text_add(to, "` by default");
    }
    text_add(to, ". For ");
    option_commands(o, to);
    if (o->on & FOR_CASE) text_add(to, "%scases of suites", o->on & FOR_ALL ? ", " : "");
    text_add(to, "%s.\n\n", option_in_config(o) ? "" : "; not in config files");
}

static void md_page(text *to, err *e) {
    settings defaults;
    settings_init(&defaults, e);
    text_add(
        to,
        "# Options\n\nMade by `make generated` from the table in `src/app/cli/options.c`.\n\n"
        "An option has the same name everywhere: as a flag (`--kernel-center peak`) and as a key "
        "of "
        "a config file (`\"kernel_center\": \"peak\"`). Six can be set by variables: "
        "`FFTBLOOM_DEVICE`, `JOBS`, `MEM_LIMIT`, `CACHE_DIR`, `KERNELS` and `CONFIG`. Flags "
        "override "
        "variables, variables override the file given with `--config`, and the file overrides the "
        "defaults. `--print-config` shows each "
        "value and its origin.\n\n"
        "A flag that has no effect in the command as it is given is refused with exit status 64, "
        "such as `--knee` without `--threshold`. Config files and variables may serve several "
        "commands, so options that do not apply to one of them are ignored there. Any other "
        "variable "
        "that begins with `FFTBLOOM_` gives a warning.\n\n"
        "A config file is JSON with `\"version\": 1`:\n\n"
        "```json\n{\n  \"version\": 1,\n  \"kernel\": \"star.exr\",\n  \"amount\": 0.7,\n"
        "  \"padding\": {\"x\": \"mirror\", \"y\": \"zero\"},\n  \"exclude\": "
        "[\"ui\", \"matte*\"]\n}\n```\n\n"
        "Relative paths start from the folder of the file. `\"include\": \"base.json\"`, or a "
        "list, reads other config files first, so that the file can change what they say. A file "
        "with all that it includes may have ");
    text_add(to, "%d files, %d MB and %d levels. ", CONFIG_FILES, CONFIG_BYTES >> 20, CONFIG_DEPTH);
    text_add(to,
             "An unknown key, a wrong type, a value out of range, a comment, a trailing comma or a "
             "duplicate key is refused with its line and column, exit status 64. A config file is "
             "trusted like a command line: it may name any file to read or write, and any cache "
             "folder. `fftbloom schema` prints a JSON Schema for editors. `fftbloom help bench` "
             "has the options of bench alone.\n");
    int section = -1;
    for (const option *o = NULL; (o = option_next(o, FOR_ALL & ~FOR_BENCH));
         section = (int)o->section) {
        if ((int)o->section != section) text_add(to, "\n## %s\n\n", SECTION_TITLE[o->section]);
        md_option(&defaults, o, to);
    }
    while (to->n > 1 && to->s[to->n - 2] == '\n') to->s[--to->n] = 0;
    settings_free(&defaults);
}

/* --- manual pages ---------------------------------------------------------------------- */

/* Appends the lines of a text. Each sentence starts a line of its own, as mdoc wants it; \n\n
 * starts a paragraph. Backslashes and leading dots are escaped. */
static void man_text(const char *s, text *to) {
    while (*s) {
        const char *end = s;
        while (*end && *end != '\n' &&
               !(end[0] == '.' && end[1] == ' ' && isupper((unsigned char)end[2])))
            end++;
        text sentence = {0}, lines = {0};
        text_add_bytes(&sentence, s, (size_t)(end - s) + (*end == '.'));
        help_wrap(&lines, sentence.s, 0, 0, 76);
        for (const char *p = lines.s; *p; p++) {
            bool start = p == lines.s || p[-1] == '\n';
            if (start && (*p == '.' || *p == '\'')) text_add(to, "\\&");
            text_add(to, *p == '\\' ? "\\e" : "%c", *p);
        }
        text_free(&sentence);
        text_free(&lines);
        s = *end == '.' ? end + 2 : end;
        if (*s == '\n') {
            text_add(to, ".Pp\n");
            s += strspn(s, "\n");
        }
    }
}

/* `c` is the command whose page it is. */
static void man_option(const option *o, const command *c, text *to) {
    char flag[OPTION_NAME_ROOM], env[OPTION_NAME_ROOM];
    text_add(to, ".It ");
    if (o->letter) text_add(to, "Fl %c , ", o->letter);
    text_add(to, "Fl \\-%s", option_flag(o, flag) + 2);
    if (o->type != OPTION_BOOL) {
        text_add(to, " Ar ");
        option_placeholder(o, to);
    }
    text_add(to, "\n");
    man_text(o->help, to);
    if (o->about) man_text(o->about, to);
    if (o->preset && o->type != OPTION_BOOL) text_add(to, "The default is %s.\n", o->preset);
    if (option_env(o, env)) text_add(to, "Variable:\n.Ev %s .\n", env);
    if (c->actions && o->section != SECTION_MESSAGES) {
        text actions = {0};
        option_actions(o, c, &actions);
        text_add(to, "Actions:\n");
        man_text(actions.s, to);
        text_free(&actions);
    }
}

static void man_actions(const command *c, text *to) {
    text_add(to, ".Ss Actions\n.Bl -tag -width Ds\n");
    for (const command_action *a = c->actions; a->name; a++) {
        text_add(to, ".It Ic %s%s%s\n", a->name, *a->usage ? " Ar " : "", a->usage);
        man_text(a->help, to);
        text names = {0};
        char *at = NULL;
        if (a->parameters) a->parameters(a, &names);
        if (names.n) text_add(to, "Parameters, for\n.Fl \\-param :\n.Bl -tag -width Ds\n");
        for (char *p = names.n ? strtok_r(names.s, "\n", &at) : NULL; p;
             p = strtok_r(NULL, "\n", &at)) {
            text_add(to, ".It Cm %.*s\n", (int)strcspn(p, "\t"), p);
            man_text(strchr(p, '\t') + 1, to);
        }
        if (names.n) text_add(to, ".El\n");
        text_free(&names);
        for (int i = 0; i < COMMAND_ACTION_EXAMPLES && a->example[i].line; i++)
            text_add(to, ".Bd -literal -offset indent\n%s\n.Ed\n", a->example[i].line);
    }
    text_add(to, ".El\n");
}

static void man_exit(text *to) {
    text_add(to, ".Sh EXIT STATUS\n.Bl -tag -width Ds\n");
    for (int i = 0; i < EXIT_CODE_COUNT; i++) {
        text_add(to, ".It %d\n", EXIT_CODES[i].code);
        man_text(EXIT_CODES[i].means, to);
    }
    text_add(to, ".El\n");
}

static void man_examples(const command *c, text *to) {
    if (!c->example[0].line) return;
    text_add(to, ".Sh EXAMPLES\n");
    for (int i = 0; i < COMMAND_EXAMPLES && c->example[i].line; i++) {
        man_text(c->example[i].does, to);
        text_add(to, ".Bd -literal -offset indent\n%s\n.Ed\n%s", c->example[i].line,
                 i + 1 < COMMAND_EXAMPLES && c->example[i + 1].line ? ".Pp\n" : "");
    }
}

/* Begins a page. NAME takes the summary "Print x." as "print x". */
static void man_head(const char *name, const char *summary, text *to) {
    text_add(to, ".\\\" Made by `make generated` from the tables in src/app.\n.Dd %s\n.Dt ", DATE);
    for (const char *p = name; *p; p++) text_add(to, "%c", toupper((unsigned char)*p));
    text_add(to, " 1\n.Os\n.Sh NAME\n.Nm %s\n.Nd %c%.*s\n", name, tolower((unsigned char)*summary),
             (int)strlen(summary) - 2, summary + 1);
}

static void man_command(const command *c, text *to) {
    char name[64];
    snprintf(name, sizeof name, "fftbloom-%s", c->name);
    man_head(name, c->summary, to);
    text_add(to, ".Sh SYNOPSIS\n.Nm fftbloom %s\n", c->name);
    if (*c->usage) text_add(to, ".Ar %s\n", c->usage);
    text_add(to, ".Sh DESCRIPTION\n");
    man_text(c->summary, to);
    if (c->about) {
        text_add(to, ".Pp\n");
        man_text(c->about, to);
    }
    if (c->actions) man_actions(c, to);
    text_add(to, ".Sh OPTIONS\n");
    int section = -1;
    for (const option *o = NULL; (o = option_next(o, c->bit)); section = (int)o->section) {
        if ((int)o->section != section)
            text_add(to, "%s.Ss %s\n.Bl -tag -width Ds\n", section < 0 ? "" : ".El\n",
                     SECTION_TITLE[o->section]);
        man_option(o, c, to);
    }
    text_add(to,
             "%s.Ss Help\n.Bl -tag -width Ds\n.It Fl \\-help\nShow a summary of the "
             "options.\n.El\n",
             section < 0 ? "" : ".El\n");
    man_exit(to);
    man_examples(c, to);
    text_add(to, ".Sh SEE ALSO\n.Xr fftbloom 1\n");
}

static void man_program(text *to) {
    man_head("fftbloom", "bloom HDR images with a real point spread function.", to);
    text_add(to,
             ".Sh SYNOPSIS\n.Nm\n.Ar IN KERNEL\n.Fl o Ar OUT\n.Op Ar options\n.Nm\n.Ar COMMAND\n"
             ".Op Ar arguments\n.Op Ar options\n.Sh DESCRIPTION\n");
    man_text("Convolves an image of any size with a point spread function by FFT, on a GPU or the "
             "CPU. Light is kept, and so is everything in the file that is not light. The "
             "commands:",
             to);
    text_add(to, ".Bl -tag -width Ds\n");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        text_add(to, ".It Ic %s\n", COMMANDS[i].name);
        man_text(COMMANDS[i].summary, to);
    }
    text_add(to, ".El\n.Pp\nWithout a command,\n.Ic apply\nis meant.\n");
    text_add(to, ".Sh ENVIRONMENT\nSix options can be given as variables:\n"
                 ".Ev FFTBLOOM_DEVICE ,\n.Ev JOBS ,\n.Ev MEM_LIMIT ,\n.Ev CACHE_DIR ,\n"
                 ".Ev KERNELS\nand\n.Ev CONFIG .\n.Bl -tag -width Ds\n"
                 ".It Ev FFTBLOOM_CACHE_RO\nA cache folder that is read but never written.\n"
                 ".It Ev NO_COLOR\nNo colour in messages.\n.El\n");
    man_exit(to);
    man_examples(command_find("apply"), to);
    text_add(to, ".Sh SEE ALSO\n");
    /* In the order of the alphabet: the next name is the smallest that is larger than the last. */
    const char *last = "";
    for (int n = 0; n < COMMAND_COUNT; n++) {
        const char *next = NULL;
        for (int i = 0; i < COMMAND_COUNT; i++) {
            const char *name = COMMANDS[i].name;
            if (strcmp(name, last) > 0 && (!next || strcmp(name, next) < 0)) next = name;
        }
        text_add(to, ".Xr fftbloom-%s 1%s\n", next, n + 1 < COMMAND_COUNT ? " ," : "");
        last = next;
    }
}

/* ----------------------------------------------------------------------------------------- */

int cmd_docs(cli *c, text *out, err *e) {
    const bool man = strcmp(c->word[0], "man") == 0;
    const command *about = c->words > 1 ? command_find(c->word[1]) : NULL;
    if (c->words > 1 && !man) {
        err_set(e, ERR_USAGE, "one argument too many: '%s'", c->word[1]);
    } else if (c->words > 1 && !about) {
        err_set(e, ERR_USAGE, "unknown command '%s'", c->word[1]);
    } else if (about) {
        man_command(about, out);
    } else if (man) {
        man_program(out);
    } else if (strcmp(c->word[0], "config") == 0) {
        md_page(out, e);
    } else {
        command_choices(command_find("help"), "\n", out);
        text_add(out, "\n");
    }
    return 0;
}
