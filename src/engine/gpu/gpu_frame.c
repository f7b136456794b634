#include "engine/gpu/gpu_frame.h"

#include "base/clock.h"
#include "base/mem.h"
#include "engine/gpu/gpu_commands.h"

enum { BAND = 32 }; /* rows of a piece of the host's work */

uint32_t gpu_chunk_channels(const gpu_work *w, uint32_t chunk) {
    uint32_t per = w->p.channels_per_bind;
    return min_u32(w->p.ask.channels - chunk * per, per);
}

/* --- what travels ---------------------------------------------------------------------------- */

static const int WAY_OF[GPU_LOADS] = {GPU_UP, GPU_UP, GPU_DOWN, GPU_DOWN, GPU_DOWN};

/* Returns the bytes of a load that has buffers of its own. */
static uint64_t bytes_of(const gpu_work *w, gpu_load l) {
    const plan *p = &w->p;
    const uint64_t bytes[GPU_LOADS] = {p->input_bytes, p->mask_bytes, p->image_bytes,
                                       p->glare_bytes, p->total_bytes};
    return bytes[l];
}

/* Returns the load in whose buffers this one is: the result may go where the image is. */
static gpu_load carrier_of(const gpu_work *w, gpu_load l) {
    return l == GPU_IMAGE && !w->p.input_bytes ? GPU_RESULT : l;
}

static uint32_t planes_of(const gpu_work *w, gpu_load l) {
    return l == GPU_MASK ? 1 : w->p.ask.channels;
}
static uint64_t plane_bytes(const gpu_work *w, gpu_load l) {
    return bytes_of(w, carrier_of(w, l)) / planes_of(w, l);
}

/* Returns where a load begins in its staging; GPU_LOADS: how much of a way there is. */
static uint64_t staged_at(const gpu_work *w, gpu_load l, int way) {
    uint64_t at = 0;
    for (gpu_load i = 0; i < l; i++)
        if (WAY_OF[i] == way) at += bytes_of(w, carrier_of(w, i));
    return at;
}

/* Returns the buffer of a load in a chunk, or another one where there is none: a shader that does
 * not look at it is given something all the same. */
static const gpu_buffer *buffer_of(const gpu_frame *f, const gpu_work *w, gpu_load l,
                                   uint32_t chunk) {
    const gpu_buffer *b = f->load[carrier_of(w, l)];
    if (!b) b = f->load[GPU_TOTALS];
    return &b[l == GPU_MASK ? 0 : chunk];
}

/* Returns where the host finds plane c of a load. */
static void *seen(const gpu_frame *f, const gpu_work *w, gpu_load l, uint32_t c) {
    uint32_t per = w->p.channels_per_bind;
    uint64_t plane = plane_bytes(w, l);
    if (w->direct[WAY_OF[l]]) return (uint8_t *)buffer_of(f, w, l, c / per)->map + c % per * plane;
    return (uint8_t *)f->staging[WAY_OF[l]].map + staged_at(w, l, WAY_OF[l]) + c * plane;
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

static bool make_sets(gpu_frame *f, const gpu_work *w, err *e) {
    const uint32_t count = w->chunks * (w->p.ask.planes.again ? 2 : 1);
    if (!gpu_sets_make(&f->sets, &w->g, &w->passes.layouts, count, e)) return false;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t chunk = i % w->chunks;
        const gpu_load image = i < w->chunks ? GPU_IMAGE : GPU_RESULT;
        const gpu_buffer *b[BINDINGS] = {[BIND_IMAGE] = buffer_of(f, w, image, chunk),
                                         [BIND_HALF] = &w->scratch,
                                         [BIND_SPECTRUM] = &w->spectrum[chunk],
                                         [BIND_TWIDDLES] = &w->twiddles,
                                         [BIND_JOIN] = &f->join,
                                         [BIND_CONVOLVED] = w->p.tile_in != w->p.tile ? &w->tiles
                                                                                      : &w->scratch,
                                         [BIND_RESULT] = buffer_of(f, w, GPU_RESULT, chunk),
                                         [BIND_MASK] = buffer_of(f, w, GPU_MASK, chunk),
                                         [BIND_GLARE] = buffer_of(f, w, GPU_GLARE, chunk),
                                         [BIND_TOTALS] = buffer_of(f, w, GPU_TOTALS, chunk)};
        gpu_bind(f->sets.set[i], &w->g, &w->passes.layouts, b);
    }
    return true;
}

/* --- commands ------------------------------------------------------------------------------- */

void gpu_frame_record_passes(const gpu_frame *f, const gpu_work *w, VkCommandBuffer c,
                             VkQueryPool stamps, uint32_t *next) {
    const uint32_t steps = f->steps ? f->steps : 1;
    for (uint32_t n = 0; n < steps * w->chunks; n++) {
        const uint32_t step = n / w->chunks, chunk = n % w->chunks;
        uint32_t first = chunk * w->p.channels_per_bind;
        vk.CmdPushConstants(c, w->passes.layouts.pipeline, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                            sizeof first, &first);
        for (uint32_t i = 0; i < w->p.passes; i++) {
            const plan_pass *pass = &w->p.pass[i];
            vk.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, w->passes.pipeline[i]);
            const bool again = pass->kind == PASS_FORWARD && (step || f->goes_on);
            vk.CmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_COMPUTE, w->passes.layouts.pipeline,
                                     0, 1, &f->sets.set[chunk + again * w->chunks], 0, NULL);
            uint32_t planes = pass->groups[2] / w->p.channels_per_bind *
                              gpu_chunk_channels(w, chunk);
            vk.CmdDispatch(c, pass->groups[0], pass->groups[1], planes);
            gpu_barrier(c, GPU_BY_PASS, GPU_BY_PASS);
            if (step + 1 == steps) gpu_stamp(c, stamps, next);
        }
    }
}

/* Copies between staging, which has one chunk after the other, and the chunks. */
static void frame_record_copies(const gpu_frame *f, const gpu_work *w, VkCommandBuffer c, int way) {
    for (gpu_load l = 0; l < GPU_LOADS; l++) {
        uint64_t plane = plane_bytes(w, l), at = staged_at(w, l, way);
        if (WAY_OF[l] != way || !plane) continue;
        for (uint32_t i = 0; i < (l == GPU_MASK ? 1 : w->chunks); i++) {
            uint64_t bytes = plane * (l == GPU_MASK ? 1 : gpu_chunk_channels(w, i));
            VkBuffer there = buffer_of(f, w, l, i)->buf, here = f->staging[way].buf;
            if (way == GPU_UP)
                vk.CmdCopyBuffer(c, here, there, 1, &(VkBufferCopy){at, 0, bytes});
            else
                vk.CmdCopyBuffer(c, there, here, 1, &(VkBufferCopy){0, at, bytes});
            at += bytes;
        }
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
        frame_record_copies(f, w, *c, step == GPU_STEP_UP ? GPU_UP : GPU_DOWN);
        gpu_stamp(*c, stamps, &next);
        if (step == GPU_STEP_DOWN) gpu_barrier(*c, GPU_BY_COPY, GPU_BY_HOST);
    }
    VK_TRY(&w->g, vk.EndCommandBuffer(*c), e);
    return true;
fail:
    return false;
}

/* --- making --------------------------------------------------------------------------------- */

static bool make_load(gpu_frame *f, const gpu_work *w, gpu_load l, err *e) {
    static const char *const NAME[GPU_LOADS] = {"image", "mask", "result", "glare", "totals"};
    uint64_t plane = bytes_of(w, l) / planes_of(w, l);
    bool up = l == carrier_of(w, GPU_IMAGE) && w->direct[GPU_UP];
    gpu_use use = up || w->direct[WAY_OF[l]] ? GPU_SHARED : GPU_ON_DEVICE;
    if (!plane) return true;
    if (!(f->load[l] = mem_new(w->chunks, sizeof *f->load[l], "buffers", e))) return false;
    for (uint32_t i = 0; i < (l == GPU_MASK ? 1 : w->chunks); i++) {
        gpu_buffer_params p = {NAME[l], use,
                               plane * (l == GPU_MASK ? 1 : gpu_chunk_channels(w, i))};
        if (!gpu_buffer_make(&f->load[l][i], &w->g, &p, e)) return false;
    }
    return true;
}

bool gpu_frame_reserve(gpu_frame *f, const gpu_work *w, err *e) {
    const plan_request *ask = &w->p.ask;
    const gpu_use STAGING[GPU_WAYS] = {GPU_UPLOAD, GPU_DOWNLOAD};
    const gpu_buffer_params numbers = {"join", GPU_UPLOAD, gpu_join_bytes(ask->channels)};
    for (int way = 0; way < GPU_WAYS; way++) {
        const gpu_buffer_params p = {way == GPU_UP ? "upload" : "download", STAGING[way],
                                     w->direct[way] ? 0 : staged_at(w, GPU_LOADS, way)};
        if (!gpu_buffer_make(&f->staging[way], &w->g, &p, e)) return false;
    }
    for (gpu_load l = 0; l < GPU_LOADS; l++)
        if (!make_load(f, w, l, e)) return false;
    f->row = mem_raw(ask->size[PLAN_X], sizeof *f->row, "a row", e);
    return f->row && gpu_buffer_make(&f->join, &w->g, &numbers, e);
}

static bool make_signals(gpu_frame *f, const gpu_work *w, err *e) {
    const gpu_device *g = &w->g;
    VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    VkQueryPoolCreateInfo q = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                               .queryType = VK_QUERY_TYPE_TIMESTAMP,
                               .queryCount = first_stamp(w, GPU_STEPS)};
    VK_TRY(g, vk.CreateFence(g->dev, &fence, NULL, &f->fence), e);
    for (int i = 0; i < GPU_STEPS - 1; i++)
        VK_TRY(g, vk.CreateSemaphore(g->dev, &semaphore, NULL, &f->done[i]), e);
    /* The host resets the queries, since queues that only copy cannot. */
    if (g->compute.stamp_bits && g->reset_queries)
        VK_TRY(g, vk.CreateQueryPool(g->dev, &q, NULL, &f->stamps), e);
    return true;
fail:
    return false;
}

bool gpu_frame_make(gpu_frame *f, const gpu_work *w, err *e) {
    if (!make_signals(f, w, e) || !make_sets(f, w, e)) return false;
    for (int step = 0; step < GPU_STEPS; step++)
        if (!record(f, w, (gpu_step)step, e)) return false;
    return true;
}

void gpu_frame_free(gpu_frame *f, const gpu_work *w) {
    const gpu_device *g = &w->g;
    for (int way = 0; way < GPU_WAYS; way++) gpu_buffer_free(&f->staging[way], g);
    gpu_buffer_free(&f->join, g);
    for (int l = 0; l < GPU_LOADS; l++) {
        for (uint32_t i = 0; f->load[l] && i < w->chunks; i++) gpu_buffer_free(&f->load[l][i], g);
        mem_free(f->load[l]);
    }
    mem_free(f->row);
    gpu_sets_free(&f->sets, g);
    for (int step = 0; step < GPU_STEPS; step++)
        if (f->commands[step])
            vk.FreeCommandBuffers(g->dev, queue_of(w, (gpu_step)step)->pool, 1, &f->commands[step]);
    for (int i = 0; i < GPU_STEPS - 1; i++) vk.DestroySemaphore(g->dev, f->done[i], NULL);
    vk.DestroyFence(g->dev, f->fence, NULL);
    vk.DestroyQueryPool(g->dev, f->stamps, NULL);
    *f = (gpu_frame){0};
}

/* Planes of the caller, whose rows are packed, and of the device, `pitch` samples apart. */
typedef struct {
    const plan *p;
    bool up;
    uint32_t bands, count;
    struct {
        void *here, *there;
        uint32_t bytes; /* of a sample */
        bool pairs;     /* a double is the sum of two floats there */
    } plane[2 * ENGINE_CHANNELS];
} plane_copy;

static void add_plane(plane_copy *j, const void *here, void *there, plan_sample type) {
    bool pairs = type == PLAN_DOUBLES && j->p->sample_bytes == sizeof(float);
    j->plane[j->count].here = (void *)(uintptr_t)here;
    j->plane[j->count].there = there;
    j->plane[j->count].bytes = plan_sample_bytes((uint8_t)type);
    j->plane[j->count++].pairs = pairs;
}

static bool copy_band(void *ctx, size_t index, int worker, err *e) {
    const plane_copy *j = ctx;
    uint32_t i = (uint32_t)(index / j->bands), y = (uint32_t)(index % j->bands) * BAND;
    uint32_t w = j->p->ask.size[PLAN_X], end = min_u32(y + BAND, j->p->ask.size[PLAN_Y]);
    const size_t bytes = j->plane[i].bytes;
    for (; y < end; y++) {
        uint8_t *here = (uint8_t *)j->plane[i].here + (size_t)y * w * bytes;
        uint8_t *there = (uint8_t *)j->plane[i].there + (size_t)y * j->p->image_pitch * bytes;
        const float *pair = (const float *)(const void *)there;
        if (j->up)
            memcpy(there, here, w * bytes);
        else if (!j->plane[i].pairs)
            memcpy(here, there, w * bytes);
        for (uint32_t x = 0; j->plane[i].pairs && x < w; x++)
            ((double *)(void *)here)[x] = (double)pair[2 * x] + (double)pair[2 * x + 1];
    }
    return true;
}

/* Copies the frame's planes to where the device finds them, or from there. */
static bool copy_planes(const gpu_frame *f, const gpu_work *w, int way, err *e) {
    const plan *p = &w->p;
    const plan_planes *planes = &p->ask.planes;
    plane_copy j = {.p = p, .up = way == GPU_UP, .bands = ceil_div_u32(p->ask.size[PLAN_Y], BAND)};
    for (uint32_t c = 0; c < p->ask.channels; c++) {
        if (j.up)
            add_plane(&j, f->in[c], seen(f, w, GPU_IMAGE, c), planes->in);
        else
            add_plane(&j, f->out[c], seen(f, w, GPU_RESULT, c), planes->out);
        if (!j.up && planes->glare)
            add_plane(&j, f->glare[c], seen(f, w, GPU_GLARE, c), PLAN_FLOATS);
    }
    if (j.up && planes->masked)
        add_plane(&j, f->how.spread.mask, seen(f, w, GPU_MASK, 0), PLAN_FLOATS);
    return par_for(w->threads, (size_t)j.bands * j.count, copy_band, &j, e);
}

/* Finds it for every channel, on this thread: others have frames of their own. */
static void find_spilled(double to[ENGINE_CHANNELS], const gpu_frame *f, const gpu_work *w) {
    const plan_request *ask = &w->p.ask;
    const join_box *kept = &f->how.kept;
    const size_t bytes = ask->size[PLAN_X] * plan_sample_bytes(ask->planes.in);
    memset(to, 0, ENGINE_CHANNELS * sizeof *to);
    for (uint32_t c = 0; c < ask->channels; c++)
        for (uint32_t y = 0; y < ask->size[PLAN_Y]; y++) {
            const join_row row = {c, y, (const uint8_t *)f->in[c] + y * bytes,
                                  ask->planes.in == PLAN_HALFS};
            if (!kept->w || y - kept->y < kept->h) to[c] += join_spilled(&f->how, &row, f->row);
        }
}

/* --- there and back ------------------------------------------------------------------------- */

bool gpu_frame_load(gpu_frame *f, const gpu_work *w, const engine_frame *from, err *e) {
    const gpu_device *g = &w->g;
    double start = clock_now();
    f->how = *from->join;
    for (uint32_t c = 0; c < w->p.ask.channels; c++) {
        f->in[c] = from->in[c];
        f->out[c] = from->out[c];
        f->glare[c] = w->p.ask.planes.glare ? from->glare[c] : NULL;
    }
    const bool again = w->p.ask.planes.again, goes_on = again && from->goes_on;
    const uint32_t steps = again ? from->steps : 0;
    if (!goes_on && !copy_planes(f, w, GPU_UP, e)) return false;
    if (steps != f->steps || goes_on != f->goes_on) {
        VkCommandBuffer *passes = &f->commands[GPU_STEP_PASSES];
        f->steps = steps, f->goes_on = goes_on;
        gpu_device_lock(g); /* frames share the pool */
        vk.FreeCommandBuffers(g->dev, queue_of(w, GPU_STEP_PASSES)->pool, 1, passes);
        *passes = NULL;
        const bool ok = record(f, w, GPU_STEP_PASSES, e);
        gpu_device_unlock(g);
        f->lost = !ok; /* without the commands of its passes */
        if (!ok) return false;
    }
    gpu_join_fill(f->join.map, &f->how, &w->p);
    f->host_up = clock_now() - start;
    VK_TRY(g, vk.ResetFences(g->dev, 1, &f->fence), e);
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
        if (!has_step(w, step) || (step == GPU_STEP_UP && f->goes_on)) continue;
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
           vk.GetQueryPoolResults(w->g.dev, f->stamps, first_stamp(w, step), n, n * sizeof at[0],
                                  at, sizeof at[0],
                                  VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
           e);
    uint32_t count = step == GPU_STEP_PASSES ? w->p.passes : 1;
    for (uint32_t i = 1; i < n; i++)
        each[step][(i - 1) % count] += gpu_seconds(w->g.tick, bits, at[i - 1], at[i]);
    return true;
fail:
    return false;
}

bool gpu_frame_wait(gpu_frame *f, const gpu_work *w, join_stats *st, engine_times *to, err *e) {
    double spilled[ENGINE_CHANNELS];
    engine_times t = {.upload = f->host_up};
    f->busy = false;
    f->lost = true;
    if (st) find_spilled(spilled, f, w); /* while the device works */
    par_rest(w->threads);
    VkResult done = gpu_wait(&w->g, f->fence);
    par_resume(w->threads);
    VK_TRY(&w->g, done, e);
    f->lost = false;
    for (int step = 0; to && step < GPU_STEPS; step++)
        if (!(step == GPU_STEP_UP && f->goes_on) && !read_step(f, w, (gpu_step)step, &t, e))
            return false;
    unsigned messages = gpu_device_messages(&w->g);
    if (messages)
        return err_set(e, ERR_INTERNAL, "%u messages from the Vulkan validation layer", messages);
    double start = clock_now();
    if (!copy_planes(f, w, GPU_DOWN, e)) return false;
    for (uint32_t c = 0; st && c < w->p.ask.channels; c++) {
        st[c] = gpu_join_stats(seen(f, w, GPU_TOTALS, c), &f->how, c, &w->p);
        st[c].spilled = spilled[c];
    }
    t.download += clock_now() - start;
    t.total = t.upload + t.download;
    for (uint32_t i = 0; i < w->p.passes; i++) t.total += t.pass[i];
    if (to) *to = t;
    return true;
fail:
    return false;
}
