/* gpu_engine.c - the plan on a Vulkan device.
 *
 *   planes -> staging -> image -> [pass 1 -> scratch -> pass 2 -> scratch -> pass 3] -> image ->
 * staging -> planes
 *
 * Where the host sees the device's memory, planes are written to the image themselves; where it
 * reads that memory fast, too, they are read from there.
 *
 * Buffers that belong to a frame exist once per slot; the scratch, which only one frame uses at a
 * time, and the kernel's spectrum exist once. Channels that do not fit one bound buffer are done
 * in chunks, one after the other, through the same scratch. Command buffers are recorded when the
 * plan is prepared; a frame is a copy, a submission, a fence and a copy. */
#include "base/log.h"
#include "base/mem.h"
#include "engine/gpu_memory.h"
#include "engine/gpu_pass.h"
#include "engine/gpu_time.h"

#include <string.h>

enum { MAX_SLOTS = 8 };

typedef struct {
    gpu_buffer up, down, weights; /* up and down: where the image itself does not do */
    gpu_buffer *image;            /* per chunk */
    VkDescriptorSet *set;         /* per chunk: all passes; then per chunk: the inner convolution */
    VkCommandBuffer commands;
    VkFence fence;
    VkQueryPool stamps;
    void *out[ENGINE_CHANNELS];
    bool busy;
} slot;

typedef struct {
    engine base;
    gpu_device g;
    uint8_t uuid[ENGINE_UUID];
    char *cache_dir;
    par *threads;

    plan p;
    uint32_t chunks, slots;
    bool direct[2]; /* up, down: between planes and image without staging */
    gpu_passes passes;
    gpu_buffer scratch, tiles, split, twiddles, places;
    gpu_buffer *spectrum; /* per chunk */
    VkDescriptorPool sets;
    slot slot[MAX_SLOTS];
} gpu_engine;

static gpu_engine *of(engine *e) {
    return (gpu_engine *)e;
}

static uint32_t chunk_channels(const gpu_engine *x, uint32_t chunk) {
    uint32_t per = x->p.channels_per_bind, left = x->p.ask.channels - chunk * per;
    return left < per ? left : per;
}

/* --- release -------------------------------------------------------------------------------- */

static void free_slot(gpu_engine *x, slot *s) {
    const gpu_device *g = &x->g;
    gpu_buffer_free(&s->up, g);
    gpu_buffer_free(&s->down, g);
    gpu_buffer_free(&s->weights, g);
    for (uint32_t i = 0; s->image && i < x->chunks; i++) gpu_buffer_free(&s->image[i], g);
    mem_free(s->image);
    mem_free(s->set);
    if (s->commands) vkFreeCommandBuffers(g->dev, g->pool, 1, &s->commands);
    if (s->fence) vkDestroyFence(g->dev, s->fence, NULL);
    if (s->stamps) vkDestroyQueryPool(g->dev, s->stamps, NULL);
    *s = (slot){0};
}

/* Everything that prepare made. */
static void unprepare(gpu_engine *x) {
    if (!x->g.dev) return;
    vkDeviceWaitIdle(x->g.dev);
    for (uint32_t i = 0; i < MAX_SLOTS; i++) free_slot(x, &x->slot[i]);
    if (x->sets) vkDestroyDescriptorPool(x->g.dev, x->sets, NULL);
    x->sets = VK_NULL_HANDLE;
    for (uint32_t i = 0; x->spectrum && i < x->chunks; i++) gpu_buffer_free(&x->spectrum[i], &x->g);
    mem_free(x->spectrum);
    x->spectrum = NULL;
    gpu_buffer_free(&x->scratch, &x->g);
    gpu_buffer_free(&x->tiles, &x->g);
    gpu_buffer_free(&x->split, &x->g);
    gpu_buffer_free(&x->twiddles, &x->g);
    gpu_buffer_free(&x->places, &x->g);
    gpu_passes_free(&x->passes, &x->g);
    x->slots = 0;
}

static void gpu_close(engine *base) {
    gpu_engine *x = of(base);
    unprepare(x);
    gpu_device_close(&x->g);
    mem_free(x->cache_dir);
    mem_free(x);
}

/* --- commands ------------------------------------------------------------------------------- */

static bool begin(const gpu_device *g, VkCommandBuffer *c, VkCommandBufferUsageFlags usage,
                  err *e) {
    VkCommandBufferAllocateInfo alloc = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                         .commandPool = g->pool,
                                         .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                         .commandBufferCount = 1};
    VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                     .flags = usage};
    VK_TRY(g, vkAllocateCommandBuffers(g->dev, &alloc, c), e);
    VK_TRY(g, vkBeginCommandBuffer(*c, &info), e);
    return true;
fail:
    return false;
}

static void barrier_of(VkCommandBuffer c, VkPipelineStageFlags from, VkAccessFlags wrote,
                       VkPipelineStageFlags to, VkAccessFlags will) {
    VkMemoryBarrier b = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = wrote, .dstAccessMask = will};
    vkCmdPipelineBarrier(c, from, to, 0, 1, &b, 0, NULL, 0, NULL);
}

/* Everything before is done and seen by everything after, copies and the host included. */
static void barrier(VkCommandBuffer c) {
    VkPipelineStageFlags work = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT |
                                VK_PIPELINE_STAGE_TRANSFER_BIT;
    barrier_of(c, work, VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
               work | VK_PIPELINE_STAGE_HOST_BIT,
               VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                   VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT |
                   VK_ACCESS_HOST_READ_BIT);
}

/* From one pass to the next. */
static void barrier_of_passes(VkCommandBuffer c) {
    VkPipelineStageFlags compute = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
    barrier_of(c, compute, VK_ACCESS_SHADER_WRITE_BIT, compute,
               VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
}

static bool submit(const gpu_device *g, VkCommandBuffer c, VkFence fence, err *e) {
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &c};
    VK_TRY(g, vkQueueSubmit(g->queue, 1, &info, fence), e);
    return true;
fail:
    return false;
}

/* Copies a filled host buffer into a device buffer, once, and waits. */
static bool upload(const gpu_device *g, const gpu_buffer *to, const gpu_buffer *from, err *e) {
    VkCommandBuffer c = VK_NULL_HANDLE;
    bool ok = begin(g, &c, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, e);
    if (!ok) goto fail;
    VkBufferCopy all = {0, 0, from->bytes};
    vkCmdCopyBuffer(c, from->buf, to->buf, 1, &all);
    barrier(c);
    VK_TRY(g, vkEndCommandBuffer(c), e);
    ok = submit(g, c, VK_NULL_HANDLE, e);
    if (ok) VK_TRY(g, vkQueueWaitIdle(g->queue), e);
    vkFreeCommandBuffers(g->dev, g->pool, 1, &c);
    return ok;
fail:
    if (c) vkFreeCommandBuffers(g->dev, g->pool, 1, &c);
    return false;
}

/* --- tables and spectrum -------------------------------------------------------------------- */

static bool upload_twiddles(gpu_engine *x, const gpu_twiddles *t, err *e) {
    gpu_buffer host = {0};
    bool ok = gpu_buffer_make(&x->twiddles, &x->g, t->bytes, GPU_ON_DEVICE, "twiddles", e) &&
              gpu_buffer_make(&host, &x->g, t->bytes, GPU_UPLOAD, "twiddles on the host", e);
    if (ok) gpu_twiddles_fill(host.map, &x->p, t);
    ok = ok && upload(&x->g, &x->twiddles, &host, e);
    gpu_buffer_free(&host, &x->g);
    return ok;
}

static bool upload_places(gpu_engine *x, err *e) {
    gpu_buffer host = {0};
    const plan_axis *a = &x->p.axis[0];
    uint64_t bytes = a->one_pass ? 0 : a->length * sizeof(uint32_t);
    bool ok = gpu_buffer_make(&x->places, &x->g, bytes, GPU_ON_DEVICE, "places", e);
    if (!bytes) return ok;
    ok = ok && gpu_buffer_make(&host, &x->g, bytes, GPU_UPLOAD, "places on the host", e);
    if (ok) gpu_places_fill(host.map, a);
    ok = ok && upload(&x->g, &x->places, &host, e);
    gpu_buffer_free(&host, &x->g);
    return ok;
}

static bool upload_spectrum(gpu_engine *x, const spectrum_lines *k, err *e) {
    uint64_t plane = x->p.spectrum_bytes / x->p.ask.spectra;
    x->spectrum = mem_new(x->chunks, sizeof *x->spectrum, "buffers", e);
    if (!x->spectrum) return false;
    for (uint32_t i = 0; i < x->chunks; i++) {
        bool one = x->p.ask.spectra == 1;
        uint32_t count = one ? 1 : chunk_channels(x, i);
        gpu_buffer host = {0};
        bool ok = gpu_buffer_make(&x->spectrum[i], &x->g, plane * count, GPU_ON_DEVICE,
                                  "kernel spectrum", e) &&
                  gpu_buffer_make(&host, &x->g, plane * count, GPU_UPLOAD,
                                  "kernel spectrum on the host", e) &&
                  gpu_spectrum_fill(host.map, k, &x->p, one ? 0 : i * x->p.channels_per_bind, count,
                                    x->threads, e) &&
                  upload(&x->g, &x->spectrum[i], &host, e);
        gpu_buffer_free(&host, &x->g);
        if (!ok) return false;
    }
    return true;
}

/* --- slots ---------------------------------------------------------------------------------- */

static void bind(gpu_engine *x, VkDescriptorSet set, const gpu_buffer *const buffer[BINDINGS]) {
    VkDescriptorBufferInfo info[BINDINGS];
    VkWriteDescriptorSet w[BINDINGS];
    for (uint32_t i = 0; i < BINDINGS; i++) {
        info[i] = (VkDescriptorBufferInfo){buffer[i]->buf, 0, VK_WHOLE_SIZE};
        w[i] = (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                      .dstSet = set,
                                      .dstBinding = i,
                                      .descriptorCount = 1,
                                      .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                      .pBufferInfo = &info[i]};
    }
    vkUpdateDescriptorSets(x->g.dev, BINDINGS, w, 0, NULL);
}

static bool make_sets(gpu_engine *x, slot *s, err *e) {
    s->set = mem_new(2 * x->chunks, sizeof *s->set, "descriptor sets", e);
    if (!s->set) return false;
    for (uint32_t i = 0; i < 2 * x->chunks; i++) {
        VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                            .descriptorPool = x->sets,
                                            .descriptorSetCount = 1,
                                            .pSetLayouts = &x->passes.set_layout};
        VK_TRY(&x->g, vkAllocateDescriptorSets(x->g.dev, &info, &s->set[i]), e);
        uint32_t chunk = i % x->chunks;
        bool inner = i >= x->chunks; /* the convolution works on split lines as on its lines */
        const gpu_buffer *lines = inner ? &x->split : &x->scratch;
        const gpu_buffer *b[BINDINGS] = {
            &s->image[chunk],    lines,
            &x->spectrum[chunk], &x->twiddles,
            &s->weights,         &x->split,
            &x->places,          x->p.tile_in != x->p.tile ? &x->tiles : lines};
        bind(x, s->set[i], b);
    }
    return true;
fail:
    return false;
}

static void stamp(const slot *s, uint32_t *next) {
    gpu_stamp(s->commands, s->stamps, next);
}

static void record_passes(gpu_engine *x, slot *s, uint32_t *next) {
    bool split = !x->p.axis[1].one_pass;
    for (uint32_t chunk = 0; chunk < x->chunks; chunk++) {
        uint32_t first = chunk * x->p.channels_per_bind;
        vkCmdPushConstants(s->commands, x->passes.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                           sizeof first, &first);
        for (uint32_t i = 0; i < x->p.passes; i++) {
            const plan_pass *pass = &x->p.pass[i];
            bool inner = split && pass->kind == PASS_CONVOLVE;
            vkCmdBindPipeline(s->commands, VK_PIPELINE_BIND_POINT_COMPUTE, x->passes.pipeline[i]);
            vkCmdBindDescriptorSets(s->commands, VK_PIPELINE_BIND_POINT_COMPUTE, x->passes.layout,
                                    0, 1, &s->set[chunk + (inner ? x->chunks : 0)], 0, NULL);
            vkCmdDispatch(s->commands, pass->groups[0], pass->groups[1], chunk_channels(x, chunk));
            barrier_of_passes(s->commands);
            stamp(s, next);
        }
    }
}

static void record_copy(gpu_engine *x, slot *s, bool up) {
    if (x->direct[up ? 0 : 1]) return;
    uint64_t plane = x->p.image_bytes / x->p.ask.channels;
    for (uint32_t i = 0; i < x->chunks; i++) {
        uint64_t at = i * x->p.channels_per_bind * plane, bytes = chunk_channels(x, i) * plane;
        VkBufferCopy region = {up ? at : 0, up ? 0 : at, bytes};
        if (up)
            vkCmdCopyBuffer(s->commands, s->up.buf, s->image[i].buf, 1, &region);
        else
            vkCmdCopyBuffer(s->commands, s->image[i].buf, s->down.buf, 1, &region);
    }
    barrier(s->commands);
}

static uint32_t stamp_count(const gpu_engine *x) {
    return 3 + x->chunks * x->p.passes;
}

static bool record(gpu_engine *x, slot *s, err *e) {
    uint32_t next = 0;
    if (!begin(&x->g, &s->commands, 0, e)) return false;
    if (s->stamps) vkCmdResetQueryPool(s->commands, s->stamps, 0, stamp_count(x));
    barrier(s->commands); /* the frame before may still use the scratch */
    stamp(s, &next);
    record_copy(x, s, true);
    stamp(s, &next);
    record_passes(x, s, &next);
    barrier(s->commands);
    record_copy(x, s, false);
    stamp(s, &next);
    VK_TRY(&x->g, vkEndCommandBuffer(s->commands), e);
    return true;
fail:
    return false;
}

static bool make_slot(gpu_engine *x, slot *s, bool timestamps, err *e) {
    const gpu_device *g = &x->g;
    uint64_t plane = x->p.image_bytes / x->p.ask.channels;
    uint64_t up = x->direct[0] ? 0 : x->p.image_bytes, down = x->direct[1] ? 0 : x->p.image_bytes;
    if (!gpu_buffer_make(&s->up, g, up, GPU_UPLOAD, "upload", e) ||
        !gpu_buffer_make(&s->down, g, down, GPU_DOWNLOAD, "download", e) ||
        !gpu_buffer_make(&s->weights, g, 2ull * x->p.ask.channels * x->p.sample_bytes, GPU_UPLOAD,
                         "weights", e) ||
        !(s->image = mem_new(x->chunks, sizeof *s->image, "buffers", e)))
        return false;
    for (uint32_t i = 0; i < x->chunks; i++)
        if (!gpu_buffer_make(&s->image[i], g, chunk_channels(x, i) * plane,
                             x->direct[0] ? GPU_SHARED : GPU_ON_DEVICE, "image", e))
            return false;
    VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VK_TRY(g, vkCreateFence(g->dev, &fence, NULL, &s->fence), e);
    VkQueryPoolCreateInfo q = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                               .queryType = VK_QUERY_TYPE_TIMESTAMP,
                               .queryCount = stamp_count(x)};
    if (timestamps && g->tick > 0) VK_TRY(g, vkCreateQueryPool(g->dev, &q, NULL, &s->stamps), e);
    return make_sets(x, s, e) && record(x, s, e);
fail:
    return false;
}

static bool make_set_pool(gpu_engine *x, err *e) {
    uint32_t sets = 2 * x->chunks * x->slots;
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, BINDINGS * sets};
    VkDescriptorPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .maxSets = sets,
                                       .poolSizeCount = 1,
                                       .pPoolSizes = &size};
    VK_TRY(&x->g, vkCreateDescriptorPool(x->g.dev, &info, NULL, &x->sets), e);
    return true;
fail:
    return false;
}

static bool gpu_prepare(engine *base, const plan *p, spectrum_lines *k, const engine_options *o,
                        err *e) {
    gpu_engine *x = of(base);
    unprepare(x);
    x->p = *p;
    x->chunks = (p->ask.channels + p->channels_per_bind - 1) / p->channels_per_bind;
    x->slots = o && o->slots ? o->slots : 1;
    x->direct[0] = gpu_memory_is_shared(&x->g, &x->direct[1]);
    if (x->slots > MAX_SLOTS || p->ask.channels > ENGINE_CHANNELS)
        return err_set(e, ERR_INTERNAL, "%u slots and %u channels; %d and %d are the most",
                       x->slots, p->ask.channels, MAX_SLOTS, ENGINE_CHANNELS);
    gpu_twiddles t = gpu_twiddles_layout(p);
    bool ok =
        gpu_passes_make(&x->passes, &x->g, p, &t, x->uuid, x->cache_dir, x->threads, e) &&
        upload_twiddles(x, &t, e) && upload_places(x, e) && upload_spectrum(x, k, e) &&
        gpu_buffer_make(&x->scratch, &x->g,
                        p->scratch_bytes / p->ask.channels * p->channels_per_bind, GPU_ON_DEVICE,
                        "half spectrum", e) &&
        gpu_buffer_make(
            &x->tiles, &x->g,
            p->tile_in != p->tile ? p->scratch_bytes / p->ask.channels * p->channels_per_bind : 0,
            GPU_ON_DEVICE, "half spectrum in tiles", e) &&
        gpu_buffer_make(&x->split, &x->g, p->line_bytes / p->ask.channels * p->channels_per_bind,
                        GPU_ON_DEVICE, "split lines", e) &&
        make_set_pool(x, e);
    for (uint32_t i = 0; ok && i < x->slots; i++)
        ok = make_slot(x, &x->slot[i], o && o->timestamps, e);
    if (!ok) unprepare(x);
    return ok || err_in(e, "preparing %s", x->g.name);
}

/* --- frames --------------------------------------------------------------------------------- */

/* Rows between packed planes and a buffer that the host sees, whose rows are image_pitch apart. */
typedef struct {
    const gpu_engine *x;
    const slot *s;
    const void *const *in; /* NULL: from the device to `out` */
    void *const *out;
} rows;

/* A channel in the buffer. */
static uint8_t *plane_of(const rows *r, uint32_t channel) {
    const plan *p = &r->x->p;
    uint64_t plane = p->image_bytes / p->ask.channels;
    if (!r->x->direct[r->in ? 0 : 1])
        return (uint8_t *)(r->in ? r->s->up.map : r->s->down.map) + channel * plane;
    uint32_t chunk = channel / p->channels_per_bind;
    return (uint8_t *)r->s->image[chunk].map + channel % p->channels_per_bind * plane;
}

enum { ROWS_AT_ONCE = 32 };

static bool copy_rows(void *ctx, size_t index, int worker, err *e) {
    (void)worker, (void)e;
    const rows *r = ctx;
    const plan *p = &r->x->p;
    uint32_t h = p->ask.size[PLAN_Y], bands = (h + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE;
    size_t row = (size_t)p->ask.size[PLAN_X] * p->sample_bytes,
           pitch = (size_t)p->image_pitch * p->sample_bytes;
    uint32_t channel = (uint32_t)(index / bands), y = (uint32_t)(index % bands) * ROWS_AT_ONCE;
    uint8_t *there = plane_of(r, channel);
    for (uint32_t end = y + ROWS_AT_ONCE < h ? y + ROWS_AT_ONCE : h; y < end; y++) {
        if (r->in)
            memcpy(there + y * pitch, (const uint8_t *)r->in[channel] + y * row, row);
        else
            memcpy((uint8_t *)r->out[channel] + y * row, there + y * pitch, row);
    }
    return true;
}

static bool copy_planes(gpu_engine *x, rows r, err *e) {
    uint32_t bands = (x->p.ask.size[PLAN_Y] + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE;
    return par_for(x->threads, (size_t)bands * x->p.ask.channels, copy_rows, &r, e);
}

static void fill_weights(const gpu_engine *x, void *to, const engine_frame *f) {
    for (uint32_t c = 0; c < x->p.ask.channels; c++) {
        if (x->p.sample_bytes == 8) {
            ((double *)to)[2 * c] = f->tap[c];
            ((double *)to)[2 * c + 1] = f->gain[c];
        } else {
            ((float *)to)[2 * c] = (float)f->tap[c];
            ((float *)to)[2 * c + 1] = (float)f->gain[c];
        }
    }
}

static bool gpu_submit(engine *base, uint32_t slot_index, const engine_frame *f, err *e) {
    gpu_engine *x = of(base);
    slot *s = &x->slot[slot_index];
    if (slot_index >= x->slots || s->busy)
        return err_set(e, ERR_INTERNAL, "slot %u of %u is not free", slot_index, x->slots);
    if (!copy_planes(x, (rows){x, s, f->in, NULL}, e)) return false;
    fill_weights(x, s->weights.map, f);
    for (uint32_t c = 0; c < x->p.ask.channels; c++) s->out[c] = f->out[c];
    VK_TRY(&x->g, vkResetFences(x->g.dev, 1, &s->fence), e);
    if (!submit(&x->g, s->commands, s->fence, e)) return false;
    s->busy = true;
    return true;
fail:
    return false;
}

static bool read_times(gpu_engine *x, const slot *s, engine_times *t, err *e) {
    enum { MOST = 3 + PLAN_PASSES * ENGINE_CHANNELS };
    uint64_t at[MOST];
    uint32_t n = stamp_count(x), passes = x->p.passes;
    *t = (engine_times){0};
    if (!s->stamps || n > MOST) return true;
    VK_TRY(&x->g,
           vkGetQueryPoolResults(x->g.dev, s->stamps, 0, n, n * sizeof at[0], at, sizeof at[0],
                                 VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
           e);
    for (uint32_t i = 1; i < n; i++) {
        double seconds = (double)(at[i] - at[i - 1]) * x->g.tick;
        double *to = i == 1 ? &t->upload : i == n - 1 ? &t->download : &t->pass[(i - 2) % passes];
        *to += seconds;
        t->total += seconds;
    }
    return true;
fail:
    return false;
}

static bool gpu_wait(engine *base, uint32_t slot_index, engine_times *t, err *e) {
    gpu_engine *x = of(base);
    slot *s = &x->slot[slot_index];
    if (slot_index >= x->slots || !s->busy)
        return err_set(e, ERR_INTERNAL, "slot %u of %u has nothing to wait for", slot_index,
                       x->slots);
    VK_TRY(&x->g, vkWaitForFences(x->g.dev, 1, &s->fence, VK_TRUE, UINT64_MAX), e);
    s->busy = false;
    if (t && !read_times(x, s, t, e)) return false;
    unsigned messages = gpu_device_messages(&x->g);
    if (messages)
        return err_set(e, ERR_INTERNAL, "%u messages from the Vulkan validation layer", messages);
    return copy_planes(x, (rows){x, s, NULL, s->out}, e);
fail:
    return false;
}

/* --- benchmarks ----------------------------------------------------------------------------- */

typedef struct {
    gpu_engine *x;
    slot slot; /* its sets; commands and stamps come from outside */
} repeated;

static void record_frame(void *ctx, VkCommandBuffer c, VkQueryPool stamps, uint32_t *next) {
    repeated *r = ctx;
    r->slot.commands = c;
    r->slot.stamps = stamps;
    record_passes(r->x, &r->slot, next);
}

static bool gpu_repeat(engine *base, const engine_frame *f, engine_repeat *r, err *e) {
    gpu_engine *x = of(base);
    uint32_t passes = x->p.passes;
    double step[PLAN_PASSES * ENGINE_CHANNELS];
    if (!engine_run(base, f, NULL, e)) return false; /* the data is there, and warm */
    repeated again = {x, x->slot[0]};
    gpu_timing t = {r->count, passes * x->chunks, record_frame, &again};
    if (!gpu_time(&x->g, &t, &r->frame, step, e)) return false;
    for (uint32_t i = 0; i < passes; i++) r->pass[i] = 0;
    for (uint32_t i = 0; i < t.steps; i++) r->pass[i % passes] += step[i];
    if (!r->ceiling) return true;
    uint64_t bytes[PLAN_PASSES];
    for (uint32_t i = 0; i < passes; i++) bytes[i] = x->p.pass[i].bytes;
    err why = {0};
    if (gpu_time_copies(&x->g, r->count, bytes, passes, &r->copy, r->copy_pass, &why)) return true;
    if (why.code != ERR_RETRY) return err_set(e, why.code, "%s", why.msg);
    log_debug("copies are not timed beside the passes: %s", why.msg); /* no room for them */
    r->copy = 0;
    memset(r->copy_pass, 0, sizeof r->copy_pass);
    return true;
}

static const engine_calls CALLS = {gpu_prepare, gpu_submit, gpu_wait, gpu_repeat, gpu_close};

/* --- opening -------------------------------------------------------------------------------- */

/* --- opening -------------------------------------------------------------------------------- */

static engine *gpu_open(const engine_device *d, par *threads, const char *cache_dir, err *e) {
    gpu_engine *x = mem_new(1, sizeof *x, "engine", e);
    if (!x) return NULL;
    x->base.call = &CALLS;
    x->threads = threads;
    memcpy(x->uuid, d->uuid, sizeof x->uuid);
    if (cache_dir && !(x->cache_dir = mem_str(cache_dir, e))) goto fail;
    if (!gpu_device_open(&x->g, d, e)) goto fail;
    return &x->base;
fail:
    gpu_close(&x->base);
    return NULL;
}

const engine_kind ENGINE_KIND_GPU = {"gpu", gpu_device_list, gpu_open};
