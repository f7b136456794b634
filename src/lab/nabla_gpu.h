/* nabla_gpu.h - what all shaders with the transform `nabla` are told. */
#ifndef LAB_NABLA_GPU_H
#define LAB_NABLA_GPU_H

#include "lab/lab.h"
#include "lab/nabla.h"

/* Adds the constants of nabla.glsl to the shader that was added last. The table has `roots`
 * entries, exp(-2 pi i m / roots), and `roots` is a multiple of the length. */
void nabla_add_constants(lab_program *p, nabla_line l, uint32_t roots);

#endif
