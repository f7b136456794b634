/* gpu_copy.h - a compute pass that copies a buffer: moves bytes as the passes do, and computes
 * nothing. (The copy commands of a driver may use other, slower hardware.) */
#ifndef ENGINE_GPU_COPY_H
#define ENGINE_GPU_COPY_H

#include "engine/gpu/gpu_memory.h"

typedef struct {
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    VkDescriptorPool pool;
    VkDescriptorSet set[2]; /* from the first buffer to the second, and back */
} gpu_copy;

bool gpu_copy_make(gpu_copy *c, const gpu_device *g, const gpu_buffer end[2], err *e);
void gpu_copy_free(gpu_copy *c, const gpu_device *g);

/* `bytes`: a multiple of 16. */
void gpu_copy_record(const gpu_copy *c, VkCommandBuffer to, bool back, uint64_t bytes);

#endif
