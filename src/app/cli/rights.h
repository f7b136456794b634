/* rights.h - the sandbox of a command: which folders its run may read and write.
 *
 * A command that takes --sandbox gives up its rights before it reads any image. It keeps those on
 * the folders of its inputs (to read), of its outputs and the cache (to write), and on the
 * system's. Where a GPU may do the work there is no sandbox, since drivers start helpers; `on`
 * starts them first. For `check` only seccomp is in force (docs/security.md). */
#ifndef APP_RIGHTS_H
#define APP_RIGHTS_H

#include "app/cli/cli.h"

/* Enters the sandbox, unless the settings or the device forbid it, and says at LOG_INFO which.
 * *bound: files outside of those folders are out of reach. Returns false where the settings insist
 * on a sandbox and there is none. */
bool rights_give_up(const cli *c, bool *bound, err *e);

#endif
