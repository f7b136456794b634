/* option_rules.h - the options that have an effect only beside others, and words that are gone.
 *
 * An option of the command line that would do nothing in the command as it is given is refused, so
 * that nobody believes it was obeyed. The rules are one table, with a condition and the words for
 * it. A config file or a variable is not held to it. An action takes what its row names. */
#pragma once

#include "app/cli/command.h"
#include "app/cli/options.h"

/* Return false with ERR_USAGE where an option of the command line has no effect: in the command; in
 * a run of a single image; in the action of a command. */
bool option_rules_check(const settings *s, uint32_t bit, err *e);
bool option_rules_check_single(const settings *s, err *e);
bool option_rules_check_action(const settings *s, const command *c, const command_action *a,
                               err *e);
/* Returns whether the option has an effect beside the others, apart from actions and sequences. */
bool option_has_effect(const settings *s, uint32_t bit, const option *o);
/* Returns whether a command takes an option, alone or beside others; a: its action, or NULL. */
bool option_is_for(const option *o, const command *c, const command_action *a);
/* Append the names of the actions that take an option, "make, check"; and of all that take it:
 * "apply, plan, cases of suites". */
void option_actions(const option *o, const command *c, text *to);
void option_commands(const commands *list, const option *o, text *to);

/* One row: `options` (names with blanks between) work in the commands `on` where the condition
 * holds, or, if there is none, in a sequence. */
typedef struct {
    uint32_t on;
    const char *options;
    bool (*where)(const settings *s);
    const char *otherwise; /* "without --threshold" */
} option_rule;

extern const option_rule OPTION_RULES[];
extern const int OPTION_RULE_COUNT;

/* Return what to do instead of an option (- and _ are the same) or an action that one of `users`
 * (option_users, with FOR_CONFIG and FOR_CASE for keys) took in the version before this one, or of
 * a value of the option `name`, as in "existing=in-place". NULL: there was none. */
const char *old_word(const char *word, uint32_t users);
const char *old_value(const char *name, const char *value);
