#include "lab/article.h"

#include "base/mem.h"
#include "base/number.h"
#include "engine/gpu/gpu_commands.h"
#include "engine/gpu/gpu_time.h"
#include "lab/article_texture.h"
#include "lab/lab_shaders.h"
#include "lab/nabla_gpu.h"
#include "math/fft.h"
#include "shaders/lab/nabla.h"

enum { CHANNELS = ARTICLE_CHANNELS, PIXEL = 4 /* floats */ };

/* --- sizes ------------------------------------------------------------------------------------ */

static uint32_t power_of_two(uint32_t least) {
    uint32_t n = 2;
    while (n < least) n *= 2;
    return n;
}

bool article_plan_make(article_plan *to, const article_ask *ask, const nabla_limits *limits,
                       err *e) {
    uint32_t k = ask->kernel;
    article_plan p = {.ask = *ask, .extent = {ask->size[ask->first], ask->size[!ask->first]}};
    if (k < 4 || k & (k - 1))
        return err_set(e, ERR_USAGE,
                       "--engine article needs a kernel whose side is a power of two, at least 4; "
                       "this one has %u",
                       k);
    for (int a = 0; a < 2; a++)
        if (!nabla_choose(&p.line[a], power_of_two(p.extent[a] + k - 1), limits, e)) return false;
    uint64_t pixels = (uint64_t)p.extent[0] * p.extent[1];
    p.image_bytes = pixels * PIXEL * sizeof(float);
    p.pair_bytes = nabla_packed_bytes(CHANNELS, p.extent[1], p.line[0].length);
    p.half_bytes = nabla_half_bytes(CHANNELS, p.extent[1], p.line[0].length);
    p.spectrum_bytes = nabla_half_bytes(CHANNELS, k, k);
    p.bytes[ARTICLE_FORWARD] = p.image_bytes + p.pair_bytes;
    p.bytes[ARTICLE_CONVOLVE] = p.pair_bytes + p.spectrum_bytes + p.half_bytes;
    p.bytes[ARTICLE_INVERSE] = p.half_bytes + p.image_bytes;
    *to = p;
    return true;
}

/* --- tables ----------------------------------------------------------------------------------- */

struct article {
    const gpu_device *g;
    bool shuffles;
    article_plan p;
    gpu_layouts layouts;
    gpu_sets sets; /* one */
    VkPipeline pipeline[ARTICLE_PASSES];
    gpu_buffer buffer[ARTICLE_BINDINGS], up, down;
    article_texture spectrum;
};

/* The factors for both axes: those of the longer one. */
static bool upload_factors(article *a, err *e) {
    uint32_t n = max_u32(a->p.line[0].length, a->p.line[1].length);
    gpu_buffer host = {0};
    gpu_buffer_params params = {"factors", GPU_UPLOAD, (uint64_t)n * NABLA_NUMBER};
    if (!gpu_buffer_make(&host, a->g, &params, e)) return false;
    nabla_fill_factors(host.map, n);
    return gpu_upload(&a->buffer[ARTICLE_TABLE], a->g, &host, "factors", e);
}

/* A channel of the kernel, in the orientation of the first axis. */
typedef struct {
    const psf *k;
    const float *tap;
    double scale;
    bool x_first;
} kernel_plane;

/* Writes one line of the kernel with its centre at 0, so that the spectrum is smooth enough to
 * interpolate. */
static void fill_line(const void *ctx, uint32_t i, double *to) {
    const kernel_plane *p = ctx;
    uint32_t n = p->k->w, centre = p->x_first ? p->k->cx : p->k->cy;
    for (uint32_t j = 0; j < n; j++)
        to[(j + n - centre) % n] = p->scale * (double)p->tap[p->x_first ? i * n + j : j * n + i];
}

/* The spectrum has the factors that the passes leave out: 1 / (L1 L2) of the inverse transforms,
 * and 1/2 of parting the pairs. */
static bool make_spectrum(article *a, const psf *k, par *threads, err *e) {
    const article_plan *p = &a->p;
    uint32_t n = k->w;
    bool x_first = p->ask.first == PLAN_X, ok = true;
    double lengths = 2.0 * p->line[0].length * p->line[1].length;
    size_t layer = (size_t)n * (n / 2 + 1) * 2;
    if (n != p->ask.kernel || k->h != n)
        return err_set(e, ERR_USAGE, "--engine article needs a square kernel; this one is %u x %u",
                       n, k->h);
    float *host = mem_raw(CHANNELS * layer, sizeof *host, "the kernel's spectrum", e);
    if (!host) return false;
    for (uint32_t c = 0; ok && c < CHANNELS; c++) {
        uint32_t from = k->channels == 1 ? 0 : c;
        kernel_plane plane = {k, k->tap + (size_t)from * n * n, k->scale[from] / lengths, x_first};
        fft_plane f = {.first = n,
                       .second = n,
                       .lines = n,
                       .origin = (n - (x_first ? k->cy : k->cx)) % n,
                       .fill = fill_line,
                       .ctx = &plane};
        ok = fft_half_spectrum(host + c * layer, &f, threads, e);
    }
    ok = ok && article_texture_make(&a->spectrum, a->g,
                                    &(article_layers){host, n, CHANNELS, p->ask.fetch}, e);
    mem_free(host);
    return ok;
}

/* --- passes ----------------------------------------------------------------------------------- */

/* The buffers are set 0, and the texture is set 1. */
static bool make_layouts(article *a, err *e) {
    if (!gpu_layouts_make(&a->layouts, a->g, ARTICLE_BINDINGS, e)) return false;
    const VkDescriptorSetLayout sets[] = {a->layouts.set, a->spectrum.layout};
    VkPipelineLayoutCreateInfo both = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                       .setLayoutCount = 2,
                                       .pSetLayouts = sets};
    vkDestroyPipelineLayout(a->g->dev, a->layouts.pipeline, NULL);
    a->layouts.pipeline = VK_NULL_HANDLE;
    VK_TRY(a->g, vkCreatePipelineLayout(a->g->dev, &both, NULL, &a->layouts.pipeline), e);
    return true;
fail:
    return false;
}

static bool make_pipelines(article *a, err *e) {
    const article_plan *p = &a->p;
    for (int i = 0; i < ARTICLE_PASSES; i++) {
        nabla_line l = p->line[i == ARTICLE_CONVOLVE];
        lab_program one = {0};
        lab_add_shader(&one, LAB_ARTICLE[a->shuffles][i]);
        lab_add_constant(&one, ID_LENGTH, l.length);
        nabla_add_constants(&one, l);
        lab_add_constant(&one, ARTICLE_EXTENT, p->extent[0]);
        lab_add_constant(&one, ARTICLE_LINES, p->extent[1]);
        lab_add_constant(&one, ARTICLE_X_FIRST, p->ask.first == PLAN_X);
        lab_add_constant(&one, ARTICLE_FIRST, p->line[0].length);
        lab_add_constant(&one, ARTICLE_FIRST_THREADS, p->line[0].threads);
        lab_add_constant(&one, ARTICLE_KERNEL, p->ask.kernel);
        lab_add_constant(&one, ARTICLE_FILTERS, a->spectrum.filters);
        if (!lab_gpu_pipeline(&a->pipeline[i], a->g, &a->layouts, &one.shader[0], e)) return false;
    }
    return true;
}

static bool make_buffers(article *a, err *e) {
    const article_plan *p = &a->p;
    gpu_buffer *b = a->buffer;
    const gpu_buffer_params image = {"image", GPU_ON_DEVICE, p->image_bytes},
                            pairs = {"pairs of lines", GPU_ON_DEVICE, p->pair_bytes},
                            half = {"half spectrum", GPU_ON_DEVICE, p->half_bytes},
                            result = {"result", GPU_ON_DEVICE, p->image_bytes},
                            up = {"upload", GPU_UPLOAD, p->image_bytes},
                            down = {"download", GPU_DOWNLOAD, p->image_bytes};
    return gpu_buffer_make(&b[ARTICLE_IMAGE], a->g, &image, e) &&
           gpu_buffer_make(&b[ARTICLE_PAIRS], a->g, &pairs, e) &&
           gpu_buffer_make(&b[ARTICLE_HALF], a->g, &half, e) &&
           gpu_buffer_make(&b[ARTICLE_RESULT], a->g, &result, e) &&
           gpu_buffer_make(&a->up, a->g, &up, e) && gpu_buffer_make(&a->down, a->g, &down, e);
}

article *article_open(const lab_gpu *g, const article_plan *p, const psf *kernel, par *threads,
                      err *e) {
    article *a = mem_new(1, sizeof *a, "the article's bloom", e);
    if (!a) return NULL;
    *a = (article){.g = &g->g, .p = *p, .shuffles = g->subgroup > 0};
    if (!make_buffers(a, e) || !upload_factors(a, e) || !make_spectrum(a, kernel, threads, e) ||
        !make_layouts(a, e) || !gpu_sets_make(&a->sets, a->g, &a->layouts, 1, e) ||
        !make_pipelines(a, e))
        goto fail;
    const gpu_buffer *bound[ARTICLE_BINDINGS];
    for (int i = 0; i < ARTICLE_BINDINGS; i++) bound[i] = &a->buffer[i];
    gpu_bind(a->sets.set[0], a->g, &a->layouts, bound);
    return a;
fail:
    article_close(&a);
    return NULL;
}

void article_close(article **to) {
    article *a = *to;
    if (!a) return;
    for (int i = 0; i < ARTICLE_PASSES; i++) vkDestroyPipeline(a->g->dev, a->pipeline[i], NULL);
    article_texture_free(&a->spectrum, a->g);
    gpu_sets_free(&a->sets, a->g);
    gpu_layouts_free(&a->layouts, a->g);
    for (int i = 0; i < ARTICLE_BINDINGS; i++) gpu_buffer_free(&a->buffer[i], a->g);
    gpu_buffer_free(&a->up, a->g);
    gpu_buffer_free(&a->down, a->g);
    mem_free(a);
    *to = NULL;
}

static void record(void *ctx, VkCommandBuffer c, VkQueryPool stamps, uint32_t *next) {
    static const VkPipelineBindPoint COMPUTE = VK_PIPELINE_BIND_POINT_COMPUTE;
    const article *a = ctx;
    uint32_t pairs = ceil_div_u32(a->p.extent[1], 2), halves = a->p.line[0].length / 2 + 1;
    const uint32_t groups[ARTICLE_PASSES][2] = {{pairs, 1}, {halves, CHANNELS}, {pairs, 1}};
    const VkDescriptorSet sets[] = {a->sets.set[0], a->spectrum.set};
    vkCmdBindDescriptorSets(c, COMPUTE, a->layouts.pipeline, 0, 2, sets, 0, NULL);
    for (int i = 0; i < ARTICLE_PASSES; i++) {
        vkCmdBindPipeline(c, COMPUTE, a->pipeline[i]);
        vkCmdDispatch(c, groups[i][0], groups[i][1], 1);
        gpu_barrier(c, GPU_BY_PASS, GPU_BY_PASS);
        gpu_stamp(c, stamps, next);
    }
}

bool article_run(article *a, const float *const in[], float *const out[], err *e) {
    size_t pixels = (size_t)a->p.extent[0] * a->p.extent[1];
    float *up = a->up.map;
    const float *down = a->down.map;
    VkBufferCopy all = {0, 0, a->p.image_bytes};
    VkCommandBuffer c;
    uint32_t unused = 0;
    for (size_t i = 0; i < pixels; i++) {
        for (size_t k = 0; k < CHANNELS; k++) up[i * PIXEL + k] = in[k][i];
        up[i * PIXEL + CHANNELS] = 1;
    }
    if (!gpu_begin(a->g, a->g->compute.pool, &c, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, e))
        return false;
    gpu_barrier(c, GPU_BY_PASS, GPU_BY_COPY);
    vkCmdCopyBuffer(c, a->up.buf, a->buffer[ARTICLE_IMAGE].buf, 1, &all);
    gpu_barrier(c, GPU_BY_COPY, GPU_BY_PASS);
    record(a, c, VK_NULL_HANDLE, &unused);
    gpu_barrier(c, GPU_BY_PASS, GPU_BY_COPY);
    vkCmdCopyBuffer(c, a->buffer[ARTICLE_RESULT].buf, a->down.buf, 1, &all);
    gpu_barrier(c, GPU_BY_COPY, GPU_BY_HOST);
    if (!gpu_run_once(a->g, c, e)) return false;
    for (size_t i = 0; i < pixels; i++)
        for (size_t k = 0; k < CHANNELS; k++) out[k][i] = down[i * PIXEL + k];
    unsigned messages = gpu_device_messages(a->g);
    return !messages ||
           err_set(e, ERR_INTERNAL, "%u messages from the Vulkan validation layer", messages);
}

bool article_time(article *a, uint32_t count, double *frame, double pass[ARTICLE_PASSES], err *e) {
    gpu_timing t = {count, ARTICLE_PASSES, record, a};
    return gpu_time(a->g, &t, frame, pass, e);
}
