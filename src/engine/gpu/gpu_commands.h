/* gpu_commands.h - command buffers: begun, parted by barriers, submitted. */
#ifndef ENGINE_GPU_COMMANDS_H
#define ENGINE_GPU_COMMANDS_H

#include "engine/gpu/gpu_memory.h"

/* A new command buffer that takes commands, for the queue of that pool. */
bool gpu_begin(const gpu_device *g, VkCommandPool pool, VkCommandBuffer *c,
               VkCommandBufferUsageFlags usage, err *e);

/* From one pass to the next, of the same frame or of two. */
void gpu_barrier_of_passes(VkCommandBuffer c);
/* The host sees what passes or copies have written. */
void gpu_barrier_of_passes_to_host(VkCommandBuffer c);
void gpu_barrier_of_copies_to_host(VkCommandBuffer c);

/* Commands, what they wait for and what waits for them: NULL where there is none. */
typedef struct {
    VkQueue queue;
    VkCommandBuffer commands;
    VkSemaphore after, then;
    VkFence fence;
} gpu_submission;
bool gpu_submit(const gpu_device *g, const gpu_submission *s, err *e);

/* Copies a filled host buffer into a device buffer, once, on the queue that computes, and waits. */
bool gpu_upload(const gpu_device *g, const gpu_buffer *to, const gpu_buffer *from, err *e);

#endif
