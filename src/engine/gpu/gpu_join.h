/* gpu_join.h - a join on its way to the shaders, and what they have measured on its way back.
 *
 * shaders/spread.glsl and shaders/join.glsl have the other side of both. */
#pragma once

#include "engine/engine.h"

/* Returns the bytes of the numbers of a join, and fills them. */
uint64_t gpu_join_bytes(uint32_t channels);
void gpu_join_fill(void *to, const join *j, const plan *p);

/* Adds up what the workgroups of a channel's last pass have measured. */
join_stats gpu_join_stats(const void *totals, const join *j, uint32_t channel, const plan *p);
