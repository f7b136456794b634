/* suite_run.h - the cases of a suite, run one after the other and judged.
 *
 * An image is bloomed as `fftbloom apply` would do it, and compared with its references and
 * assertions. Whatever goes wrong becomes the case's result, with an exit status. Only a failure
 * without --keep-going ends a run early. Reports are not made here. */
#pragma once

#include "app/check/case_match.h"
#include "app/check/suite.h"
#include "app/run/run_choice.h"
#include "bloom/report.h"

typedef enum { CASE_PASS, CASE_WARN, CASE_FAIL, CASE_ERROR, CASE_SKIP, CASE_STATES } case_state;

typedef struct {
    const suite_case *c;
    run_choice run;
    case_state state;
    int status;   /* as an exit status */
    bool blessed; /* the reference was written now */
    text why;     /* sentences, a clean line each: the failures, or why it is skipped */
    text notes;   /* the same: human-readable notes */
    double load, bloom, check; /* seconds */
    bloom_report *made;        /* NULL: the run ended before */
    suite_match match;         /* with the nearest reference; path NULL: with none. Its images are
                                * gone when the case is over */
    text origin;               /* of that reference, as a JSON object */
    text energy;               /* the assertions on it, as a JSON array; empty: there are none */
    suite_pictures pictures;   /* only with --html */
} case_result;

extern const char *const CASE_WORD[CASE_STATES], *const CASE_KEY[CASE_STATES]; /* "PASS", "pass" */
/* Returns the device that it ran on, or NULL. */
const engine_device *case_device(const case_result *c);

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

/* The command: runs a suite and tells what came. */
int cmd_check(const cli *c, text *out, err *e);
