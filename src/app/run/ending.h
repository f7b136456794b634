/* ending.h - tells people how a run ended, in one line on stderr.
 *
 *   24 frames in 12.1 s (2.0/s) -> b.1001-1024.exr, CPU; 2 failed
 *   b.exr: 0.51 s, CPU
 *
 * The line is for people: schedulers and scripts have --progress, --report and --json. The module
 * does not decide what an ending means for the exit status. */
#ifndef APP_ENDING_H
#define APP_ENDING_H

#include "app/run/job.h"
#include "app/run/progress.h"
#include "app/run/report.h"

/* Returns true if a closing line may be written: neither --quiet nor --json is given, and the
 * progress is not in a form that programs read. */
bool ending_is_told(const settings *s);
/* Writes the line: of an image on a terminal; of a sequence after failures always, else where a
 * person has seen the progress. */
void ending_say(const job *j, const report *r, const progress *p);

#endif
