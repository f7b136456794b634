/* lab_shaders.h - the SPIR-V of the lab's shaders, embedded in the program. The build makes it from
 * shaders/lab/. */
#ifndef LAB_LAB_SHADERS_H
#define LAB_LAB_SHADERS_H

#include "engine/gpu/gpu_shaders.h"

extern const gpu_shader LAB_CT2_STAGES, LAB_CT2_AXIS, LAB_STOCKHAM2, LAB_STOCKHAM2_SHARED,
    LAB_STOCKHAM4, LAB_STOCKHAM4_SHARED, LAB_OURS, LAB_OCEAN;

/* By whether subgroups shuffle; the second also by pass. */
extern const gpu_shader LAB_NABLA[2], LAB_ARTICLE[2][3];

#endif
