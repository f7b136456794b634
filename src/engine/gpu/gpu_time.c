#include "engine/gpu/gpu_time.h"

#include "base/mem.h"
#include "engine/gpu/gpu_memory.h"
#include "engine/gpu/gpu_pass.h"
#include "engine/gpu/gpu_shaders.h"

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

/* One run of the repetitions with room for `room` stamps: one after `each` step, or at both ends.
 */
typedef struct {
    const gpu_device *g;
    const gpu_timing *t;
    VkQueryPool stamps;
    uint32_t room;
    bool each;
} timed_run;

static bool fill(const timed_run *r, VkCommandBuffer c, err *e) {
    VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                     .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    uint32_t next = 0;
    VK_TRY(r->g, vkBeginCommandBuffer(c, &info), e);
    vkCmdResetQueryPool(c, r->stamps, 0, r->room);
    barrier(c);
    gpu_stamp(c, r->stamps, &next);
    for (uint32_t i = 0; i < r->t->count; i++)
        r->t->record(r->t->ctx, c, r->each ? r->stamps : VK_NULL_HANDLE, &next);
    if (!r->each) gpu_stamp(c, r->stamps, &next);
    VK_TRY(r->g, vkEndCommandBuffer(c), e);
    return true;
fail:
    return false;
}

/* Fills `at` with the first n stamps after the commands have run. */
static bool run(const timed_run *r, uint64_t *at, uint32_t n, err *e) {
    const gpu_device *g = r->g;
    VkCommandBuffer c = VK_NULL_HANDLE;
    VkCommandBufferAllocateInfo alloc = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                         .commandPool = g->pool,
                                         .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                         .commandBufferCount = 1};
    VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &c};
    bool ok = false;
    VK_TRY(g, vkAllocateCommandBuffers(g->dev, &alloc, &c), e);
    if (!fill(r, c, e)) goto fail;
    VK_TRY(g, vkQueueSubmit(g->queue, 1, &submit, VK_NULL_HANDLE), e);
    VK_TRY(g, vkQueueWaitIdle(g->queue), e);
    VK_TRY(g,
           vkGetQueryPoolResults(g->dev, r->stamps, 0, n, n * sizeof *at, at, sizeof *at,
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
    timed_run r = {g, t, stamps, room, false};
    if (!run(&r, at, 2, e)) goto fail;
    *all = gpu_seconds(unit, bits, at[0], at[1]);
    r.each = true;
    if (!run(&r, at, n, e)) goto fail;
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

/* A compute pass that copies a buffer: it moves bytes as the passes do, and computes nothing. (The
 * copy commands of a driver may use other, slower hardware.) */
typedef struct {
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    VkDescriptorPool pool;
    VkDescriptorSet set[2]; /* from the first buffer to the second, and back */
} copier;

enum { GROUP = 256, UNIT = 16, ROW = 32768 }; /* threads; bytes of each; workgroups along x */

static bool make_copy_pipeline(copier *c, const gpu_device *g, err *e) {
    gpu_shader code = gpu_shader_copy();
    VkShaderModuleCreateInfo module = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                       .codeSize = code.bytes,
                                       .pCode = code.words};
    VkComputePipelineCreateInfo pipeline = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .pName = "main"},
        .layout = c->layout};
    VK_TRY(g, vkCreateShaderModule(g->dev, &module, NULL, &pipeline.stage.module), e);
    VkResult r = vkCreateComputePipelines(g->dev, VK_NULL_HANDLE, 1, &pipeline, NULL, &c->pipeline);
    vkDestroyShaderModule(g->dev, pipeline.stage.module, NULL);
    return r == VK_SUCCESS || gpu_failed(g, r, "vkCreateComputePipelines", e);
fail:
    return false;
}

static bool make_sets(copier *c, const gpu_device *g, const gpu_buffer end[2], err *e) {
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 4};
    VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .maxSets = 2,
                                       .poolSizeCount = 1,
                                       .pPoolSizes = &size};
    VK_TRY(g, vkCreateDescriptorPool(g->dev, &pool, NULL, &c->pool), e);
    for (int s = 0; s < 2; s++) {
        VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                            .descriptorPool = c->pool,
                                            .descriptorSetCount = 1,
                                            .pSetLayouts = &c->set_layout};
        VK_TRY(g, vkAllocateDescriptorSets(g->dev, &info, &c->set[s]), e);
        VkDescriptorBufferInfo of[2] = {{end[s].buf, 0, VK_WHOLE_SIZE},
                                        {end[1 - s].buf, 0, VK_WHOLE_SIZE}};
        VkWriteDescriptorSet w = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                  .dstSet = c->set[s],
                                  .descriptorCount = 2,
                                  .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                  .pBufferInfo = of};
        vkUpdateDescriptorSets(g->dev, 1, &w, 0, NULL);
    }
    return true;
fail:
    return false;
}

static void copy_free(copier *c, const gpu_device *g) {
    vkDestroyDescriptorPool(g->dev, c->pool, NULL);
    vkDestroyPipeline(g->dev, c->pipeline, NULL);
    vkDestroyPipelineLayout(g->dev, c->layout, NULL);
    vkDestroyDescriptorSetLayout(g->dev, c->set_layout, NULL);
    *c = (copier){0};
}

static bool copy_make(copier *c, const gpu_device *g, const gpu_buffer end[2], err *e) {
    *c = (copier){0};
    if (gpu_layouts_make(&c->set_layout, &c->layout, g, COPY_BINDINGS, e) &&
        make_copy_pipeline(c, g, e) && make_sets(c, g, end, e))
        return true;
    copy_free(c, g);
    return false;
}

static void copy_record(const copier *c, VkCommandBuffer to, bool back, uint64_t bytes) {
    uint32_t count = (uint32_t)(bytes / UNIT), groups = (count + GROUP - 1) / GROUP;
    uint32_t x = groups < ROW ? groups : ROW, y = (groups + ROW - 1) / ROW;
    vkCmdBindPipeline(to, VK_PIPELINE_BIND_POINT_COMPUTE, c->pipeline);
    vkCmdBindDescriptorSets(to, VK_PIPELINE_BIND_POINT_COMPUTE, c->layout, 0, 1, &c->set[back], 0,
                            NULL);
    vkCmdPushConstants(to, c->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof count, &count);
    vkCmdDispatch(to, x, y, 1);
}

/* Larger ones are no faster, so that their time follows from that of these. */
static const uint64_t COPY_MOST = UINT64_C(128) << 20;

typedef struct {
    gpu_buffer end[2];
    copier pass;
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
        copy_record(&k->pass, c, i % 2, half_of(k->bytes[i]));
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
              copy_make(&k.pass, g, k.end, e);
    ok = ok && gpu_time(g, &t, all, step, e);
    for (uint32_t i = 0; ok && i < steps; i++) {
        timed += step[i];
        step[i] *= fmax(1, (double)bytes[i] / 2 / (double)half_of(bytes[i]));
        scale += step[i];
    }
    if (ok && timed > 0) *all *= scale / timed;
    copy_free(&k.pass, g);
    for (int i = 0; i < 2; i++) gpu_buffer_free(&k.end[i], g);
    return ok;
}
