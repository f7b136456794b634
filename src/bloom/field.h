/* field.h - an attempt with a kernel that varies over the frame: docs/inside/math.md, "Kernels that
 * vary over the frame". Each node of the field makes the glare of its own light in a window
 * (math/field.h) as a frame of an engine, whichever that is; the windows are summed in the order of
 * the nodes, and the host joins the sum with the pixels once. */
#pragma once

#include "bloom/view.h"

/* Does what attempt_run does, and fills in the outcome's floors and what is gained. */
bool field_run(outcome *to, const view *v, const light *l, const accuracy *method, err *e);
/* Writes how many windows there are, and how their points compare with one transform's. */
void field_text(char *to, size_t room, const view *v);
/* Returns how often a pixel's glare is rounded to floats on the way, at the most. */
uint32_t field_roundings(const kernel_at *size);
