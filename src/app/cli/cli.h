/* cli.h - the command line of one command, read by the table of options.
 *
 *   --name value   --name=value   --flag   --no-flag   -o value   -ovalue   --   (ends options)
 *
 * A name may be written with one dash, too, as idiff's users do. Flags win over FFTBLOOM_*
 * variables, these over --config, this over the defaults. */
#ifndef APP_CLI_H
#define APP_CLI_H

#include "app/cli/command.h"
#include "app/cli/settings.h"

typedef struct {
    const command *cmd;
    settings s;
    char **word; /* arguments that are no flags and stand for no option */
    int words;
} cli;

/* Reads everything, checks what the command needs, sets the log level. False: the command is
 * over, with e->code as its status - an error, or 0 after --help or --print-config, which are
 * answered here. Call cli_close in both cases. argv must outlive the cli. */
bool cli_open(cli *c, int argc, char **argv, err *e);
void cli_close(cli *c);

#endif
