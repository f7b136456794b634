/* gpu_device.h - Vulkan kept small: an instance, a device with a queue that computes and two that
 * copy, and errors as sentences.
 *
 * Headless always. FFTBLOOM_VALIDATION=1 loads the validation layer with synchronisation
 * validation, =gpu adds GPU-assisted validation; each message is printed and counted, and a
 * device with messages fails its next wait. */
#ifndef ENGINE_GPU_DEVICE_H
#define ENGINE_GPU_DEVICE_H

#include "engine/engine.h"
#include "engine/gpu/gpu_queue.h"

#include <vulkan/vulkan.h>

typedef struct gpu_instance gpu_instance;

/* A queue that copies. */
typedef struct {
    VkQueue queue;
    uint32_t family;
    VkCommandPool pool;
    uint32_t stamp_bits; /* of its timestamps; 0: it writes none */
} gpu_queue;

typedef struct {
    gpu_instance *instance;
    VkPhysicalDevice physical;
    VkDevice dev;
    VkQueue queue; /* computes */
    uint32_t family;
    VkCommandPool pool;
    gpu_queue copies[GPU_WAYS];                    /* may be the queue that computes */
    uint32_t families[1 + GPU_WAYS], family_count; /* of all these, each once */
    VkPhysicalDeviceMemoryProperties memory;
    PFN_vkResetQueryPoolEXT reset_queries; /* by the host; NULL: not there */
    bool statistics;     /* pipelines are made with what the compiler has to say: at debug level */
    double tick;         /* seconds per timestamp unit */
    uint32_t stamp_bits; /* of the queue that computes */
    uint64_t allocation; /* maximum of bytes in one piece of memory */
    char name[ENGINE_NAME];
    uint8_t uuid[ENGINE_UUID];
} gpu_device;

/* All Vulkan devices that have a compute queue. No Vulkan at all is no error: zero devices. */
uint32_t gpu_device_list(engine_device *to, uint32_t room);

bool gpu_device_open(gpu_device *g, const engine_device *which, err *e);
void gpu_device_close(gpu_device *g); /* accepts half-open devices */
/* Messages of the validation layers since the device was opened. */
unsigned gpu_device_messages(const gpu_device *g);

/* Returns the seconds between two timestamps of a queue, of which only that many bits count: a
 * clock of 36 bits begins again about every hour. */
double gpu_seconds(double tick, uint32_t stamp_bits, uint64_t from, uint64_t to);

/* Returns whether a device of that Vulkan version can run the shaders; the error says what it has
 * and what they need. */
bool gpu_version_is_enough(uint32_t version, const char *name, err *e);

/* Sets the error for a failed Vulkan call; `what` is the call. Device lost and out of memory are
 * worth a retry. Returns false. */
bool gpu_failed(const gpu_device *g, VkResult r, const char *what, err *e);

#define VK_TRY(g, call, e)                          \
    do {                                            \
        VkResult vk_result = (call);                \
        if (vk_result != VK_SUCCESS) {              \
            gpu_failed((g), vk_result, #call, (e)); \
            goto fail;                              \
        }                                           \
    } while (0)

#endif
