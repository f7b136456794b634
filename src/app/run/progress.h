/* progress.h - reports how far a job is, in the form that its reader understands.
 *
 *   auto      a bar on a terminal, else a line every few seconds; nothing for a single step
 *   deadline  "Progress: 42%" on stdout, which Deadline's stdout handlers read
 *   openjd    "openjd_progress: 42.0" and "openjd_status: ..." on stdout
 *   json      one object a line on stderr, or with json:N on descriptor N
 *   none      nothing
 *
 * Where a signal ends the job, the last words on stderr (log.h) say how far it was. Not for several
 * threads at once. */
#pragma once

#include "app/cli/settings.h"

typedef struct {
    settings_progress mode;
    int fd;                     /* for JSON */
    bool quiet, terminal, seen; /* seen: a bar or a line was written */
    size_t total, done;
    size_t passed, failed;   /* steps among `done` that took no work, and that failed */
    const char *interrupted; /* how to continue an interrupted job; NULL: it says nothing */
    double start, last;
} progress;

typedef struct {
    const char *what;  /* the name of the step */
    const char *state; /* a word for JSON */
    const int *frame;  /* its number, or NULL */
    bool worked;       /* counts for the rate */
    bool failed;
} progress_event;

/* Fails with ERR_USAGE where the descriptor of --progress json:N is not open. */
bool progress_open(progress *p, const settings *s, size_t total, err *e);
/* Prepares "interrupted: 1 of 24 written" and these words, which outlive p, for a signal. */
void progress_promise(progress *p, const char *how_it_goes_on);
void progress_step(progress *p, const progress_event *event);
/* Removes the bar and what was prepared for a signal. */
void progress_close(progress *p);
/* Tells the scheduler that the job has failed, with this sentence. */
void progress_fail(const progress *p, const char *sentence);
