/* cmd_help.c - `fftbloom help [COMMAND]`. */
#include "app/cli/cli.h"
#include "app/cli/help.h"

#include <stdio.h>

int cmd_help(int argc, char **argv, err *e) {
    cli c;
    text out = {0};
    if (cli_open(&c, argc, argv, e)) {
        const command *about = c.words ? command_find(c.word[0]) : NULL;
        if (c.words && !about) {
            const char *near = command_nearest(c.word[0]);
            err_set(e, ERR_USAGE, "there is no command '%s'%s%s%s", c.word[0],
                    near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
        } else if (about) {
            help_command(about, &out);
        } else {
            help_general(&out);
        }
    }
    if (out.s) fputs(out.s, stdout);
    text_free(&out);
    cli_close(&c);
    return (int)e->code;
}
