/* cmd_completion.c - `fftbloom completion`: prints the tables as completions of bash, zsh and
 * fish. It knows the shells' languages and nothing of what options mean. */
#include "app/cli/cli.h"
#include "app/cli/option_rules.h"
#include "app/tools/complete_words.h"

#include <string.h>

/* Appends the inside of a string in single quotes; `also` are characters that take a backslash. */
static void add_quoted(text *to, const char *s, const char *also) {
    for (; *s; s++)
        if (*s == '\'')
            text_add(to, "'\\''");
        else
            text_add(to, "%s%c", strchr(also, *s) ? "\\" : "", *s);
}

/* Appends the words that the option may have; `also` as in add_quoted. */
static void completion_add_words(const option *o, const char *also, text *to) {
    for (int i = 0; o->words[i]; i++) {
        text_add(to, i ? " " : "");
        add_quoted(to, o->words[i], also);
    }
}

static void completion_add_names(const char *between, text *to) {
    command_choices(command_find("help"), between, to);
}

/* Words that may follow the first word of a command. */
typedef struct {
    const char *after;
    text words;
} second_words;

enum { SECOND_MOST = 64 };

/* Fills in one row for each first word that other words may follow, and returns how many there are.
 * Free them with free_second_words. */
static int find_second_words(second_words to[SECOND_MOST], const command *c) {
    int n = 0;
    if (c->bit == FOR_DOCS) {
        to[n] = (second_words){.after = "man"};
        completion_add_names(" ", &to[n++].words);
    }
    for (int i = 0; c->bit == FOR_HELP && i < COMMAND_COUNT; i++)
        if (COMMANDS[i].actions) {
            to[n] = (second_words){.after = COMMANDS[i].name};
            command_choices(&COMMANDS[i], " ", &to[n++].words);
        }
    for (const command_action *a = c->actions; a && a->name && n < SECOND_MOST; a++)
        if (a->words) {
            to[n] = (second_words){.after = a->name};
            a->words(&to[n++].words);
        }
    return n;
}

static void free_second_words(second_words *of, int n) {
    while (n-- > 0) text_free(&of[n].words);
}

/* --- bash -------------------------------------------------------------------------------- */

/* Appends a branch for the values of an option. Its pattern is "*:--padding | *:-p", or
 * "check:--json" if another row has the same name. */
static void bash_values(const option *o, text *to) {
    char flag[OPTION_NAME_ROOM];
    bool begun = false;
    int rows = 0;
    for (int i = 0; i < OPTION_COUNT; i++) rows += strcmp(OPTIONS[i].name, o->name) == 0;
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (!(o->on & COMMANDS[i].bit) || (rows == 1 && begun)) continue;
        const char *of = rows == 1 ? "*" : COMMANDS[i].name;
        text_add(to, "%s%s:%s", begun ? " | " : "    ", of, option_flag(o, flag));
        if (o->letter) text_add(to, " | %s:-%c", of, o->letter);
        begun = true;
    }
    if (!begun) return; /* one of config files alone */
    text_add(to, ") ");
    if (complete_asks(o)) {
        /* Blanks in names stay in them: a line is a word. */
        text_add(to,
                 "mapfile -t COMPREPLY < <(fftbloom completion words %s \"$cur\" -- "
                 "\"${COMP_WORDS[@]:1}\" 2>/dev/null); ",
                 o->name);
        if (o->type == OPTION_PATH)
            text_add(to, "COMPREPLY+=($(compgen -f -- \"$cur\")); compopt -o filenames; ");
        else
            text_add(to, "compopt -o nospace; ");
    } else if (o->words) {
        text_add(to, "COMPREPLY=($(compgen -W '");
        completion_add_words(o, "", to);
        text_add(to, "' -- \"$cur\")); ");
    } else if (o->type == OPTION_PATH) {
        text_add(to, "compopt -o default; ");
    }
    text_add(to, "return ;;\n");
}

/* Appends the flags of a command, or of one of its actions. */
static void bash_flags(const command *c, const command_action *a, text *to) {
    text_add(to, "flags='--help");
    for (int i = 0; i < OPTION_COUNT; i++) {
        char flag[OPTION_NAME_ROOM];
        if (OPTIONS[i].on & c->bit && (!a || option_is_for_action(&OPTIONS[i], a)))
            text_add(to, " %s", option_flag(&OPTIONS[i], flag));
    }
    text_add(to, "'");
}

static void bash_command(const command *c, text *to) {
    second_words second[SECOND_MOST];
    int seconds = find_second_words(second, c);
    text_add(to, "    %s)\n        ", c->name);
    bash_flags(c, NULL, to);
    text_add(to, "\n");
    if (c->actions) {
        text_add(to, "        case ${COMP_WORDS[2]} in\n");
        for (const command_action *a = c->actions; a->name; a++) {
            text_add(to, "        %s) ", a->name);
            bash_flags(c, a, to);
            text_add(to, " ;;\n");
        }
        text_add(to, "        esac\n");
    }
    if (c->word_choices || c->actions) {
        text_add(to, "        if ((COMP_CWORD == 2)); then words='");
        command_choices(c, " ", to);
        text_add(to, "'; fi\n");
    }
    for (int i = 0; i < seconds; i++)
        text_add(to,
                 "        if ((COMP_CWORD == 3)) && [[ ${COMP_WORDS[2]} == %s ]]; then words='%s'; "
                 "fi\n",
                 second[i].after, second[i].words.s);
    text_add(to, "        ;;\n");
    free_second_words(second, seconds);
}

static void bash(text *to) {
    text_add(to, "# Completions of fftbloom for bash; made by `fftbloom completion bash`.\n"
                 "_fftbloom() {\n"
                 "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
                 "    local cmd=apply flags words\n"
                 "    if [[ $cur == = ]]; then cur=; fi\n"
                 "    if [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD - 2]}; fi\n"
                 "    COMPREPLY=()\n"
                 "    case ${COMP_WORDS[1]} in ");
    completion_add_names(" | ", to);
    text_add(to, ") cmd=${COMP_WORDS[1]} ;; esac\n    case $cmd:$prev in\n");
    for (int i = 0; i < OPTION_COUNT; i++)
        if (OPTIONS[i].on & FOR_ALL && OPTIONS[i].type != OPTION_BOOL) bash_values(&OPTIONS[i], to);
    text_add(to, "    esac\n    case $cmd in\n");
    for (int i = 0; i < COMMAND_COUNT; i++) bash_command(&COMMANDS[i], to);
    text_add(to, "    esac\n    if ((COMP_CWORD == 1)); then words='");
    completion_add_names(" ", to);
    text_add(to, "'; fi\n"
                 "    if [[ $cur == -* ]]; then words=$flags; fi\n"
                 "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
                 "    if ((COMP_CWORD == 1)) || [[ -z $words ]]; then compopt -o default; fi\n"
                 "}\ncomplete -F _fftbloom fftbloom\n");
}

/* --- zsh --------------------------------------------------------------------------------- */

static void zsh_option(const option *o, text *to) {
    char flag[OPTION_NAME_ROOM];
    for (int letter = 0; letter <= (o->letter != 0); letter++) {
        text_add(to, " \\\n            '");
        if (letter)
            text_add(to, "-%c[", o->letter);
        else
            text_add(to, "%s%s[", option_flag(o, flag), o->type == OPTION_BOOL ? "" : "=");
        add_quoted(to, o->help, "[]\\");
        text_add(to, "]");
        if (o->type != OPTION_BOOL) text_add(to, ":%s:", o->name);
        if (complete_asks(o)) {
            text_add(to,
                     "{ compadd -S \"\" -- ${(f)\"$(fftbloom completion words %s \"$PREFIX\" -- "
                     "$line $words 2>/dev/null)\"}%s }'",
                     o->name, o->type == OPTION_PATH ? "; _files" : "");
            continue;
        }
        text_add(to, o->words ? "(" : o->type == OPTION_PATH ? "_files" : "");
        if (o->words) completion_add_words(o, ":", to); /* a colon would end the action */
        text_add(to, o->words ? ")'" : "'");
    }
}

/* Appends the arguments of a command. Where the words that may follow depend on the first one, zsh
 * runs the test when it completes. */
static void zsh_command(const command *c, text *to) {
    second_words second[SECOND_MOST];
    int seconds = find_second_words(second, c);
    text_add(to, "    %s)\n        _arguments '--help[Show the help of the command.]'", c->name);
    for (int k = 0; k < OPTION_COUNT; k++)
        if (OPTIONS[k].on & c->bit) zsh_option(&OPTIONS[k], to);
    if (c->word_choices || c->actions) {
        text_add(to, " \\\n            '1:%s:(", c->word_name);
        command_choices(c, " ", to);
        text_add(to, ")'");
    }
    if (seconds) {
        text_add(to, " \\\n            '2:argument:{ case $line[1] in");
        for (int i = 0; i < seconds; i++)
            text_add(to, " %s) compadd %s ;;", second[i].after, second[i].words.s);
        text_add(to, " *) _files ;; esac }'");
    }
    text_add(to, " \\\n            '*:argument:_files' ;;\n");
    free_second_words(second, seconds);
}

static void zsh(text *to) {
    text_add(to, "#compdef fftbloom\n"
                 "# Completions of fftbloom for zsh; made by `fftbloom completion zsh`.\n"
                 "_fftbloom() {\n    local cmd=apply line\n    local -a commands=(\n");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        text_add(to, "        '%s:", COMMANDS[i].name);
        add_quoted(to, COMMANDS[i].summary, ":\\");
        text_add(to, "'\n");
    }
    text_add(to, "    )\n    if ((CURRENT == 2)) && [[ $words[2] != -* ]]; then\n"
                 "        _describe command commands\n        _files\n        return\n    fi\n"
                 "    case $words[2] in ");
    completion_add_names(" | ", to);
    text_add(to, ") cmd=$words[2]; shift words; ((CURRENT--)) ;; esac\n    case $cmd in\n");
    for (int i = 0; i < COMMAND_COUNT; i++) zsh_command(&COMMANDS[i], to);
    text_add(to, "    esac\n}\n"
                 "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n    _fftbloom \"$@\"\n"
                 "else\n    compdef _fftbloom fftbloom\nfi\n");
}

/* --- fish -------------------------------------------------------------------------------- */

/* Begins a line that holds for a command, with `also` as a further test. */
static void fish_begin(const command *c, const char *also, text *to) {
    text_add(to, "complete -c fftbloom -n 'test (__fftbloom_command) = %s%s'", c->name, also);
}

static void fish_described(const char *s, text *to) {
    text_add(to, " -d '");
    for (; *s; s++) text_add(to, "%s%c", *s == '\'' || *s == '\\' ? "\\" : "", *s);
    text_add(to, "'\n");
}

static void fish_command(const command *c, text *to) {
    second_words second[SECOND_MOST];
    int seconds = find_second_words(second, c);
    text_add(to, "complete -c fftbloom -n __fish_use_subcommand -a %s", c->name);
    fish_described(c->summary, to);
    if (c->word_choices || c->actions) {
        fish_begin(c, "; and test (__fftbloom_at) = 2", to);
        text_add(to, " -f -a '");
        command_choices(c, " ", to);
        text_add(to, "'\n");
    }
    for (int i = 0; i < seconds; i++) {
        text also = {0};
        text_add(&also, "; and test (__fftbloom_at) = 3; and contains %s (commandline -opc)",
                 second[i].after);
        fish_begin(c, also.s, to);
        text_add(to, " -f -a '%s'\n", second[i].words.s);
        text_free(&also);
    }
    for (int k = 0; k < OPTION_COUNT; k++) {
        const option *o = &OPTIONS[k];
        char flag[OPTION_NAME_ROOM];
        if (!(o->on & c->bit)) continue;
        fish_begin(c, "", to);
        text_add(to, " -l %s", option_flag(o, flag) + 2);
        if (o->letter) text_add(to, " -s %c", o->letter);
        if (complete_asks(o)) {
            text_add(to,
                     " %s -a '(fftbloom completion words %s (commandline -ct | string replace -r "
                     "\"^--[a-z-]*=\" \"\") -- (commandline -opc)[2..] 2>/dev/null)'",
                     o->type == OPTION_PATH ? "-r -F" : "-x", o->name);
        } else if (o->words) {
            text_add(to, " -x -a '");
            completion_add_words(o, "", to);
            text_add(to, "'");
        } else if (o->type != OPTION_BOOL) {
            text_add(to, o->type == OPTION_PATH ? " -r -F" : " -x");
        }
        fish_described(o->help, to);
    }
    free_second_words(second, seconds);
}

static void fish(text *to) {
    text_add(to, "# Completions of fftbloom for fish; made by `fftbloom completion fish`.\n"
                 "function __fftbloom_command\n    set -l words (commandline -opc)\n"
                 "    if contains -- \"$words[2]\" ");
    completion_add_names(" ", to);
    text_add(to, "\n        echo $words[2]\n    else\n        echo apply\n    end\nend\n"
                 "function __fftbloom_at\n    count (commandline -opc)\nend\n");
    for (int i = 0; i < COMMAND_COUNT; i++) fish_command(&COMMANDS[i], to);
}

/* ----------------------------------------------------------------------------------------- */

int cmd_completion(cli *c, text *out, err *e) {
    const char *shell = c->word[0]; /* the command line has checked the word */
    bool words = strcmp(shell, "words") == 0;
    if (words ? c->words < 3 : c->words > 1)
        return err_set(e, ERR_USAGE, "usage: fftbloom completion %s", c->cmd->usage), 0;
    if (words) {
        complete_words(
            &(complete_question){c->word[1], c->word[2], c->word + 3, c->words - 3, &c->s}, out);
        return 0;
    }
    (*shell == 'b' ? bash : *shell == 'z' ? zsh : fish)(out);
    return 0;
}
