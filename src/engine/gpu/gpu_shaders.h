/* gpu_shaders.h - the SPIR-V of every pass, embedded in the program. */
#ifndef ENGINE_GPU_SHADERS_H
#define ENGINE_GPU_SHADERS_H

#include "math/plan.h"

typedef struct {
    const uint32_t *words;
    size_t bytes;
} gpu_shader;

gpu_shader gpu_shader_copy(void);
gpu_shader gpu_shader_of(plan_pass_kind kind, bool float64);

#endif
