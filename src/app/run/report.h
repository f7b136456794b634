/* report.h - writes down as JSON what `apply` did to each frame: --report FILE and --json. Keys
 * (docs/report.md) are added, never renamed, and `version` changes when one goes. */
#ifndef APP_REPORT_H
#define APP_REPORT_H

#include "app/cli/cli.h"
#include "base/json_out.h"
#include "bloom/report.h"

typedef enum {
    FRAME_DONE,
    FRAME_CURRENT, /* --existing update found nothing to do */
    FRAME_SKIPPED, /* an input that is missing or an output that exists, as the options ask */
    FRAME_FAILED,
    FRAME_STATES
} frame_state;

extern const char *const REPORT_STATE[FRAME_STATES]; /* "done", "current", ... */

typedef struct {
    const int *number; /* NULL for a lone image */
    const char *view;  /* NULL: there are none */
    const char *input, *output;
    frame_state state;
    const char *why;          /* why it is not done; may be NULL */
    bool missing;             /* it failed because the input is not there */
    bool alone;               /* no other frame is under way, so it may take all memory */
    bool hopeless;            /* it failed for want of what all frames need, the kernel */
    uint32_t size[2];         /* of the frame, its display window; zeros: unknown */
    double load, bloom, save; /* seconds */
    /* NULL where the frame was not begun; of one that failed what was known by then. */
    const bloom_report *made;
} frame_result;

typedef struct {
    text *frame; /* JSON of each, in the order of the job; empty where it was not looked at */
    size_t frames;
    size_t count[FRAME_STATES];
    size_t missing; /* of those that failed: the input is not there */
    text devices;   /* the names of those that made frames: "CPU" */
    /* With --keep-going: the worst error of a frame, but for missing inputs. */
    err failure;
    double start;
    bool brief; /* nobody will read it: counts alone are kept, since a long run has many frames */
} report;

bool report_open(report *r, size_t frames, err *e);
/* Adds one frame, in any order. Not for several threads at once. */
void report_add(report *r, size_t index, const frame_result *f);
/* Adds the members that say which frame it is, and what became of it. */
void report_frame_json(json_out *j, const frame_result *f, const char *state);
/* Adds the members "done", "current", "skipped" and "failed". */
void report_counts_json(json_out *j, const size_t count[FRAME_STATES]);
/* Adds the whole report, with the error of the command. `r` may have no frames. */
void report_text(const report *r, const cli *c, int status, text *to);
/* Writes the whole report, atomically. */
bool report_write(const report *r, const cli *c, int status, const char *path, err *e);
void report_close(report *r);

#endif
