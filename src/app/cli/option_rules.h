/* option_rules.h - the options that have an effect only beside others.
 *
 * An option of the command line that would do nothing in the command as it is given is refused, so
 * that nobody believes it was obeyed. The rules are one table, with a condition and the words for
 * it. A config file or a variable is not held to it. An action takes what its row names. */
#ifndef APP_OPTION_RULES_H
#define APP_OPTION_RULES_H

#include "app/cli/command.h"
#include "app/cli/options.h"

/* Returns false with ERR_USAGE where an option of the command line has no effect. */
bool option_rules_check(const settings *s, uint32_t bit, err *e);
/* The same for the options that need a sequence, where the input is a single image. */
bool option_rules_check_single(const settings *s, err *e);
/* The same for the options that the action of a command does not take. */
bool option_rules_check_action(const settings *s, const command *c, const command_action *a,
                               err *e);
/* Returns whether a command takes an option, alone or beside others; a: its action, or NULL. */
bool option_is_for(const option *o, const command *c, const command_action *a);
/* Appends the names of the actions that take an option: "make, check". */
void option_actions(const option *o, const command *c, text *to);
/* Appends what takes an option: "apply, plan, cases of suites". */
void option_commands(const option *o, text *to);

/* Returns whether the option has an effect beside the others, apart from actions and sequences. */
bool option_has_effect(const settings *s, uint32_t bit, const option *o);

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

#endif
