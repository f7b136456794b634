/* help.h - help of a command or an action, as --help shows it; and of a call without arguments. */
#ifndef APP_HELP_H
#define APP_HELP_H

#include "app/cli/command.h"

void help_write(text *to, const command *c, const command_action *a);
void help_short(text *to);

#endif
