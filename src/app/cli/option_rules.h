/* option_rules.h - the options that have an effect only beside others.
 *
 * An option of the command line that would do nothing in the command as it is given is refused, so
 * that nobody believes it was obeyed. The rules are one table in option_rules.c, with a condition
 * and the words for it. Only options of the command line are held to it: a config file or a
 * variable may serve several commands. The rules know settings, not the content of files. */
#ifndef APP_OPTION_RULES_H
#define APP_OPTION_RULES_H

#include "app/cli/options.h"

/* Returns false with ERR_USAGE where an option of the command line has no effect. `command` is the
 * command's bit; `action` is its first word, such as "make", or NULL. */
bool option_rules_check(const settings *s, uint32_t command, const char *action, err *e);
/* The same for the options that need a sequence, where the input is a single image. */
bool option_rules_check_single(const settings *s, err *e);

/* Returns whether the option has an effect beside the others, apart from actions and sequences. */
bool option_has_effect(const settings *s, uint32_t command, const option *o);

/* One row: `options` (names with blanks between) work in the commands `on` where `holds` is true,
 * or, if it is NULL, in the actions `actions`, or, if that is NULL too, in a sequence. */
typedef struct {
    uint32_t on;
    const char *options;
    bool (*holds)(const settings *s);
    const char *otherwise; /* "without --threshold" */
    const char *actions;   /* "make convert" */
} option_rule;

extern const option_rule OPTION_RULES[];
extern const int OPTION_RULE_COUNT;

#endif
