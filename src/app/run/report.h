/* report.h - writes down as JSON what `apply` did to each frame: --report FILE and --json; and says
 * devices, plans, times and the checks of a result, in words and in JSON, for all commands. Keys
 * (docs/report.md) are added, never renamed, and `version` changes when one goes. */
#pragma once

#include "app/run/run_choice.h"
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
    double pixels;            /* of its first part's data window, as device_request counts them */
    double load, bloom, save; /* seconds */
    double kernel_scale;      /* where it follows from the image; 0: it does not */
    /* NULL where the frame was not begun; of one that failed what was known by then. */
    const bloom_report *made;
} frame_result;

typedef struct {
    const run_choice *run;
    picture_look look;
    text *frame; /* JSON of each, in the order of the job; empty where it was not looked at */
    size_t frames;
    size_t count[FRAME_STATES];
    size_t missing;                   /* of those that failed: the input is not there */
    text devices;                     /* the names of those that made frames: "CPU" */
    engine_device by[ENGINE_DEVICES]; /* those that made frames, each name once */
    int makers;                       /* their number */
    double work; /* what these frames are in frames of 1920 x 1080, by their pixels, */
    bool fields; /* times the points of fields, of which the kernel is one */
    /* With --keep-going: the worst error of a frame, but for missing inputs. */
    err failure;
    double start;
    bool brief; /* nobody will read it: counts alone are kept, since a long run has many frames */
} report;

bool report_open(report *r, const run_choice *run, const picture_look *look, size_t frames, err *e);
/* Adds one frame, in any order. Not for several threads at once. */
void report_add(report *r, size_t index, const frame_result *f);
/* Add the members that say which frame it is, and what became of it; and "done", "current",
 * "skipped" and "failed". */
void report_frame_json(json_out *j, const frame_result *f, const char *state);
void report_counts_json(json_out *j, const size_t count[FRAME_STATES]);
/* Add, or write atomically into the file of the run, the whole report with the command's error. `r`
 * may have no frames. */
void report_text(const report *r, const cli *c, int status, text *to);
bool report_write(const report *r, const cli *c, int status, err *e);
void report_close(report *r);

/* --- members --- */

/* Add one member each. `index` is the device's in the list, or -1. */
void describe_device(json_out *j, const char *key, const engine_device *d, int index);
void describe_plan_json(json_out *j, const char *key, const plan *p);
void describe_times_json(json_out *j, const char *key, const engine_times *t, const plan *p);
/* Say how an image is cut into tiles: the member "tiles"; a line without its end. */
void describe_tiles_json(json_out *j, const tiling *t);
void describe_tiles(const tiling *t, text *to);
/* Says what of the host's memory an image takes: the member "memory". */
void describe_memory_json(json_out *j, const mem_plan *m);
/* Add the members on an image's result: bad pixels, the promise and how it was kept, the findings
 * of --verify, the energy ledger. Leaves out those that there is nothing to say about. */
void describe_result_json(json_out *j, const bloom_report *r);
/* Adds the same, after the device, the times and the plan of an image that was bloomed. */
void describe_made_json(json_out *j, const bloom_report *r);
/* Adds the member "notes": `lines`, and those of the report; both may be NULL. */
void describe_notes_json(json_out *j, const char *lines, const bloom_report *r);
/* Add one line for logs: "1920 x 1080 in 2048 x 1215, y first, float32"; "verified 2000 pixels". */
void describe_plan_line(const plan *p, text *to);
void describe_verified(const bloom_report *r, text *to);
