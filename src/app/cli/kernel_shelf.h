/* kernel_shelf.h - the kernels of shipped recipes, as the command line uses them: kept in the cache
 * folder of the settings, or found in $FFTBLOOM_CACHE_RO (kernel/make/shelf.h). */
#ifndef APP_KERNEL_SHELF_H
#define APP_KERNEL_SHELF_H

#include "app/cli/settings.h"
#include "kernel/make/shelf.h"

/* Writes the path of the kernel that a recipe makes at `scale` times its size into `to`, which may
 * be the recipe's own. Makes the kernel unless it is there, and says so while it does. */
bool kernel_shelf_path(char to[SHELF_PATH], const char *recipe, double scale, const settings *s,
                       err *e);

#endif
