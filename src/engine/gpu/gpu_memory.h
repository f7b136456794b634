/* gpu_memory.h - buffers on a device, each with memory of its own: there are few, and they are
 * large. It chooses the kind of memory for a use. */
#pragma once

#include "engine/gpu/gpu_device.h"

/* Set by gpu_buffer_make and const until gpu_buffer_free, which zeroes it. */
typedef struct {
    VkBuffer buf;
    VkDeviceMemory mem;
    VkDeviceSize bytes;
    void *map; /* where the host sees it; NULL for GPU_ON_DEVICE */
} gpu_buffer;

typedef enum {
    GPU_ON_DEVICE, /* storage, copied to and from */
    GPU_SHARED,    /* storage that the host writes in place; only where gpu_memory_is_shared */
    GPU_UPLOAD,    /* host memory that the host writes */
    GPU_DOWNLOAD,  /* host memory that the host reads and writes, cached if it can be */
} gpu_use;

typedef struct {
    const char *name; /* for the sentence of an error */
    gpu_use use;
    uint64_t bytes; /* a buffer of 0 is given 4, so that it can be bound */
} gpu_buffer_params;

/* Returns whether the host sees the device's own memory, all of it and not a small window. Then
 * `cached` says whether the host reads it fast. */
bool gpu_memory_is_shared(const gpu_device *g, bool *cached);

bool gpu_buffer_make(gpu_buffer *b, const gpu_device *g, const gpu_buffer_params *p, err *e);
void gpu_buffer_free(gpu_buffer *b, const gpu_device *g); /* accepts what was not made */

/* Gives `to`, which is made on the device unless it is there, the bytes of `from`, which the host
 * has filled; waits for the copy and frees `from`, whether that worked or not. */
bool gpu_upload(gpu_buffer *to, const gpu_device *g, gpu_buffer *from, const char *name, err *e);
