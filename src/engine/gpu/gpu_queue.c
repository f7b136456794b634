#include "engine/gpu/gpu_queue.h"

#include <stdbool.h>

/* Families that copy, from the best on. Those for video copy, too, but only just. */
static const VkQueueFlags VIDEO = 0x20 | 0x40; /* decode, encode: of a newer Vulkan */

typedef struct {
    const VkQueueFamilyProperties *family;
    uint32_t compute;
} families;

static VkQueueFlags works(const families *f, uint32_t i) {
    return f->family[i].queueFlags & (VK_QUEUE_COMPUTE_BIT | VK_QUEUE_GRAPHICS_BIT);
}
static bool only_copies(const families *f, uint32_t i) {
    return f->family[i].queueFlags & VK_QUEUE_TRANSFER_BIT && !works(f, i) &&
           !(f->family[i].queueFlags & VIDEO);
}
static bool is_another(const families *f, uint32_t i) {
    return works(f, i) && i != f->compute;
}
static bool is_the_same(const families *f, uint32_t i) {
    return i == f->compute;
}

void gpu_queue_choose(gpu_queue_place to[GPU_WAYS], const VkQueueFamilyProperties *family,
                      uint32_t n, uint32_t compute) {
    static bool (*const KIND[])(const families *, uint32_t) = {only_copies, is_another,
                                                               is_the_same};
    static const int ORDER[] = {GPU_DOWN, GPU_UP};
    const families f = {family, compute};
    int found = 0;
    to[GPU_UP] = to[GPU_DOWN] = (gpu_queue_place){compute, 0};
    for (size_t k = 0; k < sizeof KIND / sizeof KIND[0]; k++)
        for (uint32_t i = 0; i < n; i++) {
            uint32_t first = i == compute ? 1 : 0;
            for (uint32_t q = first; KIND[k](&f, i) && q < family[i].queueCount; q++)
                if (found < GPU_WAYS) to[ORDER[found++]] = (gpu_queue_place){i, q};
        }
}
