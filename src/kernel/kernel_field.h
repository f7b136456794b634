/* kernel_field.h - reads a kernel that varies over the frame: a kernel for each node of a grid
 * (math/field.h). In an EXR file each node is a part, whose attribute says where it is:
 *
 *   fftbloom.node    "0.5 1"    the middle of the lower edge: x and y, in shares of the display
 *                               window
 *                  "everywhere 0.3"   a common kernel, which spreads 0.3 of the light of all
 *                               pixels; the others spread the rest
 *
 * A field whose nodes are all alike is one kernel, and is read as that. */
#pragma once

#include "kernel/kernel_source.h"

/* Do what kernel_source_load and kernel_source_image do, and take fields, too. */
bool kernel_field_load(kernel_source *k, const char *path, par *threads, err *e);
bool kernel_field_image(kernel_source *k, const char *name, const image *img, err *e);
/* Makes a field of kernels in memory, one for each node of the grid, which stay as they are; `name`
 * is for messages. */
bool kernel_field_of(kernel_source *k, const char *name, const field_grid *g,
                     const kernel_source *const node[], err *e);
