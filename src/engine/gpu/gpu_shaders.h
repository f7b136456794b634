/* gpu_shaders.h - the SPIR-V of every pass, which the build makes from shaders/. */
#pragma once

#include "math/plan.h"

typedef struct {
    const uint32_t *words;
    size_t bytes;
} gpu_shader;

/* Returns the shader of a pass; `subgroups`: for a device that has subgroup arithmetic. It lives as
 * long as the program. */
gpu_shader gpu_shader_of(plan_pass_kind kind, bool float64, bool subgroups);
/* Returns the shader that copies, for benchmarks. */
gpu_shader gpu_shader_copy(void);
