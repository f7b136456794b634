#include "lab/lab_shaders.h"

/* clang-format off */
static const uint32_t ct2_stages[] = {
#include "shaders/lab/ct2_stages.inc"
};
/* clang-format on */

const gpu_shader LAB_CT2_STAGES = {ct2_stages, sizeof ct2_stages};
