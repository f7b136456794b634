#include "engine/gpu/gpu_time.h"

#include "base/mem.h"
#include "engine/gpu/gpu_copy.h"

#include <math.h>

void gpu_stamp(VkCommandBuffer c, VkQueryPool stamps, uint32_t *next) {
    if (stamps) vkCmdWriteTimestamp(c, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, stamps, (*next)++);
}

/* --- one command buffer ---------------------------------------------------------------------- */

/* Everything before is done and seen by everything after. */
static void barrier(VkCommandBuffer c) {
    VkPipelineStageFlags work = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT |
                                VK_PIPELINE_STAGE_TRANSFER_BIT;
    VkAccessFlags write = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
    VkMemoryBarrier b = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                         .srcAccessMask = write,
                         .dstAccessMask = write | VK_ACCESS_SHADER_READ_BIT |
                                          VK_ACCESS_TRANSFER_READ_BIT};
    vkCmdPipelineBarrier(c, work, work, 0, 1, &b, 0, NULL, 0, NULL);
}

static bool fill(const gpu_device *g, VkCommandBuffer c, const gpu_timing *t, VkQueryPool stamps,
                 uint32_t room, bool each, err *e) {
    VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                     .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    uint32_t next = 0;
    VK_TRY(g, vkBeginCommandBuffer(c, &info), e);
    vkCmdResetQueryPool(c, stamps, 0, room);
    barrier(c);
    gpu_stamp(c, stamps, &next);
    for (uint32_t i = 0; i < t->count; i++)
        t->record(t->ctx, c, each ? stamps : VK_NULL_HANDLE, &next);
    if (!each) gpu_stamp(c, stamps, &next);
    VK_TRY(g, vkEndCommandBuffer(c), e);
    return true;
fail:
    return false;
}

/* The first `n` stamps after the commands have run. */
static bool run(const gpu_device *g, const gpu_timing *t, VkQueryPool stamps, uint32_t room,
                bool each, uint64_t *at, uint32_t n, err *e) {
    VkCommandBuffer c = VK_NULL_HANDLE;
    VkCommandBufferAllocateInfo alloc = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                         .commandPool = g->pool,
                                         .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                         .commandBufferCount = 1};
    VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &c};
    bool ok = false;
    VK_TRY(g, vkAllocateCommandBuffers(g->dev, &alloc, &c), e);
    if (!fill(g, c, t, stamps, room, each, e)) goto fail;
    VK_TRY(g, vkQueueSubmit(g->queue, 1, &submit, VK_NULL_HANDLE), e);
    VK_TRY(g, vkQueueWaitIdle(g->queue), e);
    VK_TRY(g,
           vkGetQueryPoolResults(g->dev, stamps, 0, n, n * sizeof *at, at, sizeof *at,
                                 VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
           e);
    ok = true;
fail:
    if (c) vkFreeCommandBuffers(g->dev, g->pool, 1, &c);
    return ok;
}

bool gpu_time(const gpu_device *g, const gpu_timing *t, double *all, double *step, err *e) {
    uint32_t n = t->count * t->steps + 1, room = n > 2 ? n : 2;
    VkQueryPoolCreateInfo q = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                               .queryType = VK_QUERY_TYPE_TIMESTAMP,
                               .queryCount = room};
    VkQueryPool stamps = VK_NULL_HANDLE;
    bool ok = false;
    if (!g->stamp_bits) return err_set(e, ERR_NO_DEVICE, "%s has no timestamps", g->name);
    uint64_t *at = mem_new(room, sizeof *at, "timestamps", e);
    if (!at) return false;
    double unit = g->tick / t->count;
    uint32_t bits = g->stamp_bits;
    VK_TRY(g, vkCreateQueryPool(g->dev, &q, NULL, &stamps), e);
    if (!run(g, t, stamps, room, false, at, 2, e)) goto fail;
    *all = gpu_seconds(unit, bits, at[0], at[1]);
    if (!run(g, t, stamps, room, true, at, n, e)) goto fail;
    for (uint32_t s = 0; s < t->steps; s++) step[s] = 0;
    for (uint32_t i = 1; i < n; i++)
        step[(i - 1) % t->steps] += gpu_seconds(unit, bits, at[i - 1], at[i]);
    ok = true;
fail:
    if (stamps) vkDestroyQueryPool(g->dev, stamps, NULL);
    mem_free(at);
    return ok;
}

/* --- copies ---------------------------------------------------------------------------------- */

/* Larger ones are no faster, so that their time follows from that of these. */
static const uint64_t COPY_MOST = UINT64_C(128) << 20;

typedef struct {
    gpu_buffer end[2];
    gpu_copy pass;
    const uint64_t *bytes;
    uint32_t steps;
} copies;

static uint64_t half_of(uint64_t bytes) {
    uint64_t half = (bytes / 2 + 15) / 16 * 16;
    return half < COPY_MOST ? half : COPY_MOST;
}

/* To and fro, so that each copy reads what the one before has written, as passes do. */
static void record_copies(void *ctx, VkCommandBuffer c, VkQueryPool stamps, uint32_t *next) {
    const copies *k = ctx;
    for (uint32_t i = 0; i < k->steps; i++) {
        gpu_copy_record(&k->pass, c, i % 2, half_of(k->bytes[i]));
        barrier(c);
        gpu_stamp(c, stamps, next);
    }
}

bool gpu_time_copies(const gpu_device *g, uint32_t count, const uint64_t *bytes, uint32_t steps,
                     double *all, double *step, err *e) {
    copies k = {.bytes = bytes, .steps = steps};
    uint64_t most = 16;
    double scale = 0, timed = 0;
    for (uint32_t i = 0; i < steps; i++) most = half_of(bytes[i]) > most ? half_of(bytes[i]) : most;
    gpu_timing t = {count, steps, record_copies, &k};
    bool ok = gpu_buffer_make(&k.end[0], g, most, GPU_ON_DEVICE, "a copy's source", e) &&
              gpu_buffer_make(&k.end[1], g, most, GPU_ON_DEVICE, "a copy's end", e) &&
              gpu_copy_make(&k.pass, g, k.end, e);
    ok = ok && gpu_time(g, &t, all, step, e);
    for (uint32_t i = 0; ok && i < steps; i++) {
        timed += step[i];
        step[i] *= fmax(1, (double)bytes[i] / 2 / (double)half_of(bytes[i]));
        scale += step[i];
    }
    if (ok && timed > 0) *all *= scale / timed;
    gpu_copy_free(&k.pass, g);
    for (int i = 0; i < 2; i++) gpu_buffer_free(&k.end[i], g);
    return ok;
}
