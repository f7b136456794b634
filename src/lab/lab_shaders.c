#include "lab/lab.h"

#include "shaders/lab/all.inc" /* an array of words for each shader, by the name of its file */

#define CODE(name) \
    { name, sizeof name }

const gpu_shader LAB_CT2_STAGES = CODE(ct2_stages);
const gpu_shader LAB_CT2_AXIS = CODE(ct2_axis);
const gpu_shader LAB_STOCKHAM2 = CODE(stockham2);
const gpu_shader LAB_STOCKHAM2_SHARED = CODE(stockham2_shared);
const gpu_shader LAB_STOCKHAM4 = CODE(stockham4);
const gpu_shader LAB_STOCKHAM4_SHARED = CODE(stockham4_shared);
const gpu_shader LAB_OURS = CODE(ours);
const gpu_shader LAB_OCEAN = CODE(ocean);

const gpu_shader LAB_NABLA[2] = {CODE(nabla_shared), CODE(nabla)};
const gpu_shader LAB_ARTICLE[2][3] = {
    {CODE(article_forward_shared), CODE(article_convolve_shared), CODE(article_inverse_shared)},
    {CODE(article_forward), CODE(article_convolve), CODE(article_inverse)}};
