/* kernel_shelf.h - the shelf of made kernels (kernel/make/shelf.h) for the command line: in the
 * cache folder that the settings name, and with a word on a terminal while one is made.
 * $FFTBLOOM_CACHE_RO is read, too. */
#ifndef APP_KERNEL_SHELF_H
#define APP_KERNEL_SHELF_H

#include "app/cli/settings.h"
#include "kernel/make/shelf.h"

/* Writes the path of what is made (shelf_want) into `to`. Makes it unless it is there. */
bool kernel_shelf_path(char to[SHELF_PATH], const shelf_want *w, const settings *s, err *e);

#endif
