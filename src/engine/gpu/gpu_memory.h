/* gpu_memory.h - buffers, each with memory of its own: there are few, and they are large. */
#ifndef ENGINE_GPU_MEMORY_H
#define ENGINE_GPU_MEMORY_H

#include "engine/gpu/gpu_device.h"

typedef struct {
    VkBuffer buf;
    VkDeviceMemory mem;
    VkDeviceSize bytes;
    void *map; /* buffers that the host sees stay mapped */
} gpu_buffer;

typedef enum {
    GPU_ON_DEVICE, /* storage, copied to and from */
    GPU_SHARED,    /* storage that the host writes in place; only where gpu_memory_is_shared */
    GPU_UPLOAD,    /* host memory that the host writes */
    GPU_DOWNLOAD,  /* host memory that the host reads and writes, cached where there is such */
} gpu_use;

/* Whether the host sees the device's own memory, all of it and not a small window; and then whether
 * reading it there is fast, because it is cached. */
bool gpu_memory_is_shared(const gpu_device *g, bool *cached);

/* `name` is for the error's sentence. A buffer of zero bytes is given four, so that it can be
 * bound. */
bool gpu_buffer_make(gpu_buffer *b, const gpu_device *g, uint64_t bytes, gpu_use use,
                     const char *name, err *e);
void gpu_buffer_free(gpu_buffer *b, const gpu_device *g);

#endif
