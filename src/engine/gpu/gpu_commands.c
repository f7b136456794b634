#include "engine/gpu/gpu_commands.h"

#include "base/log.h"

bool gpu_begin(const gpu_device *g, VkCommandPool pool, VkCommandBuffer *c,
               VkCommandBufferUsageFlags usage, err *e) {
    VkCommandBufferAllocateInfo alloc = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                         .commandPool = pool,
                                         .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                         .commandBufferCount = 1};
    VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                     .flags = usage};
    *c = VK_NULL_HANDLE;
    VK_TRY(g, vk.AllocateCommandBuffers(g->dev, &alloc, c), e);
    VK_TRY(g, vk.BeginCommandBuffer(*c, &info), e);
    return true;
fail:
    if (*c) vk.FreeCommandBuffers(g->dev, pool, 1, c);
    *c = VK_NULL_HANDLE;
    return false;
}

void gpu_barrier(VkCommandBuffer c, unsigned before, unsigned after) {
    static const struct {
        unsigned by;
        VkPipelineStageFlags stage;
        VkAccessFlags reads, writes;
    } ACCESS[] = {
        {GPU_BY_PASS, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_READ_BIT,
         VK_ACCESS_SHADER_WRITE_BIT},
        {GPU_BY_COPY, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT,
         VK_ACCESS_TRANSFER_WRITE_BIT},
        {GPU_BY_HOST, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT, 0},
    };
    VkMemoryBarrier b = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER};
    VkPipelineStageFlags from = 0, to = 0;
    for (size_t i = 0; i < COUNT(ACCESS); i++) {
        if (before & ACCESS[i].by) from |= ACCESS[i].stage, b.srcAccessMask |= ACCESS[i].writes;
        if (after & ACCESS[i].by)
            to |= ACCESS[i].stage, b.dstAccessMask |= ACCESS[i].reads | ACCESS[i].writes;
    }
    vk.CmdPipelineBarrier(c, from, to, 0, 1, &b, 0, NULL, 0, NULL);
}

void gpu_stamp(VkCommandBuffer c, VkQueryPool stamps, uint32_t *next) {
    if (stamps) vk.CmdWriteTimestamp(c, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, stamps, (*next)++);
}

bool gpu_submit(const gpu_device *g, const gpu_submission *s, err *e) {
    const VkPipelineStageFlags stages = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                         .waitSemaphoreCount = s->after ? 1 : 0,
                         .pWaitSemaphores = &s->after,
                         .pWaitDstStageMask = &stages,
                         .commandBufferCount = 1,
                         .pCommandBuffers = &s->commands,
                         .signalSemaphoreCount = s->then ? 1 : 0,
                         .pSignalSemaphores = &s->then};
    VK_TRY(g, vk.QueueSubmit(s->queue, 1, &info, s->fence), e);
    return true;
fail:
    return false;
}

VkResult gpu_wait(const gpu_device *g, VkFence fence) {
    enum { TOLD = 30, LOST = 1800 }; /* seconds */
    VkResult result = VK_TIMEOUT;
    for (int i = 0; result == VK_TIMEOUT && i < LOST && !g->shared->hangs; i++) {
        if (i == TOLD) log_info("the GPU has not answered for %d s", TOLD);
        result = vk.WaitForFences(g->dev, 1, &fence, VK_TRUE, 1000000000);
    }
    if (result != VK_TIMEOUT) return result;
    g->shared->hangs = true;
    return VK_ERROR_DEVICE_LOST;
}

bool gpu_run_once(const gpu_device *g, VkCommandBuffer c, err *e) {
    const VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    gpu_submission s = {.queue = g->compute.queue, .commands = c};
    bool ok = false;
    VK_TRY(g, vk.EndCommandBuffer(c), e);
    VK_TRY(g, vk.CreateFence(g->dev, &info, NULL, &s.fence), e);
    gpu_device_lock(g);
    bool sent = gpu_submit(g, &s, e);
    gpu_device_unlock(g);
    if (!sent) goto fail;
    VK_TRY(g, gpu_wait(g, s.fence), e);
    ok = true;
fail:
    if (g->shared->hangs) return false;
    vk.DestroyFence(g->dev, s.fence, NULL);
    vk.FreeCommandBuffers(g->dev, g->compute.pool, 1, &c);
    return ok;
}
