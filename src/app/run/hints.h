/* hints.h - what the log says of a kernel, once a run, since it may not be what was meant. */
#pragma once

#include "app/run/run_choice.h"
#include "bloom/bloom.h"

/* Tells what is wrong with the kernel, in the words of lint_glance. */
void hints_faults(const char *kernel, const char *faults);
/* Tells the same; and a --kernel-scale that may be a percentage. A kernel larger than the image and
 * far off centre may be the image. */
void hints_kernel(double scale, const bloom *b, const char *kernel, const image_part *in);
