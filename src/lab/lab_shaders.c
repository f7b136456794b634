#include "lab/forms.h"

/* clang-format off */
static const uint32_t ct2_stages[] = {
#include "shaders/lab/ct2_stages.inc"
};
static const uint32_t ct2_axis[] = {
#include "shaders/lab/ct2_axis.inc"
};
static const uint32_t stockham2[] = {
#include "shaders/lab/stockham2.inc"
};
static const uint32_t stockham2_shared[] = {
#include "shaders/lab/stockham2_shared.inc"
};
static const uint32_t stockham4[] = {
#include "shaders/lab/stockham4.inc"
};
static const uint32_t stockham4_shared[] = {
#include "shaders/lab/stockham4_shared.inc"
};
static const uint32_t ours[] = {
#include "shaders/lab/ours.inc"
};
static const uint32_t nabla[] = {
#include "shaders/lab/nabla.inc"
};
static const uint32_t nabla_shared[] = {
#include "shaders/lab/nabla_shared.inc"
};
static const uint32_t article_forward[] = {
#include "shaders/lab/article_forward.inc"
};
static const uint32_t article_forward_shared[] = {
#include "shaders/lab/article_forward_shared.inc"
};
static const uint32_t article_convolve[] = {
#include "shaders/lab/article_convolve.inc"
};
static const uint32_t article_convolve_shared[] = {
#include "shaders/lab/article_convolve_shared.inc"
};
static const uint32_t article_inverse[] = {
#include "shaders/lab/article_inverse.inc"
};
static const uint32_t article_inverse_shared[] = {
#include "shaders/lab/article_inverse_shared.inc"
};
static const uint32_t ocean[] = {
#include "shaders/lab/ocean.inc"
};
/* clang-format on */

const gpu_shader LAB_CT2_STAGES = {ct2_stages, sizeof ct2_stages};
const gpu_shader LAB_CT2_AXIS = {ct2_axis, sizeof ct2_axis};
const gpu_shader LAB_STOCKHAM2 = {stockham2, sizeof stockham2};
const gpu_shader LAB_STOCKHAM2_SHARED = {stockham2_shared, sizeof stockham2_shared};
const gpu_shader LAB_STOCKHAM4 = {stockham4, sizeof stockham4};
const gpu_shader LAB_STOCKHAM4_SHARED = {stockham4_shared, sizeof stockham4_shared};
const gpu_shader LAB_OURS = {ours, sizeof ours};
const gpu_shader LAB_OCEAN = {ocean, sizeof ocean};

const gpu_shader LAB_NABLA[2] = {{nabla_shared, sizeof nabla_shared}, {nabla, sizeof nabla}};
const gpu_shader LAB_ARTICLE[2][3] = {{{article_forward_shared, sizeof article_forward_shared},
                                       {article_convolve_shared, sizeof article_convolve_shared},
                                       {article_inverse_shared, sizeof article_inverse_shared}},
                                      {{article_forward, sizeof article_forward},
                                       {article_convolve, sizeof article_convolve},
                                       {article_inverse, sizeof article_inverse}}};
