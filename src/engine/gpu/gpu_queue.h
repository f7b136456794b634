/* gpu_queue.h - which queues of a device copy to and from it while another one computes.
 *
 * One for each direction, since a download that waits for its frame must not hold up the upload of
 * the next. Best are queues that do nothing but copy: they are the device's copy engines. Then any
 * other queue; where there are too few, the way up goes first to the queue that computes, then the
 * way down. */
#ifndef ENGINE_GPU_QUEUE_H
#define ENGINE_GPU_QUEUE_H

#include <vulkan/vulkan.h>

enum { GPU_UP, GPU_DOWN, GPU_WAYS };

typedef struct {
    uint32_t family, index;
} gpu_queue_place;

/* Of n families; `compute` is that of the queue that computes, which is its first. */
void gpu_queue_choose(gpu_queue_place to[GPU_WAYS], const VkQueueFamilyProperties *family,
                      uint32_t n, uint32_t compute);

#endif
