/* device_ahead.h - starts the drivers of a run's devices before a sandbox is entered: each device
 * is opened, computes a small frame, and stays open for the run (engine_open_ahead). */
#pragma once

/* Starts the devices, but the CPU, that `want` may mean. One that fails here is told of at
 * LOG_INFO. Call it while there is one thread; cache_dir may be NULL. */
void device_ahead(const char *want, const char *cache_dir);
