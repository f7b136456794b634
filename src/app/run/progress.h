/* progress.h - reports how far a job is, in the form that its reader understands.
 *
 *   auto      a bar on a terminal, else a line every few seconds; nothing for a single step
 *   deadline  "Progress: 42%" on stdout, which Deadline's stdout handlers read
 *   openjd    "openjd_progress: 42.0" and "openjd_status: ..." on stdout
 *   json      one object a line on stderr
 *   none      nothing
 *
 * Not for several threads at once. */
#ifndef APP_PROGRESS_H
#define APP_PROGRESS_H

#include "app/cli/settings.h"

typedef struct {
    settings_progress mode;
    bool quiet, terminal, drawn;
    size_t total, done, passed; /* passed: steps among `done` that took no work */
    double start, last;
} progress;

void progress_open(progress *p, settings_progress mode, bool quiet, size_t total);
/* Counts one more step, named `what`. Steps that took no work do not count for the rate. */
void progress_step(progress *p, const char *what, bool worked);
/* Removes the bar from its line, so that other messages can be written. */
void progress_clear(progress *p);
/* Tells the scheduler that the job has failed, with this sentence. */
void progress_fail(progress *p, const char *sentence);

#endif
