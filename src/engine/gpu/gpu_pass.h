/* gpu_pass.h - the plan's passes on a device: compute pipelines, and the tables that they read.
 *
 * Everything a shader must know is a specialization constant that comes from the plan; ids and
 * bindings are those of shaders/shared.h, and one descriptor layout serves all passes. The host
 * works out the tables in double: twiddle factors, the places of frequencies, and the kernel's
 * spectrum in the order of pass 2. This module decides no size: plan.h does. It does not know when
 * the passes run, nor on which images. */
#ifndef ENGINE_GPU_PASS_H
#define ENGINE_GPU_PASS_H

#include "engine/gpu/gpu_memory.h"
#include "shaders/shared.h"

/* Where each transform's tables begin in the one buffer of twiddle factors, by the plan's axis.
 * Tables of stages count entries of two complex numbers; `line`, those of a split line or of a row
 * alone, counts complex numbers. */
typedef struct {
    uint32_t fft[2], outer[2], inner[2], line[2];
    uint32_t copy; /* entries from each table to its copy, which the inverse reads */
    uint64_t bytes;
} gpu_twiddles;

gpu_twiddles gpu_twiddles_layout(const plan *p);
void gpu_twiddles_fill(void *to, const plan *p, const gpu_twiddles *t);

/* Fills place[k] for each frequency k of a first axis that is split. */
void gpu_places_fill(uint32_t *to, const plan_axis *a);

/* Channels [first, first + count) of a spectrum. */
typedef struct {
    const spectrum_lines *from;
    const plan *p;
    uint32_t first, count;
} gpu_spectrum_part;

/* Fills `to` with these channels times 1 / (2 L1 L2), in the order of convolve.comp:
 * [channel][k][part][q][butterfly]. */
bool gpu_spectrum_fill(void *to, const gpu_spectrum_part *part, par *threads, err *e);

/* Writes number `at` of an array of doubles or floats. */
static inline void gpu_put(void *to, bool float64, size_t at, double value) {
    if (float64)
        ((double *)to)[at] = value;
    else
        ((float *)to)[at] = (float)value;
}

/* Set by gpu_passes_make and const until gpu_passes_free. */
typedef struct {
    gpu_twiddles twiddles; /* where the shaders look for them */
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipelineCache cache;
    VkPipeline pipeline[PLAN_PASSES]; /* one per pass of the plan */
    char *cache_path;                 /* where the pipelines are kept; NULL: nowhere */
} gpu_passes;

typedef struct {
    const plan *p;
    const char *cache_dir; /* where pipelines are kept; NULL: nowhere */
    par *threads;
} gpu_passes_request;

/* Makes the pipelines of every pass of the plan, side by side; those on disk are used again. */
bool gpu_passes_make(gpu_passes *s, const gpu_device *g, const gpu_passes_request *r, err *e);
void gpu_passes_free(gpu_passes *s, const gpu_device *g);

/* Makes the layouts of a pass with storage buffers at bindings 0 .. bindings - 1, BINDINGS at most,
 * and one 32-bit push constant. After a failure the caller frees what was made. */
bool gpu_layouts_make(VkDescriptorSetLayout *set_layout, VkPipelineLayout *layout,
                      const gpu_device *g, uint32_t bindings, err *e);
/* Lets binding i of a set of such a layout be buffer[i]. */
void gpu_bind(const gpu_device *g, VkDescriptorSet set, const gpu_buffer *const *buffer,
              uint32_t bindings);

#endif
