/* progress.h - how far a job is, told in the way that whoever listens understands.
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
    size_t total, done, passed; /* passed: of the done ones, those that took no work */
    double start, last;
} progress;

void progress_open(progress *p, settings_progress mode, bool quiet, size_t total);
/* One more step is done; `what` names it. Steps that took no work do not count for the rate. */
void progress_step(progress *p, const char *what, bool worked);
/* Takes the bar off the line, so that other messages can be written. */
void progress_clear(progress *p);
/* The job has failed with this sentence. */
void progress_fail(progress *p, const char *sentence);

/* "0:26", "1:02:03". */
const char *progress_time(double seconds, char buf[32]);

#endif
