/* gpu_fold.h - takes out of SPIR-V the branches that specialization constants decide.
 *
 * The shaders choose radices and borders by `if (CONSTANT == ...)`. Drivers know the constants, but
 * some inline every function before they look at branches: with fifteen radices in four stages
 * that makes thirty times the code, and seconds where milliseconds would do (docs/notebook.md).
 * So conditional branches on specialization constants, and on expressions of them, become plain
 * branches here; what is no longer reached gpu_drop takes out. The constants themselves
 * stay, and are given to the driver as usual. */
#ifndef ENGINE_GPU_FOLD_H
#define ENGINE_GPU_FOLD_H

#include <stddef.h>
#include <stdint.h>

/* Folds `words` in place for value[i] of constant id[i]. Leaves alone what it does not understand:
 * the result is always as valid as what came in. Returns the number of branches folded. */
uint32_t gpu_fold(uint32_t *words, size_t count, const uint32_t *id, const uint32_t *value,
                  uint32_t constants);

/* Drops from `words` in place what is not reached from the entry points: functions and blocks, with
 * the names and decorations of their content, and nops. After folding, most butterflies of a shader
 * are called from blocks that are not reached; some drivers find that out only after they have
 * translated every function, half of the time that they need to start. Returns the number of words
 * that are left. Leaves alone what does not look like a module. */
size_t gpu_drop(uint32_t *words, size_t count);

#endif
