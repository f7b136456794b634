/* dry_run.h - `apply --dry-run`: lists the frames that a run would make and those that it would
 * pass over, with the plan of the first. Reads that frame and the kernel; writes nothing. */
#ifndef APP_DRY_RUN_H
#define APP_DRY_RUN_H

#include "app/run/frame.h"
#include "app/run/job.h"

/* Adds the list, as text or as JSON, to `to`. ERR_NO_INPUT where an input is not there and
 * --missing does not skip it; the list is whole then as well. */
bool dry_run(const frame_maker *m, const job *j, text *to, err *e);

#endif
