/* gpu_device.h - a Vulkan device: its instance, one queue that computes, two that copy, and what
 * Vulkan's errors mean. It needs no window and no display.
 *
 * FFTBLOOM_VALIDATION=1 loads the validation layer with synchronisation validation, and =gpu adds
 * GPU-assisted validation. A frame fails when a device has messages. */
#pragma once

#include "engine/engine.h"
#include <vulkan/vulkan.h>

#include <pthread.h>
#include <stdatomic.h>

/* All of Vulkan that the engine calls, without the "vk", from a loader that is opened at run time:
 * in the process a host may have variables of the same names. */
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

/* The two directions in which planes travel. */
enum { GPU_UP, GPU_DOWN, GPU_WAYS };

/* Where a queue is: a family of the device, and an index in it. */
typedef struct {
    uint32_t family, index;
} gpu_queue_place;

/* A queue with the pool that its command buffers come from. */
typedef struct {
    VkQueue queue;
    uint32_t family;
    VkCommandPool pool;
    uint32_t stamp_bits; /* valid bits of its timestamps; 0: it writes none */
} gpu_queue;

typedef struct gpu_instance gpu_instance;

/* Compiled pipelines: gpu_pass.h. */
typedef struct {
    VkPipelineCache cache; /* NULL: there is none */
    char *path;            /* of the file; NULL: there is none */
    pthread_mutex_t keeping;
    size_t bytes; /* on disk; guarded by `keeping` */
} gpu_pipelines;

/* What all that share an open device have in common. */
typedef struct {
    gpu_instance *instance; /* given back when the device is closed, for the next one to use */
    pthread_mutex_t queues; /* held by a thread that submits to them */
    gpu_pipelines pipelines;
    atomic_uint users; /* the last one closes the device */
    atomic_bool lost;  /* Vulkan has said so */
    /* A fence never came: nothing that the device uses is freed, and it gets no more work. */
    atomic_bool hangs;
} gpu_shared;

/* Everything is set by gpu_device_open and const until gpu_device_close, which frees it. Several
 * threads may read it. Vulkan wants one thread at a time for each queue and each pool. A thread
 * locks the queues while it submits. The pool is used by the thread that prepares an engine, or by
 * a benchmark, and only one of these runs at a time. */
typedef struct {
    gpu_shared *shared;
    VkPhysicalDevice physical;
    VkDevice dev;
    gpu_queue compute;
    gpu_queue copies[GPU_WAYS];                    /* may be `compute`, then with its pool */
    uint32_t families[1 + GPU_WAYS], family_count; /* of all these queues, each family once */
    VkPhysicalDeviceMemoryProperties memory;
    PFN_vkResetQueryPoolEXT reset_queries; /* resets from the host; NULL: the driver has none */
    double tick;                           /* seconds per timestamp unit */
    bool subgroups;                        /* add up, and trade, as shaders/measure.glsl wants */
    bool half_modes;                       /* conversions of halfs do what they are told */
    bool tiny_doubles;                     /* subnormal doubles are kept */
    uint64_t allocation;                   /* maximum of bytes in one piece of memory */
    char name[ENGINE_NAME];
    uint8_t uuid[ENGINE_UUID];
} gpu_device;

/* Lists the Vulkan devices that have a compute queue, and returns how many; without Vulkan, 0. */
uint32_t gpu_device_list(engine_device *to, uint32_t room);

/* Opens a device of the list, or shares the one that was opened ahead, unless that is lost. `g`
 * must be zeroed; the caller closes it after a failure, too. */
bool gpu_device_open(gpu_device *g, const engine_device *which, err *e);
/* Opens a device for all who open it later. Call it while there is one thread. */
bool gpu_device_ahead(const engine_device *which, err *e);
/* Opens in a zeroed `g` what `open` has open: the same device and queues, and pools of its own. */
bool gpu_device_share(gpu_device *g, const gpu_device *open, err *e);
/* Frees the pools, whose commands must have ended; the last one that shares the device closes it.
 * One that hangs stays open. Accepts half-open devices. */
void gpu_device_close(gpu_device *g);
/* Closes what was opened ahead, and frees the instance that waits for the next device. */
void gpu_device_rest(void);
/* While the queues are locked, nobody else submits. */
void gpu_device_lock(const gpu_device *g);
void gpu_device_unlock(const gpu_device *g);
/* Waits until the device has nothing to do. */
void gpu_device_wait(const gpu_device *g);
/* Returns the number of messages from the validation layers since the device was opened. */
unsigned gpu_device_messages(const gpu_device *g);

/* Chooses the queues that copy, among n families of which `compute` has the queue that computes, as
 * its first. Each direction gets a queue of its own, since a download that waits for its frame must
 * not hold up the upload of the next: best one that does nothing but copy, then any other. Where
 * there are too few, uploads share the queue that computes first, then downloads. */
void gpu_queue_choose(gpu_queue_place to[GPU_WAYS], const VkQueueFamilyProperties *family,
                      uint32_t n, uint32_t compute);

/* Returns the seconds between two timestamps of a queue. Only the lowest `stamp_bits` bits count: a
 * clock of 36 bits begins again about every hour. */
double gpu_seconds(double tick, uint32_t stamp_bits, uint64_t from, uint64_t to);

/* Returns whether a device of that Vulkan version can run the shaders. */
bool gpu_version_is_enough(uint32_t version, const char *name, err *e);

/* Sets the error for a failed Vulkan call and returns false; `what` is the call, with "vk" or "vk."
 * in front. A device that is lost or out of memory is worth a retry. */
bool gpu_failed(const gpu_device *g, VkResult r, const char *what, err *e);

/* Makes a Vulkan call; after a failure sets the error and goes to `fail`. */
#define VK_TRY(g, call, e)                          \
    do {                                            \
        VkResult vk_result = (call);                \
        if (vk_result != VK_SUCCESS) {              \
            gpu_failed((g), vk_result, #call, (e)); \
            goto fail;                              \
        }                                           \
    } while (0)
