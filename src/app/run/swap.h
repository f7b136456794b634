/* swap.h - notices that the image and the kernel have probably changed places on the command line.
 *
 * Both are images, so nothing fails then. The look of the two tells: a kernel has no layers besides
 * colour, and its brightest tap is at its centre. Only suspicion is what this module can give. */
#ifndef APP_SWAP_H
#define APP_SWAP_H

#include "app/cli/settings.h"

/* Logs one warning that says why, or nothing. `img` is the image as it was read. */
void swap_warn(const settings *s, const image *img, par *threads);

#endif
