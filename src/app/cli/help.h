/* help.h - the texts of --help, made of the tables of commands and options. It knows the width of
 * a terminal, and no command by name but apply. */
#ifndef APP_HELP_H
#define APP_HELP_H

#include "app/cli/command.h"
#include "base/text.h"

/* Append the help of the program, its short form for `fftbloom` alone, and the help of a command.
 */
void help_general(text *to);
void help_short(text *to);
void help_command(const command *c, text *to);

/* Appends `s`, broken at blanks into lines of at most `width` columns. The first line begins at
 * column `at`, all others at column `indent`. */
void help_wrap(text *to, const char *s, int at, int indent, int width);

#endif
