/* pipe.h - runs whose images come through standard input or go to standard output. Frames are made
 * one after the other, each by all threads; the kernel and its spectrum stay ready between them.
 * Nothing of an image is written before all of it is there. */
#ifndef APP_PIPE_H
#define APP_PIPE_H

#include "app/cli/cli.h"

/* Returns whether the input or the output is a stream. */
bool pipe_is(const settings *s);
/* Makes all frames. Refuses options that have no effect on streams. */
bool pipe_run(cli *c, err *e);

#endif
