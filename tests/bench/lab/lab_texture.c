#include "engine/gpu/gpu_commands.h"
#include "lab/lab_gpu.h"

#include <string.h>

static const VkFormat FORMAT = VK_FORMAT_R32G32_SFLOAT;
enum { TEXEL = 2 * sizeof(float) };

static bool texture_make_image(lab_texture *t, const gpu_device *g, uint32_t k, uint32_t layers,
                               err *e) {
    VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                              .imageType = VK_IMAGE_TYPE_2D,
                              .format = FORMAT,
                              .extent = {k, k, 1},
                              .mipLevels = 1,
                              .arrayLayers = layers,
                              .samples = VK_SAMPLE_COUNT_1_BIT,
                              .usage = VK_IMAGE_USAGE_SAMPLED_BIT |
                                       VK_IMAGE_USAGE_TRANSFER_DST_BIT};
    VkMemoryRequirements need;
    VkMemoryAllocateInfo alloc = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
    VK_TRY(g, vkCreateImage(g->dev, &info, NULL, &t->image), e);
    vkGetImageMemoryRequirements(g->dev, t->image, &need);
    alloc.allocationSize = need.size;
    /* The device's own memory, where it is allowed. */
    for (uint32_t i = g->memory.memoryTypeCount; i-- > 0;) {
        bool own = g->memory.memoryTypes[i].propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
        uint32_t now = need.memoryTypeBits & UINT32_C(1) << alloc.memoryTypeIndex;
        if (need.memoryTypeBits & UINT32_C(1) << i && (own || !now)) alloc.memoryTypeIndex = i;
    }
    VK_TRY(g, vkAllocateMemory(g->dev, &alloc, NULL, &t->memory), e);
    VK_TRY(g, vkBindImageMemory(g->dev, t->image, t->memory, 0), e);
    return true;
fail:
    return false;
}

static bool texture_fill(lab_texture *t, const gpu_device *g, const float *from, uint32_t k,
                         uint32_t layers, err *e) {
    const VkBufferImageCopy copy = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, layers},
                                    .imageExtent = {k, k, 1}};
    size_t bytes = (size_t)TEXEL * layers * k * k;
    VkImageMemoryBarrier b = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
                              .dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                              .newLayout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                              .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                              .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                              .image = t->image,
                              .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, layers}};
    VkCommandBuffer c;
    gpu_buffer host = {0};
    bool ok = gpu_buffer_make(&host, g, &(gpu_buffer_params){"spectrum", GPU_UPLOAD, bytes}, e) &&
              gpu_begin(g, g->compute.pool, &c, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, e);
    if (ok) {
        memcpy(host.map, from, bytes);
        vkCmdPipelineBarrier(c, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
                             0, 0, NULL, 0, NULL, 1, &b);
        vkCmdCopyBufferToImage(c, host.buf, t->image, b.newLayout, 1, &copy);
        b.srcAccessMask = b.dstAccessMask;
        b.dstAccessMask = VK_ACCESS_SHADER_READ_BIT;
        b.oldLayout = b.newLayout;
        b.newLayout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
        vkCmdPipelineBarrier(c, VK_PIPELINE_STAGE_TRANSFER_BIT,
                             VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 0, NULL, 0, NULL, 1, &b);
        ok = gpu_run_once(g, c, e);
    }
    gpu_buffer_free(&host, g);
    return ok;
}

/* Makes the view, the sampler, and the descriptor set that names them. */
static bool texture_make_set(lab_texture *t, const gpu_device *g, uint32_t layers, err *e) {
    static const VkDescriptorType TYPE = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
    VkImageViewCreateInfo view = {.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
                                  .image = t->image,
                                  .viewType = VK_IMAGE_VIEW_TYPE_2D_ARRAY,
                                  .format = FORMAT,
                                  .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, layers}};
    VkSamplerCreateInfo sampler = {.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
                                   .magFilter = VK_FILTER_LINEAR,
                                   .minFilter = VK_FILTER_LINEAR,
                                   .addressModeU = VK_SAMPLER_ADDRESS_MODE_REPEAT,
                                   .addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
                                   .addressModeW = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE};
    VkDescriptorSetLayoutBinding binding = {
        .descriptorType = TYPE, .descriptorCount = 1, .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    VkDescriptorSetLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 1,
        .pBindings = &binding};
    VkDescriptorPoolSize size = {TYPE, 1};
    VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .maxSets = 1,
                                       .poolSizeCount = 1,
                                       .pPoolSizes = &size};
    VkDescriptorSetAllocateInfo alloc = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                         .descriptorSetCount = 1,
                                         .pSetLayouts = &t->layout};
    VK_TRY(g, vkCreateImageView(g->dev, &view, NULL, &t->view), e);
    VK_TRY(g, vkCreateSampler(g->dev, &sampler, NULL, &t->sampler), e);
    VK_TRY(g, vkCreateDescriptorSetLayout(g->dev, &layout, NULL, &t->layout), e);
    VK_TRY(g, vkCreateDescriptorPool(g->dev, &pool, NULL, &t->pool), e);
    alloc.descriptorPool = t->pool;
    VK_TRY(g, vkAllocateDescriptorSets(g->dev, &alloc, &t->set), e);
    VkDescriptorImageInfo to = {t->sampler, t->view, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
    VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                  .dstSet = t->set,
                                  .descriptorCount = 1,
                                  .descriptorType = TYPE,
                                  .pImageInfo = &to};
    vkUpdateDescriptorSets(g->dev, 1, &write, 0, NULL);
    return true;
fail:
    return false;
}

bool lab_texture_make(lab_texture *t, const gpu_device *g, const float *from, uint32_t k,
                      uint32_t layers, err *e) {
    VkFormatProperties f;
    vkGetPhysicalDeviceFormatProperties(g->physical, FORMAT, &f);
    if (!(f.optimalTilingFeatures & VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_LINEAR_BIT))
        return err_set(
            e, ERR_NO_DEVICE,
            "the article's bloom needs a device that interpolates textures of two floats; "
            "%s does not",
            g->name);
    return texture_make_image(t, g, k, layers, e) && texture_fill(t, g, from, k, layers, e) &&
           texture_make_set(t, g, layers, e);
}

void lab_texture_free(lab_texture *t, const gpu_device *g) {
    vkDestroyDescriptorPool(g->dev, t->pool, NULL);
    vkDestroyDescriptorSetLayout(g->dev, t->layout, NULL);
    vkDestroySampler(g->dev, t->sampler, NULL);
    vkDestroyImageView(g->dev, t->view, NULL);
    vkDestroyImage(g->dev, t->image, NULL);
    vkFreeMemory(g->dev, t->memory, NULL);
    *t = (lab_texture){0};
}
