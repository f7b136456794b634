/* gpu_drop.h - takes out of SPIR-V what is never reached: functions that nobody calls, and blocks.
 *
 * After gpu_fold most butterflies of a shader are called from blocks that are not reached. Drivers
 * find that out, too, but some only after they have translated every function: half of the time
 * that a software driver needs to start. */
#ifndef ENGINE_GPU_DROP_H
#define ENGINE_GPU_DROP_H

#include <stddef.h>
#include <stdint.h>

/* Drops from `words` in place what is not reached from the entry points: functions and blocks, with
 * the names and decorations of what is in them, and nops. Returns the words that are left. Leaves
 * alone what does not look like a module. */
size_t gpu_drop(uint32_t *words, size_t count);

#endif
