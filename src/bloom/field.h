/* field.h - an attempt with a kernel that varies over the frame: docs/inside/math.md, "Kernels that
 * vary over the frame". Each node of the field makes the glare of its own light in a window
 * (math/field.h) as a frame of an engine, whichever that is; the windows are summed in the order of
 * the nodes, and the host joins the sum with the pixels once. */
#pragma once

#include "bloom/view.h"

/* Does what attempt_run does, and fills in the outcome's floors and what is gained. */
bool field_run(outcome *to, const view *v, const light *l, const accuracy *method, err *e);
/* Returns how many points all windows have, in those of one kernel's transform. note: receives this
 * in words, and how many windows there are; or NULL. */
double field_points(const view *v, char *note, size_t room);
/* Returns how often a pixel's glare is rounded to floats on the way, at the most. */
uint32_t field_roundings(const kernel_at *size);
