#include "app/cli/command.h"

#include "app/cli/option_rules.h"

#include <unistd.h>

const exit_code EXIT_CODES[] = {
    {"0", "Success; diff and check: the images match."},
    {"1", "diff and check: some pixels differ enough to warn; kernel check --strict: warnings."},
    {"2", "diff and check: the images differ."},
    {"3", "diff and check: the images have different sizes or channels."},
    {"4", "diff and check: a file could not be read."},
    {"5",
     "Some frames were skipped, as requested, or had no input (--keep-going); check: all cases "
     "were skipped."},
    {"6", "The input has NaN or infinite pixels, and --nan is error."},
    {"7", "--verify found that the tolerance is not met."},
    {"64", "The command line, a config file, a suite or an environment variable is wrong."},
    {"65", "The content of a file is wrong."},
    {"66", "An input is missing or cannot be opened."},
    {"69", "No device can do the work."},
    {"70", "Internal error: a bug in this program."},
    {"74", "The output cannot be created, or reading or writing failed."},
    {"75", "Temporary failure, worth another try: device lost, out of memory."},
    {"130",
     "Interrupted (SIGINT; 129 for SIGHUP and 143 for SIGTERM); the current frame is dropped "
     "and no partial file is left."},
};
const int EXIT_CODE_COUNT = (int)(sizeof EXIT_CODES / sizeof EXIT_CODES[0]);

const command *command_find(const commands *list, const char *name) {
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->row[i].name, name) == 0) return &list->row[i];
    return NULL;
}

const command_action *command_find_action(const command *c, const char *name) {
    for (const command_action *a = c->actions; a && a->name; a++)
        if (strcmp(a->name, name) == 0) return a;
    return NULL;
}

const char *command_nearest(const commands *list, const char *name) {
    const char *names[COMMAND_MOST];
    for (int i = 0; i < list->count; i++) names[i] = list->row[i].name;
    int best = text_nearest(name, names, list->count);
    return best < 0 ? NULL : names[best];
}

void command_choices(const commands *list, const command *c, const char *between, text *to) {
    const char *words = c->word_choices;
    for (const command_action *a = c->actions; a && a->name; a++)
        text_add(to, "%s%s", a == c->actions ? "" : between, a->name);
    if (words && *words == '*')
        for (int i = 0; i < list->count; i++)
            text_add(to, "%s%s", i ? between : "", list->row[i].name);
    else
        for (; words && *words; words += strcspn(words, " "), words += *words == ' ')
            text_add(to, "%s%.*s", words == c->word_choices ? "" : between,
                     (int)strcspn(words, " "), words);
}

bool command_is_bare_word(const char *word) {
    return word[0] != '-' && !strpbrk(word, "./#%$@") && access(word, F_OK) != 0;
}

bool command_check_choice(const commands *list, const command *c, const char *word, err *e) {
    const char *choice[COMMAND_MOST];
    char *at;
    OWN(text) words = {0}, names = {0}, hint = {0};
    int n = 0;
    bool ok = (!c->word_choices && !c->actions) ||
              (c->bit == FOR_HELP &&
               (option_find(word, FOR_ALL | FOR_CONFIG) || strcmp(word, "exit") == 0));
    command_choices(list, c, " ", &words);
    for (char *p = ok ? NULL : strtok_r(words.s, " ", &at); p && n < COMMAND_MOST;
         p = strtok_r(NULL, " ", &at)) {
        ok |= strcmp(p, word) == 0;
        choice[n++] = p;
    }
    if (ok) return true;
    if (option_foreign(word, c->bit | (c->bit == FOR_HELP ? FOR_APPLY : 0), &hint))
        return err_set(e, ERR_USAGE, "unknown %s '%s'%s", c->word_name, word, hint.s);
    int near = text_nearest(word, choice, n);
    command_choices(list, c, ", ", &names);
    return near >= 0 ? err_set(e, ERR_USAGE, "unknown %s '%s'; did you mean '%s'?", c->word_name,
                               word, choice[near])
                     : err_set(e, ERR_USAGE, "unknown %s '%s'; there are %s", c->word_name, word,
                               names.s);
}
