/* nabla_gpu.h - the constants that all shaders with the transform `nabla` get. */
#ifndef LAB_NABLA_GPU_H
#define LAB_NABLA_GPU_H

#include "lab/lab.h"
#include "lab/nabla.h"

/* Adds the constants of nabla.glsl to the shader that was added last. */
void nabla_add_constants(lab_program *p, nabla_line l);

/* Fills the table of factors that it reads, `length` complex numbers, for lines of this length and
 * of all shorter ones: number s + j is exp(-pi i j / s), for each power of two s and j < s. */
void nabla_fill_factors(float *to, uint32_t length);

#endif
