#include "engine/gpu/gpu_shaders.h"

/* clang-format off */
static const uint32_t forward_f32[] = {
#include "shaders/forward_f32.inc"
};
static const uint32_t forward_f64[] = {
#include "shaders/forward_f64.inc"
};
static const uint32_t convolve_f32[] = {
#include "shaders/convolve_f32.inc"
};
static const uint32_t convolve_f64[] = {
#include "shaders/convolve_f64.inc"
};
static const uint32_t inverse_f32[] = {
#include "shaders/inverse_f32.inc"
};
static const uint32_t inverse_f64[] = {
#include "shaders/inverse_f64.inc"
};
static const uint32_t outer_f32[] = {
#include "shaders/outer_f32.inc"
};
static const uint32_t outer_f64[] = {
#include "shaders/outer_f64.inc"
};
static const uint32_t inner_f32[] = {
#include "shaders/inner_f32.inc"
};
static const uint32_t inner_f64[] = {
#include "shaders/inner_f64.inc"
};
static const uint32_t unpack_f32[] = {
#include "shaders/unpack_f32.inc"
};
static const uint32_t unpack_f64[] = {
#include "shaders/unpack_f64.inc"
};
static const uint32_t copy[] = {
#include "shaders/copy_f32.inc"
};
/* clang-format on */

#define BOTH(name)                         \
    {                                      \
        {name##_f32, sizeof name##_f32}, { \
            name##_f64, sizeof name##_f64  \
        }                                  \
    }

static const gpu_shader SHADER[PASS_KINDS][2] = {
    [PASS_FORWARD] = BOTH(forward),  [PASS_CONVOLVE] = BOTH(convolve),
    [PASS_INVERSE] = BOTH(inverse),  [PASS_OUTER] = BOTH(outer),
    [PASS_OUTER_BACK] = BOTH(outer), [PASS_INNER] = BOTH(inner),
    [PASS_INNER_BACK] = BOTH(inner), [PASS_UNPACK] = BOTH(unpack),
    [PASS_PACK] = BOTH(unpack),
};

gpu_shader gpu_shader_copy(void) {
    return (gpu_shader){copy, sizeof copy};
}

gpu_shader gpu_shader_of(plan_pass_kind kind, bool float64) {
    return SHADER[kind][float64];
}
