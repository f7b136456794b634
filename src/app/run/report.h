/* report.h - what `apply` did to each frame, as JSON: --report FILE and --json.
 *
 * docs/report.md names every key. The report is an interface for scripts: keys are added, never
 * renamed, and `version` changes when one goes. */
#ifndef APP_REPORT_H
#define APP_REPORT_H

#include "app/cli/cli.h"

typedef enum {
    FRAME_DONE,
    FRAME_CURRENT, /* --update found nothing to do */
    FRAME_SKIPPED, /* the input is missing or the output exists, and that was to be passed over */
    FRAME_FAILED,
    FRAME_STATES
} frame_state;

typedef struct {
    const int *number; /* NULL for a lone image */
    const char *input, *output;
    frame_state state;
    const char *why;          /* of a frame that is not done; may be NULL */
    double load, bloom, save; /* seconds */
    const bloom_report
        *made; /* of a frame that was begun; one that failed may have stopped early */
} frame_result;

typedef struct {
    text *frame; /* of each, in the order of the job; empty: it was not looked at */
    size_t frames;
    size_t count[FRAME_STATES];
    double start;
} report;

bool report_open(report *r, size_t frames, err *e);
/* Frames may come in any order. */
void report_add(report *r, size_t index, const frame_result *f);
/* The whole report. */
void report_text(const report *r, const cli *c, int status, text *to);
/* Atomically. */
bool report_write(const report *r, const cli *c, int status, const char *path, err *e);
void report_close(report *r);

#endif
