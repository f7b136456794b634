/* suite_run.h - the cases of a suite, run one after the other.
 *
 * A case is an image bloomed as `fftbloom apply` would, held against its references and
 * assertions. What goes wrong in it is its result, with an exit status; nothing stops the suite but
 * a failure without --keep-going. Nothing is printed here. */
#ifndef APP_SUITE_RUN_H
#define APP_SUITE_RUN_H

#include "app/suite_pictures.h"

typedef enum { CASE_PASS, CASE_WARN, CASE_FAIL, CASE_ERROR, CASE_SKIP, CASE_STATES } case_state;

typedef struct {
    const suite_case *c;
    case_state state;
    int status;                /* as an exit status */
    bool blessed;              /* the reference was written now */
    text why;                  /* sentences, a line each: what failed, or why it was skipped */
    text notes;                /* the same, of what should be known */
    double load, bloom, check; /* seconds */
    bloom_report *made;        /* NULL: it did not come to that */
    suite_match match;         /* with the nearest reference; path NULL: with none */
    text origin;               /* of that reference, as a JSON object */
    text energy;               /* assertions on it, as items of a JSON array */
    suite_pictures pictures;
} case_result;

typedef struct {
    const suite *s;
    const settings *asked; /* of the command */
    par *threads;
    engine_device *required; /* those that --require-device means, `requires` of them */
    uint32_t requires;
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

const char *case_state_word(case_state s); /* "PASS", "WARNING", "FAILURE", "ERROR", "SKIPPED" */
const char *case_state_key(case_state s);  /* "pass", "warn", "fail", "error", "skip" */
/* Of the device that it ran on, or NULL. */
const engine_device *case_device(const case_result *c);

#endif
