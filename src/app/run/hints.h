/* hints.h - tells in the log, once a run, what is probably not meant: a kernel with faults, image
 * and kernel that have changed places, coded values taken as light, layers that are no light, a
 * depth as a mask. The
 * module changes nothing and fails nothing. */
#ifndef APP_HINTS_H
#define APP_HINTS_H

#include "app/cli/settings.h"
#include "base/par.h"
#include "image/image.h"

/* Logs once what is wrong with the kernel, in the words of lint_glance, and the command that
 * explains it.
 */
void hints_kernel(const char *kernel, const char *faults);

/* Logs one warning with the reason and returns true, or does nothing. Both IN and KERNEL are
 * images, so nothing fails where they are exchanged; but a kernel has no layers besides colour, and
 * one that is larger than the image has its brightest tap at its centre. `img` is the image as it
 * was read. */
bool hints_image(const settings *s, const char *kernel, const image *img, par *threads);

#endif
