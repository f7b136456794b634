#include "engine/gpu/gpu_commands.h"

bool gpu_begin(const gpu_device *g, VkCommandPool pool, VkCommandBuffer *c,
               VkCommandBufferUsageFlags usage, err *e) {
    VkCommandBufferAllocateInfo alloc = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                         .commandPool = pool,
                                         .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                         .commandBufferCount = 1};
    VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                     .flags = usage};
    VK_TRY(g, vkAllocateCommandBuffers(g->dev, &alloc, c), e);
    VK_TRY(g, vkBeginCommandBuffer(*c, &info), e);
    return true;
fail:
    return false;
}

static void barrier_of(VkCommandBuffer c, VkPipelineStageFlags from, VkAccessFlags wrote,
                       VkPipelineStageFlags to, VkAccessFlags will) {
    VkMemoryBarrier b = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = wrote, .dstAccessMask = will};
    vkCmdPipelineBarrier(c, from, to, 0, 1, &b, 0, NULL, 0, NULL);
}

void gpu_barrier_of_passes(VkCommandBuffer c) {
    VkPipelineStageFlags compute = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
    barrier_of(c, compute, VK_ACCESS_SHADER_WRITE_BIT, compute,
               VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
}

void gpu_barrier_of_passes_to_host(VkCommandBuffer c) {
    barrier_of(c, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
               VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
}

void gpu_barrier_of_copies_to_host(VkCommandBuffer c) {
    barrier_of(c, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
               VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
}

bool gpu_submit(const gpu_device *g, const gpu_submission *s, err *e) {
    const VkPipelineStageFlags all = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                         .waitSemaphoreCount = s->after ? 1 : 0,
                         .pWaitSemaphores = &s->after,
                         .pWaitDstStageMask = &all,
                         .commandBufferCount = 1,
                         .pCommandBuffers = &s->commands,
                         .signalSemaphoreCount = s->then ? 1 : 0,
                         .pSignalSemaphores = &s->then};
    VK_TRY(g, vkQueueSubmit(s->queue, 1, &info, s->fence), e);
    return true;
fail:
    return false;
}

bool gpu_upload(const gpu_device *g, const gpu_buffer *to, const gpu_buffer *from, err *e) {
    VkCommandBuffer c = VK_NULL_HANDLE;
    bool ok = gpu_begin(g, g->pool, &c, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, e);
    if (!ok) goto fail;
    VkBufferCopy all = {0, 0, from->bytes};
    vkCmdCopyBuffer(c, from->buf, to->buf, 1, &all);
    barrier_of(c, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
               VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_READ_BIT);
    VK_TRY(g, vkEndCommandBuffer(c), e);
    ok = gpu_submit(g, &(gpu_submission){.queue = g->queue, .commands = c}, e);
    if (ok) VK_TRY(g, vkQueueWaitIdle(g->queue), e);
    vkFreeCommandBuffers(g->dev, g->pool, 1, &c);
    return ok;
fail:
    if (c) vkFreeCommandBuffers(g->dev, g->pool, 1, &c);
    return false;
}
