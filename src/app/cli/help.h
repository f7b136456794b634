/* help.h - the texts of --help and of `fftbloom help` and `version`, made of the tables of commands
 * and options. It knows the width of a terminal, and no command by name but apply. */
#ifndef APP_HELP_H
#define APP_HELP_H

#include "app/cli/command.h"

/* Append the short help for `fftbloom` alone, and the help of a command or, if `a` is not NULL, of
 * one of its actions. */
void help_short(text *to);
void help_command(const command *c, const command_action *a, text *to);
/* Returns the length of the first sentence. */
size_t help_summary(const char *sentences);

/* Appends `s`, broken at blanks into lines of at most `width` columns. The first line begins at
 * column `at`, all others at column `indent`. */
void help_wrap(text *to, const char *s, int at, int indent, int width);

#endif
