#include "engine/gpu/gpu_memory.h"

#include "engine/gpu/gpu_commands.h"

enum {
    LOCAL = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
    VISIBLE = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
    CACHED = VK_MEMORY_PROPERTY_HOST_CACHED_BIT
};

/* The properties that each use must have, those that it would like, and those it avoids. */
static const struct {
    VkMemoryPropertyFlags must, like[2], avoid;
} USE[] = {
    [GPU_ON_DEVICE] = {0, {LOCAL, 0}, 0},
    [GPU_SHARED] = {LOCAL | VISIBLE, {CACHED, 0}, 0},
    [GPU_UPLOAD] = {VISIBLE, {0, 0}, LOCAL},
    [GPU_DOWNLOAD] = {VISIBLE, {CACHED, 0}, 0},
};

static uint32_t memory_type(const gpu_device *g, uint32_t allowed, gpu_use use) {
    for (int avoid = 1; avoid >= 0; avoid--)
        for (int like = 0; like < 2; like++)
            for (uint32_t i = 0; i < g->memory.memoryTypeCount; i++) {
                VkMemoryPropertyFlags f = g->memory.memoryTypes[i].propertyFlags;
                VkMemoryPropertyFlags want = USE[use].must | USE[use].like[like];
                if (!(allowed & 1u << i) || (f & want) != want) continue;
                if (avoid && (f & USE[use].avoid)) continue;
                return i;
            }
    return UINT32_MAX;
}

bool gpu_memory_is_shared(const gpu_device *g, bool *cached) {
    const VkPhysicalDeviceMemoryProperties *m = &g->memory;
    uint32_t t = memory_type(g, UINT32_MAX, GPU_SHARED);
    if (t == UINT32_MAX) return false;
    for (uint32_t i = 0; i < m->memoryHeapCount; i++)
        if (m->memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT &&
            m->memoryHeaps[i].size > m->memoryHeaps[m->memoryTypes[t].heapIndex].size)
            return false;
    *cached = m->memoryTypes[t].propertyFlags & CACHED;
    return true;
}

bool gpu_buffer_make(gpu_buffer *b, const gpu_device *g, const gpu_buffer_params *p, err *e) {
    b->bytes = p->bytes ? p->bytes : 4;
    if (b->bytes > g->allocation)
        return err_set(e, ERR_NO_DEVICE,
                       "%s: buffer '%s' of %" PRIu64 " bytes is more than the %" PRIu64
                       " that the device gives in one piece",
                       g->name, p->name, p->bytes, g->allocation);
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = b->bytes,
        /* One queue copies it and another one works on it. Sharing it spares the barriers that hand
         * it over, and costs buffers nothing. */
        .sharingMode = g->family_count > 1 ? VK_SHARING_MODE_CONCURRENT : VK_SHARING_MODE_EXCLUSIVE,
        .queueFamilyIndexCount = g->family_count,
        .pQueueFamilyIndices = g->families,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    VkMemoryRequirements need;
    VK_TRY(g, vk.CreateBuffer(g->dev, &info, NULL, &b->buf), e);
    vk.GetBufferMemoryRequirements(g->dev, b->buf, &need);
    VkMemoryAllocateInfo alloc = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                  .allocationSize = need.size,
                                  .memoryTypeIndex = memory_type(g, need.memoryTypeBits, p->use)};
    if (alloc.memoryTypeIndex == UINT32_MAX) {
        err_set(e, ERR_NO_DEVICE, "%s has no memory of the kind that is needed", g->name);
        goto fail;
    }
    VK_TRY(g, vk.AllocateMemory(g->dev, &alloc, NULL, &b->mem), e);
    VK_TRY(g, vk.BindBufferMemory(g->dev, b->buf, b->mem, 0), e);
    if (p->use != GPU_ON_DEVICE)
        VK_TRY(g, vk.MapMemory(g->dev, b->mem, 0, VK_WHOLE_SIZE, 0, &b->map), e);
    return true;
fail:
    gpu_buffer_free(b, g);
    return err_in(e, "buffer '%s' of %" PRIu64 " bytes", p->name, p->bytes);
}

void gpu_buffer_free(gpu_buffer *b, const gpu_device *g) {
    bool free = !g->shared->hangs;
    if (free && b->buf) vk.DestroyBuffer(g->dev, b->buf, NULL);
    if (free && b->mem) vk.FreeMemory(g->dev, b->mem, NULL);
    *b = (gpu_buffer){0};
}

bool gpu_upload(gpu_buffer *to, const gpu_device *g, gpu_buffer *from, const char *name, err *e) {
    VkCommandBuffer c;
    VkBufferCopy copy = {0, 0, from->bytes};
    const gpu_buffer_params p = {name, GPU_ON_DEVICE, from->bytes};
    bool ok = (to->buf || gpu_buffer_make(to, g, &p, e)) &&
              gpu_begin(g, g->compute.pool, &c, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, e);
    if (ok) {
        vk.CmdCopyBuffer(c, from->buf, to->buf, 1, &copy);
        gpu_barrier(c, GPU_BY_COPY, GPU_BY_PASS);
        ok = gpu_run_once(g, c, e);
    }
    gpu_buffer_free(from, g);
    return ok;
}
