/* hints.h - tells in the log, once a run, what is probably not meant: a kernel with faults, image
 * and kernel that have changed places, coded values taken as light, layers that are no light, a
 * depth as a mask; and what is wrong with the light of a frame. The module changes no pixels and
 * fails nothing. */
#ifndef APP_HINTS_H
#define APP_HINTS_H

#include "app/cli/settings.h"
#include "base/par.h"
#include "bloom/report.h"
#include "image/image.h"

#include <stdatomic.h>

/* Logs once what is wrong with the kernel, in the words of lint_glance, and the command that
 * explains it.
 */
void hints_kernel(const char *kernel, const char *faults);

/* Logs one warning with the reason and returns true, or does nothing. Both IN and KERNEL are
 * images, so nothing fails where they are exchanged; but a kernel has no layers besides colour, and
 * one that is larger than the image has its brightest tap at its centre. `img` is the image as it
 * was read. */
bool hints_image(const settings *s, const char *kernel, const image *img, par *threads);

/* What a run's log has said of light. */
typedef struct {
    atomic_bool below, coded, clipped;
} hints_told;

/* Notes in the report of a frame, and once in the log: values deep below zero, linear light that
 * --input-space decoded, and lights that a PNG picture has cut off. */
void hints_light(const settings *s, const char *format, bloom_report *r, hints_told *told);

#endif
