/* gpu_time.h - how long repeated commands take on the device, by its own time stamps.
 *
 * One command buffer repeats the commands without a stamp between them, which gives the time of a
 * whole repetition; a second one has a stamp after each step, which gives the steps, each with
 * about a microsecond of stamping. */
#ifndef ENGINE_GPU_TIME_H
#define ENGINE_GPU_TIME_H

#include "engine/gpu/gpu_device.h"

typedef struct {
    uint32_t count; /* repetitions */
    uint32_t steps; /* of a repetition: so many stamps it makes, if `stamps` is there */
    void (*record)(void *ctx, VkCommandBuffer c, VkQueryPool stamps, uint32_t *next);
    void *ctx;
} gpu_timing;

/* Seconds per repetition, and of each step. */
bool gpu_time(const gpu_device *g, const gpu_timing *t, double *all, double *step, err *e);

/* The same for copies on the device, one after the other: step i moves bytes[i], half of them read
 * and half written. What a device does with so many bytes at best. */
bool gpu_time_copies(const gpu_device *g, uint32_t count, const uint64_t *bytes, uint32_t steps,
                     double *all, double *step, err *e);

/* A stamp after everything before, if there is a pool. */
void gpu_stamp(VkCommandBuffer c, VkQueryPool stamps, uint32_t *next);

#endif
