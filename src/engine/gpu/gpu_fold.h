/* gpu_fold.h - takes out of a shader what its specialization constants rule out.
 *
 * The shaders choose radices and borders by `if (CONSTANT == ...)`. Some drivers inline every
 * function before they look at branches: with fifteen radices in four stages that makes thirty
 * times the code, and seconds where milliseconds would do (docs/inside/notebook.md). So the
 * branches are decided here, in the SPIR-V, and what is no longer reached is taken out. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Makes conditional branches on specialization constants, and on expressions of them, plain
 * branches, in place: value[i] is given for constant id[i]. Leaves alone what it does not
 * understand. Returns the number of branches folded. */
uint32_t gpu_fold(uint32_t *words, size_t count, const uint32_t *id, const uint32_t *value,
                  uint32_t constants);

/* Drops functions and blocks that are not reached from the entry points, with the names and
 * decorations of what they define, and nops, in place: some drivers translate every function before
 * they find that out. Returns the number of words that are left. Leaves alone what is no module. */
size_t gpu_drop(uint32_t *words, size_t count);

/* Copies a shader with the words that ask for a device's own conversions of halfs to round to the
 * nearest, of two the even one, and to keep subnormal numbers. `to` has GPU_HALF_MODES more words
 * than `words`. Returns their number. */
enum { GPU_HALF_MODES = 19 };
size_t gpu_add_half_modes(uint32_t *to, const uint32_t *words, size_t count);
