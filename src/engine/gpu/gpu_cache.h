/* gpu_cache.h - the pipelines of a device, as the driver has compiled them: kept in memory for all
 * that share the device, and on disk. A cache that cannot be read or written costs time alone. */
#pragma once

#include "engine/gpu/gpu_device.h"

/* Gives a device that was opened just now its cache, with what is on disk in `dir`. */
void gpu_cache_open(const gpu_device *g, const char *dir);
/* Returns the cache; NULL: the device has none. Several threads may use it. */
VkPipelineCache gpu_cache(const gpu_device *g);
/* Writes the cache to disk if it has grown. Several threads may call it. */
void gpu_cache_keep(const gpu_device *g);
