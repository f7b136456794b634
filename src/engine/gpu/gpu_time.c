#include "engine/gpu/gpu_time.h"

#include "base/mem.h"
#include "engine/gpu/gpu_commands.h"
#include "engine/gpu/gpu_memory.h"
#include "engine/gpu/gpu_pass.h"

typedef struct {
    const gpu_device *g;
    const gpu_timing *t;
    VkQueryPool stamps;
    uint32_t room; /* of `stamps` */
    bool each;     /* stamp each step, and not only both ends */
} timed_run;

/* Fills `at` with the first n stamps after the commands have run. */
static bool timed_run_once(const timed_run *r, uint64_t *at, uint32_t n, err *e) {
    const gpu_device *g = r->g;
    VkCommandBuffer c;
    uint32_t next = 0;
    if (!gpu_begin(g, g->compute.pool, &c, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, e))
        return false;
    vk.CmdResetQueryPool(c, r->stamps, 0, r->room);
    gpu_barrier(c, GPU_BY_PASS | GPU_BY_COPY, GPU_BY_PASS | GPU_BY_COPY);
    gpu_stamp(c, r->stamps, &next);
    for (uint32_t i = 0; i < r->t->count; i++)
        r->t->record(r->t->ctx, c, r->each ? r->stamps : VK_NULL_HANDLE, &next);
    if (!r->each) gpu_stamp(c, r->stamps, &next);
    if (!gpu_run_once(g, c, e)) return false;
    VK_TRY(g,
           vk.GetQueryPoolResults(g->dev, r->stamps, 0, n, n * sizeof *at, at, sizeof *at,
                                  VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
           e);
    return true;
fail:
    return false;
}

bool gpu_time(const gpu_device *g, const gpu_timing *t, double *total, double *step, err *e) {
    uint32_t n = t->count * t->steps + 1, room = max_u32(n, 2), bits = g->compute.stamp_bits;
    VkQueryPoolCreateInfo q = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                               .queryType = VK_QUERY_TYPE_TIMESTAMP,
                               .queryCount = room};
    timed_run r = {.g = g, .t = t, .room = room};
    double unit = g->tick / t->count;
    bool ok = false;
    if (!bits) return err_set(e, ERR_NO_DEVICE, "%s has no timestamps", g->name);
    uint64_t *at = mem_new(room, sizeof *at, "timestamps", e);
    if (!at) return false;
    VK_TRY(g, vk.CreateQueryPool(g->dev, &q, NULL, &r.stamps), e);
    if (!timed_run_once(&r, at, 2, e)) goto fail;
    *total = gpu_seconds(unit, bits, at[0], at[1]);
    r.each = true;
    if (!timed_run_once(&r, at, n, e)) goto fail;
    for (uint32_t s = 0; s < t->steps; s++) step[s] = 0;
    for (uint32_t i = 1; i < n; i++)
        step[(i - 1) % t->steps] += gpu_seconds(unit, bits, at[i - 1], at[i]);
    ok = true;
fail:
    if (r.stamps && !g->shared->hangs) vk.DestroyQueryPool(g->dev, r.stamps, NULL);
    mem_free(at);
    return ok;
}

/* Buffers above this size are copied at the same speed, so that their time follows from a part. */
static const uint64_t COPY_MOST = UINT64_C(128) << 20;
enum { GROUP = 256, UNIT = 16, ROW = 32768 }; /* threads; bytes of each; workgroups along x */

/* A compute pass that copies a buffer: it moves bytes as the passes do, and computes nothing. (The
 * copy commands of a driver may use other, slower hardware.) */
typedef struct {
    gpu_buffer end[2];
    gpu_layouts layouts;
    gpu_sets sets; /* two: from the first buffer to the second, and back */
    VkPipeline pipeline;
    const uint64_t *bytes; /* of each step */
    uint32_t steps;
} copies;

static uint64_t half_of(uint64_t bytes) {
    return min_u64((bytes / 2 + UNIT - 1) / UNIT * UNIT, COPY_MOST);
}

static bool copies_make(copies *k, const gpu_device *g, err *e) {
    const gpu_pipeline_params shader = {.code = gpu_shader_copy()};
    uint64_t most = UNIT;
    for (uint32_t i = 0; i < k->steps; i++) most = max_u64(most, half_of(k->bytes[i]));
    for (int i = 0; i < 2; i++)
        if (!gpu_buffer_make(&k->end[i], g, &(gpu_buffer_params){"copy", GPU_ON_DEVICE, most}, e))
            return false;
    if (!gpu_layouts_make(&k->layouts, g, COPY_BINDINGS, e) ||
        !gpu_pipeline_make(&k->pipeline, g, &k->layouts, &shader, e) ||
        !gpu_sets_make(&k->sets, g, &k->layouts, 2, e))
        return false;
    for (int s = 0; s < 2; s++)
        gpu_bind(k->sets.set[s], g, &k->layouts,
                 (const gpu_buffer *const[]){&k->end[s], &k->end[1 - s]});
    return true;
}

/* To and fro, so that each copy reads what the one before has written, as passes do. */
static void timed_record_copies(void *ctx, VkCommandBuffer c, VkQueryPool stamps, uint32_t *next) {
    const copies *k = ctx;
    vk.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, k->pipeline);
    for (uint32_t i = 0; i < k->steps; i++) {
        uint32_t count = (uint32_t)(half_of(k->bytes[i]) / UNIT),
                 groups = ceil_div_u32(count, GROUP);
        vk.CmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_COMPUTE, k->layouts.pipeline, 0, 1,
                                 &k->sets.set[i % 2], 0, NULL);
        vk.CmdPushConstants(c, k->layouts.pipeline, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof count,
                            &count);
        vk.CmdDispatch(c, min_u32(groups, ROW), ceil_div_u32(groups, ROW), 1);
        gpu_barrier(c, GPU_BY_PASS, GPU_BY_PASS);
        gpu_stamp(c, stamps, next);
    }
}

bool gpu_time_copies(const gpu_device *g, engine_repeat *r, const uint64_t *bytes, uint32_t steps,
                     err *e) {
    copies k = {.bytes = bytes, .steps = steps};
    gpu_timing t = {r->count, steps, timed_record_copies, &k};
    double scale = 0, timed = 0;
    bool ok = copies_make(&k, g, e) && gpu_time(g, &t, &r->copy, r->copy_pass, e);
    for (uint32_t i = 0; ok && i < steps; i++) {
        timed += r->copy_pass[i];
        r->copy_pass[i] *= fmax(1, (double)bytes[i] / 2 / (double)half_of(bytes[i]));
        scale += r->copy_pass[i];
    }
    if (ok && timed > 0) r->copy *= scale / timed;
    if (g->shared->hangs) return false;
    vk.DestroyPipeline(g->dev, k.pipeline, NULL);
    gpu_sets_free(&k.sets, g);
    gpu_layouts_free(&k.layouts, g);
    for (int i = 0; i < 2; i++) gpu_buffer_free(&k.end[i], g);
    return ok;
}
