/* hints.h - tells in the log, once a run, and by the numbers that the run has, what is probably not
 * meant: a kernel with faults, and image and kernel that have changed places. */
#ifndef APP_HINTS_H
#define APP_HINTS_H

#include "app/cli/settings.h"
#include "bloom/bloom.h"
#include "image/image.h"

/* Logs what is wrong with the kernel, in the words of lint_glance; and a --kernel-scale that may be
 * a percentage. A kernel larger than the image and far off centre may be the image. */
void hints_kernel(const settings *s, const bloom *b, const char *kernel, const image_part *in);
/* Logs the faults alone. */
void hints_faults(const char *kernel, const char *faults);

#endif
