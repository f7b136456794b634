/* kernel_shelf.h - makes the kernels of shipped recipes when they are used first, and keeps them in
 * the cache folder.
 *
 *   FOLDER/kernels/<name>-<hash of the recipe, the size and the program's version>.exr
 *
 * The same recipe makes the same bytes on every machine, so it does not matter who has made an
 * entry. $FFTBLOOM_CACHE_RO is read, too. */
#ifndef APP_KERNEL_SHELF_H
#define APP_KERNEL_SHELF_H

#include "app/cli/settings.h"

/* Writes the path of the kernel that a recipe makes at `scale` times its size into `to`, which may
 * be the recipe's own. Makes the kernel unless it is there. Fails with ERR_CANT_CREATE where there
 * is no cache folder to keep it in. */
enum { SHELF_PATH = 4200 };
bool kernel_shelf_path(char to[SHELF_PATH], const char *recipe, double scale, const settings *s,
                       err *e);

#endif
