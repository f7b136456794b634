/* gpu_pass.h - the plan's passes as compute pipelines.
 *
 * Everything a shader must know is a specialization constant that comes from the plan; the ids
 * and bindings are those of shaders/shared.h. One descriptor layout serves all passes. */
#ifndef ENGINE_GPU_PASS_H
#define ENGINE_GPU_PASS_H

#include "engine/gpu/gpu_device.h"
#include "engine/gpu/gpu_tables.h"
#include "shaders/shared.h"

typedef struct {
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipelineCache cache;
    VkPipeline pipeline[PLAN_PASSES]; /* one per pass of the plan */
    char *cache_path;                 /* NULL: none on disk */
} gpu_passes;

typedef struct {
    const plan *p;
    const gpu_twiddles *t;
    const char *cache_dir; /* where pipelines are kept; NULL: nowhere */
    par *threads;
} gpu_passes_request;

/* Layouts of a pass with storage buffers at bindings 0 .. bindings - 1, BINDINGS at most, and one
 * 32-bit push constant. */
bool gpu_layouts_make(VkDescriptorSetLayout *set_layout, VkPipelineLayout *layout,
                      const gpu_device *g, uint32_t bindings, err *e);

/* Makes pipelines for every pass of the plan, side by side; those on disk are used again. */
bool gpu_passes_make(gpu_passes *s, const gpu_device *g, const gpu_passes_request *r, err *e);
void gpu_passes_free(gpu_passes *s, const gpu_device *g);

#endif
