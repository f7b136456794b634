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
    par *threads;      /* the caller's, for making pipelines side by side; NULL: one by one */
} lab_gpu;

/* Opens a device from a zeroed one; the caller closes it after a failure, too. */
bool lab_gpu_open(lab_gpu *g, const engine_device *d, err *e);
void lab_gpu_close(lab_gpu *g);

/* Makes one pipeline of a shader, without the branches that its constants rule out. */
bool lab_gpu_pipeline(VkPipeline *to, const gpu_device *g, const gpu_layouts *l,
                      const lab_shader *s, err *e);

/* A program with its pipelines, tables and images. */
typedef struct {
    const lab_gpu *g;
    const lab_program *p;
    gpu_layouts layouts;
    gpu_sets sets; /* two: from A to B, and back */
    VkPipeline pipeline[LAB_SHADERS];
    gpu_buffer image[2], table, more, up, down;
} lab_ready;

/* Makes it from a zeroed one; the caller frees it after a failure, too. Program and device must
 * outlive it. */
bool lab_ready_make(lab_ready *r, const lab_gpu *g, const lab_program *p, err *e);
void lab_ready_free(lab_ready *r);

/* Lets two sets of the program's layout stand for another pair of images A and B. */
void lab_bind(const lab_ready *r, const VkDescriptorSet *sets, const gpu_buffer image[2]);

/* Makes a buffer on the device with these bytes. */
bool lab_gpu_upload(gpu_buffer *to, const gpu_device *g, const void *from, size_t bytes, err *e);

/* Records the transforms of `count` images side by side, with a barrier after each step. Each image
 * has two sets, as lab_ready.sets. */
void lab_record(const lab_ready *r, VkCommandBuffer c, const VkDescriptorSet *sets, uint32_t count,
                int way);

/* Transforms an image there and back to the host. A message of the validation layer is a failure.
 */
bool lab_run_once(lab_ready *r, lab_complex *image, int way, err *e);
/* Fills seconds[way] with the time of one transform: of `count` there and back, one after the
 * other. */
bool lab_time(lab_ready *r, uint32_t count, double seconds[LAB_WAYS], err *e);
/* Sets the seconds of a copy of n x n complex numbers on the device. */
bool lab_time_copy(const lab_gpu *g, uint32_t n, uint32_t count, double *seconds, err *e);

#endif
