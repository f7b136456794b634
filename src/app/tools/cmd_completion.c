/* cmd_completion.c - `fftbloom completion`: a small script for bash, zsh and fish, which asks the
 * program at each press of Tab for the words that may follow (`completion words -- WORD...`), and
 * the answer: a line for each word, with a tab and its meaning if it has one; ":files" where a file
 * may stand, ":more" where the value may go on behind the word. */
#include "app/cli/cli.h"
#include "app/cli/kernel_option.h"
#include "app/cli/option_rules.h"
#include "kernel/make/model.h"

#include <stdio.h>
#include <string.h>

static const char BASH[] = {
#include "pages/completion.bash.inc"
    0};
static const char ZSH[] = {
#include "pages/completion.zsh.inc"
    0};
static const char FISH[] = {
#include "pages/completion.fish.inc"
    0};

/* An answer that is being made. */
typedef struct {
    text *to;
    const settings *s;
    char *const *line; /* the words before the one that is typed; the first is the command */
    int words;
    const char *typed; /* what a word must begin with */
    text before;       /* stands before each word: "--layers=", or the items of a list */
    bool more;
} answer;

static void complete_add(answer *a, const char *word, const char *behind, const char *means) {
    if (!*word || strncmp(word, a->typed, strlen(a->typed)) != 0) return;
    text_add(a->to, "%s%s%s%s%s\n", a->before.s ? a->before.s : "", word, behind,
             *means ? "\t" : "", means);
    a->more |= *behind != 0;
}

/* Adds words with blanks between, which it frees. */
static void complete_add_words(answer *a, text *words) {
    char *at = NULL;
    for (char *w = words->s ? strtok_r(words->s, " ", &at) : NULL; w; w = strtok_r(NULL, " ", &at))
        complete_add(a, w, "", "");
    text_free(words);
}

/* Adds the parameters of the model in the line. */
static void add_parameters(answer *a) {
    const model *m = NULL;
    for (int i = 0; i < a->words && !m; i++) m = model_find(a->line[i]);
    for (int k = 0; m && k < model_parameters(m); k++)
        complete_add(a, m->parameter[k].name, "=", "");
}

static void complete_value(answer *a, const option *o) {
    bool is_list = o->type == OPTION_LIST || o->type == OPTION_LAYERS;
    const char *comma = is_list ? strrchr(a->typed, ',') : NULL;
    text names = {0};
    if (comma) text_add_bytes(&a->before, a->typed, (size_t)(comma + 1 - a->typed));
    if (comma) a->typed = comma + 1;
    if (strcmp(o->name, "param") == 0) add_parameters(a);
    if (o->type == OPTION_KERNEL) kernel_option_names(a->s, &names);
    complete_add_words(a, &names);
    for (int i = 0; o->words && o->words[i]; i++) complete_add(a, o->words[i], "", "");
    if (a->more || is_list) text_add(a->to, ":more\n");
    if (option_type_is_path(o->type)) text_add(a->to, ":files\n");
}

/* --- the line --------------------------------------------------------------------------------- */

/* Returns the option of "--name", "--name=..." or "-n", or NULL. */
static const option *option_of(const char *word, uint32_t users) {
    char name[OPTION_NAME_ROOM];
    if (word[0] != '-') return NULL;
    if (word[1] != '-') return option_find_letter(word[1], users);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    return option_find(name, users);
}

/* Adds the arguments that may follow. */
static void complete_word(answer *a, const command *cmd, const command_action *act) {
    text words = {0};
    const command *named = a->words == 2 ? command_find(a->line[1]) : NULL;
    for (int i = 0; !a->words && i < COMMAND_COUNT; i++)
        complete_add(a, COMMANDS[i].name, "", COMMANDS[i].summary);
    if (a->words == 1)
        command_choices(cmd, " ", &words);
    else if (a->words == 2 && act && act->words)
        act->words(&words);
    else if (cmd->bit == FOR_HELP && named && named->actions)
        command_choices(named, " ", &words);
    else if (a->words == 2 && cmd->bit == FOR_DOCS)
        command_choices(command_find("help"), " ", &words);
    if (!words.n) text_add(a->to, ":files\n");
    complete_add_words(a, &words);
}

static void complete(cli *c, text *to) {
    int last = c->words - 1, before = last - 2; /* the word before the typed one, in a.line */
    answer a = {to, &c->s, c->word + 1, last - 1, c->word[last], {0}, false};
    const command *cmd = a.words > 0 ? command_find(a.line[0]) : NULL;
    if (!cmd) cmd = command_find("apply");
    const command_action *act = a.words > 1 ? command_find_action(cmd, a.line[1]) : NULL;
    /* bash parts "--padding=mi" into three words. */
    if (strcmp(a.typed, "=") == 0)
        a.typed = "";
    else if (before > 0 && strcmp(a.line[before], "=") == 0)
        before--;
    const option *o = before >= 0 ? option_of(a.line[before], cmd->bit) : NULL;
    const char *sign = strncmp(a.typed, "--", 2) == 0 ? strchr(a.typed, '=') : NULL;
    if (sign) {
        o = option_of(a.typed, cmd->bit);
        text_add_bytes(&a.before, a.typed, (size_t)(sign + 1 - a.typed));
        a.typed = sign + 1;
    }
    const bool value = o && (sign || o->type != OPTION_BOOL), flag = !value && *a.typed == '-';
    if (value) complete_value(&a, o);
    for (const option *f = NULL; flag && (f = option_next(f, cmd->bit));) {
        char name[OPTION_NAME_ROOM];
        if (option_is_for(f, cmd, act)) complete_add(&a, option_flag(f, name), "", f->help);
    }
    if (flag) complete_add(&a, "--help", "", "");
    if (!value && !flag) complete_word(&a, cmd, act);
    text_free(&a.before);
}

int cmd_completion(cli *c, text *out, err *e) {
    const char *shell = c->word[0]; /* the command line has checked the word */
    if ((strcmp(shell, "words") == 0) != (c->words > 1))
        return err_set(e, ERR_USAGE, "usage: fftbloom completion %s", c->cmd->usage), 0;
    if (c->words > 1)
        complete(c, out);
    else
        text_add(out, "%s", *shell == 'b' ? BASH : *shell == 'z' ? ZSH : FISH);
    return 0;
}
