#include "engine/gpu/gpu_pass.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "engine/gpu/gpu_fold.h"
#include "engine/gpu/gpu_shaders.h"

#include <inttypes.h>
#include <string.h>

/* --- specialization constants --------------------------------------------------------------- */

enum { MOST_CONSTANTS = 48 };
_Static_assert(MOST_HELD == PLAN_MOST_HELD, "shaders have room for what the planner gives them");

typedef struct {
    VkSpecializationMapEntry entry[MOST_CONSTANTS];
    uint32_t value[MOST_CONSTANTS];
    uint32_t count;
} constants;

static void add(constants *c, uint32_t id, uint32_t value) {
    c->entry[c->count] =
        (VkSpecializationMapEntry){id, c->count * (uint32_t)sizeof value, sizeof value};
    c->value[c->count++] = value;
}

static bool is_outer(plan_pass_kind k) {
    return k == PASS_OUTER || k == PASS_OUTER_BACK;
}
static bool is_back(plan_pass_kind k) {
    return k == PASS_OUTER_BACK || k == PASS_INNER_BACK || k == PASS_PACK;
}
static bool is_along_first(plan_pass_kind k) {
    return k == PASS_FORWARD || k == PASS_INVERSE;
}

static void add_fft(constants *c, const plan *p, const plan_pass *s, const gpu_twiddles *t) {
    const plan_axis *a = &p->axis[s->axis];
    uint32_t table = a->one_pass         ? t->fft[s->axis]
                     : is_outer(s->kind) ? t->outer[s->axis]
                                         : t->inner[s->axis];
    add(c, ID_LENGTH, s->fft.length);
    add(c, ID_STAGES, s->fft.stages);
    for (uint32_t i = 0; i < PLAN_STAGES; i++) {
        add(c, ID_RADIX + i, i < s->fft.stages ? s->fft.radix[i] : 1);
        add(c, ID_EACH + i, s->butterflies[i]);
    }
    add(c, ID_LINES, s->lines);
    /* Along memory: image rows, and the lines of the half spectrum. Outer factors stride. */
    add(c, ID_ALONG, !is_outer(s->kind) && !(is_along_first(s->kind) && p->first == PLAN_Y));
    add(c, ID_TWIDDLES, table);
    add(c, ID_COPY, t->copy);
    add(c, ID_PAIRED, s->paired);
    add(c, ID_WHOLE, s->whole);
    add(c, ID_BY_FREQUENCY, is_outer(s->kind) || is_along_first(s->kind));
}

static constants constants_of(const plan *p, const plan_pass *s, const gpu_twiddles *t) {
    constants c = {0};
    const plan_axis *a = &p->axis[s->axis];
    uint32_t parts = a->one_pass ? 1 : a->outer.length;
    add(&c, ID_THREADS, s->threads);
    if (s->fft.length) add_fft(&c, p, s, t);
    add(&c, ID_EXTENT, a->extent);
    add(&c, ID_LENGTH_ALL, a->length);
    add(&c, ID_SPLIT, a->split);
    add(&c, ID_BORDER, a->border);
    add(&c, ID_ALONE, a->alone);
    add(&c, ID_X_FIRST, p->first == PLAN_X);
    add(&c, ID_LINE_COUNT, p->axis[1].extent);
    add(&c, ID_IMAGE_PITCH, p->image_pitch);
    add(&c, ID_IMAGE_ROWS, p->ask.size[PLAN_Y]);
    add(&c, ID_HALF_INPUT, p->input_bytes > 0);
    add(&c, ID_HALVES, p->halves);
    add(&c, ID_PITCH, s->kind == PASS_CONVOLVE && parts > 1 ? s->fft.length : p->pitch);
    add(&c, ID_TILE_IN, p->tile_in);
    add(&c, ID_TILE_OUT, p->tile);
    add(&c, ID_BAND, p->band);
    add(&c, ID_JOIN, !p->ask.tapless);
    add(&c, ID_COUNT, parts > 1 ? parts : p->halves);
    add(&c, ID_PARTS, parts);
    add(&c, ID_ONE_KERNEL, p->ask.spectra == 1);
    add(&c, ID_FIRST, s->axis == 0);
    add(&c, ID_BACK, is_back(s->kind));
    add(&c, ID_INNER, a->one_pass ? 1 : a->inner.length);
    add(&c, ID_LINE_TWIDDLES, t->line[s->axis]);
    return c;
}

/* --- pipelines ------------------------------------------------------------------------------ */

bool gpu_layouts_make(VkDescriptorSetLayout *set_layout, VkPipelineLayout *layout,
                      const gpu_device *g, uint32_t bindings, err *e) {
    VkDescriptorSetLayoutBinding b[BINDINGS];
    for (uint32_t i = 0; i < bindings; i++)
        b[i] = (VkDescriptorSetLayoutBinding){.binding = i,
                                              .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                              .descriptorCount = 1,
                                              .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    VkDescriptorSetLayoutCreateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = bindings,
        .pBindings = b};
    VK_TRY(g, vkCreateDescriptorSetLayout(g->dev, &set, NULL, set_layout), e);
    VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(uint32_t)};
    VkPipelineLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                       .setLayoutCount = 1,
                                       .pSetLayouts = set_layout,
                                       .pushConstantRangeCount = 1,
                                       .pPushConstantRanges = &push};
    VK_TRY(g, vkCreatePipelineLayout(g->dev, &info, NULL, layout), e);
    return true;
fail:
    return false;
}

/* A copy of the pass's SPIR-V without the branches that its constants decide, and without the
 * functions that are then called by nobody. */
static uint32_t *folded_code(gpu_shader code, const constants *c, size_t *bytes, err *e) {
    uint32_t id[MOST_CONSTANTS];
    for (uint32_t i = 0; i < c->count; i++) id[i] = c->entry[i].constantID;
    uint32_t *words = mem_raw(code.bytes, 1, "shader", e);
    if (!words) return NULL;
    memcpy(words, code.words, code.bytes);
    gpu_fold(words, code.bytes / sizeof *words, id, c->value, c->count);
    *bytes = sizeof *words * gpu_drop(words, code.bytes / sizeof *words);
    return words;
}

/* What the compiler made of a pass - registers, spills - to the log. */
static void log_statistics(const gpu_device *g, VkPipeline pipeline, const char *name) {
    PFN_vkGetPipelineExecutableStatisticsKHR get =
        (PFN_vkGetPipelineExecutableStatisticsKHR)(void (*)(void))vkGetDeviceProcAddr(
            g->dev, "vkGetPipelineExecutableStatisticsKHR");
    VkPipelineExecutableInfoKHR info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR,
                                        .pipeline = pipeline};
    VkPipelineExecutableStatisticKHR s[32];
    uint32_t n = 32;
    for (uint32_t i = 0; i < n; i++)
        s[i] = (VkPipelineExecutableStatisticKHR){
            .sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR};
    if (!get || get(g->dev, &info, &n, s) < VK_SUCCESS) return;
    text t = {0};
    for (uint32_t i = 0; i < n; i++)
        if (s[i].format == VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR ||
            s[i].format == VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR)
            text_add(&t, "; %s %" PRIi64, s[i].name, s[i].value.i64);
    log_debug("pass %s%s", name, t.s ? t.s : "");
    text_free(&t);
}

typedef struct {
    gpu_passes *s;
    const gpu_device *g;
    const plan *p;
    const gpu_twiddles *t;
} build;

/* One piece of a par_for: drivers take a tenth of a second and more for a pass, and may be called
 * from several threads, the pipeline cache included. */
static bool make_pipeline(void *ctx, size_t index, int worker, err *e) {
    (void)worker;
    const build *b = ctx;
    const gpu_device *g = b->g;
    const plan_pass *pass = &b->p->pass[index];
    VkPipeline *to = &b->s->pipeline[index];
    gpu_shader code = gpu_shader_of(pass->kind, b->p->sample_bytes == 8);
    constants c = constants_of(b->p, pass, b->t);
    VkShaderModule module = VK_NULL_HANDLE;
    size_t bytes;
    uint32_t *words = folded_code(code, &c, &bytes, e);
    if (!words) return false;
    VkShaderModuleCreateInfo mi = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = bytes, .pCode = words};
    VK_TRY(g, vkCreateShaderModule(g->dev, &mi, NULL, &module), e);
    VkSpecializationInfo special = {c.count, c.entry, c.count * sizeof c.value[0], c.value};
    VkComputePipelineCreateInfo pi = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module,
                  .pName = "main",
                  .pSpecializationInfo = &special},
        .layout = b->s->layout};
    VK_TRY(g, vkCreateComputePipelines(g->dev, b->s->cache, 1, &pi, NULL, to), e);
    if (g->statistics) log_statistics(g, *to, plan_pass_name(pass->kind));
    vkDestroyShaderModule(g->dev, module, NULL);
    mem_free(words);
    return true;
fail:
    mem_free(words);
    if (module) vkDestroyShaderModule(g->dev, module, NULL);
    return err_in(e, "pass '%s'", plan_pass_name(pass->kind));
}

/* --- the cache on disk ---------------------------------------------------------------------- */

enum { CACHE_LIMIT = 64 << 20 };

static bool make_cache(gpu_passes *s, const gpu_device *g, const char *dir, err *e) {
    size_t bytes = 0;
    uint8_t *data = NULL;
    if (dir) {
        text path = {0};
        text_add(&path, "%s/pipelines-", dir);
        for (int i = 0; i < ENGINE_UUID; i++) text_add(&path, "%02x", g->uuid[i]);
        s->cache_path = mem_str(path.s, e);
        text_free(&path);
        if (!s->cache_path) return false;
        err missing;
        data = file_read_all(s->cache_path, CACHE_LIMIT, &bytes, &missing);
    }
    /* The driver checks what it is given, and starts afresh when it is not its own. */
    VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
                                      .initialDataSize = data ? bytes : 0,
                                      .pInitialData = data};
    VkResult r = vkCreatePipelineCache(g->dev, &info, NULL, &s->cache);
    mem_free(data);
    return r == VK_SUCCESS || gpu_failed(g, r, "vkCreatePipelineCache", e);
}

/* A cache that cannot be kept costs time, nothing else. */
static void keep_cache(const gpu_passes *s, const gpu_device *g, size_t before) {
    size_t bytes = 0;
    err e = {0};
    if (vkGetPipelineCacheData(g->dev, s->cache, &bytes, NULL) != VK_SUCCESS || bytes == before)
        return;
    void *data = mem_raw(bytes, 1, "pipeline cache", &e);
    if (data && vkGetPipelineCacheData(g->dev, s->cache, &bytes, data) == VK_SUCCESS)
        file_write_all(s->cache_path, data, bytes, &e);
    mem_free(data);
    if (e.code) log_info("pipelines are not kept: %s", e.msg);
}

bool gpu_passes_make(gpu_passes *s, const gpu_device *g, const gpu_passes_request *r, err *e) {
    *s = (gpu_passes){0};
    build all = {s, g, r->p, r->t};
    size_t before = 0;
    if (!gpu_layouts_make(&s->set_layout, &s->layout, g, BINDINGS, e) ||
        !make_cache(s, g, r->cache_dir, e))
        goto fail;
    vkGetPipelineCacheData(g->dev, s->cache, &before, NULL);
    if (!par_for(r->threads, r->p->passes, make_pipeline, &all, e)) goto fail;
    if (s->cache_path) keep_cache(s, g, before);
    return true;
fail:
    gpu_passes_free(s, g);
    return false;
}

void gpu_passes_free(gpu_passes *s, const gpu_device *g) {
    for (uint32_t i = 0; i < PLAN_PASSES; i++) vkDestroyPipeline(g->dev, s->pipeline[i], NULL);
    if (s->cache) vkDestroyPipelineCache(g->dev, s->cache, NULL);
    if (s->layout) vkDestroyPipelineLayout(g->dev, s->layout, NULL);
    if (s->set_layout) vkDestroyDescriptorSetLayout(g->dev, s->set_layout, NULL);
    mem_free(s->cache_path);
    *s = (gpu_passes){0};
}
