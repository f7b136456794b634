/* device_ahead.h - starts the drivers of a run's devices before a sandbox is entered.
 *
 * A driver may start helpers, open files and load compilers when it is first used. So each device
 * is opened and computes a small frame, and stays open for the run (engine_open_ahead). */
#ifndef DEVICE_DEVICE_AHEAD_H
#define DEVICE_DEVICE_AHEAD_H

/* Starts the devices, but the CPU, that `want` may mean (device_request.want). A device that fails
 * here is told of at LOG_INFO, and fails later, too. Call it while there is one thread; cache_dir
 * may be NULL. */
void device_ahead(const char *want, const char *cache_dir);

#endif
