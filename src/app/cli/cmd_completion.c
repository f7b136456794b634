/* cmd_completion.c - `fftbloom completion`: the tables as completions of bash, zsh and fish. */
#include "app/cli/cli.h"
#include "app/cli/options.h"

#include <stdio.h>
#include <string.h>

/* For the inside of a string in single quotes; `also` are characters that take a backslash. */
static void add_quoted(text *to, const char *s, const char *also) {
    for (; *s; s++) {
        if (*s == '\'') {
            text_add(to, "'\\''");
        } else {
            text_add(to, "%s%c", strchr(also, *s) ? "\\" : "", *s);
        }
    }
}

static void add_words(const option *o, text *to) {
    for (int i = 0; o->words && o->words[i]; i++) text_add(to, "%s%s", i ? " " : "", o->words[i]);
}

static void add_names(const char *between, text *to) {
    for (int i = 0; i < COMMAND_COUNT; i++)
        text_add(to, "%s%s", i ? between : "", COMMANDS[i].name);
}

/* The fixed words that may follow the command; "*" in its row stands for the commands' names. */
static void add_choices(const command *c, text *to) {
    if (!c->word_choices) return;
    if (strcmp(c->word_choices, "*") == 0) {
        add_names(" ", to);
    } else {
        text_add(to, "%s", c->word_choices);
    }
}

/* --- bash -------------------------------------------------------------------------------- */

static void bash_values(text *to) {
    for (int i = 0; i < OPTION_COUNT; i++) {
        const option *o = &OPTIONS[i];
        char flag[OPTION_NAME_ROOM];
        if (o->type == OPTION_BOOL) continue;
        text_add(to, "    %s", option_flag(o, flag));
        if (o->letter) text_add(to, " | -%c", o->letter);
        if (o->words) {
            text_add(to, ") COMPREPLY=($(compgen -W '");
            add_words(o, to);
            text_add(to, "' -- \"$cur\")); return ;;\n");
        } else {
            text_add(to, ") %sreturn ;;\n", o->type == OPTION_PATH ? "compopt -o default; " : "");
        }
    }
}

static void bash_command(const command *c, text *to) {
    text_add(to, "    %s)\n        flags='--help", c->name);
    for (int i = 0; i < OPTION_COUNT; i++) {
        char flag[OPTION_NAME_ROOM];
        if (OPTIONS[i].on & c->bit) text_add(to, " %s", option_flag(&OPTIONS[i], flag));
    }
    text_add(to, "'\n        words='");
    add_choices(c, to);
    text_add(to, "' ;;\n");
}

static void bash(text *to) {
    text_add(to, "# Completions of fftbloom for bash; made by `fftbloom completion bash`.\n"
                 "_fftbloom() {\n"
                 "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
                 "    local cmd=apply flags words\n"
                 "    if [[ $cur == = ]]; then cur=; fi\n"
                 "    if [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD - 2]}; fi\n"
                 "    COMPREPLY=()\n"
                 "    case $prev in\n");
    bash_values(to);
    text_add(to, "    esac\n    case ${COMP_WORDS[1]} in ");
    add_names(" | ", to);
    text_add(to, ") cmd=${COMP_WORDS[1]} ;; esac\n    case $cmd in\n");
    for (int i = 0; i < COMMAND_COUNT; i++) bash_command(&COMMANDS[i], to);
    text_add(to, "    esac\n    if ((COMP_CWORD == 1)); then words='");
    add_names(" ", to);
    text_add(to, "'; fi\n"
                 "    if [[ $cur == -* ]]; then words=$flags; fi\n"
                 "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
                 "    if ((COMP_CWORD == 1)) || [[ -z $words ]]; then compopt -o default; fi\n"
                 "}\ncomplete -F _fftbloom fftbloom\n");
}

/* --- zsh --------------------------------------------------------------------------------- */

static void zsh_option(const option *o, text *to) {
    char flag[OPTION_NAME_ROOM];
    option_flag(o, flag);
    for (int letter = 0; letter <= (o->letter != 0); letter++) {
        text_add(to, " \\\n            '");
        if (letter) {
            text_add(to, "-%c", o->letter);
        } else {
            text_add(to, "%s%s", flag, o->type == OPTION_BOOL ? "" : "=");
        }
        text_add(to, "[");
        add_quoted(to, o->help, "[]\\");
        text_add(to, "]");
        if (o->type != OPTION_BOOL) {
            text_add(to, ":%s:", o->name);
            if (o->words) {
                text_add(to, "(");
                add_words(o, to);
                text_add(to, ")");
            } else if (o->type == OPTION_PATH) {
                text_add(to, "_files");
            }
        }
        text_add(to, "'");
    }
}

static void zsh(text *to) {
    text_add(to, "#compdef fftbloom\n"
                 "# Completions of fftbloom for zsh; made by `fftbloom completion zsh`.\n"
                 "_fftbloom() {\n    local cmd=apply\n    local -a commands=(\n");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        text_add(to, "        '%s:", COMMANDS[i].name);
        add_quoted(to, COMMANDS[i].summary, ":\\");
        text_add(to, "'\n");
    }
    text_add(to, "    )\n    if ((CURRENT == 2)) && [[ $words[2] != -* ]]; then\n"
                 "        _describe command commands\n        _files\n        return\n    fi\n"
                 "    case $words[2] in ");
    add_names(" | ", to);
    text_add(to, ") cmd=$words[2]; shift words; ((CURRENT--)) ;; esac\n    case $cmd in\n");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        const command *c = &COMMANDS[i];
        text_add(to, "    %s)\n        _arguments '--help[Show the help of the command.]'",
                 c->name);
        for (int k = 0; k < OPTION_COUNT; k++)
            if (OPTIONS[k].on & c->bit) zsh_option(&OPTIONS[k], to);
        text_add(to, " \\\n            '*:argument:");
        if (c->word_choices) {
            text_add(to, "(");
            add_choices(c, to);
            text_add(to, ")' ;;\n");
        } else {
            text_add(to, "_files' ;;\n");
        }
    }
    text_add(to, "    esac\n}\n"
                 "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n    _fftbloom \"$@\"\n"
                 "else\n    compdef _fftbloom fftbloom\nfi\n");
}

/* --- fish -------------------------------------------------------------------------------- */

static void fish_option(const command *c, const option *o, text *to) {
    char flag[OPTION_NAME_ROOM];
    text_add(to, "complete -c fftbloom -n 'test (__fftbloom_command) = %s' -l %s", c->name,
             option_flag(o, flag) + 2);
    if (o->letter) text_add(to, " -s %c", o->letter);
    if (o->words) {
        text_add(to, " -x -a '");
        add_words(o, to);
        text_add(to, "'");
    } else if (o->type != OPTION_BOOL) {
        text_add(to, o->type == OPTION_PATH ? " -r -F" : " -x");
    }
    text_add(to, " -d '");
    for (const char *s = o->help; *s; s++)
        text_add(to, "%s%c", *s == '\'' || *s == '\\' ? "\\" : "", *s);
    text_add(to, "'\n");
}

static void fish(text *to) {
    text_add(to, "# Completions of fftbloom for fish; made by `fftbloom completion fish`.\n"
                 "function __fftbloom_command\n    set -l words (commandline -opc)\n"
                 "    if contains -- \"$words[2]\" ");
    add_names(" ", to);
    text_add(to, "\n        echo $words[2]\n    else\n        echo apply\n    end\nend\n");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        const command *c = &COMMANDS[i];
        text_add(to, "complete -c fftbloom -n __fish_use_subcommand -a %s -d '", c->name);
        for (const char *s = c->summary; *s; s++)
            text_add(to, "%s%c", *s == '\'' || *s == '\\' ? "\\" : "", *s);
        text_add(to, "'\n");
        if (c->word_choices) {
            text_add(to, "complete -c fftbloom -n 'test (__fftbloom_command) = %s' -f -a '",
                     c->name);
            add_choices(c, to);
            text_add(to, "'\n");
        }
        for (int k = 0; k < OPTION_COUNT; k++)
            if (OPTIONS[k].on & c->bit) fish_option(c, &OPTIONS[k], to);
    }
}

/* ----------------------------------------------------------------------------------------- */

int cmd_completion(int argc, char **argv, err *e) {
    static const struct {
        const char *name;
        void (*write)(text *to);
    } SHELL[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
    cli c;
    text out = {0};
    if (cli_open(&c, argc, argv, e)) {
        for (int i = 0; i < 3; i++)
            if (strcmp(c.word[0], SHELL[i].name) == 0) SHELL[i].write(&out);
        fputs(out.s, stdout);
    }
    text_free(&out);
    cli_close(&c);
    return (int)e->code;
}
