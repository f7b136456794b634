/* help.h - the texts of --help and of `fftbloom help` and `version`: pages (page.h) as words on a
 * screen. It knows the width of a terminal, and no command by name but apply. */
#ifndef APP_HELP_H
#define APP_HELP_H

#include "app/cli/command.h"

/* Append the short help for `fftbloom` alone, and the help of a command or, if `a` is not NULL, of
 * one of its actions. */
void help_short(text *to);
void help_command(const command *c, const command_action *a, text *to);

#endif
