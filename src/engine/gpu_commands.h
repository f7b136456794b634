/* gpu_commands.h - command buffers: begun, parted by barriers, submitted. */
#ifndef ENGINE_GPU_COMMANDS_H
#define ENGINE_GPU_COMMANDS_H

#include "engine/gpu_memory.h"

/* A new command buffer that takes commands. */
bool gpu_begin(const gpu_device *g, VkCommandBuffer *c, VkCommandBufferUsageFlags usage, err *e);

/* Everything before is done and seen by everything after, copies and the host included. */
void gpu_barrier(VkCommandBuffer c);
/* From one pass to the next. */
void gpu_barrier_of_passes(VkCommandBuffer c);

bool gpu_submit(const gpu_device *g, VkCommandBuffer c, VkFence fence, err *e);

/* Copies a filled host buffer into a device buffer, once, and waits. */
bool gpu_upload(const gpu_device *g, const gpu_buffer *to, const gpu_buffer *from, err *e);

#endif
