/* cmd_apply.c - `fftbloom apply`, also `fftbloom IN KERNEL -o OUT`. */
#include "app/cli.h"

int cmd_apply(int argc, char **argv, err *e) {
    cli c;
    if (cli_open(&c, argc, argv, e)) err_set(e, ERR_NO_DEVICE, "this build has no engine");
    cli_close(&c);
    return (int)e->code;
}
