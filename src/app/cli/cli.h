/* cli.h - the command line of one command, read by the table of options.
 *
 *   --name value   --name=value   --flag   --no-flag   -o value   -ovalue   --   (ends options)
 *
 * A name may be written with one dash, too, as idiff's users do. Flags win over FFTBLOOM_*
 * variables, these over --config, this over the defaults. The reader refuses what no command takes
 * and what has no effect in this one; it does not know what the options mean. */
#ifndef APP_CLI_H
#define APP_CLI_H

#include "app/cli/command.h"
#include "app/cli/settings.h"

typedef struct {
    const command *cmd;
    settings s;
    char **word; /* the arguments that stand for no option, in order; they point into argv */
    int words;
    err *e; /* of cli_open */
} cli;

/* Reads and checks everything and sets the log level. argv[0] is the command's name, or any other
 * word where apply is meant. Returns false when the command is over, with e->code as its status:
 * an error, or 0 after --help or --print-config, which are answered here. Call cli_close in both
 * cases. argv and e must outlive the cli. */
bool cli_open(cli *c, int argc, char **argv, err *e);

/* Turns an ERR_CONFIG of a later check into ERR_USAGE where its sentence names an option that the
 * command line has set. cli_close does it, too; reports that hold the exit status need it before.
 */
void cli_blame(const cli *c);
void cli_close(cli *c);

#endif
