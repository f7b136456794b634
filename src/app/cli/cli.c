#include "app/cli/cli.h"

#include "app/cli/config.h"
#include "app/cli/help.h"
#include "base/log.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>

/* One flag as it was given: what it sets, and to what. */
typedef struct {
    const option *o;
    const char *value;
    const char *spelled; /* "--padding", for messages */
} flag;

typedef struct {
    const command *cmd;
    int argc, at; /* at: the argument being read */
    char **argv;
    flag *flag; /* room for argc of them */
    int flags;
    char **word; /* likewise */
    int words;
    bool help;
} reader;

/* --- single arguments ---------------------------------------------------------------------- */

/* The commands that would take the option, for people who are in the wrong one. */
static void add_takers(const option *o, text *to) {
    const char *sep = "; it is for ";
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (o->on & COMMANDS[i].bit) {
            text_add(to, "%s%s", sep, COMMANDS[i].name);
            sep = ", ";
        }
}

static bool unknown(const reader *r, const char *arg, const char *name, err *e) {
    text hint = {0};
    const option *other = option_find(name, FOR_ALL);
    const char *near = option_nearest(name, r->cmd->bit);
    char spelled[OPTION_NAME_ROOM];
    if (other) {
        add_takers(other, &hint);
    } else if (near) {
        text_add(&hint, "; did you mean %s?", option_flag(option_find(near, r->cmd->bit), spelled));
    } else {
        text_add(&hint, "; see 'fftbloom help %s'", r->cmd->name);
    }
    err_set(e, ERR_USAGE, "%s takes no option %s%s", r->cmd->name, arg, hint.s ? hint.s : "");
    text_free(&hint);
    return false;
}

/* True when the argument cannot be the value of the flag before it: "--" or a flag by name. */
static bool is_flag(const reader *r, const char *arg) {
    char name[OPTION_NAME_ROOM];
    if (arg[0] != '-' || arg[1] != '-') return false;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(arg + 2, "="), arg + 2);
    return !*name || option_find(name, r->cmd->bit) ||
           (strncmp(name, "no-", 3) == 0 && option_find(name + 3, r->cmd->bit));
}

static bool add_flag(reader *r, const option *o, const char *arg, const char *value, err *e) {
    if (!value && r->at + 1 < r->argc && !is_flag(r, r->argv[r->at + 1])) value = r->argv[++r->at];
    if (!value) {
        text hint = {0};
        option_placeholder(o, &hint);
        err_set(e, ERR_USAGE, "%s needs a value: %s", arg, hint.s);
        text_free(&hint);
        return false;
    }
    r->flag[r->flags++] = (flag){o, value, arg};
    return true;
}

/* "--name", "--name=value" or "--no-name", dashes taken off. */
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

static bool short_flag(reader *r, char *arg, err *e) {
    const option *o = option_find_letter(arg[1], r->cmd->bit);
    if (!o) return unknown(r, arg, arg + 1, e);
    if (o->type != OPTION_BOOL) return add_flag(r, o, arg, arg[2] ? arg + 2 : NULL, e);
    if (arg[2]) return unknown(r, arg, arg + 1, e);
    return add_flag(r, o, arg, "true", e);
}

/* idiff's spelling, -fail 0.1; but -ofile is -o with its value. */
static bool one_dash_name(const reader *r, const char *arg) {
    char name[OPTION_NAME_ROOM];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(arg + 1, "="), arg + 1);
    return name[0] && name[1] && option_find(name, r->cmd->bit);
}

static bool read_argument(reader *r, bool *ended, err *e) {
    char *arg = r->argv[r->at];
    if (*ended || arg[0] != '-' || !arg[1]) {
        r->word[r->words++] = arg;
    } else if (strcmp(arg, "--") == 0) {
        *ended = true;
    } else if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0) {
        r->help = true;
    } else if (arg[1] == '-') {
        return long_flag(r, arg, arg + 2, e);
    } else if (one_dash_name(r, arg)) {
        return long_flag(r, arg, arg + 1, e);
    } else {
        return short_flag(r, arg, e);
    }
    return true;
}

/* --- the whole line ------------------------------------------------------------------------ */

static bool read_line(reader *r, err *e) {
    bool ended = false;
    for (r->at = 1; r->at < r->argc; r->at++)
        if (!read_argument(r, &ended, e)) return false;
    return true;
}

static bool set_words(reader *r, cli *c, err *e) {
    int n = 0;
    for (; n < r->words && n < COMMAND_WORDS && r->cmd->stands_for[n]; n++) {
        const option *o = option_find(r->cmd->stands_for[n], r->cmd->bit);
        char where[OPTION_NAME_ROOM];
        snprintf(where, sizeof where, "argument %s", o->value);
        if (!settings_set(&c->s, (int)(o - OPTIONS), r->word[n], ORIGIN_FLAG, where, e))
            return false;
    }
    if (r->words > r->cmd->max_words)
        return err_set(e, ERR_USAGE, "one argument too many: '%s'; usage: fftbloom %s %s",
                       r->word[r->cmd->max_words], r->cmd->name, r->cmd->usage);
    c->word = r->word;
    c->words = r->words - n;
    memmove(c->word, c->word + n, (size_t)c->words * sizeof *c->word);
    return true;
}

/* Lowest rank first, so that each source replaces what came before. */
static bool set_all(reader *r, cli *c, err *e) {
    for (int i = 0; i < r->flags; i++)
        if (r->flag[i].o->at == offsetof(settings, config) &&
            !settings_set(&c->s, (int)(r->flag[i].o - OPTIONS), r->flag[i].value, ORIGIN_FLAG,
                          r->flag[i].spelled, e))
            return false;
    if (c->s.config && !config_load(&c->s, c->s.config, e)) return false;
    if (!settings_environment(&c->s, r->cmd->bit, e)) return false;
    for (int i = 0; i < r->flags; i++)
        if (!settings_set(&c->s, (int)(r->flag[i].o - OPTIONS), r->flag[i].value, ORIGIN_FLAG,
                          r->flag[i].spelled, e))
            return false;
    return set_words(r, c, e);
}

static bool check_needs(const cli *c, err *e) {
    for (int i = 0; i < COMMAND_WORDS && c->cmd->needs[i]; i++) {
        const option *o = option_find(c->cmd->needs[i], c->cmd->bit);
        char name[OPTION_NAME_ROOM];
        if (!c->s.value[o - OPTIONS].text)
            return err_set(e, ERR_USAGE, "%s needs %s (%s); usage: fftbloom %s %s", c->cmd->name,
                           o->value, option_flag(o, name), c->cmd->name, c->cmd->usage);
    }
    if (!c->cmd->stands_for[0] && c->words < c->cmd->min_words)
        return err_set(e, ERR_USAGE, "%s needs %d argument%s, not %d; usage: fftbloom %s %s",
                       c->cmd->name, c->cmd->min_words, c->cmd->min_words == 1 ? "" : "s", c->words,
                       c->cmd->name, c->cmd->usage);
    return true;
}

/* Answers --help and --print-config; true when there is still work to do. */
static bool answer(const reader *r, cli *c, err *e) {
    text out = {0};
    if (r->help) {
        help_command(c->cmd, &out);
    } else if (c->s.print_config) {
        settings_print(&c->s, c->cmd->bit, c->s.json, &out);
    }
    if (!out.s) return check_needs(c, e);
    fputs(out.s, stdout);
    text_free(&out);
    return false;
}

bool cli_open(cli *c, int argc, char **argv, err *e) {
    *c = (cli){.cmd = command_find(argv[0])};
    reader r = {.cmd = c->cmd, .argc = argc, .argv = argv};
    r.flag = mem_new((size_t)argc, sizeof *r.flag, "flags", e);
    r.word = mem_new((size_t)argc, sizeof *r.word, "arguments", e);
    bool ok = r.flag && r.word && settings_init(&c->s, e) && read_line(&r, e);
    if (ok && !r.help) ok = set_all(&r, c, e);
    if (ok) ok = answer(&r, c, e);
    mem_set_limit(c->s.bloom.mem_limit);
    log_set_level(c->s.quiet ? LOG_ERROR : c->s.verbose ? LOG_INFO : LOG_NOTE);
    mem_free(r.flag);
    if (!c->word) mem_free(r.word);
    return ok;
}

void cli_close(cli *c) {
    settings_free(&c->s);
    mem_free(c->word);
    *c = (cli){0};
}
