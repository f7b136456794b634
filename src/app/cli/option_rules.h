/* option_rules.h - the options that have an effect only beside others, and the words that people
 * bring.
 *
 * An option of the command line that would do nothing in the command as it is given is refused, so
 * that nobody believes it was obeyed. What an option needs says its row; a table has a condition
 * for each need, and the words for it. A config file or a variable is not held to it. An action
 * takes what its row names. */
#pragma once

#include "app/cli/command.h"
#include "app/cli/options.h"

/* Return false with ERR_USAGE where an option of the command line has no effect: in the command; in
 * a run of a single image; in the action of a command. */
bool option_rules_check(const settings *s, uint32_t bit, err *e);
bool option_rules_check_single(const settings *s, err *e);
bool option_rules_check_action(const settings *s, const command *c, const command_action *a,
                               err *e);
/* Returns why a key of a config file can have no effect, whatever the command line says, since
 * another key, or the preset of one, decides that: "without --threshold". NULL: the key can have
 * one. */
const char *option_idle(const settings *s, const settings *presets, const option *o);
/* Warns of each such key of the config file. */
void option_rules_warn(const settings *s, const settings *presets);
/* Returns whether the option has an effect beside the others, apart from actions and sequences. */
bool option_has_effect(const settings *s, uint32_t bit, const option *o);
/* Returns whether a command takes an option, alone or beside others; a: its action, or NULL. */
bool option_is_for(const option *o, const command *c, const command_action *a);
/* Append the names of the actions that take an option, "make, check"; and of all that take it:
 * "apply, plan, cases of suites". */
void option_actions(const option *o, const command *c, text *to);
void option_commands(const commands *list, const option *o, text *to);

/* What an option needs in the commands `on`. Whether it is met, is_met says; that of sequences is
 * asked where the files are known (option_rules_check_single). */
typedef struct {
    uint32_t on;
    const char *otherwise; /* "without --threshold" */
    const char *by; /* the option that decides it; NULL: the command, its files or its flags do */
} option_rule;

extern const option_rule OPTION_RULES[NEEDS];

/* Adds what to do instead of a word that people bring from other programs: an option (- and _ are
 * the same), a key or an action that they give to one of `users` (option_users, with FOR_CONFIG and
 * FOR_CASE for keys). Returns false, and adds nothing, if the word is not known. */
bool option_foreign(const char *word, uint32_t users, text *to);
