/* cmd_docs.c - `fftbloom docs`: prints the reference of options in docs/config.md and the manual
 * pages: formats of the pages of page.h. */
#include "app/cli/cli.h"
#include "app/cli/option_rules.h"
#include "app/cli/page.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* The date of the interface that the pages describe. It is fixed, because a page must not change
 * from build to build. */
static const char DATE[] = "November 23, 2026";

/* --- Markdown --------------------------------------------------------------------------------- */

static void md_heading(page *p, int level, const char *words) {
    text_add(p->to, "%s%.*s %s\n", p->to->n ? "\n" : "", level, "###", words);
}

/* What apply takes, farm and plan take, too, and the page says so once. */
static void md_item(page *p, const page_item *i) {
    const option *o = i->option;
    bool usual = o->on & FOR_APPLY;
    uint32_t others = o->on & ~(uint32_t)(usual ? FOR_APPLY | FOR_PLAN | FOR_FARM : 0);
    text_add(p->to, "\n### `%s`\n\n%s\n\n`%s%s%s`", o->name, i->means, i->name,
             *i->value ? " " : "", i->value);
    if (o->letter) text_add(p->to, ", `-%c`", o->letter);
    text_add(p->to, "%s%s.", i->facts ? ": " : "", i->facts ? i->facts : "");
    if (others) {
        text_add(p->to, usual ? " Also for " : " For ");
        option_commands(others, p->to);
        if (others & FOR_CASE) text_add(p->to, "%scases of suites", others & FOR_ALL ? ", " : "");
        text_add(p->to, ".");
    }
    text_add(p->to, "%s\n", option_in_config(o) ? "" : " Not in config files.");
}

static const page_format MARKDOWN = {.full = true, .heading = md_heading, .item = md_item};

/* --- manual pages ----------------------------------------------------------------------------- */

/* Appends the lines of a text. Each sentence starts a line of its own, as mdoc wants it; \n\n
 * starts a paragraph. Backslashes and leading dots are escaped. */
static void man_words(page *to, const char *s) {
    while (*s) {
        const char *end = s;
        while (*end && *end != '\n' &&
               !(end[0] == '.' && end[1] == ' ' && isupper((unsigned char)end[2])))
            end++;
        text sentence = {0}, lines = {0};
        text_add_bytes(&sentence, s, (size_t)(end - s) + (*end == '.'));
        page_wrap(&lines, sentence.s, 0, 0, 76);
        for (const char *p = lines.s; *p; p++) {
            bool start = p == lines.s || p[-1] == '\n';
            if (start && (*p == '.' || *p == '\'')) text_add(to->to, "\\&");
            text_add(to->to, *p == '\\' ? "\\e" : "%c", *p);
        }
        text_free(&sentence);
        text_free(&lines);
        s = *end == '.' ? end + 2 : end;
        if (*s == '\n') {
            text_add(to->to, ".Pp\n");
            s += strspn(s, "\n");
        }
    }
}

static void man_upper(const char *s, text *to) {
    for (; *s; s++) text_add(to, "%c", toupper((unsigned char)*s));
}

/* Begins a page. NAME takes the summary "Print x." as "print x". */
static void man_title(page *p, const char *name, const char *summary) {
    const char *dash = *name ? "-" : "";
    text_add(p->to, ".\\\" Made by `make generated` from the tables in src/app.\n.Dd %s\n.Dt ",
             DATE);
    man_upper("fftbloom", p->to);
    man_upper(dash, p->to);
    man_upper(name, p->to);
    text_add(p->to, " 1\n.Os\n.Sh NAME\n.Nm fftbloom%s%s\n.Nd %c%.*s\n", dash, name,
             tolower((unsigned char)*summary), (int)strlen(summary) - 2, summary + 1);
}

static void man_usage(page *p, const char *name, const char *arguments) {
    text_add(p->to, ".Sh SYNOPSIS\n.Nm fftbloom %s\n", name);
    if (*arguments) text_add(p->to, ".Ar %s\n", arguments);
    text_add(p->to, ".Sh DESCRIPTION\n");
    man_words(p, p->command->summary);
    if (p->command->about) text_add(p->to, ".Pp\n");
}

static void man_heading(page *p, int level, const char *words) {
    if (level > 2) {
        text_add(p->to, ".Pp\n%s:\n", words);
        return;
    }
    text_add(p->to, level == 1 ? ".Sh " : ".Ss ");
    if (level == 1)
        man_upper(words, p->to);
    else
        text_add(p->to, "%s", words);
    text_add(p->to, "\n");
}

static void man_list(page *p, bool begins) {
    text_add(p->to, begins ? ".Bl -tag -width Ds\n" : ".El\n");
}

static void man_item(page *p, const page_item *i) {
    static const char *const MACRO[ITEM_KINDS] = {[ITEM_COMMAND] = "Ic ",
                                                  [ITEM_ACTION] = "Ic ",
                                                  [ITEM_PARAMETER] = "Cm ",
                                                  [ITEM_OPTION] = "Fl \\-",
                                                  [ITEM_STATUS] = ""};
    const char *dashes = i->kind == ITEM_OPTION ? "--" : "";
    text_add(p->to, ".It ");
    if (i->option && i->option->letter) text_add(p->to, "Fl %c , ", i->option->letter);
    text_add(p->to, "%s%s%s%s\n", MACRO[i->kind], i->name + strlen(dashes), *i->value ? " Ar " : "",
             i->value);
    man_words(p, i->means);
    if (!i->facts) return;
    text facts = {0};
    text_add(&facts, "%c%s.", toupper((unsigned char)*i->facts), i->facts + 1);
    man_words(p, facts.s);
    text_free(&facts);
}

static void man_example(page *p, const command_example *x) {
    bool first = p->to->n > 9 && strcmp(p->to->s + p->to->n - 9, "EXAMPLES\n") == 0;
    if (!first) text_add(p->to, ".Pp\n");
    man_words(p, x->does);
    text_add(p->to, ".Bd -literal -offset indent\n%s\n.Ed\n", x->line);
}

static const page_format MAN = {.full = true,
                                .title = man_title,
                                .usage = man_usage,
                                .heading = man_heading,
                                .words = man_words,
                                .list = man_list,
                                .item = man_item,
                                .example = man_example};

static void man_program(text *to) {
    page p = {.as = &MAN, .to = to};
    man_title(&p, "", "bloom HDR images with a real point spread function.");
    text_add(to, ".Sh SYNOPSIS\n.Nm\n.Ar IN KERNEL\n.Fl o Ar OUT\n.Op Ar options\n.Nm\n"
                 ".Ar COMMAND\n.Op Ar arguments\n.Op Ar options\n.Sh DESCRIPTION\n");
    man_words(&p, "Convolves an image of any size with a point spread function by FFT, on a GPU or "
                  "the CPU. Light is kept, and so is everything in the file that is not light. The "
                  "commands:");
    page_commands(&p);
    text_add(to, ".Pp\nWithout a command,\n.Ic apply\nis meant.\n");
    text_add(to, ".Sh ENVIRONMENT\nSix options can be given as variables:\n"
                 ".Ev FFTBLOOM_DEVICE ,\n.Ev JOBS ,\n.Ev MEM_LIMIT ,\n.Ev CACHE_DIR ,\n"
                 ".Ev KERNELS\nand\n.Ev CONFIG .\n.Bl -tag -width Ds\n"
                 ".It Ev FFTBLOOM_CACHE_RO\nA cache folder that is read but never written.\n"
                 ".It Ev NO_COLOR\nNo colour in messages.\n.El\n");
    page_statuses(&p);
    text_add(to, ".Sh EXAMPLES\n");
    page_examples(&p, command_find("apply")->example, COMMAND_EXAMPLES);
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

int cmd_docs(cli *c, text *out, err *e) {
    const bool man = strcmp(c->word[0], "man") == 0;
    const command *about = c->words > 1 ? command_find(c->word[1]) : NULL;
    if (c->words > 1 && !man) {
        err_set(e, ERR_USAGE, "one argument too many: '%s'", c->word[1]);
    } else if (c->words > 1 && !about) {
        err_set(e, ERR_USAGE, "unknown command '%s'", c->word[1]);
    } else if (about) {
        page_write(&(page){&MAN, out, about, NULL});
        text_add(out, ".Sh SEE ALSO\n.Xr fftbloom 1\n");
    } else if (man) {
        man_program(out);
    } else if (strcmp(c->word[0], "config") == 0) {
        page_sections(&(page){.as = &MARKDOWN, .to = out}, FOR_ALL & ~FOR_BENCH, -1);
    } else {
        command_choices(command_find("help"), "\n", out);
        text_add(out, "\n");
    }
    return 0;
}
