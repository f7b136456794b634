/* cpu_join.h - the last pass of the CPU engine: a row of what the transform made becomes a row of
 * the result, by engine/join.h, and is measured, while it is in the cache. What is measured does
 * not depend on the number of threads. */
#pragma once

#include "engine/engine.h"

/* One plane. The memory is the engine's. */
typedef struct {
    const plan *p;
    const engine_frame *f;
    uint32_t channel;
    join_stats *row; /* of each row */
    char *scratch;   /* cpu_join_room bytes of each worker */
} cpu_join;

/* Returns a worker's bytes, a multiple of 64. */
size_t cpu_join_room(const plan *p);
/* Makes row y. made: what the transform made of it, times the gain. */
void cpu_join_row(const cpu_join *f, uint32_t y, int worker, const void *made);
/* Returns what the plane has turned out to be. */
join_stats cpu_join_stats(const cpu_join *f);
