/* suite_case.h - one case of a suite, run and judged.
 *
 * An image is bloomed as `fftbloom apply` would do it, and compared with its references and
 * assertions. Whatever goes wrong becomes the case's result, with an exit status, and never an
 * error of the caller. The module knows nothing of reports. */
#ifndef APP_SUITE_CASE_H
#define APP_SUITE_CASE_H

#include "app/check/suite.h"
#include "app/check/suite_match.h"

typedef enum { CASE_PASS, CASE_WARN, CASE_FAIL, CASE_ERROR, CASE_SKIP, CASE_STATES } case_state;

typedef struct {
    const suite_case *c;
    case_state state;
    int status;   /* as an exit status */
    bool blessed; /* the reference was written now */
    text why;     /* sentences, a clean line each: the failures, or why it is skipped */
    text notes;   /* the same: what a person should know */
    double load, bloom, check; /* seconds */
    bloom_report *made;        /* NULL: the run ended before */
    suite_match match;         /* with the nearest reference; path NULL: with none. Its images are
                                * gone when suite_case_run returns */
    text origin;               /* of that reference, as a JSON object */
    text energy;               /* the assertions on it, as a JSON array; empty: there are none */
    suite_pictures pictures;
} case_result;

/* Runs the case c->c; all other fields are zero before. --bless and --html are those of `asked`. */
void suite_case_run(case_result *c, const settings *asked, par *threads);
/* Makes it a case that was not run. */
void suite_case_skip(case_result *c, const char *why);
void suite_case_free(case_result *c);

const char *case_state_word(case_state s); /* "PASS", "WARNING", "FAILURE", "ERROR", "SKIPPED" */
const char *case_state_key(case_state s);  /* "pass", "warn", "fail", "error", "skip" */
/* Returns the device that it ran on, or NULL. */
const engine_device *case_device(const case_result *c);

#endif
