#include "engine/gpu/gpu_frame.h"

#include "base/clock.h"
#include "base/mem.h"
#include "engine/gpu/gpu_commands.h"
#include "engine/gpu/gpu_planes.h"
#include "engine/gpu/gpu_time.h"

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
    uint64_t plane = (up ? bytes_up(w) : w->p.image_bytes) / w->p.ask.channels;
    for (uint32_t i = 0; i < w->chunks; i++) {
        uint64_t at = i * w->p.channels_per_bind * plane, bytes = gpu_chunk_channels(w, i) * plane;
        VkBufferCopy region = {up ? at : 0, up ? 0 : at, bytes};
        if (up)
            vkCmdCopyBuffer(c, f->up.buf, input_of(f, i)->buf, 1, &region);
        else
            vkCmdCopyBuffer(c, f->image[i].buf, f->down.buf, 1, &region);
    }
}

static bool has_step(const gpu_work *w, gpu_step step) {
    return step == GPU_STEP_PASSES || !w->direct[step == GPU_STEP_UP ? GPU_UP : GPU_DOWN];
}

static gpu_queue queue_of(const gpu_work *w, gpu_step step) {
    const gpu_device *g = &w->g;
    if (step == GPU_STEP_PASSES) return (gpu_queue){g->queue, g->family, g->pool, g->stamp_bits};
    return g->copies[step == GPU_STEP_UP ? GPU_UP : GPU_DOWN];
}

/* Stamps before a step and after it, in the passes after each of them. */
static uint32_t stamps_of(const gpu_work *w, gpu_step step) {
    return step == GPU_STEP_PASSES ? 1 + w->chunks * w->p.passes : 2;
}

static uint32_t first_stamp(const gpu_work *w, gpu_step step) {
    uint32_t n = 0;
    for (int i = 0; i < (int)step; i++) n += stamps_of(w, (gpu_step)i);
    return n;
}

static bool record(gpu_frame *f, const gpu_work *w, gpu_step step, err *e) {
    gpu_queue q = queue_of(w, step);
    VkCommandBuffer *c = &f->commands[step];
    VkQueryPool stamps = q.stamp_bits ? f->stamps : VK_NULL_HANDLE;
    uint32_t next = first_stamp(w, step);
    if (!has_step(w, step)) return true;
    if (!gpu_begin(&w->g, q.pool, c, 0, e)) return false;
    if (step == GPU_STEP_PASSES) gpu_barrier_of_passes(*c); /* the frame before uses the scratch */
    gpu_stamp(*c, stamps, &next);
    if (step == GPU_STEP_PASSES) {
        gpu_frame_record_passes(f, w, *c, stamps, &next);
        if (!has_step(w, GPU_STEP_DOWN)) gpu_barrier_of_passes_to_host(*c);
    } else {
        record_copies(f, w, *c, step == GPU_STEP_UP);
        gpu_stamp(*c, stamps, &next);
        if (step == GPU_STEP_DOWN) gpu_barrier_of_copies_to_host(*c);
    }
    VK_TRY(&w->g, vkEndCommandBuffer(*c), e);
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
    uint64_t up = w->direct[GPU_UP] ? 0 : bytes_up(w),
             down = w->direct[GPU_DOWN] ? 0 : w->p.image_bytes;
    if (halfs &&
        !(f->input = make_chunks(w, w->p.input_bytes, w->direct[GPU_UP], "image of halfs", e)))
        return false;
    bool seen = w->direct[GPU_DOWN] || (w->direct[GPU_UP] && !halfs);
    return gpu_buffer_make(&f->up, g, up, GPU_UPLOAD, "upload", e) &&
           gpu_buffer_make(&f->down, g, down, GPU_DOWNLOAD, "download", e) &&
           gpu_buffer_make(&f->weights, g, 2ull * w->p.ask.channels * w->p.sample_bytes, GPU_UPLOAD,
                           "weights", e) &&
           (f->image = make_chunks(w, w->p.image_bytes, seen, "image", e));
}

static bool make_signals(gpu_frame *f, const gpu_work *w, bool timestamps, err *e) {
    const gpu_device *g = &w->g;
    VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    VkQueryPoolCreateInfo q = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                               .queryType = VK_QUERY_TYPE_TIMESTAMP,
                               .queryCount = first_stamp(w, GPU_STEPS)};
    VK_TRY(g, vkCreateFence(g->dev, &fence, NULL, &f->fence), e);
    for (int i = 0; i < GPU_STEPS - 1; i++)
        VK_TRY(g, vkCreateSemaphore(g->dev, &semaphore, NULL, &f->done[i]), e);
    /* Queues that only copy cannot reset queries. */
    if (timestamps && g->stamp_bits && g->reset_queries)
        VK_TRY(g, vkCreateQueryPool(g->dev, &q, NULL, &f->stamps), e);
    return true;
fail:
    return false;
}

bool gpu_frame_make(gpu_frame *f, const gpu_work *w, bool timestamps, err *e) {
    if (!make_buffers(f, w, e) || !make_signals(f, w, timestamps, e) || !make_sets(f, w, e))
        return false;
    for (int step = 0; step < GPU_STEPS; step++)
        if (!record(f, w, (gpu_step)step, e)) return false;
    return true;
}

void gpu_frame_free(gpu_frame *f, const gpu_work *w) {
    const gpu_device *g = &w->g;
    gpu_buffer_free(&f->up, g);
    gpu_buffer_free(&f->down, g);
    gpu_buffer_free(&f->weights, g);
    free_chunks(f->input, w);
    free_chunks(f->image, w);
    mem_free(f->set);
    for (int step = 0; step < GPU_STEPS; step++)
        if (f->commands[step])
            vkFreeCommandBuffers(g->dev, queue_of(w, (gpu_step)step).pool, 1, &f->commands[step]);
    for (int i = 0; i < GPU_STEPS - 1; i++) vkDestroySemaphore(g->dev, f->done[i], NULL);
    vkDestroyFence(g->dev, f->fence, NULL);
    vkDestroyQueryPool(g->dev, f->stamps, NULL);
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
        to.there[c] = w->direct[up ? GPU_UP : GPU_DOWN] ? (uint8_t *)seen->map + at * plane
                                                        : (uint8_t *)staging->map + c * plane;
    }
    return to;
}

static void fill_weights(const gpu_work *w, void *to, const engine_frame *f) {
    for (uint32_t c = 0; c < w->p.ask.channels; c++) {
        if (w->p.sample_bytes == 8) {
            ((double *)to)[2 * c] = f->term[0].tap[c];
            ((double *)to)[2 * c + 1] = f->term[0].gain[c];
        } else {
            ((float *)to)[2 * c] = (float)f->term[0].tap[c];
            ((float *)to)[2 * c + 1] = (float)f->term[0].gain[c];
        }
    }
}

static bool submit_steps(const gpu_frame *f, const gpu_work *w, err *e) {
    VkSemaphore after = VK_NULL_HANDLE;
    gpu_step last = has_step(w, GPU_STEP_DOWN) ? GPU_STEP_DOWN : GPU_STEP_PASSES;
    for (gpu_step step = GPU_STEP_UP; step <= last; step++) {
        if (!has_step(w, step)) continue;
        gpu_submission s = {.queue = queue_of(w, step).queue,
                            .commands = f->commands[step],
                            .after = after,
                            .then = step < last ? f->done[step] : VK_NULL_HANDLE,
                            .fence = step < last ? VK_NULL_HANDLE : f->fence};
        if (!gpu_submit(&w->g, &s, e)) return false;
        after = s.then;
    }
    return true;
}

bool gpu_frame_load(gpu_frame *f, const gpu_work *w, const engine_frame *from, err *e) {
    const gpu_device *g = &w->g;
    gpu_planes to = planes_of(f, w, true);
    double start = clock_now();
    if (!gpu_planes_write(&to, from->term[0].in, w->threads, e)) return false;
    f->host_up = clock_now() - start;
    fill_weights(w, f->weights.map, from);
    for (uint32_t c = 0; c < w->p.ask.channels; c++) f->out[c] = from->out[c];
    f->sink = from->sink;
    VK_TRY(g, vkResetFences(g->dev, 1, &f->fence), e);
    if (f->stamps) g->reset_queries(g->dev, f->stamps, 0, first_stamp(w, GPU_STEPS));
    return true;
fail:
    return false;
}

bool gpu_frame_submit(gpu_frame *f, const gpu_work *w, err *e) {
    f->busy = submit_steps(f, w, e);
    f->lost = !f->busy;
    return f->busy;
}

/* Adds the times between the stamps of a step: to `each` of them in turn. */
static bool read_step(const gpu_frame *f, const gpu_work *w, gpu_step step, double *each,
                      uint32_t count, err *e) {
    enum { MOST = 1 + PLAN_PASSES * ENGINE_CHANNELS };
    uint64_t at[MOST];
    uint32_t n = stamps_of(w, step);
    uint32_t bits = queue_of(w, step).stamp_bits;
    if (!f->stamps || !has_step(w, step) || !bits || n > MOST) return true;
    VK_TRY(&w->g,
           vkGetQueryPoolResults(w->g.dev, f->stamps, first_stamp(w, step), n, n * sizeof at[0], at,
                                 sizeof at[0], VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
           e);
    for (uint32_t i = 1; i < n; i++)
        each[(i - 1) % count] += gpu_seconds(w->g.tick, bits, at[i - 1], at[i]);
    return true;
fail:
    return false;
}

static bool read_times(const gpu_frame *f, const gpu_work *w, engine_times *t, err *e) {
    return read_step(f, w, GPU_STEP_UP, &t->upload, 1, e) &&
           read_step(f, w, GPU_STEP_PASSES, t->pass, w->p.passes, e) &&
           read_step(f, w, GPU_STEP_DOWN, &t->download, 1, e);
}

/* What the sink's owner does with its rows is not ours to count. */
static bool bring_back(const gpu_frame *f, const gpu_work *w, engine_times *t, err *e) {
    gpu_planes from = planes_of(f, w, false);
    if (f->sink) return gpu_planes_sink(&from, f->sink, w->threads, e);
    double start = clock_now();
    bool ok = gpu_planes_read(&from, f->out, w->threads, e);
    t->download += clock_now() - start;
    return ok;
}

bool gpu_frame_wait(gpu_frame *f, const gpu_work *w, engine_times *to, err *e) {
    engine_times t = {.upload = f->host_up};
    f->busy = false;
    f->lost = true;
    VK_TRY(&w->g, vkWaitForFences(w->g.dev, 1, &f->fence, VK_TRUE, UINT64_MAX), e);
    f->lost = false;
    if (to && !read_times(f, w, &t, e)) return false;
    unsigned messages = gpu_device_messages(&w->g);
    if (messages)
        return err_set(e, ERR_INTERNAL, "%u messages from the Vulkan validation layer", messages);
    if (!bring_back(f, w, &t, e)) return false;
    t.total = t.upload + t.download;
    for (uint32_t i = 0; i < w->p.passes; i++) t.total += t.pass[i];
    if (to) *to = t;
    return true;
fail:
    return false;
}
