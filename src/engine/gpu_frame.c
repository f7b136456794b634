#include "engine/gpu_frame.h"

#include "base/mem.h"
#include "engine/gpu_commands.h"
#include "engine/gpu_planes.h"
#include "engine/gpu_time.h"

uint32_t gpu_chunk_channels(const gpu_work *w, uint32_t chunk) {
    uint32_t per = w->p.channels_per_bind, left = w->p.ask.channels - chunk * per;
    return left < per ? left : per;
}

/* --- descriptors ---------------------------------------------------------------------------- */

/* Per chunk: of most passes, of the convolution on split lines, and of the pass that reads the
 * image. */
enum { SET_MOST, SET_INNER, SET_INPUT, SETS };

uint32_t gpu_frame_sets(const gpu_work *w) {
    return SETS * w->chunks;
}

static void bind(const gpu_device *g, VkDescriptorSet set,
                 const gpu_buffer *const buffer[BINDINGS]) {
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
    vkUpdateDescriptorSets(g->dev, BINDINGS, w, 0, NULL);
}

/* What the first pass reads. */
static const gpu_buffer *input_of(const gpu_frame *f, uint32_t chunk) {
    return f->input ? &f->input[chunk] : &f->image[chunk];
}

static bool make_sets(gpu_frame *f, const gpu_work *w, err *e) {
    f->set = mem_new(gpu_frame_sets(w), sizeof *f->set, "descriptor sets", e);
    if (!f->set) return false;
    for (uint32_t i = 0; i < gpu_frame_sets(w); i++) {
        VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                            .descriptorPool = w->sets,
                                            .descriptorSetCount = 1,
                                            .pSetLayouts = &w->passes.set_layout};
        VK_TRY(&w->g, vkAllocateDescriptorSets(w->g.dev, &info, &f->set[i]), e);
        uint32_t chunk = i / SETS, kind = i % SETS;
        const gpu_buffer *lines = kind == SET_INNER ? &w->split : &w->scratch;
        const gpu_buffer *b[BINDINGS] = {kind == SET_INPUT ? input_of(f, chunk) : &f->image[chunk],
                                         lines,
                                         &w->spectrum[chunk],
                                         &w->twiddles,
                                         &f->weights,
                                         &w->split,
                                         &w->places,
                                         w->p.tile_in != w->p.tile ? &w->tiles : lines};
        bind(&w->g, f->set[i], b);
    }
    return true;
fail:
    return false;
}

/* --- commands ------------------------------------------------------------------------------- */

static uint32_t set_kind(const gpu_work *w, uint32_t pass) {
    bool split = !w->p.axis[1].one_pass;
    if (split && w->p.pass[pass].kind == PASS_CONVOLVE) return SET_INNER;
    return pass == 0 ? SET_INPUT : SET_MOST;
}

void gpu_frame_record_passes(const gpu_frame *f, const gpu_work *w, VkCommandBuffer c,
                             VkQueryPool stamps, uint32_t *next) {
    for (uint32_t chunk = 0; chunk < w->chunks; chunk++) {
        uint32_t first = chunk * w->p.channels_per_bind;
        vkCmdPushConstants(c, w->passes.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof first,
                           &first);
        for (uint32_t i = 0; i < w->p.passes; i++) {
            const plan_pass *pass = &w->p.pass[i];
            vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, w->passes.pipeline[i]);
            vkCmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_COMPUTE, w->passes.layout, 0, 1,
                                    &f->set[chunk * SETS + set_kind(w, i)], 0, NULL);
            vkCmdDispatch(c, pass->groups[0], pass->groups[1], gpu_chunk_channels(w, chunk));
            gpu_barrier_of_passes(c);
            gpu_stamp(c, stamps, next);
        }
    }
}

static uint64_t bytes_up(const gpu_work *w) {
    return w->p.input_bytes ? w->p.input_bytes : w->p.image_bytes;
}

static void record_copies(const gpu_frame *f, const gpu_work *w, VkCommandBuffer c, bool up) {
    if (w->direct[up ? 0 : 1]) return;
    uint64_t plane = (up ? bytes_up(w) : w->p.image_bytes) / w->p.ask.channels;
    for (uint32_t i = 0; i < w->chunks; i++) {
        uint64_t at = i * w->p.channels_per_bind * plane, bytes = gpu_chunk_channels(w, i) * plane;
        VkBufferCopy region = {up ? at : 0, up ? 0 : at, bytes};
        if (up)
            vkCmdCopyBuffer(c, f->up.buf, input_of(f, i)->buf, 1, &region);
        else
            vkCmdCopyBuffer(c, f->image[i].buf, f->down.buf, 1, &region);
    }
    gpu_barrier(c);
}

static uint32_t stamp_count(const gpu_work *w) {
    return 3 + w->chunks * w->p.passes;
}

static bool record(gpu_frame *f, const gpu_work *w, err *e) {
    uint32_t next = 0;
    if (!gpu_begin(&w->g, &f->commands, 0, e)) return false;
    if (f->stamps) vkCmdResetQueryPool(f->commands, f->stamps, 0, stamp_count(w));
    gpu_barrier(f->commands); /* the frame before may still use the scratch */
    gpu_stamp(f->commands, f->stamps, &next);
    record_copies(f, w, f->commands, true);
    gpu_stamp(f->commands, f->stamps, &next);
    gpu_frame_record_passes(f, w, f->commands, f->stamps, &next);
    gpu_barrier(f->commands);
    record_copies(f, w, f->commands, false);
    gpu_stamp(f->commands, f->stamps, &next);
    VK_TRY(&w->g, vkEndCommandBuffer(f->commands), e);
    return true;
fail:
    return false;
}

/* --- making --------------------------------------------------------------------------------- */

/* One buffer for each chunk. */
static gpu_buffer *make_chunks(const gpu_work *w, uint64_t all, bool shared, const char *name,
                               err *e) {
    gpu_buffer *b = mem_new(w->chunks, sizeof *b, "buffers", e);
    uint64_t plane = all / w->p.ask.channels;
    bool ok = b != NULL;
    for (uint32_t i = 0; ok && i < w->chunks; i++)
        ok = gpu_buffer_make(&b[i], &w->g, gpu_chunk_channels(w, i) * plane,
                             shared ? GPU_SHARED : GPU_ON_DEVICE, name, e);
    for (uint32_t i = 0; b && !ok && i < w->chunks; i++) gpu_buffer_free(&b[i], &w->g);
    if (ok) return b;
    mem_free(b);
    return NULL;
}

static void free_chunks(gpu_buffer *b, const gpu_work *w) {
    for (uint32_t i = 0; b && i < w->chunks; i++) gpu_buffer_free(&b[i], &w->g);
    mem_free(b);
}

static bool make_buffers(gpu_frame *f, const gpu_work *w, err *e) {
    const gpu_device *g = &w->g;
    bool halfs = w->p.input_bytes > 0;
    uint64_t up = w->direct[0] ? 0 : bytes_up(w), down = w->direct[1] ? 0 : w->p.image_bytes;
    if (halfs && !(f->input = make_chunks(w, w->p.input_bytes, w->direct[0], "image of halfs", e)))
        return false;
    bool seen = w->direct[1] || (w->direct[0] && !halfs);
    return gpu_buffer_make(&f->up, g, up, GPU_UPLOAD, "upload", e) &&
           gpu_buffer_make(&f->down, g, down, GPU_DOWNLOAD, "download", e) &&
           gpu_buffer_make(&f->weights, g, 2ull * w->p.ask.channels * w->p.sample_bytes, GPU_UPLOAD,
                           "weights", e) &&
           (f->image = make_chunks(w, w->p.image_bytes, seen, "image", e));
}

bool gpu_frame_make(gpu_frame *f, const gpu_work *w, bool timestamps, err *e) {
    const gpu_device *g = &w->g;
    if (!make_buffers(f, w, e)) return false;
    VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VK_TRY(g, vkCreateFence(g->dev, &fence, NULL, &f->fence), e);
    VkQueryPoolCreateInfo q = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                               .queryType = VK_QUERY_TYPE_TIMESTAMP,
                               .queryCount = stamp_count(w)};
    if (timestamps && g->tick > 0) VK_TRY(g, vkCreateQueryPool(g->dev, &q, NULL, &f->stamps), e);
    return make_sets(f, w, e) && record(f, w, e);
fail:
    return false;
}

void gpu_frame_free(gpu_frame *f, const gpu_work *w) {
    const gpu_device *g = &w->g;
    gpu_buffer_free(&f->up, g);
    gpu_buffer_free(&f->down, g);
    gpu_buffer_free(&f->weights, g);
    free_chunks(f->input, w);
    free_chunks(f->image, w);
    mem_free(f->set);
    if (f->commands) vkFreeCommandBuffers(g->dev, g->pool, 1, &f->commands);
    if (f->fence) vkDestroyFence(g->dev, f->fence, NULL);
    if (f->stamps) vkDestroyQueryPool(g->dev, f->stamps, NULL);
    *f = (gpu_frame){0};
}

/* --- there and back ------------------------------------------------------------------------- */

/* What the host writes or reads: the image of each chunk, or staging for all of them. */
static gpu_planes planes_of(const gpu_frame *f, const gpu_work *w, bool up) {
    const plan *p = &w->p;
    gpu_planes to = {.channels = p->ask.channels,
                     .width = p->ask.size[PLAN_X],
                     .height = p->ask.size[PLAN_Y],
                     .pitch = p->image_pitch,
                     .sample_bytes = p->sample_bytes,
                     .halfs = up && p->input_bytes};
    uint64_t plane = (up ? bytes_up(w) : p->image_bytes) / p->ask.channels;
    for (uint32_t c = 0; c < p->ask.channels; c++) {
        uint32_t chunk = c / p->channels_per_bind, at = c % p->channels_per_bind;
        const gpu_buffer *seen = up ? input_of(f, chunk) : &f->image[chunk];
        const gpu_buffer *staging = up ? &f->up : &f->down;
        to.there[c] = w->direct[up ? 0 : 1] ? (uint8_t *)seen->map + at * plane
                                            : (uint8_t *)staging->map + c * plane;
    }
    return to;
}

static void fill_weights(const gpu_work *w, void *to, const engine_frame *f) {
    for (uint32_t c = 0; c < w->p.ask.channels; c++) {
        if (w->p.sample_bytes == 8) {
            ((double *)to)[2 * c] = f->tap[c];
            ((double *)to)[2 * c + 1] = f->gain[c];
        } else {
            ((float *)to)[2 * c] = (float)f->tap[c];
            ((float *)to)[2 * c + 1] = (float)f->gain[c];
        }
    }
}

bool gpu_frame_submit(gpu_frame *f, const gpu_work *w, const engine_frame *from, err *e) {
    gpu_planes to = planes_of(f, w, true);
    if (!gpu_planes_write(&to, from->in, w->threads, e)) return false;
    fill_weights(w, f->weights.map, from);
    for (uint32_t c = 0; c < w->p.ask.channels; c++) f->out[c] = from->out[c];
    VK_TRY(&w->g, vkResetFences(w->g.dev, 1, &f->fence), e);
    if (!gpu_submit(&w->g, f->commands, f->fence, e)) return false;
    f->busy = true;
    return true;
fail:
    return false;
}

static bool read_times(const gpu_frame *f, const gpu_work *w, engine_times *t, err *e) {
    enum { MOST = 3 + PLAN_PASSES * ENGINE_CHANNELS };
    uint64_t at[MOST];
    uint32_t n = stamp_count(w), passes = w->p.passes;
    *t = (engine_times){0};
    if (!f->stamps || n > MOST) return true;
    VK_TRY(&w->g,
           vkGetQueryPoolResults(w->g.dev, f->stamps, 0, n, n * sizeof at[0], at, sizeof at[0],
                                 VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
           e);
    for (uint32_t i = 1; i < n; i++) {
        double seconds = (double)(at[i] - at[i - 1]) * w->g.tick;
        double *to = i == 1 ? &t->upload : i == n - 1 ? &t->download : &t->pass[(i - 2) % passes];
        *to += seconds;
        t->total += seconds;
    }
    return true;
fail:
    return false;
}

bool gpu_frame_wait(gpu_frame *f, const gpu_work *w, engine_times *t, err *e) {
    VK_TRY(&w->g, vkWaitForFences(w->g.dev, 1, &f->fence, VK_TRUE, UINT64_MAX), e);
    f->busy = false;
    if (t && !read_times(f, w, t, e)) return false;
    unsigned messages = gpu_device_messages(&w->g);
    if (messages)
        return err_set(e, ERR_INTERNAL, "%u messages from the Vulkan validation layer", messages);
    gpu_planes from = planes_of(f, w, false);
    return gpu_planes_read(&from, f->out, w->threads, e);
fail:
    return false;
}
