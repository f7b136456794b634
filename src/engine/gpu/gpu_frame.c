#include "engine/gpu/gpu_frame.h"

#include "base/clock.h"
#include "base/half.h"
#include "base/mem.h"
#include "base/number.h"
#include "engine/gpu/gpu_commands.h"

#include <string.h>

uint32_t gpu_chunk_channels(const gpu_work *w, uint32_t chunk) {
    uint32_t per = w->p.channels_per_bind;
    return min_u32(w->p.ask.channels - chunk * per, per);
}

/* Returns the buffer that the first pass reads. */
static const gpu_buffer *input_of(const gpu_frame *f, uint32_t chunk) {
    return f->input ? &f->input[chunk] : &f->image[chunk];
}

static uint64_t bytes_up(const gpu_work *w) {
    return w->p.input_bytes ? w->p.input_bytes : w->p.image_bytes;
}
static uint64_t bytes_down(const gpu_work *w) {
    return w->p.image_bytes;
}

/* --- steps ---------------------------------------------------------------------------------- */

static bool has_step(const gpu_work *w, gpu_step step) {
    return step == GPU_STEP_PASSES || !w->direct[step == GPU_STEP_UP ? GPU_UP : GPU_DOWN];
}

static const gpu_queue *queue_of(const gpu_work *w, gpu_step step) {
    if (step == GPU_STEP_PASSES) return &w->g.compute;
    return &w->g.copies[step == GPU_STEP_UP ? GPU_UP : GPU_DOWN];
}

/* Stamps stand before a step and after it, in the passes after each of them. */
static uint32_t stamps_of(const gpu_work *w, gpu_step step) {
    return step == GPU_STEP_PASSES ? 1 + w->chunks * w->p.passes : 2;
}

static uint32_t first_stamp(const gpu_work *w, gpu_step step) {
    uint32_t n = 0;
    for (int i = 0; i < (int)step; i++) n += stamps_of(w, (gpu_step)i);
    return n;
}

/* --- descriptors ---------------------------------------------------------------------------- */

/* Per chunk: for most passes, for the convolution on split lines, and for the pass that reads the
 * image. */
enum { SET_MOST, SET_INNER, SET_INPUT, SETS };

static bool make_sets(gpu_frame *f, const gpu_work *w, err *e) {
    uint32_t count = SETS * w->chunks;
    if (!gpu_sets_make(&f->sets, &w->g, &w->passes.layouts, count, e)) return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t chunk = i / SETS, kind = i % SETS;
        const gpu_buffer *lines = kind == SET_INNER ? &w->split : &w->scratch;
        const gpu_buffer *b[BINDINGS] = {
            [BIND_IMAGE] = kind == SET_INPUT ? input_of(f, chunk) : &f->image[chunk],
            [BIND_HALF] = lines,
            [BIND_SPECTRUM] = &w->spectrum[chunk],
            [BIND_TWIDDLES] = &w->twiddles,
            [BIND_WEIGHTS] = &f->weights,
            [BIND_SPLIT] = &w->split,
            [BIND_PLACES] = &w->places,
            [BIND_CONVOLVED] = w->p.tile_in != w->p.tile ? &w->tiles : lines};
        gpu_bind(f->sets.set[i], &w->g, &w->passes.layouts, b);
    }
    return true;
}

/* --- commands ------------------------------------------------------------------------------- */

void gpu_frame_record_passes(const gpu_frame *f, const gpu_work *w, VkCommandBuffer c,
                             VkQueryPool stamps, uint32_t *next) {
    for (uint32_t chunk = 0; chunk < w->chunks; chunk++) {
        uint32_t first = chunk * w->p.channels_per_bind;
        vkCmdPushConstants(c, w->passes.layouts.pipeline, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                           sizeof first, &first);
        for (uint32_t i = 0; i < w->p.passes; i++) {
            const plan_pass *pass = &w->p.pass[i];
            bool inner = !w->p.axis[1].one_pass && pass->kind == PASS_CONVOLVE;
            uint32_t kind = inner ? SET_INNER : i == 0 ? SET_INPUT : SET_MOST;
            vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, w->passes.pipeline[i]);
            vkCmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_COMPUTE, w->passes.layouts.pipeline,
                                    0, 1, &f->sets.set[chunk * SETS + kind], 0, NULL);
            uint32_t planes = pass->groups[2] / w->p.channels_per_bind *
                              gpu_chunk_channels(w, chunk);
            vkCmdDispatch(c, pass->groups[0], pass->groups[1], planes);
            gpu_barrier(c, GPU_BY_PASS, GPU_BY_PASS);
            gpu_stamp(c, stamps, next);
        }
    }
}

/* Copies between staging, which has one chunk after the other, and the chunks. */
static void frame_record_copies(const gpu_frame *f, const gpu_work *w, VkCommandBuffer c, bool up) {
    uint64_t plane = (up ? bytes_up(w) : bytes_down(w)) / w->p.ask.channels;
    for (uint32_t i = 0; i < w->chunks; i++) {
        uint64_t at = i * w->p.channels_per_bind * plane, bytes = gpu_chunk_channels(w, i) * plane;
        if (up)
            vkCmdCopyBuffer(c, f->up.buf, input_of(f, i)->buf, 1, &(VkBufferCopy){at, 0, bytes});
        else
            vkCmdCopyBuffer(c, f->image[i].buf, f->down.buf, 1, &(VkBufferCopy){0, at, bytes});
    }
}

static bool record(gpu_frame *f, const gpu_work *w, gpu_step step, err *e) {
    const gpu_queue *q = queue_of(w, step);
    VkCommandBuffer *c = &f->commands[step];
    VkQueryPool stamps = q->stamp_bits ? f->stamps : VK_NULL_HANDLE;
    uint32_t next = first_stamp(w, step);
    if (!has_step(w, step)) return true;
    if (!gpu_begin(&w->g, q->pool, c, 0, e)) return false;
    /* The frame before uses the same scratch. */
    if (step == GPU_STEP_PASSES) gpu_barrier(*c, GPU_BY_PASS, GPU_BY_PASS);
    gpu_stamp(*c, stamps, &next);
    if (step == GPU_STEP_PASSES) {
        gpu_frame_record_passes(f, w, *c, stamps, &next);
        if (!has_step(w, GPU_STEP_DOWN)) gpu_barrier(*c, GPU_BY_PASS, GPU_BY_HOST);
    } else {
        frame_record_copies(f, w, *c, step == GPU_STEP_UP);
        gpu_stamp(*c, stamps, &next);
        if (step == GPU_STEP_DOWN) gpu_barrier(*c, GPU_BY_COPY, GPU_BY_HOST);
    }
    VK_TRY(&w->g, vkEndCommandBuffer(*c), e);
    return true;
fail:
    return false;
}

/* --- making --------------------------------------------------------------------------------- */

static void free_chunks(gpu_buffer *b, const gpu_work *w) {
    for (uint32_t i = 0; b && i < w->chunks; i++) gpu_buffer_free(&b[i], &w->g);
    mem_free(b);
}

/* Makes one buffer for each chunk, `all` bytes together; NULL: it failed. */
static gpu_buffer *frame_make_chunks(const gpu_work *w, uint64_t all, bool shared, const char *name,
                                     err *e) {
    gpu_buffer *b = mem_new(w->chunks, sizeof *b, "buffers", e);
    for (uint32_t i = 0; b && i < w->chunks; i++) {
        gpu_buffer_params p = {name, shared ? GPU_SHARED : GPU_ON_DEVICE,
                               gpu_chunk_channels(w, i) * (all / w->p.ask.channels)};
        if (gpu_buffer_make(&b[i], &w->g, &p, e)) continue;
        free_chunks(b, w);
        return NULL;
    }
    return b;
}

bool gpu_frame_reserve(gpu_frame *f, const gpu_work *w, err *e) {
    bool halfs = w->p.input_bytes > 0, up = w->direct[GPU_UP], down = w->direct[GPU_DOWN];
    const gpu_buffer_params staging_up = {"upload", GPU_UPLOAD, up ? 0 : bytes_up(w)},
                            staging_down = {"download", GPU_DOWNLOAD, down ? 0 : bytes_down(w)},
                            weights = {"weights", GPU_UPLOAD,
                                       2ull * w->p.ask.channels * w->p.sample_bytes};
    if (halfs && !(f->input = frame_make_chunks(w, w->p.input_bytes, up, "image of halfs", e)))
        return false;
    return gpu_buffer_make(&f->up, &w->g, &staging_up, e) &&
           gpu_buffer_make(&f->down, &w->g, &staging_down, e) &&
           gpu_buffer_make(&f->weights, &w->g, &weights, e) &&
           (f->image = frame_make_chunks(w, w->p.image_bytes, down || (up && !halfs), "image", e));
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
    /* The host resets the queries, since queues that only copy cannot. */
    if (timestamps && g->compute.stamp_bits && g->reset_queries)
        VK_TRY(g, vkCreateQueryPool(g->dev, &q, NULL, &f->stamps), e);
    return true;
fail:
    return false;
}

bool gpu_frame_make(gpu_frame *f, const gpu_work *w, bool timestamps, err *e) {
    if (!make_signals(f, w, timestamps, e) || !make_sets(f, w, e)) return false;
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
    gpu_sets_free(&f->sets, g);
    for (int step = 0; step < GPU_STEPS; step++)
        if (f->commands[step])
            vkFreeCommandBuffers(g->dev, queue_of(w, (gpu_step)step)->pool, 1, &f->commands[step]);
    for (int i = 0; i < GPU_STEPS - 1; i++) vkDestroySemaphore(g->dev, f->done[i], NULL);
    vkDestroyFence(g->dev, f->fence, NULL);
    vkDestroyQueryPool(g->dev, f->stamps, NULL);
    *f = (gpu_frame){0};
}

/* --- the host's copies ----------------------------------------------------------------------- */

/* Copies between the caller's planes, whose rows are packed, and memory that host and device see,
 * whose rows are `pitch` samples apart. */
typedef struct {
    const plan *p;
    void *there[ENGINE_CHANNELS]; /* what the device has of each plane */
    const void *const *in;        /* the way up: from these planes. NULL: down, */
    void *const *out;             /* to these planes, */
    const engine_sink *sink;      /* or to this, unless it is NULL */
    bool halfs;                   /* `in` has halfs */
    uint32_t bands;               /* of a plane */
} plane_copy;

enum { BAND = 32, PIECE = 512 }; /* rows; samples */

/* Converts a row to halfs and checks that nothing is lost, piece by piece in the cache: the
 * device's memory is fast to write only in one go, and must not be read. */
static bool frame_narrow(uint16_t *to, const float *from, size_t n, err *e) {
    uint16_t half[PIECE];
    float back[PIECE];
    for (size_t i = 0; i < n; i += PIECE) {
        size_t count = min_size(n - i, PIECE);
        half_from_floats(half, from + i, count);
        half_to_floats(back, half, count);
        for (size_t k = 0; k < count && memcmp(back, from + i, count * sizeof *back) != 0; k++)
            if (back[k] != from[i + k])
                return err_set(e, ERR_INTERNAL,
                               "%.9g in an image of halfs is not a half; the nearest is %.9g",
                               (double)from[i + k], (double)back[k]);
        memcpy(to + i, half, count * sizeof *half);
    }
    return true;
}

static bool copy_band(void *ctx, size_t index, int worker, err *e) {
    const plane_copy *j = ctx;
    uint32_t c = (uint32_t)(index / j->bands), y = (uint32_t)(index % j->bands) * BAND;
    const void *in = j->in ? j->in[c] : NULL;
    uint32_t w = j->p->ask.size[PLAN_X], end = min_u32(y + BAND, j->p->ask.size[PLAN_Y]);
    size_t row = (size_t)w * j->p->sample_bytes;
    for (; y < end; y++) {
        size_t at = (size_t)y * j->p->image_pitch; /* in samples */
        uint8_t *there = (uint8_t *)j->there[c] + at * j->p->sample_bytes;
        if (in && j->halfs) {
            memcpy((uint16_t *)j->there[c] + at, (const uint16_t *)in + (size_t)y * w, 2 * w);
        } else if (in && j->p->input_bytes) {
            const float *from = (const float *)in + (size_t)y * w;
            if (!frame_narrow((uint16_t *)j->there[c] + at, from, w, e)) return false;
        } else if (in)
            memcpy(there, (const uint8_t *)in + y * row, row);
        else if (j->sink)
            j->sink->row(j->sink->ctx, c, y, worker, there);
        else
            memcpy((uint8_t *)j->out[c] + y * row, there, row);
    }
    return true;
}

/* Copies the planes of `from` to where the device finds them; or, where that is NULL, the result to
 * where the frame wants it. */
static bool copy_planes(const gpu_frame *f, const gpu_work *w, const engine_frame *from, err *e) {
    const plan *p = &w->p;
    const void *const *in = from ? from->in : NULL;
    plane_copy j = {.p = p,
                    .in = in,
                    .halfs = from && from->halfs,
                    .out = f->out,
                    .sink = f->sink,
                    .bands = ceil_div_u32(p->ask.size[PLAN_Y], BAND)};
    uint32_t channels = p->ask.channels, per = p->channels_per_bind;
    uint64_t plane = (in ? bytes_up(w) : bytes_down(w)) / channels;
    for (uint32_t c = 0; c < channels; c++) {
        uint32_t chunk = c / per;
        const gpu_buffer *seen = in ? input_of(f, chunk) : &f->image[chunk];
        const gpu_buffer *staging = in ? &f->up : &f->down;
        j.there[c] = w->direct[in ? GPU_UP : GPU_DOWN] ? (uint8_t *)seen->map + c % per * plane
                                                       : (uint8_t *)staging->map + c * plane;
    }
    return par_for(w->threads, (size_t)j.bands * channels, copy_band, &j, e);
}

/* --- there and back ------------------------------------------------------------------------- */

bool gpu_frame_load(gpu_frame *f, const gpu_work *w, const engine_frame *from, err *e) {
    const gpu_device *g = &w->g;
    bool float64 = w->p.sample_bytes == sizeof(double);
    double start = clock_now();
    if (!copy_planes(f, w, from, e)) return false;
    f->host_up = clock_now() - start;
    for (uint32_t c = 0; c < w->p.ask.channels; c++) {
        gpu_put(f->weights.map, float64, 2 * c, from->tap[c]);
        gpu_put(f->weights.map, float64, 2 * c + 1, from->gain[c]);
        f->out[c] = from->out[c];
    }
    f->sink = from->sink;
    VK_TRY(g, vkResetFences(g->dev, 1, &f->fence), e);
    if (f->stamps) g->reset_queries(g->dev, f->stamps, 0, first_stamp(w, GPU_STEPS));
    return true;
fail:
    return false;
}

bool gpu_frame_submit(gpu_frame *f, const gpu_work *w, err *e) {
    VkSemaphore after = VK_NULL_HANDLE;
    gpu_step last = has_step(w, GPU_STEP_DOWN) ? GPU_STEP_DOWN : GPU_STEP_PASSES;
    bool ok = true;
    gpu_device_lock(&w->g);
    for (gpu_step step = GPU_STEP_UP; ok && step <= last; step++) {
        if (!has_step(w, step)) continue;
        gpu_submission s = {.queue = queue_of(w, step)->queue,
                            .commands = f->commands[step],
                            .after = after,
                            .then = step < last ? f->done[step] : VK_NULL_HANDLE,
                            .fence = step < last ? VK_NULL_HANDLE : f->fence};
        ok = gpu_submit(&w->g, &s, e);
        after = s.then;
    }
    gpu_device_unlock(&w->g);
    f->busy = ok;
    f->lost = !ok;
    return ok;
}

/* Adds the times between the stamps of a step: to each of the passes in turn, or to the copy. */
static bool read_step(const gpu_frame *f, const gpu_work *w, gpu_step step, engine_times *t,
                      err *e) {
    enum { MOST = 1 + PLAN_PASSES * ENGINE_CHANNELS };
    double *const each[GPU_STEPS] = {&t->upload, t->pass, &t->download};
    uint64_t at[MOST];
    uint32_t n = stamps_of(w, step), bits = queue_of(w, step)->stamp_bits;
    if (!f->stamps || !has_step(w, step) || !bits || n > MOST) return true;
    VK_TRY(&w->g,
           vkGetQueryPoolResults(w->g.dev, f->stamps, first_stamp(w, step), n, n * sizeof at[0], at,
                                 sizeof at[0], VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
           e);
    uint32_t count = step == GPU_STEP_PASSES ? w->p.passes : 1;
    for (uint32_t i = 1; i < n; i++)
        each[step][(i - 1) % count] += gpu_seconds(w->g.tick, bits, at[i - 1], at[i]);
    return true;
fail:
    return false;
}

bool gpu_frame_wait(gpu_frame *f, const gpu_work *w, engine_times *to, err *e) {
    engine_times t = {.upload = f->host_up};
    f->busy = false;
    f->lost = true;
    par_rest(w->threads);
    VkResult done = gpu_wait(&w->g, f->fence);
    par_resume(w->threads);
    VK_TRY(&w->g, done, e);
    f->lost = false;
    for (int step = 0; to && step < GPU_STEPS; step++)
        if (!read_step(f, w, (gpu_step)step, &t, e)) return false;
    unsigned messages = gpu_device_messages(&w->g);
    if (messages)
        return err_set(e, ERR_INTERNAL, "%u messages from the Vulkan validation layer", messages);
    double start = clock_now();
    if (!copy_planes(f, w, NULL, e)) return false;
    /* A sink's work on its rows is not counted as a download. */
    if (!f->sink) t.download += clock_now() - start;
    t.total = t.upload + t.download;
    for (uint32_t i = 0; i < w->p.passes; i++) t.total += t.pass[i];
    if (to) *to = t;
    return true;
fail:
    return false;
}
