/* suite_case.h - one case of a suite, run and judged.
 *
 * An image is bloomed as `fftbloom apply` would, and held against its references and assertions.
 * What goes wrong is the result, with an exit status, and never an error of the caller's. */
#ifndef APP_SUITE_CASE_H
#define APP_SUITE_CASE_H

#include "app/check/suite_pictures.h"

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

/* c->c says which; all else of it is zero before. --bless and --html are of `asked`. */
void suite_case_run(case_result *c, const settings *asked, par *threads);
void suite_case_skip(case_result *c, const char *why);
void suite_case_free(case_result *c);

const char *case_state_word(case_state s); /* "PASS", "WARNING", "FAILURE", "ERROR", "SKIPPED" */
const char *case_state_key(case_state s);  /* "pass", "warn", "fail", "error", "skip" */
/* Of the device that it ran on, or NULL. */
const engine_device *case_device(const case_result *c);

#endif
