#include "lab/lab_gpu.h"

#include "base/mem.h"
#include "engine/gpu/gpu_commands.h"
#include "engine/gpu/gpu_fold.h"
#include "engine/gpu/gpu_time.h"

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

/* --- making a program ready ------------------------------------------------------------------ */

/* Makes one pipeline, without the branches that the shader's constants rule out. */
static bool make_pipeline(void *ctx, size_t index, int worker, err *e) {
    (void)worker;
    lab_ready *r = ctx;
    const lab_shader *s = &r->p->shader[index];
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
    const gpu_pipeline_params params = {{words, bytes}, &special};
    bool ok = gpu_pipeline_make(&r->pipeline[index], &r->g->g, &r->layouts, &params, e);
    mem_free(words);
    return ok;
}

/* Makes layouts with the buffers as set 0, and the program's texture as set 1. */
static bool make_layouts(lab_ready *r, err *e) {
    const gpu_device *d = &r->g->g;
    if (!gpu_layouts_make(&r->layouts, d, r->p->bindings, e)) return false;
    if (!r->p->texture) return true;
    const VkDescriptorSetLayout sets[] = {r->layouts.set, r->p->texture->layout};
    VkPipelineLayoutCreateInfo both = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                       .setLayoutCount = 2,
                                       .pSetLayouts = sets};
    vkDestroyPipelineLayout(d->dev, r->layouts.pipeline, NULL);
    r->layouts.pipeline = VK_NULL_HANDLE;
    VK_TRY(d, vkCreatePipelineLayout(d->dev, &both, NULL, &r->layouts.pipeline), e);
    return true;
fail:
    return false;
}

bool lab_ready_make(lab_ready *r, const lab_gpu *g, const lab_program *p, err *e) {
    *r = (lab_ready){.g = g, .p = p};
    for (uint32_t i = 0; i < p->buffers; i++) {
        const lab_buffer *b = &p->buffer[i];
        const gpu_buffer_params params = {"a buffer of the lab", GPU_ON_DEVICE, b->bytes};
        if (!gpu_buffer_make(&r->buffer[i], &g->g, &params, e) ||
            (b->value && !lab_put(r, i, b->value, e)))
            return false;
    }
    if (!make_layouts(r, e) || !gpu_sets_make(&r->sets, &g->g, &r->layouts, p->sets, e))
        return false;
    for (uint32_t s = 0; s < p->sets; s++) {
        const gpu_buffer *bound[BINDINGS];
        for (uint32_t i = 0; i < p->bindings; i++) bound[i] = &r->buffer[p->set[s][i]];
        gpu_bind(r->sets.set[s], &g->g, &r->layouts, bound);
    }
    return par_for(g->threads, p->shaders, make_pipeline, r, e);
}

void lab_ready_free(lab_ready *r) {
    if (!r->g) return;
    const gpu_device *d = &r->g->g;
    for (uint32_t i = 0; i < LAB_SHADERS; i++) vkDestroyPipeline(d->dev, r->pipeline[i], NULL);
    gpu_sets_free(&r->sets, d);
    gpu_layouts_free(&r->layouts, d);
    for (uint32_t i = 0; i < LAB_BUFFERS; i++) gpu_buffer_free(&r->buffer[i], d);
    *r = (lab_ready){0};
}

/* --- running it ------------------------------------------------------------------------------ */

bool lab_put(lab_ready *r, uint32_t buffer, const void *from, err *e) {
    gpu_buffer host = {0}, *to = &r->buffer[buffer];
    const gpu_buffer_params params = {"upload", GPU_UPLOAD, to->bytes};
    if (!gpu_buffer_make(&host, &r->g->g, &params, e)) return false;
    memcpy(host.map, from, r->p->buffer[buffer].bytes);
    return gpu_upload(to, &r->g->g, &host, "upload", e);
}

bool lab_get(const lab_ready *r, uint32_t buffer, void *to, err *e) {
    const gpu_device *d = &r->g->g;
    const gpu_buffer *from = &r->buffer[buffer];
    const gpu_buffer_params params = {"download", GPU_DOWNLOAD, from->bytes};
    const VkBufferCopy all = {0, 0, from->bytes};
    gpu_buffer host = {0};
    VkCommandBuffer c;
    bool ok = gpu_buffer_make(&host, d, &params, e) &&
              gpu_begin(d, d->compute.pool, &c, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, e);
    if (ok) {
        gpu_barrier(c, GPU_BY_PASS, GPU_BY_COPY);
        vkCmdCopyBuffer(c, from->buf, host.buf, 1, &all);
        gpu_barrier(c, GPU_BY_COPY, GPU_BY_HOST);
        ok = gpu_run_once(d, c, e);
    }
    if (ok) memcpy(to, host.map, r->p->buffer[buffer].bytes);
    gpu_buffer_free(&host, d);
    return ok;
}

static void record_step(lab_ready *r, const lab_step *s, VkCommandBuffer c) {
    const VkPipelineBindPoint COMPUTE = VK_PIPELINE_BIND_POINT_COMPUTE;
    uint32_t push = s->by_frame ? r->frame++ % OCEAN_LOOP : s->push;
    vkCmdBindPipeline(c, COMPUTE, r->pipeline[s->shader]);
    if (r->p->texture)
        vkCmdBindDescriptorSets(c, COMPUTE, r->layouts.pipeline, 1, 1, &r->p->texture->set, 0,
                                NULL);
    else
        vkCmdPushConstants(c, r->layouts.pipeline, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof push,
                           &push);
    for (uint32_t k = 0; k == 0 || k < s->several; k++) {
        vkCmdBindDescriptorSets(c, COMPUTE, r->layouts.pipeline, 0, 1, &r->sets.set[s->set + 2 * k],
                                0, NULL);
        vkCmdDispatch(c, s->groups[0], s->groups[1], s->groups[2]);
    }
    gpu_barrier(c, GPU_BY_PASS, GPU_BY_PASS);
}

bool lab_do(lab_ready *r, int way, err *e) {
    const gpu_device *d = &r->g->g;
    VkCommandBuffer c;
    if (!gpu_begin(d, d->compute.pool, &c, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, e))
        return false;
    gpu_barrier(c, GPU_BY_PASS | GPU_BY_COPY, GPU_BY_PASS);
    for (uint32_t i = 0; i < r->p->steps[way]; i++) record_step(r, &r->p->step[way][i], c);
    if (!gpu_run_once(d, c, e)) return false;
    unsigned messages = gpu_device_messages(d);
    return !messages ||
           err_set(e, ERR_INTERNAL, "%u messages from the Vulkan validation layer", messages);
}

/* Returns whether the time of what ends with step i is taken. */
static bool is_stamped(const lab_program *p, int way, uint32_t i) {
    return p->step[way][i].stamp || i + 1 == p->steps[way];
}

static void record_all(void *ctx, VkCommandBuffer c, VkQueryPool stamps, uint32_t *next) {
    lab_ready *r = ctx;
    for (int way = 0; way < LAB_WAYS; way++)
        for (uint32_t i = 0; i < r->p->steps[way]; i++) {
            record_step(r, &r->p->step[way][i], c);
            if (is_stamped(r->p, way, i)) gpu_stamp(c, stamps, next);
        }
}

bool lab_time(lab_ready *r, uint32_t count, double *all, double *part, err *e) {
    gpu_timing t = {count, 0, record_all, r};
    for (int way = 0; way < LAB_WAYS; way++)
        for (uint32_t i = 0; i < r->p->steps[way]; i++) t.steps += is_stamped(r->p, way, i);
    return gpu_time(&r->g->g, &t, all, part, e);
}
