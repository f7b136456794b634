/* gpu_pass.h - the plan's passes on a device: compute pipelines, and the tables that they read.
 *
 * Everything a shader must know is a specialization constant that comes from the plan; ids and
 * bindings are those of shaders/shared.h, and one descriptor layout serves all passes. The host
 * works out the tables in double: twiddle factors, and the kernel's spectrum in pass 2's order. */
#pragma once

#include "engine/gpu/gpu_device.h"
#include "engine/gpu/gpu_memory.h"
#include "math/plan.h"
#include "shaders/shared.h"

/* The SPIR-V of a pass, which the build makes from shaders/. */
typedef struct {
    const uint32_t *words;
    size_t bytes;
} gpu_shader;

/* Returns the shader of a pass; `subgroups`: for a device that has subgroup arithmetic. It lives as
 * long as the program. */
gpu_shader gpu_shader_of(plan_pass_kind kind, bool float64, bool subgroups);
/* Returns the shader that copies, for benchmarks. */
gpu_shader gpu_shader_copy(void);

/* Where each transform's tables begin in the one buffer of twiddle factors, by the plan's axis.
 * Stages count entries of two complex numbers; `line`, a row alone, complex numbers. */
typedef struct {
    uint32_t fft[2], line[2];
    uint32_t copy; /* entries from each table to its copy, which the inverse reads */
    uint64_t bytes;
} gpu_twiddles;

gpu_twiddles gpu_twiddles_layout(const plan *p);
void gpu_twiddles_fill(void *to, const plan *p, const gpu_twiddles *t);

/* Channels [first, first + count) of a term's spectrum. */
typedef struct {
    const spectrum_lines *from;
    const plan *p;
    uint32_t first, count;
} gpu_spectrum_part;

/* Fills `to` with these channels times 1 / (2 L1 L2), in the order of convolve.comp:
 * [channel][k][q][butterfly]. */
bool gpu_spectrum_fill(void *to, const gpu_spectrum_part *part, par *threads, err *e);

/* Writes number `at` of an array of doubles or floats. */
static inline void gpu_put(void *to, bool float64, size_t at, double value) {
    if (float64)
        ((double *)to)[at] = value;
    else
        ((float *)to)[at] = (float)value;
}

/* The layouts of a pass: storage buffers at bindings 0 .. bindings - 1, BINDINGS at most, and one
 * 32-bit push constant. */
typedef struct {
    uint32_t bindings;
    VkDescriptorSetLayout set;
    VkPipelineLayout pipeline;
} gpu_layouts;

bool gpu_layouts_make(gpu_layouts *l, const gpu_device *g, uint32_t bindings, err *e);
void gpu_layouts_free(gpu_layouts *l, const gpu_device *g); /* accepts half-made ones */

/* Descriptor sets of one layout, with the pool that they come from. */
typedef struct {
    VkDescriptorPool pool;
    VkDescriptorSet *set;
} gpu_sets;

bool gpu_sets_make(gpu_sets *s, const gpu_device *g, const gpu_layouts *l, uint32_t count, err *e);
void gpu_sets_free(gpu_sets *s, const gpu_device *g);
/* Lets binding i of a set be buffer[i], for all bindings of its layout. */
void gpu_bind(VkDescriptorSet set, const gpu_device *g, const gpu_layouts *l,
              const gpu_buffer *const *buffer);

typedef struct {
    gpu_shader code;
    const VkSpecializationInfo *special; /* NULL: none */
} gpu_pipeline_params;

/* Makes a pipeline, with the device's cache; several threads may do so at the same time. */
bool gpu_pipeline_make(VkPipeline *to, const gpu_device *g, const gpu_layouts *l,
                       const gpu_pipeline_params *p, err *e);

/* Set by gpu_passes_make and const until gpu_passes_free. */
typedef struct {
    gpu_twiddles twiddles; /* where the shaders look for them */
    gpu_layouts layouts;
    VkPipeline pipeline[PLAN_PASSES]; /* one per pass of the plan */
} gpu_passes;

/* Makes the pipelines of every pass of the plan, side by side, with the device's cache. */
bool gpu_passes_make(gpu_passes *s, const gpu_device *g, const plan *p, bool subgroups,
                     par *threads, err *e);
void gpu_passes_free(gpu_passes *s, const gpu_device *g);

/* Gives a device that was opened just now its cache of compiled pipelines, with what is on disk in
 * `dir`. One that cannot be read or written costs time alone. */
void gpu_cache_open(const gpu_device *g, const char *dir);
