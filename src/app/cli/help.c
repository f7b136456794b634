/* help.c - `fftbloom help`, `docs` and `version`.
 *
 * One walk over the tables of commands and options meets the parts of a page, and a table of forms
 * says how each format writes such a part: help on a screen, manual pages, and docs/config.md. The
 * walk knows no option by name. To add a format: one row of forms. */
#include "app/cli/cli.h"
#include "app/cli/option_rules.h"

#include <ctype.h>

/* --- forms ------------------------------------------------------------------------------------ */

typedef enum { PAGE_SCREEN, PAGE_MAN, PAGE_MARKDOWN, PAGE_FORMATS } page_format;
typedef enum { TITLE, USAGE, CHAPTER, TOPIC, GROUP, WORDS, ITEM, ACTION, EXAMPLE, PARTS } page_part;

/* ^ ends the lines before by an empty one. $n is the name, $u the name in capitals, $k the key of
 * an option, $v a value with a blank before it, $w the words, which end a line. */
static const char *const FORM[PAGE_FORMATS][PARTS] = {
    [PAGE_SCREEN] = {[USAGE] = "^Usage: $n$v\n",
                     [CHAPTER] = "^",
                     [TOPIC] = "^$n:\n",
                     [GROUP] = "^$n:\n",
                     [WORDS] = "^$w",
                     [ITEM] = "  $n$v$w",
                     [ACTION] = "  $n$v$w",
                     [EXAMPLE] = "  # $w  $n\n"},
    [PAGE_MAN] = {[TITLE] = ".\\\" Made from the tables in src/app.\n"
                            ".TH $u 1 \"November 23, 2026\"\n.SH NAME\n$n \\- $w",
                  [USAGE] = ".SH SYNOPSIS\n\\fB$n\\fI$v\\fR\n.SH DESCRIPTION\n",
                  [CHAPTER] = ".SH $u\n",
                  [TOPIC] = ".SH $u\n",
                  [GROUP] = ".SS $n\n",
                  [WORDS] = "$w",
                  [ITEM] = ".TP\n\\fB$n\\fI$v\\fR\n$w",
                  [ACTION] = ".SS $n$v\n$w",
                  [EXAMPLE] = ".TP\n$w.nf\n$n\n.fi\n"},
    [PAGE_MARKDOWN] = {[GROUP] = "^## $n\n", [ITEM] = "^### `$k`\n\n$w\n`$n$v`\n"},
};

/* A page that is written. */
typedef struct {
    page_format as;
    text *to;
    const commands *commands;
    bool full;                    /* with all that there is to say; else what fits on a screen */
    const command *command;       /* whose page it is; NULL: of the program */
    const command_action *action; /* or of this action */
    const option *option;         /* the one at hand */
} page;

/* Adds words from the column on at which the last line ends, in lines of at most 80. All but the
 * first begin at column `indent`, and so does the first where it ends before that. */
static void add_wrapped(text *to, const char *s, int indent) {
    enum { WIDTH = 80 };
    const char *line = to->n ? memrchr(to->s, '\n', to->n) : NULL;
    int column = (int)(to->n - (line ? (size_t)(line + 1 - to->s) : 0));
    bool first = true; /* no word stands on the line yet */
    if (indent && column + 2 > indent) text_add(to, "\n"), column = 0;
    while (*s) {
        int n = (int)strcspn(s, " \n");
        if (!first && column + 1 + n > WIDTH) text_add(to, "\n"), column = 0, first = true;
        int blanks = !n ? 0 : !first ? 1 : column < indent ? indent - column : 0;
        text_add(to, "%*s%.*s", blanks, "", n, s);
        column += blanks + n;
        first &= !n;
        s += n;
        if (*s == '\n') text_add(to, "\n"), column = 0, first = true;
        s += *s != 0;
    }
    text_add(to, "\n");
}

/* Adds text as it is, but in a manual page with its escapes: dashes are those of flags, and each
 * run of \n, with the blanks that follow, becomes `broken`. */
static void add(page *p, const char *s, const char *broken) {
    if (p->as != PAGE_MAN) text_add(p->to, "%s", s);
    for (; p->as == PAGE_MAN && *s; s++) {
        if (*s == '\n') {
            text_add(p->to, "%s", broken);
            s += strspn(s, "\n ") - 1;
            continue;
        }
        if (strchr("\\-", *s)) text_add(p->to, "\\");
        if (strchr(".'", *s) && p->to->s[p->to->n - 1] == '\n') text_add(p->to, "\\&");
        text_add(p->to, "%c", *s == '\\' ? 'e' : *s);
    }
}

/* Writes a part: a name such as "--padding" or "fftbloom kernel", what follows the name, such as
 * "zero|mirror" or "ACTION [options]", and sentences with \n\n between paragraphs. */
static void say(page *p, page_part part, const char *name, const char *value, const char *words) {
    text *to = p->to;
    for (const char *f = FORM[p->as][part]; f && *f; f++) {
        if (*f == '^' && to->n > 1 && to->s[to->n - 2] != '\n') text_add(to, "\n");
        if (*f != '^' && *f != '$') text_add(to, "%c", *f);
        if (*f != '$') continue;
        switch (*++f) {
        case 'n': add(p, name, " "); break;
        case 'u':
            for (const char *c = name; *c; c++) text_add(to, "%c", toupper((unsigned char)*c));
            break;
        case 'k': text_add(to, "%s", p->option->name); break;
        case 'v':
            if (*value) text_add(to, " "), add(p, value, "\n.br\n");
            break;
        default:
            if (p->as == PAGE_SCREEN)
                add_wrapped(to, words,
                            part == ACTION        ? 8
                            : part != ITEM        ? 0
                            : strchr(" -", *name) ? 28
                                                  : 14);
            else
                add(p, words, part == ITEM ? "\n.IP\n" : "\n.PP\n"), text_add(to, "\n");
        }
    }
}

/* --- options ---------------------------------------------------------------------------------- */

/* Adds all that the sentence and the flag of an option do not say. */
static void add_facts(const page *p, const option *o, text *to) {
    char env[OPTION_NAME_ROOM];
    OWN(text) facts = {0};
    if (KINDS[o->type].told) kind_describe(o, &facts);
    const char *then = facts.n ? "; " : "";
    if (o->preset && o->type != OPTION_BOOL)
        text_add(&facts, "%sthe default is %s", then, o->preset), then = "; ";
    if (option_env(o, env)) text_add(&facts, "%sthe variable is %s", then, env), then = "; ";
    if (!p->command || p->command->actions) text_add(&facts, "%sfor ", then);
    if (!p->command && o->on == FOR_CONFIG)
        text_add(&facts, "config files alone");
    else if (!p->command)
        option_commands(p->commands, o, &facts);
    else if (p->command->actions)
        option_actions(o, p->command, &facts);
    if (!p->command && !option_in_config(o)) text_add(&facts, "; not in config files");
    if (facts.n) text_add(to, " %c%s.", toupper((unsigned char)*facts.s), facts.s + 1);
}

static void write_option(page *p, const option *o) {
    char name[OPTION_NAME_ROOM + 4] = "    ",
                                 *flag = name + (p->as == PAGE_SCREEN || o->letter ? 4 : 0);
    OWN(text) value = {0}, words = {0};
    if (o->letter) snprintf(name, 5, "-%c, ", o->letter);
    if (o->on == FOR_CONFIG)
        snprintf(flag, OPTION_NAME_ROOM, "\"%s\":", o->name);
    else
        option_flag(o, flag);
    option_placeholder(o, &value);
    text_add(&words, "%s", o->help);
    if (p->full && o->about) text_add(&words, " %s", o->about);
    if (p->full) {
        add_facts(p, o, &words);
    } else {
        if (o->preset && o->type != OPTION_BOOL) text_add(&words, " [%s]", o->preset);
        if (p->command && p->command->actions && !p->action && o->section != SECTION_MESSAGES) {
            text_add(&words, " (");
            option_actions(o, p->command, &words);
            text_add(&words, ")");
        }
    }
    p->option = o;
    say(p, ITEM, name, value.s ? value.s : "", words.s);
}

/* Writes the options that are for the page and for some of `users`. -1: any rank or section. */
static void add_group(page *p, const char *title, uint32_t users, int section, int rank) {
    bool any = false;
    for (const option *o = NULL; (o = option_next(o, users));) {
        if ((section >= 0 && (int)o->section != section) || (rank >= 0 && (int)o->rank != rank) ||
            (p->command && !option_is_for(o, p->command, p->action)))
            continue;
        if (!any) say(p, GROUP, title, "", "");
        write_option(p, o);
        any = true;
    }
}

static void add_sections(page *p, uint32_t users, int rank) {
    for (int s = 0; s < SECTIONS; s++) add_group(p, SECTION_TITLE[s], users, s, rank);
}

/* Apply has many: those that matter most come first, and those for experts last. */
static void add_options(page *p) {
    uint32_t users = p->command ? p->command->bit : FOR_APPLY;
    bool ranks = users & FOR_APPLY;
    say(p, CHAPTER, "Options", "", "");
    if (ranks) add_group(p, "The options that matter most", users, -1, RANK_MAIN);
    if (!p->command) return;
    add_sections(p, users, ranks ? RANK_USUAL : -1);
    if (ranks) add_group(p, "For experts", users, -1, RANK_EXPERT);
}

/* --- the other parts -------------------------------------------------------------------------- */

static void add_examples(page *p, const command_example *example, int most) {
    for (int i = 0; i < most && example[i].line; i++)
        say(p, EXAMPLE, example[i].line, "", example[i].does);
}

/* Adds what --param sets of an action, and its examples. */
static void add_action(page *p, const command_action *a) {
    OWN(text) names = {0};
    char *at = NULL;
    if (a->parameters) a->parameters(a, &names);
    if (names.n) say(p, GROUP, "Parameters (--param NAME=V,...)", "", "");
    for (char *s = names.n ? strtok_r(names.s, "\n", &at) : NULL; s;
         s = strtok_r(NULL, "\n", &at)) {
        char *tab = strchr(s, '\t');
        *tab = 0;
        say(p, ITEM, s, "", tab + 1);
    }
    add_examples(p, a->example, COMMAND_ACTION_EXAMPLES);
}

static void add_actions(page *p) {
    say(p, TOPIC, "Actions", "", "");
    for (const command_action *a = p->command->actions; a->name; a++) {
        OWN(text) words = {0};
        const char *end = p->full ? NULL : strstr(a->help, ". ");
        text_add_bytes(&words, a->help, end ? (size_t)(end - a->help) + 1 : strlen(a->help));
        say(p, ACTION, a->name, a->usage, words.s);
        if (p->full) add_action(p, a);
    }
}

static void add_commands(page *p) {
    say(p, TOPIC, "Commands", "", "");
    for (const command *c = p->commands->row; c < p->commands->row + p->commands->count; c++)
        say(p, ITEM, c->name, "", c->summary);
}

static void add_statuses(page *p) {
    say(p, CHAPTER, "Exit status", "", "");
    for (int i = 0; i < EXIT_CODE_COUNT; i++)
        say(p, ITEM, EXIT_CODES[i].code, "", EXIT_CODES[i].means);
}

static void add_variables(page *p) {
    char env[OPTION_NAME_ROOM];
    say(p, CHAPTER, "Environment", "", "");
    for (const option *o = NULL; (o = option_next(o, FOR_APPLY));)
        if (option_env(o, env)) say(p, ITEM, env, "", o->help);
    say(p, ITEM, "FFTBLOOM_CACHE_RO", "", "A cache folder that is read but never written.");
    say(p, ITEM, "NO_COLOR", "", "No colour in messages.");
}

/* --- pages ------------------------------------------------------------------------------------ */

static const command PROGRAM = {
    "",
    0,
    NULL,
    0,
    0,
    "IN KERNEL -o OUT [options]\n       fftbloom COMMAND [arguments] [options]",
    "Bloom HDR images with a real point spread function.",
    .about = "Convolves an image of any size with a point spread function by FFT, on a GPU or the "
             "CPU. Light is kept, and so is everything in the file that is not light.\n\n'fftbloom "
             "help COMMAND' shows all options of a command, 'fftbloom help OPTION' explains one, "
             "and 'fftbloom help exit' the exit statuses. Options can also be set in a JSON file "
             "(--config) or in variables (FFTBLOOM_DEVICE=cpu)."};

void help_short(text *to, const commands *list) {
    page *p = &(page){.to = to, .commands = list};
    say(p, USAGE, "fftbloom", PROGRAM.usage, "");
    add_commands(p);
    say(p, WORDS, "", "",
        "'fftbloom --help' shows more, 'fftbloom help COMMAND' everything on a command.");
}

static void write_page(page *p) {
    const command *c = p->command ? p->command : &PROGRAM;
    const command_action *a = p->action;
    char name[64], *blank = name + 8;
    OWN(text) words = {0};
    snprintf(name, sizeof name, "fftbloom%s%s%s%s", *c->name ? "-" : "", c->name, a ? " " : "",
             a ? a->name : "");
    if (!a) say(p, TITLE, name, "", c->summary);
    if (*blank) *blank = ' ';
    text_add(&words, "%s%s%s", a ? a->help : c->summary, !a && c->about ? "\n\n" : "",
             !a && c->about ? c->about : "");
    say(p, USAGE, name, a ? a->usage : c->usage, "");
    say(p, WORDS, "", "", words.s);
    say(p, CHAPTER, "Examples", "", "");
    if (a)
        add_action(p, a);
    else
        add_examples(p, p->command ? c->example : command_find(p->commands, "apply")->example,
                     COMMAND_EXAMPLES);
    if (!p->command)
        add_commands(p);
    else if (!a && c->actions)
        add_actions(p);
    add_options(p);
    if (p->full && !p->command) add_variables(p);
    if (!p->full) return;
    add_statuses(p);
    say(p, CHAPTER, "See also", "", "");
    say(p, WORDS, "", "", p->command ? "fftbloom(1)" : "fftbloom-COMMAND(1)");
}

void help_write(text *to, const commands *list, const command *c, const command_action *a) {
    write_page(&(page){.to = to, .commands = list, .command = c, .action = a});
}

/* --- the commands ----------------------------------------------------------------------------- */

int cmd_help(const cli *c, text *out, err *e) {
    page p = {.as = PAGE_SCREEN, .to = out, .commands = c->commands};
    const char *word = c->words ? c->word[0] : NULL, *action = c->words > 1 ? c->word[1] : NULL;
    p.command = word ? command_find(c->commands, word) : NULL;
    if (!word)
        write_page(&p);
    else if (!p.command && strcmp(word, "exit") == 0)
        add_statuses(&p);
    else if (action && (!p.command || !p.command->actions))
        err_set(e, ERR_USAGE, "%s has no actions, and so no help on '%s'", word, action);
    else if (p.command && (!action || command_check_choice(c->commands, p.command, action, e)))
        p.action = action ? command_find_action(p.command, action) : NULL, write_page(&p);
    p.full = true;
    /* There may be several rows of one name, for other commands. */
    for (int i = 0; word && !p.command && i < OPTION_COUNT; i++)
        if (&OPTIONS[i] == option_find(word, OPTIONS[i].on)) write_option(&p, &OPTIONS[i]);
    return 0;
}

int cmd_docs(const cli *c, text *out, err *e) {
    const bool man = strcmp(c->word[0], "man") == 0;
    page p = {man ? PAGE_MAN : PAGE_MARKDOWN, out, c->commands, .full = true};
    p.command = c->words > 1 ? command_find(c->commands, c->word[1]) : NULL;
    if (c->words > 1 && !man)
        err_set(e, ERR_USAGE, "one argument too many: '%s'", c->word[1]);
    else if (c->words > 1 && !p.command)
        err_set(e, ERR_USAGE, "unknown command '%s'", c->word[1]);
    else if (man)
        write_page(&p);
    else if (strcmp(c->word[0], "config") == 0)
        add_sections(&p, FOR_CONFIG | (FOR_ALL & ~FOR_BENCH), -1);
    else
        for (int i = 0; i < c->commands->count; i++)
            text_add(out, "%s\n", c->commands->row[i].name);
    return 0;
}

int cmd_version(const cli *c, text *out, err *e) {
    (void)e;
    json_out j = told_begin(out, c->s.json);
    if (j.words) text_add(out, "fftbloom " VERSION);
    if (!j.words) json_string(&j, "program", "fftbloom " VERSION);
    if (!j.words) json_string(&j, "release", VERSION);
    json_object(&j, "libraries");
    json_bool(&j, "vulkan", true);
    json_bool(&j, "openexr", WITH_OPENEXR);
    json_bool(&j, "opencolorio", WITH_OCIO);
    json_end(&j);
    return 0;
}
