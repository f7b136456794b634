/* suite_run.h - the cases of a suite, run one after the other.
 *
 * Only a failure without --keep-going ends a run early. The module prints nothing and knows nothing
 * of reports. */
#ifndef APP_SUITE_RUN_H
#define APP_SUITE_RUN_H

#include "app/check/suite_case.h"
#include "app/cli/cli.h"

typedef struct {
    const suite *s;
    const settings *asked;   /* of the command */
    par *threads;            /* the command's */
    engine_device *required; /* the `required_count` devices that --require-device names */
    uint32_t required_count;
    case_result *item; /* of the cases that --filter takes */
    size_t count;
    size_t states[CASE_STATES];
    double seconds;
    int status;     /* of all */
    text complaint; /* the reason why `status` is worse than that of any case; empty: it is not */
} suite_run;

/* Picks the cases. ERR_USAGE if there is none; ERR_NO_DEVICE if the machine lacks the device of
 * --require-device. The suite and the command must outlive the run. */
bool suite_run_open(suite_run *r, const suite *s, const cli *c, err *e);
/* Runs all cases and calls `each` after every one. */
void suite_run_all(suite_run *r, void (*each)(void *ctx, const case_result *c), void *ctx);
void suite_run_close(suite_run *r);

#endif
