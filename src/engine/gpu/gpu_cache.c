#include "engine/gpu/gpu_cache.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"

enum { CACHE_LIMIT = 64 << 20 };

void gpu_cache_open(const gpu_device *g, const char *dir) {
    gpu_pipelines *c = &g->shared->pipelines;
    size_t bytes = 0;
    uint8_t *data = NULL;
    err e = {0};
    if (dir) {
        text path = {0};
        text_add(&path, "%s/pipelines-", dir);
        for (int i = 0; i < ENGINE_UUID; i++) text_add(&path, "%02x", g->uuid[i]);
        c->path = mem_str(path.s, &e);
        text_free(&path);
    }
    if (c->path) data = file_read_all(c->path, CACHE_LIMIT, &bytes, &e);
    /* The driver checks the data, and starts empty where they are not its own. */
    VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
                                      .initialDataSize = data ? bytes : 0,
                                      .pInitialData = data};
    if (vk.CreatePipelineCache(g->dev, &info, NULL, &c->cache) != VK_SUCCESS)
        c->cache = VK_NULL_HANDLE;
    else
        vk.GetPipelineCacheData(g->dev, c->cache, &c->bytes, NULL);
    mem_free(data);
}

VkPipelineCache gpu_cache(const gpu_device *g) {
    return g->shared->pipelines.cache;
}

void gpu_cache_keep(const gpu_device *g) {
    gpu_pipelines *c = &g->shared->pipelines;
    size_t bytes = 0;
    err e = {0};
    if (!c->path || !c->cache) return;
    pthread_mutex_lock(&c->keeping);
    bool grown = vk.GetPipelineCacheData(g->dev, c->cache, &bytes, NULL) == VK_SUCCESS &&
                 bytes != c->bytes;
    void *data = grown ? mem_raw(bytes, 1, "pipeline cache", &e) : NULL;
    /* Pipelines that another thread adds meanwhile are left for the next time. */
    VkResult r = data ? vk.GetPipelineCacheData(g->dev, c->cache, &bytes, data) : VK_INCOMPLETE;
    if (r == VK_SUCCESS && file_write_all(c->path, data, bytes, &e)) c->bytes = bytes;
    pthread_mutex_unlock(&c->keeping);
    mem_free(data);
    if (e.code) log_info("pipelines are not kept: %s", e.msg);
}
