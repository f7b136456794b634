/* command.h - the table of commands.
 *
 * To add a command: one cmd_*.c, one row in command.c. */
#ifndef APP_COMMAND_H
#define APP_COMMAND_H

#include "base/err.h"

typedef struct {
    const char *name;
    const char *usage;   /* "IN KERNEL -o OUT [options]" */
    const char *summary; /* one line */
    /* argv[0] is the command's name. Returns the exit status; on an error sets e and returns its
     * code, and main prints the sentence. */
    int (*run)(int argc, char **argv, err *e);
} command;

extern const command COMMANDS[];
extern const int COMMAND_COUNT;

/* NULL when there is none of that name. */
const command *command_find(const char *name);

int cmd_info(int argc, char **argv, err *e);

#endif
