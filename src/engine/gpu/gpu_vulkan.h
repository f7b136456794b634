/* gpu_vulkan.h - the functions of Vulkan, from a loader that is opened at run time. They are not
 * taken from the process: a host may have variables of the same names. */
#pragma once

#include "base/err.h"

#include <vulkan/vulkan.h>

/* All that the engine calls, without the "vk". */
/* clang-format off */
#define GPU_VULKAN(_) \
    _(AllocateCommandBuffers) _(AllocateDescriptorSets) _(AllocateMemory) _(BeginCommandBuffer) \
    _(BindBufferMemory) _(CmdBindDescriptorSets) _(CmdBindPipeline) _(CmdCopyBuffer) \
    _(CmdDispatch) _(CmdPipelineBarrier) _(CmdPushConstants) _(CmdResetQueryPool) \
    _(CmdWriteTimestamp) _(CreateBuffer) _(CreateCommandPool) _(CreateComputePipelines) \
    _(CreateDescriptorPool) _(CreateDescriptorSetLayout) _(CreateDevice) _(CreateFence) \
    _(CreateInstance) _(CreatePipelineCache) _(CreatePipelineLayout) _(CreateQueryPool) \
    _(CreateSemaphore) _(CreateShaderModule) _(DestroyBuffer) _(DestroyCommandPool) \
    _(DestroyDescriptorPool) _(DestroyDescriptorSetLayout) _(DestroyDevice) _(DestroyFence) \
    _(DestroyInstance) _(DestroyPipeline) _(DestroyPipelineCache) _(DestroyPipelineLayout) \
    _(DestroyQueryPool) _(DestroySemaphore) _(DestroyShaderModule) _(DeviceWaitIdle) \
    _(EndCommandBuffer) _(EnumerateDeviceExtensionProperties) _(EnumeratePhysicalDevices) \
    _(FreeCommandBuffers) _(FreeMemory) _(GetBufferMemoryRequirements) _(GetDeviceProcAddr) \
    _(GetDeviceQueue) _(GetInstanceProcAddr) _(GetPhysicalDeviceFeatures) \
    _(GetPhysicalDeviceFeatures2) _(GetPhysicalDeviceMemoryProperties) \
    _(GetPhysicalDeviceMemoryProperties2) _(GetPhysicalDeviceProperties) \
    _(GetPhysicalDeviceProperties2) _(GetPhysicalDeviceQueueFamilyProperties) \
    _(GetPipelineCacheData) _(GetQueryPoolResults) _(MapMemory) _(QueueSubmit) _(ResetFences) \
    _(UpdateDescriptorSets) _(WaitForFences)
/* clang-format on */

typedef struct {
#define GPU_VULKAN_MEMBER(name) PFN_vk##name name;
    GPU_VULKAN(GPU_VULKAN_MEMBER)
#undef GPU_VULKAN_MEMBER
} gpu_vulkan;

/* Set by gpu_vulkan_open, and const afterwards. */
extern gpu_vulkan vk;

/* Opens the loader, which then stays open. Any thread may call it, at any time. */
bool gpu_vulkan_open(err *e);
