#include "lab/lab_gpu.h"

#include "base/mem.h"
#include "engine/gpu/gpu_commands.h"
#include "engine/gpu/gpu_fold.h"
#include "engine/gpu/gpu_time.h"
#include "shaders/lab/ids.h"

#include <string.h>

/* --- device ---------------------------------------------------------------------------------- */

bool lab_gpu_open(lab_gpu *g, const engine_device *d, err *e) {
    if (!gpu_device_open(&g->g, d, e)) return false;
    g->limits = d->limits;
    VkPhysicalDeviceSubgroupProperties sub = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
    VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                       .pNext = &sub};
    vkGetPhysicalDeviceProperties2(g->g.physical, &all);
    bool shuffles = sub.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT &&
                    sub.supportedOperations & VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
    g->subgroup = shuffles ? sub.subgroupSize : 0;
    return true;
}

void lab_gpu_close(lab_gpu *g) {
    gpu_device_close(&g->g);
    *g = (lab_gpu){0};
}

bool lab_gpu_pipeline(VkPipeline *to, const gpu_device *g, const gpu_layouts *l,
                      const lab_shader *s, err *e) {
    VkSpecializationMapEntry entry[LAB_CONSTANTS];
    VkSpecializationInfo special = {s->constants, entry, s->constants * sizeof s->value[0],
                                    s->value};
    for (uint32_t i = 0; i < s->constants; i++)
        entry[i] = (VkSpecializationMapEntry){s->id[i], i * (uint32_t)sizeof s->value[0],
                                              sizeof s->value[0]};
    uint32_t *words = mem_raw(s->code.bytes, 1, "shader", e);
    if (!words) return false;
    memcpy(words, s->code.words, s->code.bytes);
    gpu_fold(words, s->code.bytes / sizeof *words, s->id, s->value, s->constants);
    size_t bytes = sizeof *words * gpu_drop(words, s->code.bytes / sizeof *words);
    bool ok = gpu_pipeline_make(to, g, l, &(gpu_pipeline_params){{words, bytes}, &special}, e);
    mem_free(words);
    return ok;
}

/* --- a program ------------------------------------------------------------------------------- */

bool lab_gpu_upload(gpu_buffer *to, const gpu_device *g, const void *from, size_t bytes, err *e) {
    gpu_buffer host = {0};
    if (!gpu_buffer_make(&host, g, &(gpu_buffer_params){"table", GPU_UPLOAD, bytes}, e))
        return false;
    if (bytes) memcpy(host.map, from, bytes);
    return gpu_upload(to, g, &host, "table", e);
}

void lab_bind(const lab_ready *r, const VkDescriptorSet *sets, const gpu_buffer image[2]) {
    for (int back = 0; back < 2; back++) {
        const gpu_buffer *bound[LAB_BINDINGS] = {[LAB_FROM] = &image[back],
                                                 [LAB_TO] = &image[1 - back],
                                                 [LAB_MORE] = &r->more,
                                                 [LAB_TABLE] = &r->table};
        gpu_bind(sets[back], &r->g->g, &r->layouts, bound);
    }
}

static bool make_pipeline(void *ctx, size_t index, int worker, err *e) {
    (void)worker;
    lab_ready *r = ctx;
    return lab_gpu_pipeline(&r->pipeline[index], &r->g->g, &r->layouts, &r->p->shader[index], e);
}

bool lab_ready_make(lab_ready *r, const lab_gpu *g, const lab_program *p, err *e) {
    const gpu_device *d = &g->g;
    uint64_t bytes = sizeof(lab_complex) * (uint64_t)p->n * p->n;
    *r = (lab_ready){.g = g, .p = p};
    if (!gpu_buffer_make(&r->image[0], d, &(gpu_buffer_params){"image A", GPU_ON_DEVICE, bytes},
                         e) ||
        !gpu_buffer_make(&r->image[1], d, &(gpu_buffer_params){"image B", GPU_ON_DEVICE, bytes},
                         e) ||
        !gpu_buffer_make(&r->up, d, &(gpu_buffer_params){"upload", GPU_UPLOAD, bytes}, e) ||
        !gpu_buffer_make(&r->down, d, &(gpu_buffer_params){"download", GPU_DOWNLOAD, bytes}, e) ||
        !lab_gpu_upload(&r->table, d, p->table, p->table_bytes, e) ||
        !lab_gpu_upload(&r->more, d, p->more, p->more_bytes, e) ||
        !gpu_layouts_make(&r->layouts, d, LAB_BINDINGS, e) ||
        !gpu_sets_make(&r->sets, d, &r->layouts, 2, e))
        return false;
    lab_bind(r, r->sets.set, r->image);
    if (g->threads) return par_for(g->threads, p->shaders, make_pipeline, r, e);
    for (uint32_t i = 0; i < p->shaders; i++)
        if (!make_pipeline(r, i, 0, e)) return false;
    return true;
}

void lab_ready_free(lab_ready *r) {
    if (!r->g) return;
    const gpu_device *d = &r->g->g;
    for (uint32_t i = 0; i < LAB_SHADERS; i++) vkDestroyPipeline(d->dev, r->pipeline[i], NULL);
    gpu_sets_free(&r->sets, d);
    gpu_layouts_free(&r->layouts, d);
    gpu_buffer *all[] = {&r->image[0], &r->image[1], &r->table, &r->more, &r->up, &r->down};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) gpu_buffer_free(all[i], d);
    *r = (lab_ready){0};
}

void lab_record(const lab_ready *r, VkCommandBuffer c, const VkDescriptorSet *sets, uint32_t count,
                int way) {
    const VkPipelineBindPoint COMPUTE = VK_PIPELINE_BIND_POINT_COMPUTE;
    for (uint32_t i = 0; i < r->p->steps[way]; i++) {
        const lab_step *s = &r->p->step[way][i];
        vkCmdBindPipeline(c, COMPUTE, r->pipeline[s->shader]);
        vkCmdPushConstants(c, r->layouts.pipeline, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof s->push,
                           &s->push);
        for (uint32_t k = 0; k < count; k++) {
            vkCmdBindDescriptorSets(c, COMPUTE, r->layouts.pipeline, 0, 1, &sets[2 * k + s->back],
                                    0, NULL);
            vkCmdDispatch(c, s->groups[0], s->groups[1], s->groups[2]);
        }
        gpu_barrier(c, GPU_BY_PASS, GPU_BY_PASS);
    }
}

bool lab_run_once(lab_ready *r, lab_complex *image, int way, err *e) {
    const gpu_device *d = &r->g->g;
    VkCommandBuffer c;
    VkBufferCopy all = {0, 0, r->up.bytes};
    memcpy(r->up.map, image, r->up.bytes);
    if (!gpu_begin(d, d->compute.pool, &c, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, e))
        return false;
    gpu_barrier(c, GPU_BY_PASS, GPU_BY_COPY);
    vkCmdCopyBuffer(c, r->up.buf, r->image[0].buf, 1, &all);
    gpu_barrier(c, GPU_BY_COPY, GPU_BY_PASS);
    lab_record(r, c, r->sets.set, 1, way);
    gpu_barrier(c, GPU_BY_PASS, GPU_BY_COPY);
    vkCmdCopyBuffer(c, r->image[0].buf, r->down.buf, 1, &all);
    gpu_barrier(c, GPU_BY_COPY, GPU_BY_HOST);
    if (!gpu_run_once(d, c, e)) return false;
    memcpy(image, r->down.map, r->down.bytes);
    unsigned messages = gpu_device_messages(d);
    return !messages ||
           err_set(e, ERR_INTERNAL, "%u messages from the Vulkan validation layer", messages);
}

/* --- times ----------------------------------------------------------------------------------- */

static void record_both(void *ctx, VkCommandBuffer c, VkQueryPool stamps, uint32_t *next) {
    const lab_ready *r = ctx;
    for (int way = 0; way < LAB_WAYS; way++) {
        lab_record(r, c, r->sets.set, 1, way);
        gpu_stamp(c, stamps, next);
    }
}

/* The stamps between the transforms cost about a microsecond each. So they only say how the time
 * of a repetition without stamps is to be shared out. */
bool lab_time(lab_ready *r, uint32_t count, double seconds[LAB_WAYS], err *e) {
    double both;
    gpu_timing t = {count, LAB_WAYS, record_both, r};
    if (!gpu_time(&r->g->g, &t, &both, seconds, e)) return false;
    double sum = seconds[LAB_FORWARD] + seconds[LAB_BACKWARD];
    for (int way = 0; way < LAB_WAYS; way++)
        seconds[way] = sum > 0 ? both * seconds[way] / sum : both / 2;
    return true;
}

bool lab_time_copy(const lab_gpu *g, uint32_t n, uint32_t count, double *seconds, err *e) {
    engine_repeat r = {.count = count};
    uint64_t bytes = 2 * sizeof(lab_complex) * (uint64_t)n * n;
    bool ok = gpu_time_copies(&g->g, &r, &bytes, 1, e);
    if (ok) *seconds = r.copy;
    return ok;
}
