/* help.h - the texts of --help, from the tables of commands and options. */
#ifndef APP_HELP_H
#define APP_HELP_H

#include "app/cli/command.h"
#include "base/text.h"

void help_general(text *to);
void help_short(text *to); /* for `fftbloom` alone */
void help_command(const command *c, text *to);

/* Appends `s` broken at blanks to lines of at most `width` columns; lines after the first are
 * indented. The cursor stands at column `at`. */
void help_wrap(text *to, const char *s, int at, int indent, int width);

#endif
