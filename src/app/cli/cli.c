#include "app/cli/cli.h"

#include "app/cli/config.h"
#include "app/cli/option_rules.h"
#include "base/log.h"
#include "base/path.h"
#include "kernel/make/model.h"

#include <errno.h>
#include <unistd.h>

/* A flag of the command line. */
typedef struct {
    const option *o;
    const char *value;
    const char *spelled; /* "--padding", for messages */
} flag;

typedef struct {
    const commands *commands;
    const command *cmd;
    int argc, at; /* at: the argument being read */
    char **argv;
    flag *flag; /* room for argc of them */
    int flags;
    char **word; /* likewise */
    int words;
    bool help;
} reader;

static bool is_parameter(const char *name) {
    for (const model *m = MODELS; m < MODELS + MODEL_COUNT; m++)
        for (int i = 0; i < model_parameters(m); i++)
            if (strcmp(m->parameter[i].name, name) == 0) return true;
    return false;
}

static bool unknown(const reader *r, const char *arg, const char *name, err *e) {
    OWN(text) hint = {0};
    const option *elsewhere = option_find(name, FOR_ALL);
    const char *near = option_nearest(name, r->cmd->bit);
    if (r->cmd->bit == FOR_KERNEL && is_parameter(name))
        text_add(&hint, "; write --param %s=VALUE", name);
    else if (option_foreign(name, r->cmd->bit, &hint))
        ;
    else if (elsewhere)
        text_add(&hint, "; it is for "), option_commands(r->commands, elsewhere, &hint);
    else if (option_find(name, FOR_CONFIG))
        text_add(&hint, "; it is a key of config files");
    else if (access(arg, F_OK) == 0)
        text_add(&hint, "; if the file of this name is meant, write ./%s", arg);
    else if (near)
        text_add(&hint, "; did you mean %s?", FLAG_OF(option_find(near, r->cmd->bit)));
    else
        text_add(&hint, "; see 'fftbloom help %s'", r->cmd->name);
    return err_set(e, ERR_USAGE, "%s takes no option %s%s", r->cmd->name, arg, hint.s);
}

/* --- arguments ----------------------------------------------------------------------------- */

static bool add_flag(reader *r, const option *o, const char *arg, const char *value, err *e) {
    /* The next argument is the value unless it is "--" or a known flag. */
    if (!value && r->at + 1 < r->argc) {
        const char *next = r->argv[r->at + 1];
        char name[OPTION_NAME_ROOM] = "";
        bool dashes = strncmp(next, "--", 2) == 0;
        if (dashes) snprintf(name, sizeof name, "%.*s", (int)strcspn(next + 2, "="), next + 2);
        bool no = strncmp(name, "no-", 3) == 0;
        if (!dashes || (*name && !option_find(name, r->cmd->bit) &&
                        !(no && option_find(name + 3, r->cmd->bit))))
            value = r->argv[++r->at];
    }
    if (!value) {
        OWN(text) hint = {0};
        option_placeholder(o, &hint);
        if (o->type == OPTION_STREAM)
            text_add(&hint, "; write %s FILE, or %s - for standard output", arg, arg);
        return err_set(e, ERR_USAGE, "%s needs a value: %s", arg, hint.s);
    }
    r->flag[r->flags++] = (flag){o, value, arg};
    return true;
}

/* Reads "name", "name=value" or "no-name", which is `arg` without its dashes. */
static bool long_flag(reader *r, char *arg, const char *body, err *e) {
    char name[OPTION_NAME_ROOM];
    size_t n = strcspn(body, "=");
    const char *value = body[n] ? body + n + 1 : NULL;
    snprintf(name, sizeof name, "%.*s", (int)n, body);
    const option *o = n < sizeof name ? option_find(name, r->cmd->bit) : NULL;
    bool no = !o && strncmp(name, "no", 2) == 0 && (name[2] == '-' || name[2] == '_');
    if (no) {
        o = option_find(name + 3, r->cmd->bit);
        if (o && (o->type != OPTION_BOOL || value)) o = NULL;
    }
    if (!o) return unknown(r, arg, no ? name + 3 : name, e);
    if (o->type == OPTION_BOOL && !value) value = no ? "false" : "true";
    return add_flag(r, o, arg, value, e);
}

/* Reads "-o", "-ovalue", or idiff's spelling of a long name, "-fail". */
static bool short_flag(reader *r, char *arg, err *e) {
    char name[OPTION_NAME_ROOM];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(arg + 1, "="), arg + 1);
    if (name[0] && name[1] && option_find(name, r->cmd->bit)) return long_flag(r, arg, arg + 1, e);
    const option *o = option_find_letter(arg[1], r->cmd->bit);
    if (!o || (o->type == OPTION_BOOL && arg[2])) return unknown(r, arg, arg + 1, e);
    const char *value = o->type == OPTION_BOOL ? "true" : arg[2] ? arg + 2 : NULL;
    return add_flag(r, o, arg, value, e);
}

static bool read_line(reader *r, err *e) {
    bool ended = false, ok = true;
    for (r->at = 1; ok && r->at < r->argc; r->at++) {
        char *arg = r->argv[r->at];
        /* A number is no option: kernel rotate star.exr -90. */
        bool dashed = !ended && arg[0] == '-' && arg[1] && !text_number(arg, &(double){0});
        if (!dashed)
            r->word[r->words++] = arg;
        else if (r->cmd->bit == FOR_HELP && arg[1] == '-' && option_find(arg + 2, FOR_ALL))
            r->word[r->words++] = arg + 2;
        else if (strcmp(arg, "--") == 0)
            ended = true;
        else if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0)
            r->help = true;
        else
            ok = arg[1] == '-' ? long_flag(r, arg, arg + 2, e) : short_flag(r, arg, e);
    }
    return ok;
}

/* --- the whole line ------------------------------------------------------------------------ */

/* Refuses two names of one option, and two files for one: nobody can say which is meant to win. */
static bool check_names(const reader *r, err *e) {
    for (int i = 0; i < r->flags; i++)
        for (int k = 0; k < i; k++) {
            const option *a = r->flag[k].o, *b = r->flag[i].o;
            if (a == b && option_type_is_path(a->type))
                return err_set(e, ERR_USAGE, "%s is given twice: '%s' and '%s'; it takes one",
                               FLAG_OF(a), r->flag[k].value, r->flag[i].value);
            if (!option_same_value(a, b)) continue;
            return err_set(e, ERR_USAGE, "%s and %s set the same value; give one of them",
                           FLAG_OF(a), FLAG_OF(b));
        }
    return true;
}

static bool set_flags(const reader *r, settings *s, err *e) {
    for (const flag *f = r->flag; f < r->flag + r->flags; f++)
        if (!settings_set(s, f->o, f->value, (setting_origin){ORIGIN_FLAG, f->spelled}, e))
            return false;
    return true;
}

/* Refuses frames that a shell has listed for a *: the first two names differ in one number. */
static bool check_listed(const reader *r, err *e) {
    static const char DIGITS[] = "0123456789", FIELD[] = "##########";
    const char *a = r->word[0], *b = r->words > 1 ? r->word[1] : "";
    size_t first = 0;
    while (a[first] && a[first] == b[first]) first++;
    while (first && strchr(DIGITS, a[first - 1])) first--;
    const size_t n = strspn(a + first, DIGITS);
    return !(r->cmd->bit & (FOR_APPLY | FOR_PLAN)) || !n || n >= sizeof FIELD ||
           strspn(b + first, DIGITS) != n || strcmp(a + first + n, b + first + n) != 0 ||
           err_set(e, ERR_USAGE,
                   "'%s' and '%s' are frames of a sequence, which is one argument, in quotes: "
                   "'%.*s%.*s%s'",
                   a, b, (int)first, a, (int)n, FIELD, a + first + n);
}

/* Sets the options that the first arguments stand for; all others become c->word. */
static bool set_words(reader *r, cli *c, err *e) {
    int n = 0;
    for (; n < r->words && n < COMMAND_WORDS && r->cmd->stands_for[n]; n++) {
        const option *o = option_find(r->cmd->stands_for[n], r->cmd->bit);
        char where[OPTION_NAME_ROOM];
        const setting *given = settings_of(&c->s, o);
        if (given->origin == ORIGIN_FLAG && !check_listed(r, e)) return false;
        snprintf(where, sizeof where, "argument %s", o->value);
        if (given->origin == ORIGIN_FLAG)
            return err_set(e, ERR_USAGE, "%s is given twice: '%s' by %s, and '%s'%s", o->value,
                           given->kept, given->where, r->word[n],
                           n == 0 && command_is_bare_word(r->word[0])
                               ? ", which is neither a command nor a file"
                               : "");
        if (!settings_set(&c->s, o, r->word[n], (setting_origin){ORIGIN_FLAG, where}, e))
            return false;
    }
    if (r->words > r->cmd->max_words) {
        const char *extra = r->word[r->cmd->max_words];
        if (!check_listed(r, e)) return false;
        if (r->cmd->bit == FOR_APPLY && command_is_bare_word(r->word[0]))
            return kernel_option_no_image(&c->s, &c->kernels, r->word[0], r->word[1], e);
        if (*extra == '-' && extra[1])
            return err_set(e, ERR_USAGE,
                           "one argument too many: '%s'; behind -- everything is a file, so write "
                           "options before it",
                           extra);
        return err_set(e, ERR_USAGE, "one argument too many: '%s'; usage: fftbloom %s %s", extra,
                       r->cmd->name, r->cmd->usage);
    }
    c->word = r->word;
    c->words = r->words - n;
    memmove(c->word, c->word + n, (size_t)c->words * sizeof *c->word);
    for (int i = 0; i < c->words; i++)
        if (strcmp(c->word[i], "-") == 0 && r->cmd->bit != FOR_COMPLETION)
            return err_set(e, ERR_USAGE,
                           "'-': standard input is not supported; give the name of a file");
    return true;
}

/* Refuses fewer arguments than `least`, which a command needs, or its action, if that is not "". */
static bool check_least(const command *c, const char *action, const char *usage, int least,
                        int words, err *e) {
    const char *blank = *action ? " " : "";
    return words >= least ||
           err_set(e, ERR_USAGE, "%s%s%s needs %d argument%s, not %d; usage: fftbloom %s%s%s %s",
                   c->name, blank, action, least, least == 1 ? "" : "s", words, c->name, blank,
                   action, usage);
}

static bool check_action(cli *c, err *e) {
    if (!c->cmd->actions) return true;
    const command_action *a = c->action = command_find_action(c->cmd, c->word[0]);
    if (c->words - 1 > a->max_words)
        return err_set(e, ERR_USAGE, "one argument too many: '%s'; usage: fftbloom %s %s %s",
                       c->word[a->max_words + 1], c->cmd->name, a->name, a->usage);
    return check_least(c->cmd, a->name, a->usage, a->min_words, c->words - 1, e) &&
           option_rules_check_action(&c->s, c->cmd, a, e);
}

static bool check_needs(cli *c, err *e) {
    const command *cmd = c->cmd;
    const settings *s = &c->s;
    if (cmd->bit & (FOR_APPLY | FOR_PLAN) && s->input && path_is_folder(s->input))
        return err_set(e, ERR_USAGE,
                       "'%s' is a folder; name an image, or the frames in it: fftbloom "
                       "'%s/plate.####.exr' %s -o 'bloom.####.exr'",
                       s->input, s->input, s->kernel ? s->kernel : "KERNEL");
    const char *star = cmd->bit & (FOR_APPLY | FOR_PLAN) && s->input ? strchr(s->input, '*') : NULL;
    if (star && access(s->input, F_OK) != 0)
        return err_set(e, ERR_USAGE,
                       "'%s' is not there; if a sequence is meant, its frame numbers are ####: "
                       "'%.*s####%s'",
                       s->input, (int)(star - s->input), s->input, star + 1);
    for (int i = 0; i < COMMAND_WORDS && cmd->needs[i]; i++) {
        const option *o = option_find(cmd->needs[i], cmd->bit);
        if (settings_of(&c->s, o)->kept) continue;
        /* `fftbloom blom scene.exr`: the first word may have been meant as a command. */
        if (cmd->bit == FOR_APPLY && c->s.input && command_is_bare_word(c->s.input))
            return kernel_option_no_image(&c->s, &c->kernels, c->s.input, c->s.kernel, e);
        return err_set(e, ERR_USAGE, "%s needs %s (%s); usage: fftbloom %s %s", cmd->name, o->value,
                       FLAG_OF(o), cmd->name, cmd->usage);
    }
    if (cmd->actions && !c->words) {
        OWN(text) names = {0};
        command_choices(c->commands, cmd, ", ", &names);
        return err_set(e, ERR_USAGE, "%s needs an action: %s; see 'fftbloom help %s'", cmd->name,
                       names.s, cmd->name);
    }
    return (cmd->stands_for[0] || check_least(cmd, "", cmd->usage, cmd->min_words, c->words, e)) &&
           (!c->words || command_check_choice(c->commands, cmd, c->word[0], e)) &&
           check_action(c, e) && option_rules_check(&c->s, cmd->bit, e);
}

/* Reads and checks everything, and sets the log level and the limit of memory. Returns true if the
 * command is to run: --help and --print-config are answered here. */
static bool prepare(cli *c, int argc, char **argv, text *out, err *e) {
    reader r = {.commands = c->commands, .cmd = c->cmd, .argc = argc, .argv = argv};
    r.flag = mem_new((size_t)argc, sizeof *r.flag, "flags", e);
    r.word = mem_new((size_t)argc, sizeof *r.word, "arguments", e);
    bool ok = r.flag && r.word && settings_init(&c->presets, e) && settings_init(&c->s, e) &&
              read_line(&r, e) && check_names(&r, e),
         over = r.help;
    /* Lowest rank first, so that each source replaces what came before. Variables and flags are
     * set twice, since they name the config file and win over it. */
    for (int twice = 0; ok && !r.help && twice < 2; twice++)
        ok = settings_environment(&c->s, c->cmd->bit, e) && set_flags(&r, &c->s, e) &&
             (twice || !c->s.config || config_load(&c->s, c->s.config, e));
    const option *sets = c->cmd->sets ? option_find("command", c->cmd->bit) : NULL;
    if (ok && sets && settings_of(&c->s, sets)->origin == ORIGIN_FLAG)
        ok = err_set(e, ERR_USAGE, "--command has no effect in '%s'", c->cmd->name);
    if (ok && sets)
        ok =
            settings_set(&c->s, sets, c->cmd->sets, (setting_origin){ORIGIN_FLAG, c->cmd->name}, e);
    kernel_finder_open(&c->kernels, c->s.kernels, c->s.bloom.cache_dir, c->s.jobs);
    ok = ok && (r.help || set_words(&r, c, e));
    settings_settle(&c->s);
    mem_free(r.flag);
    log_set_level(c->s.quiet ? LOG_ERROR : c->s.verbose ? LOG_INFO : LOG_NOTE);
    mem_set_limit(c->s.bloom.mem_limit);
    if (ok && !r.help) settings_warn_environment();
    if (ok && !r.help && c->s.config) option_rules_warn(&c->s, &c->presets);
    if (ok && r.help)
        help_write(out, c->commands, c->cmd,
                   r.words ? command_find_action(c->cmd, r.word[0]) : NULL);
    else if (ok && (over = c->s.print_config))
        settings_print(&c->s, c->cmd->bit, c->s.json, out);
    if (!c->word) mem_free(r.word);
    return ok && !over && check_needs(c, e);
}

/* Prints the failure as JSON where that was asked for, also by a line that was not understood. */
static void print_failure(const cli *c, int argc, char **argv, const err *e) {
    const option *o = option_find("json", c->cmd->bit);
    bool asked = c->s.json;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        asked |= strcmp(argv[i], "--json") == 0;
    if (!asked || !o || o->type != OPTION_BOOL) return;
    text to = {0}; /* cli_print frees it */
    json_out j = json_begin(&to);
    json_string(&j, "program", "fftbloom " VERSION);
    json_int(&j, "exit_status", err_status(e->code));
    cli_error_json(&j, e);
    json_end(&j);
    cli_print(&to);
}

static void cli_close(cli *c) {
    par_close(&c->threads);
    kernel_choice_free(&c->kernel);
    settings_free(&c->s);
    settings_free(&c->presets);
    mem_free(c->word);
}

int cli_run(const commands *list, const command *cmd, int argc, char **argv, err *e) {
    bool bound = false, answered = false;
    OPEN(cli) c = {.commands = list, .cmd = cmd, .e = e, .answered = &answered};
    OWN(text) out = {0};
    int status = 0;
    bool ready = prepare(&c, argc, argv, &out, e) && rights_give_up(&c, &bound, e) &&
                 kernel_choose(&c.kernel, &c.s, &c.kernels, cmd->bit, e);
    if (ready && (!option_find("jobs", cmd->bit) || (c.threads = par_open((int)c.s.jobs, e))))
        status = (c.action ? c.action->run : cmd->run)(&c, &out, e);
    if (bound && c.s.sandbox == SANDBOX_ON && err_status(e->code) == ERR_NO_DEVICE)
        log_note("the sandbox may have refused something to the driver; --sandbox auto lets it do "
                 "what it likes");
    if (out.s && !e->code) fputs(out.s, stdout);
    if (e->code && !answered) print_failure(&c, argc, argv, e);
    return e->code ? err_status(e->code) : status;
}

void cli_error_json(json_out *j, const err *e) {
    if (!e->code) return;
    json_object(j, "error");
    json_int(j, "code", err_status(e->code));
    json_string(j, "message", e->msg);
    json_close(j);
}

void cli_print(text *t) {
    if (t->s) fputs(t->s, stdout);
    fflush(stdout);
    text_free(t);
}
