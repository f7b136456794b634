/* suite_run.h - the cases of a suite, run one after the other.
 *
 * Nothing stops it but a failure without --keep-going. Nothing is printed here. */
#ifndef APP_SUITE_RUN_H
#define APP_SUITE_RUN_H

#include "app/check/suite_case.h"

typedef struct {
    const suite *s;
    const settings *asked; /* of the command */
    par *threads;
    engine_device *required; /* those that --require-device means, `required_count` of them */
    uint32_t required_count;
    case_result *item; /* of the cases that --filter takes */
    size_t count;
    size_t states[CASE_STATES];
    double seconds;
    int status;     /* of all */
    text complaint; /* why `status` is worse than any case's; NULL: it is not */
} suite_run;

/* Picks the cases; ERR_USAGE when there is none. ERR_NO_DEVICE when --require-device names one that
 * is not there. The suite and the settings must outlive the run. */
bool suite_run_open(suite_run *r, const suite *s, const settings *asked, err *e);
/* Runs all; `each` is called after every case. */
void suite_run_all(suite_run *r, void (*each)(void *ctx, const case_result *c), void *ctx);
void suite_run_close(suite_run *r);

#endif
