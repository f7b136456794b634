/* gpu_commands.h - command buffers: beginning, barriers, time stamps, submitting. */
#pragma once

#include "engine/gpu/gpu_device.h"

/* Makes a command buffer of that pool and begins it. The caller frees it, or gpu_run_once does. */
bool gpu_begin(const gpu_device *g, VkCommandPool pool, VkCommandBuffer *c,
               VkCommandBufferUsageFlags usage, err *e);

/* Who reads and writes buffers; several may be joined by |. */
enum { GPU_BY_PASS = 1, GPU_BY_COPY = 2, GPU_BY_HOST = 4 };

/* Makes `after` wait for `before`, and see what it has written, on the same queue. */
void gpu_barrier(VkCommandBuffer c, unsigned before, unsigned after);

/* Writes the time at which everything before is done to place (*next)++ of `stamps`. Does nothing
 * where `stamps` is NULL. */
void gpu_stamp(VkCommandBuffer c, VkQueryPool stamps, uint32_t *next);

/* Commands, the semaphore that they wait for, and what is signalled after them; NULL: none. */
typedef struct {
    VkQueue queue;
    VkCommandBuffer commands;
    VkSemaphore after, then;
    VkFence fence;
} gpu_submission;

/* Submits; the caller has locked the device's queues. */
bool gpu_submit(const gpu_device *g, const gpu_submission *s, err *e);

/* Waits for the fence of a submission. One that never comes is a lost device after half an hour,
 * since some drivers hang without a word; the device is then left as it is (gpu_shared.hangs). */
VkResult gpu_wait(const gpu_device *g, VkFence fence);

/* Ends commands that were begun in the pool of g->compute, runs them there beside those of others
 * that share the device, waits for them, and frees them whether that worked or not. */
bool gpu_run_once(const gpu_device *g, VkCommandBuffer c, err *e);
