#include "engine/gpu/gpu_copy.h"

#include "engine/gpu/gpu_pass.h"
#include "engine/gpu/gpu_shaders.h"

enum { GROUP = 256, UNIT = 16, ROW = 32768 }; /* threads; bytes of each; workgroups along x */

static bool make_pipeline(gpu_copy *c, const gpu_device *g, err *e) {
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

static bool make_sets(gpu_copy *c, const gpu_device *g, const gpu_buffer end[2], err *e) {
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

bool gpu_copy_make(gpu_copy *c, const gpu_device *g, const gpu_buffer end[2], err *e) {
    *c = (gpu_copy){0};
    if (gpu_layouts_make(&c->set_layout, &c->layout, g, COPY_BINDINGS, e) &&
        make_pipeline(c, g, e) && make_sets(c, g, end, e))
        return true;
    gpu_copy_free(c, g);
    return false;
}

void gpu_copy_free(gpu_copy *c, const gpu_device *g) {
    vkDestroyDescriptorPool(g->dev, c->pool, NULL);
    vkDestroyPipeline(g->dev, c->pipeline, NULL);
    vkDestroyPipelineLayout(g->dev, c->layout, NULL);
    vkDestroyDescriptorSetLayout(g->dev, c->set_layout, NULL);
    *c = (gpu_copy){0};
}

void gpu_copy_record(const gpu_copy *c, VkCommandBuffer to, bool back, uint64_t bytes) {
    uint32_t count = (uint32_t)(bytes / UNIT), groups = (count + GROUP - 1) / GROUP;
    uint32_t x = groups < ROW ? groups : ROW, y = (groups + ROW - 1) / ROW;
    vkCmdBindPipeline(to, VK_PIPELINE_BIND_POINT_COMPUTE, c->pipeline);
    vkCmdBindDescriptorSets(to, VK_PIPELINE_BIND_POINT_COMPUTE, c->layout, 0, 1, &c->set[back], 0,
                            NULL);
    vkCmdPushConstants(to, c->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof count, &count);
    vkCmdDispatch(to, x, y, 1);
}
