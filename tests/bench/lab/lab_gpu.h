/* lab_gpu.h - runs programs (lab.h) on a Vulkan device, and times them.
 *
 * It uses the engine's device, buffers, pipelines and clock, and nothing of its passes. It does not
 * know what a program computes. */
#ifndef LAB_LAB_GPU_H
#define LAB_LAB_GPU_H

#include "base/par.h"
#include "engine/gpu/gpu_pass.h"
#include "lab/lab.h"

/* A device that is open. */
typedef struct {
    gpu_device g;
    plan_limits limits;
    uint32_t subgroup; /* see lab_ask */
    par *threads;      /* the caller's, for making pipelines side by side */
} lab_gpu;

/* Opens a device from one that has only threads; the caller closes it after a failure, too. */
bool lab_gpu_open(lab_gpu *g, const engine_device *d, err *e);
void lab_gpu_close(lab_gpu *g);

/* A program with its pipelines and buffers. */
typedef struct {
    const lab_gpu *g;
    const lab_program *p;
    gpu_layouts layouts;
    gpu_sets sets;
    VkPipeline pipeline[LAB_SHADERS];
    gpu_buffer buffer[LAB_BUFFERS];
    uint32_t frame; /* the next one: see lab_step.by_frame */
} lab_ready;

/* Makes it from a zeroed one; the caller frees it after a failure, too. Program and device must
 * outlive it. */
bool lab_ready_make(lab_ready *r, const lab_gpu *g, const lab_program *p, err *e);
void lab_ready_free(lab_ready *r);

/* Fill a buffer, and read it back. */
bool lab_put(lab_ready *r, uint32_t buffer, const void *from, err *e);
bool lab_get(const lab_ready *r, uint32_t buffer, void *to, err *e);
/* Does the steps of one way. A message of the validation layer is a failure. */
bool lab_do(lab_ready *r, int way, err *e);
/* Fills `all` with the seconds of one repetition, of `count`, of the steps of both ways, and part[]
 * with those of its parts, each of which ends with a stamp. */
bool lab_time(lab_ready *r, uint32_t count, double *all, double *part, err *e);

/* --- the kernel's spectrum of the article's bloom ----------------------------------------------
 */

/* A texture, which texture units sample linearly; it is the only one of the program, and engines
 * use buffers alone. A layer per channel; row k1 = 0 .. K / 2 and column k2 = 0 .. K - 1 of the
 * spectrum are texels of two floats. The texture is as high as it is wide, K, so that the place of
 * a row, as a share of the height, has no rounding. Columns go round at the end. */
typedef struct lab_texture {
    VkImage image;
    VkDeviceMemory memory;
    VkImageView view;
    VkSampler sampler;
    VkDescriptorSetLayout layout; /* the texture at binding 0 */
    VkDescriptorPool pool;
    VkDescriptorSet set;
} lab_texture;

/* Makes it of `layers` times k * k complex numbers from a zeroed one; the caller frees it after a
 * failure, too. */
bool lab_texture_make(lab_texture *t, const gpu_device *g, const float *from, uint32_t k,
                      uint32_t layers, err *e);
void lab_texture_free(lab_texture *t, const gpu_device *g);

#endif
