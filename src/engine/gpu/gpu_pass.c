#include "engine/gpu/gpu_pass.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/steady.h"
#include "base/text.h"
#include "engine/gpu/gpu_fold.h"

/* --- twiddle factors ------------------------------------------------------------------------ */

gpu_twiddles gpu_twiddles_layout(const plan *p) {
    gpu_twiddles t = {0};
    uint32_t entry = 0, complex_bytes = 2 * p->sample_bytes;
    for (int i = 0; i < 2; i++) {
        const plan_axis *a = &p->axis[i];
        t.fft[i] = entry;
        entry += plan_twiddle_entries(&a->fft);
        t.line[i] = 2 * entry;
        if (a->alone) entry += (a->fft.length / 2 + 2) / 2;
    }
    t.copy = entry;
    t.bytes = 2 * 2ull * entry * complex_bytes;
    return t;
}

/* Writes exp(-2 pi i m / n) as the complex number `index`. */
static void put_root(void *to, bool float64, uint64_t index, uint64_t m, uint64_t n) {
    double re, im;
    steady_root(m, n, &re, &im);
    gpu_put(to, float64, 2 * index, re);
    gpu_put(to, float64, 2 * index + 1, im);
}

static void fill_stages(void *to, bool float64, const plan_fft *f, uint64_t entry) {
    uint32_t block = f->length;
    for (uint32_t s = 0; s + 1 < f->stages; s++) {
        uint32_t rest = block / f->radix[s];
        for (uint32_t n = 0; n < rest; n++, entry++) {
            put_root(to, float64, 2 * entry, n, block);
            put_root(to, float64, 2 * entry + 1, 4ull * n, block);
        }
        block = rest;
    }
}

void gpu_twiddles_fill(void *to, const plan *p, const gpu_twiddles *t) {
    bool float64 = p->sample_bytes == 8;
    for (int i = 0; i < 2; i++) {
        const plan_axis *a = &p->axis[i];
        fill_stages(to, float64, &a->fft, t->fft[i]);
        for (uint32_t m = 0; a->alone && m <= a->fft.length / 2; m++)
            put_root(to, float64, t->line[i] + m, m, a->length);
    }
    memcpy((char *)to + t->bytes / 2, to, t->bytes / 2);
}

/* --- the order of frequencies ---------------------------------------------------------------- */

typedef struct {
    void *to;
    const gpu_spectrum_part *part;
    const uint32_t *order; /* order[n]: the frequency that stands at number n of a line */
    double scale;
    char *room; /* of each worker: a line of the source */
} reorder;

static bool reorder_line(void *ctx, size_t index, int worker, err *e) {
    const reorder *r = ctx;
    const spectrum_lines *from = r->part->from;
    uint32_t channel = r->part->first + (uint32_t)(index / from->halves);
    const void *line = spectrum_some(from, channel, (uint32_t)(index % from->halves), 1,
                                     r->room + (size_t)worker * spectrum_line_bytes(from));
    bool float64 = r->part->p->sample_bytes == 8;
    size_t parts = r->part->p->ask.symmetric ? 1 : 2; /* of a number: a real one has no second */
    size_t n = from->length;
    for (size_t i = 0; i < n; i++) {
        size_t k = 2 * (size_t)r->order[i], at = parts * (index * n + i);
        for (size_t c = 0; c < parts; c++) {
            double v = from->float64 ? ((const double *)line)[k + c]
                                     : (double)((const float *)line)[k + c];
            gpu_put(r->to, float64, at + c, v * r->scale);
        }
    }
    return true;
}

bool gpu_spectrum_fill(void *to, const gpu_spectrum_part *part, par *threads, err *e) {
    const plan_axis *a = &part->p->axis[1];
    const plan_fft *f = &a->fft;
    uint32_t radix = f->radix[f->stages - 1], blocks = f->length / radix;
    uint32_t *order = mem_raw(part->from->length, sizeof *order, "frequency order", e);
    char *room = order ? mem_raw((size_t)par_workers(threads), spectrum_line_bytes(part->from),
                                 "spectrum lines", e)
                       : NULL;
    if (!room) {
        mem_free(order);
        return false;
    }
    for (uint32_t q = 0; q < radix; q++)
        for (uint32_t b = 0; b < blocks; b++)
            order[q * blocks + b] = plan_frequency(f, b * radix + q);
    reorder job = {to, part, order, 0.5 / part->p->axis[0].length / a->length, room};
    bool ok = par_for(threads, (size_t)part->count * part->from->halves, reorder_line, &job, e);
    mem_free(room);
    mem_free(order);
    return ok;
}

/* --- specialization constants --------------------------------------------------------------- */

enum { MOST_CONSTANTS = 48 };
_Static_assert((int)OUTPUT_FLOATS == PLAN_FLOATS && (int)OUTPUT_HALFS == PLAN_HALFS &&
                   (int)OUTPUT_DOUBLES == PLAN_DOUBLES && TOTALS == PLAN_TOTALS,
               "shaders and the planner speak of the same planes");
_Static_assert(MOST_HELD == PLAN_MOST_HELD, "shaders have room for what the planner gives them");

typedef struct {
    uint32_t id[MOST_CONSTANTS], value[MOST_CONSTANTS], count;
} constants;

static void pass_add(constants *c, uint32_t id, uint32_t value) {
    c->id[c->count] = id;
    c->value[c->count++] = value;
}

static void add_fft(constants *c, const plan *p, const plan_pass *s, const gpu_twiddles *t) {
    bool first = s->kind != PASS_CONVOLVE;
    pass_add(c, ID_LENGTH, s->fft.length);
    pass_add(c, ID_STAGES, s->fft.stages);
    for (uint32_t i = 0; i < PLAN_STAGES; i++) {
        pass_add(c, ID_RADIX + i, i < s->fft.stages ? s->fft.radix[i] : 1);
        pass_add(c, ID_EACH + i, s->butterflies[i]);
    }
    pass_add(c, ID_LINES, s->lines);
    /* Along memory: image rows, and lines of the half spectrum. Columns stride. */
    uint32_t count = s->fft.length / s->fft.radix[0];
    bool across = (first && p->first == PLAN_Y) || s->lines == 1;
    bool squares = s->kind == PASS_CONVOLVE && p->tile_in == 2 && p->tile == 2;
    pass_add(c, ID_RUN, across ? 1 : !squares ? count : count % 2 ? 1 : 2);
    pass_add(c, ID_TWIDDLES, t->fft[s->axis]);
    pass_add(c, ID_COPY, t->copy);
    pass_add(c, ID_PAIRED, s->paired);
    pass_add(c, ID_WHOLE, s->whole);
    pass_add(c, ID_BY_FREQUENCY, first);
}

static constants constants_of(const plan *p, const plan_pass *s, const gpu_twiddles *t,
                              bool half_modes, bool tiny_doubles) {
    constants c = {0};
    const plan_axis *a = &p->axis[s->axis];
    const plan_planes *planes = &p->ask.planes;
    /* In steps all light is spread, and the mask is for the last pass. */
    const bool held = !planes->again || s->kind == PASS_INVERSE;
    const uint32_t more[][2] = {{ID_EXTENT, a->extent},
                                {ID_LENGTH_ALL, a->length},
                                {ID_SPLIT, a->split},
                                {ID_BORDER, a->border},
                                {ID_BEFORE, a->before},
                                {ID_ALONE, a->alone},
                                {ID_X_FIRST, p->first == PLAN_X},
                                {ID_LINE_COUNT, p->axis[1].extent},
                                {ID_IMAGE_PITCH, p->image_pitch},
                                {ID_IMAGE_ROWS, p->ask.size[PLAN_Y]},
                                {ID_HALF_INPUT, planes->in == PLAN_HALFS},
                                {ID_NATIVE_HALFS, half_modes},
                                {ID_TINY_DOUBLES, tiny_doubles},
                                {ID_OUTPUT, planes->out},
                                {ID_ABOVE, held && planes->above},
                                {ID_MASKED, held && planes->masked},
                                {ID_AGAIN, planes->again},
                                {ID_GLARE, planes->glare},
                                {ID_MARGINS, planes->margins},
                                {ID_HALVES, p->halves},
                                {ID_PITCH, p->pitch},
                                {ID_TILE_IN, p->tile_in},
                                {ID_TILE_OUT, p->tile},
                                {ID_BAND, p->band},
                                {ID_ONE_KERNEL, p->ask.spectra == 1},
                                {ID_REAL_KERNEL, p->ask.symmetric},
                                {ID_LINE_TWIDDLES, t->line[s->axis]}};
    pass_add(&c, ID_THREADS, s->threads);
    add_fft(&c, p, s, t);
    for (size_t i = 0; i < COUNT(more); i++) pass_add(&c, more[i][0], more[i][1]);
    return c;
}

/* --- layouts and sets ----------------------------------------------------------------------- */

bool gpu_layouts_make(gpu_layouts *l, const gpu_device *g, uint32_t bindings, err *e) {
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
    VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(uint32_t)};
    VkPipelineLayoutCreateInfo pipeline = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                           .setLayoutCount = 1,
                                           .pSetLayouts = &l->set,
                                           .pushConstantRangeCount = 1,
                                           .pPushConstantRanges = &push};
    *l = (gpu_layouts){.bindings = bindings};
    VK_TRY(g, vk.CreateDescriptorSetLayout(g->dev, &set, NULL, &l->set), e);
    VK_TRY(g, vk.CreatePipelineLayout(g->dev, &pipeline, NULL, &l->pipeline), e);
    return true;
fail:
    return false;
}

void gpu_layouts_free(gpu_layouts *l, const gpu_device *g) {
    vk.DestroyPipelineLayout(g->dev, l->pipeline, NULL);
    vk.DestroyDescriptorSetLayout(g->dev, l->set, NULL);
    *l = (gpu_layouts){0};
}

bool gpu_sets_make(gpu_sets *s, const gpu_device *g, const gpu_layouts *l, uint32_t count, err *e) {
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, l->bindings * count};
    VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .maxSets = count,
                                       .poolSizeCount = 1,
                                       .pPoolSizes = &size};
    if (!(s->set = mem_new(count, sizeof *s->set, "descriptor sets", e))) return false;
    VK_TRY(g, vk.CreateDescriptorPool(g->dev, &pool, NULL, &s->pool), e);
    for (uint32_t i = 0; i < count; i++) {
        VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                            .descriptorPool = s->pool,
                                            .descriptorSetCount = 1,
                                            .pSetLayouts = &l->set};
        VK_TRY(g, vk.AllocateDescriptorSets(g->dev, &info, &s->set[i]), e);
    }
    return true;
fail:
    return false;
}

void gpu_sets_free(gpu_sets *s, const gpu_device *g) {
    vk.DestroyDescriptorPool(g->dev, s->pool, NULL);
    mem_free(s->set);
    *s = (gpu_sets){0};
}

void gpu_bind(VkDescriptorSet set, const gpu_device *g, const gpu_layouts *l,
              const gpu_buffer *const *buffer) {
    VkDescriptorBufferInfo info[BINDINGS];
    VkWriteDescriptorSet w = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                              .dstSet = set,
                              .descriptorCount = l->bindings,
                              .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                              .pBufferInfo = info};
    for (uint32_t i = 0; i < l->bindings; i++)
        info[i] = (VkDescriptorBufferInfo){buffer[i]->buf, 0, VK_WHOLE_SIZE};
    vk.UpdateDescriptorSets(g->dev, 1, &w, 0, NULL);
}

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
    if (c->path && file_is_own(c->path)) data = file_read_all(c->path, CACHE_LIMIT, &bytes, &e);
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

/* Writes the cache to disk if it has grown. Several threads may call it. */
static void gpu_cache_keep(const gpu_device *g) {
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
    file_out *f = r == VK_SUCCESS ? file_out_open(c->path, FILE_OWN, &e) : NULL;
    if (f && file_out_write(f, 0, data, bytes, &e) && file_out_commit(&f, &e)) c->bytes = bytes;
    file_out_free(&f);
    pthread_mutex_unlock(&c->keeping);
    mem_free(data);
    if (e.code) log_info("pipelines are not kept: %s", e.msg);
}

/* --- pipelines ------------------------------------------------------------------------------ */

bool gpu_pipeline_make(VkPipeline *to, const gpu_device *g, const gpu_layouts *l,
                       const gpu_pipeline_params *p, err *e) {
    VkShaderModuleCreateInfo module = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                       .codeSize = p->code.bytes,
                                       .pCode = p->code.words};
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .pName = "main",
                  .pSpecializationInfo = p->special},
        .layout = l->pipeline};
    VK_TRY(g, vk.CreateShaderModule(g->dev, &module, NULL, &info.stage.module), e);
    VkResult r = vk.CreateComputePipelines(g->dev, g->shared->pipelines.cache, 1, &info, NULL, to);
    vk.DestroyShaderModule(g->dev, info.stage.module, NULL);
    return r == VK_SUCCESS || gpu_failed(g, r, "vkCreateComputePipelines", e);
fail:
    return false;
}

typedef struct {
    gpu_passes *s;
    const gpu_device *g;
    const plan *p;
    bool subgroups;
} build;

/* One piece of a par_for: drivers take a tenth of a second and more for a pass. */
static bool make_pass(void *ctx, size_t index, int worker, err *e) {
    const build *b = ctx;
    const plan_pass *pass = &b->p->pass[index];
    gpu_shader code = gpu_shader_of(pass->kind, b->p->sample_bytes == 8, b->subgroups);
    const plan_planes *planes = &b->p->ask.planes;
    bool halfs = planes->in == PLAN_HALFS || planes->out == PLAN_HALFS,
         modes = halfs && b->g->half_modes;
    constants c = constants_of(b->p, pass, &b->s->twiddles, modes, b->g->tiny_doubles);
    VkSpecializationMapEntry entry[MOST_CONSTANTS];
    VkSpecializationInfo special = {c.count, entry, c.count * sizeof c.value[0], c.value};
    for (uint32_t i = 0; i < c.count; i++)
        entry[i] =
            (VkSpecializationMapEntry){c.id[i], i * (uint32_t)sizeof c.value[0], sizeof c.value[0]};
    size_t count = code.bytes / sizeof *code.words;
    uint32_t *words = mem_raw(count + GPU_HALF_MODES, sizeof *words, "shader", e);
    if (!words) return false;
    /* Without the branches that the constants decide, and what is not reached after that. */
    if (modes)
        count = gpu_add_half_modes(words, code.words, count);
    else
        memcpy(words, code.words, code.bytes);
    gpu_fold(words, count, c.id, c.value, c.count);
    size_t bytes = sizeof *words * gpu_drop(words, count);
    gpu_pipeline_params p = {{words, bytes}, &special};
    double start = clock_now();
    bool ok = gpu_pipeline_make(&b->s->pipeline[index], b->g, &b->s->layouts, &p, e);
    log_info("pass '%s' of %zu bytes was compiled in %.0f ms", plan_pass_name(pass->kind), bytes,
             (clock_now() - start) * 1e3);
    mem_free(words);
    return ok || err_in(e, "pass '%s'", plan_pass_name(pass->kind));
}

/* --- all passes --------------------------------------------------------------------------- */

bool gpu_passes_make(gpu_passes *s, const gpu_device *g, const plan *p, bool subgroups,
                     par *threads, err *e) {
    *s = (gpu_passes){.twiddles = gpu_twiddles_layout(p)};
    build common = {s, g, p, subgroups};
    if (gpu_layouts_make(&s->layouts, g, BINDINGS, e) &&
        par_for(threads, p->passes, make_pass, &common, e)) {
        gpu_cache_keep(g);
        return true;
    }
    gpu_passes_free(s, g);
    return false;
}

void gpu_passes_free(gpu_passes *s, const gpu_device *g) {
    for (uint32_t i = 0; i < PLAN_PASSES; i++) vk.DestroyPipeline(g->dev, s->pipeline[i], NULL);
    gpu_layouts_free(&s->layouts, g);
    *s = (gpu_passes){0};
}
